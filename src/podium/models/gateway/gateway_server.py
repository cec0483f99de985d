"""HTTP endpoint for model access inside the sandbox: serves the OpenAI, Anthropic and Google protocols on its loopback.

Requests go through Inspect's model layer, so they are logged, counted and limited like any other, and no API key ever
enters the sandbox. Inspect also translates between protocols, so any client can use any model. The resources that
hostile clients can use up in this process are bounded. Tools executed by the provider (web search, MCP servers) are
removed from requests: they would reach beyond the sandbox.
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
from podium.models.gateway.wire_protocols import Failure, ProtocolName

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PORT = 8080
MODEL = "inspect"
"""Model name for clients; requests for any other name also go to the run's model."""
PING_S = 15.0
"""Interval in seconds between keep-alive events of a stream that waits for its answer."""
CHARACTERS_PER_TOKEN = 4.0
"""Estimated characters per token, until the provider has counted the tokens of a request."""


class BudgetSpentError(Exception):
    """Rejected request: a part of the run's budget is used up."""


class Observer(ModelObserver, Protocol):
    """Observer of requests, answers and failures."""

    async def failed(self, failure: Failure) -> None:
        """Handle a model failure; invalid requests are the program's own errors and not reported."""
        ...

    def thinking(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Return a context that is active while the model is called; the program computes outside it."""
        ...


def environment() -> dict[str, str]:
    """Return environment variables that point common clients to the endpoint."""
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
    """Serve the endpoint on a socket while the block runs, in the caller's sample.

    Args:
        spent: returns the part of the budget that is used up, or None; called before every request.
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
    """Request handlers and the state shared between requests."""

    def __init__(self, observer: Observer | None, spent: Callable[[], str | None]) -> None:
        from podium.models.gateway.http_limits import RequestBodies, TextPool

        self._spent = spent
        self._observer, self._bridge = observer, ModelBridge(observer)
        self._bodies, self._texts = RequestBodies(), TextPool()
        self._characters_per_token = CHARACTERS_PER_TOKEN

    def application(self) -> Any:
        """Return the ASGI application with a route for each address and protocol."""
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

    def _post(
        self, path: str, protocol: ProtocolName, work: Callable[[Request, ProtocolName], Awaitable[Response]]
    ) -> Route:
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        async def endpoint(request: Request) -> Response:
            try:
                return await work(request, protocol)
            except Exception as error:  # noqa: BLE001 (any error from a hostile or broken client is its own)
                failure = await self._explained(error)
                return JSONResponse(failure.document(protocol), status_code=failure.status)

        return Route(path, endpoint, methods=["POST"])

    def _list(self, path: str, protocol: ProtocolName) -> Route:
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        async def endpoint(request: Request) -> Response:
            return JSONResponse(wire_protocols.model_list(protocol, MODEL))

        return Route(path, endpoint, methods=["GET"])

    async def _explained(self, error: Exception) -> Failure:
        if not isinstance(error, NoAnswerError):
            return _fault_of_client(error)
        cause = error.__cause__
        assert isinstance(cause, Exception)
        status, message = failure_of(cause)
        if status is None:
            is_client_error = isinstance(cause, ValueError | KeyError | TypeError | AttributeError | AssertionError)
            status, message = (400 if is_client_error else 502), f"{type(cause).__name__}: {message}"
        failure = Failure(status, message[:2000])
        if self._observer is not None and not failure.is_client_error:
            await self._observer.failed(failure)
        return failure

    async def _count(self, request: Request, protocol: ProtocolName) -> Response:
        """Return the token count of a request, estimated from the provider's count for the previous one."""
        from starlette.responses import JSONResponse

        async with self._bodies.read(request) as body:
            tokens = round(len(body) / self._characters_per_token)
        return JSONResponse({"totalTokens" if protocol == "google" else "input_tokens": tokens})

    async def _answer(self, request: Request, protocol: ProtocolName) -> Response:
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
            room = stack.pop_all()  # stays reserved for the request until the stream has ended
        pieces = self._patiently(protocol, asking, room, with_usage=with_usage)
        return StreamingResponse(pieces, media_type="text/event-stream")

    async def _patiently(
        self,
        protocol: ProtocolName,
        asking: asyncio.Future[dict[str, Any]],
        room: contextlib.AsyncExitStack,
        *,
        with_usage: bool,
    ) -> AsyncIterator[bytes]:
        """Stream keep-alive events until there is an answer, then the answer."""
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

    async def _ask(self, protocol: ProtocolName, document: dict[str, Any], size: int) -> dict[str, Any]:
        if (part := self._spent()) is not None:
            raise BudgetSpentError(f"The run's budget is used up: {part}. No more model requests are accepted.")
        document["model"] = MODEL
        for tool in _functions(document):
            # Optional in the protocols, required by Inspect.
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
    """Return the failure for a request that never reached the model: incomplete, too large, too late or malformed."""
    from podium.models.gateway.http_limits import TooLargeError

    status = {TooLargeError: 413, TimeoutError: 408, BudgetSpentError: 402}.get(type(error), 400)
    if status == 400:
        return Failure(status, f"{type(error).__name__}: {error}"[:2000])
    return Failure(status, (str(error) or "The request was not received in time.")[:2000])


def _functions(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the named tools of a request in any protocol."""
    for tool in document.get("tools") or ():
        inner = tool.get("functionDeclarations") or [tool.get("function", tool)]
        yield from (function for function in inner if "name" in function)
