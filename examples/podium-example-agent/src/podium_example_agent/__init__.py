"""An agent that writes one script: it predicts the most frequent answer for every row."""

from __future__ import annotations

from collections.abc import Sequence

from podium.agents.base import Agent, State
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation

SCRIPT = """\
import pandas as pd

train, sample = pd.read_csv("data/train.csv"), pd.read_csv("data/{sample}")
for target in {targets}:
    sample[target] = train[target].mode()[0]
sample.to_csv("submission/submission.csv", index=False)
"""


class FrequentState(State):
    """How many of the two actions have been done."""

    done: int = 0


class Frequent(Agent[FrequentState]):
    """Submits the most frequent answer."""

    State = FrequentState

    def begin(self) -> FrequentState:
        return FrequentState()

    async def decide(self, state: FrequentState) -> Sequence[Action]:
        form = self.assignment.task.form
        script = SCRIPT.format(sample=form.sample, targets=list(form.targets))
        plan = [
            Action(name="write_file", arguments={"file_name": "code/frequent.py", "content": script}),
            Action(name="execute_script", arguments={"script_name": "code/frequent.py"}),
        ]
        return plan[state.done : state.done + 1]

    def observe(
        self, state: FrequentState, actions: Sequence[Action], observations: Sequence[Observation]
    ) -> FrequentState:
        return FrequentState(done=state.done + 1)
