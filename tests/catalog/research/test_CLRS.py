"""CLRS: the processor that an agent edits counts, learning is what it takes, and no pickle is opened."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from table_trials import run_starter
from trials import needs_torch, play, prepare

import podium
from podium.catalog.research import CLRS
from podium.data.home import DataFolder
from podium.errors import RawDataError
from podium.grading.grade import Grade
from podium.runs.steps import Steps
from podium.task import Edition, Starter

STARTER = {path.name: path.read_text(encoding="utf-8") for path in CLRS.STARTER.folder.glob("*.py")}
SUBMITTED = ("processors.py", "checkpoints")


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare("CLRS", data_dir, "v1")
    return prepare("CLRS", data_dir)


def grade(folder: Path, data_dir: Path, edition: Edition = "fixed") -> Grade:
    return podium.grade("CLRS", folder, data_dir=data_dir, edition=edition)


def test_the_agent_gets_settings_and_no_graphs(place: DataFolder) -> None:
    assert sorted(path.name for path in place.public.iterdir()) == ["description.md", "settings.json"]
    settings = json.loads((place.public / "settings.json").read_text())
    assert max(settings["sizes"]) < settings["test_size"]


def test_pointers_lead_along_shortest_paths(place: DataFolder) -> None:
    graphs, pointers = np.load(place.private / "graphs.npz"), np.load(place.private / "pointers.npy")
    size = pointers.shape[1]
    direct = np.where(graphs["edge"], graphs["weight"], np.inf)
    shortest = direct.copy()
    for _ in range(size):
        shortest = np.minimum(shortest, (shortest[:, :, :, None] + direct[:, None]).min(axis=2))
    for number, start in np.ndindex(len(pointers), size):
        for end in range(size):
            length, node = 0.0, end
            for _ in range(size):
                before = pointers[number, start, node]
                length, node = length + float(direct[number, before, node]), int(before)
            if np.isfinite(shortest[number, start, end]):
                assert node == start
                assert length == pytest.approx(shortest[number, start, end], abs=1e-5)
            else:
                assert pointers[number, start, end] == end


def test_the_real_settings_need_no_network(tmp_path: Path) -> None:
    CLRS.fetch(tmp_path)
    assert json.loads((tmp_path / "settings.json").read_text())["test_size"] == 64


def test_missing_raw_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(RawDataError, match=r"lacks settings\.json"):
        CLRS.prepare(tmp_path, tmp_path, tmp_path)


def test_missing_files_are_named(place: DataFolder, data_dir: Path, tmp_path: Path) -> None:
    assert "processors.py is missing" in str(grade(tmp_path, data_dir).error)
    (tmp_path / "processors.py").write_text(STARTER["processors.py"])
    assert "folder checkpoints/ is missing" in str(grade(tmp_path, data_dir).error)


def test_a_huge_file_is_not_read(place: DataFolder, data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "processors.py").write_text(STARTER["processors.py"])
    (tmp_path / "checkpoints").mkdir()
    with (tmp_path / "checkpoints" / "best.safetensors").open("wb") as file:
        file.truncate(1 << 40)
    assert "has 1,099,511,627,776 bytes; at most" in str(grade(tmp_path, data_dir).error)


@pytest.fixture(scope="module")
def starter(place: DataFolder, data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """The files that the untouched starter leaves in the sandbox, and their score."""
    row = play("CLRS", tmp_path_factory.mktemp("run"), data_dir)
    assert "best validation accuracy" in Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
    return row.folder.workspace, float(row.record.score or 0)


@pytest.fixture
def submission(starter: tuple[Path, float], tmp_path: Path) -> Path:
    """A copy of the starter's files to tamper with."""
    for name in SUBMITTED:
        source = starter[0] / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, tmp_path / name)
    return tmp_path


@pytest.mark.research
@needs_torch
def test_the_starter_learns_in_the_sandbox(starter: tuple[Path, float]) -> None:
    assert 0.4 < starter[1] < 0.85


@pytest.mark.research
@needs_torch
def test_a_better_processor_counts_in_fixed_and_cannot_even_be_loaded_in_v1(
    starter: tuple[Path, float], place: DataFolder, data_dir: Path, tmp_path: Path
) -> None:
    folder, better = tmp_path / "edited", tmp_path / "better"
    shutil.copytree(CLRS.STARTER.folder, folder)
    better.mkdir()
    (folder / "processors.py").write_text(STARTER["processors.py"].replace("triplet=8", "triplet=16"))
    longer = {'SETTINGS["steps"]': '2 * SETTINGS["steps"]', "EVERY, SEED = 1e-3": "EVERY, SEED = 3e-3"}
    ran = run_starter(place, Starter(folder, "train.py"), better, longer)
    assert ran.returncode == 0, ran.stderr
    assert float(grade(better, data_dir).score or 0) > starter[1] + 0.03
    # The original has processors of its own: those that were trained do not fit.
    assert "size mismatch for processor" in str(grade(better, data_dir, "v1").error)


@pytest.mark.research
@needs_torch
def test_v1_does_not_see_what_was_edited(starter: tuple[Path, float], submission: Path, data_dir: Path) -> None:
    before = grade(submission, data_dir, "v1").score
    mute = STARTER["processors.py"].replace(", pairs\n", ", 0 * pairs\n")
    assert mute != STARTER["processors.py"]
    (submission / "processors.py").write_text(mute)
    assert grade(submission, data_dir, "v1").score == before == pytest.approx(starter[1])
    assert float(grade(submission, data_dir).score or 0) < starter[1] - 0.1


AT_THE_END = """
import atexit
import numpy as np
atexit.register(lambda: np.save("pointers.npy", {}))
"""


@pytest.mark.research
@needs_torch
def test_an_algorithm_in_place_of_a_network_is_refused(submission: Path, data_dir: Path) -> None:
    solve = AT_THE_END.format("floyd_warshall(np.load('graphs.npz'))[0].astype(np.int16)")
    (submission / "processors.py").write_text(STARTER["processors.py"] + STARTER["samplers.py"] + solve)
    assert "right in 100.0% of all pairs (with its own in 100.0%)" in str(grade(submission, data_dir).error)


class Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


@pytest.mark.research
@needs_torch
def test_a_pickle_is_not_opened(submission: Path, data_dir: Path, tmp_path: Path) -> None:
    trap = pickle.dumps(Trap(tmp_path / "trace"))
    (submission / "checkpoints" / "best.pkl").write_bytes(trap)
    (submission / "checkpoints" / "best.safetensors").write_bytes(trap)
    assert "The checkpoint cannot be used" in str(grade(submission, data_dir).error)
    assert not (tmp_path / "trace").exists()


@pytest.mark.research
@needs_torch
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("checkpoints/settings.json", '{"hidden": "wide"}', "invalid literal for int"),
        ("checkpoints/settings.json", '{"hidden": 16}', "size mismatch"),
        ("processors.py", "x = 1\n", "cannot import name 'make_processor'"),
        (
            "processors.py",
            STARTER["processors.py"] + AT_THE_END.format("np.zeros((2, 2), np.int16)"),
            "it left int16 of shape (2, 2)",
        ),
    ],
    ids=["settings of another kind", "other sizes", "no processor", "pointers of another shape"],
)
def test_what_cannot_be_used_is_explained(
    submission: Path, data_dir: Path, name: str, content: str, message: str
) -> None:
    (submission / name).write_text(content)
    assert message in str(grade(submission, data_dir).error)
