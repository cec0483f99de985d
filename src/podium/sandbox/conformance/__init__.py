"""Checks that a backend keeps what `podium.sandbox.backend` promises, with real programs, hostile ones included.

    from podium.sandbox.conformance import check
    for result in check(MyBackend()):
        print(result.name, result.status, result.reason)

What a backend does not claim among its capabilities is not checked; the result says so.
"""

from __future__ import annotations

from podium.sandbox.backend import Backend
from podium.sandbox.conformance import escapes, file_transfer, resource_attacks, running_programs
from podium.sandbox.conformance.fixtures import CHECKS, Bench, CheckResult
from podium.sandbox.spec import SandboxSpec

__all__ = ["CHECKS", "Bench", "CheckResult", "check"]

_MODULES = (running_programs, file_transfer, escapes, resource_attacks)  # imported for the checks they hold


def check(backend: Backend, spec: SandboxSpec | None = None) -> list[CheckResult]:
    """The results of all checks, which take a minute or two.

    Args:
        spec: what all sandboxes have beside what a check asks for, such as an image.
    """
    with Bench(backend, spec) as bench:
        return [bench.run(name) for name in CHECKS]
