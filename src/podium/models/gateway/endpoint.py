"""Model access for programs inside the sandbox: the protocols of OpenAI, Anthropic and Google on its own loopback.

Requests go through Inspect's model layer, so they are logged, counted and limited like any other, and no key ever
enters the sandbox. The translation between protocols is Inspect's too: any client can ask any model. Whatever programs
send, what it takes of this process is bounded. Tools that a provider would carry out (web search, MCP servers) are
withheld: they would reach further than the sandbox does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from podium.inspect_internals import ModelBridge, ModelObserver, NoAnswerError, failure_of
from podium.models.gateway import wire_protocols
from podium.models.gateway.wire_protocols import Failure, Name

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PORT = 8080
MODEL = "inspect"
"""The model name that programs are to ask for; any other is answered by the run's model too."""
PING_S = 15.0
"""How long a client that wants a stream waits for the answer, or for a sign of life."""
CHARACTERS_PER_TOKEN = 4.0
"""Of a request, until the provider has counted the tokens of one."""


class BudgetSpentError(Exception):
    """A part of the run's budget is used up, so that no model is asked any more."""


class Observer(ModelObserver, Protocol):
    """Sees what programs ask the model, what it answers, and why it does not."""

    async def failed(self, failure: Failure) -> None:
        """The model could not be asked, or did not answer; faults of requests are the program's own."""
        ...

    def thinking(self) -> contextlib.AbstractAsyncContextManager[None]:
        """A block in which the model is asked; what comes after it is the program's again."""
        ...


def environment() -> dict[str, str]:
    """Variables that point the usual clients to the endpoint."""
    return {
        "OPENAI_BASE_URL": f"http://localhost:{PORT}/v1",
        "OPENAI_API_BASE": f"http://localhost:{PORT}/v1",
        "OPENAI_API_KEY": "podium",
        "ANTHROPIC_BASE_URL": f"http://localhost:{PORT}",
        "ANTHROPIC_API_KEY": "podium",
        "GOOGLE_GEMINI_BASE_URL": f"http://localhost:{PORT}",
        "GEMINI_API_KEY": "podium",
    }


@contextlib.asynccontextmanager
async def serve(
    listener: socket.socket, observer: Observer | None = None, spent: Callable[[], str | None] = lambda: None
) -> AsyncIterator[None]:
    """Serves the endpoint on a socket while the block runs, in the sample of the caller.

    Args:
        spent: the part of the budget that is used up, if one is; asked before every request.
    """
    import uvicorn

    from podium.models.gateway.http_limits import server_options

    application = _Endpoint(observer, spent).application()
    config = uvicorn.Config(application, log_config=None, access_log=False, lifespan="off", **server_options())
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    async with anyio.create_task_group() as group:
        group.start_soon(_serve_quietly, server, listener)
        try:
            yield
        finally:
            group.cancel_scope.cancel()
            listener.close()


async def _serve_quietly(server: Any, listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        await server.serve(sockets=[listener])


class _Endpoint:
    """What is kept between requests."""

    def __init__(self, observer: Observer | None, spent: Callable[[], str | None]) -> None:
        from podium.models.gateway.http_limits import Bodies, Texts

        self._spent = spent
        self._observer, self._bridge = observer, ModelBridge(observer)
        self._bodies, self._texts = Bodies(), Texts()
        self._characters_per_token = CHARACTERS_PER_TOKEN

    def application(self) -> Any:
        """All addresses, each with its protocol."""
        from starlette.applications import Starlette

        google = "/{version}/models/{model}:"
        return Starlette(
            routes=[
                self._post("/v1/chat/completions", "chat", self._answer),
                self._post("/v1/responses", "responses", self._answer),
                self._post("/v1/responses/input_tokens", "responses", self._count),
                self._post("/v1/messages", "messages", self._answer),
                self._post("/v1/messages/count_tokens", "messages", self._count),
                self._post(f"{google}generateContent", "google", self._answer),
                self._post(f"{google}streamGenerateContent", "google", self._answer),
                self._post(f"{google}countTokens", "google", self._count),
                self._list("/v1/models", "chat"),
                self._list("/v1beta/models", "google"),
            ]
        )

    def _post(self, path: str, protocol: Name, work: Callable[[Request, Name], Awaitable[Response]]) -> Route:
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        async def endpoint(request: Request) -> Response:
            try:
                return await work(request, protocol)
            except Exception as error:  # noqa: BLE001 (whatever a hostile or broken client sends is its own error)
                failure = await self._explained(error)
                return JSONResponse(failure.document(protocol), status_code=failure.status)

        return Route(path, endpoint, methods=["POST"])

    def _list(self, path: str, protocol: Name) -> Route:
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        async def endpoint(request: Request) -> Response:
            return JSONResponse(wire_protocols.models(protocol, MODEL))

        return Route(path, endpoint, methods=["GET"])

    async def _explained(self, error: Exception) -> Failure:
        if not isinstance(error, NoAnswerError):
            return _fault_of_client(error)
        cause = error.__cause__
        assert isinstance(cause, Exception)
        status, message = failure_of(cause)
        if status is None:
            is_of_client = isinstance(cause, ValueError | KeyError | TypeError | AttributeError | AssertionError)
            status, message = (400 if is_of_client else 502), f"{type(cause).__name__}: {message}"
        failure = Failure(status, message[:2000])
        if self._observer is not None and not failure.is_of_client:
            await self._observer.failed(failure)
        return failure

    async def _count(self, request: Request, protocol: Name) -> Response:
        """How many tokens a request has: an estimate, by what the provider counted in the last one."""
        from starlette.responses import JSONResponse

        async with self._bodies.read(request) as body:
            tokens = round(len(body) / self._characters_per_token)
        return JSONResponse({"totalTokens" if protocol == "google" else "input_tokens": tokens})

    async def _answer(self, request: Request, protocol: Name) -> Response:
        from starlette.responses import JSONResponse, StreamingResponse

        async with contextlib.AsyncExitStack() as stack:
            body = await stack.enter_async_context(self._bodies.read(request))
            document, size = self._texts.share(json.loads(body)), len(body)
            del body
            streams = bool(document.pop("stream", False)) or "streamGenerateContent" in request.url.path
            with_usage = bool((document.pop("stream_options", None) or {}).get("include_usage"))
            asking = asyncio.ensure_future(self._ask(protocol, document, size))
            stack.callback(asking.cancel)
            if not streams:
                return JSONResponse(await asking)
            await asyncio.wait({asking}, timeout=PING_S)
            if asking.done():
                return StreamingResponse(
                    wire_protocols.stream(protocol, asking.result(), with_usage=with_usage),
                    media_type="text/event-stream",
                )
            room = stack.pop_all()  # of the request, until the stream has ended
        pieces = self._patiently(protocol, asking, room, with_usage=with_usage)
        return StreamingResponse(pieces, media_type="text/event-stream")

    async def _patiently(
        self,
        protocol: Name,
        asking: asyncio.Future[dict[str, Any]],
        room: contextlib.AsyncExitStack,
        *,
        with_usage: bool,
    ) -> AsyncIterator[bytes]:
        """A stream that begins before there is an answer."""
        async with room:
            while not asking.done():
                yield wire_protocols.ping(protocol)
                await asyncio.wait({asking}, timeout=PING_S)
            if (error := asking.exception()) is not None:
                failure = await self._explained(error)  # type: ignore[arg-type]
                yield failure.event(protocol)
                return
            for piece in wire_protocols.stream(protocol, asking.result(), with_usage=with_usage):
                yield piece

    async def _ask(self, protocol: Name, document: dict[str, Any], size: int) -> dict[str, Any]:
        if (part := self._spent()) is not None:
            raise BudgetSpentError(f"This run's budget is used up: {part}. No model is asked any more.")
        document["model"] = MODEL
        for tool in _functions(document):
            # The protocols do without, Inspect does not.
            tool.setdefault("description", tool["name"])
            is_function = tool.get("type", "function") == "function"
            if is_function and not any(name in tool for name in ("input_schema", "parametersJsonSchema")):
                tool.setdefault("parameters", {"type": "object", "properties": {}})
        async with self._observer.thinking() if self._observer else contextlib.nullcontext():
            answer = await self._bridge.answer(protocol, document)
        if tokens := wire_protocols.input_tokens(protocol, answer):
            self._characters_per_token = size / tokens
        return answer


def _fault_of_client(error: Exception) -> Failure:
    """Why a request was not put to the model: it did not come, was too large, too late, or cannot be read."""
    from podium.models.gateway.http_limits import TooLargeError

    status = {TooLargeError: 413, TimeoutError: 408, BudgetSpentError: 402}.get(type(error), 400)
    said = f"{type(error).__name__}: {error}" if status == 400 else str(error) or "The request did not come in time."
    return Failure(status, said[:2000])


def _functions(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The tools of a request that have a name, whichever protocol it is in."""
    for tool in document.get("tools") or ():
        inner = tool.get("functionDeclarations") or [tool.get("function", tool)]
        yield from (function for function in inner if "name" in function)
