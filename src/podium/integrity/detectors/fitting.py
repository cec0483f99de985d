"""Test data used in fitting: common practice in competitions, against no rule, but worth knowing when results are read.

Each is named as what it is; none of it is fraud.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from podium.integrity.evidence import Place, Program, RunEvidence
from podium.report.findings import Finding

_JOINING = re.compile(
    r"(pandas|polars|cudf)\.concat$|numpy\.(concatenate|vstack|hstack|r_|append)$|sparse\.vstack$|\.append$"
)
_FITTING = re.compile(r"\.(fit|fit_transform|fit_resample|partial_fit)$")
_PREDICTING = re.compile(r"\.(predict|predict_proba|decision_function)$")
_TEST = re.compile(r"(^|_)test(_|$)|^(T|Xt|X_test|te)$", re.IGNORECASE)
_SPLITTING = re.compile(r"train_test_split$")
JOINT, STATISTICS, PSEUDO, TRAINING_SCORE, CONSTANT = (
    *("fitted on train and test", "statistics of the test set", "pseudo-labels"),
    *("score measured on training data", "constant submission"),
)


def test_data_in_fitting(run: RunEvidence) -> Iterator[Finding]:
    """Something is fitted on train and test together, on the test set, or on predictions for it."""
    for program in run.programs:
        flow = _Flow(program)
        for name, call in program.code.calls:
            if not _FITTING.search(name) or not call.args:
                continue
            used = flow.origins(call)
            if "predicted" in used:
                yield _practice(run, program, PSEUDO, "a model is fitted on predictions for the test set", call)
            elif "joined" in used:
                yield _practice(run, program, JOINT, "something is fitted on train and test together", call)
            elif "test" in used and "train" not in used:
                yield _practice(run, program, STATISTICS, "something is fitted on the test set", call)


def score_on_training_data(run: RunEvidence) -> Iterator[Finding]:
    """The score is measured on the rows that the model was fitted on."""
    for program in run.programs:
        code = program.code
        fitted = {
            (ast.dump(call.args[0]), ast.dump(call.args[1])): call for name, call in code.calls if _two(name, call)
        }
        for name, call in code.calls:
            if not name.startswith("sklearn.metrics.") or len(call.args) < 2:
                continue
            predicted = call.args[1]
            if not isinstance(predicted, ast.Call) or not predicted.args:
                continue
            rows = (ast.dump(predicted.args[0]), ast.dump(call.args[0]))
            if _PREDICTING.search(code.name(predicted.func)) and rows in fitted:
                yield _practice(run, program, TRAINING_SCORE, "it is measured on the rows it was fitted on", call)


def constant_submission(run: RunEvidence) -> Iterator[Finding]:
    """All predictions are the same."""
    if run.table is not None and run.table.rows >= 5 and run.table.distinct == 1:
        step, said = run.submissions[-1].step, ",".join(run.table.body[0])
        reason = f"all {run.table.rows} rows predict the same"
        yield run.finding(CONSTANT, reason, 0.9, Place(step, quote=said), severity="practice")


class _Flow:
    """Where the values of names come from: `train`, `test`, `joined` of both, `predicted` for the test set."""

    def __init__(self, program: Program) -> None:
        self._code = program.code
        self._known: dict[str, set[str]] = {}
        split = {
            target.id
            for node in self._code.nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in ast.walk(node.targets[0])
            if isinstance(target, ast.Name) and _SPLITTING.search(self._code.name(node.value.func))
        }
        self._split = split
        for _ in range(3):  # names that are given by later ones
            for node in self._code.nodes:
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        self._assign(target, node.value)

    def origins(self, node: ast.AST) -> set[str]:
        """What an expression is made of."""
        found: set[str] = set()
        for each in ast.walk(node):
            if isinstance(each, ast.Name):
                found |= self._known.get(each.id, set())
                if each.id in self._split:
                    found.add("train")
        return found

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for left, right in zip(target.elts, value.elts, strict=True):
                self._assign(left, right)
            return
        if isinstance(target, ast.Subscript | ast.Attribute):
            return  # a column of a table: the table stays what it is
        found = self._made_of(value)
        for name in names:
            if name not in self._split:
                self._known.setdefault(name, set()).update(found)

    def _made_of(self, value: ast.expr) -> set[str]:
        called = self._code.name(value.func) if isinstance(value, ast.Call) else ""
        inside = self.origins(value)
        if called and _PREDICTING.search(called):
            return {"predicted"} if inside & {"test"} and not inside & {"train"} else set()
        if isinstance(value, ast.Call) and _is_read(called):
            text = " ".join(filter(None, (self._code.text(argument) for argument in value.args)))
            return {"test"} if "test" in text.rpartition("/")[2] else {"train"} if "train" in text else set()
        if _JOINING.search(called):
            if "predicted" in inside and "train" in inside:
                return {"predicted"}
            return {"joined"} if {"train", "test"} <= inside else inside
        if isinstance(value, ast.Subscript) and "joined" in inside and isinstance(value.slice, ast.Slice):
            return {"train"}  # the first or the last rows of both
        return inside - {"predicted"} if isinstance(value, ast.Subscript) else inside


def _is_read(called: str) -> bool:
    return bool(re.search(r"\.(read_\w+|load|loadtxt|genfromtxt|scan_\w+)$", called))


def _two(name: str, call: ast.Call) -> bool:
    return name.endswith(".fit") and len(call.args) >= 2


def _practice(run: RunEvidence, program: Program, kind: str, reason: str, call: ast.Call) -> Finding:
    return run.finding(kind, reason, 0.6, program.at(call), severity="practice")
