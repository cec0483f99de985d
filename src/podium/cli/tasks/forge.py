"""`podium forge`: generates competitions from secret or public seeds or from data, and reveals secrets."""

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
    from podium.data.home import DataFolder

SCORE_TOLERANCE = 0.01
"""Maximum relative difference of an entrant's score between machines."""


@click.command(name="forge")
@click.argument("family", required=False, metavar="[FAMILY|ID|NAME]")
@data_option(required=False)
@new_task_options
@click.option("--difficulty", default="medium", show_default=True, metavar="LEVEL", help="easy, medium, hard or tiny.")
@click.option(
    "--split",
    type=click.Choice(["evaluation", "train"]),
    default="evaluation",
    show_default=True,
    help="train: draw from seeds reserved for training, which are never used for evaluation.",
)
@click.option(
    "--seed", metavar="SEED", type=int, help="Draw from this public seed: reproducible everywhere, but not secret."
)
@click.option(
    "--from-secret", metavar="SECRET", help="Regenerate a task from its revealed secret; - reads it from stdin."
)
@click.option("--reveal", metavar="ID", help="Print the secret of a task, to publish it with the results.")
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
    """Generate a new competition.

    Draws data from a new secret seed, trains the entrants of its leaderboard (about a minute) and prepares the task. A
    tiny task has 200 rows and takes a second. The secret is kept in $PODIUM_HOME. The printed id is a commitment to it
    and works like any other task id. For the list of families, give an unknown name.

    With --from DATA, works like podium new-task; NAME defaults to the name of the data.
    """
    from podium import api
    from podium.catalog.forge.forge_ids import parse_id
    from podium.catalog.forge.secret import read_secret
    from podium.cli.progress_bars import show_progress

    if sum(option is not None for option in (seed, from_secret, reveal)) > 1:
        raise click.UsageError("--seed, --from-secret and --reveal cannot be combined. Give one of them.")
    if source is not None:
        if seed is not None or from_secret is not None or reveal is not None:
            raise click.UsageError("--from makes a task from data. Omit --seed, --from-secret and --reveal.")
        make_from_data(family or _default_id(source), source, as_json=as_json, **options)
        return
    data_options = [name for name, value in options.items() if name != "out" and value]
    if data_options:
        option = {"id_column": "id", "at_random": "random"}.get(data_options[0], data_options[0])
        raise click.UsageError(f"--{option} requires --from DATA.")
    if (reveal is None) == (family is None):
        raise click.UsageError("Give a FAMILY (or the ID of a task to regenerate), --from DATA, or --reveal ID.")
    if reveal is not None:
        secret = str(read_secret(parse_id(reveal)))
        print_json({"task": reveal, "secret": secret}) if as_json else click.echo(secret)
        return
    assert family is not None
    training = split == "train"
    if training and from_secret is not None:
        raise click.UsageError(
            "A training task has no secret. Give --seed, or omit --from-secret to draw a random seed."
        )
    parts = _task_to_make(family, difficulty, seed, from_secret, training=training)
    with show_progress("Forging", 1) as progress:
        done = api.prepare(str(parts), data_dir=data_dir)
        if from_secret is not None and done.status == "kept":
            _compare_with_regenerated(str(parts), done.place)
        progress.advance(f"{parts}: {done.status}")
    if as_json:
        print_json({"task": str(parts), "data": str(done.place.root), "status": done.status, "public_seed": parts.seed})
    else:
        click.echo(str(parts))


def _default_id(source: Path) -> str:
    """Return a task id derived from the name of a file or folder."""
    name = source.resolve().name
    return (
        re.sub(r"[^a-z0-9]+", "-", (name if source.is_dir() else name.partition(".")[0]).lower()).strip("-") or "task"
    )


def _task_to_make(name: str, difficulty: str, seed: int | None, from_secret: str | None, *, training: bool) -> ForgeId:
    """Return the id of the requested task, and store its secret."""
    from podium.catalog.forge.forge_ids import MAX_SEED, forge_id, parse_id
    from podium.catalog.forge.secret import new_secret, parse_secret, save_secret

    requested = parse_id(name) if name.startswith("forge-") else None
    if requested and seed is not None:
        raise click.UsageError("--seed requires a FAMILY: an ID already includes its seed.")
    if requested and from_secret is None:
        return requested
    family, difficulty = (requested.family, requested.difficulty) if requested else (name, difficulty)
    if seed is not None or training:
        chosen = secrets.randbelow(MAX_SEED + 1) if seed is None else seed
        return forge_id(family, difficulty, chosen, training=training)
    text = sys.stdin.read() if from_secret == "-" else from_secret
    secret = new_secret() if text is None else parse_secret(text)
    parts = forge_id(family, difficulty, secret)
    if requested and parts != requested:
        raise UsageError(f"This is not the secret of {requested}. It belongs to {parts}.")
    save_secret(parts, secret)
    return parts


def _compare_with_regenerated(task_id: str, stored: DataFolder) -> None:
    """Regenerate a task and compare it with the stored one: entrants' scores within a tolerance, all else exactly."""
    from podium import api
    from podium.data.manifest import checksum_files
    from podium.grading.reference import LEADERBOARD_FILE

    with tempfile.TemporaryDirectory(dir=stored.root.parent, prefix=".forge-") as folder:
        made = api.prepare(task_id, data_dir=Path(folder)).place
        expected, actual = checksum_files(made.root), checksum_files(stored.root)
        if _have_same_field(made.private / LEADERBOARD_FILE, stored.private / LEADERBOARD_FILE):
            del expected[f"private/{LEADERBOARD_FILE}"], actual[f"private/{LEADERBOARD_FILE}"]
    different = sorted(name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name))
    if different:
        raise PodiumError(
            f"{stored.root} does not match its secret: {len(different)} files differ, such as {different[0]}. "
            "A possible reason is another version of numpy, pandas, scikit-learn, scipy or pillow; the manifest lists "
            "the versions used."
        )


def _have_same_field(one: Path, other: Path) -> bool:
    """Return whether two fields have the same scores, up to the numerical differences between machines."""
    from podium.catalog.forge.field import read_field

    if not other.is_file():
        return False
    scores = [read_field(path).scores for path in (one, other)]
    return len(scores[0]) == len(scores[1]) and all(
        abs(first - second) <= SCORE_TOLERANCE * max(1.0, abs(first)) for first, second in zip(*scores, strict=True)
    )
