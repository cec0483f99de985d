"""Preset of a coding agent: data model and parser of its TOML file."""

from __future__ import annotations

import platform
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError, field_validator

from podium.errors import UsageError
from podium.models.gateway.wire_protocols import ProtocolName
from podium.sandbox.spec import Frozen

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
"""npm's names of machine types by their Linux names."""

EDIT = "edit_file"
"""Action name of tools that edit part of a file, for which Podium has no action of its own."""


class Install(Frozen):
    """Source of a program: packages and versions."""

    kind: Literal["npm", "pypi"]
    packages: tuple[str, ...]
    """Packages with versions, in the installer's syntax; `{machine}` is x64 or arm64."""
    program: str
    """Executable, relative to the installation folder; `{machine}` is npm's and `{platform}` Linux's machine type."""
    megabytes: int
    """Approximate size on disk."""
    alone: tuple[str, ...] = ()
    """PyPI packages that are installed without their dependencies."""
    sources: tuple[str, ...] = ()
    """PyPI packages without wheels, whose setup code runs during the installation."""
    python: str | None = None
    """Required Python version, such as 3.12. None means any version that Podium supports."""


class Preset(Frozen):
    """Description of a coding agent."""

    name: str
    what: str
    """One-line summary for the list of agents."""
    protocol: ProtocolName
    """Wire protocol of its model calls."""
    install: Install
    start: str
    """Shell command that starts it in /home; `$PROGRAM` is its executable, `$PROMPT` the instructions."""
    resume: str | None = None
    """Shell command that resumes its last conversation. None: it starts a new conversation in the same workspace."""
    environment: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    """Settings files by their paths in /home/agent, which is its home folder."""
    trajectory: str | None = None
    """Path of its own log, relative to /home/agent."""
    tools: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Mapping of its tools: the equivalent `action`, and the tool's names for arguments of that action."""
    notes: tuple[str, ...] = ()
    """Known limitations in a sealed sandbox."""

    @field_validator("tools")
    @classmethod
    def _are_actions(cls, tools: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        from podium.actions.action_space import ACTIONS

        known = (*ACTIONS, EDIT)
        for tool, words in tools.items():
            if (action := words.get("action")) not in known:
                raise ValueError(
                    f"the action '{action}' of the tool '{tool}' is unknown; known actions: {', '.join(known)}"
                )
        return tools

    def program(self, folder: str | Path) -> str:
        """Return the path of the executable in an installation folder."""
        return f"{folder}/{fill_platform_names(self.install.program)}"


def fill_platform_names(text: str) -> str:
    """Replace `{machine}` and `{platform}` by the names of this machine."""
    machine = platform.machine()
    return text.replace("{machine}", MACHINES.get(machine, machine)).replace("{platform}", machine)


def read_preset(path: Path) -> Preset:
    """Read and validate the preset in a TOML file.

    Raises:
        UsageError: the file cannot be read or is not a valid preset.
    """
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return Preset.model_validate({"name": path.stem, **content})
    except ValidationError as error:
        problems = "; ".join(map(_explained, error.errors()))
        raise UsageError(f"{path} is not a valid preset: {problems}.") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is not a valid preset: {error}.") from error


def _explained(error: ErrorDetails) -> str:
    place = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden":
            return f"{place} is unknown"
    return f"{place}: {error['msg']}"
