"""`podium agents`: lists the agents and their options."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from podium.cli.options import as_json, print_json, require_extra


@click.command(name="agents")
@click.argument("name", required=False)
@as_json
def command(name: str | None, as_json: bool) -> None:
    """List the agents and their options, or explain those of NAME."""
    require_extra("run")
    from podium.agents import AGENTS, agent_class

    if name is not None:
        agent_class(name)  # says what is wrong with the name
    found: list[dict[str, Any]] = [
        {"name": agent, "what": text, "options": _options(agent_class(agent).Options)}
        for agent, text in AGENTS.items()
        if name in (None, agent)
    ]
    if as_json:
        print_json(found)
    elif name is not None:
        _explain(found[0])
    else:
        for entry in found:
            _mention(entry)
        click.echo("\nOptions are given as -A name=value. What they mean: podium agents NAME")


def _mention(entry: dict[str, Any]) -> None:
    click.echo(f"{entry['name']:10} {entry['what']}")
    names = ", ".join(option["name"] for option in entry["options"])
    for line in textwrap.wrap(names, 100):
        click.echo(f"{'':12} {line}")


def _explain(entry: dict[str, Any]) -> None:
    click.echo(f"{entry['name']}: {entry['what']}")
    for option in entry["options"]:
        default = "required" if option["required"] else f"default: {option['default']}"
        click.echo(f"\n  -A {option['name']}=...  [{default}]")
        for line in textwrap.wrap(option["what"], 100):
            click.echo(f"      {line}")


def _options(kind: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "what": field.description or "",
            "required": field.is_required(),
            "default": None if field.is_required() else field.default,
        }
        for name, field in kind.model_fields.items()
    ]
