"""Checks runs and experiments as a stranger would: nothing that their folder says is taken on trust."""

from podium.runs.verify.experiment import verify
from podium.runs.verify.run import verify_run
from podium.runs.verify.verdict import OK, Verdict, Verification

__all__ = ["OK", "Verdict", "Verification", "verify", "verify_run"]
