"""Tree searches whose scripts a scripted coder writes: they run on their own, and no model has a part in it.

The coder draws a kind of model and its settings, changes one setting to improve a script, averages two to merge them,
and makes mistakes: some scripts crash until they are debugged, some score themselves on rows that they learnt from.
`benchmarks/agents.py` runs the agents of this file beside others; the searches are those of Podium.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from podium.agents.search.algorithms import Aide, Frontier
from podium.agents.search.proposers.proposer import Context, Proposal, Proposer, Review
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.workspace.journal.observations import ScriptResult

FOLDER = Path(__file__).parent
PARTS = ("joining", "reading", "learners", "answering", "coder_scripts")
"""The files that a script consists of, in an order in which each needs only those before it."""
MODELS: dict[str, dict[str, tuple[float, ...]]] = {
    "linear": {"alpha": (0.1, 1.0, 10.0, 100.0)},
    "neighbours": {"n_neighbors": (3, 10, 30)},
    "tree": {"max_depth": (3, 6, 12), "min_samples_leaf": (1, 10, 50)},
    "forest": {"n_estimators": (30, 100), "min_samples_leaf": (1, 3, 10), "max_features": (0.3, 0.6, 1.0)},
    "extra trees": {"n_estimators": (30, 100), "min_samples_leaf": (1, 3, 10), "max_features": (0.3, 0.6, 1.0)},
    "boosting": {"learning_rate": (0.3, 0.1, 0.05), "max_iter": (50, 150, 300), "max_leaf_nodes": (7, 15, 31, 63)},
}
CRASHES, BOASTS = 0.2, 0.1
"""Probabilities of the coder's two mistakes."""
_SETTINGS = re.compile(r"^carry_out\((\{.*\}), higher_is_better", re.MULTILINE)


class ScriptedCoder:
    """A proposer whose scripts are drawn, by seed and number."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        is_table = not any(node.result and "the sample submission, because" in node.result.output for node in tree)
        if not is_table:
            return None
        rng = Random(f"{self._context.seed}:{len(tree)}")
        settings = next_settings(operator, [settings_of(node.script) for node in parents], rng)
        return Proposal(f"{operator}: {json.dumps(settings)}", self._script(settings))

    async def review(self, node: Node, result: ScriptResult) -> Review:
        return Review(is_buggy=result.exit_code != 0 or result.metric is None, metric=result.metric)

    def _script(self, settings: dict[str, Any]) -> str:
        call = f"carry_out({settings!r}, higher_is_better={self._context.metric.higher_is_better})"
        return f"{in_one_piece()}\n\n{call}\n"


def next_settings(operator: Operator, before: Sequence[dict[str, Any]], rng: Random) -> dict[str, Any]:
    """Return the settings of the coder's next script."""
    mistakes = {"crashes": rng.random() < CRASHES, "boasts": rng.random() < BOASTS}
    if operator == "merge":
        return {"parts": list(before)}
    if operator == "debug":
        return {**before[0], "crashes": False}
    if operator == "improve" and "options" in before[0]:
        kind, options = before[0]["kind"], dict(before[0]["options"])
        changed = rng.choice(list(MODELS[kind]))
        options[changed] = rng.choice([value for value in MODELS[kind][changed] if value != options[changed]])
        return {"kind": kind, "options": options, **mistakes}
    kind = rng.choice(list(MODELS))
    return {"kind": kind, "options": {name: rng.choice(values) for name, values in MODELS[kind].items()}, **mistakes}


def settings_of(script: str) -> dict[str, Any]:
    """The settings that a script of the coder was written with."""
    import ast

    found = _SETTINGS.search(script)
    assert found is not None
    settings: dict[str, Any] = ast.literal_eval(found[1])
    return settings


def in_one_piece() -> str:
    """The files of a script without the lines in which they import each other."""
    parts = [(FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in PARTS]
    own = re.compile(rf"^from (?:__future__|{'|'.join(PARTS)}) import .*\n", re.MULTILINE)
    return "from __future__ import annotations\n\n" + "\n\n".join(own.sub("", part) for part in parts)


class ScriptedAide(Aide):
    """AIDE's search with the scripted coder."""

    needs_model = False

    def make_proposer(self, context: Context) -> Proposer:
        return ScriptedCoder(context)


class ScriptedFrontier(Frontier):
    """The search `frontier` with the scripted coder."""

    needs_model = False

    def make_proposer(self, context: Context) -> Proposer:
        super().make_proposer(context)
        return ScriptedCoder(context)
