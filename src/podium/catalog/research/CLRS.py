"""CLRS: teach a graph network to run the Floyd-Warshall algorithm, and to go on doing so on larger graphs."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from podium.errors import InvalidSubmission
from podium.metrics import accuracy
from podium.task import Evaluation, Files, Starter, research_task

HERE = Path(__file__).parent
STARTER = Starter(HERE / "CLRS", "train.py", read_only=("model.py", "samplers.py"))
SEED = 64
REAL = {
    "sizes": [4, 7, 11, 13, 16],
    "validation_size": 16,
    "test_size": 64,
    "test_graphs": 32,
    "steps": 500,
    "batch": 32,
    "hidden": 128,
}
SMALL = {
    "sizes": [4, 7, 9],
    "validation_size": 9,
    "test_size": 12,
    "test_graphs": 16,
    "steps": 120,
    "batch": 8,
    "hidden": 32,
}
TIME_S = 1800.0

task = research_task(
    "CLRS",
    title="Neural Algorithmic Reasoning: Floyd-Warshall",
    kind="graph",
    metric=accuracy.using(title="Pointer accuracy"),
    submission=Files(names=("processors.py", "checkpoints/"), max_bytes=512 << 20, tolerance=1e-3),
    starter=STARTER,
)


@task.fetch
def fetch(raw: Path) -> None:
    """Nothing comes from the network: graphs are sampled."""
    (raw / "settings.json").write_text(json.dumps(REAL), encoding="utf-8")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    (raw / "settings.json").write_text(json.dumps(SMALL), encoding="utf-8")


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    """The settings for the agent; graphs, and pointers by the algorithm itself, for the evaluation."""
    settings = json.loads((raw / "settings.json").read_text(encoding="utf-8"))
    (public / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    samplers = _samplers()
    graphs = samplers.sample_graphs(np.random.default_rng(SEED), settings["test_graphs"], settings["test_size"])
    pointer, _ = samplers.floyd_warshall(graphs)
    np.savez(private / "graphs.npz", **graphs)
    np.savez(private / "pointers.npz", pointer=pointer.astype(np.int16))


def _samplers() -> ModuleType:
    """The starter's own sampler: the test graphs are of the same kind as those that are trained on."""
    spec = importlib.util.spec_from_file_location("clrs_samplers", STARTER.folder / "samplers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _evaluate(evaluation: Evaluation, processors: Path) -> float:
    files: dict[str, Path | bytes] = {
        "predict.py": HERE / "evaluation" / "clrs.py",
        "model.py": STARTER.folder / "model.py",
        "processors.py": processors,
        "checkpoints": evaluation.submission / "checkpoints",
        "graphs.npz": evaluation.private / "graphs.npz",
    }
    ran = evaluation.execute(["python", "predict.py"], files=files, time_s=TIME_S)
    if ran.exit_code:
        raise InvalidSubmission(f"The checkpoint cannot be used: {ran.stopped or ran.output[-400:]}")
    truth = np.load(evaluation.private / "pointers.npz")["pointer"]
    return accuracy(truth.ravel(), _pointers(ran.read("pointers.npz", 64 << 20), truth.shape).ravel())


def _pointers(content: bytes, shape: tuple[int, ...]) -> Any:
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)["pointer"]
    except (ValueError, KeyError, OSError) as error:
        raise InvalidSubmission(f"The network left no pointers: {error}") from error
    if found.shape != shape or not np.issubdtype(found.dtype, np.integer):
        raise InvalidSubmission(f"Pointers of shape {shape} are expected, not {found.shape} of {found.dtype}.")
    return found


@task.evaluate
def evaluate_as_the_original(evaluation: Evaluation) -> float:
    """With processors of its own, as the original trains and evaluates: the file that agents edit there is dead."""
    return _evaluate(evaluation, STARTER.folder / "processors.py")


def evaluate(evaluation: Evaluation) -> float:
    return _evaluate(evaluation, evaluation.submission / "processors.py")


task.fixed("The processors.py that an agent edits is the one that is trained and evaluated.", evaluate=evaluate)
