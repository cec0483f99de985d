"""Queue that verifies runs on request, one at a time, each in a process of its own to bound memory.

python -m podium.viewer.index.verify_requests RUN
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from podium.errors import PodiumError
from podium.report.results import RunKey
from podium.runs.experiment import find_run, read_experiment
from podium.runs.plan.trusted_plans import own_data_dir
from podium.viewer.index.experiment_index import ExperimentIndex, StoredVerification
from podium.workspace.journal.events import now


class Verifier:
    """Queue of runs to be verified."""

    def __init__(self, index: ExperimentIndex, verify: Callable[[Path], dict[str, str]] | None = None) -> None:
        self._index = index
        self._verify = verify or self._in_a_process
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="podium-verify")
        self._lock = threading.Lock()
        self._waiting: set[RunKey] = set()
        self._process: subprocess.Popen[str] | None = None
        self._is_closed = False

    def request(self, key: RunKey, folder: Path) -> None:
        """Queue a run for verification, unless it is queued already."""
        with self._lock:
            if key in self._waiting or self._is_closed:
                return
            self._waiting.add(key)
        self._pool.submit(self._work, key, folder)

    def is_waiting(self, key: RunKey) -> bool:
        """Return whether a run is queued."""
        return key in self._waiting

    def waiting_in(self, experiment: str) -> int:
        """Return the number of queued runs of an experiment."""
        with self._lock:
            return sum(key.experiment == experiment for key in self._waiting)

    def close(self) -> None:
        """Stop verifying."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()
        self._pool.shutdown(cancel_futures=True)

    def _work(self, key: RunKey, folder: Path) -> None:
        try:
            stamp = self._index.stamp_of(key)
            checks = self._verify(folder)
            if not self._is_closed:
                self._index.put_verification(key, stamp, StoredVerification(now(), checks))
        finally:
            with self._lock:
                self._waiting.discard(key)

    def _in_a_process(self, folder: Path) -> dict[str, str]:
        command = [sys.executable, "-m", "podium.viewer.index.verify_requests", str(folder)]
        with self._lock:
            if self._is_closed:
                return {}
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        output, errors = self._process.communicate()
        try:
            return dict(json.loads(output))
        except ValueError:
            lines = errors.strip().splitlines() or ["it was stopped"]
            return {"verifying": f"the run could not be verified: {lines[-1][:500]}"}


def main(path: str) -> None:
    """Print the checks of a run and their results as JSON."""
    from podium.verify import verify_run

    try:
        run = find_run(Path(path))
        checks = verify_run(run, data_dir=own_data_dir(read_experiment(run.experiment).plan)).checks
    except PodiumError as error:
        checks = {"verifying": f"the run could not be verified: {error}"}
    print(json.dumps(checks))


if __name__ == "__main__":
    main(sys.argv[1])
