"""Verification of runs and experiments without trusting their folders. Calling the package verifies one."""

from __future__ import annotations

import sys

from podium.plugins import CallablePackage
from podium.verify.check_experiment import verify
from podium.verify.check_run import verify_run
from podium.verify.verdict import OK, Verdict, Verification

__all__ = ["OK", "Verdict", "Verification", "verify", "verify_run"]

sys.modules[__name__].__class__ = CallablePackage
