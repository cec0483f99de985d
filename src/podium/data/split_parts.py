"""Writers for split data: tables and files of the train and test part in the public and private folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from podium.data.formats.archives import unpacked, write_zip
from podium.data.formats.csv_files import one_hot, read_csv, sample_of, write_csv
from podium.data.split import split_later, split_rows, split_whole_groups
from podium.safefs.atomic_files import link_file, link_path, link_tree
from podium.task import Columns, Task

Parts = Sequence[pd.DataFrame]
"""Train part and test part."""


def split_table(
    task: Task,
    test_size: float,
    *,
    table: str = "train.csv",
    files: str | None = None,
    test_files: str | None = None,
    archive: str | None = None,
    shared: Sequence[str] = (),
    dtype: Any = None,
    stratify: str | None = None,
    together: str | None = None,
    later: str | None = None,
    **options: Any,
) -> None:
    """Declare the usual preparation: split the rows of one raw table (by default at random) and their files with them.

    Args:
        table: The raw table; the train part gets its name, less `.zip`.
        files, test_files: The files of a row, as in `link_parts`.
        archive: The archive that contains these files; each part then gets an archive from `zip_parts`.
        shared: Files and folders that are published unchanged.
        dtype: The dtypes of columns that pandas would otherwise convert.
        stratify: The column whose values get equal shares in both parts.
        together: The column whose groups are not divided.
        later: The column of times; the test part gets the latest rows.
        options: Further arguments of `write_parts`.
    """

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        rows = read_csv(raw / table, dtype=dtype)
        classes = None if stratify is None else rows[stratify]
        if later:
            parts = split_later(rows, later, test_size)
        elif together:
            parts = split_whole_groups(rows, together, test_size, stratify=classes)
        else:
            parts = split_rows(rows, test_size, stratify=classes)
        write_parts(task.form, parts, public, private, **{"train": table.removesuffix(".zip"), **options})
        if files and archive:
            zip_parts(parts, raw / archive, public, files=files)
        elif files:
            link_parts(parts, raw, public, files=files, test_files=test_files)
        for name in shared:
            link_path(raw / name, public / name)


def write_parts(
    form: Columns,
    parts: Parts,
    public: Path,
    private: Path,
    *,
    guess: Any,
    hidden: str | Sequence[str] | None = None,
    train: str = "train.csv",
    answers: pd.DataFrame | None = None,
    classes: str | None = None,
    **options: Any,
) -> None:
    """Write the tables of a split: train part, test part, sample submission and answers.

    Args:
        form: The form of submissions; it also names the sample and the answers.
        guess: The predictions of the sample submission: a value for every target, a mapping with a value for each, or
            a function from the number of rows to the values.
        hidden: The columns left out of the public test.csv; without them there is no such file.
        train: The name of the train table.
        answers: The answers, if they differ from the test part.
        classes: The column of labels, if the answers have a 0/1 column for each target instead.
        options: Options of `write_csv` for all tables but the sample.
    """
    known, test = parts
    write_csv(known, public / train, **options)
    if hidden is not None:
        write_csv(test.drop(columns=hidden), public / "test.csv", **options)
    if classes:
        answers = test[list(form.ids)].join(one_hot(test[classes], form.targets))
    write_csv(test if answers is None else answers, private / form.answers, **options)
    _write_sample(form, test, public, guess)


def write_answers(form: Columns, answers: pd.DataFrame, public: Path, private: Path, *, guess: Any) -> None:
    """Write answers and a sample submission for their ids that predicts `guess` (see `write_parts`)."""
    write_csv(answers, private / form.answers)
    _write_sample(form, answers, public, guess)


def _write_sample(form: Columns, rows: pd.DataFrame, public: Path, guess: Any) -> None:
    guess = guess(len(rows)) if callable(guess) else guess
    guesses = guess if isinstance(guess, Mapping) else dict.fromkeys(form.targets, guess)
    write_csv(sample_of(rows, list(form.ids), **guesses), public / form.sample)


def link_parts(
    parts: Parts, raw: Path, public: Path, *, files: str, test_files: str | None = None, renamed: Parts | None = None
) -> None:
    """Link the file of each row into the public folder.

    Args:
        files: The path of a file with columns in braces, such as `train/{id}.jpg`; a path that ends in `/` is a folder.
        test_files: The path of the test part's files; by default the same with `test` for the first `train`.
        renamed: The parts with other ids, if files are published under those.
    """
    patterns = files, test_files or files.replace("train", "test", 1)
    for part, new_part, pattern in zip(parts, renamed or parts, patterns, strict=True):
        put = link_tree if pattern.endswith("/") else link_file
        for old, new in zip(file_names(part, files), file_names(new_part, pattern), strict=True):
            put(raw / old, public / new)


def zip_parts(parts: Parts, archive: Path, public: Path, *, files: str) -> None:
    """Repack the files of both parts into an archive of the same name and one with `test` for `train`.

    Args:
        files: The path of a row's file in the old archive, as in `link_parts`; the new archives have no folders.
    """
    with unpacked(archive, public) as folder:
        for part, name in zip(parts, (archive.name, archive.name.replace("train", "test", 1)), strict=True):
            members = {Path(file).name: folder / file for file in file_names(part, files)}
            write_zip(public / name, sorted(members.items()))


def file_names(table: pd.DataFrame, pattern: str) -> list[str]:
    """Return the pattern filled in with the columns of each row: `{id[0]}/{id}.npy`."""
    used = [name for name in table.columns if f"{{{name}" in pattern]
    return [pattern.format_map(row) for row in table[used].to_dict("records")]
