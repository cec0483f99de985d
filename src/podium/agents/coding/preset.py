"""What a preset's data file says."""

from __future__ import annotations

import platform
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError, field_validator

from podium.errors import UsageError
from podium.models.gateway.wire_protocols import Name
from podium.sandbox.spec import Frozen

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
"""How npm names what Linux calls otherwise."""

EDIT = "edit_file"
"""The action of tools that change a part of a file, for which Podium has none of its own."""


class Install(Frozen):
    """Where a program comes from."""

    kind: Literal["npm", "pypi"]
    packages: tuple[str, ...]
    """With their versions, as the installer takes them; `{machine}` is x64 or arm64."""
    program: str
    """The file that is started, in the folder of the installation; `{machine}` as npm, `{platform}` as Linux says."""
    megabytes: int
    """About what it takes on the disk."""
    alone: tuple[str, ...] = ()
    """Packages of PyPI that are installed without what they ask for."""
    sources: tuple[str, ...] = ()
    """Names of packages that PyPI has as source only: their set-up is run when they are installed."""
    python: str | None = None
    """The only version of Python that takes it, such as 3.12; None: any that Podium runs on."""


class Preset(Frozen):
    """A coding agent, as data."""

    name: str
    what: str
    """In one line, for the list of agents."""
    protocol: Name
    """In which it asks the model."""
    install: Install
    start: str
    """What starts it on the task, by a shell in /home; `$PROGRAM` is its file, `$PROMPT` what it is told."""
    resume: str | None = None
    """What takes its last conversation up again after an interruption; None: it starts anew in the same workspace."""
    environment: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    """Settings, by their paths below /home/agent, which is its home."""
    trajectory: str | None = None
    """Where it keeps its own account of what it did, below /home/agent."""
    tools: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By the names of its tools: the `action` that each is, and for arguments of that action the names that it uses."""
    notes: tuple[str, ...] = ()
    """What is known not to work in a sealed sandbox."""

    @field_validator("tools")
    @classmethod
    def _are_actions(cls, tools: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        from podium.actions.action_space import ACTIONS

        known = (*ACTIONS, EDIT)
        for tool, words in tools.items():
            if (action := words.get("action")) not in known:
                raise ValueError(f"{tool}: action '{action}' is unknown; known are {', '.join(known)}")
        return tools

    def program(self, folder: str | Path) -> str:
        """The file that is started, in an installation."""
        return f"{folder}/{in_names_of_machine(self.install.program)}"


def in_names_of_machine(text: str) -> str:
    """A text with the names that package registries have for this machine."""
    machine = platform.machine()
    return text.replace("{machine}", MACHINES.get(machine, machine)).replace("{platform}", machine)


def read_preset(path: Path) -> Preset:
    """The preset of a data file.

    Raises:
        UsageError: it cannot be read, or is not a preset.
    """
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return Preset.model_validate({"name": path.stem, **content})
    except ValidationError as error:
        said = "; ".join(map(_explained, error.errors()))
        raise UsageError(f"{path} is not a preset: {said}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is not a preset: {error}") from error


def _explained(error: ErrorDetails) -> str:
    place = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden":
            return f"{place} is unknown"
    return f"{place}: {error['msg']}"
