"""Actions addressed to people: a request for help and the final answer."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action


async def ask_operator(request: str) -> str:
    """Ask the operator of the run through Inspect, on the terminal or in its panel, and return the answer.

    Raises:
        ActionError: the operator declined to answer, or there is no terminal.
    """
    from acp.schema import ElicitationSchema
    from inspect_ai.util import InputResult, request_input
    from rich.markup import escape

    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    try:
        # Inspect's console interprets brackets as markup.
        result = await request_input(message=escape(request), schema=ElicitationSchema.model_validate(schema))
    except EOFError:  # there is no terminal to type on
        result = InputResult(outcome="cancelled")
    if result.outcome != "accepted" or not result.content:
        raise ActionError("The request was not answered. Continue without help.")
    return str(result.content["answer"])


@action(needs="person")
async def request_help(context: ActionContext, request: str) -> str:
    """Ask a person for help and wait for the answer.

    Args:
        request: What you need, with everything a person needs to know to understand it.

    Returns:
        The person's answer.
    """
    assert context.person is not None, "not offered without a person"
    return await context.person(request)


@action()
async def final_answer(context: ActionContext, final_answer: str) -> str:
    """Finish the work. Call this once, when there is nothing left to improve: no further actions are possible.

    Args:
        final_answer: A summary of what was achieved.

    Returns:
        The answer itself; there are no further steps.
    """
    return final_answer
