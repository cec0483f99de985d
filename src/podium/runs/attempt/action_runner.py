"""Carries out an agent's actions: in the sandbox, on leased cores, visible in Inspect's transcript."""

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
from podium.models.gateway import endpoint
from podium.models.gateway.observed_session import Session
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
        self._pool = default_pool().with_gpus(sandbox.sandbox.enforced().gpus)
        self._environment: dict[str, str] = {}
        self.validations = 0
        """How often the agent had its submission validated."""
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
        """The observation after an action."""
        async with span(action.name, type="podium-step"):
            observation = await self._agent.perform(action)
            if observation is None:
                observation = await perform(action.name, action.arguments, self._actions)
            transcript().info({**action.model_dump(mode="json"), "observation": observation.text})
        self.validations += isinstance(observation, ValidationResult)
        return observation

    async def execute(self, command: Sequence[str], **options: Unpack[RunOptions]) -> ProgramResult:
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
        """Runs a program on leased cores; what it is given wins over the agent's variables."""
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
        """What is wrong with a submission in the workspace. It is opened inside, so no link leads out."""
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
        """While the block runs, programs have the agent's variables and, if there is a model, access to it."""
        self._environment = self._agent.environment()
        wanted = self._context.plan.model is not None and self._agent.serves_model
        listener = self._sandbox.listen(endpoint.PORT) if wanted else None
        async with contextlib.AsyncExitStack() as stack:
            if listener is not None:
                self._environment = {**endpoint.environment(), **self._environment}
                await stack.enter_async_context(endpoint.serve(listener, self._agent.observer(), self._spent))
            async with anyio.create_task_group() as group:
                group.start_soon(self._agent.work, self._host)
                yield
                group.cancel_scope.cancel()

    def _spent(self) -> str | None:
        """What of the budget for models is used up: limits of Inspect do not reach the requests of programs."""
        budget = self._context.plan.budget
        return self._loop.meter.usage().exceeded(Budget(tokens=budget.tokens, cost=budget.cost))

    async def _host(self, command: Sequence[str], **options: Unpack[RunOptions]) -> ProgramResult:
        """Runs a program for as long as the run lasts, on cores of its own while it computes."""
        observer, lease = self._agent.observer(), self._computing_lease()
        async with contextlib.AsyncExitStack() as stack:
            held = await stack.enter_async_context(lease.computing())
            self._loop.meter.add_execution(waited_s=0.0)
            watching = await stack.enter_async_context(anyio.create_task_group())
            watching.start_soon(lease.watch)
            stack.callback(watching.cancel_scope.cancel)
            if isinstance(observer, Session):
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
    """The same person, whose time is not the agent's."""

    async def answer(request: str) -> str:
        with suspend_working_limit():
            return await person(request)

    return answer
