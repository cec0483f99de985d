"""docs/architecture.md matches the code: each function of a walk exists and calls the next one."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import podium

SOURCE = Path(podium.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"


class Hop(NamedTuple):
    path: str
    function: str
    is_indirect: bool
    """True if the page marks this call as indirect."""

    @property
    def name(self) -> str:
        return self.function.rpartition(".")[2]


def walks() -> dict[str, list[Hop]]:
    """Return the walks of the page by title."""
    section = PAGE.read_text(encoding="utf-8").partition("## Four walks")[2].partition("\n## ")[0]
    hops = {}
    for part in section.split("\n### ")[1:]:
        lines = re.findall(r"^\d+\. `([\w/.]+):([\w.]+)`(.*)$", part, re.MULTILINE)
        hops[part.partition("\n")[0]] = [Hop(path, name, bool(rest.strip())) for path, name, rest in lines]
    return hops


def definition(hop: Hop) -> ast.AST:
    """Return the syntax tree of the function of a hop."""
    here: ast.AST = ast.parse((SOURCE / hop.path).read_text(encoding="utf-8"))
    for name in hop.function.split("."):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        inside = [node for node in ast.iter_child_nodes(here) if isinstance(node, kinds) and node.name == name]
        assert inside, f"{hop.path} has no {hop.function}"
        here = inside[0]
    return here


def names_in(tree: ast.AST) -> set[str]:
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return named | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize(("title", "hops"), walks().items())
def test_each_function_of_a_walk_calls_the_next(title: str, hops: list[Hop]) -> None:
    assert len(hops) >= 4
    for hop, following in zip(hops, [*hops[1:], None], strict=True):
        named = names_in(definition(hop))
        if following is not None and not following.is_indirect:
            assert following.name in named, f"{hop.path}:{hop.function} does not call {following.function}"


def test_agent_is_six_hops_from_its_executor() -> None:
    run = next(hops for title, hops in walks().items() if title.startswith("A run"))
    assert len(run) - 1 <= 6


def test_files_of_the_changes_exist() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Fifteen changes")[2]
    rows = re.findall(r"^\| (?!change|---)(.*) \|$", section, re.MULTILINE)
    assert len(rows) == 15
    for path in re.findall(r"`([\w/]+\.(?:py|json))`", section):
        assert (SOURCE / path).exists() or any(word in path for word in ("NAME", "FAMILY", "KIND")), path
