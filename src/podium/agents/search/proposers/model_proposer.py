"""Proposer that uses a language model: one role writes scripts, another reviews outputs without a score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from podium.agents.model_agent import ask_model
from podium.agents.search.proposers import search_prompts
from podium.agents.search.proposers.parse_answers import CodeAnswer, read_answer, read_review
from podium.agents.search.proposers.proposer import Context, Proposal, Review
from podium.agents.search.search_options import WritingOptions
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.text import bounded, valid_unicode
from podium.workspace.journal.observations import ScriptResult

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ModelOutput
    from inspect_ai.tool import ToolInfo

MAX_UNWRITTEN = 8
"""Number of consecutive nodes without a usable script after which the proposer gives up."""
NOT_WRITTEN = 'raise SystemExit("The model wrote no usable script: {fault}.")\n'
_CUT_OFF = ("max_tokens", "model_length")

REVIEW_TOOL = "submit_review"


class ModelProposer:
    """Proposer that calls the models in the roles `coder` and `reviewer`, by default both the run's own."""

    def __init__(
        self,
        context: Context,
        options: WritingOptions,
        find_model: Callable[[str], Model] | None = None,
        advise: Callable[[Operator, Sequence[Node], Tree], str] | None = None,
        edits_from: int | None = None,
    ) -> None:
        """
        Args:
            find_model: returns the model of a role.
            advise: returns additional advice for the coder's prompt.
            edits_from: length in characters from which a script is edited instead of rewritten.
        """
        self._advise, self._edits_from = advise, edits_from
        self._context, self._options = context, options
        self._find_model = find_model or _model_in_role

    @cached_property
    def _data(self) -> str:
        from podium.agents.search.proposers.data_preview import preview

        return preview(self._context.public, self._options.prompt_characters // 8)

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        """Return a script. It only reports the fault if no answer is usable; after many such scripts, return None."""
        if len(tree) >= MAX_UNWRITTEN and not any(node.is_written for node in tree.nodes[-MAX_UNWRITTEN:]):
            return None
        answer = await self._ask_for_script(operator, parents, tree)
        if answer.script:
            return Proposal(answer.plan, answer.script)
        return Proposal(answer.plan, NOT_WRITTEN.format(fault=answer.fault), is_written=False)

    async def review(self, node: Node, result: ScriptResult) -> Review:
        """Return a review. The score in a metric line takes precedence; a model supplies a missing score."""
        failed = result.stopped is not None or result.exit_code != 0
        needed = not failed and result.metric is None and result.valid
        if not (needed or (self._options.review == "always" and node.is_written)):
            return Review(is_buggy=failed or not result.valid or result.metric is None, metric=result.metric)
        read = await self._ask_for_review(node, result)
        if read is None:
            read = Review(is_buggy=result.metric is None, metric=None)
        metric = read.metric if result.metric is None else result.metric
        return Review(is_buggy=failed or read.is_buggy or metric is None, metric=metric, summary=read.summary)

    async def _ask_for_script(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> CodeAnswer:
        corrections: list[ChatMessage] = []
        answer = CodeAnswer(plan="", fault="the model was not called")
        advice = self._advise(operator, parents, tree) if self._advise else ""
        for _ in range(self._options.attempts):
            known = (operator, parents, tree, self._context, self._data)
            ask = partial(search_prompts.ask, *known, advice=advice, edits_from=self._edits_from)
            output = await self._generate("coder", ask, corrections)
            said = output.completion
            base = parents[0].script if parents and operator in ("debug", "improve") else ""
            found = read_answer(said, cut_off=output.stop_reason in _CUT_OFF, base=base)
            if found.script or not answer.script:
                answer = found
            if found.fault is None:
                break
            corrections = _correction(said, found.fault)
        return answer

    async def _ask_for_review(self, node: Node, result: ScriptResult) -> Review | None:
        for _ in range(self._options.attempts):
            ask = partial(search_prompts.ask_for_review, node, result, self._context)
            output = await self._generate("reviewer", ask, tools=[_review_tool()])
            read = read_review(_arguments(output), output.completion)
            if read is not None:
                return read
        return None

    async def _generate(
        self,
        role: str,
        ask: Callable[[int], str],
        corrections: Sequence[ChatMessage] = (),
        tools: Sequence[ToolInfo] = (),
    ) -> ModelOutput:
        """Return the model's output for a prompt of bounded length."""
        from inspect_ai.tool import ToolFunction

        longest = self._options.prompt_characters
        return await ask_model(
            lambda room: [*_opening(ask(longest if room is None else min(room, longest))), *corrections],
            self._options,
            role=role,
            model=self._find_model(role),
            tools=tools,
            tool_choice=ToolFunction(name=tools[0].name) if tools else None,
        )


def _model_in_role(role: str) -> Model:
    from inspect_ai.model import get_model

    return get_model(role=role)


def _opening(question: str) -> list[ChatMessage]:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    return [ChatMessageSystem(content=search_prompts.SYSTEM), ChatMessageUser(content=valid_unicode(question))]


def _review_tool() -> ToolInfo:
    from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

    number_or_null = [ToolParam(type="number"), ToolParam(type="null")]
    return ToolInfo(
        name=REVIEW_TOOL,
        description="Report the result of a script.",
        parameters=ToolParams(
            properties={
                "is_bug": ToolParam(type="boolean", description="True if it failed or its score is meaningless."),
                "metric": ToolParam(anyOf=number_or_null, description="Its validation score."),
                "summary": ToolParam(type="string", description="The findings, or what to fix."),
            },
            required=["is_bug", "metric", "summary"],
        ),
    )


def _correction(completion: str, fault: str) -> list[ChatMessage]:
    """Return the unusable answer and the reason as messages. Some providers refuse messages without content."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

    asked = ChatMessageUser(content=search_prompts.UNUSABLE.format(fault=fault))
    said = bounded(completion, 4_000).strip()
    return [ChatMessageAssistant(content=said), asked] if said else [asked]


def _arguments(output: ModelOutput) -> dict[str, Any] | None:
    calls = output.message.tool_calls if output.choices else None
    return next((call.arguments for call in calls or () if call.function == REVIEW_TOOL), None)
