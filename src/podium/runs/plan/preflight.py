"""Preflight checks: collect every problem that would stop a run before an experiment is created. Read-only."""

from __future__ import annotations

import ast
import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from podium.agents import agent_class, read_options
from podium.catalog.registry import load_all
from podium.errors import NotPreparedError, PodiumError, UsageError
from podium.leases import default_pool
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.records import Plan
from podium.sandbox.interpreters.interpreter import find_interpreter
from podium.task import Task
from podium.text import format_size, plural

MIN_DISK_BYTES = 1 << 30
PING_S = 60.0
_FIND = "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] if u.find_spec(n) is None))"
PreflightCheck = Callable[[Sequence[Task], Plan, Path], Iterator[str]]


def require_ready(tasks: Sequence[str], plan: Plan, out: Path, *, local: bool = True) -> None:
    """Refuse an experiment that cannot run, listing all problems.

    Args:
        out: folder of the experiment, which need not exist yet.
        local: the runs execute on this machine.

    Raises:
        NotPreparedError: the only problem is missing data.
        PodiumError: there are other problems; the message lists all.
    """
    found = load_all(tasks, plan.edition)
    missing = list(check_data(found, plan, out))
    checks = (*LOCAL_CHECKS, *COMMON_CHECKS) if local else COMMON_CHECKS
    problems = [*(problem for check in checks for problem in check(found, plan, out)), *missing]
    if problems:
        raise NotPreparedError(_join(problems)) if problems == missing else PodiumError(_join(problems))


def require_models(plan: Plan) -> None:
    """Refuse models that do not respond.

    Raises:
        PodiumError: lists the models with the reasons.
    """
    if problems := list(check_models((), plan, Path())):
        raise PodiumError(_join(problems))


def _join(problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    return "\n- ".join([f"Fix {len(problems)} problems first:", *problems])


def check_data(tasks: Sequence[Task], plan: Plan, out: Path) -> Iterator[str]:
    """Check that real data is prepared; generated data and miniatures are made later."""
    for task in tasks:
        if not (task.generated or plan.miniature):
            try:
                prepared_task(task.id, plan)
            except NotPreparedError as error:
                yield str(error)


def check_agent_options(tasks: Sequence[Task], plan: Plan, out: Path) -> Iterator[str]:
    """Check that the files and programs in the agent's options exist."""
    try:
        agent_class(plan.agent).check(read_options(plan.agent, plan.options))
    except UsageError as error:
        yield str(error)


def check_packages(tasks: Sequence[Task], plan: Plan, out: Path) -> Iterator[str]:
    """Check that the packages imported by starter code are installed where it runs."""
    if plan.sandbox == "docker":
        return  # its image brings its own
    interpreter = find_interpreter(plan.env)
    for task in tasks:
        if task.starter is None or not (names := imported_packages(task.starter.folder)):
            continue
        said = subprocess.run(
            [interpreter.executable, "-c", _FIND, *names], capture_output=True, text=True, check=False
        )
        if missing := said.stdout.split():
            yield (
                f"The starter code of {task.id} imports {', '.join(missing)}, missing from {interpreter.prefix}. "
                "Run: pip install 'podium[research]', or choose another Python environment with --env"
            )


def imported_packages(folder: Path) -> list[str]:
    """Return the third-party packages that the Python files of a folder import at the top level."""
    files = sorted(folder.rglob("*.py"))
    own = {path.stem for path in files} | {path.name for path in folder.iterdir() if path.is_dir()}
    found: set[str] = set()
    for file in files:
        try:
            statements = ast.parse(file.read_text(encoding="utf-8")).body
        except (SyntaxError, ValueError):
            continue
        for statement in statements:
            if isinstance(statement, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
                found.add(statement.module.partition(".")[0])
    return sorted(found - own - sys.stdlib_module_names)


def check_machine(tasks: Sequence[Task], plan: Plan, out: Path) -> Iterator[str]:
    """Check that the machine has the cores, GPUs and memory of one execution."""
    pool = default_pool()
    for option, asked, there in (("cores", plan.cores, len(pool.cores)), ("gpus", plan.gpus, len(pool.gpus))):
        if asked > there:
            noun = "core" if option == "cores" else "GPU"
            yield f"--{option} {asked}: this machine has {plural(there, noun)} available."
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if plan.limits.memory_bytes is not None and plan.limits.memory_bytes > memory:
        yield f"--memory {format_size(plan.limits.memory_bytes)}: this machine has {format_size(memory)} of memory."


def check_folder(tasks: Sequence[Task], plan: Plan, out: Path) -> Iterator[str]:
    """Check that the experiment's folder is writable and its disk has space."""
    existing = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        yield f"{existing} is not a writable folder. Choose another with --out"
    elif (free := shutil.disk_usage(existing).free) < MIN_DISK_BYTES:
        yield f"{existing} has {format_size(free)} of free disk space. Free some, or choose another with --out"


def check_models(tasks: Sequence[Task], plan: Plan, out: Path) -> Iterator[str]:
    """Check that every model has its package and API key, and answers a short request."""
    for name, base_url in plan.models.items():
        try:
            ping(name, base_url, **(plan.provider_settings if name == plan.model else {}))
        except PodiumError as error:
            yield str(error)


def ping(name: str, base_url: str | None, **settings: Any) -> None:
    """Send a short request to a model.

    Args:
        settings: further arguments for its provider.

    Raises:
        PodiumError: the model cannot be used or does not respond.
    """
    from inspect_ai.model import GenerateConfig, get_model

    from podium.inspect_internals import failure_of

    config = GenerateConfig(max_tokens=16, max_retries=0, timeout=int(PING_S))

    async def ask() -> None:
        async with get_model(name, base_url=base_url, memoize=False, **settings) as model:
            await model.generate("Answer with one word: ready?", config=config)

    try:
        asyncio.run(ask())
    except Exception as error:  # providers raise all kinds of exceptions
        said = failure_of(error)[1]
        raise PodiumError(f"The model {name} cannot be used: {said[:300] or type(error).__name__}") from error


LOCAL_CHECKS: tuple[PreflightCheck, ...] = (check_machine, check_packages)
"""Checks of the machine that executes the runs."""
COMMON_CHECKS: tuple[PreflightCheck, ...] = (check_agent_options, check_folder, check_models)
