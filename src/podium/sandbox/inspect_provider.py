"""Inspect sandbox provider for every backend: `inspect eval ... --sandbox bubblewrap`, with or without Podium's runs.

Runs use the provider `podium` and name the backend in its configuration; `bubblewrap` is the same with the default.
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
from podium.sandbox.linux.leftovers import WORKSPACE_PREFIX, remove_best_effort, remove_leftovers
from podium.sandbox.linux.limits.enforce_limits import KILL_PATIENCE_S
from podium.sandbox.linux.supervised_sandbox import SupervisedSandbox
from podium.sandbox.program_result import Keep, Output, ProgramResult
from podium.sandbox.spec import SandboxSpec

T = TypeVar("T")


class BackendSpec(SandboxSpec):
    """Spec together with the backend that opens it."""

    backend: str = DEFAULT

    __hash__ = SandboxSpec.__hash__


def inspect_spec(backend: str, spec: SandboxSpec) -> SandboxEnvironmentSpec:
    """Return Inspect's specification for a sandbox of a backend."""
    return SandboxEnvironmentSpec("podium", BackendSpec(**dict(spec), backend=backend))


@sandboxenv(name="podium")
class PodiumSandbox(SandboxEnvironment):
    """Open sandbox as Inspect sees it; `sandbox` is Podium's own object.

    In a solver or tool: `inspect_ai.util.sandbox().as_type(PodiumSandbox).sandbox`.
    """

    def __init__(self, sandbox: Sandbox, *, is_temporary: bool = False) -> None:
        """Wrap an open sandbox.

        Args:
            is_temporary: True if the workspace, which scorers may still read, is removed with the sample.
        """
        super().__init__()
        self.sandbox, self._is_temporary = sandbox, is_temporary
        # Each thread waits for one program: with a limit, programs would wait for each other.
        self._threads = anyio.CapacityLimiter(math.inf)

    @property
    def home(self) -> str:
        """Workspace path as programs see it."""
        return self.sandbox.home

    def listen(self, port: int) -> socket.socket | None:
        """Return a socket for a port that programs reach on their loopback interface, or None if it is unavailable."""
        return self.sandbox.listen(port)

    async def stop(self) -> None:
        """Stop everything inside. Stopping twice is fine."""
        await to_thread.run_sync(self.sandbox.stop, limiter=self._threads)

    async def remove(self) -> None:
        """Stop everything inside and remove a temporary workspace."""
        await self.stop()
        if self._is_temporary:
            await to_thread.run_sync(remove_best_effort, self.sandbox.workspace)

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
        """Run a program; background processes it leaves behind run until the sandbox stops.

        A program that times out, or whose caller is cancelled, is killed with everything it started. Nothing is
        retried: training is not idempotent. Throttling (`concurrency`) is left to leases.
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
        """Run a program like `Sandbox.run`, for anyio: waits in a thread; cancelling the caller kills the program.

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
        """Read a file like `Sandbox.read`, for anyio."""
        return await to_thread.run_sync(lambda: self.sandbox.read(path, limit_bytes=limit_bytes), limiter=self._threads)

    async def write(self, path: str, data: bytes) -> None:
        """Write a file like `Sandbox.write`, for anyio."""
        await to_thread.run_sync(lambda: self.sandbox.write(path, data), limiter=self._threads)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Create or replace a file and its parent folders, with the permissions of the programs inside."""
        await _with_documented_errors(self.write(file, _encode(contents)))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Return the content of a regular file that programs inside could read."""
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        data = await _with_documented_errors(self.read(file, limit_bytes=limit))
        if len(data) > limit:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode("utf-8") if text else data

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """Return a command that opens a shell inside.

        Raises:
            NotImplementedError: this user cannot open one, or the backend does not support it.
        """
        self._require_user(user)
        if not self.sandbox.is_running:
            raise ConnectionError("The sandbox is not running.")
        if not isinstance(self.sandbox, SupervisedSandbox):
            raise NotImplementedError("This backend does not support a shell.")
        return SandboxConnection(type="podium", command=shlex.join(self.sandbox.shell()))

    def _require_user(self, user: str | None) -> None:
        if user is None:
            return
        only = self.sandbox.enforced().environment.get("USER")
        if user != only:
            raise SandboxUserUnsupportedError(f"This sandbox has only the user {only}; it cannot run as {user}.")

    def default_polling_interval(self) -> float:
        """Return the interval at which Inspect polls for requests from inside; a poll takes a few milliseconds here."""
        return 0.1

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Reject a configuration that cannot work, before any sample starts."""
        spec = _read_config(config)
        try:
            find_backend(spec.backend).check(spec)
        except PodiumError as error:
            raise prerequisite_error(str(error)) from error

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Start the single sandbox of a sample."""
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
        """Stop the sandboxes of a sample, in any state."""
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                await environment.as_type(cls).remove()

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:  # noqa: A002 (Inspect's name)
        """Remove temporary folders of sandboxes that ended without cleanup; the kernel has ended their processes."""
        await to_thread.run_sync(lambda: remove_leftovers(id))

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BackendSpec:
        """Return a configuration from its form in a log."""
        return BackendSpec.model_validate(config)


@sandboxenv(name="bubblewrap")
class BubblewrapSandbox(PodiumSandbox):
    """Same provider under the name of the default backend."""


class ExecTimeoutError(TimeoutError):
    """Timeout of a program; Inspect shows the model the output until then."""

    def __init__(self, timeout_s: float, truncated_output: str) -> None:
        super().__init__(f"Command timed out after {timeout_s:g} seconds")
        self.truncated_output = truncated_output


class _Call:
    """Program that one thread waits for and another may cancel, before, while or after it runs."""

    def __init__(self, sandbox: Sandbox, start: Callable[[], Program], timeout_s: float | None) -> None:
        self._sandbox, self._start, self._timeout_s = sandbox, start, timeout_s
        self._starting = threading.Lock()
        self._program: Program | None = None
        self._is_cancelled = False
        self._ended = threading.Event()

    def run(self) -> ProgramResult:
        with self._starting:
            if self._is_cancelled:
                raise SandboxGoneError("The call was cancelled before the program started.")
            self._program = self._start()
        try:
            return self._program.wait(self._timeout_s)
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Kill the program with everything it started and wait until all of it is gone."""
        with self._starting:
            self._is_cancelled = True
        if self._program is None:
            return
        self._program.kill("cancelled")
        if not self._ended.wait(KILL_PATIENCE_S):
            self._sandbox.kill_all()  # its supervisor was stopped by a program inside


def _open(spec: BackendSpec) -> Sandbox:
    backend = find_backend(spec.backend)
    if spec.workspace is not None:
        return backend.open(spec)
    workspace = Path(tempfile.mkdtemp(prefix=WORKSPACE_PREFIX))
    try:
        return backend.open(spec.model_copy(update={"workspace": workspace}))
    except BaseException:
        remove_best_effort(workspace)
        raise


def _read_config(config: SandboxEnvironmentConfigType | None) -> BackendSpec:
    """Return the configuration: an object, a JSON file (`--sandbox bubblewrap:FILE`), or the default."""
    if isinstance(config, str):
        return BackendSpec.model_validate_json(Path(config).read_text(encoding="utf-8"))
    return BackendSpec() if config is None else BackendSpec.model_validate(config.model_dump())


def _exec_result(command: list[str], result: ProgramResult, *, timeout_s: float | None, limit: int) -> ExecResult[str]:
    """Convert a result to Inspect's type.

    Raises:
        ExecTimeoutError: the program timed out.
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
    """Return the end of an output, within a limit even after invalid bytes were replaced by longer ones."""
    text = (output.head + output.tail).decode("utf-8", "replace")
    if len(text) * 3 <= limit:
        return text
    return text.encode()[-limit:].decode("utf-8", "ignore")


def _encode(contents: str | bytes) -> bytes:
    # Models write lone surrogates; that should not end a run.
    return contents.encode("utf-8", "replace") if isinstance(contents, str) else contents


async def _with_documented_errors(work: Awaitable[T]) -> T:
    try:
        return await work
    except SandboxGoneError as error:
        raise SandboxUnavailableError(str(error)) from error
    except OSError as error:
        raise _documented(error) from error


def _documented(error: OSError) -> OSError:
    """Return an error that Inspect turns into an answer for the model; any other would end the sample."""
    if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
        return FileNotFoundError(*error.args, error.filename)
    if error.errno in (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EINVAL, errno.ENXIO, errno.ETXTBSY):
        return PermissionError(*error.args, error.filename)
    return error
