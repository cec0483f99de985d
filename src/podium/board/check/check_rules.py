"""Whether an experiment keeps to a board's rules, as its plan and its journals tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from podium.board.board_rules import Rules
from podium.board.bundle import BundleManifest
from podium.board.check.check_registration import RunName
from podium.catalog import suites
from podium.catalog.forge.forge_ids import is_training_task
from podium.catalog.obfuscation.obfuscate import plain_id
from podium.runs.experiment import Experiment
from podium.sandbox.policy import Policy
from podium.verify.run_evidence import Evidence
from podium.workspace.journal.events import Resume

TRAINED_ON = "trained_on_tasks"
"""The disclosure that names the tasks an agent was trained on: ids, and ranges of seeds as `ID..LAST`."""
BUDGET_RULES = {"time_s": "time", "wall_s": "wall_time", "steps": "steps", "tokens": "tokens", "cost": "cost"}
"""Parts of a budget, and what rules call them."""


def rule_problems(
    manifest: BundleManifest, experiment: Experiment, runs: Mapping[RunName, Evidence], rules: Rules
) -> Iterator[str]:
    """Every rule that is broken."""
    missing = [task for task in rules.tasks if task not in experiment.tasks]
    if missing:
        yield f"{len(missing)} of {len(rules.tasks)} tasks are missing, such as {missing[0]}."
    if experiment.seeds < rules.seeds:
        yield f"There are {experiment.seeds} seeds; the rules ask for {rules.seeds}."
    if manifest.light and not rules.runs.light:
        yield "The bundle is a light one; the rules ask for snapshots."
    if rules.podium_sha256 and manifest.podium_sha256 not in rules.podium_sha256:
        yield f"Podium {manifest.podium} ({manifest.podium_sha256[:16]}) is not among the accepted versions."
    unanswered = [name for name in rules.disclosures if not manifest.disclosures.answers.get(name, "").strip()]
    if unanswered:
        yield f"Not disclosed: {', '.join(unanswered)}. Publish with --disclose NAME=ANSWER."
    yield from _training_problems(manifest.disclosures.answers.get(TRAINED_ON, ""), experiment.tasks)
    if experiment.document.changes and not rules.runs.changes:
        yield f"The plan was changed on the way: {', '.join(change.name for change in experiment.document.changes)}."
    if not rules.runs.padding:
        planned = {(task, seed) for task in experiment.tasks for seed in range(experiment.seeds)}
        unfinished = sorted(planned - {name for name, run in runs.items() if run.record.is_graded})
        if unfinished:
            yield f"{len(unfinished)} runs never finished, such as {unfinished[0][0]}/{unfinished[0][1]}."
    for name, run in sorted(runs.items()):
        if run.record.is_graded:
            for problem in _run_problems(run, rules):
                yield f"{name[0]}/{name[1]}: {problem}"


def _training_problems(declared: str, tasks: Sequence[str]) -> Iterator[str]:
    """Training and measuring never mix."""
    for_training = [task for task in tasks if is_training_task(task)]
    if for_training:
        yield f"{for_training[0]} is made for training: nobody is measured with it."
    known = trained_on(declared, tasks)
    if known:
        yield f"The agent was trained on {len(known)} of the tasks it was measured with, such as {known[0]}."


def _run_problems(run: Evidence, rules: Rules) -> Iterator[str]:
    start = run.start
    if start.edition not in rules.editions:
        yield f"edition {start.edition}; the rules ask for {', '.join(rules.editions)}."
    if start.miniature != rules.miniature:
        yield f"{'a miniature' if start.miniature else 'real data'} does not count here."
    resumes = [event for event in run.attempts if isinstance(event, Resume)]
    if len(resumes) > rules.runs.resumes:
        yield f"it was resumed {len(resumes)} times; at most {rules.runs.resumes} are allowed."
    if any(resume.changes for resume in resumes) and not rules.runs.changes:
        yield "its model or budget was changed on the way."
    if run.forks and not rules.runs.forks:
        yield "it was forked from another run."
    yield from _budget_problems(run, rules)
    for attempt in run.attempts:
        yield from _sandbox_problems(attempt.backend, attempt.sandbox, rules)


def _budget_problems(run: Evidence, rules: Rules) -> Iterator[str]:
    used = run.events[-1].usage
    for name, rule in BUDGET_RULES.items():
        most = getattr(rules.budget, rule)
        given = getattr(run.budget, name)
        if most is not None and (given is None or given > most):
            yield f"its budget for {rule} is {'unlimited' if given is None else given}; at most {most:g} is allowed."
    if rules.budget.time is not None and used.working_s > rules.budget.time * 1.05 + 60:
        yield f"it worked for {used.working_s:.0f} s; at most {rules.budget.time:.0f} are allowed."


def _sandbox_problems(backend: str, policy: Policy, rules: Rules) -> Iterator[str]:
    asked = rules.sandbox
    if backend not in asked.backends:
        yield f"sandbox {backend}; the rules ask for {' or '.join(asked.backends)}."
    if asked.sealed and not policy.sealed:
        yield "its sandbox was not sealed."
    if not asked.network and policy.network != "none":
        yield f"its programs had a network ({policy.network})."
    if asked.gpus is not None and len(policy.gpus) > asked.gpus:
        yield f"it had {len(policy.gpus)} GPUs; at most {asked.gpus} are allowed."
    memory = policy.limits.get("memory_bytes")
    if asked.memory_gib is not None and (memory is None or memory.value is None or memory.enforcement == "no"):
        yield f"its memory was not limited; at most {asked.memory_gib:g} GiB are allowed."
    elif asked.memory_gib is not None and memory and (memory.value or 0) > asked.memory_gib * (1 << 30):
        yield f"it had more than {asked.memory_gib:g} GiB of memory."


def trained_on(declared: str, tasks: Iterable[str]) -> list[str]:
    """Return the tasks that a publisher declares to have trained on.

    Args:
        declared: a text with names of tasks and suites; `forge-graph-easy-10..19` stands for ten tasks.
    """
    words = re.findall(r"[\w@-]+(?:\.\.\d+)?", declared)
    named = {*words, *(task for word in words if word in suites() for task in suites()[word].tasks)}
    ranges = [match.groups() for word in words if (match := re.fullmatch(r"(.+-t?)(\d+)\.\.(\d+)", word))]
    return [
        task
        for task in tasks
        if {task, plain_id(task)} & named or any(_is_in(plain_id(task), *limits) for limits in ranges)
    ]


def _is_in(task: str, stem: str, first: str, last: str) -> bool:
    number = task.removeprefix(stem)
    return task.startswith(stem) and number.isdecimal() and int(first) <= int(number) <= int(last)
