"""Carries out an agent's actions: in the sandbox, on leased cores, visible in Inspect's transcript."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.tool import Tool
from inspect_ai.util import span, suspend_working_limit

from podium.actions import Execution, Workspace, actions, bounded, perform
from podium.agents import endpoint
from podium.agents.base import Action, Agent
from podium.runs.record import Plan
from podium.runs.session import Session
from podium.sandbox.interpreter import find_interpreter
from podium.sandbox.leases import default_pool
from podium.sandbox.policy import HOME
from podium.sandbox.provider import BubblewrapSandbox


class Performer:
    """The hands of an agent in one sandbox."""

    def __init__(
        self, sandbox: BubblewrapSandbox, plan: Plan, session: Session, agent: Agent[Any], *, name: str, problem: str
    ) -> None:
        self._sandbox, self._plan, self._session, self._agent, self._name = sandbox, plan, session, agent, name
        self._pool = default_pool()
        self._environment: dict[str, str] = {}
        python = str(find_interpreter(plan.env).executable)
        self._tools: dict[str, Tool] = actions(
            workspace=Workspace(python=python), executor=self.execute, problem=problem
        )

    async def perform(self, action: Action) -> str:
        """The observation after an action."""
        async with span(action.name, type="podium-step"):
            if action.name == "run_command":
                observation = await self._run_command(**action.arguments)
            else:
                observation = await perform(action.name, action.arguments, self._tools)
            transcript().info({"action": action.name, "arguments": action.arguments, "observation": observation})
        return observation

    async def execute(
        self, command: Sequence[str], *, cwd: str, stdin: str = "", background: bool = False
    ) -> Execution:
        """Runs a program on cores of its own for as long as it takes, or as there is time."""
        async with contextlib.AsyncExitStack() as stack:
            with suspend_working_limit():
                lease = await stack.enter_async_context(
                    self._pool.lease(self._plan.cores, self._plan.gpus, name=self._name)
                )
            self._session.meter.add_execution(waited_s=lease.waited_s)
            outcome = await self._sandbox.run(
                command,
                stdin=stdin.encode(),
                cwd=cwd,
                environment={**self._environment, **_shares(lease.cores, lease.gpus)},
                cores=lease.cores,
                background=background,
                timeout_s=self._session.remaining().time_s,
            )
        exit_code = None if outcome.stopped else outcome.exit_code
        return Execution(exit_code, outcome.stdout.text, outcome.stderr.text, stopped=outcome.stopped)

    async def _run_command(self, command: str, folder: str = "") -> str:
        done = await self.execute(["/bin/sh", "-c", command], cwd=f"{HOME}/{folder}")
        ending = done.stopped or f"exit code {done.exit_code}"
        return bounded(f"{ending}\n{done.stdout}\n{done.stderr}".strip())

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """While the block runs, programs have the agent's variables and, if there is a model, access to it."""
        self._environment = self._agent.environment()
        if self._plan.model is None:
            yield
            return
        self._environment |= endpoint.environment()
        async with endpoint.serve(self._sandbox.sandbox.listen(endpoint.PORT)):
            yield


def _shares(cores: Sequence[int], gpus: Sequence[int]) -> dict[str, str]:
    """Variables by which libraries learn what they may use: they would otherwise count the machine's cores."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(len(cores)))
    return {**threads, "CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus))}
