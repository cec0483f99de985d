"""A run on a node: the run's own process, and this supervisor, which stores the run's progress.

The run works in a private folder of the node. Its results count once they are in storage.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from podium.cluster.data_cache import NodeCache
from podium.cluster.mirror import Mirror
from podium.cluster.ray.actors import find_limiter
from podium.cluster.ray.messages import AttemptResult, NodeRun, software
from podium.cluster.ray.process_memory import tree_memory
from podium.cluster.ray.run_process import work_for_node
from podium.cluster.ray.scratch_folders import node_folder, scratch_folder, sweep
from podium.cluster.storage import StorageError, open_storage
from podium.cluster.stored_log import LostRunError, RunLog, describe_owner
from podium.errors import PodiumError
from podium.runs.drive.executors.local_executor import modules_to_preload
from podium.runs.experiment import make_experiment
from podium.runs.records import ExperimentDocument, RunRecord
from podium.text import parse_size

TICK_S = 0.2
REPORT_S = 1.0
MEASURE_S = 2.0
logger = logging.getLogger(__name__)


def run_on_node(run: NodeRun, coordinator: Any) -> AttemptResult:
    """Execute a run or the rest of it on this node. Body of the run's Ray task."""
    if run.software != software():
        import ray

        where = ray.util.get_node_ip_address()
        return AttemptResult("refused", f"node {where} has {software()}; the driver has {run.software}")
    _end_with_parent(os.getppid())
    os.environ.update(run.environment)  # includes the keys of the storage
    node = node_folder()
    scratch = node / "runs"
    sweep(scratch)
    storage = open_storage(run.storage)
    document = ExperimentDocument.model_validate_json(run.document)
    plan = document.plan.model_copy(update={"data_dir": None})  # the node's own folder, through PODIUM_HOME
    limit = os.environ.get("PODIUM_CACHE_BYTES")
    cache = NodeCache(node / "data", storage, parse_size(limit) if limit else None)
    with scratch_folder(scratch) as folder:
        experiment = make_experiment(folder / "e", document.model_copy(update={"plan": plan}))
        run_folder = experiment.run(run.task, run.seed)
        run_folder.make()
        mirror = Mirror(run_folder, RunLog(storage, run.prefix, describe_owner()))
        try:
            mirror.pull(blobs=False)
            if _status(mirror) == "finished":
                return AttemptResult("ended")
            mirror.take(blobs=True)
            with cache.using(run.data_key) as home:
                return _Supervisor(run, mirror, cache, coordinator).work(experiment.folder, home)
        except LostRunError as error:
            return AttemptResult("lost", str(error))
        except StorageError as error:
            return AttemptResult("died", str(error))
        except PodiumError as error:
            mirror.push("died", reason=str(error))
            return AttemptResult("died", str(error), len(mirror.log.deaths))


class _Supervisor:
    """Starts the process of a run and stores its progress until it ends."""

    def __init__(self, run: NodeRun, mirror: Mirror, cache: NodeCache, coordinator: Any) -> None:
        self._run, self._mirror, self._cache, self._coordinator = run, mirror, cache, coordinator
        self._stop = coordinator.wait_for_stop.remote()
        self._seen: tuple[object, ...] = ()
        self._reported_state: tuple[object, ...] = ()
        self._reported = self._measured = 0.0
        self._memory_bytes = 0
        self._asked: list[Any] = []
        """Model requests that wait for the rate limiter."""

    def work(self, experiment: Path, home: Path) -> AttemptResult:
        context = _process_context()
        ours, theirs = context.Pipe()
        variables = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        environment = {**variables, "PODIUM_HOME": str(home)}
        arguments = (environment, str(experiment), self._run.task, self._run.seed, theirs, self._run.is_rated)
        process = context.Process(target=work_for_node, args=arguments, name=self._run.name, daemon=False)
        with _without_main_file():
            process.start()
        theirs.close()
        try:
            while wait([process.sentinel], 0) == []:
                self._tick(process, ours)
        except BaseException:
            process.kill()
            raise
        finally:
            process.join()
            ours.close()
        return self._end(process.exitcode)

    def _tick(self, process: Any, child: Connection) -> None:
        wait([process.sentinel, child], TICK_S)
        self._answer(child)
        self._store()
        self._report()
        if time.monotonic() > self._measured + MEASURE_S:
            self._measured = time.monotonic()
            self._memory_bytes = max(self._memory_bytes, tree_memory(process.pid))
        if self._stop is not None and _is_ready(self._stop):
            self._stop = None
            process.terminate()

    def _end(self, exit_code: int | None) -> AttemptResult:
        record = self._mirror.folder.read_record()
        if record is None or record.status == "running":
            reason = f"its process ended with {_describe_exit(exit_code)}"
            self._mirror.push("died", reason=reason)
            return AttemptResult("died", reason, len(self._mirror.log.deaths), self._memory_bytes)
        self._mirror.push("left")
        return AttemptResult("ended", memory_bytes=self._memory_bytes)

    def _answer(self, child: Connection) -> None:
        """Answer the requests of the run's process."""
        while child.poll():
            try:
                asked = child.recv()
            except EOFError:
                return
            if asked == "grade":
                _send(child, self._prepare_grading())
            else:
                self._asked.append(find_limiter().take.remote(asked))
        for turn in [turn for turn in self._asked if _is_ready(turn)]:
            self._asked.remove(turn)
            _send(child, None)

    def _prepare_grading(self) -> str | None:
        """Store the run completely, which checks its ownership, then fetch the answers; return the error, if any."""
        self._mirror.push()
        try:
            self._cache.fetch(self._run.data_key, "private")
        except PodiumError as error:
            return str(error)
        return None

    def _store(self) -> None:
        folder = self._mirror.folder
        seen = tuple(_stamp(path) for path in (folder.journal, folder.record, folder.decision))
        if seen != self._seen:
            self._mirror.push()
            self._seen = seen

    def _report(self) -> None:
        if time.monotonic() < self._reported + REPORT_S:
            return
        self._reported = time.monotonic()
        progress = self._mirror.folder.progress
        reported = (_stamp(progress), self._mirror.log.size)
        if reported != self._reported_state:
            self._reported_state = reported
            text = progress.read_text(encoding="utf-8") if progress.exists() else None
            self._coordinator.report.remote(self._run.prefix, self._mirror.log.size, text)


def _send(child: Connection, answer: str | None) -> None:
    with suppress(OSError):  # the process may have been killed since its request
        child.send(answer)


def _status(mirror: Mirror) -> str | None:
    text = mirror.document("run.json")
    return RunRecord.model_validate_json(text).status if text else None


def _is_ready(reference: Any) -> bool:
    import ray

    return bool(ray.wait([reference], timeout=0)[0])


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


@cache
def _process_context() -> Any:
    """Return the context whose fork server, with all imports done, lives as long as this process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(modules_to_preload(models=True))
    return context


@contextmanager
def _without_main_file() -> Iterator[None]:
    """Keep a new process from importing Ray's own program as its main module."""
    main = sys.modules["__main__"]
    file = main.__dict__.pop("__file__", None)
    try:
        yield
    finally:
        if file is not None:
            main.__file__ = file


@cache
def _end_with_parent(parent: int) -> None:
    """End this process with Ray's process on this node; the run is then resumed elsewhere."""
    descriptor = os.pidfd_open(parent)

    def watch() -> None:
        select.select([descriptor], [], [])
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="podium-raylet", daemon=True).start()
