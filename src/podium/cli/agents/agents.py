"""`podium agents`: lists the agents, their options and the roles of their models, and installs coding agents."""

from __future__ import annotations

import inspect
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.machines.completion import complete_agent
from podium.cli.options import as_json, print_json, require_extra
from podium.errors import UsageError

if TYPE_CHECKING:
    from podium.agents.coding.preset import Preset


class _Agents(click.Group):
    """A group that takes what is not a command of it as the name of an agent."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_name = self.get_command(context, args[0]) is None
        return super().resolve_command(context, ["show", *args] if is_name else args)


@click.group(name="agents", cls=_Agents, invoke_without_command=True)
@as_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List, explain and install agents.

    `podium agents NAME` explains the options and the model roles of NAME, which is an agent's name or,
    for a class of your own, package.module:Class.
    """
    require_extra("run")
    if context.invoked_subcommand is not None:
        if as_json:
            raise UsageError("Write --json at the end: podium agents NAME --json")
        return
    from podium.agents import agent_names

    found = [_describe_or_say_why_not(agent) for agent in agent_names()]
    if as_json:
        print_json(found)
        return
    for entry in found:
        _mention(entry)
    click.echo("\nOptions are given as -A name=value. What they mean: podium agents NAME")


@command.command(name="show")
@click.argument("name", shell_complete=complete_agent)
@as_json
def show(name: str, as_json: bool) -> None:
    """Explain the options and the model roles of NAME; `show` can be left out."""
    found = _describe(name)
    if as_json:
        print_json([found])
    else:
        _explain(found)


@command.command(name="install")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_agent)
@click.option(
    "--python", type=click.Path(path_type=Path), help="The Python for programs of PyPI. Default: one that is found."
)
@as_json
def install(names: tuple[str, ...], python: Path | None, as_json: bool) -> None:
    """Install the programs of coding agents into the data home, from the registries of npm and PyPI.

    Runs see them read-only. Nothing is downloaded later.
    """
    from podium.agents.coding.install_agent import folder_of, install

    presets = [_preset(name) for name in names]
    done = []
    for preset in presets:
        if not as_json:
            click.echo(f"{preset.name}: installing into {folder_of(preset)}", err=True)
        done.append(install(preset, python=python))
    if as_json:
        print_json([record.model_dump() for record in done])
        return
    for record in done:
        packages = ", ".join(record.packages)
        click.echo(f"{record.preset}: {packages}, {record.size_bytes / 1e6:,.0f} MB, sha256 {record.sha256[:16]}")


@command.command(name="uninstall")
@click.argument("name", shell_complete=complete_agent)
def uninstall(name: str) -> None:
    """Remove the program of a coding agent from the data home."""
    from podium.agents.coding.install_agent import uninstall

    click.echo(f"{name} is removed" if uninstall(_preset(name)) else f"{name} was not installed")


def _preset(name: str) -> Preset:
    from podium.agents import agent_class

    preset: Preset | None = getattr(agent_class(name), "preset", None)
    if preset is None:
        raise UsageError(f"The agent '{name}' comes with Podium or a package: there is nothing to install.")
    return preset


def _plain(value: Any) -> Any:
    """A default as JSON can hold it; agents of other packages may have any."""
    return json.loads(json.dumps(value, default=str))


def _describe(name: str) -> dict[str, Any]:
    from podium.agents import agent_class

    agent = agent_class(name)
    options = [
        {
            "name": option,
            "what": field.description or "",
            "required": field.is_required(),
            "default": None if field.is_required() else _plain(field.get_default(call_default_factory=True)),
        }
        for option, field in agent.Options.model_fields.items()
    ]
    return {
        "name": name,
        "what": (inspect.getdoc(agent) or "").partition("\n")[0],
        "needs_model": agent.needs_model,
        "roles": dict(agent.roles),
        "options": options,
        "missing": agent.missing(),
    }


def _describe_or_say_why_not(name: str) -> dict[str, Any]:
    """One agent of a package that is broken does not hide the others."""
    try:
        return _describe(name)
    except Exception as error:  # noqa: BLE001 (whatever the code of others raises)
        return {"name": name, "what": "", "needs_model": None, "roles": {}, "options": [], "missing": str(error)}


def _mention(entry: dict[str, Any]) -> None:
    click.echo(f"{entry['name']:14} {entry['what']}")
    names = ", ".join(option["name"] for option in entry["options"])
    for line in textwrap.wrap(names, 100):
        click.echo(f"{'':16} {line}")
    if entry["missing"]:
        click.echo(f"{'':16} ! {entry['missing']}")


def _explain(entry: dict[str, Any]) -> None:
    click.echo(f"{entry['name']}: {entry['what']}")
    if entry["missing"]:
        click.echo(entry["missing"])
    if entry["needs_model"]:
        click.echo("It needs a model: --model MODEL")
    for role, what in entry["roles"].items():
        click.echo(f"\n  --role {role}=MODEL\n      The model that {what}, if not the run's.")
    for option in entry["options"]:
        default = "required" if option["required"] else f"default: {option['default']}"
        click.echo(f"\n  -A {option['name']}=...  [{default}]")
        for line in textwrap.wrap(option["what"], 100):
            click.echo(f"      {line}")
