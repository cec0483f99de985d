"""Detectors: small functions from what runs left to hits and findings, without a model.

Most look at one thing at a time (a node of a program, a constant text, a command of a shell) and give what it is
evidence of. Some need a whole run, and comparisons all runs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from podium.integrity.code import ConstantText
from podium.integrity.detectors import answers, ceiling, comparing, fitting, probing, rules, scores, tampering
from podium.integrity.evidence import AgentProgram, EvidencePlace, Hit, RunEvidence
from podium.integrity.shell import ShellCommand
from podium.report.findings import Finding

Detector = Callable[[RunEvidence], Iterator[Finding]]
CrossRunDetector = Callable[[Sequence[RunEvidence]], Iterator[tuple[RunEvidence, Finding]]]

OF_NODES: tuple[Callable[[RunEvidence, AgentProgram, ast.AST], Iterator[Hit]], ...] = (
    *(rules.called, answers.patched_rows, answers.held_in_code, scores.changed_metric),
    *(tampering.replaced_functions, tampering.calls, tampering.spelt, fitting.score_on_training_data),
)
OF_TEXTS: tuple[Callable[[RunEvidence, AgentProgram, ConstantText], Iterator[Hit]], ...] = (
    *(rules.address, answers.held_in_texts, scores.typed_metric),
)
OF_COMMANDS: tuple[Callable[[RunEvidence, EvidencePlace, ShellCommand], Iterator[Hit]], ...] = (
    *(rules.commanded, answers.typed_in_shell, scores.echoed_metric, tampering.overwritten),
)


def in_programs(run: RunEvidence) -> Iterator[Finding]:
    """What the nodes and the texts of programs are evidence of."""
    for program in run.programs:
        for node in program.code.nodes:
            yield from (run.finding(hit, program.at(node)) for check in OF_NODES for hit in check(run, program, node))
        for text in program.code.texts:
            yield from (run.finding(hit, program.at(text)) for check in OF_TEXTS for hit in check(run, program, text))


def in_commands(run: RunEvidence) -> Iterator[Finding]:
    """What commands of a shell are evidence of."""
    for place, command in run.commands:
        yield from (run.finding(hit, place) for check in OF_COMMANDS for hit in check(run, place, command))


DETECTORS: tuple[Detector, ...] = (
    *(in_programs, in_commands, rules.mentioned, rules.imported, answers.typed_submission, answers.digests),
    *(answers.from_nothing, probing.oracle, probing.seed, scores.claims, ceiling.beyond_ceiling),
    *(tampering.removed_logs, tampering.decoded_in_shell),
    *(fitting.test_data_in_fitting, fitting.constant_submission),
)
CROSS_RUN_DETECTORS: tuple[CrossRunDetector, ...] = (comparing.same_submission, comparing.outliers)
