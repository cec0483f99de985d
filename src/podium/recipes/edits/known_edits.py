"""All known edits of a program, in the order of trying."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import zip_longest

from podium.recipes.edits.edit import Edit, Replacement, parse, replace
from podium.recipes.edits.fill_skeletons import filled_skeletons
from podium.recipes.edits.swap_estimators import swapped_models, tuned_models, wrapped_models
from podium.recipes.edits.tune_constants import tuned_numbers


def known_edits(file: str, source: str, *, has_score: bool, max_epochs: int | None = None) -> Iterator[Edit]:
    """Yield the edits of one file.

    Args:
        has_score: True if the program runs and prints a score.
        max_epochs: the task's limit on training epochs.
    """
    yield from filled_skeletons(file, source)
    if has_score:
        kinds = (
            swapped_models(file, source),
            tuned_models(file, source),
            wrapped_models(file, source),
            tuned_numbers(file, source, max_epochs=max_epochs),
            lifted_conditions(file, source),
        )
        for some in zip_longest(*kinds):  # one of each kind in turn, as it is unknown which kind helps
            yield from (edit for edit in some if edit is not None)


def lifted_conditions(file: str, source: str) -> Iterator[Edit]:
    """Yield the program without conditional expressions whose alternative is empty."""
    tree = parse(source)
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.IfExp(test=test, body=body, orelse=ast.List(elts=[]) | ast.Constant(value=None | "")):
                title = f"Remove the condition {ast.unparse(test)}."
                yield Edit(file, title, replace(source, [Replacement(node, node, ast.unparse(body))]))
