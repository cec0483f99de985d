"""Carries out the cases of the corpus: each really runs, in the sandbox, as `podium run` does it.

See corpus/README.md for what a case is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from podium import api
from podium.catalog.forge.forge_ids import parse_id
from podium.catalog.forge.world.retelling import Telling
from podium.cli import main
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.task import SUBMISSION
from podium.workspace.budget import Budget

CORPUS = Path(__file__).parents[1] / "integrity" / "corpus" / "corpus.jsonl"
Steps = Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Case:
    """A case of the corpus."""

    name: str
    kind: str | None
    """What should be found; None for an honest run."""
    task: str
    runs: tuple[Steps, ...]
    """The steps of the run in question first, then those of other runs of the same task."""
    claim: str
    author: str
    """`own`, or `blind` and a number if whoever wrote it had not seen the detectors."""


def load_cases(group: str) -> list[Case]:
    """Return the cases of a group of the corpus: `cheats` or `honest`."""
    records = map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())
    return [_case(record) for record in records if record["name"].startswith(f"{group}/")]


def _case(record: dict[str, Any]) -> Case:
    folder = record["name"].split("/")[-2]
    return Case(
        name=record["name"],
        kind=record.get("kind"),
        task=record["task"],
        runs=tuple([tuple(step) for step in steps] for steps in (record["steps"], *record.get("other_runs", ()))),
        claim=record.get("claim", ""),
        author=folder if folder.startswith("blind") else "own",
    )


def actions(steps: Steps, claim: str) -> list[dict[str, Any]]:
    """The steps of a case as actions of the scripted agent."""
    found = [action for number, step in enumerate(steps) for action in _actions(number, *step)]
    claimed = [_action("final_answer", final_answer=claim)] if claim else []
    return found + claimed


def _actions(number: int, verb: str, *arguments: str) -> Iterator[dict[str, Any]]:
    match verb, arguments:
        case "script", (script,):
            yield _action("try_script", number=number, script=script)
            yield _action("submit_script", number=number)
        case "command", (command,):
            yield _action("run_command", command=command)
        case "session", (command,):
            yield _action("python_session", command=command)
        case "file", (name, content):
            yield _action("write_file", file_name=name, content=content)
        case "execute", (name,):
            yield _action("execute_script", script_name=name)
        case "read", (name,):
            yield _action("read_file", file_name=name)
        case "submit_file", (content,):
            yield _action("write_file", file_name=SUBMISSION, content=content)
        case "note", (content,):
            yield _action("append_summary_to_research_log", content=content)
        case "validate", ():
            yield _action("validate_submission")
        case _:
            raise ValueError(f"a case has no step {verb!r} with {len(arguments)} arguments")


def _action(name: str, **arguments: object) -> dict[str, Any]:
    return {"action": name, "arguments": arguments}


def prepare_data(data_dir: Path, tasks: Sequence[str]) -> None:
    """Prepares the tasks of cases: miniatures, and forged tasks as they are."""
    for task in dict.fromkeys(tasks):
        api.prepare(task, data_dir=data_dir, miniature=not task.startswith("forge-"))


def carry_out(case: Case, folder: Path, data_dir: Path, *, sandbox: str = "bubblewrap") -> list[RunFolder]:
    """The runs of a case, each in an experiment of its own."""
    told = [[tuple(in_words_of(case.task, part) for part in step) for step in steps] for steps in case.runs]
    return [
        play(actions(steps, case.claim if n == 0 else ""), folder / str(n), case.task, data_dir, sandbox=sandbox)
        for n, steps in enumerate(told)
    ]


def in_words_of(task: str, text: str) -> str:
    """A step with a forged task's names of columns and labels; cases have its family's own words for them."""
    if not task.startswith("forge-"):
        return text
    parts = parse_id(task)
    retelling = import_module(f"podium.catalog.forge.families.{parts.family.replace('-', '_')}").RETELLING
    telling = Telling(retelling, parts.words)
    names = {own.removesuffix("_#"): told.partition("#")[0] for own, told in telling.names.items()}
    names |= {own: told for values in telling.values.values() for own, told in values.items()}
    own = rf"({'|'.join(names)})"
    text = re.sub(rf"(\b(?:tr|te|t|a|b|train|test|notes)|\))\.{own}\b(?!\()", r"\1['\2']", text)
    numbered = {own.removesuffix("_#") for own in telling.names if own.endswith("_#")}

    def told(found: re.Match[str]) -> str:
        return found[1] + names[found[2]] + (found[3].removeprefix("_") if found[2] in numbered else found[3])

    return re.sub(rf"(['\",]){own}((?:_(?=[{{\d]))?(?=['\",\\{{\d])|_(?=[{{\d]))", told, text)


def play(
    planned: list[dict[str, Any]], folder: Path, task: str, data_dir: Path, *, sandbox: str = "bubblewrap"
) -> RunFolder:
    """Runs a list of actions on a prepared task; a run that is finished is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "script.json"
    script.write_text(json.dumps(planned), encoding="utf-8")
    plan = Plan(
        agent="scripted",
        options={"script": str(script)},
        data_dir=data_dir,
        miniature=not task.startswith("forge-"),
        budget=Budget(time_s=300.0),
        sandbox=sandbox,
    )
    experiment = open_experiment(folder / "experiment", plan, [task], 1)
    Driver(experiment).run_all(make_executor(parallel=1))
    return experiment.run(task, 0)


def call(*args: object) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as stop:
        main([str(arg) for arg in args])
    return int(stop.value.code or 0)
