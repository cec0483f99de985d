"""The process of a run on a node. It knows nothing of Ray: what it needs, it asks the process beside it for."""

from __future__ import annotations

import os
import signal
import threading
from functools import partial
from multiprocessing.connection import Connection

from podium.errors import PodiumError


class Asking:
    """Asks the supervisor for something and waits until it is there."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._turn = connection, threading.Lock()

    def ask(self, what: str) -> None:
        """
        Args:
            what: `grade`, or a model that a request is to be sent to.
        """
        with self._turn:
            self._connection.send(what)
            error = self._connection.recv()
        if error is not None:
            raise PodiumError(error)


def work_for_node(
    environment: dict[str, str], experiment: str, task: str, seed: int, connection: Connection, is_rated: bool
) -> None:
    """`worker.work` with everything that a node adds to it."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # those that end a run may be blocked in Ray's processes
    os.environ.clear()
    os.environ.update(environment)
    from podium.runs.drive.worker import work

    asking = Asking(connection)
    if is_rated:
        wait_for_turns(asking)
    work(experiment, task, seed, before_grading=partial(asking.ask, "grade"))


def wait_for_turns(asking: Asking) -> None:
    """Makes every request to a model wait for its turn; waiting is not working time of the agent."""
    import time

    from anyio import to_thread
    from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks

    from podium.inspect_internals import note_waiting

    @hooks(name="podium_rates", description="Shares out requests to models over the nodes of a cluster")
    class Turns(Hooks):
        async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
            started = time.monotonic()
            await to_thread.run_sync(asking.ask, data.model_name, abandon_on_cancel=True)
            note_waiting(time.monotonic() - started)
