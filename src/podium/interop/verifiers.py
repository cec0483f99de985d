"""Taskset for verifiers: `vf-eval podium-verifiers --model ... -n 20`.

The agent is a chat: each of its replies is an action, each observation the next message. Programs run in Podium's
sandbox; the harness itself (`null`) only calls the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from podium.catalog.forge.families import TINY_FAMILIES
from podium.environment.environment import Environment, StepResult
from podium.environment.training_tasks import training_tasks
from podium.errors import MissingExtraError
from podium.workspace.budget import Budget

try:
    import verifiers.v1 as vf
    from verifiers.v1.harnesses.null.harness import NullHarnessConfig
except ImportError as error:
    raise MissingExtraError("The verifiers adapter", "training") from error

SYSTEM_PROMPT = "Answer with exactly one action as a JSON object, and with nothing else."
ENDED = {"action": "final_answer", "arguments": {"final_answer": "A limit of verifiers ended the conversation."}}
"""Action sent when verifiers ends a conversation, so that the current submission is graded."""
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)


class PodiumConfig(vf.TasksetConfig):
    """Settings of the taskset, under `--env.taskset.*`."""

    tasks: tuple[str, ...] = ()
    """Tasks and suites; without any, an endless sequence of training tasks."""
    families: tuple[str, ...] = TINY_FAMILIES
    """Families of those training tasks."""
    difficulty: str = "tiny"
    first_seed: int = 0
    steps: int = 20
    """Maximum number of steps per episode."""
    miniature: bool = False
    """True to use miniatures instead of the real data of competitions and research tasks."""


class PodiumData(vf.TaskData):
    """A task with the settings of its episode."""

    podium_task: str
    steps: int
    miniature: bool


class PodiumTask(vf.Task[PodiumData]):
    """Task scored by Podium's final grade."""

    @vf.reward(weight=1.0)
    async def reward(self, trace: vf.Trace) -> float:
        """Return the sum of the environment's rewards, by default the final percentile in the field as a share."""
        return float(trace.info.get("podium", {}).get("reward", 0.0))

    @vf.metric
    async def grade(self, trace: vf.Trace) -> dict[str, float]:
        """Return the grade as numbers."""
        grade = trace.info.get("podium", {}).get("grade") or {}
        return {
            "valid": float(bool(grade.get("valid"))),
            "percentile": float(grade.get("percentile") or 0.0),
            "medal": float(grade.get("medal") is not None),
            "improvement": float(grade.get("improvement") or 0.0),
        }


class PodiumTaskset(vf.Taskset[PodiumTask, PodiumConfig]):
    """Taskset of forged, miniature and research tasks."""

    @property
    def INFINITE(self) -> bool:  # noqa: N802 (verifiers' name)
        return not self.config.tasks

    def load(self) -> Iterator[PodiumTask]:
        config = self.config
        names = training_tasks(
            config.tasks, families=config.families, difficulty=config.difficulty, first_seed=config.first_seed
        )
        for name in names:
            data = PodiumData(
                name=name,
                system_prompt=SYSTEM_PROMPT,
                podium_task=name,
                steps=config.steps,
                miniature=config.miniature,
            )
            yield PodiumTask(data, config.task)


class PodiumEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = vf.AgentConfig(harness=NullHarnessConfig(id="null"), runtime=vf.SubprocessConfig())


class PodiumEnv(vf.Env[PodiumEnvConfig]):
    """Environment that lets the agent work on one task."""

    async def run(self, task: PodiumTask, agents: Any) -> None:
        data = task.data
        budget = Budget(steps=data.steps, time_s=3600.0)
        with Environment(budget=budget, miniature=data.miniature) as environment:
            message, rewards, done = await environment.reset_async(data.podium_task), [], None
            async with agents.player.interaction(task) as interaction:
                while done is None or not (done.terminated or done.truncated):
                    segment = await interaction.turn(message)
                    action = ENDED if segment.terminated else _action(segment.last_reply)
                    done = await environment.step_async(action)
                    message = done.observation or "(nothing)"
                    rewards.append(done.reward)
                interaction.trace.info["podium"] = _result(data, rewards, done)


def _action(reply: str) -> str:
    """Return the JSON object in a reply, which may be in a code fence."""
    fenced = _FENCED.search(reply)
    return fenced[1] if fenced else reply.strip()


def _result(data: PodiumData, rewards: list[float], done: StepResult | None) -> dict[str, Any]:
    grade = None if done is None else done.info["grade"]
    return {"task": data.podium_task, "reward": sum(rewards), "rewards": rewards, "grade": grade}
