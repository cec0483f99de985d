"""A tiny policy that learns: which recipe suits which kind of task, by REINFORCE on tiny forged training tasks.

Every episode has a training task of its own, so that rewards are always those of tasks the policy has not seen.

python examples/learning/learn.py --episodes 240 --plot learning.svg
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import podium
from podium.catalog.forge.families import TINY_FAMILIES
from podium.catalog.forge.forge_ids import parse_id
from podium.environment.rewards import final_value
from podium.environment.training_tasks import training_task

RECIPES = (
    *("mean", "numbers ridge 1", "numbers ridge 100", "numbers neighbours 15"),
    *("categories ridge 30", "categories neighbours 15", "words ridge 300", "words neighbours 15"),
)
SCRIPT = (Path(__file__).parent / "recipe.py").read_text(encoding="utf-8")
BATCH, RATE = 8, 0.5


def play(environment: podium.Environment, task: str, recipe: str) -> float:
    """The reward of an episode: write the script, run it with a recipe, finish."""
    environment.reset(task)
    environment.step({"action": "write_file", "arguments": {"file_name": "recipe.py", "content": SCRIPT}})
    run = {"script_name": "recipe.py", "arguments": recipe}
    environment.step({"action": "execute_script", "arguments": run})
    return environment.step({"action": "final_answer", "arguments": {"final_answer": recipe}}).reward


class Policy:
    """For each family the preferences among recipes: a table of logits, and the usual reward as a baseline."""

    def __init__(self) -> None:
        self.logits = np.zeros((len(TINY_FAMILIES), len(RECIPES)))
        self.usual = np.full(len(TINY_FAMILIES), np.nan)

    def chances(self, family: int) -> np.ndarray:
        weights = np.exp(self.logits[family] - self.logits[family].max())
        return np.asarray(weights / weights.sum())

    def learn(self, family: int, recipe: int, reward: float) -> None:
        """One step of REINFORCE with a moving average as baseline, in units of what rewards differ by."""
        usual = reward if np.isnan(self.usual[family]) else self.usual[family]
        gradient = -self.chances(family)
        gradient[recipe] += 1
        self.logits[family] += RATE * (reward - usual) / 0.2 * gradient
        self.usual[family] = usual + 0.1 * (reward - usual)


def train(episodes: int, *, seed: int, environments: int) -> tuple[Policy, list[float]]:
    """A policy and the reward of each episode it learned from."""
    policy, rng, rewards = Policy(), np.random.default_rng(seed), []
    opened = [podium.Environment(reward=final_value) for _ in range(environments)]
    with ThreadPoolExecutor(environments) as pool:
        for first in range(0, episodes, BATCH):
            tasks = [training_task(seed * 1_000_000 + number) for number in range(first, min(first + BATCH, episodes))]
            families = [TINY_FAMILIES.index(parse_id(task).family) for task in tasks]
            chosen = [int(rng.choice(len(RECIPES), p=policy.chances(family))) for family in families]
            jobs = [[] for _ in opened]
            for number in range(len(tasks)):
                jobs[number % environments].append(number)
            earned = np.zeros(len(tasks))

            def work(place: int, jobs=jobs, tasks=tasks, chosen=chosen, earned=earned) -> None:
                for number in jobs[place]:
                    earned[number] = play(opened[place], tasks[number], RECIPES[chosen[number]])

            list(pool.map(work, range(environments)))
            for family, recipe, reward in zip(families, chosen, earned, strict=True):
                policy.learn(family, recipe, float(reward))
            rewards += earned.tolist()
            print(f"{len(rewards)} episodes, mean of the last 48: {np.mean(rewards[-48:]):.3f}", flush=True)
    for environment in opened:
        environment.close()
    return policy, rewards


def plot(rewards: list[float], path: Path, window: int = 48) -> None:
    """The moving mean of the rewards as a picture."""
    means = [float(np.mean(rewards[max(0, end - window) : end])) for end in range(window // 2, len(rewards) + 1)]
    width, height, left, top = 640, 240, 50, 20
    highest = max(0.1, np.ceil(max(means) * 10) / 10)
    spots = " ".join(
        f"{left + width * number / max(1, len(means) - 1):.1f},{top + height * (1 - mean / highest):.1f}"
        for number, mean in enumerate(means)
    )
    ticks = "".join(
        f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>'
        f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{share * highest:.2f}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
        for y in (top + height * (1 - share),)
    )
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {top + height + 50}" '
        f'font-family="sans-serif" font-size="13" fill="#777">{ticks}'
        f'<polyline points="{spots}" fill="none" stroke="#3b7dd8" stroke-width="2"/>'
        f'<text x="{left + width / 2}" y="{top + height + 35}" text-anchor="middle">episodes ({len(rewards)}); '
        f"mean reward of the last {window}</text></svg>\n",
        encoding="utf-8",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--environments", type=int, default=2)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    policy, rewards = train(options.episodes, seed=options.seed, environments=options.environments)
    for number, family in enumerate(TINY_FAMILIES):
        best = int(policy.chances(number).argmax())
        print(f"{family}: {RECIPES[best]} with probability {policy.chances(number)[best]:.2f}")
    if options.plot:
        plot(rewards, options.plot)
    if options.json:
        options.json.write_text(json.dumps({"rewards": [round(reward, 4) for reward in rewards]}) + "\n")


if __name__ == "__main__":
    main()
