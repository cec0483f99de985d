"""Baseline of a research task: the starter code's measured score, and the improvement of other scores over it."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from podium.data.home import DataFolder
from podium.data.manifest import manifest_sha256
from podium.errors import PodiumError
from podium.safefs.atomic_files import write_atomically
from podium.task import Baseline, Edition, Measured

CONFIDENCE = 0.95


@dataclass(frozen=True)
class BaselineMeasurement:
    """Content of `baseline.json`: scores of the starter code, and the machine that measured them."""

    task: str
    edition: Edition
    miniature: bool
    scores: tuple[float, ...]
    """Scores of the runs that left a valid submission."""
    failed: int
    """Number of runs without a valid submission."""
    machine: dict[str, str]
    versions: dict[str, str]
    measured: str
    """Time of the measurement in UTC."""
    data_sha256: str = field(default="")
    """Hash of the manifest of the data used for the measurement."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.scores)

    @property
    def sd(self) -> float | None:
        return statistics.stdev(self.scores) if len(self.scores) > 1 else None


def write_baseline(place: DataFolder, measured: BaselineMeasurement) -> None:
    """Store a measurement next to the data used for it.

    Raises:
        PodiumError: No run left a valid submission.
    """
    if not measured.scores:
        raise PodiumError(f"None of {measured.failed} runs of {measured.task}'s starter code left a valid submission.")
    document = {**asdict(measured), "n": len(measured.scores), "mean": measured.mean, "sd": measured.sd}
    document["data_sha256"] = manifest_sha256(place)
    write_atomically(place.baseline, json.dumps(document, indent=1, allow_nan=False) + "\n")


def read_baseline(place: DataFolder) -> Baseline | None:
    """Return the baseline measured on the current data, or None."""
    try:
        document = json.loads(place.baseline.read_text(encoding="utf-8"))
        if document["data_sha256"] != manifest_sha256(place):
            return None
        scores = [float(score) for score in document["scores"]]
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError) as error:
        raise PodiumError(f"{place.baseline} is damaged ({error}). Delete it and run: podium baseline TASK") from error
    return baseline_of(scores)


def baseline_of(scores: Sequence[float]) -> Baseline:
    """Return the baseline made of the scores of several runs of the starter code."""
    sd = statistics.stdev(scores) if len(scores) > 1 else None
    return Baseline(statistics.fmean(scores), sd=sd, runs=len(scores))


def improvement(score: float, baseline: float, *, higher_is_better: bool) -> float | None:
    """Return a score's improvement over the baseline in percent (negative: worse), or None if the baseline is zero."""
    gain = score - baseline if higher_is_better else baseline - score
    return 100.0 * gain / abs(baseline) if baseline else None


def beyond_noise(found: Measured, baseline: Baseline, *, higher_is_better: bool) -> bool | None:
    """Return whether a score is better than another run of the starter code would be with 95 % probability.

    For a score with an interval, the whole interval must be better than the baseline. Otherwise the bound is the
    prediction interval of one more run of the baseline: t * sd * sqrt(1 + 1/n) from its mean.
    """
    if found.interval is not None:
        low, high = found.interval
        return low > baseline.score if higher_is_better else high < baseline.score
    if baseline.sd is None:
        return None
    from scipy.stats import t

    gain = found.score - baseline.score if higher_is_better else baseline.score - found.score
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, baseline.runs - 1))
    return gain > quantile * baseline.sd * math.sqrt(1 + 1 / baseline.runs)
