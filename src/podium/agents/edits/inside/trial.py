"""Trial of a changed program in a separate folder. Runs in the sandbox, where Podium is not installed.

    python agent/trial.py try SCRIPT FILE SECONDS < NEW_FILE                     run SCRIPT with FILE changed
    python agent/trial.py try SCRIPT FILE SECONDS --examples JSON < NEW_FILE     and score it on examples
    python agent/trial.py keep NAME...                                           copy files from the last trial

The folder is a fresh copy of the workspace for each trial. It is outside the workspace, because every file in there may
be submitted. The exit code is the program's.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path.cwd()
TRIAL = Path(
    tempfile.gettempdir(), "podium-trial" + "".join(letter if letter.isalnum() else "-" for letter in str(HERE))
)
LEFT_OUT = ("agent", "code", "data", "logs", "submission", "instructions.txt", "validate_submission.sh", "__pycache__")
MAX_EXAMPLES = 20


def try_file(script: str, file: str, seconds: str, *further: str) -> None:
    ends = time.monotonic() + float(seconds)
    fill_folder()
    (TRIAL / file).parent.mkdir(parents=True, exist_ok=True)
    (TRIAL / file).write_text(sys.stdin.read(), encoding="utf-8")
    started = time.monotonic()
    code = run([script], ends)
    print(f"podium-seconds: {time.monotonic() - started:.2f}", file=sys.stderr)
    if not code and further[:1] == ("--examples",):
        scores = scores_of_examples(script, json.loads(further[1]), ends)
        print("scores:", *(f"{score:.6f}" for score in scores))
        print(f"examples: {sum(scores) / len(scores):.6f}")
    sys.exit(code)


def keep(*names: str) -> None:
    """Replace the program in the workspace with the changed one, and copy its output files."""
    for name in names:
        if (TRIAL / name).is_dir():
            shutil.copytree(TRIAL / name, HERE / name, dirs_exist_ok=True)
        elif (TRIAL / name).exists() or name == names[0]:
            shutil.copyfile(TRIAL / name, HERE / name)


def fill_folder() -> None:
    shutil.rmtree(TRIAL, ignore_errors=True)
    TRIAL.mkdir(parents=True)
    for entry in HERE.iterdir():
        if entry.name.startswith(".") or entry.name in LEFT_OUT:
            continue
        if entry.is_dir():
            shutil.copytree(entry, TRIAL / entry.name)
        else:
            shutil.copy2(entry, TRIAL / entry.name)
    (TRIAL / "data").symlink_to(HERE / "data")
    (TRIAL / "submission").mkdir()


def run(arguments: list[str], ends: float, output: int | None = None) -> int:
    sys.stdout.flush()
    try:
        left_s = max(1.0, ends - time.monotonic())
        return subprocess.run([sys.executable, *arguments], cwd=TRIAL, timeout=left_s, stdout=output).returncode
    except subprocess.TimeoutExpired:
        print("The program exceeded its time limit and was stopped.", file=sys.stderr)
        return 124


def scores_of_examples(script: str, spec: dict[str, Any], ends: float) -> list[float]:
    """Return the F1 score of the names in the program's output for each example."""
    known = {str(json.loads(line)["id"]) for line in Path(spec["catalogue"]).read_text(encoding="utf-8").splitlines()}
    cases = [json.loads(line) for line in Path(spec["examples"]).read_text(encoding="utf-8").splitlines()]
    scores = []
    for case in cases[:MAX_EXAMPLES]:
        given = case[spec["input"]]
        arguments, outputs = fill_arguments(spec["arguments"], given if isinstance(given, str) else " ".join(given))
        if run([script, *arguments], ends, subprocess.DEVNULL):
            sys.exit(1)
        written = "\n".join((TRIAL / name).read_text(encoding="utf-8") for name in outputs if (TRIAL / name).exists())
        found = known & set(re.findall(r"\w+(?:[-.:/]\w+)*", written))
        wanted = set(flat(case[spec["expected"]]))
        scores.append(2 * len(found & wanted) / (len(found) + len(wanted)) if found or wanted else 1.0)
    return scores


def fill_arguments(arguments: list[str | None], given: str) -> tuple[list[str], list[str]]:
    """Return the program's arguments, the first of which is its input, and the files that it will write."""
    first, outputs = arguments[0], [str(name) for name in arguments[1:]]
    if first is not None:
        (TRIAL / first).write_text(given, encoding="utf-8")
    return [given if first is None else first, *outputs], outputs


def flat(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [name for inner in value for name in flat(inner)]


if __name__ == "__main__":
    (keep if sys.argv[1] == "keep" else try_file)(*sys.argv[2:])
