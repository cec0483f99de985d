"""Loops become operations on arrays that compute the same; what carries something over is left alone."""

from __future__ import annotations

import copy
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.catalog.research import vectorization
from podium.recipes.edits.edit import Edit
from podium.recipes.edits.vectorise import vectorised_loops

NUMBERS = np.random.default_rng(0)
A, B, ROW = NUMBERS.random((4, 5)), NUMBERS.random((5, 6)), NUMBERS.random(5)
SAME = {
    "matrix product": (
        (A, B),
        """
        out = np.zeros((len(a), b.shape[1]))
        for i in range(len(a)):
            for j in range(b.shape[1]):
                for k in range(len(b)):
                    out[i, j] += a[i, k] * b[k, j]
        return out
        """,
    ),
    "a sum for each row": (
        (A, ROW),
        """
        out = np.zeros(len(a))
        for i in range(len(a)):
            total = 0.0
            for k in range(a.shape[1]):
                total += abs(a[i, k] - b[k])
            out[i] = total / len(b)
        return out
        """,
    ),
    "distances, written the other way round": (
        (A, A[:3] + 1),
        """
        out = np.zeros((len(b), len(a)))
        for i in range(len(a)):
            for j in range(len(b)):
                out[j, i] = np.sqrt(np.sum((a[i, :] - b[j, :]) ** 2))
        return out
        """,
    ),
    "a condition": (
        (A, 0.5),
        """
        out = np.empty_like(a)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] if a[i, j] > b else 0.0
        return out
        """,
    ),
    "windows": (
        (NUMBERS.random((4, 6, 6)), 2),
        """
        out = np.zeros((len(a), 3, 3))
        for n in range(len(a)):
            for i in range(3):
                for j in range(3):
                    out[n, i, j] = np.max(a[n, i * b : i * b + b, j * b : j * b + b])
        return out
        """,
    ),
    "one sum over everything": (
        (ROW, B[0]),
        """
        total = 0.0
        for i in range(len(a)):
            for j in range(len(b)):
                total += a[i] * b[j]
        return total
        """,
    ),
}
LEFT_ALONE = {
    "a value of the round before": "for i in range(1, len(a)):\n    a[i] = a[i - 1] * 0.5\nreturn a",
    "a variable of the round before": "x = 0\nfor i in range(len(a)):\n    x = x * 0.5 + a[i]\n    b[i] = x\nreturn b",
    "a variable that is used later": "for i in range(len(a)):\n    x = a[i]\n    b[i] = x\nreturn x + i",
    "something that is not a number": "for name in a:\n    print(name)",
    "a function of the program's own": "for i in range(len(a)):\n    b[i] = f(a[i])\nreturn b",
}


def program(body: str) -> str:
    return f"import numpy as np\n\ndef f(a, b):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def result(source: str, arguments: tuple[Any, ...]) -> Any:
    module: dict[str, Any] = {}
    exec(source, module)
    return module["f"](*copy.deepcopy(arguments))


@pytest.mark.parametrize("name", SAME)
def test_the_same_is_computed_on_whole_arrays(name: str) -> None:
    arguments, body = SAME[name]
    edits = list(vectorised_loops("x.py", program(body)))
    assert edits
    assert "for " not in edits[0].source
    expected = result(program(body), arguments)
    for edit in edits:
        found = result(edit.source, arguments)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_is_not_understood_is_left_alone(name: str) -> None:
    assert list(vectorised_loops("x.py", program(LEFT_ALONE[name]))) == []


def test_only_the_inner_loop_is_changed_where_its_bound_moves() -> None:
    body = "for i in range(3):\n    for j in range(i):\n        b[i, j] = a[i, j]\nreturn b"
    [edit] = vectorised_loops("x.py", program(body))
    assert edit.title == "Compute the loop over j in f on whole arrays."
    np.testing.assert_array_equal(result(edit.source, (A, B)), result(program(body), (A, B)))


def test_the_starter_of_vectorization_is_understood_with_all_its_loops() -> None:
    assert vectorization.task.starter is not None
    source = (vectorization.task.starter.folder / "train.py").read_text(encoding="utf-8")
    edits = list(vectorised_loops("train.py", source))
    assert [edit.title.split()[4] for edit in edits] == ["image", "row", "column", "number"]
    images, weight, bias = (NUMBERS.random(shape) for shape in ((2, 8, 8, 3), (3, 3, 3, 4), (4,)))
    outputs = [convolved(edit, images, weight, bias) for edit in (Edit("train.py", "", source), *edits)]
    for output in outputs[1:]:
        np.testing.assert_allclose(output, outputs[0], rtol=1e-12)


def convolved(edit: Edit, images: Any, weight: Any, bias: Any) -> Any:
    module: dict[str, Any] = {"__name__": "starter", "__file__": str(Path(edit.file))}
    exec(edit.source, module)
    return module["Conv2D"](weight, bias).forward(images)
