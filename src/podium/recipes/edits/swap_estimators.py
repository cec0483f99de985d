"""Edits of scikit-learn models: other estimators, other options, and wrappers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from podium.recipes.edits.edit import Edit, Replacement, called_name, parse, replace, with_imports


@dataclass(frozen=True)
class Estimator:
    """Source of a model and its imports."""

    code: str
    imports: tuple[str, ...]
    title: str


IMPUTE = "from sklearn.impute import SimpleImputer"
PIPELINE = "from sklearn.pipeline import make_pipeline"
SCALE = "from sklearn.preprocessing import StandardScaler"


def _plain(module: str, name: str, options: str, title: str) -> Estimator:
    return Estimator(f"{name}({options})", (f"from sklearn.{module} import {name}",), title)


def _filled(module: str, name: str, options: str, title: str, *, scaled: bool = False) -> Estimator:
    """Return an estimator with imputation, which most models require."""
    scaler = "StandardScaler(), " if scaled else ""
    code = f'make_pipeline(SimpleImputer(strategy="median"), {scaler}{name}({options}))'
    imports = (IMPUTE, PIPELINE, *((SCALE,) if scaled else ()), f"from sklearn.{module} import {name}")
    return Estimator(code, imports, title)


CLASSIFIERS = (
    _plain("ensemble", "HistGradientBoostingClassifier", "random_state=0", "boosted trees"),
    _filled("ensemble", "ExtraTreesClassifier", "n_estimators=300, random_state=0", "extremely random trees"),
    _filled("ensemble", "RandomForestClassifier", "n_estimators=300, random_state=0", "a random forest"),
    _filled("svm", "SVC", "C=3.0", "a support vector machine", scaled=True),
    _filled("linear_model", "LogisticRegression", "max_iter=1000", "a logistic regression", scaled=True),
    _filled(
        *("neural_network", "MLPClassifier", "max_iter=500, early_stopping=True, random_state=0"),
        "a small network that stops early",
        scaled=True,
    ),
    _filled("neighbors", "KNeighborsClassifier", "n_neighbors=15", "the nearest neighbours", scaled=True),
)
REGRESSORS = (
    _plain("ensemble", "HistGradientBoostingRegressor", "random_state=0", "boosted trees"),
    _filled("ensemble", "ExtraTreesRegressor", "n_estimators=300, random_state=0", "extremely random trees"),
    _filled("ensemble", "RandomForestRegressor", "n_estimators=300, random_state=0", "a random forest"),
    _filled(
        *("ensemble", "RandomForestRegressor", 'criterion="absolute_error", min_samples_leaf=20, random_state=0'),
        "a forest for absolute errors",
    ),
    _filled("linear_model", "RidgeCV", "alphas=(0.1, 1.0, 10.0, 100.0)", "a ridge regression", scaled=True),
    _filled("svm", "SVR", "C=10.0", "a support vector machine", scaled=True),
    _filled("neighbors", "KNeighborsRegressor", "n_neighbors=25", "the nearest neighbours", scaled=True),
)
NAMED_CLASSIFIERS = ("SVC", "LinearSVC", "LogisticRegression", "Perceptron", "GaussianNB", "NearestCentroid")
NAMED_REGRESSORS = ("SVR", "LinearSVR", "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet")
"""Estimators whose names do not end in Classifier or Regressor."""
OPTIONS = {
    "RandomForest": ("n_estimators=500", "min_samples_leaf=3", "max_features=0.5"),
    "ExtraTrees": ("n_estimators=500", "min_samples_leaf=3", "max_features=0.5"),
    "HistGradientBoosting": (
        "learning_rate=0.05, max_iter=300, early_stopping=True",
        "l2_regularization=1.0",
        "max_leaf_nodes=15",
    ),
    "GradientBoosting": ("n_estimators=300, n_iter_no_change=10", "max_depth=2", "subsample=0.7"),
    "LogisticRegression": ("C=0.1", "C=10.0", 'class_weight="balanced"'),
    "DecisionTree": ("max_depth=6", "min_samples_leaf=10"),
    "MLP": ("early_stopping=True, max_iter=500", "hidden_layer_sizes=(200,)", "alpha=0.01"),
    "KNeighbors": ('weights="distance"', "n_neighbors=15"),
    "SV": ('gamma="auto"', "C=10.0"),
}
"""Options to try on an existing model, by the beginning of its name."""


@dataclass(frozen=True)
class _Model:
    """Model in a program."""

    kind: Literal["Classifier", "Regressor"]
    call: ast.Call
    """Call of the estimator."""
    whole: ast.Call
    """Call of the estimator, or of the pipeline around it that an edit has added."""


def swapped_models(file: str, source: str) -> Iterator[Edit]:
    """Yield the program with every scikit-learn model replaced by another of its kind."""
    for models in _models(source):
        for other in CLASSIFIERS if models[0].kind == "Classifier" else REGRESSORS:
            title = f"Use {other.title} instead of {called_name(models[0].call)}."
            changes = [Replacement(model.whole, model.whole, other.code) for model in models]
            yield Edit(file, title, _importing(replace(source, changes), other))


def tuned_models(file: str, source: str) -> Iterator[Edit]:
    """Yield the program with an option that its models do not have yet."""
    for models in _models(source):
        for begin, options in OPTIONS.items():
            calls = [model.call for model in models if called_name(model.call).startswith(begin)]
            for option in options if calls else ():
                names = set(re.findall(r"(\w+)=", option))
                if not names & {keyword.arg for call in calls for keyword in call.keywords}:
                    changes = [Replacement(call, call, _with_option(call, option)) for call in calls]
                    yield Edit(file, f"Set {option} in {called_name(calls[0])}.", replace(source, changes))


def wrapped_models(file: str, source: str) -> Iterator[Edit]:
    """Yield the program with models of the logarithm of the target, and with bagging."""
    for models in _models(source):
        kind = models[0].kind
        for wrapper in (*((LOGARITHM,) if kind == "Regressor" else ()), _bagging(kind)):
            if wrapper.code.split("(")[0] not in source:
                changes = [
                    Replacement(model.whole, model.whole, wrapper.code.format(ast.unparse(model.whole)))
                    for model in models
                ]
                yield Edit(file, wrapper.title, _importing(replace(source, changes), wrapper))


LOGARITHM = Estimator(
    "TransformedTargetRegressor({}, func=np.log1p, inverse_func=np.expm1)",
    ("import numpy as np", "from sklearn.compose import TransformedTargetRegressor"),
    "Predict the logarithm of the target.",
)


def _bagging(kind: str) -> Estimator:
    return Estimator(
        f"Bagging{kind}({{}}, n_estimators=10, max_samples=0.8, random_state=0)",
        (f"from sklearn.ensemble import Bagging{kind}",),
        "Average ten models that are trained on different parts of the data.",
    )


def _models(source: str) -> list[list[_Model]]:
    """Return the classifiers and the regressors of a program; of nested models only the outermost."""
    tree = parse(source)
    found: dict[str, list[_Model]] = {}
    pending: list[ast.AST] = [tree] if tree and "sklearn" in source else []
    while pending:
        node = pending.pop()
        model = _model(node) if isinstance(node, ast.Call) else None
        if model is None:
            pending += ast.iter_child_nodes(node)
        else:
            found.setdefault(model.kind, []).append(model)
    return list(found.values())


def _model(call: ast.Call) -> _Model | None:
    name = called_name(call)
    if name.endswith("Classifier") or name in NAMED_CLASSIFIERS:
        return _Model("Classifier", call, call)
    if name.endswith("Regressor") or name in NAMED_REGRESSORS:
        return _Model("Regressor", call, call)
    match call:
        case ast.Call(func=ast.Name(id="make_pipeline"), args=[ast.Call(func=ast.Name(id="SimpleImputer")), *_, last]):
            inner = _model(last) if isinstance(last, ast.Call) else None
            return None if inner is None else _Model(inner.kind, inner.call, call)
        case _:
            return None


def _importing(source: str, estimator: Estimator) -> str:
    """Add the imports of a model and remove unused ones."""
    lines = with_imports(source, estimator.imports).splitlines(keepends=True)
    ours = {line for other in (*CLASSIFIERS, *REGRESSORS) for line in other.imports}
    text = "".join(line for line in lines if not line.startswith(("import ", "from ")))
    return "".join(line for line in lines if line.strip() not in ours or re.search(rf"\b{line.split()[-1]}\b", text))


def _with_option(call: ast.Call, option: str) -> str:
    inner = ", ".join([*map(ast.unparse, call.args), *map(ast.unparse, call.keywords), option])
    return f"{ast.unparse(call.func)}({inner})"
