"""Parkinson's disease: how will it go on, judged by proteins in the spinal fluid?"""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_csv, sample_of, write_csv
from podium.data.fetch.kaggle_download import download
from podium.metrics import smape
from podium.task import Columns, Number, Starter, research_task

# A rating below 0 is none, and the measure divides by ratings; the original raised an error too.
FORM = Columns(id="prediction_id", target="rating", values=Number(low=0))
PARTS = ("updrs_1", "updrs_2", "updrs_3", "updrs_4")
WAITS = (0, 6, 12, 24)
LAST_MONTH = 108
TEST_PATIENTS = 2
PATIENT_TABLES = ("train_clinical_data", "train_peptides", "train_proteins", "supplemental_clinical_data")

task = research_task(
    "parkinsons-disease",
    title="Parkinson's disease progression (MLAgentBench)",
    kind="time series regression",
    metric=smape.using(title="SMAPE+1"),
    submission=replace(FORM, id=()),
    starter=Starter(
        folder=Path(__file__).with_suffix(""), script="train.py", read_only=("public_timeseries_testing_util.py",)
    ),
    known_leaks="Ids name the patient, the month and the part of the rating.",
)


@task.fetch
def fetch(raw: Path) -> None:
    download("amp-parkinsons-disease-progression-prediction", raw)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    tables = {name: read_csv(raw / f"{name}.csv") for name in PATIENT_TABLES}
    clinical = tables["train_clinical_data"]
    held = random.Random(42).sample(clinical["patient_id"].drop_duplicates().tolist(), TEST_PATIENTS)
    for name, table in tables.items():
        write_csv(table[~table["patient_id"].isin(held)], public / f"{name}.csv")
    examples = public / "example_test_files"
    for name in ("peptides", "proteins"):
        table = tables[f"train_{name}"]
        write_csv(table[table["patient_id"].isin(held)], examples / f"test_{name}.csv")
    visits = clinical[clinical["patient_id"].isin(held)]
    questions = _questions(visits)
    write_csv(questions, examples / "test.csv")
    answers = _answers(questions, visits)
    write_csv(answers, private / FORM.answers)
    sample = sample_of(answers, ["prediction_id"], rating=0)
    write_csv(sample, public / FORM.sample)
    write_csv(sample.join(answers["visit_month"]), examples / "sample_submission.csv")


def _questions(visits: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each visit and each part of the rating."""
    asked = visits[["visit_id", "visit_month", "patient_id"]].merge(pd.DataFrame({"updrs_test": PARTS}), how="cross")
    return asked.assign(row_id=asked["visit_id"] + "_" + asked["updrs_test"])


def _answers(questions: pd.DataFrame, visits: pd.DataFrame) -> pd.DataFrame:
    """Return the answer to each question, by horizon, without rows that have no visit at that time.

    A visit may lack a rating: its rows stay, blank, and do not count.
    """
    ratings = visits.melt(["patient_id", "visit_month"], list(PARTS), var_name="updrs_test", value_name="rating")
    ratings = ratings.rename(columns={"visit_month": "then"})
    found = []
    for wait in WAITS:
        asked = questions.assign(then=questions["visit_month"] + wait)
        rows = asked[asked["then"] <= LAST_MONTH].merge(ratings, on=["patient_id", "then", "updrs_test"])
        found.append(rows.assign(prediction_id=rows["row_id"] + f"_plus_{wait}_months"))
    return pd.concat(found, ignore_index=True)[["prediction_id", "rating", "visit_month"]]


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Return the SMAPE of ratings plus one, which avoids division by zero."""
    rated = answers["rating"].notna().to_numpy()
    return task.metric(answers.loc[rated, "rating"] + 1, submission.loc[rated, "rating"] + 1)


task.fixed(
    "Rows are joined by prediction_id. The original compared them by position, but its own interface writes them month "
    "by month while its answers go horizon by horizon, so that nearly every prediction met another one's answer.",
    submission=FORM,
)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    patients = np.sort(rng.choice(65_000, 80, replace=False)).tolist()
    visits = pd.concat([_visits(patient, rng) for patient in patients], ignore_index=True)
    without_fluid = visits["patient_id"].isin(patients[::4])
    write_csv(visits[~without_fluid].drop(columns="state"), raw / "train_clinical_data.csv")
    write_csv(visits[without_fluid].drop(columns="state"), raw / "supplemental_clinical_data.csv")
    measured = visits[~without_fluid & (rng.random(len(visits)) < 0.9)]
    names = [f"P{number:05d}" for number in 10_000 + 137 * np.arange(12)]
    chains = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 9)) for _ in range(24)]
    peptides = _abundances(measured, list(zip(names * 2, chains, strict=True)), rng)
    write_csv(peptides, raw / "train_peptides.csv")
    proteins = peptides.drop(columns="Peptide").rename(columns={"PeptideAbundance": "NPX"})
    keys = ["visit_id", "visit_month", "patient_id", "UniProt"]
    write_csv(proteins.groupby(keys, as_index=False, sort=False).sum(), raw / "train_proteins.csv")


def _visits(patient: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the visits of a patient, whose ratings grow with time, the faster the more severe the case."""
    months = np.array([0, 3, 6, 12, 18, 24, 30, 36, 48, 60, 72, 84])[: rng.integers(8, 13)]
    months = months[(rng.random(len(months)) < 0.95) | np.isin(months, [0, 6, 12, 24])]
    state = rng.gamma(4, 0.25) * (1 + months / 40)
    table = pd.DataFrame({"visit_id": [f"{patient}_{month}" for month in months], "patient_id": patient})
    table["visit_month"] = months
    for part, scale in zip(PARTS, (5, 5, 16, 1), strict=True):
        table[part] = np.maximum(0, np.round(scale * state + rng.normal(0, 0.12 * scale, len(months))))
    table["updrs_4"] = table["updrs_4"].mask(rng.random(len(months)) < 0.3)
    table["upd23b_clinical_state_on_medication"] = rng.choice(["On", "Off", ""], len(months))
    return table.assign(state=state)


def _abundances(visits: pd.DataFrame, peptides: list[tuple[str, str]], rng: np.random.Generator) -> pd.DataFrame:
    """Return a row per visit and peptide; about half of them follow the state of the disease."""
    slopes = np.where(np.arange(len(peptides)) % 2, rng.normal(0, 0.6, len(peptides)), 0)
    logs = 10 + np.outer(visits["state"], slopes) + rng.normal(0, 0.15, (len(visits), len(peptides)))
    rows = visits[["visit_id", "visit_month", "patient_id"]].loc[visits.index.repeat(len(peptides))]
    rows[["UniProt", "Peptide"]] = peptides * len(visits)
    return rows.assign(PeptideAbundance=np.exp(logs).round(1).ravel())
