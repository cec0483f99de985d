"""`podium completion`: tab completion of commands, options, tasks, suites and agents."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the tab-completion script for a shell.

    Evaluate it in ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish.
    """
    from click.shell_completion import get_completion_class

    from podium.cli import podium

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(podium, {}, "podium", "_PODIUM_COMPLETE").source())


def complete_task(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of tasks with this prefix."""
    from podium.catalog import registry

    return _matching([listing.id for listing in registry.listings()], incomplete)


def complete_suite(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of suites with this prefix."""
    from podium.catalog import registry

    return _matching(list(registry.suites()), incomplete)


def complete_task_or_suite(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of tasks and the names of suites with this prefix."""
    return [*complete_suite(context, parameter, incomplete), *complete_task(context, parameter, incomplete)]


def complete_agent(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of agents with this prefix."""
    from podium.agents import agent_names

    return _matching(agent_names(), incomplete)


def _matching(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
