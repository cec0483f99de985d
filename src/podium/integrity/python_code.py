"""Static analysis of Python programs: calls by full name, and constant texts with the functions that receive them.

Programs are parsed, never run. They are hostile input: those that are too long, too deep or not Python have no nodes.
"""

from __future__ import annotations

import ast
import base64
import codecs
import json
import posixpath
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

MAX_PROGRAM_CHARACTERS = 400_000
_MAX_DEPTH, _MAX_NAMES = 40, 20
_MAX_FOLDED_CHARACTERS = 20_000
_DATA = "/home/data"
_VARIABLES = {"PODIUM_DATA": _DATA, "DATA_DIR": _DATA, "HOME": "/home"}
Folded = str | bytes | None


class ConstantText(NamedTuple):
    """Constant text in a program."""

    value: str
    line: int
    use: str
    """Full name of the function that receives it; empty if there is none."""


def source_of(name: str, text: str) -> str:
    """Return the Python source of a script, or of the code cells of a notebook with magic lines as comments."""
    if not name.endswith(".ipynb"):
        return text
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    code: list[str] = []
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source")
            parts = source if isinstance(source, list) else [source]
            code.append("".join(part for part in parts if isinstance(part, str)))
    lines = "\n".join(code).splitlines()
    return "\n".join(f"# {line}" if line.lstrip().startswith(("!", "%")) else line for line in lines)


class Code:
    """Python program, parsed as far as possible."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines()
        self.nodes: list[ast.AST] = _parse(source)
        self._parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self._folded: dict[ast.AST, Folded] = {}
        self._names: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                before = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
                for alias in node.names:
                    name = alias.name if alias.asname or before else alias.name.partition(".")[0]
                    self._names[alias.asname or name] = before + name

    @cached_property
    def imports(self) -> list[tuple[str, ast.AST]]:
        """Imported modules, each with its node."""
        found: list[tuple[str, ast.AST]] = []
        for node in self.nodes:
            match node:
                case ast.Import(names=names):
                    found += [(alias.name, node) for alias in names]
                case ast.ImportFrom(module=str() as module):
                    found.append((module, node))
                case ast.Call(args=[first, *_]) if self.name(node.func) in ("importlib.import_module", "__import__"):
                    found.append((self.text(first) or "?", node))
        return found

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """Calls, each with the full name of the function."""
        return [(self.name(node.func), node) for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def texts(self) -> list[ConstantText]:
        """Constant texts, concatenated where the program does so; docstrings are left out."""
        found = []
        for node in self.nodes:
            above = self._parents.get(node)
            if not isinstance(node, ast.expr) or (isinstance(node, ast.Constant) and isinstance(above, ast.Expr)):
                continue
            if isinstance(above, ast.expr) and not isinstance(above, ast.Name) and self.text(above) is not None:
                continue  # the enclosing expression contains it
            if value := self.text(node):
                found.append(ConstantText(value, node.lineno, self._use(node)))
        return found

    def name(self, node: ast.AST, depth: int = 0) -> str:
        """Return the full name of an expression such as `pandas.read_csv`, or `?` if it has none."""
        match node:
            case _ if depth > _MAX_DEPTH:
                return "?"
            case ast.Name(id=name):
                return self._names.get(name, name)
            case ast.Attribute(value=value, attr=attribute):
                return f"{self.name(value, depth + 1)}.{attribute}"
            case ast.Call(func=function):
                return f"{self.name(function, depth + 1)}()"
            case ast.Subscript(value=value):
                return f"{self.name(value, depth + 1)}[]"
        return "?"

    def text(self, node: ast.AST) -> str | None:
        """Return the constant text of an expression, or None if it cannot be determined."""
        value = self._fold(node, 0)
        return value.decode("latin-1") if isinstance(value, bytes) else value

    @cached_property
    def _assigned(self) -> dict[str, list[ast.expr]]:
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            for target, value in _assignments(node):
                inside = [each for each in ast.walk(target) if isinstance(each, ast.Name | ast.Attribute)]
                for name in {self.name(each) for each in inside}:
                    found.setdefault(name, []).append(value)
        return found

    @cached_property
    def _returned(self) -> dict[str, list[ast.expr]]:
        found: dict[str, list[ast.expr]] = {}
        for function in (node for node in self.nodes if isinstance(node, ast.FunctionDef)):
            returns = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
            found.setdefault(function.name, []).extend(each for each in returns if each is not None)
        return found

    def returned(self, name: str) -> list[ast.expr]:
        """Return all expressions that a function of the program returns."""
        return self._returned.get(name, [])

    def assigned(self, name: str) -> list[ast.expr]:
        """Return all expressions assigned to a name, or to an attribute such as `self.score`."""
        return self._assigned.get(name, [])

    def calls_behind(self, expressions: Sequence[ast.expr]) -> list[str]:
        """Return the names of the calls that expressions depend on, also by way of other names."""
        pending: list[ast.expr] = list(expressions)
        found, seen = [], set[str]()
        while pending and len(seen) < _MAX_NAMES:
            for node in ast.walk(pending.pop()):
                if isinstance(node, ast.Call):
                    found.append(self.name(node.func))
                elif isinstance(node, ast.Name) and node.id not in seen:
                    seen.add(node.id)
                    pending += self.assigned(node.id)[:_MAX_NAMES]
        return found

    def line(self, number: int) -> str:
        """Return a line of the source, counted from 1."""
        return self.lines[number - 1].strip() if 1 <= number <= len(self.lines) else ""

    def _use(self, node: ast.AST) -> str:
        while (above := self._parents.get(node)) is not None and not isinstance(node, ast.stmt):
            match above:
                case ast.Call(func=function):
                    return self.name(function)
                case ast.Raise() | ast.Assert():
                    return "raise"
            node = above
        return ""

    def _fold(self, node: ast.AST, depth: int) -> Folded:
        """Evaluate a node once: names that depend on each other would otherwise double the work at every level."""
        if node not in self._folded:
            self._folded[node] = None
            self._folded[node] = self._fold_new(node, depth + 1) if depth <= _MAX_DEPTH else None
        return self._folded[node]

    def _fold_new(self, node: ast.AST, depth: int) -> Folded:
        match node:
            case ast.Constant(value=str() | bytes() as value):
                return value[:_MAX_FOLDED_CHARACTERS]
            case ast.Name(id=name) if self.assigned(name):
                return self._fold(self.assigned(name)[0], depth)
            case ast.BinOp(left=left, op=ast.Add() | ast.Div() as op, right=right):
                return _joined(
                    self._fold(left, depth), self._fold(right, depth), "/" if isinstance(op, ast.Div) else ""
                )
            case ast.JoinedStr(values=parts):
                inner = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
                folded = [self._fold(each, depth) for each in inner]
                return "".join(each if isinstance(each, str) else "{}" for each in folded)[:_MAX_FOLDED_CHARACTERS]
            case ast.Attribute(value=value, attr="parent"):
                above = self._fold(value, depth)
                return posixpath.dirname(above) if isinstance(above, str) else None
            case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None, step=step)):
                whole = self._fold(value, depth)
                is_reversed = isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)
                return whole[::-1] if whole is not None and is_reversed else whole
            case ast.Subscript(value=value, slice=key) if self.name(value) == "os.environ":
                return _VARIABLES.get(self.text(key) or "")
            case ast.Call(func=function, args=arguments):
                return self._fold_call(function, arguments[:20], depth)
        return None

    def _fold_call(self, function: ast.expr, arguments: list[ast.expr], depth: int) -> Folded:
        target = self._fold(function.value, depth) if isinstance(function, ast.Attribute) else None
        folded = [self._fold(each, depth) for each in arguments]
        if target is not None and isinstance(function, ast.Attribute):
            parts = arguments[0].elts[:1000] if arguments and isinstance(arguments[0], ast.List | ast.Tuple) else []
            return _fold_method(target, function.attr, folded, [self.text(part) or "" for part in parts])
        first = arguments[0] if arguments else None
        if self.name(function) == "chr" and isinstance(first, ast.Constant) and isinstance(first.value, int):
            return chr(first.value) if 0 <= first.value < 0x110000 else None
        return _fold_function(self.name(function), folded)


def _fold_method(target: str | bytes, method: str, arguments: list[Folded], parts: list[str]) -> Folded:
    """Evaluate a method of a constant text or path."""
    match method, target:
        case "joinpath", str():
            return posixpath.join(target, *(part for part in arguments if isinstance(part, str)))
        case "join", str():
            return target.join(parts)[:_MAX_FOLDED_CHARACTERS] or None
        case "decode", bytes():
            return target.decode("utf-8", "replace")
        case "encode", str():
            return target.encode("utf-8", "replace")
        case (("strip" | "lower" | "resolve" | "absolute" | "expanduser" | "as_posix" | "format"), _):
            return target
    return None


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the pairs of target and value of a statement."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            yield from zip(targets, values, strict=True)
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
            | ast.For(target=target, iter=value)
        ):
            yield target, value
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=op, value=right):
            yield target, ast.BinOp(left=target, op=op, right=right)


def _fold_function(name: str, arguments: list[Folded]) -> Folded:
    """Evaluate a well-known function of constant texts."""
    first = arguments[0] if arguments else None
    match name:
        case "pathlib.Path" | "pathlib.PurePath" | "pathlib.PosixPath" | "os.path.join":
            return posixpath.join(*(part for part in arguments if isinstance(part, str))) if any(arguments) else None
        case "os.environ.get" | "os.getenv" if isinstance(first, str):
            return _VARIABLES.get(first) or (arguments[1] if len(arguments) > 1 else None)
        case "str" | "os.path.expanduser" | "os.path.abspath" | "os.path.realpath" | "os.fspath" | "bytes":
            return first
        case "os.path.dirname" if isinstance(first, str):
            return posixpath.dirname(first)
        case _ if first is not None and name in _DECODERS:
            try:
                return _DECODERS[name](first.encode("utf-8", "replace") if isinstance(first, str) else first)
            except ValueError:
                return None
    return None


_DECODERS: dict[str, Callable[[bytes], str | bytes]] = {
    "base64.b64decode": base64.b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b85decode": base64.b85decode,
    "bytes.fromhex": lambda data: bytes.fromhex(data.decode()),
    "binascii.unhexlify": lambda data: bytes.fromhex(data.decode()),
    "codecs.decode": lambda data: codecs.decode(data.decode(), "rot13"),
}


def _joined(left: Folded, right: Folded, between: str) -> Folded:
    if isinstance(left, str) and isinstance(right, str):
        return (posixpath.join(left, right) if between else left + right)[:_MAX_FOLDED_CHARACTERS]
    if isinstance(left, bytes) and isinstance(right, bytes):
        return (left + right)[:_MAX_FOLDED_CHARACTERS]
    known = left if left is not None else right
    if known is None or isinstance(known, bytes):
        return None
    # One half of the text is known: a prefix or suffix still shows where a path leads.
    return f"{known}{between}{{}}" if left is not None else f"{{}}{between}{known}"


def _parse(source: str) -> list[ast.AST]:
    if len(source) > MAX_PROGRAM_CHARACTERS:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
