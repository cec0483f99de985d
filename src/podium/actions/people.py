"""What an agent says to people: asking one for help, and its final answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from inspect_ai.tool import Tool, tool
from inspect_ai.util import InputResult, request_input
from rich.markup import escape

from podium.actions.observation import ActionError, observed

Person = Callable[[str], Awaitable[str]]
"""Somebody who answers a request, in words."""


async def ask_operator(request: str) -> str:
    """The answer of the person who watches the run, asked through Inspect on the terminal or in its panel.

    Raises:
        ActionError: they did not want to answer.
    """
    from acp.schema import ElicitationSchema  # slow to import

    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    try:
        # Inspect's console would take brackets for markup.
        result = await request_input(message=escape(request), schema=ElicitationSchema.model_validate(schema))
    except EOFError:  # there is no terminal to type on
        result = InputResult(outcome="cancelled")
    if result.outcome != "accepted" or not result.content:
        raise ActionError("Nobody answered the request. Go on without help.")
    return str(result.content["answer"])


@tool(max_output=0)
def request_help(person: Person = ask_operator) -> Tool:
    """The action that asks a person."""

    @observed
    async def execute(request: str) -> str:
        """Ask a person for help, and wait for the answer.

        Args:
            request: What you need, with all that is needed to understand it.

        Returns:
            The person's answer.
        """
        return await person(request)

    return execute


@tool(max_output=0)
def final_answer() -> Tool:
    """The action that ends the work."""

    @observed
    async def execute(final_answer: str) -> str:
        """End the work. Do this once, when nothing is left to improve: nothing can be done afterwards.

        Args:
            final_answer: A summary of what was achieved.

        Returns:
            The answer itself; there is no further step.
        """
        return final_answer

    return execute
