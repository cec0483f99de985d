"""`podium agents`: lists agents with their options and model roles, and installs coding agents."""

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
    """Command group that treats an unknown command as the name of an agent."""

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

    `podium agents NAME` explains the options and model roles of NAME: the name of an agent, or package.module:Class
    for a class of your own.
    """
    require_extra("run")
    if context.invoked_subcommand is not None:
        if as_json:
            raise UsageError("Put --json at the end: podium agents NAME --json")
        return
    from podium.agents import agent_names

    entries = [_describe_safely(agent) for agent in agent_names()]
    if as_json:
        print_json(entries)
        return
    for entry in entries:
        _print_line(entry)
    click.echo("\nSet options with -A NAME=VALUE. See their documentation with: podium agents NAME")


@command.command(name="show")
@click.argument("name", shell_complete=complete_agent)
@as_json
def show(name: str, as_json: bool) -> None:
    """Explain the options and model roles of the agent NAME.

    The word `show` may be omitted.
    """
    entry = _describe(name)
    if as_json:
        print_json([entry])
    else:
        _explain(entry)


@command.command(name="install")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_agent)
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    help="Python interpreter for programs from PyPI.  [default: a suitable one on PATH]",
)
@as_json
def install(names: tuple[str, ...], python: Path | None, as_json: bool) -> None:
    """Install the programs of coding agents from npm and PyPI.

    They are installed into $PODIUM_HOME and mounted read-only in the sandbox. Runs download nothing.
    """
    from podium.agents.coding.install_agent import folder_of, install

    presets = [_preset(name) for name in names]
    records = []
    for preset in presets:
        if not as_json:
            click.echo(f"{preset.name}: installing into {folder_of(preset)}", err=True)
        records.append(install(preset, python=python))
    if as_json:
        print_json([record.model_dump() for record in records])
        return
    for record in records:
        packages = ", ".join(record.packages)
        click.echo(f"{record.preset}: {packages}, {record.size_bytes / 1e6:,.0f} MB, sha256 {record.sha256[:16]}")


@command.command(name="uninstall")
@click.argument("name", shell_complete=complete_agent)
def uninstall(name: str) -> None:
    """Remove the installed program of a coding agent."""
    from podium.agents.coding.install_agent import uninstall

    click.echo(f"{name} has been removed." if uninstall(_preset(name)) else f"{name} is not installed.")


def _preset(name: str) -> Preset:
    from podium.agents import agent_class

    preset: Preset | None = getattr(agent_class(name), "preset", None)
    if preset is None:
        raise UsageError(f"The agent '{name}' needs no installation: it is part of Podium or of an installed package.")
    return preset


def _plain(value: Any) -> Any:
    """Return a default as a JSON value; agents of other packages may have defaults of any type."""
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


def _describe_safely(name: str) -> dict[str, Any]:
    """Return the description of an agent, or why it cannot be loaded, so that a broken package hides no others."""
    try:
        return _describe(name)
    except Exception as error:  # noqa: BLE001 (third-party code may raise any exception)
        return {"name": name, "what": "", "needs_model": None, "roles": {}, "options": [], "missing": str(error)}


def _print_line(entry: dict[str, Any]) -> None:
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
        click.echo("This agent needs a model: --model MODEL")
    for role, purpose in entry["roles"].items():
        click.echo(f"\n  --role {role}=MODEL\n      The model that {purpose}.  [default: the model of the run]")
    for option in entry["options"]:
        default = "required" if option["required"] else f"default: {option['default']}"
        click.echo(f"\n  -A {option['name']}=...  [{default}]")
        for line in textwrap.wrap(option["what"], 100):
            click.echo(f"      {line}")
