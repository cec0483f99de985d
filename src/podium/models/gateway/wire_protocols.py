"""Wire protocols of model clients, as far as Inspect does not cover them: streams, errors, token counts, model lists.

Inspect returns complete answers; for clients that request a stream, all events are sent together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

ProtocolName = Literal["chat", "responses", "messages", "google"]
PROTOCOL_NAMES: tuple[ProtocolName, ...] = get_args(ProtocolName)
"""Protocols: OpenAI's Chat Completions and Responses, Anthropic's Messages, Google's generateContent."""
JsonObject = dict[str, Any]

_KINDS = {
    401: ("authentication_error", "UNAUTHENTICATED"),
    403: ("permission_error", "PERMISSION_DENIED"),
    404: ("not_found_error", "NOT_FOUND"),
    413: ("request_too_large", "INVALID_ARGUMENT"),
    429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
}


@dataclass(frozen=True)
class Failure:
    """Error response to a model request."""

    status: int
    """HTTP status."""
    message: str

    @property
    def is_client_error(self) -> bool:
        """True if a different request may succeed, for example a shorter conversation."""
        return self.status in (400, 413, 422)

    def document(self, protocol: ProtocolName) -> JsonObject:
        """Return the error in the format of a protocol."""
        kind, google = _KINDS.get(self.status, ("invalid_request_error", "INVALID_ARGUMENT"))
        if self.status >= 500:
            kind, google = "api_error", "UNAVAILABLE"
        error = {"type": kind, "message": self.message}
        match protocol:
            case "messages":
                return {"type": "error", "error": error}
            case "google":
                return {"error": {"code": self.status, "message": self.message, "status": google}}
            case _:
                return {"error": {**error, "code": kind, "param": None}}

    def event(self, protocol: ProtocolName) -> bytes:
        """Return the error as the last event of a stream that has already started."""
        document = self.document(protocol)
        match protocol:
            case "messages":
                return _event(document, name="error")
            case "responses":
                failed = {"id": "failed", "object": "response", "status": "failed", "output": [], **document}
                return _event({"type": "response.failed", "sequence_number": 0, "response": failed}, named=True)
            case _:
                return _event(document)


def stream(protocol: ProtocolName, answer: JsonObject, *, with_usage: bool = False) -> Iterator[bytes]:
    """Yield a complete answer as server-sent events.

    Args:
        with_usage: whether Chat Completions end with the token usage, which clients have to request.
    """
    match protocol:
        case "chat":
            yield from map(_event, _chat(answer, with_usage))
            yield b"data: [DONE]\n\n"
        case "responses":
            for number, event in enumerate(_responses(answer)):
                yield _event({**event, "sequence_number": number}, named=True)
        case "messages":
            for event in _messages(answer):
                yield _event(event, named=True)
        case "google":
            yield _event(answer)


def ping(protocol: ProtocolName) -> bytes:
    """Return a keep-alive event, so that clients do not time out while the model is thinking."""
    return _event({"type": "ping"}, named=True) if protocol == "messages" else b": the model is thinking\n\n"


def input_tokens(protocol: ProtocolName, answer: JsonObject) -> int:
    """Return the provider's token count of the request, cached tokens included; 0 if there is none."""
    usage = answer.get("usageMetadata" if protocol == "google" else "usage") or {}
    names = {
        "chat": ("prompt_tokens",),
        "responses": ("input_tokens",),
        "messages": ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        "google": ("promptTokenCount",),
    }
    return sum(usage.get(name) or 0 for name in names[protocol])


def model_list(protocol: ProtocolName, model: str) -> JsonObject:
    """Return the model list, with its single model."""
    if protocol == "google":
        return {"models": [{"name": f"models/{model}", "supportedGenerationMethods": ["generateContent"]}]}
    entry = {"id": model, "object": "model", "type": "model", "display_name": model, "created": 0, "owned_by": "podium"}
    # Codex reads `models` and accepts an empty list.
    return {"object": "list", "data": [entry], "has_more": False, "models": []}


def _event(document: JsonObject, *, named: bool = False, name: str | None = None) -> bytes:
    name = document["type"] if named else name
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(document)}\n\n".encode()


def _chat(answer: JsonObject, with_usage: bool) -> Iterator[JsonObject]:
    frame = {**answer, "object": "chat.completion.chunk"}
    frame.pop("usage", None)
    for choice in answer["choices"]:
        message = {name: value for name, value in choice["message"].items() if value is not None}
        if calls := message.get("tool_calls"):
            message["tool_calls"] = [{**call, "index": index} for index, call in enumerate(calls)]
        place = {"index": choice["index"]}
        yield {**frame, "choices": [{**place, "delta": message, "finish_reason": None}]}
        yield {**frame, "choices": [{**place, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if with_usage:
        yield {**frame, "choices": [], "usage": answer.get("usage")}


def _messages(answer: JsonObject) -> Iterator[JsonObject]:
    usage = answer["usage"]
    start = {
        **answer,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 0},
    }
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(answer["content"]):
        begun, deltas = _block(block)
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": answer.get("stop_sequence")}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield {"type": "message_stop"}


def _block(block: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """Return the initial state of a content block and its deltas; blocks of unknown types are sent complete."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        case "thinking":
            said = {"type": "thinking_delta", "thinking": block["thinking"]}
            signed = {"type": "signature_delta", "signature": block.get("signature") or ""}
            return {**block, "thinking": "", "signature": ""}, [said, signed]
    return block, []


def _responses(answer: JsonObject) -> Iterator[JsonObject]:
    begun = {**answer, "output": [], "status": "in_progress", "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(answer["output"]):
        yield from _item(item, index)
    status = "incomplete" if answer.get("incomplete_details") else "completed"
    yield {"type": f"response.{status}", "response": {**answer, "status": status}}


def _item(item: JsonObject, index: int) -> Iterator[JsonObject]:
    place = {"item_id": item.get("id") or "", "output_index": index}
    hollow: JsonObject = {"message": {"content": []}, "function_call": {"arguments": ""}, "reasoning": {"summary": []}}
    begun = {**item, **hollow.get(item["type"], {}), "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if item["type"] == "function_call":
        yield {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
    for number, part in enumerate(item["content"] if item["type"] == "message" else ()):
        inside = {**place, "content_index": number}
        if part["type"] == "output_text":
            yield {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}
            yield {"type": "response.output_text.delta", **inside, "delta": part["text"], "logprobs": []}
            yield {"type": "response.output_text.done", **inside, "text": part["text"], "logprobs": []}
            yield {"type": "response.content_part.done", **inside, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
