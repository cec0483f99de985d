"""Layout of the agent's workspace: MLE-bench's folders, the instructions, the data and any starter files.

/home/data                     the public data with description.md, read-only
/home/submission               the folder for submission.csv
/home/code, /home/logs, /home/agent
/home/instructions.txt
/home/validate_submission.sh   checks a submission by http://localhost:5000/validate, without access to the answers
/home/remaining_time.txt       remaining working time in seconds, kept up to date, if time is limited
"""

from __future__ import annotations

import shutil
from fnmatch import fnmatch
from pathlib import Path

from podium.sandbox.spec import HOME, Mount
from podium.task import SUBMISSION, Starter

FOLDERS = ("submission", "code", "logs", "agent")
INSTRUCTIONS, VALIDATE = "instructions.txt", "validate_submission.sh"
REMAINING_TIME = "remaining_time.txt"
VALIDATION_PORT = 5000

_VALIDATE = f"""#!/bin/sh
# Checks the format of a submission: validate_submission.sh /home/submission/submission.csv
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


def populate_workspace(
    workspace: Path, *, starter: Starter | None, agent_files: Path | None, submission: Path | None = None
) -> None:
    """Fill an empty workspace with the folders and files that the agent may change.

    Args:
        submission: an initial submission, which the agent may replace.
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
    mount_folder: Path,
    public: Path,
    *,
    instructions: str,
    validates: bool,
    starter: Starter | None,
    time_s: float | None = None,
) -> tuple[Mount, ...]:
    """Return the read-only mounts of the workspace, which hold regardless of file permissions.

    Args:
        mount_folder: folder outside the workspace for the files that are mounted into it.
        validates: whether submissions can be validated at `VALIDATION_PORT`.
        time_s: remaining time, for a file that `write_remaining` updates; None for no such file.
    """
    mount_folder.mkdir(parents=True, exist_ok=True)
    files = {INSTRUCTIONS: instructions, **({VALIDATE: _VALIDATE} if validates else {})}
    if time_s is not None:
        files[REMAINING_TIME] = _seconds(time_s)
    for name, text in files.items():
        (mount_folder / name).write_text(text, encoding="utf-8")
        (mount_folder / name).chmod(0o755 if name == VALIDATE else 0o644)
    sources = {"data": public, **{name: mount_folder / name for name in files}}
    if starter is not None:
        for name in _protected(starter):  # copied: programs can see where a mount comes from
            sources[name] = mount_folder / name
            sources[name].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(starter.folder / name, sources[name])
    return tuple(Mount(source=source, target=f"{HOME}/{name}") for name, source in sources.items())


def write_remaining(mount_folder: Path, time_s: float | None) -> None:
    """Update the file with the remaining time, if there is one."""
    path = mount_folder / REMAINING_TIME
    if time_s is not None and path.exists():
        with path.open("r+", encoding="utf-8") as file:  # in place: this very file is mounted
            file.write(_seconds(time_s))


def _seconds(time_s: float) -> str:
    return f"{int(time_s):<12}\n"  # fixed width, so that a reader never sees the end of an older number


def _protected(starter: Starter) -> list[str]:
    files = sorted(path.relative_to(starter.folder).as_posix() for path in starter.folder.rglob("*") if path.is_file())
    return [name for name in files if any(fnmatch(name, pattern) for pattern in starter.read_only)]
