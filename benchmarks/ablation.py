"""Ablation of `frontier` with scripted coders whose scripts have a known true quality.

The coders are scripted, of three strengths: their scripts have a true quality, print a score of their own, and some
crash, leak or claim too much. Policies, hidden evaluation and final choice are the real ones, on forged tasks with
their real answers; only running a script is replaced by drawing predictions of its quality. So one run takes a second,
and the true score of every script is known. Prompts play no part: the effect of knowledge and lessons on a real model
is not measured here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.agents.base import Assignment, Remaining
from podium.agents.search.algorithms import Aide, Frontier
from podium.agents.search.proposers.proposer import Context, Proposal, Proposer, Review
from podium.agents.search.search_agent import SearchAgent
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.catalog.forge.families import load_family
from podium.catalog.forge.field import draw_data
from podium.catalog.forge.forged_data import write_public
from podium.catalog.registry import load
from podium.data.home import DataFolder
from podium.data.manifest import Manifest
from podium.grading.prepared_task import PreparedTask
from podium.scoring.held_out_scores import blended
from podium.scoring.held_out_split import PARTS, set_aside
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, ScriptResult, SubmissionResult

FAMILIES = ("tabular-classification", "tabular-regression")
NODES = 16


@dataclass(frozen=True)
class Coder:
    """Quality of a coder's scripts, and the probabilities of crashes, leaks and inflated scores."""

    quality: float
    gain: float
    bug: float
    leak: float
    boast: float


CODERS = {
    "weak": Coder(quality=0.15, gain=0.02, bug=0.45, leak=0.15, boast=0.2),
    "middle": Coder(quality=0.30, gain=0.04, bug=0.25, leak=0.15, boast=0.2),
    "strong": Coder(quality=0.45, gain=0.05, bug=0.10, leak=0.15, boast=0.2),
    "middle, honest": Coder(quality=0.30, gain=0.04, bug=0.25, leak=0.0, boast=0.0),
}
VARIANTS: dict[str, tuple[type[SearchAgent], dict[str, str]]] = {
    "aide": (Aide, {}),
    "aide, held-out": (Aide, {"evaluation": "held-out"}),
    "frontier": (Frontier, {}),
    "frontier, reported": (Frontier, {"evaluation": "reported"}),
    "frontier, no ensemble": (Frontier, {"select": "best"}),
    "frontier, no fusion": (Frontier, {"fusion": "false"}),
}


@dataclass(frozen=True)
class Script:
    """Script by a scripted coder."""

    quality: float
    seed: int
    family: int
    """Scripts of one family make similar mistakes."""
    bug: bool = False
    leak: bool = False
    boast: bool = False


@lru_cache(maxsize=256)
def _noise(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(size)


@dataclass
class World:
    """A task, its rows with their truth, and the rows that are set aside."""

    prepared: PreparedTask
    truth: np.ndarray
    """Labels of all rows."""
    parts: dict[str, np.ndarray]
    """Row positions by part: test, search, selection, train."""

    def predict(self, script: Script, rows: np.ndarray) -> np.ndarray:
        """Predictions with the script's true quality; a leak does not help where labels are hidden."""
        quality = max(0.0, script.quality - (0.2 if script.leak else 0.0))
        shared, own = (_noise(seed, len(self.truth)) for seed in (script.family, script.seed))
        noise, truth = (0.7 * shared + 0.71 * own)[rows], self.truth[rows]
        if self.prepared.task.metric.name == "roc_auc":
            return np.asarray(1 / (1 + np.exp(-((0.3 + 1.7 * quality) * (2 * truth - 1) + noise))))
        return np.asarray(truth * np.exp((0.8 - 0.7 * min(quality, 1.0)) * noise))

    def score(self, prediction: np.ndarray, rows: np.ndarray) -> float:
        return float(self.prepared.task.metric(self.truth[rows], prediction))

    def true_score(self, script: Script) -> float:
        return self.score(self.predict(script, self.parts["test"]), self.parts["test"])

    def reported(self, script: Script) -> float:
        """Return the validation score a script prints, which is too good if it leaks or boasts."""
        rows = self.parts["train"][:400]
        quality = 2.5 if script.leak else script.quality + (0.25 if script.boast else 0.0)
        return self.score(self.predict(replace(script, quality=quality, leak=False), rows), rows)


@dataclass
class ScriptedCoder:
    """A proposer whose scripts are drawn, by seed and number."""

    coder: Coder
    seed: int
    written: dict[int, Script] = field(default_factory=dict)

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        number, rng = len(tree), np.random.default_rng([self.seed, len(tree)])
        before = [self.written[node.number] for node in parents]
        coder = self.coder
        flags = {"bug": rng.random() < coder.bug, "boast": rng.random() < coder.boast}
        leak = bool(rng.random() < coder.leak)
        family = int(rng.integers(1 << 30)) if not before else before[0].family
        base = max((script.quality for script in before), default=rng.normal(coder.quality, 0.1))
        gain = 0.0 if operator in ("draft", "debug") else rng.normal(coder.gain, 0.06)
        kept = any(script.leak for script in before) and rng.random() < 0.8
        script = Script(base + gain, int(rng.integers(1 << 30)), family, leak=leak or kept, **flags)
        self.written[number] = script
        return Proposal(f"script {number}", json.dumps(vars(script)))

    async def review(self, node: Node, result: ScriptResult) -> Review:
        return Review(is_buggy=result.exit_code != 0 or result.metric is None, metric=result.metric)


@dataclass(frozen=True)
class Outcome:
    """Result of a run."""

    score: float
    """Score of the final submission; higher is better."""
    regret: float
    """Difference in true score between the best script and the chosen one."""
    is_leak: bool
    """Whether the leading script of the search leaks."""


def play(world: World, name: str, coder: Coder, seed: int) -> Outcome:
    """Run one search to its end."""
    kind, options = VARIANTS[name]
    read = kind.Options.model_validate({"nodes": str(NODES), **options})
    is_held_out = read.evaluation != "reported"
    public = world.prepared.place.public
    task = world.prepared.task
    assignment = Assignment(task, seed, "", public, Remaining, is_held_out=is_held_out)
    scripted = ScriptedCoder(coder, seed)

    class Simulated(kind):  # type: ignore[valid-type, misc]
        def make_proposer(self, context: Context) -> Proposer:
            return scripted

    agent = Simulated(assignment, read)
    state, final = agent.begin(), np.zeros(0)
    while actions := asyncio.run(agent.decide(state)):
        observations: list[Observation] = []
        for action in actions:
            observation, submitted = _perform(world, scripted, action, is_held_out=is_held_out)
            observations.append(observation)
            final = final if submitted is None else submitted
        state = agent.observe(state, actions, observations)
    sign = 1 if task.metric.higher_is_better else -1
    true = {node.number: sign * world.true_score(scripted.written[node.number]) for node in state.tree.good}
    best = state.tree.best
    score = sign * world.score(final, world.parts["test"]) if len(final) else min(true.values(), default=0.0)
    chosen = state.submitted if state.submitted in true else best and best.number
    regret = max(true.values()) - true[chosen] if chosen is not None else 0.0
    return Outcome(score, regret, best is not None and scripted.written[best.number].leak)


def _perform(
    world: World, scripted: ScriptedCoder, action: Action, *, is_held_out: bool
) -> tuple[Observation, np.ndarray | None]:
    """Return the observation of an action, and its submission if it makes one."""
    test, given = world.parts["test"], action.arguments
    if action.name == "submit_script":
        prediction = world.predict(scripted.written[given["number"]], test)
        return SubmissionResult(script=given["number"], accepted=True), prediction
    if action.name == "submit_ensemble":
        numbers = [int(number) for number in given["numbers"].split(",")]
        return SubmissionResult(script=numbers[0], accepted=True), _ensemble(world, scripted, numbers)
    if given["number"] not in scripted.written:  # a blend of the best by a script of Podium's own
        numbers = [int(part) for part in _folders(given["script"])]
        scripted.written[given["number"]] = scripted.written[numbers[0]]
        return ScriptResult(exit_code=0, valid=True), None
    script = scripted.written[given["number"]]
    if script.bug:
        return ScriptResult(exit_code=1, output="KeyError: 'x'", error="no submission.csv was written"), None
    result = ScriptResult(exit_code=0, metric=world.reported(script), valid=True)
    if is_held_out:
        search, selection = (
            world.score(world.predict(script, rows), rows) for rows in (world.parts[name] for name in PARTS)
        )
        result = result.model_copy(update={"search_score": search, "selection_score": selection})
    return result, None


def _folders(script: str) -> list[str]:
    line = next(line for line in script.splitlines() if line.startswith("FOLDERS = "))
    return [part.strip(" '[]") for part in line.removeprefix("FOLDERS = ").split(",")]


def _ensemble(world: World, scripted: ScriptedCoder, numbers: Sequence[int]) -> np.ndarray:
    """Podium's own blend, weighted on the selection rows."""
    task = world.prepared.task
    rows = np.concatenate([world.parts["test"], world.parts["selection"]])
    identity, target = task.form.ids[0], task.form.targets[0]
    tables = {
        str(number): pd.DataFrame({identity: rows, target: world.predict(scripted.written[number], rows)})
        for number in numbers
    }

    def score(table: pd.DataFrame) -> float:
        values = pd.to_numeric(table[target]).to_numpy()[len(world.parts["test"]) :]
        return world.score(values, world.parts["selection"])

    blend, _ = blended(task, tables, score)
    return pd.to_numeric(blend[target]).to_numpy()[: len(world.parts["test"])]


def make_world(folder: Path, family: str, seed: int) -> World:
    """A forged task without its field, which nothing here is compared with."""
    task = load(f"forge-{family}-medium-{seed}")
    root = folder / task.id
    for part in ("public", "private"):
        (root / part).mkdir(parents=True)
    forged = draw_data(load_family(family), "medium", seed)
    write_public(forged, root / "public")
    forged.answers.to_csv(root / "private" / task.form.answers, index=False)
    manifest = Manifest(task.id, "v1", False, "generated", {}, {})
    prepared = PreparedTask(task, DataFolder(root=root, raw=root / "raw"), manifest, command="")
    held_out = set_aside(root / "held-out", prepared, (0.1, 0.1), seed)
    identity, target = task.form.ids[0], task.form.targets[0]
    train = forged.public.train.astype({identity: str}).set_index(identity)[target]
    answers = forged.answers.astype({identity: str}).set_index(identity)[target]
    aside = {name: np.flatnonzero(train.index.isin([row[0] for row in rows])) for name, rows in held_out.ids.items()}
    kept = np.setdiff1d(np.arange(len(train)), np.concatenate(list(aside.values())))
    parts = {**aside, "train": kept, "test": len(train) + np.arange(len(answers))}
    return World(prepared, np.concatenate([train, answers]).astype(float), parts)


def table(results: dict[tuple[str, str], list[Outcome]], strengths: Sequence[str]) -> list[str]:
    """Results as Markdown: wins over aide, regret of the node that was chosen, and leaks."""
    lines = [
        "| variant | coder | better than `aide` | regret of the chosen script | leaking script in the lead |",
        "|---|---|---|---|---|",
    ]
    for name in VARIANTS:
        for strength in strengths:
            found, aide = results[name, strength], results["aide", strength]
            wins = statistics.mean(ours.score > theirs.score for ours, theirs in zip(found, aide, strict=True))
            regret, leaks = (statistics.mean(getattr(one, part) for one in found) for part in ("regret", "is_leak"))
            beaten = "-" if name == "aide" else f"{wins:.0%}"
            lines.append(f"| {name} | {strength} | {beaten} | {regret:.4f} | {leaks:.0%} |")
    return lines


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3)
    options: Any = parser.parse_args(arguments)
    results: dict[tuple[str, str], list[Outcome]] = {}
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="podium-ablation-") as folder:
        for number in range(options.tasks):
            world = make_world(Path(folder), FAMILIES[number % len(FAMILIES)], 701 + number)
            for name in VARIANTS:
                for strength, coder in CODERS.items():
                    for seed in range(options.seeds):
                        outcome = play(world, name, coder, 100 * number + seed)
                        results.setdefault((name, strength), []).append(outcome)
            print(f"task {number + 1} of {options.tasks}, {time.monotonic() - started:.0f} s", file=sys.stderr)
    print("\n".join(table(results, list(CODERS))))


if __name__ == "__main__":
    main(sys.argv[1:])
