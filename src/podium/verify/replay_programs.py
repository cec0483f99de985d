"""Replay of a run's programs: repeats the actions that execute something, as plain commands in a sandbox."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from typing import Any

from podium.actions import ACTIONS
from podium.errors import RecordError
from podium.leases import Lease
from podium.sandbox.backend import Sandbox
from podium.sandbox.interpreters.interpreter import python_inside
from podium.sandbox.spec import HOME, SandboxSpec
from podium.task import SUBMISSION
from podium.workspace.journal.events import Action

SESSION = "python_session"
PROGRAM_ACTIONS = ("try_script", "execute_script", "run_command", SESSION)
COPIES = ("submit_script", "copy_file")
_FILE_BYTES = 1 << 30


def action_name(action: Action) -> str:
    """Return the name of an action; agents may use its title instead."""
    return next((spec.name for spec in ACTIONS.values() if spec.is_called(action.name)), action.name)


class Programs:
    """Repeats program steps one after the other within a common time budget."""

    def __init__(self, sandbox: Sandbox, spec: SandboxSpec, lease: Lease, *, seed: int, time_s: float) -> None:
        self._sandbox, self._lease, self._seed = sandbox, lease, seed
        self._python = python_inside(spec, sealed=sandbox.enforced().sealed)
        self._ends = time.monotonic() + time_s
        self._session = ""

    def perform(self, action: Action) -> None:
        """Repeat an action.

        Raises:
            RecordError: the arguments do not fit the action.
            OSError: a file does not exist.
        """
        given = action.arguments
        try:
            match action.name:
                case "try_script":
                    self._try_script(given)
                case "execute_script":
                    words = shlex.split(str(given.get("arguments", "")))
                    self._run([self._python, "-u", f"./{given['script_name']}", *words])
                case "run_command":
                    self._run(["/bin/sh", "-c", str(given["command"])], f"{HOME}/{given.get('folder', '.')}")
                case "python_session":
                    self._session += (
                        f"{given['command']}\n"  # a new process has no variables, so the session is repeated
                    )
                    self._run([self._python, "-u", "-c", self._session])
                case "submit_script":
                    self._copy(f"{_folder(given)}/submission.csv", SUBMISSION)
                case "copy_file":
                    self._copy(str(given["source"]), str(given["destination"]))
        except (KeyError, ValueError, TypeError) as error:
            raise RecordError(f"{action.name} has invalid arguments: {error!r}") from error

    def _try_script(self, given: dict[str, Any]) -> None:
        folder = _folder(given)
        self._sandbox.write(f"{HOME}/{folder}/script.py", str(given["script"]).encode())
        left_s = self._ends - time.monotonic()
        environment = {
            "PODIUM_DATA": f"{HOME}/data",
            "PODIUM_SEED": str(self._seed),
            "PODIUM_SPLIT": str(int(given.get("split") or 0)),
            "PODIUM_TIME_S": f"{min(left_s, given.get('time_s') or left_s):.1f}",
        }
        self._run([self._python, "-u", "script.py"], f"{HOME}/{folder}", environment)

    def _copy(self, source: str, target: str) -> None:
        self._sandbox.write(f"{HOME}/{target}", self._sandbox.read(f"{HOME}/{source}", limit_bytes=_FILE_BYTES))

    def _run(self, command: Sequence[str], cwd: str = HOME, environment: dict[str, str] | None = None) -> None:
        self._sandbox.run(
            command,
            cwd=cwd,
            environment={**self._lease.environment, **(environment or {})},
            cores=self._lease.cores,
            timeout_s=max(1.0, self._ends - time.monotonic()),
        )


def _folder(given: dict[str, Any]) -> str:
    number, split = int(given["number"]), int(given.get("split") or 0)
    return f"code/{number:03d}" if split == 0 else f"code/{number:03d}-split-{split}"
