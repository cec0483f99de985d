"""Some of many cases for every day; the others are run by make test-slow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], *, every: int) -> list[Any]:
    """The cases as parameters of a test: one of so many as it is, the others marked as slow."""
    return [case if n % every == 0 else pytest.param(case, marks=pytest.mark.slow) for n, case in enumerate(cases)]
