"""What the pages say works as they say it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from model_server import serving
from tutorial import Block, blocks, run_tutorial

from podium.cli import podium

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLLOWED = ("adding-a-task.md", "first-experiment.md", "publishing.md")
EXECUTED = ("writing-an-agent.md", *FOLLOWED)
"""All pages that tests follow to the letter; one of them has tests/agents/test_writing_an_agent.py to itself."""
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.docs
@pytest.mark.parametrize("page", FOLLOWED)
def test_a_tutorial_can_be_followed_to_the_letter(page: str, tmp_path: Path) -> None:
    variables = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    assert run_tutorial(DOCS / page, tmp_path, variables) >= 5


@pytest.mark.docs
def test_every_block_is_executed_or_says_why_not() -> None:
    unmarked = [
        f"{page.name}: {block.text.partition(chr(10))[0]}"
        for page in PAGES
        if page.parent == DOCS and page.name not in EXECUTED
        for block in blocks(page)
        if block.language in ("bash", "sh", "python") and not block.is_skipped
    ]
    assert unmarked == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_has_the_options_it_is_given(page: Path) -> None:
    for line in (line for block in blocks(page) for line in _commands(block)):
        _parse(line)


@pytest.mark.docs
@pytest.mark.parametrize("provider", ["openai/", "ollama/", "vllm/", "openai-api/"])
def test_the_lines_for_a_provider_reach_its_model(provider: str, tmp_path: Path) -> None:
    """With a server of ours in the provider's place; a dry run asks it for one word."""
    lines = [line for block in blocks(DOCS / "first-model.md") for line in _commands(block)]
    line = next(line for line in lines if f"--model {provider}" in line)
    with serving(lambda request, rng: "ready") as server:
        line = re.sub(r"(--model-base-url) \S+", rf"\1 {server.url}", line)
        keys = {"OPENAI_API_KEY": "sk-...", "LLAMACPP_API_KEY": "none"}
        addresses = {"OPENAI_BASE_URL": server.url, "OLLAMA_BASE_URL": server.url, "PODIUM_HOME": str(tmp_path)}
        command = [sys.executable, "-m", "podium", *shlex.split(line)[1:], "--dry-run"]
        environment = {**os.environ, **keys, **addresses}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 1


def _commands(block: Block) -> list[str]:
    """The lines that call Podium, without what only stands for more of them."""
    lines = block.text.replace("\\\n", " ").splitlines() if block.language in ("bash", "sh") else []
    return [line for line in lines if line.startswith("podium ") and "..." not in line]


def _parse(line: str) -> None:
    """Has click read a command as if it were called, but for values that are not there, such as files."""
    args = shlex.split(re.split(r" [;&|>] ", line)[0], comments=True)[1:]
    command: click.Command = podium
    context = podium.make_context("podium", list(args), resilient_parsing=True)
    while isinstance(command, click.Group) and args and not args[0].startswith("-"):
        name, found, args = command.resolve_command(context, args)
        assert found is not None, line
        command, context = found, click.Context(found, info_name=name, parent=context)
    command.make_parser(context).parse_args(list(args))
