"""Every backend as a sandbox of Inspect's: `inspect eval ... --sandbox bubblewrap`, with or without the rest of Podium.

Runs ask for `podium`, with a backend by name; `bubblewrap` is the same with the default.
"""

from __future__ import annotations

import errno
import math
import shlex
import socket
import tempfile
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack, overload

import anyio
from anyio import to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from podium.errors import PodiumError, SandboxGoneError
from podium.inspect_internals import prerequisite_error
from podium.sandbox.backend import DEFAULT, Program, Sandbox, StartOptions, find_backend
from podium.sandbox.linux.leftovers import WORKSPACE_PREFIX, remove_leftovers, remove_what_goes
from podium.sandbox.linux.limits.enforce_limits import KILL_PATIENCE_S
from podium.sandbox.linux.supervised_sandbox import SupervisedSandbox
from podium.sandbox.program_result import Keep, Output, ProgramResult
from podium.sandbox.spec import SandboxSpec

T = TypeVar("T")


class BackendSpec(SandboxSpec):
    """A spec and the backend that is to open it."""

    backend: str = DEFAULT

    __hash__ = SandboxSpec.__hash__


def inspect_spec(backend: str, spec: SandboxSpec) -> SandboxEnvironmentSpec:
    """How Inspect is asked for a sandbox of a backend."""
    return SandboxEnvironmentSpec("podium", BackendSpec(**dict(spec), backend=backend))


@sandboxenv(name="podium")
class PodiumSandbox(SandboxEnvironment):
    """An open sandbox as Inspect sees it; `sandbox` is for our own code.

    From a solver or tool: `inspect_ai.util.sandbox().as_type(PodiumSandbox).sandbox`.
    """

    def __init__(self, sandbox: Sandbox, *, is_temporary: bool = False) -> None:
        """
        Args:
            is_temporary: whether the workspace, which scorers may still look at, is removed with the sample.
        """
        super().__init__()
        self.sandbox, self._is_temporary = sandbox, is_temporary
        # Each thread waits for one program: bounding them would let programs wait for each other.
        self._threads = anyio.CapacityLimiter(math.inf)

    @property
    def home(self) -> str:
        """The workspace as programs see it."""
        return self.sandbox.home

    def listen(self, port: int) -> socket.socket | None:
        """A socket for a port that programs reach on their loopback; None where that cannot be had."""
        return self.sandbox.listen(port)

    async def stop(self) -> None:
        """Ends everything inside. Stopping twice is fine."""
        await to_thread.run_sync(self.sandbox.stop, limiter=self._threads)

    async def remove(self) -> None:
        """The same, and removes a temporary workspace."""
        await self.stop()
        if self._is_temporary:
            await to_thread.run_sync(remove_what_goes, self.sandbox.workspace)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002 (Inspect's name)
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Runs a program; what it leaves in the background goes on until the sandbox stops.

        A program whose time is up, or whose caller was cancelled, is killed with all it started. Nothing is retried:
        training is not idempotent. Throttling (`concurrency`) is the business of leases.
        """
        self._require_user(user)
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        result = await self.run(
            [_encode(part).decode() for part in cmd],
            stdin=_encode(input or b""),
            cwd=cwd,
            environment=env,
            timeout_s=timeout,
            background=True,
            keep=Keep(head_bytes=0, tail_bytes=limit),
        )
        return _exec_result(cmd, result, timeout_s=timeout, limit=limit)

    async def run(
        self, command: Sequence[str], *, timeout_s: float | None = None, **options: Unpack[StartOptions]
    ) -> ProgramResult:
        """`Sandbox.run` for anyio: waits in a thread, and a cancelled caller's program is killed at once.

        Raises:
            SandboxUnavailableError: the sandbox is gone.
        """
        call = _Call(self.sandbox, lambda: self.sandbox.start(command, **options), timeout_s)
        try:
            return await to_thread.run_sync(call.run, abandon_on_cancel=True, limiter=self._threads)
        except SandboxGoneError as error:
            raise SandboxUnavailableError(str(error)) from error
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(call.cancel, limiter=self._threads)
            raise

    async def read(self, path: str, *, limit_bytes: int) -> bytes:
        """`Sandbox.read` for anyio."""
        return await to_thread.run_sync(lambda: self.sandbox.read(path, limit_bytes=limit_bytes), limiter=self._threads)

    async def write(self, path: str, data: bytes) -> None:
        """`Sandbox.write` for anyio."""
        await to_thread.run_sync(lambda: self.sandbox.write(path, data), limiter=self._threads)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Makes or replaces a file, and the folders above it, with the rights of the programs inside."""
        await _with_documented_errors(self.write(file, _encode(contents)))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """The content of a regular file that programs inside could read."""
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        data = await _with_documented_errors(self.read(file, limit_bytes=limit))
        if len(data) > limit:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode("utf-8") if text else data

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """A command that opens a shell inside.

        Raises:
            NotImplementedError: this user cannot open one, or this backend has none.
        """
        self._require_user(user)
        if not self.sandbox.is_running:
            raise ConnectionError("the sandbox is not running")
        if not isinstance(self.sandbox, SupervisedSandbox):
            raise NotImplementedError("this backend offers no shell")
        return SandboxConnection(type="podium", command=shlex.join(self.sandbox.shell()))

    def _require_user(self, user: str | None) -> None:
        if user is None:
            return
        only = self.sandbox.enforced().environment.get("USER")
        if user != only:
            raise SandboxUserUnsupportedError(f"this sandbox has one user, {only}; it cannot run as {user}")

    def default_polling_interval(self) -> float:
        """How often Inspect looks for requests from inside: a look costs a few milliseconds here."""
        return 0.1

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Refuses what cannot work before any sample starts."""
        spec = _read_config(config)
        try:
            find_backend(spec.backend).check(spec)
        except PodiumError as error:
            raise prerequisite_error(str(error)) from error

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Starts the one sandbox of a sample."""
        spec = _read_config(config)
        is_temporary = spec.workspace is None
        opened = await to_thread.run_sync(_open, spec, limiter=anyio.CapacityLimiter(1))
        return {"default": cls(opened, is_temporary=is_temporary)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Stops the sandboxes of a sample, whatever state they are in."""
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                await environment.as_type(cls).remove()

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:  # noqa: A002 (Inspect's name)
        """Removes temporary folders of sandboxes that ended without cleaning up; the rest the kernel has ended."""
        await to_thread.run_sync(lambda: remove_leftovers(id))

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BackendSpec:
        """A configuration as logs hold it."""
        return BackendSpec.model_validate(config)


@sandboxenv(name="bubblewrap")
class BubblewrapSandbox(PodiumSandbox):
    """The same under the name of the default backend."""


class ExecTimeoutError(TimeoutError):
    """A program's time was up; Inspect shows the model what it had printed until then."""

    def __init__(self, timeout_s: float, truncated_output: str) -> None:
        super().__init__(f"Command timed out after {timeout_s:g} seconds")
        self.truncated_output = truncated_output


class _Call:
    """A program that one thread waits for and another may cancel, before, while or after it runs."""

    def __init__(self, sandbox: Sandbox, start: Callable[[], Program], timeout_s: float | None) -> None:
        self._sandbox, self._start, self._timeout_s = sandbox, start, timeout_s
        self._starting = threading.Lock()
        self._program: Program | None = None
        self._is_cancelled = False
        self._ended = threading.Event()

    def run(self) -> ProgramResult:
        with self._starting:
            if self._is_cancelled:
                raise SandboxGoneError("cancelled before the program was started")
            self._program = self._start()
        try:
            return self._program.wait(self._timeout_s)
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Kills the program with all it started and waits until they are gone."""
        with self._starting:
            self._is_cancelled = True
        if self._program is None:
            return
        self._program.kill("cancelled")
        if not self._ended.wait(KILL_PATIENCE_S):
            self._sandbox.kill_all()  # its supervisor has been stopped by something inside


def _open(spec: BackendSpec) -> Sandbox:
    backend = find_backend(spec.backend)
    if spec.workspace is not None:
        return backend.open(spec)
    workspace = Path(tempfile.mkdtemp(prefix=WORKSPACE_PREFIX))
    try:
        return backend.open(spec.model_copy(update={"workspace": workspace}))
    except BaseException:
        remove_what_goes(workspace)
        raise


def _read_config(config: SandboxEnvironmentConfigType | None) -> BackendSpec:
    """The configuration as an object, from a JSON file (`--sandbox bubblewrap:FILE`), or by default."""
    if isinstance(config, str):
        return BackendSpec.model_validate_json(Path(config).read_text(encoding="utf-8"))
    return BackendSpec() if config is None else BackendSpec.model_validate(config.model_dump())


def _exec_result(command: list[str], result: ProgramResult, *, timeout_s: float | None, limit: int) -> ExecResult[str]:
    """A result in Inspect's terms.

    Raises:
        ExecTimeoutError: its time was up.
        PermissionError: the program may not be executed.
    """
    stdout, stderr = _tail(result.stdout, limit), _tail(result.stderr, limit)
    if result.stopped is not None:
        if timeout_s is not None and result.seconds >= timeout_s:
            raise ExecTimeoutError(timeout_s, stdout + stderr)
        stderr = f"{stderr}\n{result.stopped}\n".lstrip("\n")
    refusal = f"{command[0]}: permission denied\n"
    if result.exit_code == 126 and stderr == refusal:
        raise PermissionError(errno.EACCES, "Permission denied", command[0])
    return ExecResult(result.exit_code == 0, result.exit_code, stdout, stderr)


def _tail(output: Output, limit: int) -> str:
    """The end of an output, within a limit also after bytes that are not text have been replaced by longer ones."""
    text = (output.head + output.tail).decode("utf-8", "replace")
    if len(text) * 3 <= limit:
        return text
    return text.encode()[-limit:].decode("utf-8", "ignore")


def _encode(contents: str | bytes) -> bytes:
    # Models write halves of surrogate pairs; that should not end a run.
    return contents.encode("utf-8", "replace") if isinstance(contents, str) else contents


async def _with_documented_errors(work: Awaitable[T]) -> T:
    try:
        return await work
    except SandboxGoneError as error:
        raise SandboxUnavailableError(str(error)) from error
    except OSError as error:
        raise _documented(error) from error


def _documented(error: OSError) -> OSError:
    """The error among those Inspect turns into an answer for the model; any other would end the sample."""
    if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
        return FileNotFoundError(*error.args, error.filename)
    if error.errno in (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EINVAL, errno.ENXIO, errno.ETXTBSY):
        return PermissionError(*error.args, error.filename)
    return error
