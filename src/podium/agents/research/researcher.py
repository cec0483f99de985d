"""Research agent of MLAgentBench: plans, checks facts, acts, and keeps a research log.

Before each action it writes a reflection, its complete plan and status, a fact check and a thought. It sees its last
few steps in full, and older ones only through the plan and the research log, to which the fast model adds a summary of
every step. The fast model also condenses long observations.

All model output is kept in the state after `decide`, which the runtime saves with the decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from podium.actions import ACTIONS, ActionError, ActionSpec
from podium.actions.model_calls import BLOCKS, ask, ask_about, split_blocks
from podium.agents.base import Agent
from podium.agents.model_agent import ROLES, ModelOptions, ask_model, brief, budget_line, end_of_run
from podium.agents.research import research_prompts
from podium.agents.research.parse_reply import FormatError
from podium.agents.research.researcher_memory import ResearchState, ResearchStep
from podium.text import bounded, valid_unicode
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput

    from podium.agents.research.reply_protocols import ReplyProtocol

SHOWN = (
    *("list_files", "copy_file", "undo_edit_script", "execute_script", "understand_file", "inspect_script_lines"),
    *("edit_script", "validate_submission", "final_answer"),
)
"""Actions mentioned in the prompt: those of the paper, and MLE-bench's validation of the submission. The others can be
used too."""
LOG_CHARACTERS = 6_000
TEMPERATURE = 0.5
"""Default sampling temperature, as in the paper."""
CUT_OFF = " The answer was truncated because it was too long: be brief."


class ResearchOptions(ModelOptions):
    protocol: Literal["text", "tools"] = Field("text", description="Entries in text, as in the paper, or tool calls.")
    max_steps: int = Field(50, ge=1, description="Maximum number of steps, after which the agent ends.")
    steps_in_context: int = Field(3, ge=1, description="Number of most recent steps that the model sees in full.")
    log: bool = Field(False, description="Keep a research log: the fast model summarises each step in one extra call.")
    retrieval: bool = Field(
        False,
        description="Let the fast model select the relevant part of the log instead of showing its end. Also writes "
        "the log to research_log.log, which costs one step each time.",
    )
    summarise_over: int = Field(
        5_000, ge=500, description="Length of an observation, in characters, above which it is condensed."
    )
    show: str = Field("", description="Additional actions in the prompt, such as write_file,python_session.")

    @field_validator("show")
    @classmethod
    def _are_actions(cls, text: str) -> str:
        known = _actions(has_person=False)
        unknown = [name for name in _names(text) if name not in known]
        if unknown:
            raise ValueError(f"there is no action '{unknown[0]}'; available actions: {', '.join(known)}")
        return text


class Researcher(Agent[ResearchState]):
    """Research agent of MLAgentBench: reflects, plans, checks facts, acts, and keeps a research log."""

    Options = ResearchOptions
    State = ResearchState
    options: ResearchOptions
    needs_model = True
    starts_from_sample = True
    roles = ROLES

    async def decide(self, state: ResearchState) -> Sequence[Action]:
        if state.is_over:
            return []
        news = await self._digest(state)
        if state.done >= self.options.max_steps:
            return end_of_run(f"The agent ended after {state.done} steps, its maximum (-A max_steps).")
        protocol = self._protocol()
        step = await self._next_step(state, protocol)
        if isinstance(step, str):
            return end_of_run(step)
        state.plan = step.entries["plan"] or state.plan
        state.steps = [*state.steps, step][-self.options.steps_in_context :]
        action = Action(name=step.action, arguments=step.input)
        return [action, *news] if action.name != "final_answer" else [action]

    def observe(
        self, state: ResearchState, actions: Sequence[Action], observations: Sequence[Observation]
    ) -> ResearchState:
        is_over = actions[0].name == "final_answer"
        if not state.steps or is_over:
            return state.model_copy(update={"is_over": is_over})
        step = state.steps[-1].model_copy(update={"observation": observations[0].text})
        return state.model_copy(update={"steps": [*state.steps[:-1], step], "done": state.done + 1})

    def headline(self, state: ResearchState) -> str | None:
        return state.steps[-1].action if state.steps else None

    async def _digest(self, state: ResearchState) -> list[Action]:
        """Condense and log the latest step. Return the action that writes the log, if any."""
        if not state.steps or len(state.log) >= state.done:
            return []
        step = await self._condense(state.steps[-1])
        state.steps = [*state.steps[:-1], step]
        if not (self.options.log or self.options.retrieval):
            return []
        state.log = [*state.log, await _summarise(step)]
        if not self.options.retrieval:
            return []
        return [Action(name="append_summary_to_research_log", arguments={"content": state.log[-1]})]

    async def _condense(self, step: ResearchStep) -> ResearchStep:
        limit = self.options.summarise_over
        if len(step.observation) <= limit or step.is_condensed:
            return step
        question = research_prompts.CONDENSE_QUESTION.format(
            action=step.action, input=str(step.input)[:500], thought=step.entries.get("thought", "")
        )
        try:
            said = await ask_about(split_blocks(step.observation)[:BLOCKS], name="an observation", question=question)
            text = f"[condensed from {len(step.observation):,} characters]\n{bounded(valid_unicode(said), limit)}"
        except ActionError:  # without a model: keep the beginning and the end
            text = bounded(step.observation, limit)
        return step.model_copy(update={"observation": text, "is_condensed": True})

    async def _next_step(self, state: ResearchState, protocol: ReplyProtocol) -> ResearchStep | str:
        """Return the next step that the model requests, or the reason why there is none."""
        messages = await self._messages(state, protocol)
        reminder: list[ChatMessage] = []
        fault = ""
        for attempt in range(1, self.options.attempts + 1):
            output = await ask_model(
                [*messages, *reminder],
                self.options,
                tools=protocol.tools(),
                temperature=TEMPERATURE,
                stop=protocol.stop,
            )
            try:
                _check_complete(output)
                return protocol.read(output, state.done + 1)
            except FormatError as error:
                fault = str(error) + (CUT_OFF if output.stop_reason == "max_tokens" else "")
                reminder = protocol.correction(
                    output, research_prompts.rejection(fault, self.options.attempts - attempt)
                )
        return (
            f"The agent gave up after {self.options.attempts} unusable answers of the model. The last problem: {fault}"
        )

    async def _messages(self, state: ResearchState, protocol: ReplyProtocol) -> list[ChatMessage]:
        from inspect_ai.model import ChatMessageSystem, ChatMessageUser

        shown = state.steps[-self.options.steps_in_context :]
        first = research_prompts.problem_message(brief(self.assignment), await self._recall(state, len(shown)))
        last = research_prompts.step_message(state.done + 1, budget_line(self.assignment.remaining()))
        return [
            ChatMessageSystem(content=protocol.system()),
            ChatMessageUser(content=first),
            *(message for step in shown for message in protocol.show(step)),
            ChatMessageUser(content=last),
        ]

    async def _recall(self, state: ResearchState, shown: int) -> str:
        """Return the log of steps that are no longer shown."""
        earlier = research_prompts.log_text(state.log[: max(0, len(state.log) - shown)])
        if self.options.retrieval and earlier:
            question = research_prompts.RETRIEVAL_QUESTION.format(plan=state.plan or "(none yet)")
            try:
                return await ask_about(split_blocks(earlier)[-BLOCKS:], name="a research log", question=question)
            except ActionError:
                pass  # fall back to the end of the log
        return earlier if len(earlier) <= LOG_CHARACTERS else f"[...]\n{earlier[-LOG_CHARACTERS:]}"

    def _protocol(self) -> ReplyProtocol:
        from podium.agents.research.reply_protocols import PROTOCOLS

        has_person = self.assignment.has_person
        further = ["reflection"] * self.options.retrieval + ["request_help"] * has_person
        shown = dict.fromkeys([*SHOWN, *further, *_names(self.options.show)])
        return PROTOCOLS[self.options.protocol](_actions(has_person=has_person), list(shown))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _actions(*, has_person: bool) -> dict[str, ActionSpec]:
    """Return all actions that the researcher may use."""
    return {name: action for name, action in ACTIONS.items() if has_person or action.needs != "person"}


async def _summarise(step: ResearchStep) -> str:
    try:
        return bounded(valid_unicode((await ask("fast", research_prompts.summary(step))).strip()), 800)
    except ActionError:
        return research_prompts.plain_summary(step)


def _check_complete(output: ModelOutput) -> None:
    if output.error:
        raise FormatError(f"The model reported an error: {output.error[:300]}.")
    if output.stop_reason == "content_filter":
        raise FormatError("The answer was blocked by a content filter.")
