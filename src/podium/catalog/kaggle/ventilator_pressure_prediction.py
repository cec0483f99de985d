"""Google Brain: what pressure builds up in the lung when the ventilator's valves move?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_csv, split_groups, write_csv, write_parts
from podium.grading.check_submission import scored_cells
from podium.metrics import mae
from podium.task import Columns, Number, competition

task = competition(
    "ventilator-pressure-prediction",
    title="Google Brain - Ventilator Pressure Prediction",
    kind="time series regression",
    metric=mae,
    submission=Columns(id="id", target="pressure", values=Number(blank=True)),
    known_leaks="Ids follow the time within a breath.",
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    parts = split_groups(read_csv(raw / "train.csv"), "breath_id", 0.1)
    numbered = [part.assign(id=np.arange(1, len(part) + 1)) for part in parts]
    write_parts(task.form, numbered, public, private, guess=0, hidden="pressure", float_format="%.10g")


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Score only the inspiratory phase, in which the lung is filled."""
    filling = answers["u_out"].eq(0).to_numpy()
    return task.metric(answers.loc[filling, ["pressure"]], scored_cells(submission, filling, ["pressure"], "id"))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    breaths, steps = 60, 80
    time = np.tile(np.linspace(0, 2.6, steps), (breaths, 1)) + rng.uniform(0, 0.01, (breaths, 1))
    exhaling = time > 1
    resistance, compliance = rng.choice([5, 20, 50], (breaths, 1)), rng.choice([10, 20, 50], (breaths, 1))
    flow = np.where(exhaling, 4.0, rng.uniform(0, 60, (breaths, 1)) * np.exp(-2 * time))
    volume = np.cumsum(np.where(exhaling, 0, flow), axis=1) / steps
    pressure = np.where(exhaling, 6.5, 5 + 8 * volume / compliance + flow * resistance / 150)
    numbers = np.sort(rng.choice(200, breaths, replace=False)) + 1
    table = pd.DataFrame({"id": np.arange(1, breaths * steps + 1), "breath_id": np.repeat(numbers, steps)})
    table["R"], table["C"] = np.repeat(resistance, steps), np.repeat(compliance, steps)
    table["time_step"], table["u_in"], table["u_out"] = time.ravel(), flow.ravel(), exhaling.ravel().astype(int)
    table["pressure"] = (pressure + rng.normal(0, 0.2, pressure.shape)).ravel()
    write_csv(table, raw / "train.csv")
