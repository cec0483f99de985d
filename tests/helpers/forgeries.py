"""Ways in which a dishonest publisher improves a result. The publisher holds the key: everything is signed again.

Each changes a copy of an honest, registered experiment of two runs and of its board; what a check must say of it is
given with it. Where the journal is touched, its whole chain is rebuilt and the record made to agree.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from boards import PUBLISHER, TASK

from podium.board.board_client import FolderBoard
from podium.board.bundle import Bundle, Disclosures, write_bundle
from podium.board.keys import Key, make_key
from podium.board.ledger.ledger import make_board
from podium.board.ledger.statements import Anchor, Publication, Registration, Withdrawal, sign
from podium.board.register import method_sha256, plan_sha256, register
from podium.runs.experiment import read_experiment
from podium.safefs.atomic_files import sha256
from podium.workspace.journal.hash_chain import START, encode_line
from podium.workspace.journal.journal import read_journal

Event = dict[str, Any]


@dataclass
class Forgery:
    """A copy to be forged."""

    folder: Path
    board: FolderBoard
    registration: str | None
    other: Path
    """Another experiment with the same plan, better, and not registered."""
    key: Key = PUBLISHER
    answers: dict[str, str] = field(default_factory=lambda: {"retrieval": "none"})
    light: bool = False

    def run(self, seed: int = 0) -> Path:
        return self.folder / TASK / str(seed)

    def edit(self, name: str, **changes: Any) -> None:
        """Changes a document: `a__b` is the key b inside a."""
        path = self.folder / name
        document = json.loads(path.read_text())
        for key, value in changes.items():
            *above, last = key.split("__")
            target = document
            for part in above:
                target = target[part]
            target[last] = value
        path.write_text(json.dumps(document))

    def record(self, number: int = 0, **changes: Any) -> None:
        self.edit(f"{TASK}/{number}/run.json", **changes)

    def plan(self, **changes: Any) -> None:
        self.edit("experiment.json", **{f"plan__{name}": value for name, value in changes.items()})

    def journal(self, change: Callable[[list[Event]], object], seed: int = 0) -> None:
        """Changes the events of a journal, rebuilds its chain, and makes the record agree."""
        path = self.run(seed) / "steps.jsonl"
        framing = ("n", "previous", "check")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        events = [{name: value for name, value in line.items() if name not in framing} for line in lines]
        change(events)
        head, out = START, []
        for number, event in enumerate(events, 1):
            out.append(encode_line(number, head, event).decode())
            path.write_text("\n".join(out) + "\n")
            head = read_journal(path).head
        start, last = events[0], events[-1]
        same = {name: start[name] for name in ("agent", "model", "edition", "miniature", "backend", "sandbox", "seed")}
        times = {"times__ended": last["time"], "times__started": start["time"]}
        self.record(seed, journal_head=head, usage=last["usage"], versions=start["versions"], **same, **times)

    def register_again(self, *, ends: bool = True) -> None:
        """Registers the experiment as it stands, afterwards, and anchors its runs at once."""
        (self.folder / "registration.json").unlink()
        for path in self.folder.glob("*/*/steps.jsonl"):
            path.rename(path.with_suffix(".aside"))
        self.registration = register(read_experiment(self.folder), self.board, self.key).id
        for path in self.folder.glob("*/*/steps.aside"):
            path.rename(path.with_suffix(".jsonl"))
        for path in sorted(self.folder.glob("*/*/steps.jsonl")):
            journal = read_journal(path)
            self.anchor(int(path.parent.name), 1, journal.hash_of(1), "started")
            if ends:
                self.anchor(int(path.parent.name), len(journal), journal.head, "ended")

    def anchor(self, seed: int, lines: int, head: str, state: Any) -> None:
        assert self.registration is not None
        said = Anchor(
            board=self.board.key,
            registration=self.registration,
            task=TASK,
            seed=seed,
            lines=lines,
            head=head,
            state=state,
        )
        self.board.append(sign(said, self.key))

    def publish(self, target: Path) -> Bundle:
        return write_bundle(
            read_experiment(self.folder),
            target,
            self.key,
            disclosures=Disclosures(answers=self.answers),
            registration=self.registration,
            light=self.light,
        )


Forge = Callable[[Forgery], None]
FORGERIES: dict[str, tuple[Forge, str, bool]] = {}
"""By name: the forgery, what the check says, and whether the chain was rebuilt."""
ANCHORED = "the journal differs from the one anchored"


def forgery(said: str, *, rebuilt: bool = False) -> Callable[[Forge], Forge]:
    def add(forge: Forge) -> Forge:
        FORGERIES[forge.__name__.replace("_", " ")] = (forge, said, rebuilt)
        return forge

    return add


def start(name: str, said: str = ANCHORED, **changes: Any) -> None:
    """A forgery that changes the first event of a journal, and the plan where it says the same."""

    def forge(forged: Forgery) -> None:
        for seed in (0, 1):
            forged.journal(lambda events: events[0].update(changes), seed)
        forged.plan(
            **{name: value for name, value in changes.items() if name in ("agent", "model", "options", "budget")}
        )

    FORGERIES[name] = (forge, said, True)


start("another model named", "The plan differs from the registered one", model="openai/gpt-5")
start("a stronger model left out", model=None, model_roles={"edit": "openai/gpt-5"})
start("another agent named", "The plan differs from the registered one", agent="aide")
start("other options of the agent", options={"script": "elsewhere.json"})
start(
    "a longer budget than registered",
    "The plan differs from the registered one",
    budget={"time_s": 599.0, "wall_s": None, "steps": None, "tokens": None, "cost": None},
)
start("another edition", edition="fixed")
start("a miniature called real", "it used real data, which this board does not rank", miniature=False)
start("swapped data", "other data", data_sha256="0" * 64)
start("other versions", versions={"podium": "9.9.9"})
start("another sandbox", "sandbox none", backend="none")


def usage(name: str, **changes: Any) -> None:
    """A forgery that makes the run look cheaper."""

    def forge(forged: Forgery) -> None:
        def cheaper(events: list[Event]) -> None:
            for event in events:
                event["usage"].update({key: min(value, event["usage"][key]) for key, value in changes.items()})

        forged.journal(cheaper)

    FORGERIES[name] = (forge, ANCHORED, True)


usage("less working time", working_s=0.001)
usage("less time by the clock", wall_s=0.01)
usage("fewer executions", executions=0)


def moved(time: str, hours: float) -> str:
    return (datetime.fromisoformat(time) + timedelta(hours=hours)).isoformat(timespec="milliseconds")


def shift(forged: Forgery, hours: float) -> None:
    def move(events: list[Event]) -> None:
        for event in events:
            event["time"] = moved(event["time"], hours)

    for seed in (0, 1):
        record = json.loads((forged.run(seed) / "run.json").read_text())
        forged.journal(move, seed)
        forged.record(seed, times__graded=moved(record["times"]["graded"], hours))
    created = json.loads((forged.folder / "experiment.json").read_text())["created"]
    forged.edit("experiment.json", created=moved(created, hours))


@forgery(ANCHORED, rebuilt=True)
def times_moved_back_to_look_faster(forged: Forgery) -> None:
    shift(forged, -2)


@forgery("a clock was wrong", rebuilt=True)
def clock_ahead_and_registered_with_it(forged: Forgery) -> None:
    shift(forged, 3)
    forged.register_again()


@forgery("but was anchored too late", rebuilt=True)
def invented_afterwards_and_dated_back(forged: Forgery) -> None:
    shift(forged, -5)
    forged.register_again()


@forgery("before its registration", rebuilt=True)
def registered_after_the_fact(forged: Forgery) -> None:
    forged.register_again()


@forgery("its start was never anchored", rebuilt=True)
def invented_without_anchors(forged: Forgery) -> None:
    shift(forged, 0)
    (forged.folder / "registration.json").unlink()
    for seed in (0, 1):
        (forged.run(seed) / "steps.jsonl").rename(forged.run(seed) / "aside")
    forged.registration = register(read_experiment(forged.folder), forged.board, forged.key).id
    for seed in (0, 1):
        (forged.run(seed) / "aside").rename(forged.run(seed) / "steps.jsonl")


@forgery("its end was never anchored", rebuilt=True)
def end_written_anew(forged: Forgery) -> None:
    """Only the starts were anchored; what comes after is chosen at leisure."""
    forged.register_again(ends=False)
    forged.journal(lambda events: events[-1].update(time=moved(events[-1]["time"], 0.0001)))


@forgery(ANCHORED, rebuilt=True)
def best_of_five(forged: Forgery) -> None:
    shutil.rmtree(forged.run(0))
    shutil.copytree(forged.other / TASK / "0", forged.run(0))


@forgery(ANCHORED, rebuilt=True)
def a_replayed_registration(forged: Forgery) -> None:
    for seed in (0, 1):
        shutil.rmtree(forged.run(seed))
        shutil.copytree(forged.other / TASK / str(seed), forged.run(seed))


@forgery(ANCHORED, rebuilt=True)
def a_good_run_for_two_seeds(forged: Forgery) -> None:
    shutil.rmtree(forged.run(1))
    shutil.copytree(forged.run(0), forged.run(1))
    forged.journal(lambda events: events[0].update(seed=1, time=moved(events[0]["time"], -0.00001)), 1)


@forgery(ANCHORED, rebuilt=True)
def seeds_exchanged(forged: Forgery) -> None:
    forged.run(0).rename(forged.run(9))
    forged.run(1).rename(forged.run(0))
    forged.run(9).rename(forged.run(1))
    for seed in (0, 1):
        forged.journal(lambda events, seed=seed: events[0].update(seed=seed), seed)  # type: ignore[misc]


@forgery(ANCHORED, rebuilt=True)
def a_step_removed(forged: Forgery) -> None:
    forged.journal(lambda events: events.pop(1))


@forgery(ANCHORED, rebuilt=True)
def an_observation_rewritten(forged: Forgery) -> None:
    forged.journal(lambda events: events[2]["observation"].update(stdout="accuracy 0.99"))


@forgery(ANCHORED, rebuilt=True)
def an_action_rewritten(forged: Forgery) -> None:
    forged.journal(lambda events: events[1]["action"]["arguments"].update(content="import sklearn"))


@forgery(ANCHORED, rebuilt=True)
def a_bad_run_called_failed(forged: Forgery) -> None:
    forged.journal(lambda events: events.pop())
    forged.record(
        status="failed",
        ended_by=None,
        error="out of memory",
        valid=None,
        score=None,
        medal=None,
        above_median=None,
        percentile=None,
        submission_sha256=None,
        higher_is_better=None,
        times__ended=None,
        times__graded=None,
    )


@forgery("The registration has 1 task with 2 seeds", rebuilt=True)
def a_seed_dropped_from_plan_and_folder(forged: Forgery) -> None:
    shutil.rmtree(forged.run(1))
    forged.edit("experiment.json", seeds=1)


@forgery("The registration has 1 task with 2 seeds", rebuilt=True)
def a_bad_seed_dropped_and_the_others_renumbered(forged: Forgery) -> None:
    shutil.rmtree(forged.run(0))
    forged.run(1).rename(forged.run(0))
    forged.journal(lambda events: events[0].update(seed=0))
    forged.edit("experiment.json", seeds=1)


@forgery("the bundle does not contain the run")
def a_seed_dropped_from_the_folder(forged: Forgery) -> None:
    shutil.rmtree(forged.run(1))


@forgery("The registration has 1 task with 2 seeds")
def a_seed_added(forged: Forgery) -> None:
    forged.edit("experiment.json", seeds=3)
    shutil.copytree(forged.other / TASK / "1", forged.run(2))


@forgery("The registration has 1 task with 2 seeds")
def a_task_added(forged: Forgery) -> None:
    forged.edit("experiment.json", tasks=[TASK, "leaf-classification"])


def others(forged: Forgery, count: int, **changes: Any) -> list[str]:
    """Registrations of the same plan."""
    entry = next(entry for entry in forged.board.read().entries if isinstance(entry.statement, Registration))
    said = [entry.statement.model_copy(update={"nonce": f"{number:032x}", **changes}) for number in range(count)]
    return [forged.board.append(sign(one, forged.key)) and sign(one, forged.key).digest for one in said]


@forgery("4 other registrations of the same plan")
def five_registrations_and_one_published(forged: Forgery) -> None:
    others(forged, 4)


@forgery("4 other registrations of the same plan")
def five_registrations_and_four_bundles_that_nobody_accepted(forged: Forgery) -> None:
    for registration in others(forged, 4):
        said = Publication(board=forged.board.key, bundle=registration, registration=registration)
        forged.board.append(sign(said, forged.key))


@forgery("4 other registrations of the same plan")
def five_registrations_with_their_data_in_other_folders(forged: Forgery) -> None:
    elsewhere = read_experiment(forged.folder).plan.model_copy(update={"data_dir": Path("/elsewhere")})
    others(forged, 4, plan_sha256=plan_sha256(elsewhere), method_sha256=method_sha256(elsewhere))


@forgery("were withdrawn; at most 2")
def four_registrations_withdrawn(forged: Forgery) -> None:
    for registration in others(forged, 4):
        said = Withdrawal(board=forged.board.key, registration=registration, reason="bad luck")
        forged.board.append(sign(said, forged.key))


@forgery("was signed by another key")
def the_registration_of_somebody_else(forged: Forgery) -> None:
    forged.key = make_key()


@forgery("does not exist on this board")
def a_registration_on_another_board(forged: Forgery) -> None:
    make_board(forged.folder.parent / "elsewhere", "Elsewhere").close()
    forged.board = FolderBoard(forged.folder.parent / "elsewhere")


@forgery("was not registered")
def no_registration(forged: Forgery) -> None:
    forged.registration = None


@forgery("score is recorded as")
def score_raised(forged: Forgery) -> None:
    forged.record(score=0.999)


@forgery("is recorded as")
def medal_invented(forged: Forgery) -> None:
    forged.record(medal="gold", above_median=True, percentile=99.0)


@forgery("submission_sha256")
def a_foreign_submission(forged: Forgery) -> None:
    path = forged.run() / "submission.csv"
    path.write_text(path.read_text().replace("True", "False"))
    forged.record(submission_sha256=sha256(path))


@forgery("usage differs")
def cheaper_in_the_record_alone(forged: Forgery) -> None:
    forged.record(usage__working_s=0.001)


@forgery("The plan differs from the registered one")
def edited_answers_in_a_folder_of_their_own(forged: Forgery) -> None:
    forged.plan(data_dir=str(forged.folder.parent / "answers"))


@forgery("the budget in the journal is invalid", rebuilt=True)
def a_budget_that_cannot_be(forged: Forgery) -> None:
    change = {"name": "budget", "before": None, "after": {"time_s": "plenty"}}

    def resume(events: list[Event]) -> None:
        same = {name: events[0][name] for name in ("backend", "sandbox", "versions")}
        at = {name: events[-2][name] for name in ("time", "usage")}
        events.insert(-1, {"kind": "resume", "changes": [change], **same, **at})

    forged.journal(resume)


@forgery("Not disclosed: retrieval")
def nothing_disclosed(forged: Forgery) -> None:
    forged.answers = {"retrieval": " "}


@forgery("trained on 1 of the tasks")
def trained_on_what_it_was_measured_with(forged: Forgery) -> None:
    forged.answers |= {"trained_on_tasks": f"forge-graph-easy-t1..9, {TASK}"}


@forgery("the rules require snapshots")
def snapshots_left_out(forged: Forgery) -> None:
    forged.light = True


@forgery("snapshots")
def histories_removed(forged: Forgery) -> None:
    shutil.rmtree(forged.run() / "history")


@forgery("The plan was changed during the runs")
def a_change_of_the_plan_admitted_in_part(forged: Forgery) -> None:
    change = {"name": "model", "before": None, "after": "openai/gpt-5", "time": "2100-01-01T00:00:00.000+00:00"}
    forged.edit("experiment.json", changes=[change])
