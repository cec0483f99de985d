"""Freesound Audio Tagging 2019: which of 80 everyday sounds are in a recording?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.archives import unpacked, write_zip
from podium.data.fabricate import hex_ids, sound, write_bytes
from podium.data.files import link_file, link_tree
from podium.data.tables import read_csv, sample_of, write_csv
from podium.data.zenodo import zenodo_file
from podium.errors import RawDataError
from podium.metrics.tagging import lwlrap
from podium.task import Columns, competition

RECORD, RELEASED = 3612637, "FSDKaggle2019.meta"
LABEL_NAMES = """
Accelerating_and_revving_and_vroom Accordion Acoustic_guitar Applause Bark Bass_drum Bass_guitar
Bathtub_(filling_or_washing) Bicycle_bell Burping_and_eructation Bus Buzz Car_passing_by Cheering
Chewing_and_mastication Child_speech_and_kid_speaking Chink_and_clink Chirp_and_tweet Church_bell Clapping
Computer_keyboard Crackle Cricket Crowd Cupboard_open_or_close Cutlery_and_silverware Dishes_and_pots_and_pans
Drawer_open_or_close Drip Electric_guitar Fart Female_singing Female_speech_and_woman_speaking Fill_(with_liquid)
Finger_snapping Frying_(food) Gasp Glockenspiel Gong Gurgling Harmonica Hi-hat Hiss Keys_jangling Knock Male_singing
Male_speech_and_man_speaking Marimba_and_xylophone Mechanical_fan Meow Microwave_oven Motorcycle Printer Purr
Race_car_and_auto_racing Raindrop Run Scissors Screaming Shatter Sigh Sink_(filling_or_washing) Skateboard Slam Sneeze
Squeak Stream Strum Tap Tick-tock Toilet_flush Traffic_noise_and_roadway_noise Trickle_and_dribble Walk_and_footsteps
Water_tap_and_faucet Waves_and_surf Whispering Writing Yell Zipper_(clothing)
"""
LABELS = LABEL_NAMES.split()

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
            (link_tree if path.is_dir() else link_file)(path, public / path.name)
    # The labels of the test clips came out after the competition, and not on Kaggle.
    with zenodo_file(RECORD, f"{RELEASED}.zip", raw, public) as archive, unpacked(archive, public) as folder:
        clips = read_csv(folder / RELEASED / "test_post_competition.csv")
    clips = clips[clips["usage"] == "Private"]
    if set(clips["fname"]) != set(read_csv(raw / "sample_submission.csv")["fname"]):
        raise RawDataError(f"The clips in sample_submission.csv are not those whose labels {RELEASED}.zip holds.")
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
