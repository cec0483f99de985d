"""The one action space: what an agent can do in its workspace, and what it observes.

Actions work in any sandbox, in a run or as tools of Inspect. Each gives back a typed observation, whose text is what a
language model reads; an action that cannot be done says why.
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
