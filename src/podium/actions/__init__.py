"""The action space: the actions an agent can take in its workspace and the observations they return.

Actions work in any sandbox, in a run or as Inspect tools. Each returns a typed observation, whose `text` is what a
language model reads; an action that cannot be performed returns the reason.
"""

from podium.actions.action_context import ActionContext, CheckSubmission, Person
from podium.actions.action_space import ACTIONS, offered, perform, tools
from podium.actions.action_spec import ActionError, ActionSpec, Argument, action
from podium.actions.final_answer import ask_operator
from podium.actions.program_runner import RunProgram, run_in_sandbox

__all__ = [
    "ACTIONS",
    "ActionContext",
    "ActionError",
    "ActionSpec",
    "Argument",
    "CheckSubmission",
    "Person",
    "RunProgram",
    "action",
    "ask_operator",
    "offered",
    "perform",
    "run_in_sandbox",
    "tools",
]
