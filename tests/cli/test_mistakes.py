"""User mistakes, one per line: command, exit code and the part of the message that shows the fix."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

import podium
from podium.cli import main
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan

TASK = "spaceship-titanic"
RUN = "done/spaceship-titanic/0"
TRY = f"run {TASK} --miniature"

MISTAKES = [
    # the command itself
    ("grdae", 2, "There is no command 'grdae'. Did you mean 'grade'?"),
    ("help", 2, "podium --help, or podium COMMAND --help"),
    ("--verison", 2, "Did you mean '--version'?"),
    ("tasks --sutie quick", 2, "'--suite'"),
    ("doctor extra", 2, "unexpected extra argument"),
    ("completion", 2, "Missing argument"),
    ("completion powershell", 2, "is not one of 'bash', 'zsh', 'fish'"),
    # tasks and their names
    ("tasks --suite quik", 2, "The suites are: quick,"),
    ("tasks --size huge", 2, "is not one of 'small', 'medium', 'large'"),
    ("tasks extra", 2, "unexpected extra argument"),
    ("tasks --tasks nowhere", 2, "Directory 'nowhere' does not exist"),
    ("tasks --tasks notes.txt", 2, "Directory 'notes.txt' is a file"),
    ("show", 2, "Missing argument 'TASK'"),
    ("show spaceship-titanik", 2, "Did you mean spaceship-titanic"),
    ("show quick", 2, "'quick' is a suite, not a task. Its tasks: podium tasks --suite quick"),
    ("show spaceship-titanic extra", 2, "unexpected extra argument"),
    ("show forge-tabular-7", 2, "is not the id of a forged task. Such ids have the form forge-FAMILY-DIFFICULTY"),
    ("show forge-nonsense-easy-1", 2, "There is no family 'nonsense'. The families are:"),
    ("show forge-graph-extreme-1", 2, "There is no difficulty 'extreme'. Use one of: easy, medium, hard"),
    ("show folder-0000", 2, "Make one with: podium run DIR --goal TEXT"),
    # preparing
    ("prepare", 2, "Missing argument 'TASK|SUITE...'"),
    ("prepare spaceship", 2, "Did you mean spaceship-titanic?"),
    (f"prepare {TASK} --raw nowhere", 1, "There is no folder nowhere. Pass the extracted download"),
    (f"prepare {TASK} --raw notes.txt", 1, "There is no folder notes.txt"),
    (f"prepare {TASK} --raw empty", 1, "The raw data lacks train.csv"),
    (f"prepare {TASK} --raw empty --miniature", 2, "--raw and --miniature cannot be combined"),
    (f"prepare {TASK} aerial-cactus-identification --raw empty", 2, "--raw is the download of one task"),
    (f"prepare {TASK} --edition fixed", 2, "has no edition 'fixed'. It has: v1"),
    (
        "prepare mlagentbench --edition v1",
        2,
        "There is no edition 'v1' of BabyLM, llama-inference. Name only the",
    ),
    (f"prepare {TASK} --edition v2", 2, "is not one of 'v1', 'fixed'"),
    (f"prepare {TASK} --miniature --jobs 0", 2, "0 is not in the range x>=1"),
    (f"prepare {TASK} --miniature --data-dir notes.txt", 2, "Directory 'notes.txt' is a file"),
    (f"prepare {TASK} --miniature --data-dir /proc/podium", 1, "/proc/podium: No such file or directory"),
    # validating
    ("validate", 2, "Missing argument 'TASK'"),
    (f"validate {TASK}", 2, "Missing argument 'FILE'"),
    (f"validate {TASK} nowhere.csv", 3, "There is no submission at nowhere.csv"),
    (f"validate {TASK} empty", 3, "empty is a folder; the submission must be a file"),
    (f"validate {TASK} empty.csv", 3, "empty.csv is empty (0 bytes)"),
    (f"validate {TASK} header.csv", 3, "has a header but no rows; 28 rows are expected"),
    (f"validate {TASK} columns.csv", 3, "Column 'Transported' is missing"),
    (f"validate {TASK} short.csv", 3, "26 ids are missing"),
    (f"validate {TASK} twice.csv", 3, "1 id occurs more than once"),
    (f"validate {TASK} values.csv", 3, "'maybe' is neither True nor False"),
    (f"validate {TASK} ids.csv", 3, "28 ids are missing"),
    (f"validate {TASK} binary.csv", 3, "Submission is invalid"),
    ("validate aerial-cactus-identification good.csv", 1, "Run: podium prepare aerial-cactus-identification"),
    ("validate spaceship-titanik good.csv", 2, "Did you mean spaceship-titanic"),
    ("validate vectorization good.csv", 1, "vectorization is not prepared"),
    # grading
    ("grade", 2, "Give either TASK and FILE, or --jsonl FILE and --out DIR"),
    (f"grade {TASK}", 2, "Give either TASK and FILE"),
    (f"grade {TASK} nowhere.csv", 0, "There is no submission at nowhere.csv"),
    (f"grade {TASK} columns.csv", 0, "Column 'Transported' is missing"),
    (f"grade {TASK} good.csv --edition fixed", 2, "has no edition 'fixed'"),
    ("grade aerial-cactus-identification good.csv", 1, "Run: podium prepare aerial-cactus-identification"),
    ("grade --jsonl nowhere.jsonl --out graded", 2, "File 'nowhere.jsonl' does not exist"),
    ("grade --jsonl notes.txt --out graded", 2, "line 1: expected a JSON object with 'competition_id'"),
    ("grade --jsonl empty.csv --out graded", 2, "lists no submissions"),
    ("grade --jsonl list.jsonl", 2, "--jsonl FILE and --out DIR"),
    ("grade --jsonl unknown.jsonl --out graded", 2, "Did you mean spaceship-titanic"),
    ("grade --jsonl unprepared.jsonl --out graded", 1, "Run: podium prepare aerial-cactus-identification"),
    # running: tasks and agents
    ("run", 2, "Missing argument 'TASK|SUITE...'"),
    ("run quik", 2, "Did you mean quick?"),
    (f"run {TASK}", 1, "Only the miniature of spaceship-titanic is prepared, which has fabricated data"),
    ("run aerial-cactus-identification", 1, "Run: podium prepare aerial-cactus-identification, or add --miniature"),
    (f"{TRY} --agent recipe", 2, "Did you mean 'recipes'?"),
    (f"{TRY} --agent aide", 2, "The agent 'aide' needs a model. Add --model"),
    (f"{TRY} --agent my.module:Agent", 2, "cannot be loaded from my.module:Agent"),
    (f"{TRY} --agent json:JSONDecoder", 2, "does not inherit from podium.agents.base.Agent"),
    ("run vectorization --miniature --agent recipes", 2, "this task requires files (train.py). Suitable agents:"),
    (f"{TRY} --agent command", 2, "The agent 'command' requires -A command=VALUE"),
    (f"{TRY} --agent command -A command=./nope", 1, "/home/agent is empty. Add a folder: -A files=DIR"),
    (
        f"{TRY} --agent command -A command=./nope -A files=empty",
        1,
        "./nope, but empty does not contain this file",
    ),
    (f"{TRY} --agent command -A command=x -A files=nowhere", 1, "The folder of -A files=nowhere does not exist"),
    (f"{TRY} --agent command -A command=x -A variables=FOO", 1, "'FOO' has no value. Write NAME=VALUE"),
    (f"{TRY} --agent command -A command=' '", 1, "-A command is empty. Set it to a shell command"),
    (f"{TRY} --agent scripted -A script=nowhere.json", 1, "-A script=nowhere.json is not a list of actions"),
    (f"{TRY} -A drafts", 2, "-A drafts: write NAME=VALUE"),
    (f"{TRY} -A drafts=3", 2, "has no option 'drafts'. Available options: parallel, nodes,"),
    (f"{TRY} -A nodes=many", 2, "-A nodes of the agent 'recipes' is invalid: Input should be a valid integer"),
    # running: models
    (f"{TRY} --agent aide --model gpt-4o", 1, "should be in the format of <api_name>/<model_name>"),
    (f"{TRY} --agent aide --model nobody/gpt", 1, "The model nobody/gpt cannot be used"),
    (f"{TRY} --agent aide --model openai-api/local/x", 1, "No LOCAL_API_KEY defined in the environment"),
    (f"{TRY} --agent aide --model mockllm/model --role coder", 2, "--role coder: write NAME=VALUE"),
    (f"{TRY} --agent aide --model mockllm/model --role cook=a/b", 2, "Available roles: coder, reviewer"),
    # running: budgets and the machine
    (f"{TRY} --time 5x", 2, "invalid duration '5x'. Write 90s, 30m, 24h or 2d"),
    (f"{TRY} --time -5", 2, "invalid duration '-5'"),
    (f"{TRY} --time 0", 2, "invalid duration '0': it must be more than 0"),
    (f"{TRY} --steps 0", 2, "0 is not in the range x>=1"),
    (f"{TRY} --steps many", 2, "'many' is not a valid integer"),
    (f"{TRY} --tokens -1", 2, "-1 is not in the range x>=1"),
    (f"{TRY} --cost free", 2, "'free' is not a valid float"),
    (f"{TRY} --cost -1", 2, "-1.0 is not in the range x>0"),
    (f"{TRY} --memory lots", 2, "invalid size 'lots'. Write 500M or 8G"),
    (f"{TRY} --memory 8", 2, "invalid size '8'"),
    (f"{TRY} --memory 900T", 1, "--memory 900 TiB: this machine has"),
    (f"{TRY} --disk 5X", 2, "invalid size '5X'"),
    (f"{TRY} --cores 0", 2, "0 is not in the range x>=1"),
    (f"{TRY} --cores 4000", 1, "--cores 4000: this machine has"),
    (f"{TRY} --gpus 64", 1, "--gpus 64: this machine has"),
    (f"{TRY} --gpus 64 --cores 4000", 1, "Fix 2 problems first:"),
    (f"{TRY} --dry-run --gpus 64", 1, "--gpus 64: this machine has"),
    (f"{TRY} --seeds 0", 2, "0 is not in the range x>=1"),
    (f"{TRY} --parallel 0", 2, "0 is not in the range x>=1"),
    (f"{TRY} --sandbox jail", 2, "There is no backend 'jail'. The backends are: bubblewrap, docker, none"),
    (f"{TRY} --env nowhere", 2, "Pass the folder of a virtual or conda environment"),
    (f"{TRY} --env notes.txt", 2, "there is no Python environment"),
    (f"{TRY} --edition fixed", 2, "has no edition 'fixed'. It has: v1"),
    (
        "run mlagentbench --agent baseline --edition v1",
        2,
        "There is no edition 'v1' of BabyLM, llama-inference. Name only the others",
    ),
    (f"{TRY} --key notes.txt", 2, "--key requires --register BOARD"),
    (f"integrity audit {TASK} --edition fixed", 2, "has no edition 'fixed'. It has: v1"),
    # running: where it goes
    (f"{TRY} --out notes.txt", 2, "Directory 'notes.txt' is a file"),
    (f"{TRY} --out full", 2, "full is not an experiment: it has files but no experiment.json. Choose another --out"),
    (f"{TRY} --out /proc/podium", 1, "hoose another with --out"),
    (
        f"{TRY} --out begun --agent recipes",
        2,
        "was started with other settings (agent: baseline before, recipes now)",
    ),
    # running: folders with code
    ("run empty", 2, "empty is a folder. Add a goal and a score: --goal TEXT --score NAME"),
    (
        "run empty --goal Better --score accuracy",
        2,
        "no train.py in empty. Name the script to run with --script",
    ),
    ("run code --goal Better", 2, "The task needs a score: use either --score NAME"),
    ("run code --goal Better --script x.py --score a", 2, "There is no x.py in code."),
    ("run code full --goal Better --score a", 2, "--goal requires exactly one folder with code"),
    ("run notes.txt --goal Better --score a", 2, "notes.txt is not one"),
    ("run code --goal Better --answers nowhere.csv --metric rmse", 2, "File 'nowhere.csv' does not exist"),
    ("run code --goal Better --answers good.csv", 2, "--answers FILE with --metric NAME"),
    ("run code --goal Better --answers good.csv --metric best", 2, "There is no metric 'best'. The metrics are:"),
    (f"{TRY} --score accuracy", 2, "--score requires --goal"),
    # continuing
    ("resume", 2, "Missing argument 'DIR'"),
    ("resume nowhere", 2, "nowhere is not an experiment: it has no experiment.json"),
    ("resume begun --agent aide", 2, "No such option '--agent'"),
    ("resume begun --role fast=a/b", 2, "has no role 'fast'. Available roles: none"),
    ("resume begun --time soon", 2, "invalid duration 'soon'"),
    ("resume damaged", 1, "damaged/experiment.json is damaged"),
    ("baseline spaceship-titanic", 2, "it has no starter code"),
    ("baseline vectorization", 1, "Run: podium prepare vectorization, or add --miniature"),
    ("agents nobody", 2, "There is no agent 'nobody'. The agents are:"),
    ("agents --json react", 2, "Put --json at the end"),
    ("shell nowhere", 2, "nowhere is not a run: it has no steps.jsonl. Runs are at EXPERIMENT/TASK/SEED"),
    (f"shell {RUN}", 2, "done/spaceship-titanic/0 is not in progress"),
    # looking at results
    ("steps", 2, "Missing argument 'RUN'"),
    ("steps nowhere", 2, "nowhere is not a run"),
    ("steps done", 2, "done is an experiment, not a run. Its runs: done/spaceship-titanic/0"),
    (f"steps {RUN} 99", 2, "has 1 step; step 99 does not exist"),
    (f"steps {RUN} 0", 2, "0 is not in the range x>=1"),
    (f"steps {RUN} --diff", 2, "Give the number of a step: podium steps done/spaceship-titanic/0 NUMBER"),
    (f"steps {RUN} 1 --since 0", 2, "--since requires --diff"),
    (f"steps {RUN} 1 --diff --fork other", 2, "--diff and --fork cannot be combined"),
    (f"steps {RUN} 1 --diff --json", 2, "--json and --diff cannot be combined"),
    (f"steps {RUN} 1 --restore done", 2, "done already exists. Choose a new folder"),
    (f"steps {RUN} 1 --fork done", 2, "done already exists. Choose a new folder"),
    ("verify nowhere", 2, "nowhere is not a run"),
    ("verify notes.txt", 2, "notes.txt is not a run"),
    ("report", 2, "Missing argument 'EXP...'"),
    ("report nowhere", 2, "nowhere is not an experiment"),
    ("report done --suite quik", 2, "The suites are: quick,"),
    ("report done --html done", 2, "File 'done' is a directory"),
    ("compare done", 2, "Missing argument 'B'"),
    ("compare done nowhere", 2, "nowhere is not an experiment"),
    ("compare done begun", 2, "share no task with an ended run on both sides"),
    ("view nowhere", 2, "nowhere"),
    ("view done --port 99999", 2, "99999 is not in the range"),
    # making tasks, taking over results
    ("forge", 2, "Give a FAMILY"),
    ("forge tabular", 2, "The families are: tabular-classification,"),
    ("forge graph --difficulty extreme", 2, "Use one of: easy, medium, hard"),
    ("forge graph --seed x", 2, "'x' is not a valid integer"),
    ("forge graph --from-secret nonsense", 2, "secret"),
    ("new-task trees --from nowhere.csv --target y", 2, "nowhere.csv"),
    ("new-task trees --from good.csv --target y", 2, "'y'"),
    (
        "new-task trees --from good.csv --target Transported --group nobody",
        2,
        "--group nobody: there is no such",
    ),
    ("forge --from nowhere.csv", 2, "nowhere.csv"),
    ("forge --from good.csv --seed 3", 2, "--from makes a task from data"),
    ("forge graph --target y", 2, "--target requires --from DATA"),
    ("new-task spaceship-titanic --from good.csv --target Transported", 2, "is the name of a built-in task or suite"),
    ("new-task ../trees --from good.csv --target Transported", 2, "is not a valid task id"),
    ("import nowhere", 2, "Path 'nowhere' does not exist"),
    ("import bad.json", 2, "bad.json is not an MLE-bench grading report"),
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder with a prepared miniature, submissions good and bad, and an experiment that was run."""
    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch, chdir(folder):
        patch.setenv("PODIUM_HOME", str(folder / "home"))
        for name in [name for name in os.environ if name.endswith("_API_KEY")]:
            patch.delenv(name)
        public = podium.prepare(TASK, miniature=True).place.public
        head, *rows = (public / "sample_submission.csv").read_text(encoding="utf-8").splitlines()
        for name in ("empty", "code", "full", "damaged"):
            Path(name).mkdir()
        tables = {
            "good": [head, *rows],
            "header": [head],
            "short": [head, *rows[:2]],
            "twice": [head, *rows, rows[0]],
            "values": [head, *(f"{row.partition(',')[0]},maybe" for row in rows)],
            "ids": [head, *(f"x{row}" for row in rows)],
            "columns": ["PassengerId,Transportd", rows[0]],
        }
        files = {f"{name}.csv": "\n".join(lines) + "\n" for name, lines in tables.items()}
        files |= {"empty.csv": "", "notes.txt": "hello\n", "bad.json": "{}", "damaged/experiment.json": "{"}
        files |= {"full/x": "", "code/train.py": "print('accuracy: 0.5')\n"}
        for name, task in (
            ("list", TASK),
            ("unknown", "spaceship-titanik"),
            ("unprepared", "aerial-cactus-identification"),
        ):
            files[f"{name}.jsonl"] = json.dumps({"competition_id": task, "submission_path": "good.csv"})
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        Path("binary.csv").write_bytes(bytes(range(256)))
        open_experiment(Path("begun"), Plan(agent="baseline", miniature=True), [TASK], 1)
        podium.run(TASK, agent="baseline", miniature=True, sandbox="none", out="done")
        yield


@pytest.mark.parametrize(("line", "code", "fragment"), MISTAKES, ids=[line for line, _, _ in MISTAKES])
@pytest.mark.usefixtures("desk")
def test_mistake_gets_a_helpful_message(
    line: str, code: int, fragment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(Path().iterdir())
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(line))
        raise SystemExit(0)
    shown = capsys.readouterr()
    text = " ".join((shown.out + shown.err).split())
    assert (int(stop.value.code or 0), fragment in text) == (code, True), text
    assert "Traceback" not in text
    assert sorted(Path().iterdir()) == before, "something was written"


@pytest.mark.usefixtures("desk")
def test_missing_package_is_reported_before_anything_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    before = sorted(Path().iterdir())
    with pytest.raises(SystemExit):
        main(["run", "spaceship-titanic", "--miniature", "--on", "ray"])
    assert "pip install 'podium[cluster]'" in capsys.readouterr().err
    assert sorted(Path().iterdir()) == before


def test_number_of_mistakes() -> None:
    assert len({line for line, _, _ in MISTAKES}) == len(MISTAKES) >= 100
