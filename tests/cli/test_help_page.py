"""docs/cli.md matches the help texts of the commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_page_is_up_to_date() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); import cli_help; print(cli_help.page(), end='')"
    page = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == page, "run: python scripts/cli_help.py"
