"""One word, one meaning: a class has a name of its own."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import podium

SOURCE = Path(podium.__file__).parent
INSIDE = ("catalog/research", "catalog/kaggle")
"""Starter code and single tasks: programs of their own."""
OTHERS = {"PodiumEnv"}
"""What other projects' conventions call the environment of a package."""


def test_no_two_classes_have_the_same_name() -> None:
    places = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(INSIDE):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in OTHERS} == {}
