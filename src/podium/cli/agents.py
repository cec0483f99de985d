"""`podium agents`: lists the agents and their options."""

from __future__ import annotations

from typing import Any

import click

from podium.cli.options import as_json, print_json, require_run_extra


@click.command(name="agents")
@as_json
def command(as_json: bool) -> None:
    """List the agents and their options."""
    require_run_extra()
    from podium.agents import AGENTS, agent_class

    found: list[dict[str, Any]] = [
        {"name": name, "what": text, "options": _options(agent_class(name).Options)} for name, text in AGENTS.items()
    ]
    if as_json:
        print_json(found)
        return
    for entry in found:
        click.echo(f"{entry['name']:10} {entry['what']}")
        for option in entry["options"]:
            default = "required" if option["required"] else f"default: {option['default']}"
            click.echo(f"{'':10}   -A {option['name']}=...  {option['what']}  [{default}]")


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
