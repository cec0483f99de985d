"""`podium integrity`: group of integrity checks, each in a file that is imported when it is called."""

from __future__ import annotations

from collections.abc import Mapping

import click

from podium.cli import LazyGroup

COMMANDS = {
    "scan": "Scan runs for suspicious behaviour of agents.",
    "failures": "Classify how runs ended: success, debugging, bad plan and so on.",
    "audit": "Audit tasks: leaked labels, groups on both sides of the split, lenient graders.",
    "contamination": "Test whether a model has memorised tasks: masked names in briefs, first rows of data.",
    "similarity": "Find scripts copied between runs, or from notebooks.",
}
"""Commands and summaries of `podium integrity --help`. A test compares them."""


class IntegrityGroup(LazyGroup):
    """Commands of `podium integrity`."""

    path = "podium integrity"
    summaries = COMMANDS

    def module_of(self, name: str) -> str:
        return f"podium.cli.trust.integrity.{name}"

    def headings(self) -> Mapping[str, Mapping[str, str]]:
        return {"Commands": COMMANDS}


@click.group(name="integrity", cls=IntegrityGroup)
def command() -> None:
    """Look for cheating, copied code, faulty tasks and contamination.

    Findings are evidence for a person to judge. They never disqualify a run by themselves.
    """
