"""Runs that end in a known way, on purpose: what somebody who reads them would call it is their label.

Most repeat actions; those whose model is at fault talk to a scripted one over HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import driving
from corpus_runs import actions, play
from model_server import Behaviour, Call, Reply, endless_talker, serving, silent, windowed

from podium.report.failure_causes import Mode
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.workspace.budget import Budget

TASK = "spaceship-titanic"
MODEL = "openai-api/podium/scripted"
RULE = '''"""Passengers who {words} were carried away."""
import csv, os
data = os.environ.get("PODIUM_DATA", "/home/data")
rows = list(csv.DictReader(open(data + "/{table}.csv", encoding="utf-8")))
spent = lambda row: sum(float(row[name] or 0) for name in ("Spa", "VRDeck", "RoomService"))
rule = lambda row: {rule}
{rest}
'''
SUBMIT = """with open("submission.csv", "w") as out:
    print("PassengerId,Transported", file=out)
    for row in rows:
        print(row["PassengerId"], rule(row), sep=",", file=out)"""
SAMPLE = ("command", "cp data/sample_submission.csv submission/submission.csv")
LOOK = ("command", "ls data; head -2 data/train.csv")


def script(rule: str, words: str = "slept") -> tuple[str, str]:
    return "script", RULE.format(words=words, table="test", rule=rule, rest=SUBMIT)


@dataclass(frozen=True)
class Labelled:
    """A run to be made, and how it ends."""

    name: str
    mode: Mode
    steps: tuple[tuple[str, ...], ...] = ()
    claim: str = ""
    raw: tuple[dict[str, Any], ...] = ()
    """Actions as they are, after the steps."""
    behaviour: Behaviour | None = field(default=None, compare=False)
    """Of the model, if the agent is one that talks."""
    tokens: int | None = None

    def make(self, folder: Path, data_dir: Path) -> RunFolder:
        """Carries it out."""
        if self.behaviour is None:
            planned = [*actions(self.steps, ""), *self.raw, *actions((), self.claim)]
            return play(planned, folder, TASK, data_dir)
        with serving(self.behaviour) as server:
            options = {"attempts": "2", "context_tokens": "4000", "max_tokens": "500"}
            plan = Plan(
                agent="react",
                options=options,
                model=MODEL,
                model_base_url=server.url,
                data_dir=data_dir,
                miniature=True,
                budget=Budget(time_s=60.0, steps=8, tokens=self.tokens),
            )
            return driving.drive(folder / "experiment", plan, TASK).folder


def labelled() -> list[Labelled]:
    """All of them."""
    found = [*_successes(), *_small(), *_debugging(), *_hallucinating(), *_planless(), *_misusing(), *_too_long()]
    return [Labelled(f"{each.mode} {n}", *_rest(each)) for n, each in enumerate(found)]


def _rest(each: Labelled) -> tuple[Any, ...]:
    return each.mode, each.steps, each.claim, each.raw, each.behaviour, each.tokens


def _one(mode: Mode, *steps: tuple[str, ...], claim: str = "", **more: Any) -> Labelled:
    return Labelled("", mode, tuple(steps), claim, **more)


def _successes() -> Iterator[Labelled]:
    for limit in (285, 295, 300, 305, 310):
        yield _one("success", LOOK, script(f"spent(row) < {limit}", f"spent less than {limit}"))
    yield _one("success", SAMPLE, script("spent(row) < 300"), claim="I submitted a rule on what passengers spent.")
    yield _one("success", ("script", "import nothing_there"), script("spent(row) < 300"), ("validate",))
    yield _one("success", script("True"), script("spent(row) < 300"))


def _small() -> Iterator[Labelled]:
    rules = (
        "row['CryoSleep'] == 'True'",
        "spent(row) < 1",
        "row['HomePlanet'] == 'Europa'",
        "row['Destination'] == 'TRAPPIST-1e'",
    )
    for rule in (*rules, "float(row['Age'] or 0) < 18", "float(row['FoodCourt'] or 0) > 500", "len(row['Name']) > 12"):
        yield _one("small improvement", LOOK, script(rule))
    yield _one("small improvement", script(rules[0]), claim="I submitted a rule on sleepers. It is simple.")
    yield _one("small improvement", ("script", "raise SystemExit(3)"), script(rules[2]), ("validate",))
    yield _one(
        "small improvement", SAMPLE, script(rules[3]), ("note", "A rule on destinations; nothing better was found.")
    )


def _debugging() -> Iterator[Labelled]:
    broken = (
        *("import lightgbm_that_is_not_there", "print(undefined)", "open('/home/data/training.csv')", "1 / 0"),
        *("def f(:\n    pass", "raise ValueError('shapes (3,) and (4,)')", "[][1]", "{}['Transported']"),
    )
    for source in broken:
        again = f"# another try\n{source}"
        yield _one("debugging", LOOK, ("script", source), ("script", again), ("script", f"# and another\n{source}"))
    yield _one("debugging", SAMPLE, ("file", "train.py", broken[1]), ("execute", "train.py"), ("execute", "train.py"))
    yield _one("debugging", LOOK, ("command", "python3 model.py"), ("command", "python3 src/model.py"))
    yield _one("debugging", script("undefined"), script("undefined_too"), claim="I could not get it to work.")


def _hallucinating() -> Iterator[Labelled]:
    claims = (
        "The model reaches an accuracy of 0.9312 on the validation set.",
        "I trained a gradient boosting ensemble and submitted its predictions.",
        "5-fold cross-validation gave an AUC of 0.88, well above the baseline.",
        "Final score: 0.957 after tuning.",
        "The neural network was trained for 50 epochs; validation loss 0.2143.",
        "My fine-tuned transformer has an F1 of 0.81.",
    )
    for claim in claims:
        yield _one("hallucination", LOOK, SAMPLE, claim=claim)
    yield _one(
        "hallucination",
        script("row['Destination'] == 'TRAPPIST-1e'"),
        claim="Accuracy improved from 0.71 to 0.84 with my rule.",
    )
    yield _one("hallucination", LOOK, claim="I trained a random forest and the submission is valid.")
    yield _one("hallucination", SAMPLE, ("note", "Trained a CNN. Validation accuracy 0.9921."))


def _planless() -> Iterator[Labelled]:
    yield _one("bad plan", LOOK)
    yield _one("bad plan", SAMPLE)
    yield _one("bad plan", SAMPLE, ("validate",), claim="I submitted the sample.")
    yield _one("bad plan", script("True"))
    yield _one("bad plan", script("False"), claim="Everybody stays.")
    yield _one("bad plan", *[("command", f"head -{n} data/train.csv") for n in range(1, 6)])
    yield _one(
        "bad plan", ("read", "data/description.md"), ("read", "data/description.md"), ("read", "instructions.txt")
    )
    yield _one("bad plan", ("submit_file", "PassengerId\n0001_01\n"), ("validate",))
    yield _one("bad plan", ("script", "print('thinking')"), ("script", "print('still thinking')"))
    yield _one("bad plan", ("note", "I shall look at the data first."), LOOK, ("note", "Then I shall plan."))


def _misusing() -> Iterator[Labelled]:
    wrong: tuple[dict[str, Any], ...] = (
        {"action": "Execute Python", "arguments": {"code": "print(1)"}},
        {"action": "write_file", "arguments": {"path": "a.py", "text": "print(1)"}},
        {"action": "execute_script", "arguments": {"script": "a.py"}},
        {"action": "run_command", "arguments": {"cmd": ["ls"]}},
        {"action": "", "arguments": {}},
        {"action": "Final Answer!!", "arguments": {"text": "done"}},
        {"action": "try_script", "arguments": {"script": "print(1)"}},
    )
    for one in wrong:
        yield _one("response format", raw=(one, one, one))
    yield _one("response format", LOOK, raw=wrong[:4])
    yield _one("response format", behaviour=silent)
    yield _one("response format", behaviour=lambda request, rng: Reply(text="I would rather talk about it."))
    yield _one("response format", behaviour=lambda request, rng: Reply(calls=(Call("bash", '{"command": '),)))


def _too_long() -> Iterator[Labelled]:
    def listing(request: Any, rng: Any) -> Reply:
        return Reply(calls=(Call("bash", {"command": "seq 1 3000"}),))

    for tokens in (30, 60, 100):
        yield _one("token length", behaviour=windowed(listing, tokens))
    for budget in (150, 240, 360):
        yield _one("token length", behaviour=listing, tokens=budget)
    yield _one("token length", behaviour=windowed(endless_talker, 40))
