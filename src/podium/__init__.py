"""Podium measures how well AI agents do machine-learning engineering."""

from podium.api import grade, load, prepare, tasks, validate
from podium.errors import PodiumError
from podium.task import Task

__all__ = ["PodiumError", "Task", "grade", "load", "prepare", "tasks", "validate"]
