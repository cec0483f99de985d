"""Edits of hyperparameters: numbers with known names are made larger and smaller."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from podium.recipes.edits.edit import Edit, Replacement, called_name, parse, replace

TUNED = re.compile(
    r"(?i)lr|learning_rate|eta|n?_?epochs?|max_iter|iterations|(n_)?steps|n_estimators|(n_)?trees|max_depth|depth"
    r"|max_leaf_nodes|min_samples_(leaf|split)|min_child_weight|max_features|n_neighbors|k|c|alpha|gamma|lambda|l2"
    r"|l2_regularization|weight_decay|reg(ulari[sz]ation)?|dropout|momentum|hidden(_size|_dim|_units)?|units|width"
    r"|n?_?layers|batch(_size)?|n_components|degree|max_results|limit|top_k|min_df|subsample|max_samples|threshold"
)
"""Names of hyperparameters. Seeds, splits and folds are excluded, because they change the measurement."""
JUDGING = re.compile(r"(?i)split|fold|score|metric|error|loss|report|seed|print|round")
"""Names of functions that evaluate a model, whose arguments are not changed."""
SHARES = re.compile(r"(?i)dropout|momentum|max_features|subsample|max_samples|threshold")
FACTORS = (2.0, 0.5, 5.0, 0.2)


def tuned_numbers(file: str, source: str, *, max_epochs: int | None = None) -> Iterator[Edit]:
    """Yield the program with one of its numbers changed, with the closest values first.

    Args:
        max_epochs: the task's limit on training epochs.
    """
    tree = parse(source)
    numbers = list(_numbers(tree)) if tree else []
    for factor in FACTORS:
        for name, node in numbers:
            assert isinstance(node.value, int | float)
            value = _changed(name, node.value, factor)
            too_long = max_epochs is not None and "epoch" in name.lower() and float(value) > max_epochs
            if value != node.value and not too_long:
                title = f"Set {name} to {value} instead of {node.value}."
                yield Edit(file, title, replace(source, [Replacement(node, node, repr(value))]))


def _numbers(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    """Yield numbers with their names: assigned, passed to a function, or defaults of parameters."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value):
                yield from _named(name, value)
            case ast.Call(keywords=keywords) if not JUDGING.search(called_name(node)):
                for keyword in keywords:
                    name = keyword.arg or ""
                    if name == "default" and node.args and isinstance(node.args[0], ast.Constant):
                        name = str(node.args[0].value).strip("-").replace("-", "_")  # an option of a command line
                    if isinstance(keyword.value, ast.Constant):
                        yield from _named(name, keyword.value)
            case ast.FunctionDef(args=arguments):
                defaults = zip(arguments.args[::-1], arguments.defaults[::-1], strict=False)
                for argument, default in defaults:
                    if isinstance(default, ast.Constant):
                        yield from _named(argument.arg, default)


def _named(name: str, value: ast.Constant) -> Iterator[tuple[str, ast.Constant]]:
    is_number = isinstance(value.value, int | float) and not isinstance(value.value, bool)
    if is_number and value.value and TUNED.fullmatch(name):
        yield name, value


def _changed(name: str, value: int | float, factor: float) -> int | float:
    if isinstance(value, int):
        return max(1, round(value * factor)) if value > 1 or factor > 1 else value
    changed = float(f"{value * factor:.3g}")
    return value if SHARES.fullmatch(name) and not 0 < changed < 1 else changed
