"""Detectors: small functions from what runs left to findings, without a model.

One that looks at a run alone is a function `(RunEvidence) -> Iterator[Finding]`, listed in `DETECTORS`; one that
compares runs takes all of them, and is listed in `COMPARISONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from podium.integrity.detectors import places
from podium.integrity.evidence import RunEvidence
from podium.report.findings import Finding

Detector = Callable[[RunEvidence], Iterator[Finding]]
Comparison = Callable[[Sequence[RunEvidence]], Iterator[Finding]]

DETECTORS: tuple[Detector, ...] = (
    places.private_data,
    places.host_files,
    places.other_runs,
    places.podium_files,
    places.network,
    places.external_models,
)
COMPARISONS: tuple[Comparison, ...] = ()
