"""Check of a bundle against the ledger: registered before the first run, anchored during the runs, complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from podium.board.board_rules import RegistrationRules, Rules
from podium.board.bundle import Bundle, BundleManifest
from podium.board.ledger.keeper_decisions import STANDING, standings
from podium.board.ledger.ledger import LedgerEntry
from podium.board.ledger.statements import Anchor, Registration, Withdrawal
from podium.board.register import method_sha256, plan_sha256
from podium.runs.experiment import Experiment
from podium.runs.records import Plan
from podium.text import plural
from podium.verify.run_evidence import Evidence, parse_time, plan_at
from podium.workspace.journal.events import Event, Resume

RunName = tuple[str, int]


@dataclass(frozen=True)
class Known:
    """Registration in the ledger with its anchors."""

    entry: LedgerEntry
    said: Registration
    anchors: dict[RunName, list[tuple[LedgerEntry, Anchor]]]
    """Anchors of each run, oldest first."""


def all_known(entries: Sequence[LedgerEntry]) -> dict[str, Known]:
    """Return every registration with its anchors, by id."""
    found: dict[str, Known] = {}
    for entry in entries:
        said = entry.statement
        if isinstance(said, Registration):
            found[entry.digest] = Known(entry, said, {})
        elif isinstance(said, Anchor) and said.registration in found:
            found[said.registration].anchors.setdefault((said.task, said.seed), []).append((entry, said))
    return found


def ledger_problems(
    bundle: Bundle,
    experiment: Experiment,
    runs: Mapping[RunName, Evidence],
    entries: Sequence[LedgerEntry],
    rules: Rules,
) -> Iterator[str]:
    """Yield the contradictions between a bundle and the ledger.

    Args:
        runs: Evidence of each run that started.
    """
    if bundle.manifest.registration is None:
        if rules.registration.required:
            yield "The experiment was not registered before it began."
        return
    known = all_known(entries).get(bundle.manifest.registration)
    if known is None:
        yield f"Registration {bundle.manifest.registration} does not exist on this board."
        return
    if known.entry.signed.key != bundle.publisher:
        yield "The registration named by the bundle was signed by another key."
    plan = plan_at(experiment.document, known.entry.time)
    yield from _plan_problems(known, plan, experiment, runs)
    if rules.podium_sha256 and known.said.podium_sha256 not in rules.podium_sha256:
        yield f"It was registered with {_podium(known.said)}, which is not an accepted version."
    yield from _other_bundles(bundle, entries)
    yield from _abandoned(known, plan, entries, rules.registration)
    for name in sorted(known.anchors.keys() | runs.keys()):
        for problem in _run_problems(name, known, runs.get(name), rules):
            yield f"{name[0]}/{name[1]}: {problem}"


def ledger_remarks(bundle: Bundle, entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """Yield remarks about a registration that are no reason for refusal."""
    known = all_known(entries).get(bundle.manifest.registration or "")
    if known is not None and known.said.podium_sha256 != bundle.manifest.podium_sha256:
        yield f"It was registered with {_podium(known.said)} but published with {_podium(bundle.manifest)}."


def _podium(said: Registration | BundleManifest) -> str:
    return f"Podium {said.podium} ({said.podium_sha256[:16]})"


def _plan_problems(known: Known, plan: Plan, experiment: Experiment, runs: Mapping[RunName, Evidence]) -> Iterator[str]:
    said = known.said
    if said.plan_sha256 != plan_sha256(plan) or said.method_sha256 not in (None, method_sha256(plan)):
        yield "The plan differs from the registered one."
    if tuple(said.tasks) != experiment.tasks or said.seeds != experiment.seeds:
        yield (
            f"The registration has {plural(len(said.tasks), 'task')} with {plural(said.seeds, 'seed')}, but the bundle "
            f"has {plural(len(experiment.tasks), 'task')} with {plural(experiment.seeds, 'seed')}."
        )
    other = sorted({task for (task, _), run in runs.items() if said.data.get(task) != run.start.data_sha256})
    if other:
        yield f"The data differs from the registered data: {', '.join(other[:5])}."


def _other_bundles(bundle: Bundle, entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """Yield other accepted bundles of the same registration, of which there may be none."""
    for one in standings(entries):
        if one.stands and one.bundle != bundle.digest and one.row.get("registration") == bundle.manifest.registration:
            yield f"Another bundle of this registration is already on the board: {one.bundle}."


def _abandoned(known: Known, plan: Plan, entries: Sequence[LedgerEntry], rules: RegistrationRules) -> Iterator[str]:
    """Yield problems with abandoned registrations of the same plan by the same key, against selective publishing.

    A publication alone does not settle a registration: its bundle may never be uploaded, or be refused.
    """
    decided = [said for one in standings(entries) for _, said in one.decisions if said.verdict in STANDING]
    accepted = {(said.row or {}).get("registration") for said in decided}
    withdrawn = {entry.statement.registration for entry in entries if isinstance(entry.statement, Withdrawal)}
    tries = [digest for digest in _tries(known, plan, entries) if digest not in accepted]
    lost = [digest for digest in tries if digest not in withdrawn]
    if len(lost) > rules.abandoned:
        yield (
            f"{plural(len(lost), 'other registration')} of the same plan by the same key without an accepted bundle or "
            f"a withdrawal, such as {lost[0]}. Publish or withdraw them."
        )
    given_up = len(tries) - len(lost)
    if given_up > rules.withdrawn:
        yield f"{given_up} registrations of the same plan were withdrawn; at most {rules.withdrawn} are allowed."


def _tries(known: Known, plan: Plan, entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """Yield other registrations by the same key of an equivalent plan with a task in common."""
    for entry in entries:
        said = entry.statement
        if (
            isinstance(said, Registration)
            and entry.signed.key == known.entry.signed.key
            and entry.digest != known.entry.digest
            and (said.plan_sha256 == known.said.plan_sha256 or said.method_sha256 == method_sha256(plan))
            and set(said.tasks) & set(known.said.tasks)
        ):
            yield entry.digest


def _run_problems(name: RunName, known: Known, run: Evidence | None, rules: Rules) -> Iterator[str]:
    anchors = known.anchors.get(name, [])
    if run is None:
        if any(said.state == "ended" for _, said in anchors):
            yield "the end of the run is anchored, but the bundle does not contain the run."
        return
    for entry, said in anchors:
        if said.lines > len(run.journal) or run.journal.hash_of(said.lines) != said.head:
            yield f"the journal differs from the one anchored at {entry.time} (line {said.lines})."
            return
    if run.record.is_graded:
        yield from _graded_run_problems(anchors, known, run, rules)


def _graded_run_problems(
    anchors: list[tuple[LedgerEntry, Anchor]], known: Known, run: Evidence, rules: Rules
) -> Iterator[str]:
    starts = [entry for entry, said in anchors if said.lines == 1]
    ends = [entry for entry, said in anchors if said.state == "ended" and said.head == run.journal.head]
    if not starts:
        yield "its start was never anchored."
    if not ends:
        yield "its end was never anchored."
    if not (starts and ends):
        return
    if rules.registration.anchor_gap is not None:
        yield from _gaps(anchors, run, rules.registration.anchor_gap)
    skew, delay = rules.registration.clock_skew, rules.registration.anchor_delay
    for what, entry, time in (("start", starts[0], run.start.time), ("end", ends[0], run.events[-1].time)):
        late_s = (parse_time(entry.time) - parse_time(time)).total_seconds()
        if late_s < -skew:
            yield f"its {what} is dated {time}, but was anchored earlier, at {entry.time}: a clock was wrong."
        elif late_s > delay:
            yield f"its {what} is dated {time}, but was anchored too late, at {entry.time}."
    if (parse_time(known.entry.time) - parse_time(run.start.time)).total_seconds() > skew:
        yield f"it started at {run.start.time}, before its registration at {known.entry.time}."
    took_s = (parse_time(ends[0].time) - parse_time(starts[0].time)).total_seconds()
    if rules.budget.wall_time is not None and took_s > rules.budget.wall_time + delay:
        yield f"it took {took_s:.0f} s by the board's clock; at most {rules.budget.wall_time:.0f} s are allowed."


def _gaps(anchors: list[tuple[LedgerEntry, Anchor]], run: Evidence, max_gap_s: float) -> Iterator[str]:
    """Yield the first event that was anchored too late while its attempt continued, so that it could be redone.

    The last events before an attempt was killed are anchored when the run is resumed, however late.
    """
    left = iter(anchors)
    entry, said = next(left)
    for number, (event, last) in enumerate(zip(run.events, _attempt_ends(run.events), strict=True), 1):
        while said.lines < number:
            entry, said = next(left)  # there is one: the end is anchored
        until = min(parse_time(entry.time), parse_time(last))
        if (until - parse_time(event.time)).total_seconds() > max_gap_s:
            yield f"line {number} of its journal ({event.time}) was anchored too late, at {entry.time}."
            return


def _attempt_ends(events: Sequence[Event]) -> list[str]:
    """Return for each event the time of the last event in its attempt."""
    ends, last = [], events[-1].time
    for event, before in zip(reversed(events), [*reversed(events[:-1]), None], strict=True):
        ends.append(last)
        if isinstance(event, Resume) and before is not None:
            last = before.time
    return ends[::-1]
