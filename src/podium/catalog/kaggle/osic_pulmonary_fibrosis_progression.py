"""OSIC: how fast does a patient's lung function decline, and how sure can one be?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_parts, read_csv, split_groups, write_answers, write_bytes, write_csv
from podium.errors import InvalidSubmission
from podium.grading.check_submission import scored_cells
from podium.metrics import laplace_log_likelihood
from podium.task import Columns, Number, competition

SCORED_VISITS = 3

task = competition(
    "osic-pulmonary-fibrosis-progression",
    title="OSIC Pulmonary Fibrosis Progression",
    kind="tabular and image regression",
    metric=laplace_log_likelihood,
    # As in MLE-bench, whatever rows are there are scored, even a single one.
    submission=Columns(id="Patient_Week", target=("FVC", "Confidence"), values=Number(blank=True), missing_rows=True),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_groups(read_csv(raw / "train.csv"), "Patient", 0.1)
    write_csv(train, public / "train.csv")
    write_csv(test.sort_values("Weeks").groupby("Patient").first().reset_index(), public / "test.csv")
    weeks = range(test["Weeks"].min(), test["Weeks"].max() + 1)
    grid = pd.MultiIndex.from_product([list(test["Patient"].unique()), weeks], names=["Patient", "Weeks"])
    answers = grid.to_frame(index=False).merge(test, how="left")
    answers["Patient_Week"] = answers["Patient"] + "_" + answers["Weeks"].astype(str)
    answers["Confidence"] = 100
    write_answers(task.form, answers, public, private, guess={"FVC": 2000, "Confidence": 100})
    link_parts([part.drop_duplicates("Patient") for part in (train, test)], raw, public, files="train/{Patient}/")


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Score the last visits of each patient; a blank confidence counts as the smallest."""
    visits = answers.dropna(subset="FVC").sort_values("Weeks").groupby("Patient").tail(SCORED_VISITS)
    scored = submission["Patient_Week"].isin(visits["Patient_Week"]).to_numpy()
    predicted = scored_cells(submission.fillna({"Confidence": 0}), scored, ["FVC", "Confidence"], "Patient_Week")
    if not scored.any():
        raise InvalidSubmission("There is no row for any patient's last visits; one row per week is expected.")
    truth = submission[["Patient_Week"]][scored].merge(visits)["FVC"]
    return task.metric(truth, predicted)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    visits = []
    for number in rng.choice(10**9, 40, replace=False):
        weeks = np.sort(rng.choice(np.arange(-5, 70), rng.integers(6, 11), replace=False))
        speed = rng.uniform(0, 12)
        volume = (rng.uniform(2000, 4500) - speed * weeks + rng.normal(0, 60, len(weeks))).astype(int)
        visit = pd.DataFrame({"Patient": f"ID00{number:021d}", "Weeks": weeks, "FVC": volume})
        visit["Percent"] = volume / rng.uniform(35, 50)
        visit = visit.assign(Age=rng.integers(49, 89), Sex=rng.choice(["Male", "Female"]))
        visits.append(visit.assign(SmokingStatus="Ex-smoker" if speed > 6 else "Never smoked"))
        for scan in (1, 2):
            path = raw / "train" / visit["Patient"].iloc[0] / f"{scan}.dcm"
            write_bytes(path, bytes(128) + b"DICM" + rng.bytes(16))
    write_csv(pd.concat(visits), raw / "train.csv")


task.fixed("Every row must be there; v1 scores whatever is.", submission=replace(task.form, missing_rows=False))
