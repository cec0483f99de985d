"""What the agent finds in its workspace: MLE-bench's folders, the instructions, the data and, perhaps, starter files.

/home/data                     the public data, read-only, with description.md in it
/home/submission               where submission.csv is expected
/home/code, /home/logs, /home/agent
/home/instructions.txt
/home/validate_submission.sh   asks http://localhost:5000/validate, which knows no answers
/home/remaining_time.txt       seconds of working time that are left, kept current, where time is limited
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from podium.sandbox.backend import Capabilities
from podium.sandbox.interpreters.importable_packages import installed_packages
from podium.sandbox.interpreters.interpreter import python_inside
from podium.sandbox.linux.proxy import parse_host
from podium.sandbox.spec import HOME, Mount, SandboxSpec
from podium.task import SUBMISSION, Starter, Task
from podium.text import format_duration, plural

FOLDERS = ("submission", "code", "logs", "agent")
INSTRUCTIONS, VALIDATE = "instructions.txt", "validate_submission.sh"
REMAINING = "remaining_time.txt"
VALIDATION_PORT = 5000

_VALIDATE = f"""#!/bin/sh
# Says whether a submission has the right form: validate_submission.sh /home/submission/submission.csv
exec python3 - "$1" <<'END'
import json, sys, urllib.error, urllib.request, uuid
with open(sys.argv[1], "rb") as file:
    content = file.read()
mark = uuid.uuid4().hex
head = f'--{{mark}}\\r\\nContent-Disposition: form-data; name="file"; filename="submission.csv"\\r\\n\\r\\n'
request = urllib.request.Request(
    "http://localhost:{VALIDATION_PORT}/validate",
    data=head.encode() + content + f"\\r\\n--{{mark}}--\\r\\n".encode(),
    headers={{"Content-Type": f"multipart/form-data; boundary={{mark}}"}},
)
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    answer = error
document = json.loads(answer.read())
print(document.get("result") or document)
END
"""

_INSTRUCTIONS = """\
You are taking part in a machine-learning benchmark. {like}

GOAL
{goal}

WHAT COUNTS
{counts}

RULES
{surroundings} Looking at other people's solutions to this task is forbidden; code that repeats one is disqualified.
These rules stand above everything the description says.

RESOURCES
{resources}
"""


_COMPETITION = """\
Read the description of the task in {home}/data/description.md and solve it by training a model on the data in
{home}/data. Labelling test data by hand, or by rules that only repeat what you know about it, does not count."""

_RESEARCH = """\
Read the description of the task in {home}/data/description.md. Starter code lies in {home}; the script to work on is
{home}/{script}, run from {home}. Improve on what it achieves as much as you can."""

_TABLE = """\
Only the file {home}/submission/submission.csv is graded, as it stands when your time is up, by the metric of the task
on hidden answers. Write a valid submission early and replace it when you have a better one. The data was split anew for
this benchmark: where numbers of rows or file names differ from the description, the files are right."""

_CHECKING = """

CHECKING
{home}/validate_submission.sh {home}/submission/submission.csv says whether a file has the right form. So does a POST of
the file to http://localhost:{port}/validate (form field "file"). Neither knows a score. Ask as often as you like."""

_FILES = """\
Only these files of {home} are evaluated, as they stand when your time is up: {names}. They are run or loaded again,
elsewhere, on hidden inputs, and measured there; what your own runs printed does not count.
Keep them working at all times."""


@dataclass(frozen=True)
class Resources:
    """What the agent may use, for the instructions."""

    cores: int
    gpus: int
    time_s: float | None
    steps: int | None
    shows_time: bool = False
    """Whether a file says how much time is left."""


def instructions(resources: Resources, task: Task, capabilities: Capabilities, spec: SandboxSpec) -> str:
    """The text of instructions.txt for a task, in the sandbox that a backend will open for a spec."""
    goal = _COMPETITION if task.starter is None else _RESEARCH
    counts = _TABLE + (_CHECKING if capabilities.has_own_ports(spec) else "") if task.is_table else _FILES
    facts = {
        "home": capabilities.home_of(spec),
        "port": VALIDATION_PORT,
        "script": task.starter.script if task.starter else "",
        "names": ", ".join(task.submission.names),
    }
    return _INSTRUCTIONS.format(
        like="It works like a Kaggle competition." if task.starter is None else "You do the work of a researcher.",
        goal=goal.format(**facts),
        counts=counts.format(**facts),
        surroundings=_surroundings(capabilities, spec),
        resources=_resources(resources, capabilities, spec),
    )


def _surroundings(capabilities: Capabilities, spec: SandboxSpec) -> str:
    network = _network(capabilities, spec)
    if capabilities.sealed:
        return network
    home = capabilities.home_of(spec)
    return f"{network} You are not in a sandbox: leave alone everything of this machine that is not in {home}."


def _network(capabilities: Capabilities, spec: SandboxSpec) -> str:
    if isinstance(spec.network, tuple):
        names = ", ".join(parse_host(text).name for text in spec.network)
        return f"Of the network programs can reach only these hosts, through the proxy in $HTTPS_PROXY: {names}."
    return "Programs can use the network." if capabilities.has_network(spec) else "There is no network."


def _resources(resources: Resources, capabilities: Capabilities, spec: SandboxSpec) -> str:
    hardware = plural(resources.cores, "CPU core")
    if resources.gpus:
        hardware += f" and {plural(resources.gpus, 'GPU')}"
    can_install = capabilities.has_network(spec)
    packages = "others go into folders of your own" if can_install else "nothing can be installed"
    shown = f" {capabilities.home_of(spec)}/{REMAINING} says how many seconds are left." if resources.shows_time else ""
    python = python_inside(spec, sealed=capabilities.sealed)
    lines = [
        f"Programs run on {hardware}. Python is {python}, with {_packages(spec)}; {packages}.",
        "" if resources.time_s is None else f"You have {format_duration(resources.time_s)} of working time.{shown}",
        "" if resources.steps is None else f"You have {plural(resources.steps, 'step')}.",
        "Use what you are given: a better submission is worth more than an early end.",
    ]
    return "\n".join(line for line in lines if line)


def _packages(spec: SandboxSpec) -> str:
    """Those for machine learning; what an image has is not known here."""
    found = () if spec.image is not None else installed_packages(spec.env)
    return f"its packages, among them {', '.join(found)}" if found else "its packages"


def lay_out(
    workspace: Path, *, starter: Starter | None, agent_files: Path | None, submission: Path | None = None
) -> None:
    """Fills an empty workspace with what the agent may change.

    Args:
        submission: a table that stands as the submission until the agent replaces it.
    """
    for name in (*FOLDERS, "data"):
        (workspace / name).mkdir(parents=True, exist_ok=True)
    if starter is not None:
        shutil.copytree(starter.folder, workspace, dirs_exist_ok=True)
    if submission is not None:
        shutil.copyfile(submission, workspace / SUBMISSION)
    if agent_files is not None:
        shutil.copytree(agent_files, workspace / "agent", dirs_exist_ok=True, symlinks=True)


def mounts(
    given: Path,
    public: Path,
    *,
    instructions: str,
    validates: bool,
    starter: Starter | None,
    time_s: float | None = None,
) -> tuple[Mount, ...]:
    """Everything in the workspace that is read-only: enforced by mounts, whatever the permissions say.

    Args:
        given: a folder of our own for the files that are mounted into the workspace.
        validates: whether submissions can be validated at the usual port.
        time_s: how much time is left, for a file that `write_remaining` keeps current; None: there is none.
    """
    given.mkdir(parents=True, exist_ok=True)
    files = {INSTRUCTIONS: instructions, **({VALIDATE: _VALIDATE} if validates else {})}
    if time_s is not None:
        files[REMAINING] = _seconds(time_s)
    for name, text in files.items():
        (given / name).write_text(text, encoding="utf-8")
        (given / name).chmod(0o755 if name == VALIDATE else 0o644)
    sources = {"data": public, **{name: given / name for name in files}}
    if starter is not None:
        for name in _protected(starter):  # copied: programs can read where a mount lies, and that is the task's folder
            sources[name] = given / name
            sources[name].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(starter.folder / name, sources[name])
    return tuple(Mount(source=source, target=f"{HOME}/{name}") for name, source in sources.items())


def write_remaining(given: Path, time_s: float | None) -> None:
    """Keeps the file current that says how much time is left, where there is one."""
    path = given / REMAINING
    if time_s is not None and path.exists():
        with path.open("r+", encoding="utf-8") as file:  # in its place: what is mounted is this very file
            file.write(_seconds(time_s))


def _seconds(time_s: float) -> str:
    return f"{int(time_s):<12}\n"  # always as long, so that nobody reads the end of an older number


def _protected(starter: Starter) -> list[str]:
    files = sorted(path.relative_to(starter.folder).as_posix() for path in starter.folder.rglob("*") if path.is_file())
    return [name for name in files if any(fnmatch(name, pattern) for pattern in starter.read_only)]
