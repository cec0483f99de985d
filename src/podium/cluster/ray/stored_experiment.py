"""An experiment in a cluster's storage: its runs, its data, and the driver that owns it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from podium.catalog.registry import load
from podium.cluster.data_cache import publish_data
from podium.cluster.mirror import Mirror
from podium.cluster.ray.messages import AttemptResult, NodeRun, passed_environment, software
from podium.cluster.storage import open_storage
from podium.cluster.stored_log import LostRunError, RunLog, describe_owner
from podium.errors import PodiumError, UsageError
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.drive.executors.executor import RunRequest
from podium.runs.experiment import read_experiment
from podium.runs.records import RunRecord

STORAGE_FOLDER = ".storage"


class RemoteExperiment:
    """Driver's side of an experiment; opening it takes ownership from any earlier driver."""

    def __init__(self, folder: Path, storage: str | None) -> None:
        self.experiment = read_experiment(folder)
        if self.experiment.plan.person:
            raise UsageError("Agents on a cluster cannot ask a person. Remove --person, or use --on local.")
        self.storage = open_storage(storage or str(folder.absolute() / STORAGE_FOLDER))
        created = hashlib.sha256(self.experiment.document.created.encode()).hexdigest()[:8]
        self._prefix = f"experiments/{folder.absolute().name}-{created}/"
        self._document = self.experiment.document.model_dump_json()
        self._keys: dict[str, str] = {}
        self._drivers = RunLog(self.storage, f"{self._prefix}driver/", describe_owner())
        while not self._drivers.owned:
            for _ in self._drivers.read_new():
                pass
            try:
                self._drivers.take()
            except LostRunError:
                continue

    def check_owner(self) -> None:
        """
        Raises:
            PodiumError: another driver owns the experiment.
        """
        for entry in self._drivers.read_new():
            raise PodiumError(
                f"Another driver ({entry.owner}) has taken over {self.experiment.folder}. This one has stopped; no "
                "work is lost."
            )

    def prefix(self, request: RunRequest) -> str:
        return f"{self._prefix}runs/{request.name}/"

    def mirror(self, request: RunRequest) -> Mirror:
        folder = self.experiment.run(request.task, request.seed)
        folder.make()
        return Mirror(folder, RunLog(self.storage, self.prefix(request), describe_owner()), is_copy=True)

    def message(self, request: RunRequest, *, is_rated: bool, gpu_share: float) -> NodeRun:
        """Store the run's data if needed and return the message that describes the run to a node."""
        if request.task not in self._keys:
            self._keys[request.task] = publish_data(prepared_task(request.task, self.experiment.plan), self.storage)
        environment = passed_environment()
        if gpu_share != 1:
            environment["PODIUM_GPU_SHARE"] = str(gpu_share)
        return NodeRun(
            storage=self.storage.url,
            prefix=self.prefix(request),
            document=self._document,
            task=request.task,
            seed=request.seed,
            data_key=self._keys[request.task],
            environment=environment,
            software=software(),
            is_rated=is_rated,
        )

    def import_local(self, mirror: Mirror) -> None:
        """Store the progress of a run on this machine, or fetch the progress made elsewhere."""
        if mirror.folder.journal.exists():
            mirror.pull(blobs=False)
            if mirror.is_behind:
                mirror.take(blobs=True)
                mirror.push("left")

    def give_up(self, request: RunRequest, mirror: Mirror, outcome: AttemptResult) -> None:
        """Fail a run that died repeatedly, with the reason in its record."""
        reason = (
            f"abandoned after {outcome.deaths} consecutive deaths without a step in between; the last: {outcome.reason}"
        )
        mirror.pull(blobs=False)
        text = mirror.document("run.json")
        record = RunRecord.model_validate_json(text) if text else self._first_record(request)
        failed = record.model_copy(update={"status": "failed", "error": reason})
        mirror.take("left", blobs=False, documents={"run.json": failed.model_dump_json(indent=1)}, reason=reason)
        mirror.folder.write_record(failed)

    def _first_record(self, request: RunRequest) -> RunRecord:
        """Return the initial record of a run that never wrote one."""
        plan = self.experiment.plan
        edition = load(request.task).in_edition(plan.edition).edition
        return RunRecord(
            task=request.task, agent=plan.agent, model=plan.model, seed=request.seed, status="running", edition=edition
        )
