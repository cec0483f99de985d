"""CLRS: teach a graph network to run the Floyd-Warshall algorithm, and to go on doing so on larger graphs."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from podium.data.formats.numpy_files import parse_array, read_array, write_array
from podium.errors import InvalidSubmission
from podium.metrics import accuracy
from podium.safefs.atomic_files import missing_raw_file, write_atomically
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
    """Download nothing: graphs are sampled."""
    write_atomically(raw / "settings.json", json.dumps(REAL))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    (raw / "settings.json").write_text(json.dumps(SMALL), encoding="utf-8")


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Write the settings for the agent, and graphs with true pointers for the evaluation."""
    try:
        settings = json.loads((raw / "settings.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise missing_raw_file(raw / "settings.json") from error
    (public / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    # The starter's own sampler: test graphs are of the same kind as training graphs.
    samplers = runpy.run_path(str(STARTER.folder / "samplers.py"))
    graphs = samplers["sample_graphs"](np.random.default_rng(SEED), settings["test_graphs"], settings["test_size"])
    pointer, steps = samplers["floyd_warshall"](graphs)
    np.savez(private / "graphs.npz", **graphs)
    write_array(pointer.astype(np.int16), private / "pointers.npy")
    write_array(steps["pointer"][0].astype(np.int16), private / "before.npy")


def _pointers(evaluation: Evaluation, processors: Path, weights: bytes | None = None) -> NDArray[np.generic]:
    """Return a network's pointers for the test graphs, with the submitted or with replaced weights."""
    files: dict[str, Path | bytes] = {
        "predict.py": HERE / "evaluation" / "clrs.py",
        "model.py": STARTER.folder / "model.py",
        "processors.py": processors,
        "checkpoints": evaluation.submission / "checkpoints",
        "graphs.npz": evaluation.private / "graphs.npz",
    }
    if weights is not None:
        files["checkpoints/best.safetensors"] = weights
    ran = evaluation.execute(["python", "predict.py"], files=files, time_s=TIME_S)
    if ran.stopped or ran.exit_code:
        raise InvalidSubmission(f"The checkpoint cannot be used: {ran.stopped or ran.output[-400:]}")
    found = parse_array(ran.read("pointers.npy", 64 << 20))
    shape = read_array(evaluation.private / "pointers.npy").shape
    if found is None or found.shape != shape or not np.issubdtype(found.dtype, np.integer):
        what = "no array" if found is None else f"{found.dtype} of shape {found.shape}"
        raise InvalidSubmission(f"The network must write integers of shape {shape}; it wrote {what}.")
    return found


def _accuracy(evaluation: Evaluation, found: NDArray[np.generic]) -> float:
    return accuracy(read_array(evaluation.private / "pointers.npy").ravel(), found.ravel())


@task.evaluate
def evaluate_as_the_original(evaluation: Evaluation) -> float:
    """Evaluate with the original's own processors: the file that agents edit is unused, as in the original."""
    return _accuracy(evaluation, _pointers(evaluation, STARTER.folder / "processors.py"))


def evaluate(evaluation: Evaluation) -> float:
    """Evaluate with the submitted processors; raise InvalidSubmission if their skill was not learned."""
    processors = evaluation.submission / "processors.py"
    score = _accuracy(evaluation, _pointers(evaluation, processors))
    without = _score_without_learning(evaluation, processors)
    if without > max(score / 2, _accuracy(evaluation, read_array(evaluation.private / "before.npy"))):
        raise InvalidSubmission(
            f"With shuffled weights the network is still right in {without:.1%} of all pairs (with its own weights in "
            f"{score:.1%}): processors.py computes the solution instead of learning it."
        )
    return score


def _score_without_learning(evaluation: Evaluation, processors: Path) -> float:
    """Return the accuracy with each weight tensor shuffled, which destroys everything learned."""
    files = {
        "shuffle.py": HERE / "evaluation" / "clrs_shuffle.py",
        "best.safetensors": evaluation.submission / "checkpoints" / "best.safetensors",
    }
    ran = evaluation.execute(["python", "shuffle.py"], files=files, time_s=TIME_S)
    try:
        return _accuracy(evaluation, _pointers(evaluation, processors, ran.read("shuffled.safetensors")))
    except InvalidSubmission:  # not even that: it leans on its weights
        return 0.0


task.fixed("The processors.py that an agent edits is the one that is trained and evaluated.", evaluate=evaluate)
