"""What an agent says to people: asking one for help, and its final answer."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action


async def ask_operator(request: str) -> str:
    """The answer of the person who watches the run, asked through Inspect on the terminal or in its panel.

    Raises:
        ActionError: they did not want to answer.
    """
    from acp.schema import ElicitationSchema
    from inspect_ai.util import InputResult, request_input
    from rich.markup import escape

    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    try:
        # Inspect's console would take brackets for markup.
        result = await request_input(message=escape(request), schema=ElicitationSchema.model_validate(schema))
    except EOFError:  # there is no terminal to type on
        result = InputResult(outcome="cancelled")
    if result.outcome != "accepted" or not result.content:
        raise ActionError("Nobody answered the request. Go on without help.")
    return str(result.content["answer"])


@action(needs="person")
async def request_help(context: ActionContext, request: str) -> str:
    """Ask a person for help, and wait for the answer.

    Args:
        request: What you need, with all that is needed to understand it.

    Returns:
        The person's answer.
    """
    assert context.person is not None, "not offered without a person"
    return await context.person(request)


@action()
async def final_answer(context: ActionContext, final_answer: str) -> str:
    """End the work. Do this once, when nothing is left to improve: nothing can be done afterwards.

    Args:
        final_answer: A summary of what was achieved.

    Returns:
        The answer itself; there is no further step.
    """
    return final_answer
