"""The process of one run. It may be killed at any moment; started again, it goes on where the journal ends."""

from __future__ import annotations

import fcntl
import logging
import os
import platform
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from podium.actions import ActionError, Person
from podium.catalog import load
from podium.errors import PodiumError
from podium.runs.conduct import conduct, salvage
from podium.runs.experiment import now, read_experiment, run_folder, settle
from podium.runs.record import Plan, RunFolder, RunRecord, Times, Used

logger = logging.getLogger(__name__)
LOCK_PATIENCE_S = 20.0


def work(experiment_folder: str, task: str, seed: int, channel: Connection) -> None:
    """Does a run, reporting to the driver at the other end of the channel."""
    folder = run_folder(Path(experiment_folder), task, seed)
    folder.path.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's; it tells us
    _redirect_output(folder.output)
    plan = settle(read_experiment(Path(experiment_folder)).plan, load(task))
    with folder.lock.open("a") as lock:
        _lock(lock.fileno(), folder)
        stop, answers = threading.Event(), queue.SimpleQueue[str | None]()
        threading.Thread(target=_listen, args=(channel, stop, answers), name="podium-driver", daemon=True).start()
        report = _reporter(channel)
        person = _person(report, answers) if plan.person else None
        record = attempt(folder, plan, task, seed, report=report, stop=stop, person=person)
        folder.write_record(record)
    channel.close()


def attempt(
    folder: RunFolder,
    plan: Plan,
    task: str,
    seed: int,
    *,
    report: Callable[[dict[str, Any]], None],
    stop: threading.Event,
    person: Person | None = None,
) -> RunRecord:
    """Does a run or what is left of it; whatever goes wrong becomes part of the record."""
    before = folder.read_record()
    started = (before.times.started if before else None) or now()
    record = RunRecord(
        task=task,
        agent=plan.agent,
        model=plan.model,
        seed=seed,
        status="running",
        edition=load(task).in_edition(plan.edition).edition,
        usage=before.usage if before else Used(),
        times=Times(started=started),
        versions=versions(),
    )
    folder.write_record(record)
    try:
        return conduct(folder, plan, record, report=report, stop=stop, person=person)
    except Exception as error:
        logger.exception("the run failed")
        reason = str(error) if isinstance(error, PodiumError) else "".join(traceback.format_exception_only(error))
        return salvage(folder, plan, record, reason.strip())


def versions() -> dict[str, str]:
    """What a run was done with."""
    return {
        "podium": version("podium"),
        "inspect_ai": version("inspect_ai"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def _lock(descriptor: int, folder: RunFolder) -> None:
    """Waits for a predecessor that is just dying; two processes never work on one run."""
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())  # for people who look for the process
            return
        except OSError:
            if time.monotonic() > deadline:
                sys.exit(f"another process is at work in {folder.path}")
            time.sleep(0.02)


def _redirect_output(path: Path) -> None:
    """Everything this process and its libraries print goes to a file of the run."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.close(descriptor)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s")


def _reporter(channel: Connection) -> Callable[[dict[str, Any]], None]:
    sending = threading.Lock()

    def report(facts: dict[str, Any]) -> None:
        with sending:
            channel.send(facts)

    return report


def _person(report: Callable[[dict[str, Any]], None], answers: queue.SimpleQueue[str | None]) -> Person:
    """The person at the driver's terminal."""
    asking = anyio.Lock()  # one question at a time, or answers would be mixed up

    async def ask(request: str) -> str:
        async with asking:
            report({"phase": "waiting for an answer", "ask": request})
            answer = await to_thread.run_sync(answers.get, abandon_on_cancel=True)
        if answer is None:
            raise ActionError("Nobody answered the request. Go on without help.")
        return answer

    return ask


def _listen(channel: Connection, stop: threading.Event, answers: queue.SimpleQueue[str | None]) -> None:
    """Passes the driver's word on. Without a driver nobody wants the run: it ends at once, to be resumed."""
    try:
        while True:
            match channel.recv():
                case "stop":
                    stop.set()
                case ("answer", text):
                    answers.put(text)
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGKILL)
