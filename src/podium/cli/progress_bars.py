"""Progress on standard error: a bar on a terminal, plain lines otherwise; shows the logs of worker processes too."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import click


class ProgressBar(Protocol):
    """Progress display that advances by one item at a time."""

    def advance(self, message: str) -> None: ...


class _Lines(logging.Handler):
    """Numbered plain lines, for output that is not a terminal."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self._done, self._total = 0, total

    def advance(self, message: str) -> None:
        self._done += 1
        click.echo(f"[{self._done}/{self._total}] {message}", err=True)

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(f"  {record.getMessage()}", err=True)


class _Bar(logging.Handler):
    """Progress bar with messages above it."""

    def __init__(self, title: str, total: int, bar: Any) -> None:
        super().__init__()
        self._bar, self._task = bar, bar.add_task(title, total=total)

    def advance(self, message: str) -> None:
        self._bar.console.print(message, highlight=False, markup=False)  # it may quote a submission
        self._bar.advance(self._task)

    def emit(self, record: logging.LogRecord) -> None:
        self._bar.console.print(f"  {record.getMessage()}", style="dim", highlight=False, markup=False)


@contextlib.contextmanager
def show_progress(title: str, total: int) -> Iterator[ProgressBar]:
    """Show progress and Podium's log messages while the block runs."""
    if not sys.stderr.isatty():
        lines = _Lines(total)
        with _handling(lines):
            yield lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as rich_bar:
        bar = _Bar(title, total, rich_bar)
        with _handling(bar):
            yield bar


@contextlib.contextmanager
def _handling(handler: logging.Handler) -> Iterator[None]:
    logger = logging.getLogger("podium")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def worker_logging() -> tuple[Callable[..., None], tuple[Any, ...], Callable[[], None]]:
    """Return initializer, arguments and clean-up function for a pool whose workers send their log messages here."""
    queue = multiprocessing.get_context("spawn").Queue()
    listener = logging.handlers.QueueListener(queue, *logging.getLogger("podium").handlers)
    listener.start()
    return _send_logs, (queue,), listener.stop


def _send_logs(queue: Any) -> None:
    logger = logging.getLogger("podium")
    logger.addHandler(logging.handlers.QueueHandler(queue))
    logger.setLevel(logging.INFO)


@contextlib.contextmanager
def preparation_progress() -> Iterator[Callable[[int], Callable[[Any], None]]]:
    """Yield a callback that shows progress for a number of tasks to prepare."""
    with contextlib.ExitStack() as shown:

        def preparing(count: int) -> Callable[[Any], None]:
            progress = shown.enter_context(show_progress("Preparing", count))
            return lambda done: progress.advance(f"{done.task}: {done.status}")

        yield preparing
