"""What a user chooses about a sandbox, from which its policy follows."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from podium.sandbox.interpreter import Interpreter, find_interpreter
from podium.sandbox.policy import HOME, Limits, Mount, Policy


class BubblewrapConfig(BaseModel):
    """A sandbox in the words of its user: `SandboxEnvironmentSpec("bubblewrap", BubblewrapConfig(network=True))`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: Path | None = None
    """Folder of the Python environment seen inside, read-only. None: the one Podium runs in, with Podium hidden."""
    workspace: Path | None = None
    """Folder of the host that is /home inside, made if missing. None: a temporary one, removed with the sandbox."""
    mounts: tuple[Mount, ...] = ()
    """Data of the host seen inside; read-only unless a mount says otherwise."""
    environment: dict[str, str] = {}
    """Variables beside the usual ones. Nothing of the host's own environment is visible inside."""
    network: bool = False
    """Whether the host's network may be used."""
    gpus: tuple[int, ...] = ()
    """Numbers of the NVIDIA devices that may be used."""
    limits: Limits = Limits()
    """Bounds for everything that runs inside together."""

    def __hash__(self) -> int:  # Inspect keeps configurations in sets
        return hash(self.model_dump_json())

    def policy(self, workspace: Path) -> Policy:
        """The sandbox this describes, around a workspace.

        Raises:
            UsageError: there is no Python environment at `env`.
        """
        interpreter = find_interpreter(self.env)
        home = Mount(source=workspace, target=HOME, writable=True)
        return Policy(
            # The workspace first: what lies below /home on the host as well would be covered by it.
            mounts=(home, *interpreter.mounts(), *self.mounts),
            hidden=interpreter.hidden(),
            environment={**usual_environment(interpreter), **self.environment},
            network=self.network,
            gpus=self.gpus,
            limits=self.limits,
        )


def usual_environment(interpreter: Interpreter) -> dict[str, str]:
    """The variables that programs expect of a login."""
    return {
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "LOGNAME": "agent",
        "PATH": interpreter.path,
        "SHELL": "/bin/sh",
        "TMPDIR": "/tmp",
        "USER": "agent",
    }
