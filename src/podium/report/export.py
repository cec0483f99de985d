"""Results for other programs and for papers: MLE-bench's grading report, CSV, parquet, LaTeX, Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from podium.data.files import write_atomically
from podium.errors import MissingExtraError
from podium.grading.batch import batch_report, competition_report
from podium.grading.grade import DECIMALS
from podium.report.aggregate import MEDALS, RESEARCH, Aggregate, Summary, plus_minus, words
from podium.report.references import THRESHOLDS, ReferenceScores
from podium.report.table import Results, Row
from podium.text import miniature_warning, plural, printable

UNIT = "Percent; mean ± standard error over seeds."
NAMES = tuple(field.name for field in fields(Row))


def records(results: Sequence[Results]) -> list[dict[str, Any]]:
    """All runs as plain values, by the names of `Row`."""
    return [{name: _plain(getattr(row, name)) for name in NAMES} for each in results for row in each.rows]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def write_csv(results: Sequence[Results], path: Path) -> None:
    """Writes all runs as CSV; a text that a spreadsheet would take for a formula gets an apostrophe in front."""
    text = io.StringIO()
    table = csv.DictWriter(text, NAMES, lineterminator="\n")
    table.writeheader()
    table.writerows({name: _harmless(value) for name, value in row.items()} for row in records(results))
    write_atomically(path, text.getvalue())


def _harmless(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else printable(value)


def write_parquet(results: Sequence[Results], path: Path) -> None:
    """Writes all runs as parquet.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("Writing parquet", "parquet") from error
    # Types from the fields, not from the values: an empty column keeps its type.
    kinds = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    types = {field.name: kinds.get(str(field.type).removesuffix(" | None"), pa.string()) for field in fields(Row)}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(records(results), schema=pa.schema(types)), path)


def grading_report(results: Sequence[Results], references: Mapping[str, ReferenceScores]) -> str:
    """All runs that have ended, as MLE-bench's grading report: totals, then every run, seed by seed."""
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
    """A sentence for each thing that the sandboxes of an experiment held less well than they can."""
    said = []
    for each in results:
        ended = [row for row in each.rows if row.reported]
        gaps = Counter(gap for row in ended for gap in filter(None, row.sandbox_gaps.split("; ")))
        said += [f"{each.name}: in {count} of {plural(len(ended), 'run')} {gap}." for gap, count in gaps.items()]
    return said


def medal_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """The table of a paper: a line per experiment and group of tasks, a head line first."""
    groups = [(summary, group) for summary in summaries for group in summary.competitions]
    return _table(groups, tuple(MEDALS))


def research_table(summaries: Sequence[Summary]) -> list[list[str]]:
    """The same for research tasks."""
    groups = [(summary, summary.research) for summary in summaries if summary.research is not None]
    known = [name for name in RESEARCH if any(group and name in group.measures for _, group in groups)]
    return _table(groups, known)


def _table(groups: Sequence[tuple[Summary, Aggregate]], measures: Sequence[str]) -> list[list[str]]:
    if not groups:
        return []
    used = [name for name in measures if any(name in group.measures for _, group in groups)]
    lines = [["experiment", "tasks", "seeds", *(words(name).replace("success at", ">") for name in used)]]
    for summary, group in groups:
        cells = [plus_minus(group.measures[name]) if name in group.measures else "-" for name in used]
        lines.append([summary.name, f"{group.group} ({group.tasks})", str(group.seeds), *cells])
    return lines


def markdown(summaries: Sequence[Summary]) -> str:
    """The tables in Markdown, with how seeds were made."""
    return _document(summaries, _markdown_table, lambda note: f"- {_markdown_text(note)}")


def latex(summaries: Sequence[Summary]) -> str:
    """The tables in LaTeX, for a preamble with booktabs."""
    return _document(summaries, _latex_table, lambda note: f"% {note}")


def _document(
    summaries: Sequence[Summary], table: Callable[[list[list[str]]], str], comment: Callable[[str], str]
) -> str:
    tables = [table(lines) for lines in (medal_table(summaries), research_table(summaries)) if lines]
    warning = first_line(summaries)
    return (
        "\n\n".join(
            [*([comment(warning)] if warning else []), *tables, "\n".join(comment(note) for note in notes(summaries))]
        )
        + "\n"
    )


def first_line(summaries: Sequence[Summary]) -> str | None:
    """What has to be said before any number: that data was fabricated."""
    begun = sum(summary.counts["planned"] - summary.counts["missing"] for summary in summaries)
    return miniature_warning(sum(summary.miniatures for summary in summaries), begun)


def notes(summaries: Sequence[Summary]) -> list[str]:
    """Notes to the tables: unit, error, and what was padded or left out."""
    made = [
        f"{summary.name}, {group.group}: {group.note}."
        for summary in summaries
        for group in (*summary.competitions, *([summary.research] if summary.research else []))
        if not group.complete
    ]
    said = [UNIT]
    if any(summary.competitions for summary in summaries):
        said.append("Percentile: percent of the leaderboard that is worse.")
    if any(summary.research for summary in summaries):
        said.append(
            "> 10 %: of runs that improved the baseline by more than that. Improved: and beyond noise, which is known "
            "where the starter was measured several times (podium baseline TASK)."
        )
    open_to_all = [
        f"{summary.name}: not secret: {plural(summary.not_secret, 'task')} drawn from public seeds. Whoever knows "
        "their ids can make the answers."
        for summary in summaries
        if summary.not_secret
    ]
    return [" ".join(said), *open_to_all, *made]


def _markdown_table(lines: list[list[str]]) -> str:
    rows = ["| " + " | ".join(_markdown_text(cell) for cell in line) + " |" for line in lines]
    return "\n".join([rows[0], "|---|---" + "|--:" * (len(lines[0]) - 2) + "|", *rows[1:]])


def _markdown_text(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\|`*_<>[]" else letter for letter in text)


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}


def _latex_table(lines: list[list[str]]) -> str:
    rows = [" & ".join(_latex_text(cell) for cell in line) + r" \\" for line in lines]
    columns = "ll" + "r" * (len(lines[0]) - 2)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(letter) or (f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)
