"""Label leaks: columns that equal the answer, rows that give it away, and answers written in public files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from podium.integrity.audit.audited_task import AuditedTask, DataFile, TaskFinding
from podium.integrity.audit.public_tables import PublicTable, dicom_facts, picture_facts
from podium.tables.parse_numbers import to_numbers

MIN_ROWS = 8
MIN_AGREEMENT = 0.99
"""Smallest share of rows on which a column and the answers must agree to count as equal."""
MIN_CORRELATION = 1 - 1e-9
MAX_CHANCE = 1e-5
"""Largest probability of a relation by chance; divided by the number of columns tested."""
_MIN_DIGITS = 7
"""Smallest number of digits of a number that is not repeated by chance."""
_MAX_READ_BYTES = 8 << 20
_PICTURES = (".jpg", ".jpeg", ".png", ".tif", ".tiff")
_TEXTS = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".xml", ".nmea", ".log", ".dat")


def labels_in_columns(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find columns of tables, features of records and file headers that equal the answer under another name."""
    for table in [*task.tables, *_headers(task)]:
        for column, values in _about_test(task, table):
            for target, answers in task.labels.items():
                sentence = _tells(values, answers)
                if sentence and column not in task.form.ids:
                    reason = sentence.format(column=column, target=target)
                    yield task.finding("label in a public file", reason, 0.98, file=table.name)


def labels_by_presence(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find columns that are filled only for rows with a certain answer, such as facts that became known later."""
    for table in task.tables:
        for column, values in _about_test(task, table):
            if (values == values.mode().max()).mean() < 0.5:  # most rows must be alike
                continue
            for target in (name for name in task.labels if name in task.form.targets):
                cells, answers = [values], [task.labels[target]]
                for other in (other for other in task.train_tables if column in other.cells):
                    cells.append(other.cells[column])
                    answers.append(other.cells[target])
                reason = _one_sided(column, pd.concat(cells), pd.concat(answers), columns=len(table.cells.columns))
                if reason and column not in (*task.form.ids, target):
                    yield task.finding("label in a public file", reason, 0.9, file=table.name)


def _about_test(task: AuditedTask, table: PublicTable) -> Iterator[tuple[str, pd.Series[str]]]:
    """Yield the columns of a table aligned with the test rows by id; none if it does not mention test rows.

    A cell is missing where the table has no such row, or several that differ.
    """
    key = _id_column(task, table)
    if key is None:
        return
    rows = table.cells[table.cells[key].isin(set(task.ids))]
    if rows[key].duplicated().any():
        groups = rows.groupby(key)
        rows = groups.first().where(groups.nunique() <= 1).reset_index()
    rows = rows.set_index(key).reindex(task.ids).reset_index(drop=True)
    for column in rows:
        yield str(column), rows[column]


def _id_column(task: AuditedTask, table: PublicTable) -> str | None:
    """Return the column with the most ids of test rows, or None."""
    wanted = set(task.ids)
    known = {str(column): len(wanted & set(table.cells[column])) for column in table.cells}
    best = max(known, key=lambda column: known[column])
    return best if known[best] >= max(0.2 * len(wanted), min(MIN_ROWS, len(wanted))) else None


def _tells(values: pd.Series[str], answers: pd.Series[str]) -> str | None:
    """Return a sentence about how a column gives away the answers, with `{column}` and `{target}`, or None."""
    known = values.notna() & (values != "")
    values, truth = values[known], answers[known]
    if len(values) < MIN_ROWS or truth.nunique() < 2 or values.nunique() < 2:
        return None
    if (values == truth).mean() >= MIN_AGREEMENT:
        return "Column '{column}' equals {target} in the test rows."
    classes = truth.nunique()
    if values.nunique() == classes <= len(truth) / 4 and len((values + "\0" + truth).unique()) == classes:
        return "Column '{column}' has a distinct value for each value of {target} in the test rows."
    if classes <= MIN_ROWS:
        return None
    numbers, wanted = (_numbers(each) for each in (values, truth))
    both = numbers.notna() & wanted.notna()
    if both.mean() > MIN_AGREEMENT and numbers[both].std() > 0 and wanted[both].std() > 0:
        related = abs(np.corrcoef(numbers[both], wanted[both])[0, 1])
        if related > MIN_CORRELATION:
            return "Column '{column}' is a linear function of {target} in the test rows."
    return None


def _numbers(texts: pd.Series[str]) -> pd.Series[float]:
    return to_numbers(texts).astype(float)


def _one_sided(column: str, values: pd.Series[str], answers: pd.Series[str], *, columns: int) -> str | None:
    """Return a description of the rows where a column is filled if they all have one answer, else None.

    The column must be empty or constant in most rows, and all others must have one answer, more often than by chance.
    """
    known = values.notna()
    values, answers = values[known], answers[known]
    if len(values) < 4 * MIN_ROWS or answers.nunique() != 2:
        return None
    usual = values.mode()[0]
    rest = answers[values != usual]
    if not MIN_ROWS <= len(rest) <= len(values) / 2 or rest.nunique() != 1:
        return None
    chance = float((answers == rest.iloc[0]).mean()) ** len(rest)
    if chance >= MAX_CHANCE / columns:
        return None
    others = f"the answer is {rest.iloc[0]} in all {len(rest)} others"
    return f"Column '{column}' is '{usual[:20]}' in most rows, and {others}."


def _headers(task: AuditedTask) -> Iterator[PublicTable]:
    """Yield tables of the headers of the test files, one row per test row."""
    for endings, read in ((_PICTURES, picture_facts), ((".dcm", ".dicom"), dicom_facts)):
        rows = {
            task.ids[number]: read(file.path)
            for number, file in files_of_rows(task)
            if file.path.suffix.lower() in endings
        }
        facts = pd.DataFrame.from_dict(rows, orient="index", dtype=str)
        if len(facts) and len(facts.columns):
            first = next(file.name for _, file in files_of_rows(task) if file.path.suffix.lower() in endings)
            yield PublicTable(first, facts.fillna("").rename_axis("id of the file").reset_index())


def files_of_rows(task: AuditedTask) -> list[tuple[int, DataFile]]:
    """Return the files whose path names a test row, with the number of the row."""
    rows = {row: number for number, row in reversed(list(enumerate(task.ids)))}
    rows |= {Path(row).stem: number for row, number in rows.items()}
    digits = {len(row) for row in rows if row.isdigit()}
    found = []
    for file in task.public_files:
        if file.is_train:
            continue
        names = re.split(r"[/._]|(?<=\d)(?=[A-Za-z])", file.name)
        parts = {*file.name.split("/"), *(Path(part).stem for part in file.name.split("/")), *names}
        parts |= {name[-size:] for name in names for size in digits if size >= 4 and name[-size:].isdigit()}
        row = next((rows[part] for part in parts if part in rows), None)
        if row is not None:
            found.append((row, file))
    return found


def answers_in_texts(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find answers with many digits that are written in a public file outside the training data."""
    for target in task.targets:
        texts = task.answers[target].map(str)
        wanted = {text for text in texts if "." in text and len(re.sub(r"\D", "", text)) >= _MIN_DIGITS}
        if len(wanted) < max(MIN_ROWS, len(task.answers) / 2):
            continue
        in_train = {token for file in task.public_files if file.is_train for token in _tokens(file) & wanted}
        unseen = wanted - in_train
        if len(unseen) < MIN_ROWS:
            continue
        files = {file.name: _tokens(file) & unseen for file in task.public_files if not file.is_train}
        found = set().union(*files.values())
        if len(found) >= len(unseen) / 2:
            telling = max(files, key=lambda name: len(files[name]))
            reason = f"Public files contain {len(found)} of {len(unseen)} different values of {target}."
            yield task.finding("answers written in a public file", reason, 0.99, file=telling)


def _tokens(file: DataFile) -> set[str]:
    if file.path.suffix.lower() not in _TEXTS:
        return set()
    text = file.path.read_bytes()[:_MAX_READ_BYTES].decode("utf-8", "replace")
    return set(re.findall(r"-?\d+\.\d{3,}(?:e-?\d+)?", text))


def answers_in_binaries(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find sequences of numbers that are in the binary files of their own row and not in those of other rows."""
    for target in task.targets:
        sequences = [_sequence(str(answer)) for answer in task.answers[target]]
        if sum(len(each) >= 4 for each in sequences) < MIN_ROWS:
            continue
        own: dict[int, str] = {}
        other = set()
        for row, file in files_of_rows(task):
            if file.path.suffix.lower() in (*_TEXTS, *_PICTURES) or len(sequences[row]) < 4:
                continue
            data = file.path.read_bytes()[:_MAX_READ_BYTES]
            if _holds(data, sequences[row]):
                own[row] = file.name
            if len(sequences[row - 1]) >= 4 and _holds(data, sequences[row - 1]):
                other.add(row)
        if len(own) >= MIN_ROWS and len(other) <= len(own) / 10:
            reason = f"{len(own)} of {len(sequences)} test rows have their {target} in one of their own files."
            yield task.finding("answers written in a public file", reason, 0.99, file=next(iter(own.values())))


def _sequence(answer: str) -> list[int]:
    parts = answer.replace(",", " ").split()
    return [int(part) for part in parts] if all(part.isdigit() and len(part) < 10 for part in parts) else []


def _holds(data: bytes, numbers: list[int]) -> bool:
    """Return whether the bytes contain a sequence of numbers, in any of the usual widths or as text."""
    forms = [
        np.array(numbers).astype(kind).tobytes() for kind in ("<u1", "<u2", "<u4", "<u8", "<f4", "<f8", ">u2", ">u4")
    ]
    forms += [separator.join(map(str, numbers)).encode() for separator in (" ", ",", ", ", "\n")]
    return any(form in data for form in forms)


def labels_in_names(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find test files whose path names their answer."""
    for target in task.targets:
        answers = task.answers[target].map(str)
        if not 2 <= answers.nunique() <= len(answers) / 2 or answers.str.fullmatch(r"[\d.]{0,3}").any():
            continue
        own = other = count = 0
        telling = ""
        for row, file in files_of_rows(task):
            words = set(re.split(r"[^a-z0-9]+", file.name.lower()))
            is_own = answers[row].lower() in words
            own, count, telling = own + is_own, count + 1, file.name if is_own else telling
            other += answers.iloc[row - 1].lower() in words
        if own >= MIN_ROWS and own > 0.5 * count and other < 0.7 * own:
            reason = f"{own} of {count} test files have their {target} in their name."
            yield task.finding("label in a file name", reason, 0.95, file=telling)
