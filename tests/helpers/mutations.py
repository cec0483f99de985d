"""Eight ways to hide that a script was copied."""

from __future__ import annotations

import ast
import builtins
import random
import textwrap
from collections.abc import Callable

_BUILTINS = frozenset(dir(builtins))
_DEAD = """
if False:
    for unused_{n} in range(10):
        print("never", unused_{n})
unused_table_{n} = {{"a": [1, 2, 3], "b": (4, 5)}}
def unused_function_{n}(x, y=3):
    return [x * y for _ in range(4)]
"""


def renamed(source: str, rng: random.Random) -> str:
    """Every name that the script gives is another."""
    tree = ast.parse(source)
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own = {name for name in own if not name.startswith("__") and name not in ("self", *_BUILTINS)}
    new = {name: f"{rng.choice('abcdefgh')}_{number}" for number, name in enumerate(sorted(own))}

    class Renamer(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.copy_location(ast.Name(new.get(node.id, node.id), node.ctx), node)

        def visit_arg(self, node: ast.arg) -> ast.AST:
            node.arg = new.get(node.arg, node.arg)
            return self.generic_visit(node)

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            node.name = new.get(node.name, node.name)
            return self.generic_visit(node)

        def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
            node.name = new.get(node.name, node.name)
            return self.generic_visit(node)

        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            node.attr = new.get(node.attr, node.attr)
            return self.generic_visit(node)

    return ast.unparse(Renamer().visit(tree))


def reordered(source: str, rng: random.Random) -> str:
    """Functions and classes, and then blocks of statements, in another order."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef) and isinstance(body, list):
            rng.shuffle(body)
    return ast.unparse(tree)


def split_into_functions(source: str, rng: random.Random) -> str:
    """Every few statements of a body become a function of their own."""
    tree = ast.parse(source)
    made: list[str] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or len(node.body) < 4:
            continue
        name = f"part_{len(made)}"
        moved, node.body = node.body[: len(node.body) // 2], node.body[len(node.body) // 2 :]
        made.append(f"def {name}(values):\n" + textwrap.indent("\n".join(map(ast.unparse, moved)), "    "))
        node.body.insert(0, ast.parse(f"state = {name}(locals())").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n\n" + "\n\n".join(made)


def commented(source: str, rng: random.Random) -> str:
    """A remark after every line, other docstrings, and pages of remarks."""
    lines = ast.unparse(ast.parse(source)).splitlines()
    said = [line if "'''" in line or '"""' in line else f"{line}  # step {rng.random()}" for line in lines]
    return '"""My own work, all of it."""\n' + "\n".join(said) + "\n# the end\n" * 20


def with_dead_code(source: str, rng: random.Random) -> str:
    """Code that does nothing between every few statements."""
    tree = ast.parse(source)
    body: list[ast.stmt] = []
    for number, statement in enumerate(tree.body):
        body.append(statement)
        if rng.random() < 0.4:
            body += ast.parse(_DEAD.format(n=number)).body
    tree.body = body
    return ast.unparse(tree)


def with_other_constants(source: str, rng: random.Random) -> str:
    """Every number and every text is another."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            node.value = rng.randrange(1, 999)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = f"text {rng.randrange(999)}"
    return ast.unparse(tree)


def reformatted(source: str, rng: random.Random) -> str:
    """Other quotes, indentation, line breaks and brackets."""
    lines = ast.unparse(ast.parse(source)).splitlines()
    lines = [line.replace("'", '"') if '"' not in line else line for line in lines]
    indented = [" " * (len(line) - len(line.lstrip())) * 1 + line for line in lines]
    broken = [
        line.replace(", ", ",\n        ") if line.endswith(")") and '"' not in line else line for line in indented
    ]
    return "\n\n".join(broken)


def partly_rewritten(source: str, rng: random.Random) -> str:
    """A third of the statements, in every body, is replaced by something else."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or isinstance(node, ast.Lambda):
            continue
        for place in range(len(body)):
            if rng.random() < 0.15 and not isinstance(body[place], ast.FunctionDef | ast.ClassDef):
                body[place] = ast.parse(f"result = combine(result, {rng.random()}) if ready else None").body[0]
    return ast.unparse(ast.fix_missing_locations(tree))


MUTATIONS: dict[str, Callable[[str, random.Random], str]] = {
    "renamed": renamed,
    "reordered": reordered,
    "split into functions": split_into_functions,
    "comments": commented,
    "dead code": with_dead_code,
    "changed constants": with_other_constants,
    "reformatted": reformatted,
    "partly rewritten": partly_rewritten,
}
