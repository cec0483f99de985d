"""Ray executor: places runs on nodes, follows them through storage, and restarts attempts that died.

Ray's resources limit nothing and lease nothing; they only show where there is capacity. Programs on a node wait there
for a lease of its cores and GPUs, so a run that waits for a model only uses memory.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from podium.cluster.mirror import Mirror
from podium.cluster.ray.actors import find_limiter, start_coordinator
from podium.cluster.ray.connection import connect, import_ray, require_ray
from podium.cluster.ray.messages import AttemptResult, NodeRun
from podium.cluster.ray.node import run_on_node
from podium.cluster.ray.prometheus import Metrics
from podium.cluster.ray.resource_demand import Demand
from podium.cluster.ray.stored_experiment import RemoteExperiment
from podium.errors import PodiumError, UsageError
from podium.runs.drive.executors.executor import RunRequest
from podium.safefs.open_nofollow import open_regular

MAX_DEATHS = 3
"""Maximum consecutive deaths of a run without a step in between; then it fails."""
MAX_LOSSES = 20
"""Maximum number of nodes or storage connections that a run may lose; then the experiment stops."""
FOLLOW_S = 1.0
PULL_S = 3.0
OWNER_CHECK_S = 5.0
COUNT_S = 2.0
FETCHERS = 8
QUEUED_PER_NODE = 2
"""Runs queued on each node, so that the next starts at once and an autoscaler sees demand."""
logger = logging.getLogger(__name__)


@dataclass
class _Carried:
    """A run submitted to Ray."""

    request: RunRequest
    message: NodeRun
    mirror: Mirror
    lock: int | None = None
    """Descriptor of the run's lock, held while it runs so that other programs on this machine see it as running."""
    losses: int = 0
    """Number of times its node or its storage was lost."""
    pulled: float = 0.0
    entries: int = 0
    """Number of entries in its log according to reports."""
    memory_bytes: int | None = None
    """Minimum memory of the next attempt after running out of memory."""


@dataclass
class _Books:
    """Runs of the executor by state."""

    queue: deque[RunRequest] = field(default_factory=deque)
    tasks: dict[Any, _Carried] = field(default_factory=dict)
    by_prefix: dict[str, _Carried] = field(default_factory=dict)
    fetching: dict[Future[None], _Carried] = field(default_factory=dict)
    ended: list[RunRequest] = field(default_factory=list)


class Ray:
    """Executes runs on the nodes of a Ray cluster."""

    def __init__(
        self,
        *,
        address: str | None = None,
        parallel: int | None = None,
        storage: str | None = None,
        rates: Mapping[str, float] | None = None,
        memory_bytes: int | None = None,
        gpu_share: float = 1.0,
    ) -> None:
        """
        Args:
            address: of the cluster's head, such as `10.0.0.1:6379`; by default `$RAY_ADDRESS`, then the cluster started
                by `podium cluster up`, then a new one on this machine.
            parallel: concurrent runs; by default limited by the nodes' memory.
            storage: a folder that all nodes can access, or a URL such as `s3://bucket/prefix`; by default the
                experiment's own folder, which all nodes must then be able to access.
            rates: maximum requests per minute by model name, across all nodes.
            memory_bytes: memory reserved for each run; by default measured on earlier runs.
            gpu_share: share of each GPU that a run occupies, if several runs should share one.
        """
        if not 0 < gpu_share <= 1:
            raise UsageError(f"The GPU share must be more than 0 and at most 1, not {gpu_share}.")
        require_ray()  # before anything is written
        self._address, self._parallel, self._storage = address, parallel, storage
        self._rates, self._gpu_share = dict(rates or {}), gpu_share
        self._demand = Demand(memory_bytes)
        self._books = _Books()
        self._experiments: dict[Path, RemoteExperiment] = {}
        self._followed = self._checked = self._counted = 0.0
        self._nodes: list[dict[str, Any]] = []
        self._stopped = self._joined = False

    def __enter__(self) -> Self:
        self._joined = connect(self._address) is not None
        self._ray = import_ray()
        # Once only: every call of `remote` sends the function to the cluster.
        self._run_on_node = self._ray.remote(run_on_node)
        self._coordinator = start_coordinator()
        if self._rates:
            self._ray.get(find_limiter().set_rates.remote(self._rates))
        self._fetchers = ThreadPoolExecutor(FETCHERS, thread_name_prefix="podium-fetch")
        self._metrics = Metrics()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = list(self._books.tasks)
        for task in tasks:
            self._ray.cancel(task, force=True)
        if tasks:
            self._ray.wait(tasks, num_returns=len(tasks), timeout=10)
        self._fetchers.shutdown(cancel_futures=True)
        for carried in list(self._books.by_prefix.values()):
            self._release(carried)
        self._books = _Books()
        if self._joined:
            self._ray.shutdown()

    def submit(self, run: RunRequest) -> None:
        if run.experiment not in self._experiments:
            self._experiments[run.experiment] = RemoteExperiment(run.experiment, self._storage)
        self._books.queue.append(run)

    def running(self) -> Collection[RunRequest]:
        return [carried.request for carried in self._books.by_prefix.values() if carried.lock is not None]

    def wait(self, timeout_s: float) -> Sequence[RunRequest]:
        books = self._books
        self._fill()
        self._check_owner()
        self._note_ended(0.0 if books.ended or any(fetch.done() for fetch in books.fetching) else timeout_s)
        self._follow()
        for fetch in [fetch for fetch in books.fetching if fetch.done()]:
            carried = books.fetching.pop(fetch)
            self._release(carried)
            fetch.result()
            books.ended.append(carried.request)
        self._metrics.update(queued=len(books.queue), running=len(self.running()))
        ended, books.ended = books.ended, []
        return ended

    def stop(self) -> None:
        self._stopped = True
        self._books.ended += self._books.queue
        self._books.queue.clear()
        self._coordinator.stop.remote()
        for task, carried in list(self._books.tasks.items()):
            if carried.lock is None:  # may not have started; a run that has just started ends by itself
                self._ray.cancel(task)

    def _fill(self) -> None:
        """Submit runs to Ray, up to the capacity plus a short queue."""
        room = self._parallel or self._room()
        while self._books.queue and len(self._books.tasks) < room:
            request = self._books.queue.popleft()
            remote = self._experiments[request.experiment]
            message = remote.message(request, is_rated=bool(self._rates), gpu_share=self._gpu_share)
            carried = _Carried(request, message, remote.mirror(request))
            remote.import_local(carried.mirror)
            self._start(carried)

    def _room(self) -> int:
        if time.monotonic() > self._counted + COUNT_S:
            self._counted = time.monotonic()
            self._nodes = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        return self._demand.room(self._nodes) + QUEUED_PER_NODE * max(1, len(self._nodes))

    def _start(self, carried: _Carried) -> None:
        plan = self._experiments[carried.request.experiment].experiment.plan
        options = self._demand.options(carried.memory_bytes, plan.gpus, self._gpu_share)
        # Without a task name: Ray keeps about 100 kB of metrics per name.
        task = self._run_on_node.options(**options).remote(carried.message, self._coordinator)
        self._books.tasks[task] = carried
        self._books.by_prefix[carried.message.prefix] = carried

    def _note_ended(self, timeout_s: float) -> None:
        tasks = list(self._books.tasks)
        if not tasks:
            time.sleep(timeout_s)
            return
        first, _ = self._ray.wait(tasks, num_returns=1, timeout=timeout_s)
        if first:
            for task in self._ray.wait(tasks, num_returns=len(tasks), timeout=0)[0]:
                self._take_outcome(task, self._books.tasks.pop(task))

    def _take_outcome(self, task: Any, carried: _Carried) -> None:
        outcome = self._outcome(task, carried)
        if outcome.memory_bytes:
            self._demand.learn(outcome.memory_bytes)
        match outcome.kind:
            case "refused":
                raise PodiumError(
                    f"The nodes have different software: {outcome.reason}. Install the same versions on all nodes, "
                    "restart them, and repeat the command."
                )
            case "lost":
                self._check_owner(now=True)
                logger.info("%s: %s", carried.request.name, outcome.reason)
            case "died" if not self._stopped:
                self._metrics.count_death()
                logger.warning("%s died: %s", carried.request.name, outcome.reason)
                if not outcome.deaths:
                    carried.losses += 1
                    if carried.losses > MAX_LOSSES:
                        raise PodiumError(f"{carried.request.name} cannot run: {outcome.reason}")
                if outcome.deaths < MAX_DEATHS:
                    self._start(carried)
                    return
                self._experiments[carried.request.experiment].give_up(carried.request, carried.mirror, outcome)
        self._books.fetching[self._fetchers.submit(_fetch, carried.mirror)] = carried

    def _outcome(self, task: Any, carried: _Carried) -> AttemptResult:
        """Return the result of a task, or one derived from Ray's exception."""
        errors = self._ray.exceptions
        try:
            outcome: AttemptResult = self._ray.get(task)
            return outcome
        except errors.TaskCancelledError:
            return AttemptResult("ended")
        except errors.OutOfMemoryError as error:
            carried.memory_bytes = self._demand.more_than(carried.memory_bytes)
            return self._note_death(carried, f"its node ran out of memory: {error}")
        except (errors.WorkerCrashedError, errors.LocalRayletDiedError) as error:
            return self._note_death(carried, f"its process was killed: {error}")
        except (errors.NodeDiedError, errors.RaySystemError, errors.OwnerDiedError, errors.ObjectLostError) as error:
            return AttemptResult("died", f"its node died: {error}")  # not the run's fault
        except errors.RayTaskError as error:
            return self._note_death(carried, str(error.cause or error))

    def _note_death(self, carried: _Carried, reason: str) -> AttemptResult:
        """Record the death of an attempt in the log, which also ends its ownership."""
        carried.mirror.take("died", blobs=False, reason=reason[:2000])
        return AttemptResult("died", reason[:2000], len(carried.mirror.log.deaths))

    def _follow(self) -> None:
        """Process the progress reports of runs."""
        if time.monotonic() < self._followed + FOLLOW_S or not self._books.tasks:
            return
        self._followed = time.monotonic()
        for prefix, report in self._ray.get(self._coordinator.changes.remote()).items():
            carried = self._books.by_prefix.get(prefix)
            if carried is None:
                continue
            carried.entries = report.entries
            if carried.lock is None:
                carried.lock = _lock(carried.mirror)
            if report.progress is not None:
                carried.mirror.folder.progress.write_text(report.progress, encoding="utf-8")
        for carried in self._books.tasks.values():
            if carried.entries > carried.mirror.log.size and self._followed > carried.pulled + PULL_S:
                carried.pulled = self._followed
                carried.mirror.pull(blobs=carried.mirror.log.storage.is_folder)

    def _check_owner(self, *, now: bool = False) -> None:
        """Check that no other driver has taken over an experiment."""
        if now or time.monotonic() > self._checked + OWNER_CHECK_S:
            self._checked = time.monotonic()
            for remote in self._experiments.values():
                remote.check_owner()

    def _release(self, carried: _Carried) -> None:
        self._books.by_prefix.pop(carried.message.prefix, None)
        if carried.lock is not None:
            os.close(carried.lock)
            carried.lock = None


def _fetch(mirror: Mirror) -> None:
    mirror.pull(blobs=True, products=True)


def _lock(mirror: Mirror) -> int:
    folder = mirror.folder
    descriptor = open_regular(folder.lock, os.O_RDWR | os.O_CREAT, top=folder.experiment)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise PodiumError(f"Another process is working on {folder.path}. Stop it, then repeat the command.") from error
    return descriptor
