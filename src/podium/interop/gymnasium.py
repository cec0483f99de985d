"""Gymnasium adapter: `import podium.interop.gymnasium`, then `gymnasium.make("podium/...")`.

`podium/Training-v0` has a new training task in every episode, `podium/Task-v0` the tasks passed to it. Observations
and actions are text; an action is a JSON object with `action` and `arguments`.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from podium.catalog.forge.families import TINY_FAMILIES
from podium.catalog.registry import expand
from podium.environment.environment import Environment
from podium.environment.training_tasks import training_task
from podium.errors import MissingExtraError

try:
    import gymnasium
    from gymnasium.spaces import Text
except ImportError as error:
    raise MissingExtraError("The Gymnasium adapter", "training") from error

MAX_CHARACTERS = 1_000_000
SEEDS = 1 << 31


class AnyText(Text):
    """Space of texts up to a maximum length; samples are printable."""

    def __init__(self) -> None:
        super().__init__(MAX_CHARACTERS, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= MAX_CHARACTERS

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a short random text instead of one of up to a million characters."""
        letters = self.np_random.choice(list(string.printable), self.np_random.integers(1, 80))
        return "".join(letters)


class PodiumEnv(gymnasium.Env[str, str]):
    """Gymnasium environment whose episodes are runs on tasks."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's form)

    def __init__(
        self,
        tasks: Sequence[str] | str = (),
        families: Sequence[str] = TINY_FAMILIES,
        difficulty: str = "tiny",
        **settings: Any,
    ) -> None:
        """
        Args:
            tasks: tasks and suites to choose from; without any, every episode has a new training task.
            families: families of those training tasks.
            settings: further arguments of `podium.Environment`.
        """
        self.observation_space, self.action_space = AnyText(), AnyText()
        self._tasks = expand([tasks] if isinstance(tasks, str) else list(tasks))
        self._families, self._difficulty = tuple(families), difficulty
        self._environment = Environment(**settings)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode on a random task, or on `options["task"]`."""
        super().reset(seed=seed)
        number = int(self.np_random.integers(SEEDS))
        drawn = self._tasks[number % len(self._tasks)] if self._tasks else None
        task = (options or {}).get("task") or drawn or training_task(number, self._families, self._difficulty)
        return self._environment.reset(task), {"task": task}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return self._environment.step(action)

    def close(self) -> None:
        self._environment.close()


for _name in ("podium/Training-v0", "podium/Task-v0"):
    if _name not in gymnasium.registry:
        gymnasium.register(_name, f"{__name__}:PodiumEnv")
