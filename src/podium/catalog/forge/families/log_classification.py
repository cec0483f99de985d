"""Log classification: find the failed sessions by the content, order, frequency and times of their lines."""

from __future__ import annotations

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.field_mix import ladder_entrants
from podium.catalog.forge.entrants.generic_entrants import Goal
from podium.catalog.forge.entrants.table_readings import Reading, as_is, ids_of, read
from podium.catalog.forge.families.log_classification_data import draw_once
from podium.catalog.forge.family import PublicData
from podium.catalog.forge.world.assemble_family import world_family
from podium.metrics import roc_auc
from podium.task import Columns, Number


def _log(data: PublicData) -> tuple[pd.DataFrame, pd.Series]:
    """Return the lines with event, number and pause, and the ids of all rows."""
    (table,) = data.tables.values()
    lines = table.set_axis(["id", "second", "message"], axis=1)
    lines["event"] = lines["message"].str.replace(r"\d+", "#", regex=True)
    lines["value"] = np.log1p(lines["message"].str.extract(r"(\d+)")[0].astype(float))
    lines["gap"] = lines.groupby("id", sort=False)["second"].diff().fillna(lines["second"])
    return lines, ids_of(data)


def _joined(data: PublicData, before: Reading, *tables: pd.DataFrame) -> Reading:
    ids = read(data, _log)[1]
    parts = [table.reindex(ids).reset_index(drop=True) for table in tables]
    return Reading(pd.concat([before.both, *parts], axis=1), before.train_rows)


def _counts(ids: pd.Series, what: pd.Series) -> pd.DataFrame:
    """Count each value for each id: `pd.crosstab`, but much faster."""
    return ids.groupby([ids, what]).size().unstack(fill_value=0).astype(float)


def lengths(data: PublicData) -> Reading:
    """Add the number of lines and their duration."""
    statistics = read(data, _log)[0].groupby("id").agg(lines=("second", "size"), last=("second", "max"))
    return _joined(data, read(data, as_is), statistics)


def events(data: PublicData) -> Reading:
    """Add the frequency of each event."""
    lines = read(data, _log)[0]
    return _joined(data, read(data, lengths), _counts(lines["id"], lines["event"]))


def orders(data: PublicData) -> Reading:
    """Add the numbers of each event, the pairs of successive events, and the pauses."""
    lines = read(data, _log)[0]
    means = lines.pivot_table("value", "id", "event").add_suffix(" mean")
    pauses = lines.groupby("id")["gap"].agg(["max", "mean", "std"])
    pair = lines["event"].shift() + " > " + lines["event"]
    pair = pair.where(lines["id"] == lines["id"].shift(), "start")
    return _joined(data, read(data, events), means, pauses, _counts(lines["id"], pair))


family = world_family(
    "log-classification",
    "Which sessions failed?",
    "log classification",
    metric=roc_auc,
    submission=Columns(id="id", target="target", values=Number(0, 1)),
    draw_once=draw_once,
    entrants=ladder_entrants(
        Goal(finish=lambda prediction, target: np.clip(prediction, 0, 1)),
        raw=as_is,
        plain=lengths,
        good=events,
        expert=orders,
    ),
    row="{row} session",
)
