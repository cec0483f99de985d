"""`podium board check`: an honest bundle is accepted, and every forgery is refused with the reason."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from boards import PUBLISHER, TASK, Registered
from forgeries import FORGERIES, Forgery, others

from podium.board.board_client import FolderBoard
from podium.board.board_rules import Rules, read_rules
from podium.board.check.check_bundle import BundleCheck, check
from podium.board.check.check_registration import _attempt_ends
from podium.board.keys import canonical
from podium.board.ledger.audit_ledger import audit
from podium.board.ledger.keeper_decisions import decide, standings
from podium.board.ledger.statements import Registration
from podium.cli import main
from podium.errors import UsageError
from podium.workspace.journal.events import Resume, Start

RULES = Rules.model_validate(
    {
        "name": "Tests",
        "suite": [TASK],
        "seeds": 2,
        "miniature": True,
        "disclosures": ["retrieval"],
        "budget": {"time": "10m"},
        "registration": {"clock_skew": 0.0, "anchor_delay": "1h"},
    }
)

PATIENT = RULES.model_copy(
    update={"registration": RULES.registration.model_copy(update={"clock_skew": 3600.0, "abandoned": 1})}
)
"""Forgives registrations that come late: for tests about something else."""


@pytest.fixture
def forged(registered: Registered, other: Path, tmp_path: Path) -> Forgery:
    """A copy of the honest experiment and of its board."""
    folder = shutil.copytree(registered.experiment.folder, tmp_path / "experiment")
    board = FolderBoard(shutil.copytree(registered.board.folder, tmp_path / "board"))
    return Forgery(folder, board, registered.registration.id, other)


def judged(forged: Forgery, data_dir: Path, rules: Rules = RULES) -> BundleCheck:
    bundle = forged.publish(forged.folder.parent / "bundle.zip")
    return check(bundle.path, rules, ledger=forged.board.read(), data_dir=data_dir)


def test_an_honest_bundle_is_accepted_and_its_row_computed(forged: Forgery, data_dir: Path) -> None:
    found = judged(forged, data_dir)
    assert found.reasons == []
    assert found.accepted and found.row is not None
    assert (found.row["agent"], found.row["tasks"], found.row["seeds"], found.row["unfinished"]) == (
        "scripted",
        1,
        2,
        0,
    )
    assert [(run["seed"], run["status"]) for run in found.row["runs"]] == [(0, "finished"), (1, "finished")]
    assert all(" steps" in run["highlights"] for run in found.row["runs"])
    assert found.row["class"]["model_access"] == "no model"
    assert (found.row["scan"]["runs"], found.row["scan"]["unread"]) == (2, 0)
    assert found.row == judged(forged, data_dir).row


def test_there_are_enough_forgeries() -> None:
    assert len(FORGERIES) >= 40
    assert sum(rebuilt for _, _, rebuilt in FORGERIES.values()) >= 20


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(forged: Forgery, data_dir: Path, name: str) -> None:
    forge, said, _ = FORGERIES[name]
    forge(forged)
    found = judged(forged, data_dir)
    assert not found.accepted
    assert said in "\n".join(found.reasons), found.reasons


def test_a_registered_run_that_never_finished_counts_as_failed(forged: Forgery, data_dir: Path) -> None:
    shutil.rmtree(forged.run(1))
    forged.register_again()
    found = judged(forged, data_dir, PATIENT)
    assert found.reasons == [] and found.row is not None
    assert found.row["unfinished"] == 1 and found.row["seeds"] == 2
    assert found.row["measures"]["valid"] == 50.0
    strict = PATIENT.model_copy(update={"runs": RULES.runs.model_copy(update={"padding": False})})
    assert "never finished" in "\n".join(judged(forged, data_dir, strict).reasons)


def test_an_infinite_score_is_written_in_the_row_as_a_word(forged: Forgery, data_dir: Path) -> None:
    forged.record(score="Infinity")
    found = judged(forged, data_dir)
    assert found.row is not None and found.row["runs"][0]["score"] == "Infinity"


def test_another_podium_than_the_registered_one_is_named_and_refused_where_the_rules_name_theirs(
    forged: Forgery, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any("registered with" in remark for remark in judged(forged, data_dir).remarks)
    monkeypatch.setattr("podium.board.bundle.podium_sha256", lambda: "1" * 64)
    found = judged(forged, data_dir)
    assert found.accepted
    assert any("registered with" in remark and "1" * 16 in remark for remark in found.remarks)
    strict = judged(forged, data_dir, RULES.model_copy(update={"podium_sha256": ("1" * 64,)}))
    assert [reason for reason in strict.reasons if "which is not an accepted version" in reason]


def test_rules_can_require_anchors_during_a_run(forged: Forgery, data_dir: Path) -> None:
    def rules(gap_s: float) -> Rules:
        return RULES.model_copy(update={"registration": RULES.registration.model_copy(update={"anchor_gap": gap_s})})

    assert judged(forged, data_dir, rules(3600.0)).reasons == []
    reasons = judged(forged, data_dir, rules(0.0001)).reasons
    assert len(reasons) == 2 and all("was anchored too late" in reason for reason in reasons)


def test_events_before_a_pause_may_be_anchored_after_it(registered: Registered) -> None:
    events = list(next(iter(registered.experiment.runs())).read_journal())
    start, *_, end = events
    assert isinstance(start, Start)
    same = start.model_dump(include={"usage", "backend", "sandbox", "versions"})
    resume = Resume(time="2100-01-01T00:00:00+00:00", **same)
    ends = _attempt_ends([*events[:-1], resume, end])
    assert ends == [events[-2].time] * (len(events) - 1) + [end.time] * 2


def test_a_light_bundle_is_graded_from_its_submission(forged: Forgery, data_dir: Path) -> None:
    forged.light = True
    allowed = RULES.model_copy(update={"runs": RULES.runs.model_copy(update={"light": True})})
    assert judged(forged, data_dir, allowed).reasons == []
    forged.record(score=0.99)
    assert "score is recorded as" in "\n".join(judged(forged, data_dir, allowed).reasons)


def test_a_second_bundle_of_a_registration_needs_the_first_to_be_removed(forged: Forgery, data_dir: Path) -> None:
    bundle = forged.publish(forged.folder.parent / "first.zip")
    row = {"agent": "scripted", "registration": forged.registration}
    decide(forged.board.folder, bundle.digest, "accepted", "fine", row=row)
    forged.answers = {"retrieval": "some"}
    assert "already on the board" in "\n".join(judged(forged, data_dir).reasons)
    decide(forged.board.folder, bundle.digest, "removed", "its publisher asked")
    assert judged(forged, data_dir).accepted
    [standing] = standings(forged.board.read().entries)
    assert not standing.stands and standing.row == row and standing.last.reason
    assert audit(forged.board.folder).passed, "what was removed is still there"


def test_an_accepted_experiment_of_the_same_plan_is_no_problem(forged: Forgery, data_dir: Path) -> None:
    for number, registration in enumerate(others(forged, 4)):
        decide(forged.board.folder, f"{number:064x}", "accepted", "fine", row={"registration": registration})
    assert judged(forged, data_dir).reasons == []


def test_a_registration_of_an_earlier_version_is_checked_by_its_whole_plan(forged: Forgery, data_dir: Path) -> None:
    first = next(entry for entry in forged.board.read().entries if isinstance(entry.statement, Registration))
    said = first.signed.statement
    old = PUBLISHER.sign({name: value for name, value in said.items() if name != "method_sha256"})
    forged.board.append(old)
    forged.registration = old.digest
    found = "\n".join(judged(forged, data_dir).reasons)
    assert "The plan differs" not in found
    assert "1 other registration of the same plan" in found


def test_the_command_judges_as_text_and_json(
    forged: Forgery, data_dir: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bundle = forged.publish(tmp_path / "bundle.zip")
    rules = f'name = "T"\nsuite = ["{TASK}"]\nminiature = true\n'
    (forged.board.folder / "rules.toml").write_text(rules)
    options = ["--board", str(forged.board.folder), "--data-dir", str(data_dir)]
    board = str(forged.board.folder)
    with pytest.raises(SystemExit, match="0"):
        main(["board", "check", str(bundle.path), *options, "--json"])
    assert json.loads(capsys.readouterr().out)["accepted"]
    with pytest.raises(SystemExit, match="0"):
        main(["board", "add", board, str(bundle.path), "--data-dir", str(data_dir)])
    with pytest.raises(SystemExit, match="0"):
        main(["board", "audit", board, "--since", f"{board}/head.json"])
    assert "the ledger is valid" in capsys.readouterr().out
    (forged.board.folder / "rules.toml").write_text(rules + "seeds = 5\n")
    with pytest.raises(SystemExit, match="1"):
        main(["board", "check", str(bundle.path), *options])
    assert "REJECT" in (out := capsys.readouterr().out) and "require 5" in out


def test_nothing_that_publishers_wrote_is_obeyed_by_a_terminal(
    forged: Forgery, data_dir: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    forged.plan(agent="\x1b[2J", model="\x1b[2J")
    forged.record(agent="\x1b[2J", ended_by="\x1b[2J")
    bundle = forged.publish(tmp_path / "bundle.zip")
    board = forged.board.folder
    (board / "rules.toml").write_text(f'name = "T"\nsuite = ["{TASK}"]\nminiature = true\n')
    for command in (["check", str(bundle.path), "--board", str(board)], ["add", str(board), str(bundle.path)]):
        with pytest.raises(SystemExit, match="1"):
            main(["board", *command, "--data-dir", str(data_dir)])
    segment = board / "ledger" / "00000.jsonl"
    line = {"time": "2025", **PUBLISHER.sign({"kind": "anchor", "\x1b[2J": 1}).to_dict()}
    segment.write_bytes(canonical(line) + b"\n")
    with pytest.raises(SystemExit, match="1"):
        main(["board", "audit", str(board)])
    assert "[2J with" in (out := capsys.readouterr().out) and "anchor" in out and "\x1b" not in out


@pytest.mark.parametrize(
    "text", ["suite = 1", 'name = "x"\nsuite = []', 'name = "x"\nsuite = ["lite"]\nsedes = 3', "["]
)
def test_rules_that_say_something_unknown_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(UsageError):
        read_rules(path)
