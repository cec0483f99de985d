"""ogbn-arxiv, MLAgentBench's way: which subject does a paper belong to, given what it cites?"""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_files, read_array, write_answers, write_array
from podium.data.fetch.http_download import fetched
from podium.errors import RawDataError
from podium.metrics import accuracy
from podium.task import Baseline, Columns, Integer, Starter, research_task

# What the library `ogb` downloads and reads, but resumed, checked and without the library.
ARCHIVE = "arxiv.zip"
SITE = "https://snap.stanford.edu/ogb/data/nodeproppred"
CHECKSUM = "sha256:49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276"
TABLES = {
    "node_feat": ("raw/node-feat.csv.gz", np.float32),
    "edge_index": ("raw/edge.csv.gz", np.int64),
    "node_year": ("raw/node_year.csv.gz", np.int64),
    "labels": ("raw/node-label.csv.gz", np.int64),
    "train": ("split/time/train.csv.gz", np.int64),
    "valid": ("split/time/valid.csv.gz", np.int64),
    "test": ("split/time/test.csv.gz", np.int64),
}
"""The tables of the archive by the names of the arrays they become."""
SHOWN = [f"{name}.npy" for name in TABLES if name != "labels"]
FORM = Columns(id="node", target="class", values=Integer(low=0))

task = research_task(
    "ogbn-arxiv",
    title="ogbn-arxiv (MLAgentBench)",
    kind="node classification",
    metric=accuracy,
    # The original reads one column, called 0, row by row.
    submission=Columns(id=(), target="0", values=Integer(low=0), aliases={"class": "0"}, answers_target="class"),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
)


@task.fetch
def fetch(raw: Path) -> None:
    with fetched(f"{SITE}/{ARCHIVE}", raw / ARCHIVE, checksum=CHECKSUM) as archive:
        unpack(archive, raw)


def unpack(archive: Path, raw: Path) -> None:
    """Write the tables of the published archive as arrays."""
    with zipfile.ZipFile(archive) as opened:
        for name, (member, dtype) in TABLES.items():
            try:
                with opened.open(f"arxiv/{member}") as file:
                    table = pd.read_csv(file, compression="gzip", header=None, dtype=dtype).to_numpy()
            except KeyError as error:
                raise RawDataError(f"The archive of ogbn-arxiv has no file {member}.") from error
            write_array(_shaped(name, table), raw / f"{name}.npy")


def _shaped(name: str, table: np.ndarray) -> np.ndarray:
    """Return features unchanged, edges with a row per endpoint, and everything else one-dimensional."""
    shapes = {"node_feat": table, "edge_index": table.T}
    return np.ascontiguousarray(shapes.get(name, table[:, 0]))


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    labels, test = np.array(read_array(raw / "labels.npy")), read_array(raw / "test.npy")
    known = np.bincount(labels[read_array(raw / "train.npy")])
    answers = pd.DataFrame({"node": test, "class": labels[test]})
    write_answers(FORM, answers, public, private, guess=int(known.argmax()))
    labels[test] = -1
    write_array(labels, public / "labels.npy")
    link_files(raw, public, SHOWN)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate papers with uninformative features that mostly cite earlier papers of the same subject."""
    count, classes = 3000, 40
    popularity = rng.dirichlet(np.full(classes, 1.5))
    labels = rng.choice(classes, count, p=popularity)
    years = np.sort(rng.choice(np.arange(2008, 2021), count, p=np.linspace(1, 5, 13) / 39))
    arrays: dict[str, np.ndarray] = {"labels": labels, "node_year": years, "edge_index": _citations(labels, rng)}
    arrays["node_feat"] = rng.normal(0, 0.035, (classes, 128))[labels] + rng.normal(0, 0.12, (count, 128))
    for name, chosen in (("train", years <= 2017), ("valid", years == 2018), ("test", years >= 2019)):
        arrays[name] = np.flatnonzero(chosen)
    # Papers are numbered at random, not by age.
    number = rng.permutation(count)
    back = np.argsort(number)
    for name in ("node_feat", "node_year", "labels"):
        arrays[name] = arrays[name][back]
    for name in ("edge_index", "train", "valid", "test"):
        arrays[name] = number[arrays[name]]
    for name, array in arrays.items():
        write_array(array.astype(TABLES[name][1]), raw / f"{name}.npy")


def _citations(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return citations of older papers, 70 % of them of the same subject."""
    edges = []
    for paper in range(10, len(labels)):
        same = np.flatnonzero(labels[:paper] == labels[paper])
        for _ in range(rng.integers(1, 8)):
            pool = same if len(same) and rng.random() < 0.7 else np.arange(paper)
            edges.append((paper, int(rng.choice(pool))))
    return np.array(sorted(set(edges))).T


task.fixed(
    "Rows are joined by the number of the node; the original compares them by position, so that a table in another "
    "order is marked wrong.",
    submission=FORM,
)
# What the original takes for the score of its starter.
task.editions["v1"].reference = Baseline(0.3134)
