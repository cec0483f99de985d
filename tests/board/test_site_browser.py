"""The pages of a board in a real browser: light, dark and on a phone, free of what keeps people from using them.

Screenshots are left in `artefacts/board`, to be looked at.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from podium.board.board_site import BoardSite
from podium.board.ledger.ledger import Ledger

pytestmark = pytest.mark.browser
SCREENSHOTS = Path(__file__).parents[2] / "artefacts" / "board"
PAGES = {"index": "index.html", "entry": f"entries/{'a' * 64}.html", "hostile": f"entries/{'b' * 64}.html"}
PAGES |= {"removed": f"entries/{'c' * 64}.html", "ledger": "ledger.html"}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def address(shown_board: Ledger, tmp_path: Path) -> Iterator[str]:
    BoardSite(shown_board.folder, tmp_path / "site").build()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "site"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_every_page_can_be_used_by_everybody(address: str) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.fail("There is no Chromium. Run: sh scripts/install_chromium.sh")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    problems = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.getuid() == 0 else [])
        for look, settings in LOOKS.items():
            page = browser.new_page(**settings, bypass_csp=True)  # axe is put into the page as a script
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("dialog", lambda dialog, asked=asked: asked.append(f"a dialog: {dialog.message}"))
            for name, path in PAGES.items():
                page.goto(f"{address}/{path}")
                page.screenshot(path=SCREENSHOTS / f"{name}-{look}.png", full_page=True)
                problems += [f"{name} {look}: {fault['id']}" for fault in Axe().run(page).response["violations"]]
                width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                problems += [f"{name} {look}: {width} pixels too wide"] if width > 0 else []
            problems += [f"asked for {url}" for url in asked if not url.startswith(address)]
        page.goto(f"{address}/index.html")
        page.fill("#filter", "aide")
        assert page.locator("table.entries tbody tr:visible").count() == 1
        browser.close()
    assert problems == []
