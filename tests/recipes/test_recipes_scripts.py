"""How scripts are assembled from the kit."""

from __future__ import annotations

import ast

import pytest

from podium.recipes.script_writer import Header, read_header, write_script


def definitions(script: str) -> set[str]:
    return {node.name for node in ast.parse(script).body if isinstance(node, ast.FunctionDef)}


def test_a_script_has_exactly_the_definitions_that_its_body_uses() -> None:
    script = write_script("A score.", "print(rmsle(np.ones(3), np.ones(3)))", recipe="test")
    assert definitions(script) == {"rmse", "rmsle"}
    assert "import numpy as np" in script and "import pandas" not in script


def test_local_variables_do_not_pull_in_functions_of_that_name() -> None:
    body = "def double(rmse):\n    scores = [rmse for mae in (1, 2)]\n    return scores\n\nprint(double(2))"
    assert definitions(write_script("Locals.", body, recipe="test")) == {"double"}


def test_a_body_must_not_redefine_names_of_the_kit() -> None:
    with pytest.raises(ValueError, match="redefines names of the kit: rmse"):
        write_script("A clash.", "rmse = 1\nprint(rmsle(2, 3))", recipe="test")


def test_a_script_names_its_recipe_and_settings() -> None:
    settings = {"folds": 3, "pattern": 'a "quoted" \\d+', "model": {"rate": 0.1}}
    script = write_script('Titles may hold """ quotes.', "print(1)", recipe="a recipe", settings=settings)
    assert read_header(script) == Header("a recipe", settings)
    assert read_header("print(1)") is None


@pytest.mark.parametrize(
    "header",
    [
        "{broken}",
        '{"recipe": "ridge", "settings": {}, "score": 0.9}',
        '{"recipe": "ridge"}',
        '{"recipe": ["ridge"], "settings": {}}',
        '{"recipe": "ridge", "settings": null}',
        "{" + "[" * 100_000 + "}",
    ],
)
def test_a_changed_header_is_none(header: str) -> None:
    assert read_header(f'"""A script.\n\nrecipe: {header}\n"""\n') is None
