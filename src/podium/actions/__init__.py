"""MLAgentBench's action space as Inspect tools: what an agent can do in its workspace, and what it observes.

They work in any sandbox. Everything an action has to say is text, its failures too: see `observation.py`.
"""

from podium.actions.asking import Role
from podium.actions.catalog import ACTIONS, Argument, Usage, actions, perform, usage_of
from podium.actions.editing import edit_script, edit_script_segment
from podium.actions.execution import Execution, Executor, execute_script, sandbox_executor
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
from podium.actions.observation import ActionError, bounded
from podium.actions.people import Person, ask_operator, final_answer, request_help
from podium.actions.session import python_session
from podium.actions.understanding import understand_file

__all__ = [
    "ACTIONS",
    "ActionError",
    "Argument",
    "Execution",
    "Executor",
    "Person",
    "Role",
    "Usage",
    "Workspace",
    "actions",
    "append_file",
    "append_summary_to_research_log",
    "ask_operator",
    "bounded",
    "copy_file",
    "edit_script",
    "edit_script_segment",
    "execute_script",
    "final_answer",
    "inspect_script_lines",
    "list_files",
    "perform",
    "python_session",
    "read_file",
    "reflection",
    "request_help",
    "retrieval_from_research_log",
    "sandbox_executor",
    "understand_file",
    "undo_edit_script",
    "usage_of",
    "write_file",
]
