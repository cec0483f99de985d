"""The protocols of other providers, for the model server: their requests as chat completions, and answers back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]
GOOGLE_PARAMETERS = ("parametersJsonSchema", "parameters_json_schema", "parameters")


def as_chat(path: str, request: Document) -> Document:
    """A request of any protocol as one of chat completions."""
    if path.endswith("/messages"):
        system = [{"role": "system", "content": request["system"]}] if "system" in request else []
        tools = [_tool(tool["name"], tool.get("input_schema")) for tool in request.get("tools", ())]
        return {**request, "messages": [*system, *_from_blocks(request["messages"])], "tools": tools}
    if path.endswith("/responses"):
        tools = [_tool(tool["name"], tool.get("parameters")) for tool in request.get("tools", ()) if "name" in tool]
        return {**request, "messages": list(_from_items(request["input"])), "tools": tools}
    if ":generateContent" in path:
        tools = [
            _tool(function["name"], next((function[name] for name in GOOGLE_PARAMETERS if name in function), None))
            for tool in request.get("tools", ())
            for function in tool.get("functionDeclarations", ())
        ]
        return {**request, "messages": list(_from_parts(request["contents"])), "tools": tools, "model": path}
    if "prompt" in request:
        return {**request, "messages": [{"role": "user", "content": request["prompt"]}]}
    return request


def _tool(name: str, parameters: Any) -> Document:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _from_blocks(messages: list[Document]) -> Iterator[Document]:
    for message in messages:
        blocks = message["content"]
        for block in [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks:
            is_result = block["type"] == "tool_result"
            text = block.get("content") if is_result else block.get("text", json.dumps(block))
            yield {"role": "tool" if is_result else message["role"], "content": text}


def _from_items(items: list[Document]) -> Iterator[Document]:
    for item in items:
        if item.get("type") == "function_call_output":
            yield {"role": "tool", "content": item["output"]}
        else:
            yield {"role": item.get("role", "assistant"), "content": item.get("content", json.dumps(item))}


def _from_parts(contents: list[Document]) -> Iterator[Document]:
    for content in contents:
        for part in content["parts"]:
            is_result = "functionResponse" in part
            role = "tool" if is_result else {"model": "assistant"}.get(content["role"], content["role"])
            yield {"role": role, "content": part.get("text", json.dumps(part))}


def from_chat(path: str, answer: Document) -> Document:
    """An answer of chat completions in any protocol."""
    message, usage = answer["choices"][0]["message"], answer["usage"]
    text = message["content"]
    calls = [{"id": call["id"], **call["function"]} for call in message.get("tool_calls", ())]
    counts = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
    if path.endswith("/messages"):
        said = [{"type": "text", "text": text}] if text else []
        used = [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": json.loads(call["arguments"])}
                for call in calls]  # fmt: skip
        head = {"id": "msg", "type": "message", "role": "assistant", "model": answer["model"], "stop_sequence": None}
        reason = "tool_use" if calls else "end_turn"
        return {**head, "content": [*said, *used], "stop_reason": reason, "usage": counts}
    if path.endswith("/responses"):
        return {**_response(answer["model"], text, calls), "usage": {
            **counts, "total_tokens": usage["total_tokens"], "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0}}}  # fmt: skip
    if ":generateContent" in path:
        parts = [{"text": text}] if text else []
        parts += [{"functionCall": {"name": call["name"], "args": json.loads(call["arguments"])}} for call in calls]
        metadata = {
            "promptTokenCount": usage["prompt_tokens"],
            "candidatesTokenCount": usage["completion_tokens"],
            "totalTokenCount": usage["total_tokens"],
        }
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": metadata, "modelVersion": "scripted"}
    if path.endswith("/completions") and not path.endswith("/chat/completions"):
        told = (answer["choices"][0]["logprobs"] or {}).get("content", [])
        choice = {"index": 0, "text": text or "", "finish_reason": "length", "logprobs": _legacy(told)}
        return {**answer, "object": "text_completion", "choices": [choice]}
    return answer


def _legacy(told: list[Document]) -> Document | None:
    """Probabilities as completions tell them: none of the first token, and beside each the most probable other."""
    own = [token["logprob"] for token in told]
    tops = [{token["token"]: token["logprob"], "\0": math.log1p(-math.exp(token["logprob"]))} for token in told]
    names = [token["token"] for token in told]
    return {"tokens": names, "token_logprobs": [None, *own[1:]], "top_logprobs": [None, *tops[1:]]} if told else None


def _response(model: str, text: str | None, calls: list[Document]) -> Document:
    output: list[Document] = []
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]})
    for call in calls:
        output.append({"type": "function_call", "call_id": call["id"], "status": "completed", **call})
    head = {"id": "resp", "object": "response", "created_at": 0, "model": model, "status": "completed", "error": None}
    return {**head, "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
