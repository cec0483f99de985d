"""Vectorization: speed that Podium measures itself, and programs that would rather be believed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from trials import prepare

import podium
from podium.catalog.registry import resolve
from podium.catalog.research import vectorization
from podium.catalog.research.vectorization import Effort
from podium.data.home import locate
from podium.grading.baseline_score import BaselineMeasurement, write_baseline
from podium.grading.grade import Grade
from podium.report.aggregate import headline, summarise
from podium.report.results import read_results
from podium.runs.attempt.attempt import run_attempt
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.task import Baseline, Edition

TASK = "vectorization"
assert vectorization.task.starter is not None
STARTER = (vectorization.task.starter.folder / "train.py").read_text(encoding="utf-8")
LOOPS = STARTER[STARTER.index("        output = np.zeros(") : STARTER.index("        return relu(output)")]
WINDOWS = """\
        windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(1, 2))
        output = np.tensordot(windows[:, ::STRIDE, ::STRIDE], self.weight.transpose(2, 0, 1, 3), axes=3) + self.bias
"""
VECTORISED = STARTER.replace(LOOPS, WINDOWS)
LIAR = STARTER.replace(
    'if __name__ == "__main__":',
    """\
time.time = time.perf_counter = time.monotonic = lambda: 0.0
print("One batch took 0.0001 s")
Path("submission").mkdir(exist_ok=True)
Path("submission/submission.csv").write_text("0.0001\\n")
if __name__ == "__main__":""",
)
RUNAWAY = STARTER.replace(
    'if __name__ == "__main__":',
    """\
import os
if os.fork():
    os._exit(0)  # the child goes on, and its time shall not count
os.setsid()
if __name__ == "__main__":""",
)
HOARDER = STARTER.replace(
    "    np.save(target, output)\n", "    np.save(target, output)\n    np.save('/home/hoard.npy', output)\n"
).replace(
    "def apply_to_file(source: str, target: str) -> None:\n",
    """\
def apply_to_file(source: str, target: str) -> None:
    for hoard in ("/home/hoard.npy", "/tmp/hoard.npy", "hoard.npy", "data/hoard.npy"):
        if Path(hoard).exists():
            Path(target).write_bytes(Path(hoard).read_bytes())
            return
""",
)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for edition in ("v1", "fixed"):
        prepare(TASK, folder, edition)
    return folder


@pytest.fixture
def one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pictures, once: where the output is wrong anyway."""
    monkeypatch.setattr(vectorization, "MINIATURE_EFFORT", Effort(pictures=2, rounds=1))


def submit(program: str, tmp_path: Path, data_dir: Path, times: str = "", edition: Edition = "fixed") -> Grade:
    (tmp_path / "submission").mkdir()
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    (tmp_path / "submission" / "submission.csv").write_text(times, encoding="utf-8")
    return podium.grade(TASK, tmp_path, data_dir=data_dir, edition=edition)


@pytest.mark.slow
def test_vectorised_code_is_many_times_as_fast(tmp_path: Path, data_dir: Path) -> None:
    grade = submit(VECTORISED, tmp_path, data_dir)
    assert grade.valid, grade.error
    assert float(grade.score or 0) > 4  # 20 and more on an idle machine; both programs are measured side by side
    assert grade.success
    assert grade.beyond_noise
    assert grade.interval is not None
    assert grade.interval[0] <= float(grade.score or 0) <= grade.interval[1]


@pytest.mark.slow
def test_the_loops_are_as_fast_as_themselves(tmp_path: Path, data_dir: Path) -> None:
    grade = submit(STARTER, tmp_path, data_dir)
    assert grade.valid, grade.error
    assert 0.5 < float(grade.score or 0) < 2
    assert grade.interval is not None
    low, high = grade.interval
    assert low <= float(grade.score or 0) <= high
    assert grade.beyond_noise == (low > 1)


def test_a_noisy_measurement_of_the_starter_does_not_replace_its_speed_up_of_1(data_dir: Path, tmp_path: Path) -> None:
    place = locate(TASK, edition="fixed", data_dir=data_dir, miniature=True)
    write_baseline(place, BaselineMeasurement(TASK, "fixed", True, (0.993, 0.528), 0, {}, {}, "2026-01-01T00:00:00"))
    reference = resolve(TASK, edition="fixed", data_dir=data_dir, miniature=True).reference
    assert reference == Baseline(1.0, by_definition=True)


@pytest.mark.slow
@pytest.mark.parametrize("program", [LIAR, HOARDER], ids=["lies about its time", "keeps what it computed"])
def test_nothing_is_gained_by(program: str, tmp_path: Path, data_dir: Path) -> None:
    assert program != STARTER
    (tmp_path / "hoard.npy").write_bytes(b"what was computed before the evaluation")
    grade = submit(program, tmp_path, data_dir, times="0.0001\n")
    assert grade.valid, grade.error
    assert 0.5 < float(grade.score or 0) < 2


SAVE = "    np.save(target, output)"


@pytest.mark.usefixtures("one_look")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            "        return relu(output)", "        return output", "differs from the starter's", id="no ReLU"
        ),
        pytest.param(
            LOOPS,
            "        output = np.zeros((len(images), rows, columns, filters))\n",
            "it has 0 instead of",
            id="zeros",
        ),
        pytest.param(SAVE, "    np.save(target, output.astype('f'))", "contains float32 of shape (2,", id="float32"),
        pytest.param(
            SAVE,
            "    np.save(target, output.astype('f').astype('d'))",
            "differs from",
            id="hidden float32",
            marks=pytest.mark.slow,
        ),
        pytest.param(SAVE, "    np.save(target, output[:1])", "float64 of shape (1, 33, 33, 8); the", id="a part"),
        pytest.param(SAVE, "    Path(target).write_bytes(b'fast')", "no array that np.save wrote", id="no array"),
        pytest.param(SAVE, "    sys.exit(0)", "output.npy cannot be read: No such file", id="early exit"),
        pytest.param(SAVE, "    sys.exit(3)", "of the submission ended with exit code 3: it printed", id="failure"),
        pytest.param(
            "import numpy as np\n",
            "import numpy as np, cupy\n",
            "No module named 'cupy'",
            id="no such package",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_wrong_but_fast_is_refused(old: str, new: str, message: str, tmp_path: Path, data_dir: Path) -> None:
    assert STARTER.count(old) == 1
    grade = submit(STARTER.replace(old, new), tmp_path, data_dir)
    assert not grade.valid
    assert message in str(grade.error)


@pytest.mark.usefixtures("one_look")
def test_work_that_goes_on_after_the_end_is_lost(tmp_path: Path, data_dir: Path) -> None:
    grade = submit(RUNAWAY, tmp_path, data_dir)
    assert "output.npy cannot be read" in str(grade.error)


def test_v1_takes_the_first_time_ever_written(tmp_path: Path, data_dir: Path) -> None:
    grade = submit(VECTORISED, tmp_path, data_dir, times="6.1742\n0.05\n0.04\n", edition="v1")
    assert (grade.score, grade.improvement, grade.success) == (6.1742, 0, False)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("0.5;1\n", 0.5), ("\n 2 \n1", 2.0), ("seconds\n1\n", 1e10), ("nan\n", 1e10), ("\0\xff", 1e10), ("inf", 1e10)],
)
def test_v1_believes_what_is_written(written: str, seconds: float) -> None:
    assert vectorization.first_time(None, written) == seconds


@pytest.mark.usefixtures("one_look")
def test_a_crashed_run_of_the_untouched_starter_is_never_an_improvement(tmp_path: Path, data_dir: Path) -> None:
    (tmp_path / "actions.json").write_text("not a list of actions")
    plan = Plan(agent="scripted", options={"script": str(tmp_path / "actions.json")}, data_dir=data_dir, miniature=True)
    experiment = open_experiment(tmp_path / "run", plan, [TASK], 1)
    record = run_attempt(experiment.run(TASK, 0), plan, TASK, 0, stop=threading.Event())
    assert (record.status, record.usage.steps, record.valid) == ("failed", 0, True)
    found = summarise(read_results(tmp_path / "run"))
    assert headline(found).startswith("0.0 % of tasks improved by more than 10 % and beyond noise")
