"""Coding agents as they come: each a data file here that says what to install, how to start it and what its tools are.

A package offers one of its own as an agent like any other: `agent = preset_agent(Path(__file__).with_name("my.toml"))`,
named in the entry-point group `podium.agents`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.agents.coding.coding_agent import CodingAgent

FOLDER = Path(str(files("podium.agents.coding") / "presets"))


def preset_names() -> list[str]:
    """Those that come with Podium."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def preset_agent(path: Path) -> type[CodingAgent]:
    """The agent that a data file describes.

    Raises:
        UsageError: the file is not a preset.
    """
    from podium.agents.coding.coding_agent import CodingAgent
    from podium.agents.coding.preset import read_preset

    preset = read_preset(path)
    return type("Preset", (CodingAgent,), {"preset": preset, "__doc__": preset.what, "__module__": __name__})


def __getattr__(name: str) -> Any:
    """The agents as attributes, where the list of agents looks for them."""
    if name not in preset_names():
        raise AttributeError(f"there is no preset '{name}'")
    return preset_agent(FOLDER / f"{name}.toml")
