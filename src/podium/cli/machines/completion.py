"""`podium completion`: makes a shell complete commands, options, tasks, suites and agents."""

from __future__ import annotations

import click

HOW = {
    "bash": 'eval "$(podium completion bash)"          # in ~/.bashrc',
    "zsh": 'eval "$(podium completion zsh)"           # in ~/.zshrc',
    "fish": "podium completion fish | source           # in ~/.config/fish/config.fish",
}


@click.command(name="completion")
@click.argument("shell", type=click.Choice(list(HOW)))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from podium.cli import podium

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(podium, {}, "podium", "_PODIUM_COMPLETE").source())


def complete_task(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids of tasks that begin like that."""
    from podium import catalog

    return _beginning([listing.id for listing in catalog.listings()], incomplete)


def complete_suite(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of suites that begin like that."""
    from podium import catalog

    return _beginning(list(catalog.suites()), incomplete)


def complete_task_or_suite(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids of tasks and names of suites that begin like that."""
    return [*complete_suite(context, parameter, incomplete), *complete_task(context, parameter, incomplete)]


def complete_agent(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of agents that begin like that."""
    from podium.agents import agent_names

    return _beginning(agent_names(), incomplete)


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
