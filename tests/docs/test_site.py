"""The documentation site is built from the pages as they stand, and asks no other server for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*?\bsrc=["']?(\S+?)["'> ]|<link\b[^>]*?\bhref=["']?(\S+?)["'> ]"""
)
IN_STYLES = re.compile(r"""(?:url\(|@import )["']?(https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a link that leads nowhere is an error of the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.docs
def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    loaded = {
        f"{page.name}: {address}"
        for page in pages
        for found in LOADED.findall(page.read_text(encoding="utf-8"))
        if "//" in (address := "".join(found))
    }
    assert loaded == set()
    assert not [path.name for path in site.rglob("*.css") if IN_STYLES.search(path.read_text(encoding="utf-8"))]
    assert not [page.name for page in pages if "mermaid" in page.read_text(encoding="utf-8")], "it is loaded from afar"


@pytest.mark.docs
def test_formulas_and_docstrings_are_on_the_pages(site: Path) -> None:
    assert "<math" in (site / "statistics.html").read_text(encoding="utf-8")
    assert "arithmatex" not in (site / "statistics.html").read_text(encoding="utf-8")
    reference = (site / "python-api.html").read_text(encoding="utf-8")
    assert "an invalid one is a result with an error, not an exception" in reference
    assert "closest ids" in reference


@pytest.mark.docs
def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"(?m)^      - (?:.+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}
