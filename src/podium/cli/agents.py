"""`podium agents`: lists the agents, their options and the roles of their models."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import click

from podium.cli.completion import complete_agent
from podium.cli.options import as_json, print_json, require_extra


@click.command(name="agents")
@click.argument("name", required=False, shell_complete=complete_agent)
@as_json
def command(name: str | None, as_json: bool) -> None:
    """List the agents, or explain the options and the model roles of NAME.

    NAME is an agent's name or, for a class of your own, package.module:Class.
    """
    require_extra("run")
    from podium.agents import agent_names

    found = [_describe(agent) for agent in ([name] if name is not None else agent_names())]
    if as_json:
        print_json(found)
    elif name is not None:
        _explain(found[0])
    else:
        for entry in found:
            _mention(entry)
        click.echo("\nOptions are given as -A name=value. What they mean: podium agents NAME")


def _describe(name: str) -> dict[str, Any]:
    from podium.agents import agent_class

    agent = agent_class(name)
    options = [
        {
            "name": option,
            "what": field.description or "",
            "required": field.is_required(),
            "default": None if field.is_required() else field.default,
        }
        for option, field in agent.Options.model_fields.items()
    ]
    return {
        "name": name,
        "what": (inspect.getdoc(agent) or "").partition("\n")[0],
        "needs_model": agent.needs_model,
        "roles": dict(agent.roles),
        "options": options,
    }


def _mention(entry: dict[str, Any]) -> None:
    click.echo(f"{entry['name']:10} {entry['what']}")
    names = ", ".join(option["name"] for option in entry["options"])
    for line in textwrap.wrap(names, 100):
        click.echo(f"{'':12} {line}")


def _explain(entry: dict[str, Any]) -> None:
    click.echo(f"{entry['name']}: {entry['what']}")
    if entry["needs_model"]:
        click.echo("It needs a model: --model MODEL")
    for role, what in entry["roles"].items():
        click.echo(f"\n  --role {role}=MODEL\n      The model that {what}, if not the run's.")
    for option in entry["options"]:
        default = "required" if option["required"] else f"default: {option['default']}"
        click.echo(f"\n  -A {option['name']}=...  [{default}]")
        for line in textwrap.wrap(option["what"], 100):
            click.echo(f"      {line}")
