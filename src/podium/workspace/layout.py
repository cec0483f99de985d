"""What the agent finds in its workspace: MLE-bench's folders, the instructions, the data and, perhaps, starter files.

/home/data                     the public data, read-only, with description.md in it
/home/submission               where submission.csv is expected
/home/code, /home/logs, /home/agent
/home/instructions.txt
/home/validate_submission.sh   asks http://localhost:5000/validate, which knows no answers
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from podium.sandbox.policy import HOME, Mount
from podium.task import Starter, Task
from podium.text import format_duration, plural

SUBMISSION = "submission/submission.csv"
FOLDERS = ("submission", "code", "logs", "agent")
GIVEN = ("instructions.txt", "validate_submission.sh")
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
You are taking part in an offline machine-learning benchmark. {like}

GOAL
{goal}

WHAT COUNTS
{counts}

RULES
There is no network. Looking at other people's solutions to this task is forbidden; code that repeats one is
disqualified. These rules stand above everything the description says.

MEANS
{means}
"""


_COMPETITION = """\
Read the description of the task in {home}/data/description.md and solve it by training a model on the data in
{home}/data. Labelling test data by hand, or by rules that only repeat what you know about it, does not count."""

_RESEARCH = """\
Read the description of the task in {home}/data/description.md. Starter code lies in {home}; the script to work on is
{home}/{script}, run from {home}. Improve on what it achieves as much as you can."""

_TABLE = """\
Only the file {home}/submission/submission.csv is graded, as it stands when your time is up, by the metric of the task
on answers that are not on this machine. Write a valid submission early and replace it when you have a better one.
The data was split anew for this benchmark: where numbers of rows or file names differ from the description, the files
are right.

CHECKING
{home}/validate_submission.sh {home}/submission/submission.csv says whether a file has the right form. So does a POST of
the file to http://localhost:{port}/validate (form field "file"). Neither knows a score. Ask as often as you like."""

_FILES = """\
Only these files of {home} are evaluated, as they stand when your time is up: {names}. They are run or loaded again,
elsewhere, on inputs that are not on this machine, and measured there; what your own runs printed does not count.
Keep them working at all times."""


@dataclass(frozen=True)
class Resources:
    """What the agent may use, for the instructions."""

    cores: int
    gpus: int
    time_s: float | None
    steps: int | None
    python: str


def instructions(resources: Resources, task: Task, home: str = HOME) -> str:
    """The text of instructions.txt for a task, in a workspace that programs see at `home`."""
    hardware = plural(resources.cores, "CPU core")
    if resources.gpus:
        hardware += f" and {plural(resources.gpus, 'GPU')}"
    lines = [
        f"Programs run on {hardware}. Python is {resources.python}, with its packages; nothing can be installed.",
        "" if resources.time_s is None else f"You have {format_duration(resources.time_s)} of working time.",
        "" if resources.steps is None else f"You have {plural(resources.steps, 'step')}.",
        "Use what you are given: a better submission is worth more than an early end.",
    ]
    goal = _COMPETITION if task.starter is None else _RESEARCH
    counts = _TABLE if task.is_table else _FILES
    facts = {
        "home": home,
        "port": VALIDATION_PORT,
        "script": task.starter.script if task.starter else "",
        "names": ", ".join(task.submission.names),
    }
    return _INSTRUCTIONS.format(
        like="It works like a Kaggle competition." if task.starter is None else "You do the work of a researcher.",
        goal=goal.format(**facts),
        counts=counts.format(**facts),
        means="\n".join(line for line in lines if line),
    )


def lay_out(workspace: Path, *, starter: Starter | None, agent_files: Path | None) -> None:
    """Fills an empty workspace with what the agent may change."""
    for name in (*FOLDERS, "data"):
        (workspace / name).mkdir(parents=True, exist_ok=True)
    for name in GIVEN:
        (workspace / name).touch()  # to mount ours on
    if starter is not None:
        shutil.copytree(starter.folder, workspace, dirs_exist_ok=True)
    if agent_files is not None:
        shutil.copytree(agent_files, workspace / "agent", dirs_exist_ok=True, symlinks=True)


def mounts(workspace: Path, given: Path, public: Path, *, instructions: str, starter: Starter | None) -> list[Mount]:
    """The workspace and everything in it that is read-only: enforced by mounts, whatever the permissions say.

    Args:
        given: a folder of our own for the files that are mounted into the workspace.
    """
    given.mkdir(parents=True, exist_ok=True)
    for name, text in zip(GIVEN, (instructions, _VALIDATE), strict=True):
        (given / name).write_text(text, encoding="utf-8")
        (given / name).chmod(0o755 if name.endswith(".sh") else 0o644)
    found = [Mount(source=workspace, target=HOME, writable=True), Mount(source=public, target=f"{HOME}/data")]
    found += [Mount(source=given / name, target=f"{HOME}/{name}") for name in GIVEN]
    return found + [
        Mount(source=starter.folder / name, target=f"{HOME}/{name}")
        for starter in ([starter] if starter else [])
        for name in _protected(starter)
    ]


def _protected(starter: Starter) -> list[str]:
    files = sorted(path.relative_to(starter.folder).as_posix() for path in starter.folder.rglob("*") if path.is_file())
    return [name for name in files if any(fnmatch(name, pattern) for pattern in starter.read_only)]
