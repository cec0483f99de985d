"""Preambles of scripts: training on a sample of the rows, and early stopping of scripts that fall behind.

They run in the sandbox, in the script's own process. Their output only decides how long the script runs: scores and
submissions are judged as always.
"""

from __future__ import annotations

import ast
import math
import re
from contextlib import suppress

from podium.agents.search.search_tree import BEHIND, Tree

FOLD_LINE = "podium-fold:"
"""Marker of progress lines: it is followed by the number of the fold or stage and the score so far."""
SAMPLE_ROWS = 2_000
MIN_SAMPLING_FACTOR = 5
"""Smallest ratio of a table's rows to the sample's at which a sample is used."""
LEADERS = 3
"""Number of best scripts that a script is compared with: it falls behind when it is worse than all of them."""
ADVICE = (
    f"After each fold, or each fifth of the training, print a line `{FOLD_LINE} NUMBER SCORE` with the number of the "
    "fold, starting at 1, and its score: a script that falls behind is stopped there."
)
_FOLD = re.compile(rf"^{FOLD_LINE} (\d+) (\S+)$", re.MULTILINE)

_SAMPLE = """
def _podium_sample():
    import csv, os
    data, small = os.environ["PODIUM_DATA"], os.path.abspath("sample")
    os.makedirs(small, exist_ok=True)
    for name in os.listdir(data):
        if name != {file!r} and not os.path.lexists(os.path.join(small, name)):
            os.symlink(os.path.join(data, name), os.path.join(small, name))
    with open(os.path.join(data, {file!r}), newline="") as table:
        head, *rows = csv.reader(table)
    with open(os.path.join(small, {file!r}), "w", newline="") as table:
        csv.writer(table).writerows([head, *rows[:: max(1, len(rows) // {rows})]])
    os.environ["PODIUM_DATA"] = small
_podium_sample()
"""
_WATCH = """
def _podium_watch():
    import builtins
    marks, sign, write = {marks}, {sign}, builtins.print
    def with_early_stopping(*values, **options):
        write(*values, **options)
        words = " ".join(map(str, values)).split()
        if len(words) == 3 and words[0] == {line!r} and words[1] in marks:
            try:
                is_behind = sign * float(words[2]) < sign * marks[words[1]]
            except ValueError:
                return
            if is_behind:
                best = marks[words[1]]
                raise SystemExit(f"{behind} {{words[2]}} at stage {{words[1]}}, where the best scripts had {{best}}")
    builtins.print = with_early_stopping
_podium_watch()
"""


def with_sample(script: str, file: str) -> str:
    """Return a script that reads only a sample of the rows of a CSV file."""
    return _with_preamble(script, _SAMPLE.format(file=file, rows=SAMPLE_ROWS))


def with_early_stopping(script: str, tree: Tree) -> str:
    """Return a script that stops when it is worse than the best ones were at the same point.

    Without enough best scripts that printed progress lines, the script is returned unchanged.
    """
    leaders = [dict(_FOLD.findall(node.result.output)) for node in tree.good if node.result is not None]
    leaders = [points for points in leaders if points][:LEADERS]
    if len(leaders) < LEADERS:
        return script
    marks: dict[str, float] = {}
    for stage in set.intersection(*map(set, leaders)):
        with suppress(ValueError):
            scores = [float(points[stage]) for points in leaders]
            if all(map(math.isfinite, scores)):  # nan and inf have no literals in Python
                marks[stage] = min(scores, key=lambda value: tree.sign * value)
    if not marks:
        return script
    return _with_preamble(script, _WATCH.format(marks=marks, sign=tree.sign, line=FOLD_LINE, behind=BEHIND))


def _with_preamble(script: str, preamble: str) -> str:
    """Insert code after the docstring and the imports from __future__."""
    try:
        body = ast.parse(script).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return script
    line = 0
    for statement in body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not (is_docstring or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")):
            break
        line = statement.end_lineno or line
    lines = script.split("\n")
    return "\n".join([*lines[:line], preamble.strip("\n"), *lines[line:]])
