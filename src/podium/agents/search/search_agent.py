"""Search agent: a policy chooses, a proposer writes scripts, the sandbox runs them, and the best one is submitted.

Its state is the tree. Results of scripts are stored when they are observed and reviewed before the next decision,
because a review may call a model; the state saved with that decision contains the review.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import ClassVar, Literal

from pydantic import Field

from podium.agents.base import Agent, Remaining, State
from podium.agents.search.final_selection import Rescore, blend_script, rescored_best, selected_best
from podium.agents.search.policies import DRAFT, Choice
from podium.agents.search.proposers.lessons import Experience
from podium.agents.search.proposers.proposer import Context, Proposal, Proposer
from podium.agents.search.search_options import SearchOptions
from podium.agents.search.search_tree import Node, Tree
from podium.models.token_limits import ModelUnreachableError
from podium.sandbox.interpreters.importable_packages import installed_packages
from podium.task import Integer, Task
from podium.text import bounded, plural, valid_unicode
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, ScriptResult, SubmissionResult

SCRIPT_SHARE = 0.25
"""Share of the remaining time that one script may take."""
MIN_SCRIPT_S = 60.0
"""Time that a script may always take, even if it is a greater share."""
MIN_REMAINING_S = 3.0
"""Shortest remaining time in which another script is started."""
SUBMITTING_S = 2.0
"""Time reserved for submitting the result of the last script."""
BLENDING_S = 20.0
"""Time reserved for blending, which may take longer if more is left."""
SAMPLE_SPLIT = 1_000
"""Split number of a script that runs on a sample, which gives it a folder of its own."""
OUTPUT_CHARACTERS = 4_000
"""Length of an output that is stored in the state."""


class SearchState(State):
    """Tree and progress of the search."""

    tree: Tree
    unreviewed: list[int] = Field(default_factory=list)
    submitted: int | None = None
    """Number of the script whose submission is the current one."""
    phase: Literal["search", "selection"] = "search"
    finalists: list[int] = Field(default_factory=list)
    """Scripts from which the final submission is chosen or blended."""
    rescores: list[Rescore] = Field(default_factory=list)
    blend: ScriptResult | None = None
    is_blended: bool = False
    """True if a weighted blend was submitted or attempted."""
    worked_on_sample: list[int] = Field(default_factory=list)
    """Scripts that worked on a sample and run in full next."""
    experience: list[Experience] = Field(default_factory=list)
    """Lessons from other tasks at the start of the run."""


class SearchAgent(Agent[SearchState]):
    """Tree search over scripts. Subclasses provide the policy and the proposer."""

    Options: ClassVar[type[SearchOptions]] = SearchOptions
    State = SearchState
    submits = frozenset({"table"})
    options: SearchOptions

    def held_out_shares(self) -> tuple[float, float] | None:
        options = self.options
        return None if options.evaluation == "reported" else (options.search_share, options.selection_share)

    @property
    def requires_held_out(self) -> bool:
        return self.options.evaluation == "held-out"

    @abstractmethod
    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        """Return the next operator and its parents, or None to wait for running scripts."""

    @abstractmethod
    def make_proposer(self, context: Context) -> Proposer:
        """Return the proposer, which writes the scripts."""

    def sampled_script(self, node: Node, tree: Tree) -> str | None:
        """Return a variant of a script that runs on a sample of the rows first, or None to run it in full."""
        return None

    def guarded_script(self, node: Node, tree: Tree) -> str:
        """Return the script that runs in full, possibly with a preamble."""
        return node.script

    def begin(self) -> SearchState:
        return SearchState(tree=Tree(higher_is_better=self.assignment.task.metric.higher_is_better))

    async def decide(self, state: SearchState) -> Sequence[Action]:
        await self._review(state)
        if state.worked_on_sample:
            nodes = [state.tree[number] for number in state.worked_on_sample]
            return [self._trial(state, node, None) for node in nodes]
        if state.phase == "search":
            number = _worth_submitting(state)
            if number is not None and number != state.submitted:
                return [_submit(number)]
            if actions := await self._explore(state):
                return actions
            state.phase = "selection"
            state.finalists = [node.number for node in self._finalists(state)]
        return self._select(state)

    def observe(
        self, state: SearchState, actions: Sequence[Action], observations: Sequence[Observation]
    ) -> SearchState:
        return observed_state(state, actions, observations)

    def headline(self, state: SearchState) -> str | None:
        best, count = state.tree.best, len(state.tree)
        tried = plural(count, "script")
        if best is None or best.metric is None:
            return tried
        return f"{self.assignment.task.metric.title} {best.metric:.5g} ({tried})"

    @cached_property
    def proposer(self) -> Proposer:
        assignment = self.assignment
        form = assignment.task.form
        description = assignment.public / "description.md"
        return self.make_proposer(
            Context(
                brief=description.read_text("utf-8", "replace") if description.is_file() else assignment.task.brief,
                public=assignment.public,
                metric=assignment.task.metric,
                sample=form.sample,
                ids=form.ids,
                targets=form.targets,
                whole_numbers=all(isinstance(form.rule(column), Integer) for column in form.targets),
                seed=assignment.seed,
                cores=assignment.cores,
                remaining=assignment.remaining,
                script_time=lambda: self._script_time(0.0),
                gpus=assignment.gpus,
                packages=installed_packages(assignment.env),
                starter=_starter_code(assignment.task),
            )
        )

    async def _review(self, state: SearchState) -> None:
        """Review finished scripts. A script without a valid submission has failed in any case."""
        while state.unreviewed:
            node = state.tree[state.unreviewed[0]]
            assert node.result is not None
            review = await self.proposer.review(node, node.result)
            # A score printed by the script may be wrong or forged; a score on rows it never saw is not.
            metric = node.result.search_score if self.assignment.is_held_out else review.metric
            known = metric is not None and math.isfinite(metric)
            node.metric = metric if known else None
            node.validation = "" if self.assignment.is_held_out else review.validation
            is_buggy = node.result.exit_code != 0 if self.assignment.is_held_out and known else review.is_buggy
            node.is_buggy = is_buggy or not (known or review.is_fallback) or not node.result.valid
            node.summary = bounded(valid_unicode(review.summary), 1_000)
            state.unreviewed.pop(0)

    async def _explore(self, state: SearchState) -> list[Action]:
        """Return scripts to run in parallel; none when the search is over."""
        actions: list[Action] = []
        while len(actions) < self.options.parallel and self._has_room(state, len(actions)):
            choice = self.choose(state.tree, Random(f"{self.assignment.seed}:{len(state.tree)}"))
            if choice is None:
                break
            try:
                found = await self._propose(choice, state.tree)
            except ModelUnreachableError:
                if not actions:
                    raise
                break  # run the scripts already written; the next decision calls the model again
            if found is None:
                break
            choice, proposal = found
            node = Node(
                number=len(state.tree),
                operator=choice.operator,
                parents=choice.parents,
                plan=valid_unicode(proposal.plan),
                script=valid_unicode(proposal.script),
                is_written=proposal.is_written,
            )
            state.tree.nodes.append(node)
            sample = self.sampled_script(node, state.tree) if self._has_room(state, len(actions) + 1) else None
            if sample is None:
                actions.append(self._trial(state, node, proposal.time_s))
            else:
                time_s = self._script_time(self._reserve_s(state), MIN_SCRIPT_S)
                actions.append(_try_script(node.number, sample, SAMPLE_SPLIT, time_s))
        return actions

    def _trial(self, state: SearchState, node: Node, wish_s: float | None) -> Action:
        script, time_s = self.guarded_script(node, state.tree), self._script_time(self._reserve_s(state), wish_s)
        return _try_script(node.number, script, 0, time_s)

    async def _propose(self, choice: Choice, tree: Tree) -> tuple[Choice, Proposal] | None:
        """Return the proposer's script, or a draft or an improvement of another script if it has no proposal."""
        others = [Choice("improve", (node.number,)) for node in tree.good]
        for option in dict.fromkeys([choice, DRAFT, *others]):
            parents = [tree[number] for number in option.parents]
            proposal = await self.proposer.propose(option.operator, parents, tree)
            if proposal is not None:
                return option, proposal
        return None

    def _has_room(self, state: SearchState, planned: int) -> bool:
        """Return whether the budget allows another script, its submission and the final selection."""
        remaining = self.assignment.remaining()
        steps = planned + 2 + self._reserve_steps(state)
        return (
            len(state.tree) < self.options.nodes
            and (remaining.steps is None or remaining.steps >= steps)
            and (remaining.time_s is None or remaining.time_s >= MIN_REMAINING_S + self._reserve_s(state))
        )

    def _script_time(self, reserve_s: float, wish_s: float | None = None) -> float | None:
        """Return the time limit of a script, given the time to reserve."""
        left = self.assignment.remaining().time_s
        wishes = [wish for wish in (wish_s, self.options.script_time) if wish is not None]
        if left is None:
            return min(wishes, default=None)
        limit = min(wishes, default=max(MIN_SCRIPT_S, SCRIPT_SHARE * left))
        return max(1.0, min(limit, left - SUBMITTING_S - reserve_s))

    @property
    def _final(self) -> str:
        """Return the method of the final selection. Weights require held-out rows."""
        is_unweighted = self.options.select == "weighted" and not self.assignment.is_held_out
        return "ensemble" if is_unweighted else self.options.select

    def _finalists(self, state: SearchState) -> list[Node]:
        """Return the scripts from which the final submission is chosen or blended; none if the best one is taken."""
        finalists = state.tree.comparable[: self.options.top]
        is_plain = self._final == "best" and not self.assignment.is_held_out
        return [] if is_plain or len(finalists) < 2 else finalists

    def _reserve_s(self, state: SearchState) -> float:
        """Return the time required by the final selection."""
        finalists = self._finalists(state)
        if finalists and self._final == "ensemble":
            return BLENDING_S
        if self._final in ("best", "weighted"):
            return 0.0
        return 1.3 * self.options.splits * sum(_seconds(node) for node in finalists) / self.options.parallel

    def _reserve_steps(self, state: SearchState) -> int:
        count = len(self._finalists(state))
        if self._final in ("best", "weighted"):
            return min(count, 1)
        return 2 if count and self._final == "ensemble" else count and self.options.splits * count + 1

    def _select(self, state: SearchState) -> list[Action]:
        """Return the next actions of the final selection."""
        if not state.finalists:
            return []
        best = state.tree.good[0].number if state.tree.good else state.submitted
        if self.assignment.is_held_out and self._final in ("best", "weighted"):
            return self._select_held_out(state)
        if self._final == "ensemble":
            number = len(state.tree)
            if state.blend is None:
                script = blend_script(self.assignment.task, state.finalists)
                return [_try_script(number, script, 0, self._script_time(0.0))]
            chosen = number if state.blend.valid else best
        else:
            if rescoring := self._rescoring(state):
                return rescoring
            rescored = rescored_best(state.tree, state.finalists, state.rescores)
            chosen = best if rescored is None else rescored
        return [] if chosen is None or chosen == state.submitted else [_submit(chosen)]

    def _select_held_out(self, state: SearchState) -> list[Action]:
        """Return the action that submits a blend weighted on the selection rows, or the best finalist on them."""
        if self._final == "weighted":
            if state.is_blended:
                return []
            return [Action(name="submit_ensemble", arguments={"numbers": ",".join(map(str, state.finalists))})]
        chosen = selected_best(state.tree, state.finalists)
        return [] if chosen is None or chosen == state.submitted else [_submit(chosen)]

    def _rescoring(self, state: SearchState) -> list[Action]:
        """Return the finalists to run again on fresh splits, as far as time allows."""
        done = {(rescore.number, rescore.split) for rescore in state.rescores}
        remaining = self.assignment.remaining()
        room = self.options.parallel if remaining.steps is None else min(self.options.parallel, remaining.steps - 1)
        actions: list[Action] = []
        for split in range(1, self.options.splits + 1):
            for number in state.finalists:
                node = state.tree[number]
                if (number, split) in done or len(actions) >= room or not self._can_repeat(node, remaining):
                    continue
                time_s = self._script_time(0.0, 2 * _seconds(node) + 10)
                actions.append(_try_script(number, node.script, split, time_s))
        return actions

    def _can_repeat(self, node: Node, remaining: Remaining) -> bool:
        return remaining.time_s is None or remaining.time_s >= 1.1 * _seconds(node) + SUBMITTING_S


def _starter_code(task: Task) -> str:
    starter = task.starter
    return (starter.folder / starter.script).read_text(encoding="utf-8", errors="replace") if starter else ""


def observed_state(state: SearchState, actions: Sequence[Action], observations: Sequence[Observation]) -> SearchState:
    """Return the state with the results of actions."""
    state = state.model_copy(deep=True)
    for action, observation in zip(actions, observations, strict=True):
        if action.name == "submit_ensemble":
            state.is_blended = True
            continue
        number = int(action.arguments["number"])
        if action.name == "submit_script":
            _note_submission(state, number, observation)
        else:
            _note_result(state, number, int(action.arguments["split"]), _remembered(observation))
    return state


def _note_submission(state: SearchState, number: int, observation: Observation) -> None:
    if isinstance(observation, SubmissionResult) and observation.accepted:
        state.submitted = number
        return
    # The submission was valid before, so something has removed it since.
    lost = {"valid": False, "error": bounded(observation.text, 300)}
    if number < len(state.tree):
        result = state.tree[number].result
        assert result is not None
        state.tree[number].result = result.model_copy(update=lost)
    elif state.blend is not None:
        state.blend = state.blend.model_copy(update=lost)


def _note_result(state: SearchState, number: int, split: int, result: ScriptResult) -> None:
    if split == SAMPLE_SPLIT and result.exit_code == 0 and result.valid:
        state.worked_on_sample.append(number)
    elif split and split != SAMPLE_SPLIT:
        state.rescores.append(Rescore(number=number, split=split, metric=result.metric))
    elif number == len(state.tree):
        state.blend = result
    else:
        state.worked_on_sample = [other for other in state.worked_on_sample if other != number]
        state.tree[number].result = result
        state.unreviewed.append(number)


def _worth_submitting(state: SearchState) -> int | None:
    """Return the best script so far, or any script with a valid submission if none is good."""
    best = state.tree.best
    if best is not None:
        return best.number
    if state.submitted is not None:
        return state.submitted
    return next((node.number for node in state.tree if node.result is not None and node.result.valid), None)


def _try_script(number: int, script: str, split: int, time_s: float | None) -> Action:
    return Action(name="try_script", arguments={"number": number, "script": script, "split": split, "time_s": time_s})


def _submit(number: int) -> Action:
    return Action(name="submit_script", arguments={"number": number})


def _seconds(node: Node) -> float:
    return node.result.seconds if node.result is not None else 0.0


def _remembered(observation: Observation) -> ScriptResult:
    """Return a result with its output shortened. Other observations become the reason for which the script stopped."""
    if not isinstance(observation, ScriptResult):
        return ScriptResult(exit_code=None, stopped=bounded(observation.text, 300))
    return observation.model_copy(update={"output": bounded(observation.output, OUTPUT_CHARACTERS)})
