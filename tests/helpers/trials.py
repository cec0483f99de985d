"""Research tasks on trial: runs in the sandbox, a search for hidden labels from inside, and a site to download from."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from driving import drive

import podium
from podium.data.home import DataFolder
from podium.grading.grade import Grade
from podium.runs.drive.driver import FollowedRun
from podium.runs.records import Plan
from podium.task import Edition

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch: pip install 'podium[research]'")
needs_transformers = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None,
    reason="needs torch and transformers: pip install 'podium[research]'",
)

SEARCH = '''"""Writes down every column of whole numbers, at least so long, in all files that can be read inside."""
import gzip
import json
import os
import sys

import numpy as np
import pandas as pd

SYSTEM = ("/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix)
shortest = int(sys.argv[1])
found = {}


def keep(name, values):
    """One column, or every row and column of a table; what is not a number throughout is passed over."""
    array = np.asarray(values)
    if array.ndim == 2 and array.size:
        for part in (array.T, array):
            for place, line in enumerate(part[:1000]):
                keep(f"{name}[{place}]", line)
    elif array.ndim == 1 and len(array) >= shortest:
        numbers = pd.to_numeric(pd.Series(array), errors="coerce").to_numpy(np.float64)
        if np.isfinite(numbers).all() and (numbers == np.round(numbers)).all():
            found[f"{len(found)} {name}"] = numbers.astype(np.int64)


def look_into(name, value):
    """Lists at any depth of a JSON document."""
    if isinstance(value, dict):
        keep(name, list(value.values()))
        for key, inner in value.items():
            look_into(f"{name}.{key}", inner)
    elif isinstance(value, list):
        keep(name, [item if isinstance(item, (int, float)) else np.nan for item in value])
        for key in {key for item in value if isinstance(item, dict) for key in item}:
            keep(f"{name}.{key}", [item.get(key) if isinstance(item, dict) else None for item in value])


def read(path):
    if path.endswith(".npz"):
        with np.load(path) as arrays:
            for name in arrays:
                keep(f"{path}:{name}", arrays[name])
    elif path.endswith(".npy"):
        keep(path, np.load(path))
    elif path.endswith((".csv", ".csv.gz", ".tsv")):
        table = pd.read_csv(path, sep=None, engine="python")
        for column in table:
            keep(f"{path}:{column}", table[column])
    elif path.endswith(".parquet"):
        table = pd.read_parquet(path)
        for column in table:
            keep(f"{path}:{column}", table[column])
    elif path.endswith(".json"):
        with open(path) as file:
            look_into(path, json.load(file))
    else:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
            keep(path, file.read().split())


for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(SYSTEM)]
    for name in files:
        path = os.path.join(folder, name)
        try:
            if os.path.isfile(path):
                read(path)
        except Exception as error:
            print("not read:", path, type(error).__name__)
np.savez("/home/logs/found.npz", **found)
print("columns found:", len(found))
'''


def play(task_id: str, folder: Path, data_dir: Path, agent: str = "baseline", **options: object) -> FollowedRun:
    """A run, as `podium run` does it."""
    texts = {name: str(value) for name, value in options.items()}
    plan = Plan(agent=agent, options=texts, data_dir=data_dir, miniature=True)
    return drive(folder, plan, task_id)


def telling_files(
    task_id: str, tmp_path: Path, data_dir: Path, answers: pd.Series, planted: Mapping[str, bytes]
) -> set[str]:
    """Searches for the labels of the test part as a program of the agent does, and gives the files that tell them.

    Args:
        answers: the labels by their ids.
        planted: files that the agent brings along, by name: what the search finds in them shows that it can find.
    """
    files = tmp_path / "searcher"
    files.mkdir()
    (files / "search.py").write_text(SEARCH)
    for name, content in planted.items():
        (files / name).write_bytes(content)
    row = play(
        task_id, tmp_path / "run", data_dir, agent="command", command=f"python search.py {len(answers)}", files=files
    )
    assert row.record.status == "finished", row.record.error
    with np.load(row.folder.workspace / "logs" / "found.npz") as found:
        assert any("/home/data/" in name for name in found), "the search did not see the data"
        return {name.split(" ", 1)[1].split(":")[0] for name in found if tells(found[name], answers)}


def tells(column: np.ndarray, answers: pd.Series) -> bool:
    """Whether a column holds the labels, in a row somewhere or at the places their ids say; a few may be off."""
    wanted, ids = answers.to_numpy(), answers.index.to_numpy()
    windows = np.lib.stride_tricks.sliding_window_view(column, len(wanted))
    best = max(float((window == wanted).mean()) for window in windows)
    if len(column) > ids.max():
        best = max(best, float((column[ids] == wanted).mean()))
    return best > 0.95


def prepare(task_id: str, data_dir: Path, edition: Edition = "fixed") -> DataFolder:
    return podium.prepare(task_id, data_dir=data_dir, miniature=True, edition=edition).place


def grade(task_id: str, table: pd.DataFrame, tmp_path: Path, data_dir: Path, edition: Edition = "fixed") -> Grade:
    """Grades a table that is handed in."""
    path = tmp_path / "submission.csv"
    table.to_csv(path, index=False)
    return podium.grade(task_id, path, data_dir=data_dir, edition=edition)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The address of a site that offers the files of a folder."""
    with ThreadingHTTPServer(("localhost", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


class _Hub(BaseHTTPRequestHandler):
    """What Hugging Face answers about a file."""

    files: Mapping[str, bytes]

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        content = self.files.get(self.path)
        self.send_response(404 if content is None else 200)
        if content is not None:
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", self.path.split("/resolve/")[1].split("/")[0])
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content or b"")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hub_of(files: Mapping[str, bytes]) -> Iterator[str]:
    """The address of a stand-in for Hugging Face that offers files by their paths there."""
    if find_spec("huggingface_hub") is None:
        pytest.skip("needs huggingface_hub: pip install 'podium[research]'")
    handler = type("Handler", (_Hub,), {"files": files})
    with ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()
