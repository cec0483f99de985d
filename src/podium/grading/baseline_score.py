"""The starter code's own score: measured, kept with its spread, and what a better score is worth beside it."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from podium.data.home import Place
from podium.data.manifest import manifest_sha256
from podium.errors import PodiumError
from podium.safefs.atomic_files import write_atomically
from podium.task import Baseline, Edition, Measured

CONFIDENCE = 0.95


@dataclass(frozen=True)
class BaselineMeasurement:
    """`baseline.json`: what the starter code scored, and where."""

    task: str
    edition: Edition
    miniature: bool
    scores: tuple[float, ...]
    """Of the runs that left a valid submission."""
    failed: int
    """Runs that did not."""
    machine: dict[str, str]
    versions: dict[str, str]
    measured: str
    """When, in UTC."""
    data_sha256: str = field(default="")
    """Of the manifest of the data it was measured on."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.scores)

    @property
    def sd(self) -> float | None:
        return statistics.stdev(self.scores) if len(self.scores) > 1 else None


def write_baseline(place: Place, measured: BaselineMeasurement) -> None:
    """Keeps a measurement beside the data it was made on.

    Raises:
        PodiumError: no run left a valid submission, so there is nothing to compare with.
    """
    if not measured.scores:
        raise PodiumError(f"None of {measured.failed} runs of the starter code of {measured.task} has a score.")
    document = {**asdict(measured), "n": len(measured.scores), "mean": measured.mean, "sd": measured.sd}
    document["data_sha256"] = manifest_sha256(place)
    write_atomically(place.baseline, json.dumps(document, indent=1, allow_nan=False) + "\n")


def read_baseline(place: Place) -> Baseline | None:
    """What was measured on the data that is there now; None if nothing was."""
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
    """What runs of the starter code scored, as what others are compared with."""
    sd = statistics.stdev(scores) if len(scores) > 1 else None
    return Baseline(statistics.fmean(scores), sd=sd, runs=len(scores))


def improvement(score: float, baseline: float, *, higher_is_better: bool) -> float | None:
    """By how many percent of the baseline a score is better than it (negative: worse); None if that is zero."""
    gain = score - baseline if higher_is_better else baseline - score
    return 100.0 * gain / abs(baseline) if baseline else None


def beyond_noise(found: Measured, baseline: Baseline, *, higher_is_better: bool) -> bool | None:
    """Whether a score is better than another run of the starter code is expected to be, 95 times of 100.

    A score with an interval of its own is, where all of that is better than the baseline. Otherwise the bound is the
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
