"""What a program says: calls by their full names, and constant texts with what is done with them.

Programs are read, never run. A stranger wrote them: too long, too deep or not Python at all, they are simply unread.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import json
import posixpath
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

PROGRAM_CHARACTERS = 400_000
_DEEPEST, _MOST_NAMES = 40, 20
_FOLDED_CHARACTERS = 20_000
_DATA = "/home/data"
_VARIABLES = {"PODIUM_DATA": _DATA, "DATA_DIR": _DATA, "HOME": "/home"}
Folded = str | bytes | None


@dataclass(frozen=True)
class Text:
    """A constant text in a program."""

    value: str
    line: int
    use: str
    """The full name of the function it is given to; empty where it is only named."""


def source_of(name: str, text: str) -> str:
    """The Python source of a script, or of the code cells of a notebook, whose magic lines become comments."""
    if not name.endswith(".ipynb"):
        return text
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    parts = []
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source")
            lines = source if isinstance(source, list) else [source]
            parts.append("".join(line for line in lines if isinstance(line, str)))
    code = "\n".join(parts).splitlines()
    return "\n".join(f"# {line}" if line.lstrip().startswith(("!", "%")) else line for line in code)


class Code:
    """A Python program, as far as it can be read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines()
        self.tree = _parse(source)
        self._names: dict[str, str] = {}
        self._parents: dict[ast.AST, ast.AST] = {}
        self._folded: dict[ast.AST, Folded] = {}
        self.nodes: list[ast.AST] = list(ast.walk(self.tree)) if self.tree else []
        for node in self.nodes:
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            self._parents[child] = node
        match node:
            case ast.Import(names=names):
                for alias in names:
                    self._names[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    self._names[alias.asname or alias.name] = f"{module or ''}.{alias.name}"

    @cached_property
    def imports(self) -> list[tuple[str, ast.AST]]:
        """The modules that are imported, each with where."""
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
        """The calls, each with the full name of what is called."""
        return [(self.name(node.func), node) for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def texts(self) -> list[Text]:
        """The constant texts, put together where the program puts them together; without documentation."""
        found = []
        for node in self.nodes:
            if not isinstance(node, ast.expr) or self._is_documentation(node):
                continue
            parent = self._parents.get(node)
            if isinstance(parent, ast.expr) and self._foldable(parent):
                continue  # that one holds it
            value = self.text(node)
            if value:
                found.append(Text(value, node.lineno, self._use(node)))
        return found

    def name(self, node: ast.AST, depth: int = 0) -> str:
        """The full name of an expression such as `pandas.read_csv`; what has no name is `?`."""
        if depth > _DEEPEST:
            return "?"
        match node:
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
        """The text that an expression always has, as far as that can be told."""
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
            returns = [each for each in ast.walk(function) if isinstance(each, ast.Return)]
            found.setdefault(function.name, []).extend(each.value for each in returns if each.value is not None)
        return found

    def returned(self, name: str) -> list[ast.expr]:
        """All that a function of the program returns."""
        return self._returned.get(name, [])

    def assigned(self, name: str) -> list[ast.expr]:
        """All that a name, or an attribute such as `self.score`, is given anywhere in the program."""
        return self._assigned.get(name, [])

    def calls_behind(self, expressions: Sequence[ast.expr]) -> list[str]:
        """The names of calls that expressions are made of, also by way of other names."""
        pending: list[ast.expr] = list(expressions)
        found, seen = [], set[str]()
        while pending and len(seen) < _MOST_NAMES:
            for node in ast.walk(pending.pop()):
                if isinstance(node, ast.Call):
                    found.append(self.name(node.func))
                elif isinstance(node, ast.Name) and node.id not in seen:
                    seen.add(node.id)
                    pending += self.assigned(node.id)[:_MOST_NAMES]
        return found

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that a node lies in, the innermost first."""
        while (found := self._parents.get(node)) is not None:
            yield found
            node = found

    def line(self, number: int) -> str:
        """A line of the source, counted from 1."""
        return self.lines[number - 1].strip() if 1 <= number <= len(self.lines) else ""

    def _is_documentation(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and isinstance(self._parents.get(node), ast.Expr)

    def _foldable(self, node: ast.expr) -> bool:
        return not isinstance(node, ast.Name) and self.text(node) is not None

    def _use(self, node: ast.AST) -> str:
        for above in self.above(node):
            match above:
                case ast.Call(func=function):
                    return self.name(function)
                case ast.Raise() | ast.Assert():
                    return "raise"
                case ast.stmt():
                    return ""
        return ""

    def _fold(self, node: ast.AST, depth: int) -> Folded:
        """Each node is looked at once: names that are made of each other would double the work with each of them."""
        if node not in self._folded:
            self._folded[node] = None
            self._folded[node] = self._fold_new(node, depth) if depth <= _DEEPEST else None
        return self._folded[node]

    def _fold_new(self, node: ast.AST, depth: int) -> Folded:
        match node:
            case ast.Constant(value=str() | bytes() as value):
                return value if len(value) <= _FOLDED_CHARACTERS else value[:_FOLDED_CHARACTERS]
            case ast.Name(id=name) if self.assigned(name):
                return self._fold(self.assigned(name)[0], depth + 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined(self._fold(left, depth + 1), self._fold(right, depth + 1), "")
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return _joined(self._fold(left, depth + 1), self._fold(right, depth + 1), "/")
            case ast.JoinedStr(values=parts):
                return self._fold_parts(parts, depth)
            case ast.Attribute(value=value, attr="parent"):
                above = self._fold(value, depth + 1)
                return posixpath.dirname(above) if isinstance(above, str) else None
            case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None, step=step)):
                whole = self._fold(value, depth + 1)
                is_reversed = isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)
                return whole[::-1] if whole is not None and is_reversed else whole
            case ast.Subscript(value=value, slice=key) if self.name(value) == "os.environ":
                return _VARIABLES.get(self.text(key) or "")
            case ast.Call():
                return self._fold_call(node, depth)
        return None

    def _fold_parts(self, parts: list[ast.expr], depth: int) -> str:
        pieces = []
        for part in parts:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            folded = self._fold(inner, depth + 1)
            pieces.append(folded if isinstance(folded, str) else "{}")
        return "".join(pieces)[:_FOLDED_CHARACTERS]

    def _fold_call(self, node: ast.Call, depth: int) -> Folded:
        function, arguments = node.func, [self._fold(each, depth + 1) for each in node.args[:20]]
        if isinstance(function, ast.Attribute):
            target = self._fold(function.value, depth + 1)
            if target is not None:
                return self._fold_method(target, function.attr, node, arguments)
        return _fold_function(self.name(function), node, arguments)

    def _fold_method(self, target: str | bytes, method: str, node: ast.Call, arguments: list[Folded]) -> Folded:
        match method, target:
            case ("joinpath", str()):
                return posixpath.join(target, *(part for part in arguments if isinstance(part, str)))
            case ("join", str()) if node.args and isinstance(node.args[0], ast.List | ast.Tuple):
                parts = [self.text(each) for each in node.args[0].elts[:1000]]
                return target.join(part for part in parts if part is not None)[:_FOLDED_CHARACTERS] or None
            case ("decode", bytes()):
                return target.decode("utf-8", "replace")
            case ("encode", str()):
                return target.encode("utf-8", "replace")
            case (("strip" | "lower" | "resolve" | "absolute" | "expanduser" | "as_posix" | "format"), _):
                return target
        return None


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement gives to what."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            yield from zip(targets, values, strict=True)
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value):
            yield target, value
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=op, value=right):
            yield target, ast.BinOp(left=target, op=op, right=right)


def _fold_function(name: str, node: ast.Call, arguments: list[Folded]) -> Folded:
    """What well-known functions make of constant texts."""
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
        case "chr" if node.args and isinstance(node.args[0], ast.Constant):
            return _chr(node.args[0].value)
    return _decoded(name, first)


def _decoded(name: str, value: Folded) -> Folded:
    if value is None or name not in _DECODERS:
        return None
    data = value.encode("utf-8", "replace") if isinstance(value, str) else value
    try:
        return _DECODERS[name](data)
    except (ValueError, binascii.Error):
        return None


_DECODERS: dict[str, Callable[[bytes], str | bytes]] = {
    "base64.b64decode": base64.b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b85decode": base64.b85decode,
    "bytes.fromhex": lambda data: bytes.fromhex(data.decode()),
    "binascii.unhexlify": binascii.unhexlify,
    "codecs.decode": lambda data: codecs.decode(data.decode(), "rot13"),
}


def _chr(value: object) -> str | None:
    return chr(value) if isinstance(value, int) and 0 <= value < 0x110000 else None


def _joined(left: Folded, right: Folded, between: str) -> Folded:
    if isinstance(left, str) and isinstance(right, str):
        joined = posixpath.join(left, right) if between else left + right
        return joined[:_FOLDED_CHARACTERS]
    if isinstance(left, bytes) and isinstance(right, bytes):
        return (left + right)[:_FOLDED_CHARACTERS]
    known = left if left is not None else right
    if known is None or isinstance(known, bytes):
        return None
    # Half of a text is known: what it begins or ends with still tells where it leads.
    return f"{known}{between}{{}}" if left is not None else f"{{}}{between}{known}"


def _parse(source: str) -> ast.Module | None:
    if len(source) > PROGRAM_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
