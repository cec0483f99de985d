"""MLSP 2013 Birds: which species sing in a recording from the forest?"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.archives import unpacked, write_zip
from podium.data.fabricate import picture, sound, write_bytes
from podium.data.files import link_file
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

SPECIES = 19
FOLDER = "mlsp_contest_dataset"
FOLDS, LABELS = "essential_data/CVfolds_2.txt", "essential_data/rec_labels_test_hidden.txt"
NAMES = "essential_data/rec_id2filename.txt"
SEGMENTS = [
    f"supplemental_data/{name}.txt" for name in ("histogram_of_segments", "segment_features", "segment_rectangles")
]
SINGLE_FILES = ["species_list", "segment_clusters", "segment_mosaic"]

task = competition(
    "mlsp-2013-birds",
    title="MLSP 2013 Bird Classification Challenge",
    kind="audio tagging",
    metric=roc_auc,
    submission=Columns(id="Id", target="Probability", values=Number(0, 1), answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    with unpacked(raw / f"{FOLDER}.zip", public) as unzipped:
        source = unzipped / FOLDER
        folds = read_csv(source / FOLDS)
        kept = folds.loc[folds["fold"] == 0, "rec_id"].reset_index(drop=True)
        test = set(kept.sample(frac=0.2, random_state=0).index)
        number = dict(zip(kept, range(len(kept)), strict=True))
        write_bytes(public / FOLDS, _text("rec_id,fold", ((new, "01"[new in test]) for new in number.values())))
        _write_labels(_lines(source / LABELS, number), test, public, private)
        names = _lines(source / NAMES, number)
        write_bytes(public / NAMES, _text("rec_id,filename", names))
        for place in SEGMENTS:
            # As in MLE-bench: all three have the header of the first.
            text = _text("rec_id,[histogram of segment features]", _lines(source / place, number))
            write_bytes(public / place, text)
        wanted = {*(name for _, name in names), *SINGLE_FILES}
        for path in source.rglob("*.*"):
            if path.stem in wanted:
                link_file(path, public / path.relative_to(source))


def _lines(path: Path, number: dict[int, int]) -> list[tuple[int, str]]:
    """The lines of the recordings that are kept: their new number, and the rest of the line."""
    lines = (line.partition(",") for line in path.read_text(encoding="utf-8").splitlines()[1:] if line)
    return [(number[int(old)], rest) for old, _, rest in lines if int(old) in number]


def _text(header: str, lines: Iterable[tuple[int, str]]) -> bytes:
    rows = [f"{number},{rest}" if rest else f"{number}" for number, rest in lines]
    return "\n".join([header, *rows, ""]).encode()


def _write_labels(labels: list[tuple[int, str]], test: set[int], public: Path, private: Path) -> None:
    hidden = ((number, "?" if number in test else species) for number, species in labels)
    write_bytes(public / LABELS, _text("rec_id,[labels]", hidden))
    heard = [(number, species.split(",")) for number, species in labels if number in test]
    cells = [(100 * number + kind, int(str(kind) in some)) for number, some in heard for kind in range(SPECIES)]
    answers = pd.DataFrame(cells, columns=["Id", "Probability"])
    write_csv(answers, private / "answers.csv")
    write_csv(sample_of(answers.sort_values("Id"), "Id", Probability=0), public / "sample_submission.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 110
    heard = [np.sort(rng.choice(SPECIES, rng.integers(0, 4), replace=False)) for _ in range(count)]
    folds = (rng.random(count) < 0.1).astype(int)
    labels = ["?" if fold else ",".join(map(str, some)) for fold, some in zip(folds, heard, strict=True)]
    names = [f"PC{rng.integers(1, 19)}_200906{number % 30:02d}_050000_{number:04d}" for number in range(count)]
    species = [f"SP{number:02d},Bird {number}" for number in range(SPECIES)]
    files = {
        FOLDS: _text("rec_id,fold", enumerate(map(str, folds))),
        NAMES: _text("rec_id,filename", enumerate(names)),
        LABELS: _text("rec_id,[labels]", enumerate(labels)),
        "essential_data/species_list.txt": _text("class_id,code,species", enumerate(species)),
    }
    for place in SEGMENTS:
        values = [np.isin(range(SPECIES), some) + rng.random(SPECIES).round(3) for some in heard]
        files[place] = _text("rec_id,[values]", enumerate(",".join(map(str, some)) for some in values))
    for name, some in zip(names, heard, strict=True):
        files[f"essential_data/src_wavs/{name}.wav"] = sound(rng, pitch=some.sum())
        for folder in ("filtered_spectrograms", "spectrograms", "supervised_segmentation"):
            files[f"supplemental_data/{folder}/{name}.bmp"] = picture(rng, tint=some.sum(), suffix=".bmp")
    files |= {f"supplemental_data/{name}.bmp": picture(rng, suffix=".bmp") for name in SINGLE_FILES[1:]}
    write_zip(raw / f"{FOLDER}.zip", ((f"{FOLDER}/{place}", content) for place, content in files.items()))
