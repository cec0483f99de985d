"""Check of an experiment against a board's rules, from its plan and its journals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from podium.board.board_rules import Rules
from podium.board.bundle import BundleManifest
from podium.board.check.check_registration import RunName
from podium.catalog.forge.forge_ids import is_training_task
from podium.catalog.obfuscation.obfuscate import plain_id
from podium.catalog.registry import suites
from podium.runs.experiment import Experiment
from podium.sandbox.policy import Policy
from podium.verify.run_evidence import Evidence
from podium.workspace.journal.events import Resume

TRAINED_ON = "trained_on_tasks"
"""Disclosure of the tasks that an agent was trained on: ids, and ranges of seeds as `ID..LAST`."""
BUDGET_RULES = {"time_s": "time", "wall_s": "wall_time", "steps": "steps", "tokens": "tokens", "cost": "cost"}
"""Names of budget parts in the rules."""


def rule_problems(
    manifest: BundleManifest, experiment: Experiment, runs: Mapping[RunName, Evidence], rules: Rules
) -> Iterator[str]:
    """Yield every broken rule."""
    missing = [task for task in rules.tasks if task not in experiment.tasks]
    if missing:
        yield f"{len(missing)} of {len(rules.tasks)} tasks are missing, such as {missing[0]}."
    if experiment.seeds < rules.seeds:
        yield f"There are {experiment.seeds} seeds; the rules require {rules.seeds}."
    if manifest.light and not rules.runs.light:
        yield "The bundle is light; the rules require snapshots."
    if rules.podium_sha256 and manifest.podium_sha256 not in rules.podium_sha256:
        yield f"Podium {manifest.podium} ({manifest.podium_sha256[:16]}) is not an accepted version."
    unanswered = [name for name in rules.disclosures if not manifest.disclosures.answers.get(name, "").strip()]
    if unanswered:
        yield f"Not disclosed: {', '.join(unanswered)}. Publish with --disclose NAME=ANSWER."
    yield from _training_problems(manifest.disclosures.answers.get(TRAINED_ON, ""), experiment.tasks)
    if experiment.document.changes and not rules.runs.changes:
        changed = ", ".join(change.name for change in experiment.document.changes)
        yield f"The plan was changed during the runs: {changed}."
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
    """Yield tasks that must not be measured because they are for training or the agent was trained on them."""
    for_training = [task for task in tasks if is_training_task(task)]
    if for_training:
        yield f"{for_training[0]} is a training task and cannot be used for measurement."
    known = trained_on(declared, tasks)
    if known:
        yield f"The agent was trained on {len(known)} of the tasks it was measured with, such as {known[0]}."


def _run_problems(run: Evidence, rules: Rules) -> Iterator[str]:
    start = run.start
    if start.edition not in rules.editions:
        yield f"it used edition {start.edition}; the rules require {' or '.join(rules.editions)}."
    if start.miniature != rules.miniature:
        yield f"it used {'a miniature' if start.miniature else 'real data'}, which this board does not rank."
    resumes = [event for event in run.attempts if isinstance(event, Resume)]
    if len(resumes) > rules.runs.resumes:
        yield f"it was resumed {len(resumes)} times; at most {rules.runs.resumes} are allowed."
    if any(resume.changes for resume in resumes) and not rules.runs.changes:
        yield "its model or budget was changed during the run."
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
        yield f"it used {used.working_s:.0f} s of working time; at most {rules.budget.time:.0f} s are allowed."


def _sandbox_problems(backend: str, policy: Policy, rules: Rules) -> Iterator[str]:
    asked = rules.sandbox
    if backend not in asked.backends:
        yield f"it used the sandbox {backend}; the rules require {' or '.join(asked.backends)}."
    if asked.sealed and not policy.sealed:
        yield "its sandbox did not isolate programs from the host."
    if not asked.network and policy.network != "none":
        yield f"its programs had network access ({policy.network})."
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
        declared: Text with names of tasks and suites; `forge-graph-easy-10..19` means ten tasks.
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
