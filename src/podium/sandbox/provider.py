"""The sealed sandbox for Inspect: `inspect eval ... --sandbox bubblewrap`, with or without the rest of Podium."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import shlex
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import anyio
from anyio import to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from podium._inspect import prerequisite_error
from podium.data.trees import remove_tree
from podium.errors import PodiumError, SandboxGoneError
from podium.sandbox.bubblewrap import find_bubblewrap
from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.leftovers import WORKSPACE_PREFIX, remove_leftovers
from podium.sandbox.output import Output
from podium.sandbox.policy import HOME, USER_ID
from podium.sandbox.sandbox import KILL_PATIENCE_S, Execution, Keep, Outcome, Sandbox

USERS = (None, "agent", str(USER_ID))
T = TypeVar("T")


@sandboxenv(name="bubblewrap")
class BubblewrapSandbox(SandboxEnvironment):
    """A running sandbox as Inspect sees it; `sandbox` and `workspace` are for our own code.

    From a solver or tool: `inspect_ai.util.sandbox().as_type(BubblewrapSandbox).sandbox`.
    """

    sandbox: Sandbox
    workspace: Path
    """The folder of the host that is /home inside."""

    def __init__(self, config: BubblewrapConfig) -> None:
        """Starts it, which takes tens of milliseconds."""
        super().__init__()
        # Each thread waits for one program: bounding them would let programs wait for each other.
        self._threads = anyio.CapacityLimiter(math.inf)
        self._is_temporary = config.workspace is None
        self.workspace = config.workspace or Path(tempfile.mkdtemp(prefix=WORKSPACE_PREFIX))
        self.workspace.mkdir(parents=True, exist_ok=True)
        try:
            self.sandbox = Sandbox(config.policy(self.workspace))
        except BaseException:
            self._remove_workspace()
            raise

    def stop(self) -> None:
        """Ends everything inside and removes what was temporary. Stopping twice is fine."""
        self.sandbox.stop()
        self._remove_workspace()

    def _remove_workspace(self) -> None:
        if self._is_temporary and self.workspace.exists():
            with contextlib.suppress(OSError):
                remove_tree(self.workspace)

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
        if user not in USERS:
            raise SandboxUserUnsupportedError(f"the bubblewrap sandbox has one user, agent; it cannot run as {user}")
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        outcome = await self.run(
            [_encode(part).decode() for part in cmd],
            stdin=_encode(input or b""),
            cwd=cwd,
            environment=env,
            timeout_s=timeout,
            background=True,
            keep=Keep(head_bytes=0, tail_bytes=limit),
        )
        return _result(cmd, outcome, timeout_s=timeout, limit=limit)

    async def run(self, command: Sequence[str], *, timeout_s: float | None = None, **options: Any) -> Outcome:
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

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Makes or replaces a file, and the folders above it, with the rights of the programs inside."""
        await self._with_files(lambda: self.sandbox.write(file, _encode(contents)))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """The content of a regular file that programs inside could read."""
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        data = await self._with_files(lambda: self.sandbox.read(file, limit_bytes=limit))
        if len(data) > limit:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode("utf-8") if text else data

    async def _with_files(self, work: Callable[[], T]) -> T:
        try:
            return await to_thread.run_sync(work, limiter=self._threads)
        except SandboxGoneError as error:
            raise SandboxUnavailableError(str(error)) from error
        except OSError as error:
            raise _documented(error) from error

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """A command with which root opens a shell inside. The shell is free of the sandbox's limits and filter.

        Raises:
            NotImplementedError: without root, because the namespaces belong to one that no process is in any more.
        """
        if user not in USERS or os.geteuid() != 0:
            raise NotImplementedError("only root can open a shell in a bubblewrap sandbox, and only as its user agent")
        if not self.sandbox.is_running:
            raise ConnectionError("the sandbox is not running")
        enter = ["nsenter", "--target", str(self.sandbox.pid), "--all", "--preserve-credentials"]
        variables = [f"{name}={value}" for name, value in self.sandbox.policy.environment.items()]
        command = shlex.join([*enter, "env", "-i", "-C", self.sandbox.policy.cwd, *variables, "TERM=xterm", "bash"])
        return SandboxConnection(type="bubblewrap", command=command)

    def default_polling_interval(self) -> float:
        """How often Inspect looks for requests from inside: a look costs a few milliseconds here."""
        return 0.1

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Refuses what cannot work before any sample starts."""
        try:
            find_bubblewrap()
            _read_config(config).policy(Path(HOME))
        except PodiumError as error:
            raise prerequisite_error(str(error)) from error

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Starts the one sandbox of a sample."""
        chosen = _read_config(config)
        return {"default": await to_thread.run_sync(lambda: cls(chosen), limiter=anyio.CapacityLimiter(1))}

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
                await to_thread.run_sync(environment.as_type(cls).stop, limiter=anyio.CapacityLimiter(1))

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:  # noqa: A002 (Inspect's name)
        """Removes temporary folders of sandboxes that ended without cleaning up; the rest the kernel has ended."""
        await to_thread.run_sync(lambda: remove_leftovers(id))

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BubblewrapConfig:
        """A configuration as logs hold it."""
        return BubblewrapConfig.model_validate(config)


class ExecTimeoutError(TimeoutError):
    """A program's time was up; Inspect shows the model what it had printed until then."""

    def __init__(self, timeout_s: float, truncated_output: str) -> None:
        super().__init__(f"Command timed out after {timeout_s:g} seconds")
        self.truncated_output = truncated_output


class _Call:
    """A program that one thread waits for and another may cancel, before, while or after it runs."""

    def __init__(self, sandbox: Sandbox, start: Callable[[], Execution], timeout_s: float | None) -> None:
        self._sandbox, self._start, self._timeout_s = sandbox, start, timeout_s
        self._starting = threading.Lock()
        self._execution: Execution | None = None
        self._is_cancelled = False
        self._ended = threading.Event()

    def run(self) -> Outcome:
        with self._starting:
            if self._is_cancelled:
                raise SandboxGoneError("cancelled before the program was started")
            self._execution = self._start()
        try:
            return self._execution.wait(self._timeout_s)
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Kills the program with all it started and waits until they are gone."""
        with self._starting:
            self._is_cancelled = True
        if self._execution is None:
            return
        self._execution.kill("cancelled")
        if not self._ended.wait(KILL_PATIENCE_S):
            self._sandbox.kill_all()  # its keeper has been stopped by something inside


def _read_config(config: SandboxEnvironmentConfigType | None) -> BubblewrapConfig:
    """The configuration as an object, from a JSON file (`--sandbox bubblewrap:FILE`), or by default."""
    if isinstance(config, str):
        return BubblewrapConfig.model_validate_json(Path(config).read_text(encoding="utf-8"))
    return BubblewrapConfig() if config is None else BubblewrapConfig.model_validate(config)


def _result(command: list[str], outcome: Outcome, *, timeout_s: float | None, limit: int) -> ExecResult[str]:
    """An outcome in Inspect's terms.

    Raises:
        ExecTimeoutError: its time was up.
        PermissionError: the program may not be executed.
    """
    stdout, stderr = _tail(outcome.stdout, limit), _tail(outcome.stderr, limit)
    if outcome.stopped is not None:
        if timeout_s is not None and outcome.seconds >= timeout_s:
            raise ExecTimeoutError(timeout_s, stdout + stderr)
        stderr = f"{stderr}\n{outcome.stopped}\n".lstrip("\n")
    refusal = f"{command[0]}: permission denied\n"
    if outcome.exit_code == 126 and stderr == refusal:
        raise PermissionError(errno.EACCES, "Permission denied", command[0])
    return ExecResult(outcome.exit_code == 0, outcome.exit_code, stdout, stderr)


def _tail(output: Output, limit: int) -> str:
    """The end of an output, within a limit also after bytes that are no text have been replaced by longer ones."""
    text = (output.head + output.tail).decode("utf-8", "replace")
    if len(text) * 3 <= limit:
        return text
    return text.encode()[-limit:].decode("utf-8", "ignore")


def _encode(contents: str | bytes) -> bytes:
    # Models write halves of surrogate pairs; that should not end a run.
    return contents.encode("utf-8", "replace") if isinstance(contents, str) else contents


def _documented(error: OSError) -> OSError:
    """The error among those Inspect turns into an answer for the model; any other would end the sample."""
    if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
        return FileNotFoundError(*error.args, error.filename)
    if error.errno in (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EINVAL, errno.ENXIO, errno.ETXTBSY):
        return PermissionError(*error.args, error.filename)
    return error
