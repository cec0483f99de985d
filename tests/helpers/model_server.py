"""A model to test against: a server on loopback that plays a behaviour, over real HTTP, in any provider's protocol.

A behaviour is a function of a request and a seeded source of chance. It gives back text, a `Reply` (which may hold tool
calls) or a `Fault` of the line. Behaviours are made worse by wrapping them: `rate_limited(honest)`, `dropping(honest)`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from provider_protocols import as_chat, from_chat

_NUMBERS = itertools.count()
"""No two calls have the same id, as clients and Inspect expect."""
Request = dict[str, Any]
"""What was asked, as in OpenAI's documentation of chat completions: `messages`, `tools`, `tool_choice`, ..."""


@dataclass(frozen=True)
class Call:
    """A tool call; arguments given as text are sent as they are, well-formed or not."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """An answer and how it is delivered."""

    text: str | None = None
    calls: tuple[Call, ...] = ()
    finish: Literal["stop", "length", "tool_calls", "content_filter"] | None = None
    """By default what fits."""
    delay_s: float = 0.0
    logprobs: tuple[tuple[str, float], ...] = ()
    """The tokens of the text, if they are told."""
    input_tokens: int = 100
    output_tokens: int = 20


@dataclass(frozen=True)
class Fault:
    """An answer that is none: an HTTP error, or, without a status, a connection that ends too early."""

    status: int | None = None
    message: str = "scripted fault"
    code: str | None = None
    retry_after_s: float | None = None
    halfway: bool = False
    """Whether the connection ends in the middle of the answer; otherwise, before it."""


Behaviour = Callable[[Request, random.Random], "str | Reply | Fault"]


def text_of(request: Request) -> str:
    """Everything a request says, in one piece."""
    return "\n".join(_text(message.get("content")) for message in request["messages"])


def last_text(request: Request) -> str:
    """What its last message says."""
    return _text(request["messages"][-1].get("content"))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())


def tool_names(request: Request) -> list[str]:
    """The tools that are offered."""
    return [tool["function"]["name"] for tool in request.get("tools") or ()]


def rate_limited(behaviour: Behaviour, share: float = 0.4) -> Behaviour:
    """Refuses some requests and asks to come again soon."""

    def answer(request: Request, rng: random.Random) -> str | Reply | Fault:
        if rng.random() < share:
            return Fault(status=429, message="Rate limit reached", code="rate_limit_exceeded", retry_after_s=0.05)
        return behaviour(request, rng)

    return answer


def dropping(behaviour: Behaviour, share: float = 0.4) -> Behaviour:
    """Lets some connections end before or in the middle of an answer."""

    def answer(request: Request, rng: random.Random) -> str | Reply | Fault:
        if rng.random() < share:
            return Fault(halfway=rng.random() < 0.5)
        return behaviour(request, rng)

    return answer


def windowed(
    behaviour: Behaviour, tokens: int, style: Literal["llama.cpp", "vllm", "openai"] = "llama.cpp"
) -> Behaviour:
    """Has a window: refuses what is too long in the words of a provider, and counts tokens of its own."""

    def answer(request: Request, rng: random.Random) -> str | Reply | Fault:
        prompt = len(json.dumps([request["messages"], request.get("tools")])) // 3
        limit = request.get("max_tokens") or request.get("max_completion_tokens") or 0
        if style == "llama.cpp" and prompt > tokens:
            said = f"the request exceeds the available context size ({tokens} tokens), try increasing it"
            return Fault(400, said, "exceed_context_size_error")
        if style != "llama.cpp" and prompt + limit > tokens:
            said = (
                f"This model's maximum context length is {tokens} tokens. However, you requested {prompt + limit} "
                f"tokens ({prompt} in the messages, {limit} in the completion). Please reduce the length."
            )
            return Fault(400, said, "context_length_exceeded" if style == "openai" else None)
        found = behaviour(request, rng)
        reply = Reply(found) if isinstance(found, str) else found
        return replace(reply, input_tokens=prompt) if isinstance(reply, Reply) else reply

    return answer


def slow(behaviour: Behaviour, seconds: float = 0.5) -> Behaviour:
    """Takes its time."""

    def answer(request: Request, rng: random.Random) -> str | Reply | Fault:
        time.sleep(seconds * (0.5 + rng.random()))
        return behaviour(request, rng)

    return answer


def endless_talker(request: Request, rng: random.Random) -> Reply:
    """Talks until it is cut off and never comes to the point."""
    limit = request.get("max_tokens") or request.get("max_completion_tokens") or 4096
    words = " ".join(rng.choice(["well", "perhaps", "one", "might", "consider", "that"]) for _ in range(limit))
    return Reply("Let me think about it. ```python\n# " + words, finish="length", output_tokens=limit)


def silent(request: Request, rng: random.Random) -> Reply:
    """Answers with nothing."""
    return Reply("", output_tokens=0)


def refusing(request: Request, rng: random.Random) -> Reply:
    """Declines everything."""
    return Reply("I'm sorry, but I can't help with that.")


def dead(request: Request, rng: random.Random) -> Fault:
    """Is out of order."""
    return Fault(status=503, message="The server is overloaded")


class ModelServer(ThreadingHTTPServer):
    """Answers chat completions; `requests` holds what was asked, `served` what was answered in full."""

    def __init__(self, behaviour: Behaviour, seed: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour, self.seed = behaviour, seed
        self.requests: list[Request] = []
        self.served: list[Reply] = []
        self.faults = 0
        self.window: int | None = None
        """What the list of models says of the model's window, as vLLM does."""
        self._counting = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def tokens(self) -> int:
        """All tokens of all answers, as reported to clients."""
        return sum(reply.input_tokens + reply.output_tokens for reply in self.served)

    def answer(self, request: Request) -> Reply | Fault:
        with self._counting:
            self.requests.append(request)
            number = len(self.requests)
        found = self.behaviour(request, random.Random(f"{self.seed}:{number}"))
        return Reply(found) if isinstance(found, str) else found

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that was killed is part of the game
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        window = {} if self.server.window is None else {"max_model_len": self.server.window}
        listed = [{"id": "scripted", "object": "model", "created": 0, "owned_by": "tests", **window}]
        self._send(200, {"object": "list", "data": listed})

    def do_POST(self) -> None:
        request = as_chat(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        found = self.server.answer(request)
        if isinstance(found, Reply):
            time.sleep(found.delay_s)
            self.server.served.append(found)  # before a client can look at it
            document = _document(request, found)
            if request.get("stream"):
                self._stream(document)
            else:
                self._send(200, from_chat(self.path, document))
            return
        self.server.faults += 1
        if found.status is not None:
            self._send(found.status, _error(found), retry_after_s=found.retry_after_s)
        else:
            self._break_off(halfway=found.halfway)

    def _send(self, status: int, document: dict[str, Any], retry_after_s: float | None = None) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if retry_after_s is not None:
            self.send_header("Retry-After-Ms", str(int(1000 * retry_after_s)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, document: dict[str, Any]) -> None:
        """The answer to a chat as server-sent events: all of it in one, then the end."""
        choice = document["choices"][0]
        parts = [{**choice, "delta": choice["message"], "finish_reason": None}, {**choice, "delta": {}}]
        chunks = [{**document, "object": "chat.completion.chunk", "choices": [part]} for part in parts]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def _break_off(self, *, halfway: bool) -> None:
        if halfway:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "answer", "choi')
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def _document(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [_call(number, call) for number, call in enumerate(reply.calls)]
    finish = reply.finish or ("tool_calls" if reply.calls else "stop")
    return {
        "id": f"answer-{next(_NUMBERS)}",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": _logprobs(reply)}],
        "usage": {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
        },
    }


def _logprobs(reply: Reply) -> dict[str, Any] | None:
    told = [{"token": token, "logprob": chance, "bytes": None, "top_logprobs": []} for token, chance in reply.logprobs]
    return {"content": told} if told else None


def _call(number: int, call: Call) -> dict[str, Any]:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    return {
        "id": f"call-{next(_NUMBERS)}-{number}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _error(fault: Fault) -> dict[str, Any]:
    return {"error": {"message": fault.message, "type": "scripted", "param": None, "code": fault.code}}


@contextmanager
def serving(behaviour: Behaviour, seed: int = 0) -> Iterator[ModelServer]:
    """A server while the block runs."""
    server = ModelServer(behaviour, seed)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
