"""What a coding agent costs beside `command` with an empty program: the start of a run, and its disk.

    python benchmarks/coding_agents.py [NAME...] [--rounds 5]

Every round runs `command` and each installed agent (or those named) once, on a miniature, with a model that says at
once that all is done. Reported: the median time until the program inside starts, until it first asks its model (which
is its own start, not Podium's), and what the run leaves on the disk beside the size of the program. Target: a start at
most 1 s above that of `command`, and no file of the program in a run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from podium import api
from podium.agents.coding.install_agent import installed
from podium.agents.coding.presets import FOLDER, preset_agent, preset_names
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget

TASK = "spaceship-titanic"
NOTE = "date +%s.%N > /home/code/started"
MODULE = f"""
from podium.agents.coding.presets import FOLDER, preset_agent

def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    agent = preset_agent(FOLDER / (name.replace("_", "-") + ".toml"))
    agent.preset = agent.preset.model_copy(update={{"start": "{NOTE}; " + agent.preset.start}})
    return agent
"""


class Cost(NamedTuple):
    """Of one run."""

    start_s: float
    asked_s: float | None
    disk_bytes: int


class _Model(BaseHTTPRequestHandler):
    asked: list[float]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append(time.time())
        message = {"role": "assistant", "content": "All done."}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": "answer", "object": "chat.completion", "created": 0, "model": "scripted"}
        body = json.dumps({**head, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def model() -> Iterator[ThreadingHTTPServer]:
    _Model.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = {name: installed(preset_agent(FOLDER / f"{name}.toml").preset) for name in options.names or preset_names()}
    sizes = {name: record.size_bytes for name, record in found.items() if record is not None}
    with tempfile.TemporaryDirectory() as folder, model() as server:
        Path(folder, "noted_presets.py").write_text(MODULE, encoding="utf-8")
        sys.path.insert(0, folder)
        os.environ |= {"PYTHONPATH": folder, "PODIUM_API_KEY": "none"}
        api.prepare(TASK, data_dir=Path(folder, "data"), miniature=True)
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        costs: dict[str, list[Cost]] = {name: [] for name in ("command", *sizes)}
        for number in range(options.rounds + 1):  # the first warms up, and does not count
            for name in costs:
                cost = measure(Path(folder), name, number, url)
                costs[name] += [cost] if number else []
    report(costs, sizes)


def measure(folder: Path, name: str, number: int, url: str) -> Cost:
    """One run."""
    is_command = name == "command"
    plan = Plan(
        agent=name if is_command else f"noted_presets:{name.replace('-', '_')}",
        options={"command": NOTE} if is_command else {},
        model="openai-api/podium/scripted",
        model_base_url=url,
        data_dir=folder / "data",
        miniature=True,
        budget=Budget(wall_s=120),
    )
    experiment = open_experiment(folder / f"{name}-{number}", plan, [TASK], 1)
    _Model.asked.clear()
    began = time.time()
    Driver(experiment).run_all(make_executor(parallel=1))
    run = experiment.run(TASK, 0)
    started = float((run.workspace / "code" / "started").read_text())
    asked = _Model.asked[0] - began if _Model.asked else None
    disk = sum(path.stat().st_blocks * 512 for path in run.path.rglob("*") if path.is_file())
    return Cost(started - began, asked, disk)


def report(costs: dict[str, list[Cost]], sizes: dict[str, int]) -> None:
    floor = statistics.median(cost.start_s for cost in costs["command"])
    print(f"{'agent':16} {'start':>8} {'above command':>14} {'asks its model':>15} {'run on disk':>12} {'program':>9}")
    for name, found in costs.items():
        start = statistics.median(cost.start_s for cost in found)
        asked = [cost.asked_s for cost in found if cost.asked_s is not None]
        first = f"{statistics.median(asked):12.2f} s" if asked else f"{'-':>14}"
        disk = statistics.median(cost.disk_bytes for cost in found)
        size = f"{sizes[name] / 1e6:6.0f} MB" if name in sizes else f"{'-':>9}"
        print(f"{name:16} {start:6.2f} s {start - floor:12.2f} s {first} {disk / 1e6:9.2f} MB {size}")


if __name__ == "__main__":
    main()
