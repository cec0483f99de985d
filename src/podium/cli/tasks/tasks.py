"""`podium tasks`: list of tasks and suites."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.machines.completion import complete_suite
from podium.cli.options import as_json, data_dir, echo_cut, print_json, task_folders

if TYPE_CHECKING:
    from podium.catalog.listing import Listing

SIZES = {"small": "low", "medium": "medium", "large": "high"}
"""Complexity levels of MLE-bench by size."""


@click.command(name="tasks")
@click.option("--suite", shell_complete=complete_suite, metavar="SUITE", help="Only show tasks of this suite.")
@click.option("--kind", metavar="TEXT", help="Only show tasks of this kind, such as image, tabular or text.")
@click.option(
    "--size", type=click.Choice(list(SIZES)), help="Only show competitions of this size (MLE-bench's complexity)."
)
@click.option("--prepared", is_flag=True, help="Only show tasks with prepared data or miniatures.")
@click.option("--text", metavar="TEXT", help="Only show tasks with these words in their id, title, kind or metric.")
@data_dir
@task_folders
@as_json
def command(
    suite: str | None,
    kind: str | None,
    size: str | None,
    prepared: bool,
    text: str | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """List tasks and suites."""
    from podium import api
    from podium.catalog import registry
    from podium.catalog.forge.forge_ids import has_public_seed

    in_suite = set(api.tasks(suite))
    matches = [
        listing
        for listing in registry.listings()
        if listing.id in in_suite
        and (kind is None or kind.lower() in listing.kind.lower())
        and (size is None or _complexity(listing.id) == SIZES[size])
        and (text is None or _mentions(listing, text))
        and (not prepared or _prepared(listing.id, data_dir))
    ]
    if as_json:
        print_json([asdict(listing) | {"not_secret": has_public_seed(listing.id)} for listing in matches])
        return
    _show(matches, {listing.id: _prepared(listing.id, data_dir) for listing in matches})
    if not matches:
        click.echo("No task matches. List all of them with: podium tasks")
    elif not any((suite, kind, size, prepared, text)):
        _show_suites()


def _complexity(task: str) -> str | None:
    from podium.catalog.registry import leaderboards

    facts = leaderboards().get(task)
    return facts["complexity"] if facts else None


def _mentions(listing: Listing, text: str) -> bool:
    searched = " ".join((listing.id, listing.title, listing.kind, listing.metric)).lower()
    return all(word in searched for word in text.lower().split())


def _prepared(task: str, data_dir: Path | None) -> str:
    """Return the kinds of prepared data of a task as text, empty if there are none."""
    from podium.data.home import locate

    kinds = {"data": False, "miniature": True}
    editions = ("v1", "fixed")
    prepared = [
        name
        for name, miniature in kinds.items()
        if any(
            locate(task, edition=edition, data_dir=data_dir, miniature=miniature).manifest.exists()  # type: ignore[arg-type]
            for edition in editions
        )
    ]
    return " and ".join(prepared)


def _show(listings: list[Listing], prepared: dict[str, str]) -> None:
    from podium.catalog.forge.forge_ids import has_public_seed

    width = max((len(listing.id) for listing in listings), default=0)
    kinds = max((len(listing.kind) for listing in listings), default=0)
    for listing in listings:
        arrow = "↑" if listing.higher_is_better else "↓"
        notes = ["also fixed"] if "fixed" in listing.editions else []
        notes += ["not secret"] if has_public_seed(listing.id) else []
        notes += [f"{prepared[listing.id]} prepared"] if prepared[listing.id] else []
        note = f"  ({', '.join(notes)})" if notes else ""
        echo_cut(f"{listing.id:{width}}  {listing.kind:{kinds}}  {arrow} {listing.metric}{note}")


def _show_suites() -> None:
    from podium.catalog import registry

    click.echo("\nSuites:")
    for entry in registry.suites().values():
        if entry.tasks:
            echo_cut(f"  {entry.name:18} {len(entry.tasks):3} tasks  {entry.title}")
    click.echo("Generate further tasks with podium forge. Anyone can generate the answers of tasks marked 'not secret'")
    click.echo("from their ids, so use those for experimenting, not for results.")
