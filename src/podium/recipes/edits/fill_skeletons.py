"""Edits that add a model to programs without one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from podium.recipes.edits.edit import Edit, Replacement, parse, replace, with_imports
from podium.recipes.edits.swap_estimators import CLASSIFIERS, REGRESSORS

MEASURES = {
    "accuracy": "accuracy_score",
    "mae": "mean_absolute_error",
    "rmse": "root_mean_squared_error",
    "mse": "mean_squared_error",
    "f1": "f1_score",
    "r2": "r2_score",
}
"""scikit-learn's metric functions by the metric in a variable's name."""
ERRORS = ("mae", "rmse", "mse", "r2")
TEXT_MODEL = "make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True), Ridge(alpha=3.0))"
TEXT_IMPORTS = (
    "from sklearn.feature_extraction.text import TfidfVectorizer",
    "from sklearn.linear_model import Ridge",
    "from sklearn.pipeline import make_pipeline",
)


def filled_skeletons(file: str, source: str) -> Iterator[Edit]:
    """Yield the program with a first model where it has none."""
    tree = parse(source)
    if tree is not None:
        yield from _filled_variables(file, source, tree)
        yield from _filled_functions(file, source, tree)


def _filled_variables(file: str, source: str, tree: ast.Module) -> Iterator[Edit]:
    """Fill in `model = train_mae = valid_mae = None`: train the model and compute the metrics."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    features, truth = _parts(names, "X"), _parts(names, "y")
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=targets, value=ast.Constant(value=None)):
                open_names = [target.id for target in targets if isinstance(target, ast.Name)]
            case _:
                continue
        measured = {name: measure for name in open_names if (measure := _measure(name))}
        if "model" not in open_names or not measured or features is None or truth is None:
            continue
        is_regression = any(measure in ERRORS for measure in measured.values())
        estimator = (REGRESSORS if is_regression else CLASSIFIERS)[0]
        lines = [f"model = {estimator.code}.fit({features[0]}, {truth[0]})"]
        for name, measure in measured.items():
            part = 0 if "train" in name else 1
            lines.append(f"{name} = {MEASURES[measure]}({truth[part]}, model.predict({features[part]}))")
        imports = [f"from sklearn.metrics import {', '.join(sorted({MEASURES[each] for each in measured.values()}))}"]
        filled = replace(source, [Replacement(statement, statement, "\n".join(lines))])
        title = f"Fill in the missing model: {estimator.title}."
        yield Edit(file, title, with_imports(filled, [*estimator.imports, *imports]))


def _parts(names: set[str], letter: str) -> tuple[str, str] | None:
    """Return the names of the variables with the training and the validation part, or None."""
    train = f"{letter}_train"
    others = [name for name in (f"{letter}_{part}" for part in ("valid", "val", "validation", "test")) if name in names]
    return (train, others[0]) if train in names and others else None


def _measure(name: str) -> str | None:
    return next((measure for measure in MEASURES if name.lower().endswith(measure)), None)


def _filled_functions(file: str, source: str, tree: ast.Module) -> Iterator[Edit]:
    """Fill in `train`, which returns nothing yet, and `predict` with a text model."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    train, predict = functions.get("train"), functions.get("predict")
    if train is None or predict is None or len(train.args.args) != 2 or len(predict.args.args) != 2:
        return
    match train.body[-1]:
        case ast.Return(value=None | ast.Constant(value=None)):
            pass
        case _:
            return
    texts, targets = (argument.arg for argument in train.args.args)
    model, others = (argument.arg for argument in predict.args.args)
    if "text" not in texts:
        return
    last = predict.body[-1]
    changes = [
        Replacement(train.body[-1], train.body[-1], f"return {TEXT_MODEL}.fit({texts}, {targets})"),
        Replacement(last, last, f"return {model}.predict({others})"),
    ]
    yield Edit(
        *(file, "Fill in the missing model: a ridge regression on words and word pairs."),
        with_imports(replace(source, changes), TEXT_IMPORTS),
    )
