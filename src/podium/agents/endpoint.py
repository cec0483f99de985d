"""Model access for programs inside the sandbox: OpenAI's and Anthropic's protocols on its own loopback.

Requests go through Inspect's model layer, so they are logged, counted and limited like any other, and no key ever
enters the sandbox. The translation between protocols is Inspect's too. Whatever programs send, what it takes of this
process is bounded.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio

from podium._inspect import ModelBridge

PORT = 8080
MODEL = "inspect"
"""The model name that programs are to ask for; any other is answered by the run's model too."""


def environment() -> dict[str, str]:
    """Variables that point the usual clients to the endpoint."""
    return {
        "OPENAI_BASE_URL": f"http://localhost:{PORT}/v1",
        "OPENAI_API_BASE": f"http://localhost:{PORT}/v1",
        "OPENAI_API_KEY": "podium",
        "ANTHROPIC_BASE_URL": f"http://localhost:{PORT}",
        "ANTHROPIC_API_KEY": "podium",
    }


@contextlib.asynccontextmanager
async def serve(listener: socket.socket) -> AsyncIterator[None]:
    """Serves the endpoint on a socket while the block runs, in the sample of the caller."""
    import uvicorn

    from podium.agents.http_limits import server_options

    config = uvicorn.Config(_application(), log_config=None, access_log=False, lifespan="off", **server_options())
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


def _application() -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    from podium.agents.http_limits import Bodies, Texts, TooLargeError

    bridge, bodies, texts = ModelBridge(), Bodies(), Texts()

    def route(path: str, answer: Callable[[dict[str, Any]], Awaitable[Any]]) -> Route:
        async def endpoint(request: Request) -> Response:
            try:
                async with bodies.read(request) as body:
                    document = texts.share(json.loads(body))
                    del body
                    document["model"] = MODEL
                    _describe_tools(document)
                    stream = bool(document.pop("stream", False))
                    completion = await answer(document)
            except TooLargeError as error:
                return JSONResponse(_failure(path, "request_too_large", str(error)), status_code=413)
            except Exception as error:  # noqa: BLE001 (whatever a hostile or broken client sends is its own error)
                said = f"{type(error).__name__}: {str(error)[:2000]}"
                return JSONResponse(_failure(path, "invalid_request_error", said), status_code=400)
            found = completion.model_dump(mode="json", warnings=False)
            if stream and path.endswith("chat/completions"):
                return StreamingResponse(_chunks(found), media_type="text/event-stream")
            return JSONResponse(found)

        return Route(path, endpoint, methods=["POST"])

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "podium"}]})

    return Starlette(
        routes=[
            route("/v1/chat/completions", bridge.completions),
            route("/v1/responses", bridge.responses),
            route("/v1/messages", bridge.messages),
            Route("/v1/models", models, methods=["GET"]),
        ]
    )


def _failure(path: str, kind: str, message: str) -> dict[str, Any]:
    """An error as the clients of a protocol expect it."""
    error = {"type": kind, "message": message}
    return {"type": "error", "error": error} if path.endswith("/messages") else {"error": {**error, "code": kind}}


def _describe_tools(document: dict[str, Any]) -> None:
    """Gives tools without a description their name as one: the protocols do without, Inspect does not."""
    for tool in document.get("tools") or ():
        function = tool.get("function", tool)
        if "name" in function:
            function.setdefault("description", function["name"])


async def _chunks(completion: dict[str, Any]) -> AsyncIterator[bytes]:
    """A finished completion as a stream of one piece, for clients that insist on streaming."""
    choices = [
        {
            "index": choice["index"],
            "delta": choice["message"],
            "finish_reason": choice["finish_reason"],
        }
        for choice in completion["choices"]
    ]
    chunk = {**completion, "object": "chat.completion.chunk", "choices": choices}
    yield f"data: {json.dumps(chunk)}\n\n".encode()
    yield b"data: [DONE]\n\n"
