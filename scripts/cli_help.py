"""Writes docs/cli.md: what every command says of itself. A test fails when the page is out of date.

python scripts/cli_help.py
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = """# The command line

Made by `scripts/cli_help.py` from what the commands say of themselves. Exit codes: 0 done, 1 the work failed (the
message says why and what to do), 2 wrong usage, 3 `podium validate` found that a submission is not valid. `--json`
prints one JSON document on standard output and nothing else; progress goes to standard error.
"""


def page() -> str:
    """The whole page."""
    os.environ["COLUMNS"] = "100"
    import click

    from podium.cli import COMMANDS, podium

    parts = [HEAD]
    with click.Context(podium, info_name="podium") as context:
        parts.append(_block("podium", podium.get_help(context)))
        for name in COMMANDS:
            command = podium.get_command(context, name)
            assert command is not None
            parts += _blocks(command, name, context)
    return "\n".join(parts)


def _blocks(command: click.Command, name: str, above: click.Context) -> list[str]:
    """The blocks of a command and of those below it."""
    import click

    with click.Context(command, info_name=name, parent=above) as context:
        found = [_block(context.command_path, command.get_help(context))]
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                below = command.get_command(context, inner)
                assert below is not None
                found += _blocks(below, inner, context)
    return found


def _block(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
