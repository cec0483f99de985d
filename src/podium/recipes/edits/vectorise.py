"""Loops over numbers as operations on whole arrays.

Every expression of a loop's body becomes an array with named axes: one for each loop it depends on, and one for each
dimension of its own (`e1` is the last). An index turns into an array of indices, a sum of products into `einsum`. What
is not understood is left alone, and what is assumed on the way (that an array has as many dimensions as indices) has to
be checked by running both programs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from podium.recipes.edits.edit import Edit, Replacement, called_name, parse, replace
from podium.recipes.edits.loops import arrays_written, carries_over, functions_of

REDUCTIONS = ("sum", "max", "min", "mean", "prod", "any", "all")
ELEMENTWISE = (
    *("abs", "exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "floor", "ceil", "sign", "square", "log1p", "expm1"),
    *("maximum", "minimum", "where", "power", "clip", "isnan", "hypot", "arctan2"),
)
PLAIN = {"abs": "abs", "max": "maximum", "min": "minimum", "float": "asarray", "int": "trunc"}
"""What Python's own functions are called in NumPy."""
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


class NotUnderstoodError(Exception):
    """The loop does something that has no counterpart here."""


@dataclass(frozen=True)
class _Value:
    """An expression, and the axes that its array has."""

    code: str
    axes: tuple[str, ...] = ()

    @property
    def own(self) -> tuple[str, ...]:
        """The axes that are not a loop's."""
        return tuple(axis for axis in self.axes if _is_own(axis))


@dataclass(frozen=True)
class _Loop:
    name: str
    stop: str | None
    """Where it ends, if it begins at 0 and counts by 1."""


def _is_own(axis: str) -> bool:
    return axis[0] == "-"


def vectorised_loops(file: str, source: str) -> Iterator[Edit]:
    """An edit for each nest of loops in a function that operations on arrays can stand for, the outermost first."""
    tree = parse(source)
    if tree is None or "import numpy as np" not in source:
        return
    for name, function in functions_of(tree):
        for loop in ast.walk(function):
            if isinstance(loop, ast.For) and not carries_over(function, loop):
                try:
                    lines = _Nest(arrays_written(loop)).vectorise(loop)
                except NotUnderstoodError:
                    continue
                text = f"\n{' ' * loop.col_offset}".join(lines)
                title = f"Compute the loop over {ast.unparse(loop.target)} in {name} on whole arrays."
                yield Edit(file, title, replace(source, [Replacement(loop, loop, text)]), (name,))


@dataclass
class _Nest:
    """Translates one nest of loops, statement by statement."""

    stored: set[str]
    loops: list[_Loop] = field(default_factory=list)
    """Those around the current statement come first; `order` knows all."""
    order: list[str] = field(default_factory=list)
    known: dict[str, tuple[_Value, int]] = field(default_factory=dict)
    """Variables of the body, with the number of loops around their first assignment."""
    lines: list[str] = field(default_factory=list)

    def vectorise(self, loop: ast.For) -> list[str]:
        """The statements that stand for a loop and everything in it."""
        self._open(loop)
        for statement in loop.body:
            self._statement(statement)
        self.loops.pop()
        return self.lines

    def _open(self, loop: ast.For) -> None:
        match loop:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range")) as over, orelse=[]):
                pass
            case _:
                raise NotUnderstoodError
        if name in self.order or any(self._depends(argument) for argument in over.args) or over.keywords:
            raise NotUnderstoodError
        arguments = [ast.unparse(argument) for argument in over.args]
        self.loops.append(_Loop(name, arguments[0] if len(arguments) == 1 else None))
        self.order.append(name)
        self.lines.append(f"{name} = np.arange({', '.join(arguments)})")

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.For():
                self.vectorise(statement)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(name, self._value(value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                found = [self._value(value) for value in values]  # all before the first is assigned
                for target, each in zip(names, found, strict=True):
                    if not isinstance(target, ast.Name):
                        raise NotUnderstoodError
                    self._assign(target.id, each)
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self._store(target, self._value(value), "=")
            case ast.AugAssign(target=ast.Subscript() as target, op=ast.Add() | ast.Sub() as operator, value=value):
                self._store(target, self._summed(value, self._labels(target)), f"{OPERATORS[type(operator)]}=")
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub() as operator, value=value):
                self._accumulate(name, value, OPERATORS[type(operator)])
            case ast.Pass():
                pass
            case _:
                raise NotUnderstoodError

    def _assign(self, name: str, value: _Value) -> None:
        if name in self.order:
            raise NotUnderstoodError
        self.known[name] = (_Value(name, value.axes), len(self.loops))
        self.lines.append(f"{name} = {value.code}")

    def _accumulate(self, name: str, value: ast.expr, operator: str) -> None:
        """Adds to a variable in every round of the loops inside which it was not yet known."""
        before, depth = self.known.get(name, (_Value(name), 0))
        kept = {loop.name for loop in self.loops[:depth]}
        total = self._summed(value, [axis for axis in self.order if axis in kept])
        if not depth:
            self.lines.append(f"{name} {operator}= {total.code}")
            return
        self._assign(name, self._join(f"{{}} {operator} {{}}", before, total))
        self.known[name] = (self.known[name][0], depth)

    def _summed(self, value: ast.expr, kept: Sequence[str]) -> _Value:
        """An expression summed over all loops but some."""
        found = self._value(value)
        gone = [loop.name for loop in self.loops if loop.name not in kept]
        if any(axis not in found.axes for axis in gone):  # added as often as the loop goes round
            raise NotUnderstoodError
        if not gone:
            return found
        left = tuple(axis for axis in found.axes if axis not in gone)
        if (product := self._product(value, left)) is not None:
            return product
        axes = tuple(found.axes.index(axis) for axis in gone)
        return _Value(f"({found.code}).sum(axis={axes})", left)

    def _labels(self, target: ast.Subscript) -> list[str]:
        """The axes that the places of an array have that is written to."""
        indices = _indices(target)
        own, labels = sum(map(_is_whole, indices)), []
        for index in indices:
            if _is_whole(index):
                labels.append(f"-{own}")
                own -= 1
            elif isinstance(index, ast.Name) and index.id in self.order:
                labels.append(index.id)
            elif isinstance(index, ast.Slice) or self._depends(index):
                raise NotUnderstoodError
        return labels

    def _store(self, target: ast.Subscript, value: _Value, operator: str) -> None:
        labels = self._labels(target)
        if len(set(labels)) < len(labels) or not set(value.axes) <= set(labels):
            raise NotUnderstoodError
        if {loop.name for loop in self.loops} - set(labels) and operator == "=":
            raise NotUnderstoodError  # the last round of a loop would win
        stops = {loop.name: loop.stop for loop in self.loops}
        places = []
        for index in _indices(target):
            name = ast.unparse(index)
            if name in stops and stops[name] is None:
                raise NotUnderstoodError
            places.append(f":{stops[name]}" if name in stops else name)
        code = value.code
        if value.axes:
            ordered = self._sorted(labels)
            code = self._aligned(value, ordered, drop=False)
            if ordered != tuple(labels):
                code = f"{code}.transpose({', '.join(str(ordered.index(label)) for label in labels)})"
        self.lines.append(f"{ast.unparse(target.value)}[{', '.join(places)}] {operator} {code}")

    def _value(self, node: ast.expr) -> _Value:
        if not self._depends(node):
            return self._constant(node)
        match node:
            case ast.Name(id=name):
                return self.known[name][0] if name in self.known else _Value(name, (name,))
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
                return self._join(f"({{}} {OPERATORS[type(operator)]} {{}})", self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._join("(-{})", self._value(operand))
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in COMPARISONS:
                return self._join(f"({{}} {COMPARISONS[type(operator)]} {{}})", self._value(left), self._value(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._join("np.where({}, {}, {})", *(self._value(part) for part in (test, body, orelse)))
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case _:
                raise NotUnderstoodError

    def _constant(self, node: ast.expr) -> _Value:
        """What is the same in every round. An array whose slices are named tells how many dimensions they have."""
        if isinstance(node, ast.Subscript):
            own = sum(isinstance(index, ast.Slice) for index in _indices(node))
            return _Value(ast.unparse(node), tuple(f"-{number}" for number in range(own, 0, -1)))
        return _Value(f"({ast.unparse(node)})" if isinstance(node, ast.BinOp) else ast.unparse(node))

    def _subscript(self, node: ast.Subscript) -> _Value:
        base, indices = ast.unparse(node.value), _indices(node)
        if self._depends(node.value) or base in self.stored:
            raise NotUnderstoodError  # a value of an earlier round
        own = sum(isinstance(index, ast.Slice) for index in indices)
        values, label = [], own
        for place, index in enumerate(indices):
            if isinstance(index, ast.Slice):
                values.append(self._slice(index, f"{base}.shape[{place}]", f"-{label}"))
                label -= 1
            else:
                values.append(self._value(index))
        whole = len(indices)  # whole dimensions at the end need no indices
        while whole and _is_whole(indices[whole - 1]):
            whole -= 1
        union = self._sorted({axis for value in values[:whole] for axis in value.axes})
        places = [self._aligned(value, union) for value in values[:whole]] + [":"] * (len(indices) - whole)
        rest = tuple(axis for value in values[whole:] for axis in value.axes)
        return _Value(f"{base}[{', '.join(places)}]", (*union, *rest))

    def _slice(self, index: ast.Slice, size: str, label: str) -> _Value:
        """A slice as indices. One that moves with a loop must say its length: `top : top + kernel`."""
        if index.step is not None:
            raise NotUnderstoodError
        lower, upper = index.lower, index.upper
        if (lower is None or not self._depends(lower)) and (upper is None or not self._depends(upper)):
            bounds = ["0" if lower is None else ast.unparse(lower), size if upper is None else ast.unparse(upper)]
            return _Value(f"np.arange({', '.join(bounds)})", (label,))
        match upper:
            case ast.BinOp(left=left, op=ast.Add(), right=length) if lower and ast.dump(left) == ast.dump(lower):
                pass
            case ast.BinOp(left=length, op=ast.Add(), right=right) if lower and ast.dump(right) == ast.dump(lower):
                pass
            case _:
                raise NotUnderstoodError
        if self._depends(length):
            raise NotUnderstoodError
        steps = _Value(f"np.arange({ast.unparse(length)})", (label,))
        return self._join("({} + {})", self._value(lower), steps)

    def _call(self, node: ast.Call) -> _Value:
        name = called_name(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id="np")) if name in REDUCTIONS and len(node.args) == 1:
                return self._reduce(name, node.args[0], node.keywords)
            case ast.Attribute(value=ast.Name(id="np")) if name == "dot" and len(node.args) == 2:
                return self._reduce("sum", ast.BinOp(node.args[0], ast.Mult(), node.args[1]), node.keywords)
            case ast.Attribute(value=ast.Name(id="np" | "math")) if name in ELEMENTWISE and not node.keywords:
                pass
            case ast.Attribute(value=inner) if name in REDUCTIONS and not node.args:
                return self._reduce(name, inner, node.keywords)
            case ast.Name(id=plain) if plain in PLAIN and not node.keywords:
                name = PLAIN[plain]
            case _:
                raise NotUnderstoodError
        values = [self._value(argument) for argument in node.args]
        return self._join(f"np.{name}({', '.join(['{}'] * len(values))})", *values)

    def _reduce(self, name: str, inner: ast.expr, keywords: list[ast.keyword]) -> _Value:
        """A sum, maximum, ... over the dimensions that are not a loop's."""
        if keywords:
            raise NotUnderstoodError
        value = self._value(inner)
        left = tuple(axis for axis in value.axes if not _is_own(axis))
        if name == "sum" and (product := self._product(inner, left)) is not None:
            return product
        if not value.own:
            raise NotUnderstoodError  # of how many dimensions, nobody knows
        return _Value(f"({value.code}).{name}(axis={tuple(range(-len(value.own), 0))})", left)

    def _product(self, node: ast.expr, left: tuple[str, ...]) -> _Value | None:
        """The sum of a product over all axes but those left; None where it is not one, or an axis is not known."""
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
            return None
        factors = [self._value(factor) for factor in (node.left, node.right)]
        if not all(factor.axes for factor in factors):
            return None
        union = self._sorted({*factors[0].axes, *factors[1].axes})

        def letters(axes: tuple[str, ...]) -> str:
            return "".join(chr(97 + union.index(axis)) for axis in axes)

        form = f"{letters(factors[0].axes)},{letters(factors[1].axes)}->{letters(left)}"
        return _Value(f"np.einsum('{form}', {factors[0].code}, {factors[1].code}, optimize=True)", left)

    def _join(self, form: str, *values: _Value) -> _Value:
        """An operation value by value."""
        union = self._sorted({axis for value in values for axis in value.axes})
        return _Value(form.format(*(self._aligned(value, union) for value in values)), union)

    def _aligned(self, value: _Value, union: Sequence[str], *, drop: bool = True) -> str:
        """The code of an array that fits others with these axes."""
        if not value.axes or value.axes == tuple(union):
            return value.code
        places = [":" if axis in value.axes else "None" for axis in union]
        while drop and places[0] == "None":
            places.pop(0)  # NumPy adds those
        if all(place == ":" for place in places):
            return value.code
        code = value.code if value.code.isidentifier() or value.code[0] == "(" else f"({value.code})"
        return f"{code}[{', '.join(places)}]"

    def _sorted(self, axes: Sequence[str] | set[str]) -> tuple[str, ...]:
        """Loops from the outermost on, then a value's own dimensions."""
        return tuple(sorted(axes, key=lambda axis: 1000 + int(axis) if _is_own(axis) else self.order.index(axis)))

    def _depends(self, node: ast.expr) -> bool:
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        return bool(names & {*self.order, *self.known})


def _indices(node: ast.Subscript) -> list[ast.expr]:
    found = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(isinstance(index, ast.Constant) and not isinstance(index.value, int) for index in found):
        raise NotUnderstoodError  # None and ... change the number of dimensions
    return list(found)


def _is_whole(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and index.lower is None and index.upper is None and index.step is None
