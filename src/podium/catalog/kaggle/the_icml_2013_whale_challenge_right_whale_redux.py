"""Right Whale Redux: does a right whale call in the recording of a buoy?"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import find_files, sample_of, sound, unpacked, write_csv, write_zip
from podium.errors import RawDataError
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "the-icml-2013-whale-challenge-right-whale-redux",
    title="The ICML 2013 Whale Challenge - Right Whale Redux",
    kind="audio classification",
    metric=roc_auc,
    submission=Columns(id="clip", target="probability", values=Number(0, 1), sample="sampleSubmission.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    with unpacked(raw / "train2.zip", public) as folder:
        clips = find_files(folder / "train2", "*.aif")
        days = sorted({clip.name[:8] for clip in clips})
        if len(days) != 4:
            raise RawDataError(f"train2.zip has clips of {len(days)} days; 4 are expected.")
        train = [clip for clip in clips if clip.name[:8] in days[:2]]
        test = [clip for clip in clips if clip.name[:8] in days[2:]]
        known = [re.sub(r"TRAIN\d+", f"TRAIN{number}", clip.name) for number, clip in enumerate(train)]
        hidden = [re.sub("TRAIN.*", f"Test{number}.aif", clip.name) for number, clip in enumerate(test)]
        write_zip(public / "train2.zip", ((f"train2/{name}", clip) for name, clip in zip(known, train, strict=True)))
        write_zip(public / "test2.zip", ((f"test2/{name}", clip) for name, clip in zip(hidden, test, strict=True)))
    answers = pd.DataFrame({"clip": hidden, "probability": [int(clip.stem.endswith("_1")) for clip in test]})
    write_csv(sample_of(answers, "clip", probability=0), public / "sampleSubmission.csv")
    write_csv(answers, private / "test.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    clips = []
    for index, seconds in enumerate(np.sort(rng.choice(900, 160, replace=False))):
        call, day = int(rng.random() < 0.3), 28 + index * 4 // 160
        clip = sound(rng, pitch=call, samples=100, rate=2000, suffix=".aif")
        clips.append((f"train2/200903{day}_000000_{seconds:03d}s3ms_TRAIN{index}_{call}.aif", clip))
    write_zip(raw / "train2.zip", clips)
