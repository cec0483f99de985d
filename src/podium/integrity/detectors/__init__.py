"""Detectors: small functions from what runs left to findings, without a model.

One that looks at a run alone is a function `(RunEvidence) -> Iterator[Finding]`, listed in `DETECTORS`; one that
compares runs takes all of them, and is listed in `COMPARISONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from podium.integrity.detectors import answers, comparing, fitting, probing, rules, scores, tampering
from podium.integrity.evidence import RunEvidence
from podium.report.findings import Finding

Detector = Callable[[RunEvidence], Iterator[Finding]]
Comparison = Callable[[Sequence[RunEvidence]], Iterator[tuple[RunEvidence, Finding]]]

DETECTORS: tuple[Detector, ...] = (
    *(rules.mentioned, rules.called, rules.addresses, rules.commanded),
    *(answers.typed_submission, answers.patched_rows, answers.hard_coded),
    *(probing.oracle, probing.seed, scores.typed_metric, scores.claims),
    *(tampering.replaced_functions, tampering.signals, tampering.removed_logs, tampering.hidden_code),
    *(fitting.test_data_in_fitting, fitting.score_on_training_data, fitting.constant_submission),
)
COMPARISONS: tuple[Comparison, ...] = (comparing.same_submission, comparing.outliers)
