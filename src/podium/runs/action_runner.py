"""Carries out an agent's actions: in the sandbox, on leased cores, visible in Inspect's transcript."""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anyio import to_thread
from inspect_ai.log import transcript
from inspect_ai.tool import Tool
from inspect_ai.util import span, suspend_working_limit

from podium.actions import Execution, Person, Workspace, actions, ask_operator, bounded, perform
from podium.agents import endpoint
from podium.agents.base import Agent
from podium.leases import default_pool
from podium.runs.context import RunContext
from podium.runs.grading import checker
from podium.runs.loop import Loop
from podium.sandbox.inspect import PodiumSandbox
from podium.sandbox.interpreter import python_inside
from podium.workspace.events import Action
from podium.workspace.layout import SUBMISSION
from podium.workspace.observations import Observation, ProgramOutput, ScriptResult, SubmissionResult, Text

OUTPUT_CHARACTERS = 12_000
_METRIC = re.compile(r"^podium-metric:\s*(\S+)\s*$", re.MULTILINE)


class ActionRunner:
    """Performs actions in one sandbox."""

    def __init__(
        self, context: RunContext, sandbox: PodiumSandbox, loop: Loop, agent: Agent[Any], *, person: Person | None
    ) -> None:
        """
        Args:
            loop: whose budget bounds programs, and which counts them.
            person: who answers requests for help.
        """
        self._context, self._sandbox, self._loop, self._agent = context, sandbox, loop, agent
        self._own: dict[str, Callable[..., Awaitable[Observation]]] = {
            "run_command": self._run_command,
            "try_script": self._try_script,
            "submit_script": self._submit_script,
        }
        self._pool = default_pool()
        self._environment: dict[str, str] = {}
        self._python = python_inside(context.spec)
        self._tools: dict[str, Tool] = actions(
            workspace=Workspace(root=sandbox.home, python=self._python),
            executor=self.execute,
            problem=context.instructions,
            interactive=person is not None,
            person=_unhurried(person) if person else ask_operator,
        )

    async def perform(self, action: Action) -> Observation:
        """The observation after an action."""
        async with span(action.name, type="podium-step"):
            observation: Observation
            if action.name in self._own:
                observation = await self._own[action.name](**action.arguments)
            else:
                observation = Text(text=await perform(action.name, action.arguments, self._tools))
            transcript().info({**action.model_dump(mode="json"), "observation": observation.text})
        return observation

    async def execute(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        stdin: str = "",
        background: bool = False,
        environment: Mapping[str, str] | None = None,
        time_s: float | None = None,
    ) -> Execution:
        """Runs a program on cores of its own for as long as it takes or may take, or as there is time."""
        plan, report = self._context.plan, self._context.reporter
        async with contextlib.AsyncExitStack() as stack:
            report.update(phase="waiting for a core")
            with suspend_working_limit():
                lease = await stack.enter_async_context(
                    self._pool.lease(plan.cores, plan.gpus, name=self._context.name)
                )
            self._loop.meter.add_execution(waited_s=lease.waited_s)
            report.update(phase="computing")
            outcome = await self._sandbox.run(
                command,
                stdin=stdin.encode(),
                cwd=cwd,
                environment={**self._environment, **lease.environment, **(environment or {})},
                cores=lease.cores,
                background=background,
                timeout_s=_least(time_s, self._loop.remaining().time_s),
            )
        exit_code = None if outcome.stopped else outcome.exit_code
        return Execution(exit_code, outcome.stdout.text, outcome.stderr.text, stopped=outcome.stopped)

    async def _run_command(self, command: str, folder: str = "") -> ProgramOutput:
        done = await self.execute(["/bin/sh", "-c", command], cwd=f"{self._sandbox.home}/{folder}")
        return ProgramOutput(
            exit_code=done.exit_code,
            stopped=done.stopped,
            stdout=bounded(done.stdout),
            stderr=bounded(done.stderr),
        )

    async def _try_script(self, number: int, script: str, split: int = 0, time_s: float | None = None) -> ScriptResult:
        """Runs a script in a folder of its own."""
        folder, home = script_folder(number, split), self._sandbox.home
        await self._sandbox.write(f"{folder}/script.py", script.encode("utf-8", "replace"))
        started = time.monotonic()
        limit = _least(time_s, self._loop.remaining().time_s)
        done = await self.execute(
            [self._python, "-u", "script.py"],
            cwd=f"{home}/{folder}",
            environment={
                "PODIUM_DATA": f"{home}/data",
                "PODIUM_SEED": str(self._context.seed),
                "PODIUM_SPLIT": str(split),
                **({} if limit is None else {"PODIUM_TIME_S": f"{limit:.1f}"}),
            },
            time_s=time_s,
        )
        error = await self._error_of(f"{folder}/submission.csv")
        return ScriptResult(
            exit_code=done.exit_code,
            stopped=done.stopped,
            output=bounded(f"{done.stdout}\n{done.stderr}".strip(), OUTPUT_CHARACTERS),
            seconds=round(time.monotonic() - started, 2),
            metric=last_metric(done.stdout),
            valid=error is None,
            error=error,
        )

    async def _submit_script(self, number: int, split: int = 0) -> SubmissionResult:
        """Makes what a script has left the submission."""
        source = f"{script_folder(number, split)}/submission.csv"
        outcome = await self._sandbox.run(["cp", source, SUBMISSION], cwd=self._sandbox.home)
        reason = outcome.stderr.text.strip() if outcome.exit_code else ""
        return SubmissionResult(script=number, accepted=outcome.exit_code == 0, reason=reason)

    async def _error_of(self, path: str) -> str | None:
        """What is wrong with a submission in the workspace. It is opened inside, so no link leads out."""
        try:
            data = await self._sandbox.read(path, limit_bytes=self._context.prepared.submission_limit)
        except OSError as error:
            return f"no submission.csv was written ({error.strerror})"
        with tempfile.TemporaryDirectory(prefix="podium-check-") as folder:
            copy = Path(folder, "submission.csv")
            copy.write_bytes(data)
            return await to_thread.run_sync(checker(self._context.prepared), copy)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """While the block runs, programs have the agent's variables and, if there is a model, access to it."""
        self._environment = self._agent.environment()
        if self._context.plan.model is None or not self._agent.serves_model:
            yield
            return
        listener = self._sandbox.listen(endpoint.PORT)
        if listener is None:
            yield
            return
        self._environment |= endpoint.environment()
        async with endpoint.serve(listener):
            yield


def _unhurried(person: Person) -> Person:
    """The same person, whose time is not the agent's."""

    async def answer(request: str) -> str:
        with suspend_working_limit():
            return await person(request)

    return answer


def script_folder(number: int, split: int) -> str:
    """Where a script of a search lies in the workspace."""
    return f"code/{number:03d}" if split == 0 else f"code/{number:03d}-split-{split}"


def last_metric(output: str) -> float | None:
    """The number of the last metric line that holds one."""
    for text in reversed(_METRIC.findall(output)):
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    return None


def _least(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
