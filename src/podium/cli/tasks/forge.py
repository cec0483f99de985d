"""`podium forge`: makes a fresh competition, drawn from a secret or made of data, and reveals secrets."""

from __future__ import annotations

import re
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, data_dir, print_json
from podium.cli.tasks.new_task import data_option, make_from_data, new_task_options
from podium.errors import PodiumError, UsageError

if TYPE_CHECKING:
    from podium.catalog.forge.forge_ids import ForgeId
    from podium.data.home import Place

SAME_SCORE = 0.01
"""How far an entrant's score may be from that on another machine, by its size."""


@click.command(name="forge")
@click.argument("family", required=False, metavar="[FAMILY|ID|NAME]")
@data_option(required=False)
@new_task_options
@click.option("--difficulty", default="medium", show_default=True, help="easy, medium, hard or tiny.")
@click.option(
    "--split",
    type=click.Choice(["evaluation", "train"]),
    default="evaluation",
    show_default=True,
    help="train: from a seed that no agent is ever measured with, for training.",
)
@click.option("--seed", type=int, help="Draw from this public seed: the same everywhere, and not secret.")
@click.option(
    "--from-secret", metavar="SECRET", help="Make a task again from its revealed secret; - reads it from stdin."
)
@click.option("--reveal", metavar="ID", help="Print the secret of a task, for when its results are published.")
@data_dir
@as_json
def command(
    family: str | None,
    source: Path | None,
    difficulty: str,
    split: str,
    seed: int | None,
    from_secret: str | None,
    reveal: str | None,
    data_dir: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Generate a fresh competition.

    Draws the data from a new secret, trains the field of entrants that forms its leaderboard (a minute or so), and
    prepares the task; a tiny one has 200 rows and is made at once. The secret stays in Podium's home; the id commits to
    it and works wherever a task id does. An unknown family answers with the list of families.

    With --from DATA it does what podium new-task does; NAME is by default the name of the data.
    """
    from podium import api
    from podium.catalog.forge.forge_ids import parse_id
    from podium.catalog.forge.secret import kept_secret
    from podium.cli.progress_bars import show_progress

    if sum(given is not None for given in (seed, from_secret, reveal)) > 1:
        raise click.UsageError("Give one of --seed, --from-secret and --reveal.")
    if source is not None:
        if seed is not None or from_secret is not None or reveal is not None:
            raise click.UsageError(
                "--from makes a task of data: --seed, --from-secret and --reveal are for drawn ones."
            )
        make_from_data(family or _name_of(source), source, as_json=as_json, **options)
        return
    given = [name for name, value in options.items() if name != "out" and value]
    if given:
        option = {"id_column": "id", "at_random": "random"}.get(given[0], given[0])
        raise click.UsageError(f"--{option} goes with --from DATA.")
    if (reveal is None) == (family is None):
        raise click.UsageError("Give a FAMILY (or the ID of a task to make again), --from DATA, or --reveal ID.")
    if reveal is not None:
        secret = str(kept_secret(parse_id(reveal)))
        print_json({"task": reveal, "secret": secret}) if as_json else click.echo(secret)
        return
    assert family is not None
    training = split == "train"
    if training and from_secret is not None:
        raise click.UsageError("A training task has no secret: give --seed, or nothing for a random one.")
    parts = _task_to_make(family, difficulty, seed, from_secret, training=training)
    with show_progress("Forging", 1) as progress:
        done = api.prepare(str(parts), data_dir=data_dir)
        if from_secret is not None and done.status == "kept":
            _compare_with_made_again(str(parts), done.place)
        progress.advance(f"{parts}: {done.status}")
    if as_json:
        print_json({"task": str(parts), "data": str(done.place.root), "status": done.status, "public_seed": parts.seed})
    else:
        click.echo(str(parts))


def _name_of(source: Path) -> str:
    """An id from the name of a file or folder."""
    name = source.resolve().name
    return (
        re.sub(r"[^a-z0-9]+", "-", (name if source.is_dir() else name.partition(".")[0]).lower()).strip("-") or "task"
    )


def _task_to_make(name: str, difficulty: str, seed: int | None, from_secret: str | None, *, training: bool) -> ForgeId:
    """The id of the task that is wanted; the secret behind it is kept."""
    from podium.catalog.forge.forge_ids import MAX_SEED, forge_id, parse_id
    from podium.catalog.forge.secret import keep_secret, new_secret, parse_secret

    wanted = parse_id(name) if name.startswith("forge-") else None
    if wanted and seed is not None:
        raise click.UsageError("--seed goes with a FAMILY; an ID says what its task is drawn from.")
    if wanted and from_secret is None:
        return wanted
    family, difficulty = (wanted.family, wanted.difficulty) if wanted else (name, difficulty)
    if seed is not None or training:
        chosen = secrets.randbelow(MAX_SEED + 1) if seed is None else seed
        return forge_id(family, difficulty, chosen, training=training)
    text = sys.stdin.read() if from_secret == "-" else from_secret
    secret = new_secret() if text is None else parse_secret(text)
    parts = forge_id(family, difficulty, secret)
    if wanted and parts != wanted:
        raise UsageError(f"That is not the secret of {wanted}: what it makes is {parts}.")
    keep_secret(parts, secret)
    return parts


def _compare_with_made_again(task_id: str, place: Place) -> None:
    """Makes a task again and compares it with what is there: scores of the field roughly, all else exactly."""
    from podium import api
    from podium.data.manifest import checksum_files
    from podium.grading.reference import LEADERBOARD_FILE

    with tempfile.TemporaryDirectory(dir=place.root.parent, prefix=".forge-") as folder:
        made = api.prepare(task_id, data_dir=Path(folder)).place
        again, found = checksum_files(made.root), checksum_files(place.root)
        if _have_same_field(made.private / LEADERBOARD_FILE, place.private / LEADERBOARD_FILE):
            del again[f"private/{LEADERBOARD_FILE}"], found[f"private/{LEADERBOARD_FILE}"]
    different = sorted(name for name in again.keys() | found.keys() if again.get(name) != found.get(name))
    if different:
        raise PodiumError(
            f"{place.root} does not hold what the secret makes: {len(different)} files differ, such as {different[0]}. "
            "Other versions of numpy, pandas, scikit-learn, scipy or pillow can be the reason; the manifest "
            "tells which made it."
        )


def _have_same_field(one: Path, other: Path) -> bool:
    """Whether two fields have the same scores, but for what arithmetic differs between machines."""
    from podium.catalog.forge.field import read_field

    if not other.is_file():
        return False
    scores = [read_field(path).scores for path in (one, other)]
    return len(scores[0]) == len(scores[1]) and all(
        abs(first - second) <= SAME_SCORE * max(1.0, abs(first)) for first, second in zip(*scores, strict=True)
    )
