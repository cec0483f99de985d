"""Podium Quick: fresh machine-learning competitions in a sealed sandbox, graded against a measured field."""

from inspect_ai import Task, task

from podium.interop.inspect_tasks import podium_suite


@task
def podium_quick(suite: str = "quick", hours: float = 1.0) -> Task:
    """Nine competitions that Podium makes itself: tables, text, pictures, graphs, time series and sound.

    Args:
        suite: the suite, or several suites and tasks with commas between them.
        hours: the working time the agent is told it has, for each competition.
    """
    return podium_suite(suite, hours=hours)
