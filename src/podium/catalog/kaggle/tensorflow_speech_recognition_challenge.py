"""TensorFlow Speech Recognition: which word is spoken in a second of sound?"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, link_file, sound, split_rows, unpacked, write_7z, write_answers
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
def prepare(raw: Path, public: Path, private: Path, *, fixed: bool = False) -> None:
    with unpacked(raw / "train.7z", public) as folder:
        clips = (folder / "train" / "audio").rglob("*.wav")
        train, test = split_rows(sorted(clips, key=lambda clip: f"{clip.parent.name}_{clip.name}"), 0.1)
        # As in MLE-bench: answers are the names of folders, not the competition's twelve classes.
        labels = [clip.parent.name for clip in test]
        if fixed:
            train, test = _split_speakers(train + test)  # shuffled, so that the number of a test clip tells nothing
            labels = [CLASSES.get(clip.parent.name, "unknown") for clip in test]
        for clip in train:
            link_file(clip, public / "train" / "audio" / clip.parent.name / clip.name)
        answers = pd.DataFrame({"fname": [f"clip_{number:08d}.wav" for number in range(len(test))], "label": labels})
        for clip, name in zip(test, answers["fname"], strict=True):
            link_file(clip, public / "test" / "audio" / name)
    write_answers(task.form, answers, public, private, guess="silence")


def _split_speakers(clips: list[Path]) -> tuple[list[Path], list[Path]]:
    speakers = [clip.name.split("_nohash_")[0] for clip in clips]
    _, held = split_rows(sorted(set(speakers)), 0.1)
    pairs = list(zip(clips, speakers, strict=True))
    return [clip for clip, who in pairs if who not in held], [clip for clip, who in pairs if who in held]


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
    prepare=partial(prepare, fixed=True),
    submission=replace(task.form, values=Text(blank=False, choices=(*CLASSES.values(), "unknown"))),
)
