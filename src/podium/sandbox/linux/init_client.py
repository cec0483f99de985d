"""Child process that runs `init.py`."""

from __future__ import annotations
import __future__

import contextlib
import marshal
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from podium.sandbox.linux import init
from podium.sandbox.linux.control_socket import control_pair
from podium.sandbox.linux.limits import systemd_scope
from podium.sandbox.spec import Limits


class ChildInit:
    """First process of a sandbox, or the program that seals it."""

    def __init__(self, command: Sequence[str | Path | bytes], program: str, messages: Path, limits: Limits) -> None:
        """Start the process.

        Args:
            command: the interpreter, after the sealing program if any; paths become descriptors of those files,
                bytes a descriptor of a file with that content.
            program: path inside of the compiled `init.py`.
            messages: file for output until everything works.
            limits: enforced by a control group from the start if only systemd can create one.
        """
        self.channel, theirs = control_pair()
        self._messages = messages
        try:
            with contextlib.ExitStack() as opened:
                descriptors = [opened.enter_context(theirs).fileno()]
                scoped = systemd_scope.command(limits) if systemd_scope.is_used() else []
                sealing = [*scoped, *_with_descriptors(command, descriptors, opened)]
                output = opened.enter_context(messages.open("wb"))
                self._process = subprocess.Popen(
                    [*sealing, "-I", "-S", "-B", program, str(descriptors[0])],
                    pass_fds=descriptors,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env=systemd_scope.environment() if scoped else {},
                    cwd="/",  # bwrap reveals it in PWD
                    start_new_session=True,
                )
        except BaseException:
            self.channel.close()
            raise

    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait(self, timeout_s: float) -> bool:
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self, pid: int | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid or self._process.pid, signal.SIGKILL)
        self._process.wait()

    def messages(self) -> str:
        return self._messages.read_text(errors="replace")


def _with_descriptors(
    command: Sequence[str | Path | bytes], descriptors: list[int], opened: contextlib.ExitStack
) -> Iterator[str]:
    for part in command:
        if isinstance(part, bytes):
            descriptors.append(os.memfd_create("content"))
            opened.callback(os.close, descriptors[-1])
            os.write(descriptors[-1], part)
            os.lseek(descriptors[-1], 0, os.SEEK_SET)
        elif isinstance(part, Path):
            descriptors.append(opened.enter_context(part.open("rb")).fileno())
        yield part if isinstance(part, str) else str(descriptors[-1])


@cache
def compiled_init(name: str) -> bytes:
    """Return `init.py` as bytecode for this interpreter: compiling it would take half of its start."""
    source = Path(init.__file__).read_bytes()
    flags_time_and_size = bytes(12)
    without_types = __future__.annotations.compiler_flag
    code = compile(source, name, "exec", flags=without_types, dont_inherit=True)
    return MAGIC_NUMBER + flags_time_and_size + marshal.dumps(code)
