"""Actions on the research log, the agent's long-term memory."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import action
from podium.actions.files.file_access import call_file_helper, read_text
from podium.actions.model_calls import BLOCKS, MAX_BLOCK_CHARACTERS, ask, ask_about, split_blocks

LOG = "research_log.log"


@action(title="Append Summary to Research Log")
async def append_summary_to_research_log(context: ActionContext, content: str) -> str:
    """Add an entry to the research log, which records what you have done and found out.

    Args:
        content: A summary of the last step: what was done, why, and the result. At most about 500 characters.

    Returns:
        A confirmation.
    """
    await call_file_helper(context, "write", name=LOG, content=f"{content.strip()}\n\n", append=True)
    return "The summary has been added to the research log."


@action(title="Retrieval from Research Log")
async def retrieval_from_research_log(context: ActionContext, current_plan: str) -> str:
    """Retrieve the information in the research log that is relevant to your current plan.

    Args:
        current_plan: What you are doing and plan to do next; may be empty.

    Returns:
        A summary of the relevant entries, with the results they record.
    """
    log = await _read_log(context)
    if not log.strip():
        return "The research log is empty."
    question = _retrieval_question(context.problem, current_plan)
    return await ask_about(split_blocks(log)[-BLOCKS:], name="a research log", question=question)


@action()
async def reflection(context: ActionContext, things_to_reflect_on: str) -> str:
    """Have a language model review the research log and reflect on a question of yours.

    Args:
        things_to_reflect_on: The question: a doubt, a choice between approaches, or an unexpected result.

    Returns:
        The reflection.
    """
    log = await _read_log(context)
    return await ask("fast", _reflection_prompt(context.problem, log, things_to_reflect_on))


async def _read_log(context: ActionContext) -> str:
    """Return the log, or the most recent part of a long one."""
    limit = MAX_BLOCK_CHARACTERS * BLOCKS
    file = await read_text(context, LOG, limit_bytes=2 * limit, missing_is_empty=True)
    return (file.tail or file.text)[-limit:]


def _retrieval_question(problem: str, plan: str) -> str:
    return f"""Which entries of this log matter now? Summarize them for the researcher, who wrote the log but no longer
remembers it: what was tried, with what numbers, what failed and why, and what was learned. Be brief, and do not
invent anything.

The research problem:
{problem or "(not stated)"}

The current plan:
{plan or "(none yet)"}"""


def _reflection_prompt(problem: str, log: str, question: str) -> str:
    return f"""A researcher asks you to reflect on this:

{question}

Base your answer on the problem and the log below. Distinguish what the log shows from what you infer, and end with what
you would do next.

The research problem:
{problem or "(not stated)"}

The research log:
{log or "(nothing has been recorded yet)"}"""
