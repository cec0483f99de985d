"""Test data used in fitting: common practice in competitions, against no rule, but relevant to readers of results.

Each practice has a name of its own; none of them is fraud.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from podium.integrity.python_code import Code
from podium.integrity.scan_evidence import AgentProgram, EvidencePlace, Hit, RunEvidence
from podium.report.stored_findings import Finding

_JOINING = re.compile(
    r"(pandas|polars|cudf)\.concat$|numpy\.(concatenate|vstack|hstack|r_|append)$|sparse\.vstack$|\.append$"
)
_FITTING = re.compile(r"\.(fit|fit_transform|fit_resample|partial_fit)$")
_PREDICTING = re.compile(r"\.(predict|predict_proba|decision_function)$")
_READING = re.compile(r"\.(read_\w+|load|loadtxt|genfromtxt|scan_\w+)$")
_SPLITTING = re.compile(r"train_test_split$")
PSEUDO, JOINT, STATISTICS, TRAINING_SCORE = (
    Hit("pseudo-labels", "A model is fitted on predictions for the test set.", 0.6, "practice"),
    Hit("fitted on train and test", "A model is fitted on train and test together.", 0.6, "practice"),
    Hit("statistics of the test set", "A model is fitted on the test set.", 0.6, "practice"),
    Hit("score measured on training data", "The score is measured on the training rows.", 0.6, "practice"),
)


def test_data_in_fitting(run: RunEvidence) -> Iterator[Finding]:
    """Find models fitted on train and test together, on the test set, or on predictions for it."""
    for program in run.programs:
        flow = _Flow(program.code)
        for name, call in program.code.calls:
            used = flow.origins(call) if _FITTING.search(name) and call.args else set()
            if "predicted" in used:
                yield run.finding(PSEUDO, program.at(call))
            elif "joined" in used:
                yield run.finding(JOINT, program.at(call))
            elif "test" in used and "train" not in used:
                yield run.finding(STATISTICS, program.at(call))


def score_on_training_data(run: RunEvidence, program: AgentProgram, node: ast.AST) -> Iterator[Hit]:
    """Detect a score that is measured on the rows the model was fitted on."""
    code = program.code
    match node:
        case ast.Call(args=[answers, ast.Call(func=function, args=[rows, *_]), *_]):
            if code.name(node.func).startswith("sklearn.metrics.") and _PREDICTING.search(code.name(function)):
                fitted = [call.args for name, call in code.calls if name.endswith(".fit") and len(call.args) > 1]
                if any([ast.dump(each) for each in args[:2]] == [ast.dump(rows), ast.dump(answers)] for args in fitted):
                    yield TRAINING_SCORE


def constant_submission(run: RunEvidence) -> Iterator[Finding]:
    """Find submissions in which all predictions are equal."""
    if run.table is not None and run.table.rows >= 5 and run.table.distinct == 1:
        hit = Hit("constant submission", f"All {run.table.rows} rows have the same prediction.", 0.9, "practice")
        yield run.finding(hit, EvidencePlace(run.submissions[-1].step, quote=",".join(run.table.body[0])))


class _Flow:
    """Data flow of names: from `train`, `test`, `joined` for both, or `predicted` for the test set."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._known: dict[str, set[str]] = {}
        assigned = [node for node in code.nodes if isinstance(node, ast.Assign)]
        for _ in range(3):  # names that are assigned from later ones
            for node in assigned:
                for target in node.targets:
                    self._assign(target, node.value)

    def origins(self, node: ast.AST) -> set[str]:
        """Return the origins of the names in an expression."""
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        return set().union(*(self._known.get(name, set()) for name in names))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for left, right in zip(target.elts, value.elts, strict=True):
                self._assign(left, right)
        elif not isinstance(target, ast.Subscript | ast.Attribute):  # new columns do not change the origin of a table
            found = self._made_of(value)
            for each in ast.walk(target):
                if isinstance(each, ast.Name):
                    known = self._known.setdefault(each.id, set())
                    known |= found if "split" not in known else set()

    def _made_of(self, value: ast.expr) -> set[str]:
        called = self._code.name(value.func) if isinstance(value, ast.Call) else ""
        inside = self.origins(value)
        if _SPLITTING.search(called):
            return {"split", "train"}  # whatever is assigned to the names later
        if _PREDICTING.search(called):
            return {"predicted"} if "test" in inside and "train" not in inside else set()
        if isinstance(value, ast.Call) and _READING.search(called):
            text = " ".join(filter(None, map(self._code.text, value.args)))
            return {"test"} if "test" in text.rpartition("/")[2] else {"train"} if "train" in text else set()
        if _JOINING.search(called):
            if {"predicted", "train"} <= inside:
                return {"predicted"}
            return {"joined"} if {"train", "test"} <= inside else inside
        if isinstance(value, ast.Subscript) and "joined" in inside and isinstance(value.slice, ast.Slice):
            return {"train"}  # the first or the last rows of both
        return inside - ({"predicted", "split"} if isinstance(value, ast.Subscript) else {"split"})
