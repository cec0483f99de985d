"""Multi-modal Gesture Recognition: which gestures does somebody make, and in which order?"""

import io
import random
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from podium.data.archives import write_7z, write_zip
from podium.data.fabricate import sound
from podium.data.files import link_file, link_files
from podium.data.tables import read_csv, write_csv
from podium.errors import InvalidSubmission
from podium.metrics import normalised_levenshtein
from podium.task import Columns, Text, competition

GESTURES = range(1, 21)
SAMPLES = [f"{part}{number}.tar.gz" for part in ("training", "validation") for number in (1, 2, 3)]
HELD = "training4.tar.gz"
EXTRAS = ["devel01-40.7z", "valid_all_files_combined.7z", "sample_code_mmrgc.zip"]

task = competition(
    "multi-modal-gesture-recognition",
    title="Multi-modal Gesture Recognition",
    kind="video and audio sequence recognition",
    metric=normalised_levenshtein,
    submission=Columns(id="Id", target="Sequence", values=Text(blank=False), sample="randomPredictions.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    link_files(raw, public, [*SAMPLES, *EXTRAS])
    link_file(raw / HELD, public / "test.tar.gz")
    with tarfile.open(raw / HELD) as archive:
        held = sorted(Path(name).stem[-4:] for name in archive.getnames() if name.endswith(".zip"))
    labels = read_csv(raw / "training.csv", dtype=str)
    is_held = labels["Id"].isin(held)
    write_csv(labels[~is_held], public / "training.csv")
    write_csv(labels[is_held], private / "test.csv")
    sample = pd.DataFrame({"Id": held})
    write_csv(sample, public / "test.csv")
    draw = random.Random(0)
    sample["Sequence"] = [" ".join(map(str, draw.sample(GESTURES, len(GESTURES)))) for _ in held]
    write_csv(sample, public / "randomPredictions.csv")


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Leaves the .mat files out of the test samples."""
    prepare(raw, public, private)
    (public / "test.tar.gz").unlink()
    with tarfile.open(raw / HELD) as archive:
        samples = ((member.name, archive.extractfile(member)) for member in archive if member.isfile())
        _write_samples(public / "test.tar.gz", ((name, _without_labels(file)) for name, file in samples if file))


def _without_labels(file: IO[bytes]) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as sample:
        return {name: sample.read(name) for name in sample.namelist() if not name.endswith(".mat")}


def _write_samples(path: Path, samples: Iterable[tuple[str, dict[str, bytes]]]) -> None:
    """Packs samples, each a ZIP by itself."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, files in samples:
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as sample:
                for file, content in files.items():
                    sample.writestr(file, content)
            facts = tarfile.TarInfo(name)
            facts.size = buffer.tell()
            buffer.seek(0)
            archive.addfile(facts, buffer)


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    predicted = [_gestures(name, text) for name, text in zip(submission["Id"], submission["Sequence"], strict=True)]
    return task.metric(answers["Sequence"], predicted)


def _gestures(name: str, text: str) -> str:
    """The numbers in their plain form: 007 is 7."""
    try:
        return " ".join(str(int(token)) for token in text.split())
    except ValueError:
        fault = f"Column 'Sequence', id {name}: gestures are whole numbers separated by blanks, such as '3 12 7'."
        raise InvalidSubmission(fault) from None


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    labels = []
    for part, archive in enumerate([*SAMPLES[:3], HELD, *SAMPLES[3:]]):
        samples = {}
        for number in range(100 * part + 1, 100 * part + 16):
            gestures, name = rng.permutation(GESTURES)[: rng.integers(6, 21)], f"Sample{number:05d}"
            heard = sound(rng, pitch=gestures[0])
            samples[f"{name}.zip"] = {f"{name}_audio.wav": heard, f"{name}_data.mat": gestures.tobytes()}
            labels.append((name[-4:], " ".join(map(str, gestures))))
        _write_samples(raw / archive, samples.items())
    write_csv(pd.DataFrame(labels[:60], columns=["Id", "Sequence"]), raw / "training.csv")
    for name in EXTRAS:
        write = write_7z if name.endswith(".7z") else write_zip
        write(raw / name, [("readme.txt", b"Further recordings and examples of code")])


task.fixed("Test samples come without their .mat files, which hold the labels.", prepare=prepare_fixed)
