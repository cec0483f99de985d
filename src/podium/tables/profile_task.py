"""Task profiler: reads a task's public files, brief and sample submission, never its name.

Large files are read partially.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podium.tables.data_files import (
    ARRAYS,
    AUDIO,
    IMAGES,
    Paths,
    describe_files,
    find_file_patterns,
    group_files,
    list_files,
    packed_tables,
)
from podium.tables.describe_tables import ReadTables, read_frame, read_tables
from podium.tables.forbidden_columns import forbidden_names
from podium.tables.parse_numbers import to_numbers
from podium.tables.profile import Modality, Profile
from podium.tables.relations import find_features, find_further_tables, find_order
from podium.tables.targets import CLASS_METRICS, LIST_METRICS, RUN_LENGTHS, adds_up, find_goal, find_test, find_truth

if TYPE_CHECKING:
    import pandas as pd

    from podium.task import Metric

_MEDIA: tuple[tuple[Modality, frozenset[str]], ...] = (("images", IMAGES), ("audio", AUDIO), ("arrays", ARRAYS))


def profile_task(
    public: Path, *, brief: str, metric: Metric, sample: str, ids: tuple[str, ...], targets: tuple[str, ...]
) -> Profile:
    """Return the profile of a task.

    Args:
        public: The folder with its public files.
        sample: The name of the sample submission in that folder.
    """
    size, listed = list_files(public)
    groups = group_files(public, listed)
    bare = Profile(
        brief=brief,
        metric=metric.name,
        metric_title=metric.title,
        metric_options=dict(metric.options),
        higher_is_better=metric.higher_is_better,
        sample=sample,
        ids=ids,
        targets=targets,
        files=describe_files(groups),
        size_bytes=size,
    )
    try:
        read = read_tables(public, [*(name for name in listed if name != sample), *packed_tables(groups)])
        return _profile(bare, read_frame(public / sample, text=True), read, groups)
    # Data can be unusual in many ways; a constant submission remains possible.
    except Exception as error:  # noqa: BLE001
        return replace(bare, warnings=(f"The data could not be analysed ({type(error).__name__}: {error}).",))


def _profile(bare: Profile, sample: pd.DataFrame, read: ReadTables, groups: Paths) -> Profile:
    """Return the complete profile, given the tables."""
    test = find_test(bare, sample, read)
    truth = find_truth(bare, sample, read, groups, None if test is None else test[0])
    if truth is not None:
        read.keep_words(truth.table, truth.labels)
    profile = replace(
        bare,
        tables=tuple(read.tables.values()),
        train=None if truth is None else read.tables[truth.table],
        test=None if test is None else read.tables[test[0]],
        key=None if test is None else test[1],
        is_distribution=adds_up(sample, bare.targets),
        is_sample_informative=_is_informative(sample, bare.targets),
    )
    if truth is None:
        warning = "No table contains the target, so there is nothing to learn from."
        return replace(profile, modality=_modality(profile, sample, read), warnings=(warning,))
    frame = read.frames[truth.table]
    has_later = profile.metric in CLASS_METRICS and len(truth.labels) == 1 and read.tables[truth.table].is_truncated
    labels = read.all_labels(truth.table, truth.labels[0]) if has_later else frame
    goal, classes = find_goal(profile, sample, labels, truth)
    separator = " " if goal == "multilabel" and classes else truth.separator
    profile = replace(
        profile, goal=goal, labels=truth.labels, classes=classes, is_wide=truth.is_wide, separator=separator
    )
    if len(profile.labels) > 1:
        is_distribution = profile.metric == "kl_divergence" or adds_up(frame, profile.labels)
        profile = replace(profile, is_distribution=profile.is_distribution and is_distribution)
    tests = None if test is None else read.frames[test[0]]
    profile = replace(profile, file_patterns=find_file_patterns(groups, frame, tests, sample, profile.ids))
    profile = replace(profile, features=find_features(profile))
    profile = replace(profile, **find_order(profile, read), **find_further_tables(profile, read))
    unclear = ("The target is neither a class, a number nor a list.",)
    if profile.has_constant_target:
        unclear = ("All rows of train have the same target.",)
    ruled_out = [name for name in profile.train.names if name in forbidden_names(bare.brief)] if profile.train else []
    obeyed = tuple(f"The brief forbids {name}, so no script uses it." for name in ruled_out)
    warnings = (*(unclear if goal in ("unknown", "text") else ()), *obeyed)
    return replace(profile, modality=_modality(profile, sample, read), warnings=warnings)


def _is_informative(sample: pd.DataFrame, targets: tuple[str, ...]) -> bool:
    """Return whether the targets of a sample are words that differ from row to row."""

    if len(targets) != 1 or targets[0] not in sample:
        return False
    words = sample[targets[0]][to_numbers(sample[targets[0]]).isna()]
    return bool(words.nunique() > max(2, 0.1 * len(sample)))


def _modality(profile: Profile, sample: pd.DataFrame, read: ReadTables) -> Modality:
    """Return the kind of the main input."""
    if profile.goal == "list" or (profile.metric in LIST_METRICS and not profile.is_listed):
        other: Modality = "text" if profile.of_kind("text") else "images" if profile.file_patterns else "unknown"
        return "ranking" if _has_log(profile, read) else other
    suffixes = {files.suffix for files in profile.files if files.count >= 5}
    if profile.file_patterns is not None or (profile.train is None and suffixes):
        if _has_masks(profile, sample):
            return "masks"
        for modality, known in _MEDIA:
            if suffixes & known:
                return modality
    if profile.train is None or profile.goal in ("unknown", "text"):
        return "unknown"
    if profile.edges is not None:
        return "graph"
    if profile.is_series and profile.goal == "regression" and len(profile.labels) == 1:
        return "series"
    return "text" if profile.of_kind("text") else "tabular" if profile.features else "unknown"


def _has_masks(profile: Profile, sample: pd.DataFrame) -> bool:
    if profile.metric.startswith("rle_") or profile.metric == "dice_hausdorff":
        return True
    is_single = len(profile.targets) == 1 and profile.targets[0] in sample
    return is_single and any(re.match(RUN_LENGTHS, cell) for cell in sample[profile.targets[0]])


def _has_log(profile: Profile, read: ReadTables) -> bool:
    """Return whether a table has many rows per id of the sample."""
    user = profile.ids[0]
    return any(user in frame and frame[user].duplicated().mean() > 0.3 for frame in read.frames.values())
