"""Conformance checks: tests of a backend against `podium.sandbox.backend`, with real and with hostile programs.

    from podium.sandbox.conformance import check
    for result in check(MyBackend()):
        print(result.name, result.status, result.reason)

Checks that need a capability which the backend does not claim are reported as not applicable.
"""

from __future__ import annotations

from podium.sandbox.backend import Backend
from podium.sandbox.conformance import escapes, file_transfer, resource_attacks, running_programs
from podium.sandbox.conformance.fixtures import CHECKS, Bench, CheckResult
from podium.sandbox.spec import SandboxSpec

__all__ = ["CHECKS", "Bench", "CheckResult", "check"]

_MODULES = (running_programs, file_transfer, escapes, resource_attacks)  # imported for the checks they register


def check(backend: Backend, spec: SandboxSpec | None = None) -> list[CheckResult]:
    """Run all checks, which takes a minute or two, and return their results.

    Args:
        spec: base specification of all sandboxes, such as an image.
    """
    with Bench(backend, spec) as bench:
        return [bench.run(name) for name in CHECKS]
