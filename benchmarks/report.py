"""What a report of many runs costs, beside the least it could: reading their records once.

    python benchmarks/report.py [--runs 10000]

Makes one experiment with so many runs. Reported: making the report and writing its page, beside reading and parsing
every `run.json`; the page's size without the charting library it carries along; and, where Chromium and Playwright are
installed, how long a browser takes until every chart is drawn.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from pathlib import Path

from podium.catalog.registry import suites
from podium.report.rendering.html_report import render
from podium.report.report_document import Report, make_report
from viewer import make_plan, make_record, timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    tasks = suites()["mle-bench"].tasks
    with tempfile.TemporaryDirectory() as folder:
        root, rng = Path(folder, "many"), random.Random(0)
        plan = make_plan(root, tasks, -(-options.runs // len(tasks)))
        for number in range(options.runs):
            make_record(root, plan, tasks[number % len(tasks)], number // len(tasks), rng)
        measure(root, Path(folder, "report.html"))


def measure(root: Path, page: Path) -> None:
    """Prints the table."""
    from plotly.offline import get_plotlyjs

    make_report([root])  # what is imported and cached counts for no run
    files = list(root.glob("*/*/run.json"))
    floor = timed(lambda: [json.loads(path.read_bytes()) for path in files])
    found: list[Report] = []
    making = timed(lambda: found.append(make_report([root])))
    writing = timed(lambda: page.write_text(render(found[0]), encoding="utf-8"))
    print(f"{len(files):,} runs\n\n{'what':44} {'time':>10} {'floor':>10} {'ratio':>7}")
    for what, took in (("report / reading all run.json", making), ("its page / reading all run.json", writing)):
        print(f"{what:44} {1000 * took:7.0f} ms {1000 * floor:7.0f} ms {took / floor:7.1f}")
    own = page.stat().st_size - len(get_plotlyjs().encode())
    print(f"page: {own / 1e6:.2f} MB, and {len(get_plotlyjs()) / 1e6:.1f} MB of plotly")
    browser = shutil.which("chromium")
    if browser:
        print(f"a browser has drawn it after {1000 * open_in(browser, page):.0f} ms")


def open_in(browser: str, page: Path) -> float:
    """Seconds until a browser has drawn all charts of a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        drawn = "[...document.querySelectorAll('[data-chart]')].every((each) => each.querySelector('.main-svg'))"

        def load() -> None:
            window.goto(page.as_uri())
            window.wait_for_function(drawn)

        return timed(load)


if __name__ == "__main__":
    main()
