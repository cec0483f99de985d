"""Presets of coding agents: one TOML file each, with the packages to install, the start command and the tools.

Other packages register a preset like any other agent, in the entry-point group `podium.agents`:
`agent = preset_agent(Path(__file__).with_name("my.toml"))`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.agents.coding.coding_agent import CodingAgent

FOLDER = Path(str(files("podium.agents.coding") / "presets"))


def preset_names() -> list[str]:
    """Return the names of the built-in presets."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def preset_agent(path: Path) -> type[CodingAgent]:
    """Return the agent class of a preset file.

    Raises:
        UsageError: the file is not a valid preset.
    """
    from podium.agents.coding.coding_agent import CodingAgent
    from podium.agents.coding.preset import read_preset

    preset = read_preset(path)
    return type("Preset", (CodingAgent,), {"preset": preset, "__doc__": preset.what, "__module__": __name__})


def __getattr__(name: str) -> Any:
    """Return an agent class by the name of its preset, for the registry of agents."""
    if name not in preset_names():
        raise AttributeError(f"there is no preset '{name}'")
    return preset_agent(FOLDER / f"{name}.toml")
