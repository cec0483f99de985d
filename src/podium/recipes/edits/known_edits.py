"""All known edits of a program, in the order in which they are worth trying."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import zip_longest

from podium.recipes.edits.edit import Edit, Replacement, parse, replace
from podium.recipes.edits.fill_skeletons import filled_skeletons
from podium.recipes.edits.swap_estimators import swapped_models, tuned_models, wrapped_models
from podium.recipes.edits.tune_constants import tuned_numbers


def known_edits(file: str, source: str, *, has_score: bool, most_epochs: int | None = None) -> Iterator[Edit]:
    """Yield the edits of one file.

    Args:
        has_score: whether the program runs and prints a score.
        most_epochs: the task's limit on training epochs.
    """
    yield from filled_skeletons(file, source)
    if has_score:
        kinds = (
            swapped_models(file, source),
            tuned_models(file, source),
            wrapped_models(file, source),
            tuned_numbers(file, source, most_epochs=most_epochs),
            lifted_conditions(file, source),
        )
        for some in zip_longest(*kinds):  # one of each kind in turn: which kind helps is unknown
            yield from (edit for edit in some if edit is not None)


def lifted_conditions(file: str, source: str) -> Iterator[Edit]:
    """The program without a condition that only decides between something and nothing."""
    tree = parse(source)
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.IfExp(test=test, body=body, orelse=ast.List(elts=[]) | ast.Constant(value=None | "")):
                title = f"Do it always, not only if {ast.unparse(test)}."
                yield Edit(file, title, replace(source, [Replacement(node, node, ast.unparse(body))]))
