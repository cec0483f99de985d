"""Declaration of an action: an async function of a context and typed arguments, described by its docstring."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from docstring_parser import DocstringStyle, parse

from podium.actions.action_context import ActionContext
from podium.errors import PodiumError
from podium.text import bounded, valid_unicode
from podium.workspace.journal.observations import Observation, Refusal, TextResult

if TYPE_CHECKING:
    from inspect_ai.tool import Tool, ToolInfo

ActionFunction = Callable[..., Awaitable[Observation | str]]
Needs = Literal["person", "check_submission", "held_out"]
ArgumentType = Literal["string", "integer", "number"]
_TYPES: dict[object, ArgumentType] = {str: "string", int: "integer", float: "number", float | None: "number"}
_ACCEPTED: dict[str, tuple[Any, str]] = {
    "string": ((), "a string"),
    "integer": (int, "an integer"),
    "number": ((int, float), "a number"),
}
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,18}(\.[0-9]{1,18})?\s*")
_SURROGATE = re.compile("[\ud800-\udfff]")


class ActionError(PodiumError):
    """An action that cannot be performed; the agent observes the message."""


@dataclass(frozen=True)
class Argument:
    """An argument of an action."""

    type: ArgumentType
    """JSON schema type."""
    description: str
    default: Any = inspect.Parameter.empty

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty

    def convert(self, value: object, name: str) -> object:
        """Return the value with the declared type; numbers may be strings.

        Raises:
            ActionError: it has another type, or cannot be written to a file as UTF-8.
        """
        if self.type == "string" and isinstance(value, str):
            if _SURROGATE.search(value):
                raise ActionError(f"{name} contains an incomplete character (a lone surrogate)")
            return value
        if value is None and self.default is None:
            return value
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            value = float(value) if "." in value else int(value)
        accepted, expected = _ACCEPTED[self.type]
        if isinstance(value, accepted) and not isinstance(value, bool) and abs(value) < 10**18:
            return value
        raise ActionError(f"{name} must be {expected}")


@dataclass(frozen=True)
class ActionSpec:
    """Name, description, arguments and implementation of an action."""

    name: str
    title: str
    """Display name, used by agents with a text protocol."""
    description: str
    arguments: Mapping[str, Argument]
    returns: str
    function: ActionFunction = field(repr=False)
    needs: Needs | None = None
    """Context field that the action requires; None for no requirement."""

    def is_called(self, name: str) -> bool:
        """Return whether a name written by an agent means this action; case and punctuation are ignored."""
        wanted = " ".join(re.sub(r"[^\w() ]", "", name.replace("_", " ")).lower().split())
        title = self.title.lower()
        return wanted in (self.name.replace("_", " "), title, title.removesuffix(" (ai)"))

    def template(self) -> str:
        """Return the arguments as a JSON object with a description in place of each value."""
        places = {
            name: f"[{'' if argument.is_required else 'optional: '}{argument.description}]"
            for name, argument in self.arguments.items()
        }
        return json.dumps(places, indent=4, ensure_ascii=False)

    def prompt(self) -> str:
        """Return the description of the action for a prompt."""
        return f"{self.title}: {self.description}\nInput:\n{self.template()}\nObservation: {self.returns}"

    def argument_name_problem(self, arguments: Mapping[str, object]) -> str | None:
        """Return the problem with the argument names as a predicate of "the input", or None."""
        missing = [name for name, known in self.arguments.items() if known.is_required and name not in arguments]
        surplus = [repr(name) for name in arguments if name not in self.arguments]
        if missing:
            return f"lacks {', '.join(missing)}"
        return f"contains {bounded(', '.join(surplus), 200)}, which the action does not accept" if surplus else None

    async def perform(self, context: ActionContext, arguments: object) -> Observation:
        """Perform the action and return its observation; the arguments may be anything a model wrote.

        Other failures propagate as exceptions: a limit of the run, cancellation, a sandbox that has ended.
        """
        try:
            result = await self.function(context, **self.check(arguments))
            observation = TextResult(text=result) if isinstance(result, str) else result
        except ActionError as error:
            observation = Refusal(text=str(error))
        texts = {name: bounded(valid_unicode(value)) for name, value in observation if isinstance(value, str)}
        return observation.model_copy(update=texts)

    def tool_info(self) -> ToolInfo:
        """Return the action as an Inspect `ToolInfo` for models with tool calling."""
        from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

        properties = {
            name: ToolParam(type=argument.type, description=argument.description)
            for name, argument in self.arguments.items()
        }
        required = [name for name, argument in self.arguments.items() if argument.is_required]
        return ToolInfo(
            name=self.name,
            description=f"{self.description} Returns: {self.returns}",
            parameters=ToolParams(properties=properties, required=required),
        )

    def as_tool(self, context: ActionContext) -> Tool:
        """Return the action as an Inspect tool that returns the text of the observation."""
        from inspect_ai.tool import ToolDef

        async def execute(**kwargs: Any) -> str:
            return (await self.perform(context, kwargs)).text

        info = self.tool_info()
        return ToolDef(execute, info.name, info.description, info.parameters, max_output=0).as_tool()

    def check(self, arguments: object) -> dict[str, object]:
        """Return the arguments converted to their declared types.

        Raises:
            ActionError: they do not match the declaration; the message shows how to use the action.
        """
        if not isinstance(arguments, dict):
            raise self._misuse("the input must be a JSON object")
        if fault := self.argument_name_problem(arguments):
            raise self._misuse(f"the input {fault}")
        try:
            return {name: self.arguments[name].convert(value, name) for name, value in arguments.items()}
        except ActionError as error:
            raise self._misuse(str(error)) from error

    def _misuse(self, fault: str) -> ActionError:
        return ActionError(f"{self.title} was not performed: {fault}. Its input looks like this:\n{self.template()}")


def action(*, title: str | None = None, needs: Needs | None = None) -> Callable[[ActionFunction], ActionSpec]:
    """Declare an action: a function whose first parameter is a context and whose docstring describes it for agents.

    Its return value is the observation; a string becomes a `TextResult`.

    Args:
        title: the display name, by default the function's name in title case.
        needs: the context field that the action requires.
    """

    def declare(function: ActionFunction) -> ActionSpec:
        name = function.__name__
        said = parse(inspect.getdoc(function) or "", DocstringStyle.GOOGLE)
        descriptions = {argument.arg_name: argument.description or "" for argument in said.params}
        types = get_type_hints(function)
        parameters = list(inspect.signature(function).parameters.values())[1:]
        return ActionSpec(
            name=name,
            title=title or name.replace("_", " ").title(),
            description=_in_one_line(said.description),
            arguments={
                known.name: Argument(_TYPES[types[known.name]], _in_one_line(descriptions[known.name]), known.default)
                for known in parameters
            },
            returns=_in_one_line(said.returns.description if said.returns else None),
            function=function,
            needs=needs,
        )

    return declare


def _in_one_line(text: str | None) -> str:
    return " ".join((text or "").split())
