"""Makes the pictures in the README from the demonstration's results: `make demo`, then `make screenshots`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "demo"
PICTURES = ROOT / "docs" / "pictures"
RUN = f"/runs/{DEMO.name}/forge-graph-medium-107/0"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def main() -> None:
    if not (DEMO / "report.html").exists():
        sys.exit("There are no results to show. Run: make demo")
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, viewer() as address:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 1000})
        take(page, f"{address}{RUN}", "run.png")
        take(page, f"file://{DEMO / 'report.html'}", "report.png")
        browser.close()


@contextmanager
def viewer() -> Iterator[str]:
    """The web pages over the demonstration's folder; their address."""
    command = [str(Path(sys.executable).with_name("podium")), "view", str(DEMO), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1].rstrip("/")
    finally:
        process.terminate()
        process.wait()


def chromium() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or sys.exit("There is no Chromium. Run: sh scripts/install_chromium.sh")


def take(page: Page, address: str, name: str) -> None:
    page.goto(address)
    page.wait_for_load_state("load")
    page.wait_for_timeout(500)  # charts draw themselves
    page.screenshot(path=PICTURES / name)
    print(f"docs/pictures/{name}")


if __name__ == "__main__":
    main()
