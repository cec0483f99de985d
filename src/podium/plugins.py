"""Plug-ins: finds agents, backends, executors and tasks by name or as `package.module:Name`.

Built-in plug-ins and those of installed packages are found in the same way. The entry-point groups are `podium.agents`,
`podium.backends`, `podium.executors` and `podium.tasks`.
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
    """Return the import paths of all plug-ins of a kind by name, without importing them.

    Args:
        kind: plural noun, such as `agents`.
        builtin: import paths `module:attribute` of Podium's own plug-ins by name; packages cannot override them.
    """
    return {**{name: target for group, name, target in _installed(tuple(sys.path)) if group == kind}, **builtin}


@cache
def _installed(_path: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Return kind, name and import path of all plug-ins of installed packages; those first on the path come last.

    Cached, because scanning all packages takes 20 ms.
    """
    points = (point for package in distributions() for point in package.entry_points)
    plugins = [(point.group, point.name, point.value) for point in points if point.group.startswith("podium.")]
    return [(group.removeprefix("podium."), name, target) for group, name, target in reversed(plugins)]


def find(kind: str, name: str, builtin: Mapping[str, str]) -> Any:
    """Import and return the plug-in with this name or import path.

    Raises:
        UsageError: there is no such plug-in; the message names the closest one, or lists all.
    """
    targets = offered(kind, builtin)
    target = targets.get(name) or (name if ":" in name else None)
    if target is None:
        close = get_close_matches(name, targets, n=1)
        hint = f"Did you mean '{close[0]}'?" if close else f"The {kind} are: {', '.join(targets)}."
        raise UsageError(f"There is no {kind.removesuffix('s')} '{name}'. {hint}")
    return _load(kind, name, target)


def _load(kind: str, name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        plugin: Any = import_module(module)
        for part in attribute.split("."):
            plugin = getattr(plugin, part)
    except Exception as error:  # third-party code may raise any exception
        reason = str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"The {kind.removesuffix('s')} '{name}' cannot be loaded from {target}: {reason}") from error
    return plugin


class CallablePackage(ModuleType):
    """Package that calls the public function of the same name, such as `podium.report`.

    Importing one of its modules binds the name to the package, which would otherwise hide the function.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        parent, _, name = self.__name__.rpartition(".")
        return sys.modules[parent].__getattr__(name)(*args, **options)
