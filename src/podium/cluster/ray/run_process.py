"""Process of a run on a node. It does not know Ray and sends requests to its supervisor."""

from __future__ import annotations

import os
import signal
import threading
from functools import partial
from multiprocessing.connection import Connection

from podium.errors import PodiumError


class SupervisorClient:
    """Sends requests to the supervisor and waits for the answers."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._turn = connection, threading.Lock()

    def ask(self, request: str) -> None:
        """
        Args:
            request: `grade`, or the model to which a request will be sent.
        """
        with self._turn:
            self._connection.send(request)
            error = self._connection.recv()
        if error is not None:
            raise PodiumError(error)


def work_for_node(
    environment: dict[str, str], experiment: str, task: str, seed: int, connection: Connection, is_rated: bool
) -> None:
    """Run `worker.work` with the extensions of a node."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # signals that end a run may be blocked in Ray's processes
    os.environ.clear()
    os.environ.update(environment)
    from podium.runs.drive.worker import work

    supervisor = SupervisorClient(connection)
    if is_rated:
        wait_for_turns(supervisor)
    work(experiment, task, seed, before_grading=partial(supervisor.ask, "grade"))


def wait_for_turns(supervisor: SupervisorClient) -> None:
    """Delay model requests by the cluster's rate limits; the delay is not working time of the agent."""
    import time

    from anyio import to_thread
    from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks

    from podium.inspect_internals import report_waiting_time

    @hooks(name="podium_rates", description="Shares out requests to models over the nodes of a cluster")
    class Turns(Hooks):
        async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
            started = time.monotonic()
            await to_thread.run_sync(supervisor.ask, data.model_name, abandon_on_cancel=True)
            report_waiting_time(time.monotonic() - started)
