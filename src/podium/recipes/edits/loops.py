"""What the loops of a program read, write and carry along."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def functions_of(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods, by their names (`Class.method`)."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            for inner in statement.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{statement.name}.{inner.name}", inner


def arrays_written(loop: ast.For) -> set[str]:
    """The arrays that a loop writes to."""
    targets = (node for node in ast.walk(loop) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
    return {ast.unparse(node.value) for node in targets}


def carries_over(function: ast.FunctionDef, loop: ast.For) -> bool:
    """Whether variables carry something from one round to the next, or out of the loop; sums may."""
    own = _written(loop)
    additions = [node.target for node in ast.walk(loop) if isinstance(node, ast.AugAssign)]
    summed = {target.id for target in additions if isinstance(target, ast.Name)}
    assigned = {name for node in ast.walk(loop) if isinstance(node, ast.Assign) for name in _written(node)}
    inside = set(map(id, ast.walk(loop)))
    read_outside = {node.id for node in _names(function) if id(node) not in inside and isinstance(node.ctx, ast.Load)}
    return bool((own - (summed - assigned)) & read_outside) or bool(_read_first(loop) & (own - summed))


def _read_first(loop: ast.For) -> set[str]:
    """Variables that a round reads before it assigns them."""
    seen: set[str] = set()
    early: set[str] = set()
    for statement in ast.walk(loop):
        if isinstance(statement, ast.Assign):
            early |= {node.id for node in _names(statement.value)} - seen
            seen |= _written(statement)
        elif isinstance(statement, ast.For):
            seen |= _written(statement.target)
    return early


def _written(node: ast.AST) -> set[str]:
    return {name.id for name in _names(node) if isinstance(name.ctx, ast.Store)}


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
