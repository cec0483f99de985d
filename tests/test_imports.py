"""Import rules: heavy packages are loaded late, and layers import only from those above."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import podium

SOURCE = Path(podium.__file__).parent
HEAVY = {
    "pandas",
    "numpy",
    "scipy",
    "sklearn",
    "rich",
    "inspect_ai",
    "pyarrow",
    "PIL",
    "requests",
    "kaggle",
    "ray",
    "plotly",
    "jinja2",
}
LAYERS = (
    *("errors", "text", "plugins", "task", "safefs", "tables", "metrics", "data", "grading", "catalog"),
    *("inspect_internals", "leases", "sandbox", "workspace", "models", "actions", "recipes", "agents", "scoring"),
    *("runs", "cluster", "environment", "verify", "report", "integrity", "board", "viewer", "interop"),
    *("api", "cli", "inspect_registry", "__main__"),
)
"""Each may import from those before it; the order is that of the design."""


def loaded_by(code: str) -> set[str]:
    """The packages that a fresh interpreter has loaded after running the code."""
    report = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def command(*args: str) -> str:
    return f"from podium.cli import main\ntry:\n    main({list(args)})\nexcept SystemExit: pass"


@pytest.mark.parametrize(
    "code",
    [
        "import podium",
        "import podium; podium.tasks(); podium.tasks('quick')",
        command("--help"),
        command("--version"),
        command("tasks"),
        command("tasks", "--json"),
        command("grade", "--help"),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str) -> None:
    assert loaded_by(code) & HEAVY == set()


def modules() -> dict[Path, str]:
    """The source files, each with its layer."""
    files = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")
    return {path: path.relative_to(SOURCE).with_suffix("").parts[0] for path in files}


def imported_layers(path: Path) -> Iterator[tuple[str, int]]:
    """The layers that a file imports from, at any depth, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                dotted = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=0):
                dotted = [f"{module}.{alias.name}" for alias in names]
            case ast.ImportFrom(level=level) if level:
                raise AssertionError(f"{path}, line {node.lineno}: relative import")
            case _:
                continue
        for name in dotted:
            if name == "podium" or name.startswith("podium."):
                layer = name.split(".")[1] if "." in name else "api"
                yield layer if layer in LAYERS else "api", node.lineno


def test_private_parts_of_inspect_are_imported_in_one_file() -> None:
    private = re.compile(r"^\s*(from|import) inspect_ai(\.\w+)*\._", re.MULTILINE)
    assert [path.name for path in modules() if private.search(path.read_text(encoding="utf-8"))] == [
        "inspect_internals.py"
    ]


def test_every_module_belongs_to_a_layer() -> None:
    assert set(modules().values()) <= set(LAYERS)


def test_layers_import_only_from_those_above() -> None:
    below = [
        f"{path.relative_to(SOURCE)}, line {line}: imports podium.{layer}"
        for path, own in modules().items()
        for layer, line in imported_layers(path)
        if LAYERS.index(layer) > LAYERS.index(own)
    ]
    assert below == []
