"""Generates docs/cli.md from the help texts of all commands: `python scripts/cli_help.py`.

A test fails if the page is out of date.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = """# Command-line reference

This page is generated from the help texts of the commands by `scripts/cli_help.py`.

Results go to standard output, and progress and messages go to standard error. With `--json`, standard output is exactly
one JSON document.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | the operation failed; the message states the reason and a fix |
| 2 | wrong usage |
| 3 | the submission is invalid (`podium validate`) |
"""


def page() -> str:
    """Return the page."""
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
    """Return the sections of a command and its subcommands."""
    import click

    with click.Context(command, info_name=name, parent=above) as context:
        sections = [_block(context.command_path, command.get_help(context))]
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                below = command.get_command(context, inner)
                assert below is not None
                sections += _blocks(below, inner, context)
    return sections


def _block(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
