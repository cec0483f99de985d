"""Billion Word Imputation: which word is missing from the sentence, and where?"""

import io
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from podium.data.building_blocks import sentences, unpacked, write_zip
from podium.metrics import mean_levenshtein
from podium.task import Columns, Text, competition

TEST_SHARE = 0.01

task = competition(
    "billion-word-imputation",
    title="Billion Word Imputation",
    kind="text imputation",
    metric=mean_levenshtein,
    submission=Columns(id="id", target="sentence", values=Text(blank=False), sample="test_v2.txt.zip"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    draws = np.random.RandomState(0)
    whole, gapped = [], []
    with (
        unpacked(raw / "train_v2.txt.zip", public) as folder,
        (folder / "train_v2.txt").open("rb") as lines,
        ZipFile(public / "train_v2.txt.zip", "w", ZIP_DEFLATED) as archive,
        io.BufferedWriter(archive.open("train_v2.txt", "w", force_zip64=True), 1 << 20) as train,
    ):
        for line in lines:
            if draws.random_sample() <= TEST_SHARE and len(line.decode().split()) > 2:
                sentence = line.decode().strip().replace('"', '""')
                words = sentence.split()
                del words[draws.randint(1, len(words) - 1)]
                whole.append(sentence)
                gapped.append(" ".join(words))
            else:
                train.write(line)
    (private / "test.csv").write_text(_table(whole), encoding="utf-8")
    (private / "sample_submission.csv").write_text(_table(gapped), encoding="utf-8")
    write_zip(public / "test_v2.txt.zip", [("test_v2.txt", _table(gapped).encode())])


def _table(texts: list[str]) -> str:
    return '"id","sentence"\n' + "".join(f'{number},"{text}"\n' for number, text in enumerate(texts))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    lines = "".join(f"{text.capitalize()} .\n" for text in sentences(rng, 4000, words=9))
    write_zip(raw / "train_v2.txt.zip", [("train_v2.txt", lines.encode())])
