"""The pages in a real browser: Debian's Chromium, driven by Playwright. `make test-browser` installs what is missing.

Screenshots are left in `artefacts/viewer`, to be looked at.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from viewed import OTHER, TASK, make_experiment, make_record, make_run

from podium.viewer.app import make_app
from podium.viewer.page_site import Site

pytestmark = pytest.mark.browser
SCREENSHOTS = Path(__file__).parents[2] / "artefacts" / "viewer"
RUN = f"/runs/search/{TASK}/0"
PLAIN = f"/runs/nested/plain/{TASK}/0"
EVIL = f"/runs/hostile/{TASK}/0"
PAGES = {
    "experiments": "/",
    "experiment": "/experiments/search",
    "tasks": "/tasks",
    "task": f"/tasks/{TASK}",
    "run": RUN,
    "run-failed": f"/runs/search/{OTHER}/0",
    "tree": f"{RUN}/tree",
    "script": f"{RUN}/tree/2",
    "step": f"{RUN}/steps/3",
    "changes": f"{PLAIN}/steps/2/diff",
    "workspace": f"{RUN}/steps/5/files",
    "file": f"{PLAIN}/steps/2/files?path=notes.txt",
    "transcript": f"{PLAIN}/transcript",
    "leaderboard": "/leaderboard",
    "compare": "/compare?a=search&b=nested/plain",
    "hostile-run": EVIL,
    "hostile-step": f"{EVIL}/steps/1",
    "hostile-changes": f"{EVIL}/steps/4/diff",
    "hostile-files": f"{EVIL}/steps/6/files",
    "hostile-long": f"{EVIL}/steps/2",
    "missing": "/nothing/here",
}
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.fail("There is no Chromium. Run: sh scripts/install_chromium.sh")
    with sync_playwright() as driver:
        # Without its own sandbox, which root may not use; all it loads are our pages.
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def serving() -> Iterator[Callable[[Site], str]]:
    """Serves sites; the address of one."""
    stops: list[Callable[[], None]] = []

    def serve(site: Site) -> str:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # so that whoever comes before the server is ready waits
        server = uvicorn.Server(uvicorn.Config(make_app(site), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()

        def stop() -> None:
            site.closing.set()
            server.should_exit = True
            thread.join()
            listener.close()

        stops.append(stop)
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield serve
    for stop in stops:
        stop()


@pytest.fixture(scope="module")
def address(experiments: Path, serving: Callable[[Site], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    return serving(Site(experiments, file=tmp_path_factory.mktemp("browser-index") / "index.sqlite"))


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Open]:
    """Opens a page in a window of its own; at the end, nobody may have complained or asked for anything elsewhere."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def open_(path: str, *, at: str = address, **options: Any) -> Any:
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(at) or complaints.append(request.url))
        page.goto(at + path)
        while "Loading the transcript" in page.content():  # in the background, since it may be large
            page.wait_for_timeout(200)
            page.reload()
        return page

    yield open_
    for context in contexts:
        context.close()
    expected = "the server responded with a status of 404"
    assert [text for text in complaints if expected not in text] == []


def keep(page: Any, name: str) -> None:
    """Leaves a screenshot."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def run_link(page: Any) -> Any:
    """The links to runs on an experiment's page."""
    return page.get_by_role("region", name="Runs").get_by_role("link", name=TASK)


def test_from_the_list_to_a_file(opened: Open) -> None:
    page = opened("/")
    page.get_by_role("link", name="nested/plain").click()
    run_link(page).click()
    assert page.get_by_role("heading", level=1).inner_text().startswith(TASK)
    page.get_by_role("link", name="1", exact=True).click()
    page.get_by_role("link", name="Next").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Step 2 of 2"
    page.get_by_role("link", name="Changes").click()
    assert page.locator("ins").all_inner_texts() == ["+2"] and page.locator("del").all_inner_texts() == ["-two"]
    page.get_by_role("link", name="Previous").click()
    assert page.locator("ins").all_inner_texts() == ["+one", "+two"]  # still the changes, of the step before
    page.get_by_role("link", name="Workspace").click()
    page.get_by_role("link", name="notes.txt").click()
    assert page.get_by_role("region", name="Content").inner_text() == "one\ntwo\n"
    page.get_by_label("Breadcrumb").get_by_role("link", name="nested/plain").click()
    assert page.url.endswith("/experiments/nested/plain")


def test_the_tree_leads_to_scripts_by_mouse_and_keyboard(opened: Open) -> None:
    page = opened(RUN)
    page.get_by_role("link", name="improve 3, score 0.79, best").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Script 3"
    assert "more features" in page.locator(".prose").inner_text()
    page.go_back()
    node = page.locator(".tree a.buggy")
    node.focus()
    assert node.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url("**/tree/1")
    assert "one that crashes" in page.get_by_role("region", name="Script").inner_text()


def test_the_leaderboard_filters_as_soon_as_one_chooses(opened: Open) -> None:
    page = opened("/leaderboard")
    assert page.locator("tbody tr").count() == 3
    page.get_by_label("Agent").select_option("recipes")
    page.wait_for_url("**agent=recipes**")
    assert page.locator("tbody th a").all_inner_texts() == ["search"]
    page.get_by_label("Verified only").check()
    page.wait_for_url("**verified=1**")
    assert "No matching experiments" in page.locator("main").inner_text()


def test_two_experiments_are_chosen_and_compared(opened: Open) -> None:
    page = opened("/compare")
    page.get_by_label("First").select_option("search")
    page.get_by_label("Second").select_option("nested/plain")
    page.get_by_role("button", name="Compare").click()
    assert "No difference in any medal" in page.locator(".verdict").inner_text()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_sound_in_light_and_dark_and_on_a_phone(opened: Open, name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for scheme in ("light", "dark"):
        page = opened(PAGES[name], color_scheme=scheme)
        keep(page, f"{name}-{scheme}")
        red, green, blue = page.evaluate("getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g)")
        assert (int(red) + int(green) + int(blue) > 384) is (scheme == "light")
        found = Axe().run(page).response["violations"]
        grave = [each for each in found if each["impact"] in ("serious", "critical")]
        assert grave == [], json.dumps(grave, indent=1)[:4000]
    phone = opened(PAGES[name], viewport={"width": 360, "height": 740})
    keep(phone, f"{name}-phone")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360


def test_hostile_runs_do_nothing(opened: Open, address: str) -> None:
    page = opened(EVIL)
    links = page.eval_on_selector_all("a[href^='/runs/hostile']", "all => all.map(each => each.href)")
    for number in range(1, 7):
        links += [f"{address}{EVIL}/steps/{number}{view}" for view in ("", "/diff", "/files")]
    for link in dict.fromkeys(link for link in links if "/tree" not in link and "/save/" not in link):
        page.goto(link)
        assert "Podium" in page.title()
        assert page.locator("img, iframe, object, embed, main script").count() == 0
        assert page.evaluate("document.body.innerText.length") < 100_000
    page.goto(f"{address}{EVIL}/steps/5/files?path=page.html")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download file").click()
    assert download.value.suggested_filename == "page.html"


def test_pages_work_without_scripts(opened: Open) -> None:
    page = opened("/", java_script_enabled=False)
    page.get_by_role("link", name="search").click()
    run_link(page).first.click()
    page.locator("details").first.click()
    page.get_by_role("link", name="debug 2, score 0.72").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Script 2"
    page.goto(page.url.partition("/runs")[0] + "/leaderboard")
    page.get_by_label("Agent").select_option("recipes")
    page.get_by_role("button", name="Apply").click()
    assert page.locator("tbody th a").all_inner_texts() == ["search"]


def test_the_keyboard_reaches_the_content_first(opened: Open) -> None:
    page = opened("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_scroll_position_and_focus_survive_a_live_update(
    opened: Open, serving: Callable[[Site], str], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    plan = make_experiment(root / "going", seeds=2)
    make_run(root / "going", plan, [])
    make_record(root / "going", plan, seed=1, status="running", score=None)
    page = opened("/experiments/going", at=serving(Site(root, file=tmp_path / "index.sqlite")))
    page.get_by_text("Live", exact=True).wait_for()
    page.evaluate("window.same = true")
    link = run_link(page).nth(1)
    link.focus()
    make_record(root / "going", plan, seed=1, medal="gold", score=0.99)
    page.get_by_role("cell", name="0.99").wait_for(timeout=10_000)
    assert page.evaluate("window.same") is True
    assert page.evaluate("document.activeElement.getAttribute('href')").endswith("/1")


def test_a_run_is_followed_while_it_goes_on_and_then_verified(
    opened: Open, serving: Callable[[Site], str], tmp_path: Path
) -> None:
    from podium import api

    data, root = tmp_path / "data", tmp_path / "root"
    root.mkdir()
    api.prepare(TASK, data_dir=data, miniature=True)
    actions = [("run_command", {"command": f"sleep 1; echo number {n} >> code/notes.txt"}) for n in range(1, 6)]
    actions.append(("run_command", {"command": "cp data/sample_submission.csv submission/submission.csv"}))
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"action": name, "arguments": arguments} for name, arguments in actions]))
    page = opened("/", at=serving(Site(root, file=tmp_path / "index.sqlite")))
    assert "No experiments in" in page.locator("main").inner_text()
    page.evaluate("window.same = true")
    command = ["run", TASK, "--agent", "scripted", "-A", f"script={script}", "--out", str(root / "now")]
    code = f"from podium.cli import main; main({[*command, '--data-dir', str(data), '--miniature', '--steps', '9']!r})"
    going = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        page.get_by_role("link", name="now").wait_for(timeout=90_000)
        assert page.evaluate("window.same") is True  # it was not loaded again
        page.get_by_role("link", name="now").click()
        page.locator(".pill", has_text="running").wait_for(timeout=90_000)
        run_link(page).click()
        page.evaluate("window.same = true")
        page.locator(".steps tbody tr").nth(1).wait_for(timeout=90_000)
        keep(page, "live")
        assert page.locator(".pill", has_text="running").count() == 1
        page.locator(".pill", has_text="finished").wait_for(timeout=90_000)
    finally:
        output, _ = going.communicate(timeout=120)
    assert going.returncode == 0, output
    assert page.evaluate("window.same") is True
    assert page.locator(".steps tbody tr").count() == 6 and "6 of 9" in page.locator("main").inner_text()
    page.get_by_role("button", name="Verify now").click()
    page.locator("strong.good", has_text="Verified").wait_for(timeout=90_000)
    keep(page, "verified")
