"""Detectors: small functions from what runs left to hits and findings, without a model.

Most look at one thing at a time (a node of a program, a constant text, a command of a shell) and give what it is
evidence of. Some need a whole run, and comparisons all runs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from podium.integrity.detectors import (
    fitting_on_test_data,
    grader_probing,
    hardcoded_answers,
    impossible_scores,
    invented_scores,
    outlier_runs,
    suspicious_calls,
    tampering,
)
from podium.integrity.python_code import ConstantText
from podium.integrity.scan_evidence import AgentProgram, EvidencePlace, Hit, RunEvidence
from podium.integrity.shell_commands import ShellCommand
from podium.report.stored_findings import Finding

Detector = Callable[[RunEvidence], Iterator[Finding]]
CrossRunDetector = Callable[[Sequence[RunEvidence]], Iterator[tuple[RunEvidence, Finding]]]

OF_NODES: tuple[Callable[[RunEvidence, AgentProgram, ast.AST], Iterator[Hit]], ...] = (
    *(
        suspicious_calls.called,
        hardcoded_answers.patched_rows,
        hardcoded_answers.held_in_code,
        invented_scores.changed_metric,
    ),
    *(tampering.replaced_functions, tampering.calls, tampering.spelt, fitting_on_test_data.score_on_training_data),
)
OF_TEXTS: tuple[Callable[[RunEvidence, AgentProgram, ConstantText], Iterator[Hit]], ...] = (
    *(suspicious_calls.address, hardcoded_answers.held_in_texts, invented_scores.typed_metric),
)
OF_COMMANDS: tuple[Callable[[RunEvidence, EvidencePlace, ShellCommand], Iterator[Hit]], ...] = (
    *(
        suspicious_calls.commanded,
        hardcoded_answers.typed_in_shell,
        invented_scores.echoed_metric,
        tampering.overwritten,
    ),
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
    *(
        in_programs,
        in_commands,
        suspicious_calls.mentioned,
        suspicious_calls.imported,
        hardcoded_answers.typed_submission,
        hardcoded_answers.digests,
    ),
    *(
        hardcoded_answers.from_nothing,
        grader_probing.oracle,
        grader_probing.seed,
        invented_scores.claims,
        impossible_scores.beyond_ceiling,
    ),
    *(tampering.removed_logs, tampering.decoded_in_shell),
    *(fitting_on_test_data.test_data_in_fitting, fitting_on_test_data.constant_submission),
)
CROSS_RUN_DETECTORS: tuple[CrossRunDetector, ...] = (outlier_runs.same_submission, outlier_runs.outliers)
