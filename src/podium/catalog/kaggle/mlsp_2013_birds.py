"""MLSP 2013 Birds: which species sing in a recording from the forest?"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, picture, read_csv, sample_of, sound, write_bytes, write_csv
from podium.data.formats.archives import unpacked, write_zip
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

SPECIES = 19
FOLDER = "mlsp_contest_dataset"
FOLDS, LABELS = "essential_data/CVfolds_2.txt", "essential_data/rec_labels_test_hidden.txt"
NAMES = "essential_data/rec_id2filename.txt"
SEGMENTS = [f"supplemental_data/{name}.txt" for name in ("histogram_of_segments", "segment_features")]
SEGMENTS += ["supplemental_data/segment_rectangles.txt"]
HEADERS = {FOLDS: "rec_id,fold", NAMES: "rec_id,filename", LABELS: "rec_id,[labels]"}
# As in MLE-bench: all three have the header of the first.
HEADERS |= dict.fromkeys(SEGMENTS, "rec_id,[histogram of segment features]")
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
        lines = {place: _lines(source / place, kept) for place in HEADERS}
        heard = [(number, species.split(",")) for number, species in lines[LABELS] if number in test]
        lines[LABELS] = [(number, "?" if number in test else species) for number, species in lines[LABELS]]
        lines[FOLDS] = [(number, "01"[number in test]) for number in kept.index]
        for place, some in lines.items():
            write_bytes(public / place, _text(place, some))
        wanted = {*(name for _, name in lines[NAMES]), *SINGLE_FILES}
        for path in source.rglob("*.*"):
            if path.stem in wanted:
                link_file(path, public / path.relative_to(source))
    cells = [(100 * number + kind, int(str(kind) in some)) for number, some in heard for kind in range(SPECIES)]
    answers = pd.DataFrame(cells, columns=["Id", "Probability"])
    write_csv(answers, private / "answers.csv")
    write_csv(sample_of(answers.sort_values("Id"), "Id", Probability=0), public / "sample_submission.csv")


def _lines(path: Path, kept: pd.Series) -> list[tuple[int, str]]:
    """Return the lines of the recordings that are kept: their new number, and the rest of the line."""
    number = {old: new for new, old in enumerate(kept)}
    lines = (line.partition(",") for line in path.read_text(encoding="utf-8").splitlines()[1:] if line)
    return [(number[int(old)], rest) for old, _, rest in lines if int(old) in number]


def _text(place: str, lines: Iterable[tuple[int, str]]) -> bytes:
    rows = [f"{number},{rest}" if rest else f"{number}" for number, rest in lines]
    return "\n".join([HEADERS[place], *rows, ""]).encode()


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    heard = [np.sort(rng.choice(SPECIES, rng.integers(0, 4), replace=False)) for _ in range(110)]
    folds = (rng.random(110) < 0.1).astype(int)
    names = [f"PC{rng.integers(1, 19)}_200906{number % 30:02d}_050000_{number:04d}" for number in range(110)]
    labels = ["?" if fold else ",".join(map(str, some)) for fold, some in zip(folds, heard, strict=True)]
    lines = {FOLDS: list(map(str, folds)), NAMES: names, LABELS: labels}
    for place in SEGMENTS:
        values = [np.isin(range(SPECIES), some) + rng.random(SPECIES).round(3) for some in heard]
        lines[place] = [",".join(map(str, some)) for some in values]
    files = {place: _text(place, enumerate(some)) for place, some in lines.items()}
    species = "".join(f"{number},SP{number:02d},Bird {number}\n" for number in range(SPECIES))
    files["essential_data/species_list.txt"] = f"class_id,code,species\n{species}".encode()
    for name, some in zip(names, heard, strict=True):
        files[f"essential_data/src_wavs/{name}.wav"] = sound(rng, pitch=some.sum())
        for folder in ("filtered_spectrograms", "spectrograms", "supervised_segmentation"):
            files[f"supplemental_data/{folder}/{name}.bmp"] = picture(rng, tint=some.sum(), suffix=".bmp")
    files |= {f"supplemental_data/{name}.bmp": picture(rng, suffix=".bmp") for name in SINGLE_FILES[1:]}
    write_zip(raw / f"{FOLDER}.zip", ((f"{FOLDER}/{place}", content) for place, content in files.items()))
