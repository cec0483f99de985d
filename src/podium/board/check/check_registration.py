"""Compares a bundle with what the ledger knows: registered before, anchored meanwhile, nothing left out."""

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
from podium.verify.run_evidence import Evidence, moment, plan_at
from podium.workspace.journal.events import Event, Resume

RunName = tuple[str, int]


@dataclass(frozen=True)
class Known:
    """What the ledger says about one registration."""

    entry: LedgerEntry
    said: Registration
    anchors: dict[RunName, list[tuple[LedgerEntry, Anchor]]]
    """Of each run, in their order."""


def all_known(entries: Sequence[LedgerEntry]) -> dict[str, Known]:
    """Every registration with its anchors, by its id."""
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
    """Why the ledger speaks against a bundle.

    Args:
        runs: what the folder says of each run that began.
    """
    if bundle.manifest.registration is None:
        if rules.registration.required:
            yield "The experiment was not registered before it began."
        return
    known = all_known(entries).get(bundle.manifest.registration)
    if known is None:
        yield f"There is no registration {bundle.manifest.registration} on this board."
        return
    if known.entry.signed.key != bundle.publisher:
        yield "Somebody else made the registration that the bundle names."
    plan = plan_at(experiment.document, known.entry.time)
    yield from _plan_problems(known, plan, experiment, runs)
    if rules.podium_sha256 and known.said.podium_sha256 not in rules.podium_sha256:
        yield f"{_podium(known.said)}, with which it was registered, is not among the accepted versions."
    yield from _other_bundles(bundle, entries)
    yield from _abandoned(known, plan, entries, rules.registration)
    for name in sorted(known.anchors.keys() | runs.keys()):
        for problem in _run_problems(name, known, runs.get(name), rules):
            yield f"{name[0]}/{name[1]}: {problem}"


def ledger_remarks(bundle: Bundle, entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """What a reader should know of a registration though nothing is wrong."""
    known = all_known(entries).get(bundle.manifest.registration or "")
    if known is not None and known.said.podium_sha256 != bundle.manifest.podium_sha256:
        yield f"It was registered with {_podium(known.said)}, and published with {_podium(bundle.manifest)}."


def _podium(said: Registration | BundleManifest) -> str:
    return f"Podium {said.podium} ({said.podium_sha256[:16]})"


def _plan_problems(known: Known, plan: Plan, experiment: Experiment, runs: Mapping[RunName, Evidence]) -> Iterator[str]:
    said = known.said
    if said.plan_sha256 != plan_sha256(plan) or said.method_sha256 not in (None, method_sha256(plan)):
        yield "The plan is not the one that was registered."
    if tuple(said.tasks) != experiment.tasks or said.seeds != experiment.seeds:
        yield (
            f"Registered were {plural(len(said.tasks), 'task')} with {plural(said.seeds, 'seed')}, the bundle has "
            f"{plural(len(experiment.tasks), 'task')} with {plural(experiment.seeds, 'seed')}."
        )
    other = sorted({task for (task, _), run in runs.items() if said.data.get(task) != run.start.data_sha256})
    if other:
        yield f"The data is not what was registered: {', '.join(other[:5])}."


def _other_bundles(bundle: Bundle, entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """Another bundle of the same registration may only take the place of one that does not stand any more."""
    for one in standings(entries):
        if one.stands and one.bundle != bundle.digest and one.row.get("registration") == bundle.manifest.registration:
            yield f"Another bundle of this registration is on the board already: {one.bundle}."


def _abandoned(known: Known, plan: Plan, entries: Sequence[LedgerEntry], rules: RegistrationRules) -> Iterator[str]:
    """Registrations of the same plan by the same key that came to nothing: whoever tries often enough gets lucky.

    To hand in a bundle is not enough: it may never be sent, or be refused.
    """
    decided = [said for one in standings(entries) for _, said in one.decisions if said.verdict in STANDING]
    accepted = {(said.row or {}).get("registration") for said in decided}
    withdrawn = {entry.statement.registration for entry in entries if isinstance(entry.statement, Withdrawal)}
    tries = [digest for digest in _tries(known, plan, entries) if digest not in accepted]
    lost = [digest for digest in tries if digest not in withdrawn]
    if len(lost) > rules.abandoned:
        yield (
            f"{plural(len(lost), 'other registration')} of the same plan by the same key, such as {lost[0]}: neither "
            f"was a bundle of it accepted, nor was it withdrawn. Have one accepted, or withdraw it."
        )
    given_up = len(tries) - len(lost)
    if given_up > rules.withdrawn:
        yield f"{given_up} registrations of the same plan were withdrawn; at most {rules.withdrawn} may be."


def _tries(known: Known, plan: Plan, entries: Sequence[LedgerEntry]) -> Iterator[str]:
    """Other registrations by the same key of what comes to the same plan, with a task in common."""
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
            yield "the board knows of its end, but the bundle leaves it out."
        return
    for entry, said in anchors:
        if said.lines > len(run.journal) or run.journal.hash_of(said.lines) != said.head:
            yield f"the journal is not the one that was anchored at {entry.time} (line {said.lines})."
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
        late_s = (moment(entry.time) - moment(time)).total_seconds()
        if late_s < -skew:
            yield f"its {what} is dated {time}, but the board knew of it at {entry.time}: a clock was wrong or shifted."
        elif late_s > delay:
            yield f"its {what} is dated {time}, but the board learned of it only at {entry.time}."
    if (moment(known.entry.time) - moment(run.start.time)).total_seconds() > skew:
        yield f"it started at {run.start.time}, before the registration of {known.entry.time}."
    took_s = (moment(ends[0].time) - moment(starts[0].time)).total_seconds()
    if rules.budget.wall_time is not None and took_s > rules.budget.wall_time + delay:
        yield f"it took {took_s:.0f} s by the board's clock; at most {rules.budget.wall_time:.0f} are allowed."


def _gaps(anchors: list[tuple[LedgerEntry, Anchor]], run: Evidence, most_s: float) -> Iterator[str]:
    """The first thing that the board did not learn of for too long though the attempt went on: it could be redone.

    What an attempt did just before it was killed is anchored when the run is taken up again, however late.
    """
    left = iter(anchors)
    entry, said = next(left)
    for number, (event, last) in enumerate(zip(run.events, _attempt_ends(run.events), strict=True), 1):
        while said.lines < number:
            entry, said = next(left)  # there is one: the end is anchored
        until = min(moment(entry.time), moment(last))
        if (until - moment(event.time)).total_seconds() > most_s:
            yield f"the board learned of its line {number} of {event.time} only at {entry.time}, while it went on."
            return


def _attempt_ends(events: Sequence[Event]) -> list[str]:
    """For each event, when the attempt that it belongs to was last heard of."""
    ends, last = [], events[-1].time
    for event, before in zip(reversed(events), [*reversed(events[:-1]), None], strict=True):
        ends.append(last)
        if isinstance(event, Resume) and before is not None:
            last = before.time
    return ends[::-1]
