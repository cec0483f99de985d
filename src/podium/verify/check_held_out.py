"""Check of held-out scores: recomputes them from this machine's public data alone.

The rows are selected again with the run's seed, in a folder without the competition's answers. Equal scores were
computed from labels that every agent may see; scores that depend on the answers would differ.
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
from podium.verify.run_evidence import Evidence, held_out_scores, scored_steps
from podium.workspace.history.history import History
from podium.workspace.journal.events import Step

MAX_SCRIPTS = 50
"""Maximum number of scripts per run that are scored again."""


def held_out_problems(evidence: Evidence, own: OwnData, history: History) -> Iterator[str]:
    """Compare the held-out scores of scripts with the scores of their predictions on this machine."""
    options = read_options(evidence.start.agent, evidence.start.options) if evidence.start.agent in AGENTS else None
    if not isinstance(options, SearchOptions):
        yield f"there are held-out scores, but the agent '{evidence.start.agent[:60]}' does not request any"
        return
    with tempfile.TemporaryDirectory(prefix="podium-verify-") as scratch:
        root = Path(scratch, "task")
        root.mkdir()
        (root / "public").symlink_to(own.prepared.place.public.resolve())
        public_only = replace(own.prepared, place=replace(own.prepared.place, root=root))
        shares = (options.search_share, options.selection_share)
        held_out = set_aside(Path(scratch, "held-out"), public_only, shares, evidence.seed)
        for step in islice(scored_steps(evidence), MAX_SCRIPTS):
            yield from _differences(step, held_out, history, Path(scratch, "predictions.csv"))


def _differences(step: Step, held_out: HeldOut, history: History, target: Path) -> Iterator[str]:
    number, split = (step.action.arguments.get(name, 0) for name in ("number", "split"))
    if not (isinstance(number, int) and isinstance(split, int)):
        yield "a script without a number has held-out scores"
        return
    path = f"{script_folder(number, split)}/{PREDICTIONS}"
    if not history.extract(step.snapshot, path, target, held_out.limit_bytes).is_file:
        yield f"script {number} has held-out scores, but its predictions are missing from the snapshot"
        return
    predictions = held_out.read(target)
    if predictions is None:  # an agent wrote it
        yield f"script {number} has held-out scores, but its predictions cannot be read"
        return
    _, parts = held_out.split(predictions)
    for name, claimed in zip(PARTS, held_out_scores(step), strict=True):
        actual = held_out.score(parts[name], name)
        if not agree(claimed, actual, held_out.prepared.task.submission.tolerance):
            yield f"script {number} has a recorded {name} score of {claimed}, but its predictions score {actual}"
