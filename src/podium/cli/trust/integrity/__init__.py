"""`podium integrity`: one file per command below it, imported only when it is called."""

from __future__ import annotations

from collections.abc import Mapping

import click

from podium.cli import LazyGroup

COMMANDS = {
    "scan": "Look at what the agents of runs did, and note what a person should look at.",
    "failures": "Say why runs ended as they did: success, debugging, bad plan and so on.",
    "audit": "Look for faults of tasks: labels in public files, groups that cross the split, gullible graders.",
    "contamination": "Ask a model for what it was not told: names cut out of briefs, and the first rows of the data.",
    "similarity": "Find scripts of runs that are copies of another run's, or of notebooks.",
}
"""What `podium integrity --help` shows. A test compares."""


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
    """Look for cheating, copies, faulty tasks and contamination.

    Findings are evidence for a person to judge. Nothing is disqualified by them.
    """
