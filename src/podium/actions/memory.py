"""The research log: what an agent wants to remember beyond its last steps."""

from __future__ import annotations

from inspect_ai.tool import Tool, tool

from podium.actions.asking import BLOCK_CHARACTERS, BLOCKS, ask, ask_about, split_blocks
from podium.actions.inside import Workspace, ask_steward, read_text
from podium.actions.observation import observed

LOG = "research_log.log"


@tool(max_output=0)
def append_summary_to_research_log(workspace: Workspace = Workspace()) -> Tool:  # noqa: B008 (frozen)
    """The action that adds an entry to the research log."""

    @observed
    async def execute(content: str) -> str:
        """Add an entry to the research log, which keeps what you have done and found.

        Args:
            content: A summary of the last step: what was done, why, and what came out. At most about 500 characters.

        Returns:
            A confirmation.
        """
        await ask_steward(workspace, "write", name=LOG, content=f"{content.strip()}\n\n", append=True)
        return "The summary has been added to the research log."

    return execute


@tool(max_output=0)
def retrieval_from_research_log(workspace: Workspace = Workspace(), problem: str = "") -> Tool:  # noqa: B008
    """The action that has the research log condensed by the fast model.

    Args:
        problem: what the agent was asked to do.
    """

    @observed
    async def execute(current_plan: str) -> str:
        """Get what the research log holds that matters for your current plan.

        Args:
            current_plan: What you are doing and intend to do next; may be empty.

        Returns:
            A summary of the log, with the results it records.
        """
        log = await _read_log(workspace)
        if not log.strip():
            return "The research log is empty."
        question = _retrieval_question(problem, current_plan)
        return await ask_about(split_blocks(log)[-BLOCKS:], name="a research log", question=question)

    return execute


@tool(max_output=0)
def reflection(workspace: Workspace = Workspace(), problem: str = "") -> Tool:  # noqa: B008
    """The action that has the fast model reflect on the research log.

    Args:
        problem: what the agent was asked to do.
    """

    @observed
    async def execute(things_to_reflect_on: str) -> str:
        """Have a model look back over the research log and reflect on a question of yours.

        Args:
            things_to_reflect_on: What to reflect on: a doubt, a choice between ways to go on, an unexpected result.

        Returns:
            The reflection.
        """
        log = await _read_log(workspace)
        return await ask("fast", _reflection_prompt(problem, log, things_to_reflect_on))

    return execute


async def _read_log(workspace: Workspace) -> str:
    """The log, or the latest part of a long one."""
    limit = BLOCK_CHARACTERS * BLOCKS
    file = await read_text(workspace, LOG, limit_bytes=2 * limit, missing_is_empty=True)
    return (file.tail or file.text)[-limit:]


def _retrieval_question(problem: str, plan: str) -> str:
    return f"""Which entries of this log matter now? Sum them up for the researcher who wrote it and has forgotten it:
what was tried, with which numbers, what failed and why, what was learnt. Be brief, and invent nothing.

The research problem:
{problem or "(not stated)"}

The current plan:
{plan or "(none yet)"}"""


def _reflection_prompt(problem: str, log: str, question: str) -> str:
    return f"""A researcher asks you to reflect on this:

{question}

Base what you say on the problem and the log below. Separate what the log shows from what you suppose, and end with
what you would do next.

The research problem:
{problem or "(not stated)"}

The research log:
{log or "(nothing has been recorded yet)"}"""
