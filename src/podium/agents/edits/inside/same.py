"""Whether a function of a changed program still gives the same results, and how much faster it is.

    python same.py OLD.py NEW.py FUNCTION

OLD.py is run as it stands; what FUNCTION is called with there is given to that of NEW.py too. The two take turns, and
the median of the ratios of their times is printed: `speed-up: 3.5`.
"""

import ast
import copy
import statistics
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

MOST_CALLS, MOST_ROUNDS = 3, 9
MEASURING_S = 3.0
"""After which no further round is begun: where one takes that long, it tells enough."""
CLOSE = 1e-9
calls: list[Any] = []
Function = Callable[..., Any]


def main(old: str, new: str, name: str) -> None:
    original = recorded(old, name)
    if not calls:
        sys.exit(f"{name} is not called when {Path(old).name} is run, so that nothing can be compared.")
    changed = find(load(new, ast.parse(Path(new).read_text(encoding="utf-8")), "changed"), name)
    ratios: list[float] = []
    ends = time.monotonic() + MEASURING_S
    while not ratios or (len(ratios) < MOST_ROUNDS and time.monotonic() < ends):
        arguments = calls[len(ratios) % len(calls)]
        expected, before = timed(original, arguments)
        found, after = timed(changed, arguments)
        if not same(expected, found):
            sys.exit(f"{name} gives other results than before.")
        ratios.append(before / max(after, 1e-7))
    print(f"speed-up: {statistics.median(ratios):.6g}")


def recorded(path: str, name: str) -> Function:
    """The function of a program, which is run to see what that is called with."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    top = name.split(".")[0]
    body: list[ast.stmt] = []
    for statement in tree.body:
        body.append(statement)
        if getattr(statement, "name", None) == top:
            body += ast.parse("__watch__(globals())").body
    originals: list[Function] = []

    def watch(variables: dict[str, Any]) -> None:
        module = types.SimpleNamespace(**variables)
        function = find(module, name)
        originals.append(function)

        def watched(*arguments: Any, **named: Any) -> Any:
            if len(calls) < MOST_CALLS:
                calls.append(copy.deepcopy((arguments, named)))
            return function(*arguments, **named)

        if "." in name:
            setattr(variables[top], name.split(".")[1], watched)
        else:
            variables[name] = watched

    load(path, ast.Module(body, []), "__main__", __watch__=watch)
    return originals[0]


def load(path: str, tree: ast.Module, name: str, **variables: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(variables, __file__=str(path))
    sys.argv = [str(path)]
    sys.path.insert(0, str(Path(path).parent))
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), vars(module))
    return module


def find(module: object, name: str) -> Function:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return cast(Function, found)


def timed(function: Function, call: Any) -> tuple[Any, float]:
    """What a call gives back and leaves in its arguments, and the seconds it took."""
    arguments, named = copy.deepcopy(call)
    started = time.perf_counter()
    result = function(*arguments, **named)
    seconds = time.perf_counter() - started
    return (result, [each for each in arguments if isinstance(each, np.ndarray)]), seconds


def same(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    first, second = np.asarray(one), np.asarray(other)
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype.kind in "fc":
        return bool(np.allclose(first, second, rtol=CLOSE, atol=CLOSE, equal_nan=True))
    return bool(np.all(first == second))


if __name__ == "__main__":
    main(*sys.argv[1:])
