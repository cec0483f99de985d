"""Finds what is offered under a name: by Podium itself, by an installed package, or at `package.module:Name`.

Built-in things and those of other packages come through the same door. An entry-point group is named after what it
holds: `podium.agents`, `podium.backends`, `podium.executors`, `podium.tasks`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import distributions
from types import ModuleType
from typing import Any

from podium.errors import UsageError


def offered(kind: str, builtin: Mapping[str, str]) -> dict[str, str]:
    """Where everything of a kind is found, by name; nothing is imported.

    Args:
        kind: in the plural, such as `agents`.
        builtin: Podium's own, by name `module:attribute`; no package can take such a name over.
    """
    return {**{name: target for of, name, target in _installed(tuple(sys.path)) if of == kind}, **builtin}


@cache
def _installed(_path: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Kind, name and place of what packages on Python's path offer; of two of one name the first on the path is last.

    Looking through all packages takes 20 ms, and every sandbox asks.
    """
    points = (point for package in distributions() for point in package.entry_points)
    found = [(point.group, point.name, point.value) for point in points if point.group.startswith("podium.")]
    return [(group.removeprefix("podium."), name, target) for group, name, target in reversed(found)]


def find(kind: str, name: str, builtin: Mapping[str, str]) -> Any:
    """The thing of that name.

    Raises:
        UsageError: there is none; the closest name, or all of them, are said.
    """
    known = offered(kind, builtin)
    target = known.get(name) or (name if ":" in name else None)
    if target is None:
        close = get_close_matches(name, known, n=1)
        hint = f"Did you mean '{close[0]}'?" if close else f"The {kind} are: {', '.join(known)}."
        raise UsageError(f"There is no {kind.removesuffix('s')} '{name}'. {hint}")
    return _load(kind, name, target)


def _load(kind: str, name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever the code of others raises
        said = str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"The {kind.removesuffix('s')} '{name}' cannot be loaded from {target}: {said}") from error
    return found


class CallablePackage(ModuleType):
    """A package that shares its name with a public function, such as `podium.report`, and calls it.

    Importing one of its modules binds the name to the package, which would hide the function otherwise.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        parent, _, name = self.__name__.rpartition(".")
        return sys.modules[parent].__getattr__(name)(*args, **options)
