"""OpenEnv server for Podium's environments: `python -m podium.interop.openenv --port 8000`.

A client resets with `task` (by default a training task of the given `seed`) and steps with `action` and `arguments`.
The `info` of `podium.Environment` becomes the observation's metadata, for the trainer.
"""

from __future__ import annotations

from typing import Any

import click
import uvicorn
from pydantic import Field

from podium.environment.environment import Environment
from podium.environment.training_tasks import training_task
from podium.errors import MissingExtraError
from podium.workspace.budget import Budget

try:
    from openenv.core.env_server import Action, Observation, State, create_fastapi_app
    from openenv.core.env_server.interfaces import Environment as OpenEnvironment
except ImportError as error:
    raise MissingExtraError("The OpenEnv adapter", "training") from error

MAX_SESSIONS = 64


class PodiumAction(Action):
    """One action of the agent."""

    action: str = Field(description="Name of the action, such as run_command.")
    arguments: dict[str, Any] = Field(default_factory=dict)


class PodiumObservation(Observation):
    """Observation of the agent."""

    text: str


class PodiumState(State):
    task: str | None = None


class PodiumEnvironment(OpenEnvironment[PodiumAction, PodiumObservation, PodiumState]):
    """Environment of one session."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._environment = Environment(**settings)
        self._state = PodiumState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, **_: Any
    ) -> PodiumObservation:
        chosen = task or training_task(seed or 0)
        text = self._environment.reset(chosen)
        self._state = PodiumState(episode_id=episode_id, step_count=0, task=chosen)
        return PodiumObservation(text=text, done=False, reward=None, metadata={"task": chosen})

    def step(self, action: PodiumAction, timeout_s: float | None = None, **_: Any) -> PodiumObservation:
        done = self._environment.step({"action": action.action, "arguments": action.arguments})
        self._state.step_count += 1
        facts = {**done.info, "terminated": done.terminated, "truncated": done.truncated}
        over = done.terminated or done.truncated
        return PodiumObservation(text=done.observation, done=over, reward=done.reward, metadata=facts)

    @property
    def state(self) -> PodiumState:
        return self._state

    def close(self) -> None:
        self._environment.close()


def make_app(sessions: int = MAX_SESSIONS, **settings: Any) -> Any:
    """Return the server as an ASGI application; every session has its own environment."""
    return create_fastapi_app(
        lambda: PodiumEnvironment(**settings), PodiumAction, PodiumObservation, max_concurrent_envs=sessions
    )


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; there is no access control."
)
@click.option("--port", default=8000, show_default=True)
@click.option("--sessions", default=MAX_SESSIONS, show_default=True, help="Maximum number of concurrent environments.")
@click.option("--steps", default=50, show_default=True, help="Maximum number of steps per episode.")
@click.option("--miniature", is_flag=True, help="Use miniatures instead of the competitions' real data.")
def main(host: str, port: int, sessions: int, steps: int, miniature: bool) -> None:
    """Serve Podium's environments to OpenEnv clients."""
    app = make_app(sessions, budget=Budget(steps=steps, time_s=3600.0), miniature=miniature)
    uvicorn.run(app, host=host, port=port, log_level="warning")


if __name__ == "__main__":
    main()
