"""`podium tasks`: lists the catalogue."""

from __future__ import annotations

from dataclasses import asdict

import click

from podium.cli.options import as_json, print_json, task_folders


@click.command(name="tasks")
@click.option("--suite", help="Only the tasks of this suite.")
@task_folders
@as_json
def command(suite: str | None, as_json: bool) -> None:
    """List all tasks, or those of a suite."""
    from podium import api, catalog
    from podium.catalog.forge import is_public_draw

    wanted = set(api.tasks(suite))
    listings = [listing for listing in catalog.listings() if listing.id in wanted]
    if as_json:
        print_json([asdict(listing) | {"not_secret": is_public_draw(listing.id)} for listing in listings])
        return
    width = max((len(listing.id) for listing in listings), default=0)
    kinds = max((len(listing.kind) for listing in listings), default=0)
    for listing in listings:
        arrow = "↑" if listing.higher_is_better else "↓"
        note = "  (also fixed)" if "fixed" in listing.editions else ""
        note += "  (not secret)" if is_public_draw(listing.id) else ""
        click.echo(f"{listing.id:{width}}  {listing.kind:{kinds}}  {arrow} {listing.metric}{note}")
    if suite is None:
        click.echo("\nSuites:")
        for entry in catalog.suites().values():
            if entry.tasks:
                click.echo(f"  {entry.name:18} {len(entry.tasks):3} tasks  {entry.title}")
        click.echo(
            "Forged tasks need no entry here: podium forge --help. From the id of one that is not secret anybody"
        )
        click.echo("can make the answers: good for trying things, not for results.")
