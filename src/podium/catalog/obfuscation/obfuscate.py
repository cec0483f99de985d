"""Obfuscated twins of tasks: the same data and grading, without the story and names that a model may recognise.

The id `obfuscated-TASK` works wherever a task's id does. Files, columns, ids and categories get new names, the same in
all tables; submissions are mapped back before they are graded, with the same metric and the same thresholds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podium.catalog.obfuscation.obfuscated_brief import make_brief
from podium.catalog.obfuscation.renaming import Names, read_names, write_names
from podium.errors import NotPreparedError, UsageError
from podium.task import Columns, EditionParts, Prepare, ReadAnswers, Score, Task, Text, Values

if TYPE_CHECKING:
    import pandas as pd

PREFIX = "obfuscated-"
SAMPLE = "sample_submission.csv"
_BASE = "task/private"
"""Subfolder of the private folder with the task's own answers; its own sample submission is in `task/public`."""


def obfuscated_id(task_id: str) -> str:
    """Return the id of the obfuscated twin of a task."""
    return task_id if task_id.startswith(PREFIX) else PREFIX + task_id


def plain_id(task_id: str) -> str:
    """Return the id of the task behind an obfuscated one; other ids are returned unchanged."""
    return task_id.removeprefix(PREFIX)


def obfuscate(base: Task) -> Task:
    """Return the obfuscated twin of a task.

    Raises:
        UsageError: The task cannot be obfuscated.
    """
    if base.generated:
        raise UsageError(
            f"{base.id} is generated from a seed: no model can have seen it, so there is nothing to obfuscate."
        )
    if not base.is_table or base.starter is not None:
        raise UsageError(
            f"{base.id} expects files or has starter code; only tasks whose submission is a table can be obfuscated."
        )
    editions = {edition: _parts(base.in_edition(edition)) for edition in base.editions}
    twin = replace(
        base,
        id=obfuscated_id(base.id),
        title="Untitled task",
        submission=_form(base.form),
        editions=editions,
        fetcher=_fetcher(base.id),
    )
    return replace(twin, brief=make_brief(base, twin.form))


def _form(form: Columns) -> Columns:
    """Return the form with neutral names."""
    names = dict(zip((*form.ids, *form.targets), _neutral(form), strict=True))
    rules = {names[name]: form.rule(name) for name in form.targets}
    return replace(
        form,
        id=tuple(names[name] for name in form.ids),
        target=tuple(names[name] for name in form.targets),
        values={name: _any_choice(rule) for name, rule in rules.items()},
        aliases={},
        sample=SAMPLE,
        answers_target=None,
    )


def _any_choice(rule: Values) -> Values:
    """Return a rule without choices, which are checked after texts are mapped back."""
    return replace(rule, choices=None) if isinstance(rule, Text) else rule


def _neutral(form: Columns) -> list[str]:
    ids = ["id"] if len(form.ids) == 1 else [f"id_{number}" for number in range(1, len(form.ids) + 1)]
    count = len(form.targets)
    return ids + (["target"] if count == 1 else [f"target_{number}" for number in range(1, count + 1)])


def _fetcher(base_id: str) -> Callable[[Path], None]:
    def fetch(raw: Path) -> None:
        """Link the raw data of the task itself."""
        from podium.safefs.atomic_files import link_tree

        source = raw.parent.parent / base_id / "raw"
        if not source.is_dir():
            raise NotPreparedError(f"The raw data of {base_id} is not in {source}. Run: podium prepare {base_id}")
        link_tree(source, raw)

    return fetch


def _parts(base: Task) -> EditionParts:
    """Return the functions that prepare and score an edition's obfuscated data."""
    return replace(
        base.parts,
        brief="",
        prepare=_prepare(base),
        answers=_answers(base),
        score=_score(base),
        submission=_form(base.form) if base.parts.submission else None,
    )


def _prepare(base: Task) -> Prepare:
    def prepare(raw: Path, public: Path, private: Path) -> None:
        from podium.catalog.obfuscation.obfuscated_tables import obfuscate_folder
        from podium.safefs.atomic_files import link_file

        assert base.parts.prepare is not None
        (private / _BASE).mkdir(parents=True)
        with tempfile.TemporaryDirectory(dir=private) as folder:
            base.parts.prepare(raw, Path(folder), private / _BASE)
            link_file(Path(folder) / base.form.sample, (private / _BASE).parent / "public" / base.form.sample)
            columns = dict(zip((*base.form.ids, *base.form.targets), _neutral(base.form), strict=True))
            names = obfuscate_folder(Path(folder), public, base, columns)
        write_names(names, private)

    return prepare


def _answers(base: Task) -> ReadAnswers:
    def read(private: Path) -> pd.DataFrame:
        """Return the obfuscated ids, with the task's own answers and the names attached for the score."""
        import pandas as pd

        from podium.grading.table_submission import read_answers

        own = base.parts.answers
        table = own(private / _BASE) if own else read_answers(private / _BASE / base.form.answers, base.form)
        names = read_names(private)
        new = dict(zip(base.form.ids, _neutral(base.form), strict=False))
        ids = pd.DataFrame({new[name]: table[name].astype(str).map(names.new_id) for name in base.form.ids})
        ids.attrs |= {"answers": table, "names": names}
        return ids

    return read


def _score(base: Task) -> Score:
    def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
        """Map a submission back and score it as the task itself does."""
        from podium.grading.table_submission import apply_metric, convert_answers

        names: Names = answers.attrs["names"]
        old = dict(zip(_neutral(base.form), (*base.form.ids, *base.form.targets), strict=True))
        table = submission.rename(columns=old)
        for name in base.form.ids:
            table[name] = table[name].map(names.old_id)
        for name in base.form.targets:
            if isinstance(base.form.rule(name), Text):
                table[name] = table[name].map(names.old_value)
        truth: pd.DataFrame = answers.attrs["answers"]
        own = base.parts.score
        return own(truth, table) if own else apply_metric(base, convert_answers(base.form, truth), table)

    return score
