"""Export of results as MLE-bench grading reports, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from podium.errors import MissingExtraError
from podium.grading.batch_report import batch_report, competition_report
from podium.grading.grade import DECIMALS
from podium.report.aggregate import Summary
from podium.report.results import Results, Row
from podium.report.score_references import THRESHOLDS, ReferenceScores
from podium.safefs.atomic_files import write_atomically
from podium.text import miniature_warning, plural, printable

NAMES = tuple(field.name for field in fields(Row))


def records(results: Sequence[Results]) -> list[dict[str, Any]]:
    """Return all runs as plain values under the names of `Row`."""
    return [{name: _plain(getattr(row, name)) for name in NAMES} for each in results for row in each.rows]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def write_csv(results: Sequence[Results], path: Path) -> None:
    """Write all runs as CSV, with an apostrophe before any text that a spreadsheet would run as a formula."""
    text = io.StringIO()
    table = csv.DictWriter(text, NAMES, lineterminator="\n")
    table.writeheader()
    table.writerows({name: harmless(value) for name, value in row.items()} for row in records(results))
    write_atomically(path, text.getvalue())


def harmless(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else printable(value)


def write_parquet(results: Sequence[Results], path: Path) -> None:
    """Write all runs as Parquet.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("Writing Parquet", "parquet") from error
    # Types from the fields, not from the values: an empty column keeps its type.
    kinds = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    types = {field.name: kinds.get(str(field.type).removesuffix(" | None"), pa.string()) for field in fields(Row)}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(records(results), schema=pa.schema(types)), path)


def grading_report(results: Sequence[Results], references: Mapping[str, ReferenceScores]) -> str:
    """Return all ended runs as MLE-bench's grading report: totals, then every run by seed."""
    rows = sorted((row for each in results for row in each.rows if row.reported), key=lambda row: (row.seed, row.task))
    reports = [_competition_report(row, references[row.task]) for row in rows if row.competition]
    return json.dumps(batch_report(reports), indent=2, allow_nan=False) + "\n"


def _competition_report(row: Row, reference: ReferenceScores) -> dict[str, Any]:
    higher = row.higher_is_better if row.higher_is_better is not None else reference.higher_is_better
    return competition_report(
        row.task,
        score=None if row.score is None else round(row.score, DECIMALS),
        limits={name: getattr(reference, name) for name in THRESHOLDS},
        medal=row.medal,
        above_median=row.above_median,
        exists=row.submitted,
        valid=row.valid,
        lower_is_better=None if higher is None else not higher,
        created=row.ended,
        path=str(row.folder / "submission.csv") if row.folder and row.submitted else None,
        edition=row.edition,
        miniature=row.miniature,
        error=row.error,
    )


def sandbox_gaps(results: Sequence[Results]) -> list[str]:
    """Return a sentence for each guarantee that an experiment's sandboxes did not fully enforce."""
    said = []
    for each in results:
        ended = [row for row in each.rows if row.reported]
        gaps = Counter(gap for row in ended for gap in filter(None, row.sandbox_gaps.split("; ")))
        said += [f"{each.name}: {gap} ({count} of {plural(len(ended), 'run')})." for gap, count in gaps.items()]
    return said


def miniature_note(summaries: Sequence[Summary]) -> str | None:
    """Return the warning about fabricated data, or None."""
    begun = sum(summary.counts["planned"] - summary.counts["missing"] for summary in summaries)
    return miniature_warning(sum(summary.miniatures for summary in summaries), begun)
