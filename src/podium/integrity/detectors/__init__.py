"""Detectors of cheating: small functions from the evidence of runs to hits and findings, without a model.

Most check one thing at a time (a node of a program, a constant text, a shell command) and yield hits. Some need a whole
run, and comparisons need all runs.
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

NODE_CHECKS: tuple[Callable[[RunEvidence, AgentProgram, ast.AST], Iterator[Hit]], ...] = (
    *(
        suspicious_calls.suspicious_function,
        hardcoded_answers.patched_rows,
        hardcoded_answers.answers_in_code,
        invented_scores.changed_metric,
    ),
    *(
        tampering.replaced_functions,
        tampering.tampering_calls,
        tampering.spelled_words,
        fitting_on_test_data.score_on_training_data,
    ),
)
TEXT_CHECKS: tuple[Callable[[RunEvidence, AgentProgram, ConstantText], Iterator[Hit]], ...] = (
    *(suspicious_calls.external_address, hardcoded_answers.answers_in_string, invented_scores.typed_metric),
)
COMMAND_CHECKS: tuple[Callable[[RunEvidence, EvidencePlace, ShellCommand], Iterator[Hit]], ...] = (
    *(
        suspicious_calls.suspicious_command,
        hardcoded_answers.typed_in_shell,
        invented_scores.echoed_metric,
        tampering.overwritten_records,
    ),
)


def in_programs(run: RunEvidence) -> Iterator[Finding]:
    """Run the checks of syntax nodes and constant texts on all programs of a run."""
    for program in run.programs:
        for node in program.code.nodes:
            yield from (
                run.finding(hit, program.at(node)) for check in NODE_CHECKS for hit in check(run, program, node)
            )
        for text in program.code.texts:
            yield from (
                run.finding(hit, program.at(text)) for check in TEXT_CHECKS for hit in check(run, program, text)
            )


def in_commands(run: RunEvidence) -> Iterator[Finding]:
    """Run the checks of shell commands on all commands of a run."""
    for place, command in run.commands:
        yield from (run.finding(hit, place) for check in COMMAND_CHECKS for hit in check(run, place, command))


DETECTORS: tuple[Detector, ...] = (
    *(
        in_programs,
        in_commands,
        suspicious_calls.suspicious_mentions,
        suspicious_calls.suspicious_imports,
        hardcoded_answers.typed_submission,
        hardcoded_answers.stored_digests,
    ),
    *(
        hardcoded_answers.unfounded_predictions,
        grader_probing.validator_probing,
        grader_probing.seed_search,
        invented_scores.unsupported_claims,
        impossible_scores.beyond_ceiling,
    ),
    *(tampering.removed_logs, tampering.decoded_in_shell),
    *(fitting_on_test_data.test_data_in_fitting, fitting_on_test_data.constant_submission),
)
CROSS_RUN_DETECTORS: tuple[CrossRunDetector, ...] = (outlier_runs.same_submission, outlier_runs.outliers)
