"""HMS: which harmful patterns do experts see in a stretch of brain waves?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    link_parts,
    link_tree,
    read_csv,
    split_values,
    write_bytes,
    write_csv,
    write_parts,
)
from podium.data.formats.parquet_json import write_parquet
from podium.metrics import kl_divergence
from podium.task import Columns, Number, competition

PATTERNS = ["Seizure", "LPD", "GPD", "LRDA", "GRDA", "Other"]
VOTES = [f"{pattern.lower()}_vote" for pattern in PATTERNS]
ELECTRODES = "Fp1 F3 C3 P3 F7 T3 T5 O1 Fz Cz Pz Fp2 F4 C4 P4 F8 T4 T6 O2 EKG"

task = competition(
    "hms-harmful-brain-activity-classification",
    title="HMS - Harmful Brain Activity Classification",
    kind="EEG classification",
    metric=kl_divergence,
    # An EEG has several rows, which nothing tells apart: they are taken in the order of the sample submission.
    submission=Columns(
        id="eeg_id",
        target=tuple(VOTES),
        values=Number(0, 1),
        extra_columns=False,
        row_total=1,
        row_tolerance=5e-6,
        answers="gold_submission.csv",
    ),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    parts = split_values(read_csv(raw / "train.csv"), "spectrogram_id", 0.1)
    test = parts[1]
    shares = test[["eeg_id"]].join(test[VOTES].div(test[VOTES].sum(axis=1), axis=0))
    write_parts(task.form, parts, public, private, guess=1 / len(VOTES), answers=shares)
    write_csv(test[["spectrogram_id", "eeg_id", "patient_id"]], public / "test.csv")
    write_csv(test, private / "test.csv")
    for kind in ("eeg", "spectrogram"):
        files = [part.drop_duplicates(f"{kind}_id") for part in parts]
        link_parts(files, raw, public, files=f"train_{kind}s/{{{kind}_id}}.parquet")
    link_tree(raw / "example_figures", public / "example_figures")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    rows = []
    for spectrogram, eeg in rng.integers(10**6, 2**32, (30, 2)):
        pattern, patient = rng.integers(6), rng.integers(9000)
        for window in range(rng.integers(1, 4)):
            votes = rng.multinomial(rng.integers(1, 20), 0.7 * np.eye(6)[pattern] + 0.05)
            labels = [rng.integers(2**32), patient, PATTERNS[votes.argmax()], *votes]
            rows.append([eeg, window, 6.0 * window, spectrogram, window, 6.0 * window, *labels])
        tone = np.sin(np.arange(40) * (0.2 + 0.2 * pattern))[:, None]
        waves = (40 * tone + rng.normal(0, 10, (40, 20))).astype(np.float32)
        write_parquet(pd.DataFrame(waves, columns=ELECTRODES.split()), raw / "train_eegs" / f"{eeg}.parquet")
        power = pd.DataFrame({"time": np.arange(1, 21, 2)})
        for region in ("LL", "RL", "LP", "RP"):
            power[f"{region}_0.59"] = rng.gamma(1 + pattern, 1, 10).astype(np.float32)
        write_parquet(power, raw / "train_spectrograms" / f"{spectrogram}.parquet")
    places = [f"{kind}_{name}" for kind in ("eeg", "spectrogram") for name in ("id", "sub_id", "label_offset_seconds")]
    columns = [*places, "label_id", "patient_id", "expert_consensus", *VOTES]
    write_csv(pd.DataFrame(rows, columns=columns), raw / "train.csv")
    write_bytes(raw / "example_figures" / "Sample01.pdf", b"%PDF-1.4\n%%EOF\n")
