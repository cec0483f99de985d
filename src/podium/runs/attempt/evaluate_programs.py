"""Evaluation of submitted programs: runs each in a fresh sandbox and measures its time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from podium.grading.file_submission import FinishedProgram, put_files
from podium.grading.prepared_task import PreparedTask
from podium.grading.submission_form import OpenExecute
from podium.leases import Lease, default_pool
from podium.safefs.remove_tree import remove_tree
from podium.sandbox.backend import DEFAULT, Backend, find_backend
from podium.sandbox.spec import HOME, Limits, Mount, SandboxSpec

OUTPUT_CHARACTERS = 2_000


def evaluate_in_sandboxes(
    *,
    backend: str = DEFAULT,
    env: str | None = None,
    limits: Limits | None = None,
    cores: int = 1,
    gpus: int = 0,
) -> OpenExecute:
    """Return an executor of evaluation programs, with cores and GPUs leased once for all of them.

    Args:
        backend: sandbox backend.
        env: Python environment in the sandbox; None for the one that runs Podium.
    """

    @contextmanager
    def open_execute(prepared: PreparedTask) -> Iterator[_Execute]:
        scratch = Path(tempfile.mkdtemp(prefix="podium-evaluation-"))
        try:
            with default_pool().take(cores, gpus, name=f"evaluation of {prepared.task.id}") as lease:
                spec = SandboxSpec(env=None if env is None else Path(env), limits=limits or Limits(), gpus=lease.gpus)
                yield _Execute(scratch, find_backend(backend), spec, prepared.place.public.resolve(), lease)
        finally:
            with suppress(OSError):
                remove_tree(scratch)

    return open_execute


@dataclass(frozen=True)
class _Execute:
    """Runs each program in a new sandbox."""

    scratch: Path
    backend: Backend
    spec: SandboxSpec
    public: Path
    lease: Lease

    def __call__(
        self, command: Sequence[str], *, files: Mapping[str, Path | bytes], time_s: float, data: bool = False
    ) -> FinishedProgram:
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        put_files(files, folder)
        mounts = (Mount(source=self.public, target=f"{HOME}/data"),) if data else ()
        spec = self.spec.model_copy(update={"workspace": folder, "mounts": mounts})
        with self.backend.open(spec) as sandbox:
            done = sandbox.run(command, environment=self.lease.environment, cores=self.lease.cores, timeout_s=time_s)
        ends = (stream.text[-OUTPUT_CHARACTERS:] for stream in (done.stdout, done.stderr))
        return FinishedProgram(done.seconds, done.exit_code, done.stopped, "\n".join(ends).strip(), folder)
