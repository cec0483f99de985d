"""Multi-modal Gesture Recognition: which gestures does somebody make, and in which order?"""

import random
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import RAW_ORDER, find_files, link_file, link_files, read_csv, sound, write_csv
from podium.data.formats.archives import members_of, unpacked, write_7z, write_tar, write_zip, zipped
from podium.errors import InvalidSubmission
from podium.metrics import normalised_levenshtein
from podium.task import Columns, Text, competition

GESTURES = range(1, 21)
SAMPLES = [f"{part}{number}.tar.gz" for part in ("training", "validation") for number in (1, 2, 3)]
HELD = "training4.tar.gz"
RECORDINGS, CODE = ["devel01-40.7z", "valid_all_files_combined.7z"], "sample_code_mmrgc.zip"

task = competition(
    "multi-modal-gesture-recognition",
    title="Multi-modal Gesture Recognition",
    kind="video and audio sequence recognition",
    metric=normalised_levenshtein,
    submission=Columns(id="Id", target="Sequence", values=Text(blank=False), sample="randomPredictions.csv"),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    link_files(raw, public, [*SAMPLES, *RECORDINGS, CODE])
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
    """Leave the .mat files out of the test samples."""
    prepare(raw, public, private)
    (public / "test.tar.gz").unlink()
    with unpacked(raw / HELD, public) as folder:
        paths = find_files(folder, "**/*.zip")
        samples = ((str(path.relative_to(folder)), zipped(_unlabelled(path.read_bytes()))) for path in paths)
        write_tar(public / "test.tar.gz", samples, compressed=True)


def _unlabelled(sample: bytes) -> list[tuple[str, bytes]]:
    return [(name, content) for name, content in members_of(sample) if not name.endswith(".mat")]


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    predicted = [_gestures(name, text) for name, text in zip(submission["Id"], submission["Sequence"], strict=True)]
    return task.metric(answers["Sequence"], predicted)


def _gestures(name: str, text: str) -> str:
    """Return the numbers in their plain form: 007 is 7."""
    try:
        return " ".join(str(int(token)) for token in text.split())
    except ValueError:
        fault = f"Column 'Sequence', id {name}: gestures are whole numbers separated by blanks, such as '3 12 7'."
        raise InvalidSubmission(fault) from None


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    labels = []
    for part, archive in enumerate([*SAMPLES[:3], HELD, *SAMPLES[3:]]):
        samples = []
        for number in range(100 * part + 1, 100 * part + 16):
            gestures, name = rng.permutation(GESTURES)[: rng.integers(6, 21)], f"Sample{number:05d}"
            files = [(f"{name}_audio.wav", sound(rng, pitch=gestures[0])), (f"{name}_data.mat", gestures.tobytes())]
            samples.append((f"{name}.zip", zipped(files)))
            labels.append((name[-4:], " ".join(map(str, gestures))))
        write_tar(raw / archive, samples, compressed=True)
    write_csv(pd.DataFrame(labels[:60], columns=["Id", "Sequence"]), raw / "training.csv")
    for name in RECORDINGS:
        write_7z(raw / name, [("readme.txt", b"Further recordings")])
    write_zip(raw / CODE, [("readme.txt", b"Examples of code")])


task.fixed("Test samples come without their .mat files, which hold the labels.", prepare=prepare_fixed)
