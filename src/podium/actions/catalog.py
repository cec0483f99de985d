"""The whole action space: every action by name, how to use it, and how to perform it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from docstring_parser import parse
from inspect_ai.tool import Tool, ToolDef

from podium.actions.editing import edit_script, edit_script_segment
from podium.actions.execution import Executor, execute_script
from podium.actions.files import (
    append_file,
    copy_file,
    inspect_script_lines,
    list_files,
    read_file,
    undo_edit_script,
    write_file,
)
from podium.actions.inside import Workspace
from podium.actions.memory import append_summary_to_research_log, reflection, retrieval_from_research_log
from podium.actions.observation import ActionError, bounded, observed
from podium.actions.people import Person, ask_operator, final_answer, request_help
from podium.actions.session import python_session
from podium.actions.understanding import understand_file

_TITLES = {
    "edit_script": "Edit Script (AI)",
    "edit_script_segment": "Edit Script Segment (AI)",
    "python_session": "Python REPL",
    "append_summary_to_research_log": "Append Summary to Research Log",
    "retrieval_from_research_log": "Retrieval from Research Log",
}
"""Display names, MLAgentBench's, that are not just the name in capitals."""


@dataclass(frozen=True)
class Argument:
    """An argument of an action."""

    type: str
    """As JSON schema names it: "string" or "integer"."""
    description: str
    is_required: bool


@dataclass(frozen=True)
class Usage:
    """How an action is used."""

    name: str
    title: str
    """The display name by which agents with a text protocol call it."""
    description: str
    arguments: Mapping[str, Argument]
    returns: str

    def template(self) -> str:
        """The arguments as a JSON object with a description in place of each value."""
        places = {
            name: f"[{'' if argument.is_required else 'may be left out: '}{argument.description}]"
            for name, argument in self.arguments.items()
        }
        return json.dumps(places, indent=4, ensure_ascii=False)

    def prompt(self) -> str:
        """How to use the action, as a prompt says it."""
        return f"{self.title}: {self.description}\nInput:\n{self.template()}\nObservation: {self.returns}"


def actions(
    *,
    workspace: Workspace | None = None,
    executor: Executor | None = None,
    problem: str = "",
    interactive: bool = False,
    person: Person = ask_operator,
) -> dict[str, Tool]:
    """The actions by name.

    Args:
        workspace: where the agent's files are.
        executor: what runs the agent's programs; by default the sandbox alone, without a time limit.
        problem: what the agent was asked to do, for the actions that look back at its research.
        interactive: whether the agent may ask a person.
        person: who that is.
    """
    place = workspace or Workspace()
    tools = {
        "list_files": list_files(place),
        "read_file": read_file(place),
        "write_file": write_file(place),
        "append_file": append_file(place),
        "copy_file": copy_file(place),
        "inspect_script_lines": inspect_script_lines(place),
        "undo_edit_script": undo_edit_script(place),
        "execute_script": execute_script(place, executor),
        "python_session": python_session(place, executor),
        "edit_script": edit_script(place),
        "edit_script_segment": edit_script_segment(place),
        "understand_file": understand_file(place),
        "append_summary_to_research_log": append_summary_to_research_log(place),
        "retrieval_from_research_log": retrieval_from_research_log(place, problem),
        "reflection": reflection(place, problem),
    }
    if interactive:
        tools["request_help"] = request_help(person)
    return {**tools, "final_answer": final_answer()}


def usage_of(name: str, tool: Tool) -> Usage:
    """How a tool is used, also one that is not from here, as its docstring says."""
    if name in ACTIONS:
        return ACTIONS[name]
    return _read_usage(name, tool)


def _read_usage(name: str, tool: Tool) -> Usage:
    definition = ToolDef(tool)
    returns = parse(inspect.getdoc(tool) or "").returns
    return Usage(
        name=name,
        title=_TITLES.get(name) or name.replace("_", " ").title(),
        description=" ".join(definition.description.split()),
        arguments={
            argument: Argument(
                type=str(schema.type),
                description=schema.description or "",
                is_required=argument in definition.parameters.required,
            )
            for argument, schema in definition.parameters.properties.items()
        },
        returns=" ".join(((returns and returns.description) or "").split()),
    )


ACTIONS: Mapping[str, Usage] = MappingProxyType(
    {name: _read_usage(name, tool) for name, tool in actions(interactive=True).items()}
)
"""How each action is used, by name."""


async def perform(name: str, arguments: object, tools: Mapping[str, Tool]) -> str:
    """The observation after an action, whatever name and arguments an agent came up with.

    Args:
        name: an action's name or display name.
        arguments: its arguments, as they were read from JSON; an integer may come as a string.
        tools: the actions the agent has by name, as `actions()` gives them; others may be among them.
    """

    @observed
    async def act() -> str:
        usage = _find(name, tools)
        return str(await tools[usage.name](**_check(arguments, usage)))

    return await act()


def _find(name: str, tools: Mapping[str, Tool]) -> Usage:
    wanted = " ".join(name.replace("_", " ").lower().split())
    usages = [usage_of(known, tool) for known, tool in tools.items()]
    for usage in usages:
        if wanted in (usage.name.replace("_", " "), usage.title.lower()):
            return usage
    offered = ", ".join(f"{usage.title} ({usage.name})" for usage in usages)
    raise ActionError(f"There is no action {bounded(name, 100)!r}. The actions are: {offered}.")


def _check(arguments: object, usage: Usage) -> dict[str, object]:
    """The arguments, each of the declared type.

    Raises:
        ActionError: they are not the declared ones; the message says how to use the action.
    """
    if not isinstance(arguments, dict):
        raise _misuse("the input must be a JSON object", usage)
    missing = [name for name, argument in usage.arguments.items() if argument.is_required and name not in arguments]
    if missing:
        raise _misuse(f"the input lacks {', '.join(missing)}", usage)
    surplus = [repr(name) for name in arguments if name not in usage.arguments]
    if surplus:
        raise _misuse(f"the input holds {bounded(', '.join(surplus), 200)}, which the action does not take", usage)
    return {name: _convert(value, name, usage) for name, value in arguments.items()}


def _convert(value: object, name: str, usage: Usage) -> object:
    kind = usage.arguments[name].type
    if kind not in ("string", "integer") or (kind == "string" and isinstance(value, str)):
        return value
    if kind == "integer":
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", value):
            return int(value)
    raise _misuse(f"{name} must be {'an integer' if kind == 'integer' else 'a string'}", usage)


def _misuse(fault: str, usage: Usage) -> ActionError:
    return ActionError(f"{usage.title} was not performed: {fault}. Its input looks like this:\n{usage.template()}")
