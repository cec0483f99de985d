"""Action runner: performs an agent's actions in the sandbox, on leased cores, visible in Inspect's transcript."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import anyio
from anyio import to_thread
from inspect_ai.log import transcript
from inspect_ai.util import span, suspend_working_limit

from podium.actions import ActionContext, Person, perform
from podium.actions.program_runner import RunOptions
from podium.agents.base import Agent
from podium.inspect_internals import computing
from podium.leases import Lease, default_pool
from podium.models.gateway import gateway_server
from podium.models.gateway.observed_session import ObservedSession
from podium.runs.attempt.grade_run import checker
from podium.runs.attempt.hosted_program import ComputingLease
from podium.runs.attempt.loop import Loop
from podium.runs.attempt.open_run import RunContext
from podium.sandbox.inspect_provider import PodiumSandbox
from podium.sandbox.interpreters.interpreter import python_inside
from podium.sandbox.linux.supervised_sandbox import SupervisedSandbox
from podium.sandbox.program_result import ProgramResult
from podium.sandbox.spec import HOME
from podium.scoring.held_out_scores import HeldOutScoring
from podium.workspace.budget import Budget
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, ValidationResult


class ActionRunner:
    """Performs an agent's actions in one sandbox."""

    def __init__(
        self, context: RunContext, sandbox: PodiumSandbox, loop: Loop, agent: Agent[Any], *, person: Person | None
    ) -> None:
        """
        Args:
            loop: supplies the remaining budget and the usage meter.
            person: answers requests for help.
        """
        self._context, self._sandbox, self._loop, self._agent = context, sandbox, loop, agent
        self._pool = default_pool().with_gpus(sandbox.sandbox.enforced().gpus)
        self._environment: dict[str, str] = {}
        self.validations = 0
        """Number of validations requested by the agent."""
        self._actions = ActionContext(
            root=sandbox.home,
            linked=() if sandbox.home == HOME else tuple(str(m.source.resolve()) for m in context.spec.mounts),
            python=python_inside(context.spec, sealed=sandbox.sandbox.enforced().sealed),
            run_program=self.execute,
            check_submission=self._check_submission,
            person=_unhurried(person) if person else None,
            held_out=HeldOutScoring(context.held_out, sandbox) if context.held_out else None,
            problem=context.instructions,
            seed=context.seed,
            remaining_s=lambda: loop.remaining().time_s,
        )

    async def perform(self, action: Action) -> Observation:
        """Perform an action and return its observation."""
        async with span(action.name, type="podium-step"):
            observation = await self._agent.perform(action)
            if observation is None:
                observation = await perform(action.name, action.arguments, self._actions)
            transcript().info({**action.model_dump(mode="json"), "observation": observation.text})
        self.validations += isinstance(observation, ValidationResult)
        return observation

    async def execute(self, command: Sequence[str], **options: Unpack[RunOptions]) -> ProgramResult:
        """Run a program on leased cores, within its own time limit and the remaining budget."""
        plan, report = self._context.plan, self._context.reporter
        async with contextlib.AsyncExitStack() as stack:
            report.update(phase="waiting for a core")
            with suspend_working_limit():
                lease = await stack.enter_async_context(
                    self._pool.lease(plan.cores, plan.gpus, name=self._context.name)
                )
            self._loop.meter.add_execution(waited_s=lease.waited_s)
            report.update(phase="computing")
            limits = [limit for limit in (options.get("time_s"), self._loop.remaining().time_s) if limit is not None]
            options["time_s"] = min(limits, default=None)
            with computing():
                return await self._run_on(lease, command, **options)

    async def _run_on(
        self,
        lease: Lease,
        command: Sequence[str],
        *,
        cwd: str,
        stdin: str = "",
        background: bool = False,
        environment: Mapping[str, str] | None = None,
        time_s: float | None = None,
    ) -> ProgramResult:
        """Run a program on leased cores; `environment` overrides the agent's variables."""
        return await self._sandbox.run(
            command,
            stdin=stdin.encode(),
            cwd=cwd,
            environment={**self._environment, **lease.environment, **(environment or {})},
            cores=lease.cores,
            background=background,
            timeout_s=time_s,
        )

    async def _check_submission(self, path: str) -> str | None:
        """Return the problem of a submission in the workspace, or None; reads it in the sandbox, so no link escapes."""
        prepared = self._context.prepared
        check = checker(prepared)
        if not prepared.task.is_table:
            return check(Path(path))
        try:
            data = await self._sandbox.read(path, limit_bytes=prepared.submission_limit)
        except OSError as error:
            return f"no submission.csv was written ({error.strerror})"
        with tempfile.TemporaryDirectory(prefix="podium-check-") as folder:
            copy = Path(folder, "submission.csv")
            copy.write_bytes(data)
            return await to_thread.run_sync(check, copy)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Provide programs with the agent's environment variables and, if there is a model, access to it."""
        self._environment = self._agent.environment()
        wanted = self._context.plan.model is not None and self._agent.serves_model
        listener = self._sandbox.listen(gateway_server.PORT) if wanted else None
        async with contextlib.AsyncExitStack() as stack:
            if listener is not None:
                self._environment = {**gateway_server.environment(), **self._environment}
                await stack.enter_async_context(gateway_server.serve(listener, self._agent.observer(), self._spent))
            async with anyio.create_task_group() as group:
                group.start_soon(self._agent.work, self._host)
                yield
                group.cancel_scope.cancel()

    def _spent(self) -> str | None:
        """Return the exceeded token or cost limit, or None: Inspect's limits do not cover requests of programs."""
        budget = self._context.plan.budget
        return self._loop.meter.usage().exceeded(Budget(tokens=budget.tokens, cost=budget.cost))

    async def _host(self, command: Sequence[str], **options: Unpack[RunOptions]) -> ProgramResult:
        """Run a program for the whole run, on leased cores while it computes."""
        observer, lease = self._agent.observer(), self._computing_lease()
        async with contextlib.AsyncExitStack() as stack:
            held = await stack.enter_async_context(lease.computing())
            self._loop.meter.add_execution(waited_s=0.0)
            watching = await stack.enter_async_context(anyio.create_task_group())
            watching.start_soon(lease.watch)
            stack.callback(watching.cancel_scope.cancel)
            if isinstance(observer, ObservedSession):
                observer.computing = lease
            return await self._run_on(held, command, **options)

    def _computing_lease(self) -> ComputingLease:
        plan, report = self._context.plan, self._context.reporter
        lease = ComputingLease(
            self._pool,
            plan.cores,
            gpus=plan.gpus,
            name=self._context.name,
            meter=self._loop.meter,
            keeps=self._agent.keeps_lease(),
        )
        if isinstance(self._sandbox.sandbox, SupervisedSandbox):
            lease.root = self._sandbox.sandbox.pid
        lease.report = lambda phase: report.update(phase=phase)
        return lease


def _unhurried(person: Person) -> Person:
    """Wrap a person so that waiting for answers does not count as working time."""

    async def answer(request: str) -> str:
        with suspend_working_limit():
            return await person(request)

    return answer
