"""Edits of programs that learn: other models, other numbers, models that were missing."""

from __future__ import annotations

from importlib import import_module

import pytest

from podium.recipes.edits.edit import Edit, with_imports
from podium.recipes.edits.fill_skeletons import filled_skeletons
from podium.recipes.edits.known_edits import known_edits, lifted_conditions
from podium.recipes.edits.swap_estimators import CLASSIFIERS, REGRESSORS, swapped_models, tuned_models, wrapped_models
from podium.recipes.edits.tune_constants import tuned_numbers

LEARNING = '''"""Learns."""
from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

EPOCHS = 5
SEED = 3
X_train, X_test = train_test_split(X, test_size=0.1, random_state=SEED)
model = LogisticRegression(C=0.5, max_iter=200).fit(X_train, y)
'''


def titles(edits: list[Edit]) -> list[str]:
    return [edit.title for edit in edits]


@pytest.mark.parametrize("name", ["house_price", "mlab_spaceship_titanic", "feedback"])
def test_a_missing_model_is_filled_in(name: str) -> None:
    starter = import_module(f"podium.catalog.research.{name}").task.starter
    source = (starter.folder / starter.script).read_text(encoding="utf-8")
    [edit] = filled_skeletons("train.py", source)
    compile(edit.source, "train.py", "exec")
    assert edit.title.startswith("Fill in the missing model")
    assert ".fit(" in edit.source
    assert list(filled_skeletons("train.py", edit.source)) == []


def test_a_model_is_exchanged_for_every_other_of_its_kind() -> None:
    edits = list(swapped_models("train.py", LEARNING))
    assert len(edits) == len(CLASSIFIERS)
    for edit in edits:
        compile(edit.source, "train.py", "exec")
        assert "C=0.5" not in edit.source
    forest = next(edit for edit in edits if "random forest" in edit.title)
    again = next(edit for edit in swapped_models("train.py", forest.source) if "boosted" in edit.title)
    assert "RandomForest" not in again.source
    assert "SimpleImputer" not in again.source
    assert again.source.index("from __future__") < again.source.index("import HistGradientBoosting")


def test_models_that_are_offered_exist() -> None:
    for line in {line for model in (*CLASSIFIERS, *REGRESSORS) for line in model.imports}:
        exec(line, {})


def test_only_options_that_are_not_set_are_added() -> None:
    found = titles(list(tuned_models("train.py", LEARNING)))
    assert found == ['Set class_weight="balanced" in LogisticRegression.']


def test_a_model_is_wrapped_once() -> None:
    [bagged] = wrapped_models("train.py", LEARNING)
    assert "BaggingClassifier(LogisticRegression(C=0.5, max_iter=200)," in bagged.source
    assert list(wrapped_models("train.py", bagged.source)) == []


def test_numbers_are_tuned_but_not_seeds_and_splits() -> None:
    found = titles(list(tuned_numbers("train.py", LEARNING, max_epochs=8)))
    assert "Set C to 1.0 instead of 0.5." in found
    assert "Set max_iter to 400 instead of 200." in found
    assert "Set EPOCHS to 2 instead of 5." in found
    assert not any(word in title for title in found for word in ("SEED", "test_size", "random_state", "EPOCHS to 10"))


def test_a_condition_between_something_and_nothing_is_lifted() -> None:
    [edit] = lifted_conditions("x.py", "found = [search(t) if n == 0 else [] for n, t in enumerate(texts)]\n")
    assert edit.source == "found = [search(t) for n, t in enumerate(texts)]\n"


def test_a_program_that_does_not_parse_has_no_edits() -> None:
    assert list(known_edits("broken.py", "def f(:\n", has_score=True)) == []


def test_imports_are_added_once_and_below_the_docstring() -> None:
    once = with_imports('"""Text."""\nx = 1\n', ["import os"])
    assert once == '"""Text."""\n\nimport os\nx = 1\n'
    assert with_imports(once, ["import os"]) == once
