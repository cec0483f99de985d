"""`podium tasks`: lists the catalogue."""

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
"""What MLE-bench calls complexity."""


@click.command(name="tasks")
@click.option("--suite", shell_complete=complete_suite, help="Only the tasks of this suite.")
@click.option("--kind", metavar="TEXT", help="Only tasks of such a kind: image, tabular, text, ...")
@click.option("--size", type=click.Choice(list(SIZES)), help="Only competitions of this size, as MLE-bench judges it.")
@click.option("--prepared", is_flag=True, help="Only tasks whose data, or its miniature, is here.")
@click.option("--text", metavar="TEXT", help="Only tasks with this text in their id, title, kind or metric.")
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
    from podium import api, catalog
    from podium.catalog.forge.forge_ids import is_public_draw

    wanted = set(api.tasks(suite))
    found = [
        listing
        for listing in catalog.listings()
        if listing.id in wanted
        and (kind is None or kind.lower() in listing.kind.lower())
        and (size is None or _complexity(listing.id) == SIZES[size])
        and (text is None or _mentions(listing, text))
        and (not prepared or _prepared(listing.id, data_dir))
    ]
    if as_json:
        print_json([asdict(listing) | {"not_secret": is_public_draw(listing.id)} for listing in found])
        return
    _show(found, {listing.id: _prepared(listing.id, data_dir) for listing in found})
    if not found:
        click.echo("No task is like that. All of them: podium tasks")
    elif not any((suite, kind, size, prepared, text)):
        _show_suites()


def _complexity(task: str) -> str | None:
    from podium.catalog import leaderboards

    facts = leaderboards().get(task)
    return facts["complexity"] if facts else None


def _mentions(listing: Listing, text: str) -> bool:
    searched = " ".join((listing.id, listing.title, listing.kind, listing.metric)).lower()
    return all(word in searched for word in text.lower().split())


def _prepared(task: str, data_dir: Path | None) -> str:
    """Which data of a task is here, in words."""
    from podium.data.home import locate

    kinds = {"data": False, "miniature": True}
    editions = ("v1", "fixed")
    here = [
        name
        for name, miniature in kinds.items()
        if any(
            locate(task, edition=edition, data_dir=data_dir, miniature=miniature).manifest.exists()  # type: ignore[arg-type]
            for edition in editions
        )
    ]
    return " and ".join(here)


def _show(listings: list[Listing], prepared: dict[str, str]) -> None:
    from podium.catalog.forge.forge_ids import is_public_draw

    width = max((len(listing.id) for listing in listings), default=0)
    kinds = max((len(listing.kind) for listing in listings), default=0)
    for listing in listings:
        arrow = "↑" if listing.higher_is_better else "↓"
        notes = ["also fixed"] if "fixed" in listing.editions else []
        notes += ["not secret"] if is_public_draw(listing.id) else []
        notes += [f"{prepared[listing.id]} here"] if prepared[listing.id] else []
        note = f"  ({', '.join(notes)})" if notes else ""
        echo_cut(f"{listing.id:{width}}  {listing.kind:{kinds}}  {arrow} {listing.metric}{note}")


def _show_suites() -> None:
    from podium import catalog

    click.echo("\nSuites:")
    for entry in catalog.suites().values():
        if entry.tasks:
            echo_cut(f"  {entry.name:18} {len(entry.tasks):3} tasks  {entry.title}")
    click.echo("Forged tasks need no entry here: podium forge --help. From the id of one that is not secret anybody")
    click.echo("can make the answers: good for trying things, not for results.")
