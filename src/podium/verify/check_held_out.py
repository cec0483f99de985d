"""Scores on rows that were set aside, found again from this machine's public data alone.

The rows are chosen again by the run's seed, in a place where the competition's answers do not lie. Scores that agree
were made from labels that every agent may see; a score that had anything to do with the answers would differ.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from podium.actions.script_trials import script_folder
from podium.agents import AGENTS, read_options
from podium.agents.search.search_options import SearchOptions
from podium.scoring.held_out_scores import PREDICTIONS
from podium.scoring.held_out_split import PARTS, HeldOut, set_aside
from podium.verify.check_grade import OwnData, agree
from podium.verify.run_evidence import Evidence, scored_steps, scores_set_aside
from podium.workspace.history.history import History
from podium.workspace.journal.events import Step

MOST_SCRIPTS = 50
"""Of a run, that are scored again."""


def held_out_problems(evidence: Evidence, own: OwnData, history: History) -> Iterator[str]:
    """The scores of scripts on rows that were set aside, against what their predictions are worth here."""
    options = read_options(evidence.start.agent, evidence.start.options) if evidence.start.agent in AGENTS else None
    if not isinstance(options, SearchOptions):
        yield f"scores on rows set aside, which the agent '{evidence.start.agent[:60]}' does not ask for"
        return
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as scratch:
        root = Path(scratch, "task")
        root.mkdir()
        (root / "public").symlink_to(own.prepared.place.public.resolve())
        public_only = replace(own.prepared, place=replace(own.prepared.place, root=root))
        shares = (options.search_share, options.selection_share)
        held_out = set_aside(Path(scratch, "held-out"), public_only, shares, evidence.seed)
        for step in islice(scored_steps(evidence), MOST_SCRIPTS):
            yield from _differences(step, held_out, history, Path(scratch, "predictions.csv"))


def _differences(step: Step, held_out: HeldOut, history: History, target: Path) -> Iterator[str]:
    number, split = (step.action.arguments.get(name, 0) for name in ("number", "split"))
    if not (isinstance(number, int) and isinstance(split, int)):
        yield "a script without a number has scores on rows set aside"
        return
    path = f"{script_folder(number, split)}/{PREDICTIONS}"
    if not history.extract(step.snapshot, path, target, held_out.limit_bytes).is_file:
        yield f"script {number} has scores on rows set aside, but its predictions are not in the snapshot"
        return
    predictions = held_out.read(target)
    if predictions is None:  # an agent wrote it
        yield f"script {number} has scores on rows set aside, but its predictions cannot be read"
        return
    _, parts = held_out.split(predictions)
    for name, said in zip(PARTS, scores_set_aside(step), strict=True):
        found = held_out.score(parts[name], name)
        if not agree(said, found, held_out.prepared.task.submission.tolerance):
            yield f"script {number} is said to score {said} on the rows for the {name}, they give {found}"
