"""Search agents whose scripts are written by a model: greedy (AIDE), MCTS, evolution and frontier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Literal

from pydantic import Field

from podium.agents.search.policies import Choice, evolve, frontier, greedy, mcts
from podium.agents.search.proposers.lessons import Experience, ancestors, distill, lessons, relevant_lessons
from podium.agents.search.proposers.model_proposer import ModelProposer
from podium.agents.search.proposers.prior_knowledge import APPROACHES, LEAKAGE, draft_cue, leak_warnings
from podium.agents.search.proposers.proposer import Context, Proposer
from podium.agents.search.script_guards import (
    ADVICE,
    MIN_SAMPLING_FACTOR,
    SAMPLE_ROWS,
    with_early_stopping,
    with_sample,
)
from podium.agents.search.search_agent import SearchAgent, SearchState
from podium.agents.search.search_options import (
    EvolveOptions,
    FrontierOptions,
    GreedyOptions,
    MctsOptions,
    WritingOptions,
)
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.workspace.journal.events import Action

SLOW_S = 20.0
"""Running time above which the repair of a script is tried on a sample first."""
ROLES = {"coder": "writes scripts", "reviewer": "reviews outputs without a score"}


class _ModelSearch(SearchAgent):
    needs_model = True
    starts_from_sample = True
    roles = ROLES

    policy: ClassVar[staticmethod[[Tree, Any, Random], Choice | None]]

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return self.policy(tree, self.options, rng)

    def make_proposer(self, context: Context) -> Proposer:
        assert isinstance(self.options, WritingOptions)
        return ModelProposer(context, self.options)


class AideOptions(WritingOptions, GreedyOptions):
    """The policy's and the model's options."""


class Aide(_ModelSearch):
    """Tree search with a model: drafts scripts, then debugs and improves the best one (greedy, like AIDE)."""

    Options = AideOptions
    policy = staticmethod(greedy)


class MctsAgentOptions(WritingOptions, MctsOptions):
    """The policy's and the model's options."""


class Mcts(_ModelSearch):
    """Monte Carlo tree search with a model, guided by upper confidence bounds (like AIRA)."""

    Options = MctsAgentOptions
    policy = staticmethod(mcts)


class EvolveAgentOptions(WritingOptions, EvolveOptions):
    """The policy's and the model's options."""


class Evolve(_ModelSearch):
    """Evolutionary search with a model: improves and merges a population of scripts by fitness (like AIRA)."""

    Options = EvolveAgentOptions
    policy = staticmethod(evolve)


class FrontierAgentOptions(WritingOptions, FrontierOptions):
    """The policy's and the model's options."""

    review: Literal["needed", "always"] = Field(
        "always", description="Outputs that a model reviews: always (all) or needed (only those without a metric line)."
    )


class Frontier(_ModelSearch):
    """Tree search with a model, held-out scores, lessons, fusion of branches and a weighted final ensemble."""

    Options = FrontierAgentOptions
    options: FrontierAgentOptions
    policy = staticmethod(frontier)
    _experience: Sequence[Experience] = ()

    def begin(self) -> SearchState:
        state = super().begin()
        if self.options.shared_lessons:
            found = ((kind, SearchState.model_validate_json(text)) for kind, text in self.assignment.experience())
            state.experience = [distill(other.tree, kind) for kind, other in found]
        return state

    async def decide(self, state: SearchState) -> Sequence[Action]:
        self._experience = state.experience
        return await super().decide(state)

    def make_proposer(self, context: Context) -> Proposer:
        self._context = context
        return ModelProposer(context, self.options, advise=self._advise, edits_from=self.options.edits_from)

    def sampled_script(self, node: Node, tree: Tree) -> str | None:
        parent = tree[node.parents[0]].result if node.operator == "debug" and self.options.debug_sample else None
        if parent is None or parent.seconds < SLOW_S:
            return None
        train = self._context.profile.train
        is_large = train is not None and (train.is_truncated or train.rows >= MIN_SAMPLING_FACTOR * SAMPLE_ROWS)
        if train is None or not is_large or Path(train.file).name != train.file or Path(train.file).suffix != ".csv":
            return None
        return with_sample(node.script, train.file)

    def guarded_script(self, node: Node, tree: Tree) -> str:
        return with_early_stopping(node.script, tree) if self.options.early_stop else node.script

    def _advise(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> str:
        """Return the advice added to the coder's prompt, from the parts that are enabled."""
        options, task = self.options, self.assignment.task
        is_draft, failed = operator == "draft", parents[0] if operator == "debug" else None
        doubts = leak_warnings(parents[0], self.assignment.public, task) if parents and not failed else ""
        parts = (
            (options.knowledge and is_draft, "", APPROACHES.get(self._context.profile.modality, "")),
            (options.cues and is_draft, "", draft_cue(tree)),
            (options.leak_check, "Possible problems of the script:", doubts),
            (options.lessons, "Lessons so far:", lessons(tree)),
            (
                options.lessons and parents,
                "History of this script:",
                ancestors(tree, parents[0]) if parents else "",
            ),
            (
                options.shared_lessons,
                "Lessons from other tasks:",
                relevant_lessons(self._experience, task.kind, failed),
            ),
            (options.leak_check, "", LEAKAGE),
            (options.early_stop, "", ADVICE),
        )
        return "\n\n".join(f"{title}\n{text}".strip() for is_on, title, text in parts if is_on and text)
