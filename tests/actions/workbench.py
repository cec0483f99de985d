"""Actions are tested for real: in a bubblewrap sandbox, through Inspect, with models behind HTTP."""

from __future__ import annotations

import gc
import json
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.tool import Tool
from inspect_ai.util import SandboxEnvironmentSpec

import podium.sandbox.provider  # noqa: F401 (makes itself known to Inspect)
from podium.actions import actions, perform
from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.policy import Limits, Mount

Work = Callable[[dict[str, Tool]], Awaitable[Any]]


class ScriptedModels:
    """An OpenAI-compatible server whose models give answers in the order they were scripted; a number is a refusal."""

    def __init__(self) -> None:
        self.answers: list[str | int] = []
        self.requests: list[dict[str, Any]] = []
        models = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                models.requests.append(json.loads(self.rfile.read(length)))
                answer = models.answers.pop(0) if models.answers else 404
                status = answer if isinstance(answer, int) else 200
                body = json.dumps(_refusal() if status != 200 else _completion(str(answer))).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def model(self, name: str) -> Model:
        url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return get_model(f"openai-api/podium/{name}", base_url=url, api_key="none", memoize=False)

    def prompt(self, number: int) -> str:
        """The last message of a request."""
        return str(self.requests[number]["messages"][-1]["content"])

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


def _refusal() -> dict[str, Any]:
    return {"error": {"message": "this model does not want to", "type": "refusal"}}


@contextmanager
def _leaks_of_inspect() -> Iterator[None]:
    """Inspect leaves streams of anyio to the garbage collector, which would complain in whatever test comes next."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unclosed <MemoryObject", ResourceWarning)
        yield
        gc.collect()


class Bench:
    """A workspace on the host, and a sandbox around it for as long as some actions last."""

    def __init__(self, folder: Path, models: ScriptedModels) -> None:
        self.workspace, self.data = folder / "workspace", folder / "data"
        self.models = models
        self.roles = {"edit": "edit", "fast": "fast"}
        self.limits: dict[str, Any] = {}
        self.provider = "bubblewrap"
        self._logs = folder / "logs"
        for path in (self.workspace / "data", self.data):
            path.mkdir(parents=True)
        (self.data / "train.csv").write_text("id,label\n1,2\n")

    def play(self, work: Work, **options: Any) -> Any:
        """What the work returns, done in a sandbox with the actions."""
        results: list[Any] = []

        @solver
        def playing() -> Any:
            async def solve(state: TaskState, generate: Generate) -> TaskState:
                try:
                    results.append(await work(actions(**options)))
                except Exception as error:
                    results.append(error)
                return state

            return solve

        mount = Mount(source=self.data, target="/home/data")
        config = BubblewrapConfig(workspace=self.workspace, mounts=(mount,), limits=Limits(memory_bytes=1 << 30))
        task = Task(
            dataset=[Sample(input="-")],
            solver=playing(),
            sandbox=SandboxEnvironmentSpec("bubblewrap", config) if self.provider == "bubblewrap" else self.provider,
            **self.limits,
        )
        with _leaks_of_inspect():
            [log] = evaluate(
                task,
                model=self.models.model("main"),
                model_roles={role: self.models.model(name) for role, name in self.roles.items()},
                log_dir=str(self._logs),
                display="none",
            )
        assert log.status == "success", log.error
        if results and isinstance(results[0], Exception):
            raise results[0]
        return results[0] if results else log

    def perform(self, *steps: tuple[str, object], **options: Any) -> list[str]:
        """The observations after some actions, one after the other in one sandbox."""

        async def work(tools: dict[str, Tool]) -> list[str]:
            return [await perform(name, arguments, tools) for name, arguments in steps]

        observations: list[str] = self.play(work, **options)
        return observations

    def one(self, action: str, /, **arguments: object) -> str:
        """The observation after one action."""
        return self.perform((action, arguments))[0]
