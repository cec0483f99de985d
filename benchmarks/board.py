"""What a board costs: publishing and checking 225 runs, building 1,000 entries, and 500 kills of the service.

python benchmarks/board.py bundle|build|kill [--count N]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from podium import api
from podium.board.board_client import FolderBoard, HttpBoard
from podium.board.board_rules import Rules
from podium.board.board_site import BoardSite
from podium.board.bundle import Disclosures, write_bundle
from podium.board.check.check_bundle import check
from podium.board.keys import Key, Signed, make_key
from podium.board.ledger.audit_ledger import audit
from podium.board.ledger.ledger import Ledger, make_board
from podium.board.ledger.statements import Anchor, DecisionStatement, Registration, sign
from podium.board.register import register
from podium.errors import BoardError
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import Experiment, open_experiment, read_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget
from podium.workspace.journal.hash_chain import START, encode_line
from podium.workspace.journal.journal import read_journal

TASK = "spaceship-titanic"


def timed(what: str, work: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    result = work()
    print(f"{what}: {time.perf_counter() - started:.1f} s", flush=True)
    return result


def many_runs(folder: Path, count: int, data_dir: Path) -> Experiment:
    """One run that really happened, and copies of it with seeds and chains of their own."""
    api.prepare(TASK, data_dir=data_dir, miniature=True)
    plan = Plan(agent="recipes", data_dir=data_dir, miniature=True, budget=Budget(steps=6))
    first = open_experiment(folder / "experiment", plan, [TASK], 1)
    Driver(read_experiment(first.folder)).run_all(make_executor(parallel=1))
    source = first.run(TASK, 0).path
    for seed in range(1, count):
        target = first.run(TASK, seed).path
        shutil.copytree(source, target)
        head, lines = START, []
        for number, line in enumerate((source / "steps.jsonl").read_text().splitlines(), 1):
            event = {name: value for name, value in json.loads(line).items() if name not in ("n", "previous", "check")}
            event |= {"seed": seed} if event["kind"] == "start" else {}
            lines.append(encode_line(number, head, event).decode())
            (target / "steps.jsonl").write_text("\n".join(lines) + "\n")
            head = read_journal(target / "steps.jsonl").head
        record = json.loads((source / "run.json").read_text()) | {"seed": seed, "journal_head": head}
        (target / "run.json").write_text(json.dumps(record))
    document = json.loads((first.folder / "experiment.json").read_text()) | {"seeds": count}
    (first.folder / "experiment.json").write_text(json.dumps(document))
    return read_experiment(first.folder)


def anchors(experiment: Experiment, board: FolderBoard, registration: str, key: Key) -> list[Signed]:
    found = []
    for run in experiment.runs():
        journal = run.read_journal()
        common = {"board": board.key, "registration": registration, "task": TASK, "seed": int(run.path.name)}
        found.append(sign(Anchor(**common, lines=1, head=journal.hash_of(1), state="started"), key))
        found.append(sign(Anchor(**common, lines=len(journal), head=journal.head, state="ended"), key))
    return found


def measure_bundle(folder: Path, count: int) -> None:
    experiment = timed(f"making {count} runs", lambda: many_runs(folder, count, folder / "data"))
    make_board(folder / "board", "Figures").close()
    board, key = FolderBoard(folder / "board"), make_key()
    for run in experiment.runs():
        run.journal.rename(run.path / "aside")
    registered = register(experiment, board, key)
    for run in experiment.runs():
        (run.path / "aside").rename(run.journal)
    ledger = Ledger(board.folder)
    timed(f"{2 * count} anchors", lambda: ledger.append(*anchors(experiment, board, registered.id, key)))
    bundle = timed(
        "publish",
        lambda: write_bundle(experiment, folder / "b.zip", key, disclosures=Disclosures(), registration=registered.id),
    )
    print(f"bundle: {bundle.path.stat().st_size / 1e6:.1f} MB, {len(bundle.manifest.files)} files")
    rules = Rules.model_validate(
        {"name": "x", "suite": [TASK], "miniature": True, "registration": {"clock_skew": "30d", "anchor_delay": "30d"}}
    )
    found = timed("check", lambda: check(bundle.path, rules, ledger=board.read(), data_dir=folder / "data"))
    print("accepted" if found.accepted else f"REFUSED: {found.reasons[:3]}")


def row(number: int) -> dict[str, Any]:
    rng = random.Random(number)
    mean = rng.uniform(0, 70)
    common = {"status": "finished", "medal": None, "improvement": None, "highlights": "9 steps; 4 programs, 1 failed"}
    runs = [
        {"task": f"task-{task}", "seed": seed, "score": rng.random(), **common}
        for task in range(75)
        for seed in range(3)
    ]
    return {
        "agent": f"agent-{number}",
        "model": f"lab/model-{number % 40}",
        "measure": "any_medal",
        "mean": mean,
        "sem": 1.0,
        "interval": [mean - 2, mean + 2],
        "tasks": 75,
        "seeds": 3,
        "unfinished": number % 7,
        "by": f"team {number % 90}",
        "publisher": "0" * 64,
        "light": False,
        "licence": "",
        "notes": "",
        "registration": None,
        "podium": "0.1.0",
        "podium_sha256": "0" * 64,
        "disclosures": {},
        "runs": runs,
        "class": {"budget": ("12 h", "24 h")[number % 2], "network": number % 3 == 0, "cores": 8, "gpus": 1},
    }


def measure_build(folder: Path, count: int) -> None:
    ledger = make_board(folder / "board", "Figures")
    said = [
        DecisionStatement(board=ledger.key.public, bundle=f"{n:064x}", verdict="accepted", reason="", row=row(n))
        for n in range(count)
    ]
    timed(f"appending {count} entries", lambda: ledger.append(*(sign(one, ledger.key) for one in said)))
    timed("audit", lambda: audit(ledger.folder))
    timed("build", lambda: BoardSite(ledger.folder, folder / "site").build())
    size = (folder / "site" / "index.html").stat().st_size
    print(f"index.html: {size / 1e3:.0f} kB; all: {sum(f.stat().st_size for f in folder.rglob('*.html')) / 1e6:.0f} MB")
    measure_opening(folder / "site" / "index.html")


def measure_opening(page: Path) -> None:
    """How long Debian's Chromium takes until the page can be used, from the disk, five times."""
    if (browser := shutil.which("chromium")) is None:
        print("opening: not measured, there is no chromium")
        return
    with sync_playwright() as play, play.chromium.launch(executable_path=browser, args=["--no-sandbox"]) as chromium:
        opened = []
        for _ in range(5):
            tab = chromium.new_page()
            tab.goto(page.as_uri())
            opened.append(tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
            tab.close()
    print(f"opening: {sorted(opened)[2]:.0f} ms (median of 5; {min(opened):.0f} to {max(opened):.0f})")


def registrations(board: str, key: Key, start: int) -> Signed:
    zero = "0" * 64
    said = Registration(
        board=board,
        plan_sha256=zero,
        tasks=[TASK],
        seeds=1,
        data={},
        podium="",
        podium_sha256=zero,
        nonce=f"{start:032x}",
    )
    return sign(said, key)


def measure_kills(folder: Path, count: int) -> None:
    make_board(folder / "board", "Figures").close()
    acknowledged: dict[int, str] = {}
    numbers = iter(range(10**9))
    rng = random.Random(0)
    for _ in range(count):
        command = [sys.executable, "-m", "podium", "board", "serve", str(folder / "board"), "--port", "0"]
        with subprocess.Popen([*command, "--rate", "100000"], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()

            def load(address: str = address) -> None:
                key = make_key()
                try:
                    board = HttpBoard(address)
                    while True:
                        said = registrations(board.key, key, next(numbers))
                        acknowledged[board.append(said).number] = said.digest
                except BoardError:
                    return

            clients = [threading.Thread(target=load) for _ in range(4)]
            for client in clients:
                client.start()
            time.sleep(rng.uniform(0.02, 0.4))
            os.kill(server.pid, signal.SIGKILL)
            for client in clients:
                client.join()
    Ledger(folder / "board").close()
    found = audit(folder / "board")
    lost = [number for number, digest in acknowledged.items() if found.entries[number].digest != digest]
    print(f"{count} kills, {len(acknowledged)} acknowledged, {len(found.entries)} in the ledger, {len(lost)} lost")
    print("audit passed" if found.passed else f"AUDIT FAILED: {found.problems[:3]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("bundle", "build", "kill"))
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    work, usual = {"bundle": (measure_bundle, 225), "build": (measure_build, 1000), "kill": (measure_kills, 500)}[
        options.what
    ]
    with tempfile.TemporaryDirectory(prefix="podium-board-") as scratch:
        work(Path(scratch), options.count or usual)
