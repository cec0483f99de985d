"""TensorFlow Speech Recognition: which word is spoken in a second of sound?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.archives import unpacked, write_7z
from podium.data.fabricate import hex_ids, sound
from podium.data.files import link_file
from podium.data.split import split_rows
from podium.data.tables import sample_of, write_csv
from podium.metrics import accuracy
from podium.task import Columns, Text, competition

COMMANDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
OTHER_WORDS = "bed bird cat dog eight five four happy house marvin nine one seven sheila six three tree two wow zero"
NOISE = "_background_noise_"
CLASSES = {NOISE: "silence"} | {word: word for word in COMMANDS}

task = competition(
    "tensorflow-speech-recognition-challenge",
    title="TensorFlow Speech Recognition Challenge",
    kind="audio classification",
    metric=accuracy,
    submission=Columns(id="fname", target="label", values=Text(blank=False)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    with unpacked(raw / "train.7z", public) as folder:
        train, test = split_rows(_clips(folder), 0.1)
        # As in MLE-bench: answers are the names of folders, not the competition's twelve classes.
        _write_parts(train, test, [clip.parent.name for clip in test], public, private)


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Holds out speakers instead of clips, and asks for one of the twelve classes."""
    with unpacked(raw / "train.7z", public) as folder:
        first, last = split_rows(_clips(folder), 0.1)
        shuffled = first + last  # so that the number of a test clip tells nothing
        held = set(split_rows(sorted({_speaker(clip) for clip in shuffled}), 0.1)[1])
        train, test = ([clip for clip in shuffled if (_speaker(clip) in held) == side] for side in (False, True))
        _write_parts(train, test, [CLASSES.get(clip.parent.name, "unknown") for clip in test], public, private)


def _clips(folder: Path) -> list[Path]:
    return sorted((folder / "train" / "audio").rglob("*.wav"), key=lambda clip: f"{clip.parent.name}_{clip.name}")


def _speaker(clip: Path) -> str:
    return clip.name.split("_nohash_")[0]


def _write_parts(train: list[Path], test: list[Path], labels: list[str], public: Path, private: Path) -> None:
    for clip in train:
        link_file(clip, public / "train" / "audio" / clip.parent.name / clip.name)
    names = [f"clip_{number:08d}.wav" for number in range(len(test))]
    for clip, name in zip(test, names, strict=True):
        link_file(clip, public / "test" / "audio" / name)
    answers = pd.DataFrame({"fname": names, "label": labels})
    write_csv(sample_of(answers, "fname", label="silence"), public / "sample_submission.csv")
    write_csv(answers, private / "test.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    speakers = hex_ids(rng, 20, 8)
    clips = {f"{NOISE}/noise_{number}.wav": sound(rng, pitch=0) for number in range(6)}
    for pitch, word in enumerate([*COMMANDS, *OTHER_WORDS.split()]):
        for speaker in rng.choice(speakers, 7, replace=False):
            clips[f"{word}/{speaker}_nohash_0.wav"] = sound(rng, pitch=pitch, samples=200)
    write_7z(raw / "train.7z", ((f"train/audio/{name}", content) for name, content in clips.items()))


task.fixed(
    "The label is one of the competition's twelve classes, and nobody speaks in both train and test.",
    prepare=prepare_fixed,
    submission=replace(task.submission, values=Text(blank=False, choices=(*CLASSES.values(), "unknown"))),
)
