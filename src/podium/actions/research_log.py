"""The research log: what an agent wants to remember beyond its last steps."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import action
from podium.actions.files.file_access import call_file_helper, read_text
from podium.actions.model_calls import BLOCK_CHARACTERS, BLOCKS, ask, ask_about, split_blocks

LOG = "research_log.log"


@action(title="Append Summary to Research Log")
async def append_summary_to_research_log(context: ActionContext, content: str) -> str:
    """Add an entry to the research log, which keeps what you have done and found.

    Args:
        content: A summary of the last step: what was done, why, and what came out. At most about 500 characters.

    Returns:
        A confirmation.
    """
    await call_file_helper(context, "write", name=LOG, content=f"{content.strip()}\n\n", append=True)
    return "The summary has been added to the research log."


@action(title="Retrieval from Research Log")
async def retrieval_from_research_log(context: ActionContext, current_plan: str) -> str:
    """Get what the research log holds that matters for your current plan.

    Args:
        current_plan: What you are doing and intend to do next; may be empty.

    Returns:
        A summary of the log, with the results it records.
    """
    log = await _read_log(context)
    if not log.strip():
        return "The research log is empty."
    question = _retrieval_question(context.problem, current_plan)
    return await ask_about(split_blocks(log)[-BLOCKS:], name="a research log", question=question)


@action()
async def reflection(context: ActionContext, things_to_reflect_on: str) -> str:
    """Have a model look back over the research log and reflect on a question of yours.

    Args:
        things_to_reflect_on: What to reflect on: a doubt, a choice between ways to go on, an unexpected result.

    Returns:
        The reflection.
    """
    log = await _read_log(context)
    return await ask("fast", _reflection_prompt(context.problem, log, things_to_reflect_on))


async def _read_log(context: ActionContext) -> str:
    """The log, or the latest part of a long one."""
    limit = BLOCK_CHARACTERS * BLOCKS
    file = await read_text(context, LOG, limit_bytes=2 * limit, missing_is_empty=True)
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
