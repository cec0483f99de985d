"""CIFAR-10, MLAgentBench's way: which of ten things does a small picture show?"""

import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_files, read_array, write_answers, write_array
from podium.data.fetch.http_download import fetched
from podium.errors import RawDataError
from podium.metrics import accuracy
from podium.task import Columns, Starter, research_task

# The version for C programs: the same pictures in the same order as Python's, but nothing to unpickle.
ARCHIVE = "cifar-10-binary.tar.gz"
SITE = "https://www.cs.toronto.edu/~kriz"
CHECKSUM = "md5:c32a1d4ab5d03f1284b67883e8d87530"
PARTS = {
    "train": [f"cifar-10-batches-bin/data_batch_{number}.bin" for number in range(1, 6)],
    "test": ["cifar-10-batches-bin/test_batch.bin"],
}
SHAPE = 3, 32, 32
CLASSES = tuple(str(number) for number in range(10))
FORM = Columns(id="id", target=CLASSES, values=float, aliases={"": "id"})

task = research_task(
    "cifar10",
    title="CIFAR-10 (MLAgentBench)",
    kind="image classification",
    metric=accuracy,
    # The original looks rows up by their label, 0 to 9999, and never at any others.
    submission=replace(FORM, extra_rows=True),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
    known_leaks="Ids are places in the published test set, which is in random order.",
)


@task.fetch
def fetch(raw: Path) -> None:
    with fetched(f"{SITE}/{ARCHIVE}", raw / ARCHIVE, checksum=CHECKSUM) as archive:
        unpack(archive, raw)


def unpack(archive: Path, raw: Path) -> None:
    """Write the pictures and labels of the published archive as arrays."""
    with tarfile.open(archive) as tar:
        for part, names in PARTS.items():
            content = b"".join(_member(tar, name) for name in names)
            records = np.frombuffer(content, np.uint8).reshape(-1, 1 + np.prod(SHAPE))
            write_array(records[:, 0].astype(np.int64), raw / f"{part}_labels.npy")
            write_array(records[:, 1:].reshape(-1, *SHAPE).transpose(0, 2, 3, 1), raw / f"{part}_images.npy")


def _member(tar: tarfile.TarFile, name: str) -> bytes:
    try:
        file = tar.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise RawDataError(f"The archive of CIFAR-10 has no file {name}.")
    return file.read()


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    labels = read_array(raw / "test_labels.npy")
    answers = pd.DataFrame({"id": range(len(labels)), "label": labels})
    write_answers(FORM, answers, public, private, guess=0.1)
    link_files(raw, public, ["train_images.npy", "train_labels.npy", "test_images.npy"])


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    return accuracy(answers["label"], submission[list(CLASSES)].to_numpy().argmax(axis=1))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate ten blurred colour patterns, with random shifts, brightness and noise."""
    coarse = rng.normal(0, 1, (10, 8, 8, 3))
    patterns = coarse.repeat(4, axis=1).repeat(4, axis=2)
    for part, count in (("train", 4000), ("test", 400)):
        labels = rng.permutation(np.arange(count) % 10)
        shifts = rng.integers(-4, 5, (count, 2))
        shown = np.stack([np.roll(patterns[label], shift, (0, 1)) for label, shift in zip(labels, shifts, strict=True)])
        light = rng.uniform(5, 20, (count, 1, 1, 1))
        pixels = 128 + light * shown + rng.normal(0, 50, shown.shape)
        write_array(np.clip(pixels, 0, 255).astype(np.uint8), raw / f"{part}_images.npy")
        write_array(labels.astype(np.int64), raw / f"{part}_labels.npy")


task.fixed(
    "Rows are joined by their id, each once and no others; the original also passes over rows it does not know. "
    "Where a submission is as described, both give the same score.",
    submission=FORM,
)
