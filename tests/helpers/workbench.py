"""Actions are tested for real: in a bubblewrap sandbox, through Inspect, with models behind HTTP."""

from __future__ import annotations

import gc
import random
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec
from model_server import Fault, ModelServer, Request, last_text, serving

import podium.sandbox.inspect_provider  # noqa: F401 (makes itself known to Inspect)
from podium.actions import ActionContext, perform
from podium.sandbox.spec import Limits, Mount, SandboxSpec
from podium.workspace.journal.observations import Observation

Work = Callable[[ActionContext], Awaitable[Any]]


@contextmanager
def _leaks_of_inspect() -> Iterator[None]:
    """Inspect leaves streams of anyio to the garbage collector, which would complain in whatever test comes next."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unclosed <MemoryObject", ResourceWarning)
        yield
        gc.collect()
    gc.freeze()  # what is left is what has been imported: the next collection need not go through it again


class Bench:
    """A workspace on the host, and a sandbox around it for as long as some actions last."""

    models: ModelServer

    def __init__(self, folder: Path) -> None:
        self.workspace, self.data = folder / "workspace", folder / "data"
        self.answers: list[str | Fault] = []
        """What the models will say, whichever is asked."""
        self.roles = {"edit": "edit", "fast": "fast"}
        self.limits: dict[str, Any] = {}
        self.provider = "bubblewrap"
        self._logs = folder / "logs"
        for path in (self.workspace / "data", self.data):
            path.mkdir(parents=True)
        (self.data / "train.csv").write_text("id,label\n1,2\n")

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Has the models listen."""

        def answer(request: Request, rng: random.Random) -> str | Fault:
            return self.answers.pop(0) if self.answers else Fault(404, "nothing is left to say")

        with serving(answer) as self.models:
            yield

    def prompt(self, number: int) -> str:
        """The last message of a request."""
        return last_text(self.models.requests[number])

    def play(self, work: Work, **provided: Any) -> Any:
        """What the work returns, done in a sandbox with what is provided for actions."""
        results: list[Any] = []
        main, roles = self._model("main"), {role: self._model(name) for role, name in self.roles.items()}

        @solver
        def playing() -> Any:
            async def solve(state: TaskState, generate: Generate) -> TaskState:
                async with AsyncExitStack() as connections:
                    for model in (main, *roles.values()):
                        await connections.enter_async_context(model)
                    try:
                        results.append(await work(ActionContext(**provided)))
                    except Exception as error:  # noqa: BLE001 (raised again outside Inspect)
                        results.append(error)
                return state

            return solve

        mount = Mount(source=self.data, target="/home/data")
        config = SandboxSpec(workspace=self.workspace, mounts=(mount,), limits=Limits(memory_bytes=1 << 30))
        task = Task(
            dataset=[Sample(input="-")],
            solver=playing(),
            sandbox=SandboxEnvironmentSpec("bubblewrap", config) if self.provider == "bubblewrap" else self.provider,
            **self.limits,
        )
        with _leaks_of_inspect():
            [log] = evaluate(
                task,
                model=main,
                model_roles=dict(roles),
                log_dir=str(self._logs),
                display="none",
            )
        assert log.status == "success", log.error
        if results and isinstance(results[0], Exception):
            raise results[0]
        return results[0] if results else log

    def observe(self, *steps: tuple[str, object], **provided: Any) -> list[Observation]:
        """The observations after some actions, one after the other in one sandbox."""

        async def work(context: ActionContext) -> list[Observation]:
            return [await perform(name, arguments, context) for name, arguments in steps]

        observations: list[Observation] = self.play(work, **provided)
        return observations

    def perform(self, *steps: tuple[str, object], **provided: Any) -> list[str]:
        """What a language model reads of these observations."""
        return [observation.text for observation in self.observe(*steps, **provided)]

    def one(self, action: str, /, **arguments: object) -> str:
        """The observation after one action."""
        return self.perform((action, arguments))[0]

    def _model(self, name: str) -> Model:
        return get_model(f"openai-api/podium/{name}", base_url=self.models.url, api_key="none", memoize=False)
