"""Freesound Audio Tagging 2019: which of 80 everyday sounds are in a recording?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, link_path, read_csv, sample_of, unpacked, write_csv, write_zip
from podium.data.fabricate import hex_ids, sound, write_bytes
from podium.data.fetch.zenodo import zenodo_file
from podium.errors import RawDataError
from podium.metrics import lwlrap
from podium.task import Columns, competition

RECORD, RELEASED = 3612637, "FSDKaggle2019.meta"
LABELS = lines_beside(__file__)

task = competition(
    "freesound-audio-tagging-2019",
    title="Freesound Audio Tagging 2019",
    kind="audio tagging",
    metric=lwlrap,
    submission=Columns(id="fname", target=tuple(LABELS), values=float, extra_columns=False, column_order=True),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    for path in raw.iterdir():
        if RELEASED not in path.name:
            link_path(path, public / path.name)
    # The labels of the test clips came out after the competition, and not on Kaggle.
    with zenodo_file(RECORD, f"{RELEASED}.zip", raw, public) as archive, unpacked(archive, public) as folder:
        clips = read_csv(folder / RELEASED / "test_post_competition.csv")
    clips = clips[clips["usage"] == "Private"]
    if set(clips["fname"]) != set(read_csv(raw / "sample_submission.csv")["fname"]):
        raise RawDataError(f"The clips in sample_submission.csv do not match the labels in {RELEASED}.zip.")
    tags = clips["labels"].str.get_dummies(",").reindex(columns=LABELS, fill_value=0)
    write_csv(clips[["fname"]].join(tags), private / "test.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    tags = [rng.choice(LABELS, rng.integers(1, 4), replace=False) for _ in range(200)]
    clips = pd.DataFrame({"fname": hex_ids(rng, 200, 8), "labels": [",".join(some) for some in tags]})
    clips["fname"] += ".wav"
    for part, rows in (("train_curated", clips[:80]), ("train_noisy", clips[80:120]), ("test", clips[120:170])):
        for name, labels in rows.itertuples(index=False):
            pitch = LABELS.index(labels.split(",")[0])
            write_bytes(raw / part / name, sound(rng, pitch=pitch, samples=200, rate=44_100))
        if part != "test":
            write_csv(rows, raw / f"{part}.csv")
    write_csv(sample_of(clips[120:170], "fname", **dict.fromkeys(LABELS, 0)), raw / "sample_submission.csv")
    table = clips[120:].assign(usage=["Private"] * 50 + ["Public"] * 30).to_csv(index=False).encode()
    write_zip(raw / f"{RELEASED}.zip", [(f"{RELEASED}/test_post_competition.csv", table)])
