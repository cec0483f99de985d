"""Test bench of the checks: sandboxes of a backend, a host around them, and a neighbour that must stay unharmed."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self

from podium.sandbox.backend import Backend, Capabilities, Sandbox
from podium.sandbox.linux.leftovers import remove_best_effort
from podium.sandbox.program_result import Keep, ProgramResult
from podium.sandbox.spec import MIB, Limits, SandboxSpec

SOON_S = 60.0
"""Longer than anything here takes, even on a busy machine."""
LIMITS = Limits(
    memory_bytes=300 * MIB,
    shared_memory_bytes=100 * MIB,
    processes=100,
    file_bytes=1 << 30,
    disk_bytes=30 * MIB,
    files=2000,
)
SECRET = "the-answers-42"
PROGRAMS = Path(__file__).parent / "programs"
"""Python scripts called `.pyw`, so that nothing that imports whole packages runs one by mistake."""
HEARTBEAT = """
import itertools, os, time
for number in itertools.count(1):
    with open("beats.new", "w") as file:
        file.write(str(number))
    os.replace("beats.new", "beats")
    time.sleep(0.01)
"""

P = ParamSpec("P")
Requirement = Callable[[Capabilities], str | None]
"""Reason why a check does not apply to a backend with some capabilities, or None if it does."""


@dataclass(frozen=True)
class Check:
    """Check of one promise."""

    name: str
    work: Callable[[Bench], None]
    needs: tuple[Requirement, ...]


@dataclass(frozen=True)
class CheckResult:
    """Result of one check."""

    name: str
    status: Literal["passed", "failed", "not applicable"]
    reason: str = ""


CHECKS: dict[str, Check] = {}


def check(*needs: Requirement) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Register a function as a check, under its own name."""

    def add(work: Callable[[Bench], None]) -> Callable[[Bench], None]:
        name = work.__name__.strip("_")
        CHECKS[name] = Check(name, work, needs)
        return work

    return add


def sealed(capabilities: Capabilities) -> str | None:
    return None if capabilities.sealed else "the backend does not isolate programs from the host"


def own_ports(capabilities: Capabilities) -> str | None:
    return None if capabilities.has_own_ports(SandboxSpec()) else "programs have no loopback interface of their own"


def closed_network(capabilities: Capabilities) -> str | None:
    return "the network cannot be disabled" if capabilities.has_network(SandboxSpec()) else None


def core_binding(capabilities: Capabilities) -> str | None:
    return None if capabilities.core_binding else "programs can leave their assigned cores"


def pausing(capabilities: Capabilities) -> str | None:
    return None if capabilities.pausing else "the backend cannot pause programs"


def limited(name: str, *, by_kernel_if_unsealed: bool = False) -> Requirement:
    """Require a limit to be enforced; optionally by the kernel, if an attack would hit the host otherwise."""

    def needs(capabilities: Capabilities) -> str | None:
        enforcement = capabilities.limits[name]
        if enforcement == "no":
            return f"{name} is not limited"
        if by_kernel_if_unsealed and not capabilities.sealed and enforcement != "kernel":
            return f"{name} is only measured, which must not be tested outside a sandbox"
        return None

    return needs


def require(holds: object, *facts: object) -> None:
    """Raise AssertionError, with the facts as its message, unless a condition holds."""
    if not holds:
        raise AssertionError(" ".join(str(fact) for fact in facts) or "the condition does not hold")


def equal(actual: object, expected: object) -> None:
    """Raise AssertionError unless two values are equal."""
    require(actual == expected, f"got {actual!r:.2000}, expected {expected!r:.2000}")


def raises(kind: type[Exception], work: Callable[P, object], *args: P.args, **options: P.kwargs) -> Exception:
    """Return the exception that a call raises.

    Raises:
        AssertionError: it raises nothing, or another exception.
    """
    try:
        result = work(*args, **options)
    except kind as error:
        return error
    raise AssertionError(f"returned {result!r:.200} instead of raising {kind.__name__}")


def eventually(claim: Callable[[], bool]) -> bool:
    """Return whether a condition becomes true within SOON_S."""
    deadline = time.monotonic() + SOON_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if claim():
                return True
        time.sleep(0.02)
    return False


class Bench:
    """Test bench that runs checks of a backend, one after the other; a context manager."""

    def __init__(self, backend: Backend, spec: SandboxSpec | None = None) -> None:
        """Create the host around the sandboxes of a backend.

        Args:
            spec: base specification of all sandboxes, such as an image.
        """
        self.backend, self.capabilities, self._spec = backend, backend.capabilities(), spec or SandboxSpec()
        self.folder = Path(tempfile.mkdtemp(prefix="podium-conformance-"))
        """Part of the host whose path programs know."""
        for name in ("private", "other"):
            (self.folder / name).mkdir()
            (self.folder / name / "secret.txt").write_text(SECRET)
        (self.folder / "public" / "deep").mkdir(parents=True)
        (self.folder / "public" / "train.csv").write_text("a,b\n")
        (self.folder / "eval.py").write_text("original")
        self._opened: list[Sandbox] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "neighbour" in self.__dict__:
            self.neighbour.stop()
        remove_best_effort(self.folder)

    def run(self, name: str) -> CheckResult:
        """Run one check and return its result."""
        chosen = CHECKS[name]
        reason = next(filter(None, (needs(self.capabilities) for needs in chosen.needs)), None)
        if reason is not None:
            return CheckResult(name, "not applicable", reason)
        try:
            chosen.work(self)
        except Exception:  # noqa: BLE001 (a check that fails is a result)
            return CheckResult(name, "failed", traceback.format_exc())
        finally:
            while self._opened:
                opened = self._opened.pop()
                opened.stop()
                remove_best_effort(opened.workspace)
        return CheckResult(name, "passed")

    def open(self, **spec: Any) -> Sandbox:
        """Open a sandbox around an empty workspace; it is stopped after the check."""
        workspace = self.folder / f"workspace-{uuid.uuid4().hex[:8]}"
        opened = self.backend.open(self._spec.model_copy(update={"workspace": workspace, **spec}))
        self._opened.append(opened)
        return opened

    @cached_property
    def neighbour(self) -> Sandbox:
        """Another sandbox, with a program that counts without end."""
        spec = {"workspace": self.folder / "other", "limits": LIMITS}
        neighbour = self.backend.open(self._spec.model_copy(update=spec))
        neighbour.write("beat.py", HEARTBEAT.encode())
        neighbour.run(["sh", "-c", "python beat.py > /dev/null 2>&1 &"], background=True)
        require(eventually((self.folder / "other" / "beats").exists), "nothing runs in the background")
        return neighbour

    @contextlib.contextmanager
    def others_unharmed(self) -> Iterator[None]:
        """Require that the block leaves the neighbour and this process as they were."""
        beats = self.folder / "other" / "beats"
        require(self.neighbour.is_running)
        cores = os.sched_getaffinity(0)
        yield
        before = beats.read_text()
        done = self.neighbour.run(["cat", "secret.txt"], timeout_s=SOON_S)
        equal((done.exit_code, done.stdout.text, done.stopped), (0, SECRET, None))
        require(eventually(lambda: beats.read_text() != before), "the neighbour's program has stopped")
        equal(os.sched_getaffinity(0), cores)


def run_program(
    sandbox: Sandbox, name: str, *, background: bool = False, timeout_s: float = SOON_S, **options: Any
) -> ProgramResult:
    """Run one of the programs that come with the checks, in the workspace."""
    source = PROGRAMS / name
    sandbox.write(source.name, source.read_bytes())
    command = ["python" if source.suffix == ".pyw" else "sh", source.name]
    keep = Keep(head_bytes=20_000, tail_bytes=20_000)
    return sandbox.run(command, timeout_s=timeout_s, background=background, keep=keep, **options)


def works(sandbox: Sandbox) -> bool:
    """Return whether the sandbox can still run a program that starts another one."""
    return sandbox.run(["sh", "-c", "expr 1 + 1; :"], timeout_s=SOON_S).stdout.text == "2\n"


def unique_seconds() -> str:
    """Return an argument for `sleep` by which its processes can be found."""
    return f"600.{uuid.uuid4().int % 10**9:09d}"


def count_processes(argument: str) -> int:
    """Return the number of processes on this machine with an argument, or a part of one, in their command line."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += argument.encode() in path.read_bytes()
    return count
