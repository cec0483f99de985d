"""Instructions: the text that an agent reads first, /home/instructions.txt."""

from __future__ import annotations

from dataclasses import dataclass

from podium.sandbox.backend import Capabilities
from podium.sandbox.interpreters.importable_packages import installed_packages
from podium.sandbox.interpreters.interpreter import python_inside
from podium.sandbox.linux.proxy import parse_host
from podium.sandbox.spec import SandboxSpec
from podium.task import Task
from podium.text import format_duration, plural
from podium.workspace.layout import REMAINING_TIME, VALIDATION_PORT

_INSTRUCTIONS = """\
You are taking part in a machine-learning benchmark. {role}

GOAL
{goal}

GRADING
{grading}

RULES
{surroundings}
Do not look at other people's solutions to this task; submissions that reproduce one are disqualified.
These rules take precedence over everything in the task description.

RESOURCES
{resources}
"""


_COMPETITION = """\
Read the task description in {home}/data/description.md and solve the task by training a model on the data in
{home}/data. Predictions made by hand, or by rules that only encode what you know about the test data, do not count."""

_RESEARCH = """\
Read the task description in {home}/data/description.md. The starter code is in {home}; the script to work on is
{home}/{script}, which is run from {home}. Improve on its result as much as you can."""

_TABLE = """\
Only the file {home}/submission/submission.csv is graded, as it is when your time is up, by the metric of the task on
hidden answers. Write a valid submission early, and replace it whenever you have a better one. The data was split anew
for this benchmark: where row counts or file names differ from the description, the files are correct."""

_VALIDATION = """

VALIDATION
Run {home}/validate_submission.sh {home}/submission/submission.csv to check the format of a submission, or POST the file
to http://localhost:{port}/validate (form field "file"). Neither reveals a score. Use them as often as you like."""

_FILES = """\
Only these files in {home} are graded, as they are when your time is up: {names}. They are run or loaded again outside
this workspace, on hidden inputs, and measured there; results that your own runs print do not count.
Keep these files working at all times."""


@dataclass(frozen=True)
class Resources:
    """Resources of the agent, for the instructions."""

    cores: int
    gpus: int
    time_s: float | None
    steps: int | None
    shows_time: bool = False
    """True if a file shows the remaining time."""


def write_instructions(resources: Resources, task: Task, capabilities: Capabilities, spec: SandboxSpec) -> str:
    """Return the text of instructions.txt for a task, in the sandbox that a backend opens for a spec."""
    goal = _COMPETITION if task.starter is None else _RESEARCH
    grading = _TABLE + (_VALIDATION if capabilities.has_own_ports(spec) else "") if task.is_table else _FILES
    facts = {
        "home": capabilities.home_of(spec),
        "port": VALIDATION_PORT,
        "script": task.starter.script if task.starter else "",
        "names": ", ".join(task.submission.names),
    }
    return _INSTRUCTIONS.format(
        role="It works like a Kaggle competition." if task.starter is None else "Your role is that of a researcher.",
        goal=goal.format(**facts),
        grading=grading.format(**facts),
        surroundings=_surroundings(capabilities, spec),
        resources=_resources(resources, capabilities, spec),
    )


def _surroundings(capabilities: Capabilities, spec: SandboxSpec) -> str:
    network = _network(capabilities, spec)
    if capabilities.sealed:
        return network
    home = capabilities.home_of(spec)
    return f"{network} You are not in a sandbox: do not touch anything on this machine outside {home}."


def _network(capabilities: Capabilities, spec: SandboxSpec) -> str:
    if isinstance(spec.network, tuple):
        names = ", ".join(parse_host(text).name for text in spec.network)
        return f"Network access is limited to these hosts, through the proxy in $HTTPS_PROXY: {names}."
    return "You have network access." if capabilities.has_network(spec) else "There is no network access."


def _resources(resources: Resources, capabilities: Capabilities, spec: SandboxSpec) -> str:
    hardware = plural(resources.cores, "CPU core")
    if resources.gpus:
        hardware += f" and {plural(resources.gpus, 'GPU')}"
    lines = [
        f"Programs run on {hardware}.",
        _python(capabilities, spec),
        "" if resources.time_s is None else f"You have {format_duration(resources.time_s)} of working time.",
        f"{capabilities.home_of(spec)}/{REMAINING_TIME} shows the remaining seconds." if resources.shows_time else "",
        "" if resources.steps is None else f"You have {plural(resources.steps, 'step')}.",
        "Make full use of your resources: a better submission is worth more than an early finish.",
    ]
    return "\n".join(line for line in lines if line)


def _python(capabilities: Capabilities, spec: SandboxSpec) -> str:
    """Describe the interpreter and its machine-learning packages; those of a container image are unknown."""
    names = () if spec.image is not None else installed_packages(spec.env)
    return " ".join(
        [
            f"The Python interpreter is {python_inside(spec, sealed=capabilities.sealed)}.",
            *([f"Its packages include {', '.join(names)}."] if names else []),
            "You can install packages into folders of your own."
            if capabilities.has_network(spec)
            else "No other packages can be installed.",
        ]
    )
