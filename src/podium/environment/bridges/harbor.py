"""Tasks of Podium as folders for Harbor: `podium export TASK --format harbor`.

The agent works in a container with the public data. What it submits is handed to a second container, built from
`tests/`, that the agent never saw: there are the answers and the part of Podium that grades. Nothing else of the first
container reaches it, so reward files that an agent leaves have no effect.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from importlib.metadata import version
from pathlib import Path

from podium.catalog import load, resolve
from podium.data.prepare import prepare_task
from podium.data.trees import remove_tree
from podium.errors import UsageError
from podium.grading.prepared import PreparedTask
from podium.sandbox.backend import Capabilities
from podium.sandbox.spec import HOME, SandboxSpec
from podium.task import Task
from podium.workspace import layout

SCHEMA = "1.4"
NEEDED = ("numpy", "pandas", "scikit-learn", "scipy", "threadpoolctl", "rapidfuzz", "pillow", "platformdirs", "click")
GRADING = ("__init__", "errors", "text", "plugins", "task", "metrics", "data", "grading", "catalog", "api")
"""The layers that grade; they need none of the others."""
CONTAINER = Capabilities(sealed=True, network="own", ports=False, limits={}, core_binding=False, gpus=False, home=HOME)
_TOML = """schema_version = "{schema}"
artifacts = ["{home}/submission"]

[task]
name = "podium/{id}"
description = {title}

[metadata]
category = "machine learning"
kind = {kind}
metric = {metric}
podium = "{version}"
edition = "{edition}"
miniature = {miniature}

[agent]
timeout_sec = {time_s}

[environment]
cpus = 1
memory_mb = 8192
network_mode = "no-network"

[verifier]
timeout_sec = 3600.0
environment_mode = "separate"

[verifier.environment]
cpus = 1
memory_mb = 8192
network_mode = "no-network"
"""
_AGENT_IMAGE = """FROM python:3.11-slim
RUN pip install --no-cache-dir {packages}
COPY data {home}/data
RUN chmod -R a-w {home}/data && mkdir -p {home}/submission {home}/code {home}/logs {home}/agent
WORKDIR {home}
"""
_VERIFIER_IMAGE = """FROM python:3.11-slim
RUN pip install --no-cache-dir {packages}
COPY . /tests
ADD podium.tar.gz /opt
ENV PYTHONPATH=/opt
"""
_TEST = """#!/bin/sh
# Grades what the agent submitted; the reward is the percentile in the field or the improvement, between 0 and 1.
rm -rf /logs/verifier/reward.json /logs/verifier/reward.txt
exec python3 /tests/grade.py {home}/submission/submission.csv /logs/verifier/reward.json
"""
_GRADE = '''"""grade.py SUBMISSION REWARD: writes the grade of a submission as Harbor's rewards."""
import json, os, sys
from pathlib import Path

here = Path(__file__).resolve().parent
import podium

task, edition = {id!r}, {edition!r}
grade = podium.grade(task, sys.argv[1], data_dir=here / "data", edition=edition)
value = grade.percentile if grade.percentile is not None else grade.improvement
rewards = {{
    "reward": (value or 0.0) / 100 if grade.valid else 0.0,
    "valid": float(grade.valid),
    "submitted": float(os.path.lexists(sys.argv[1])),
    "above_median": float(bool(grade.above_median)),
    **{{name + "_medal": float(grade.medal == name) for name in ("gold", "silver", "bronze")}},
}}
if grade.score is not None and abs(grade.score) != float("inf"):
    rewards["score"] = grade.score
target = Path(sys.argv[2])
target.parent.mkdir(parents=True, exist_ok=True)
for old in target.parent.glob("reward.*"):
    old.unlink()
target.write_text(json.dumps(rewards))
print(grade.error or f"score {{grade.score}}")
'''


def export_task(task_id: str, out: Path, *, data_dir: Path | None = None, miniature: bool = False) -> Path:
    """Writes a task's folder below `out`; data that costs nothing to make is made.

    Raises:
        UsageError: the folder is there, or the task's submission is programs, which Harbor's verifier would have to run
            beside the answers.
    """
    task = load(task_id)
    if not task.is_table:
        raise UsageError(
            f"{task.id} cannot be exported: what is submitted are programs, and a verifier's container would run them "
            "beside the answers."
        )
    folder = out / task.id
    if folder.exists():
        raise UsageError(f"{folder} is there already. Give another --out, or remove it.")
    if miniature or task.generated:
        prepare_task(task, data_dir=data_dir, miniature=miniature)
    prepared = resolve(task, data_dir=data_dir, miniature=None if task.generated else miniature)
    try:
        _write(prepared, folder)
    except BaseException:
        remove_tree(folder)
        raise
    return folder


def _write(prepared: PreparedTask, folder: Path) -> None:
    task, place = prepared.task, prepared.place
    packages = " ".join(f"{name}=={version(name)}" for name in NEEDED)
    facts = {"home": HOME, "id": task.id, "edition": prepared.edition, "packages": packages}
    _put(folder / "task.toml", _toml(prepared))
    _put(folder / "instruction.md", _instruction(prepared))
    _put(folder / "environment" / "Dockerfile", _AGENT_IMAGE.format(**facts))
    shutil.copytree(place.public, folder / "environment" / "data")
    tests = folder / "tests"
    _put(tests / "Dockerfile", _VERIFIER_IMAGE.format(**facts))
    _put(tests / "test.sh", _TEST.format(**facts), executable=True)
    _put(tests / "grade.py", _GRADE.format(**facts))
    data = tests / "data" / place.root.name
    shutil.copytree(place.public, data / "public")
    shutil.copytree(place.private, data / "private")
    for file in (place.manifest, place.baseline):
        if file.exists():
            shutil.copyfile(file, data / file.name)
    (tests / "podium.tar.gz").write_bytes(_package())
    solution = f"#!/bin/sh\ncp {HOME}/data/{_sample(task)} {HOME}/submission/submission.csv\n"
    _put(folder / "solution" / "solve.sh", solution, executable=True)


def _toml(prepared: PreparedTask) -> str:
    task = prepared.task
    return _TOML.format(
        schema=SCHEMA,
        home=HOME,
        id=task.id.lower(),
        title=json.dumps(task.title),
        kind=json.dumps(task.kind),
        metric=json.dumps(task.metric.title),
        version=version("podium"),
        edition=prepared.edition,
        miniature=str(prepared.miniature).lower(),
        time_s=600.0 if prepared.miniature else task.time_s,
    )


def _instruction(prepared: PreparedTask) -> str:
    resources = layout.Resources(cores=1, gpus=0, time_s=None, steps=None)
    text = layout.instructions(resources, prepared.task, CONTAINER, SandboxSpec())
    brief = (prepared.place.public / "description.md").read_text(encoding="utf-8")
    return f"{text}\n{brief}"


def _sample(task: Task) -> str:
    return getattr(task.submission, "sample", "sample_submission.csv")


def _package() -> bytes:
    """The part of Podium that grades, packed; the same files give the same bytes."""
    source = Path(__file__).parents[2]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as archive:
        for path in sorted(source.rglob("*")):
            layer = path.relative_to(source).parts[0].removesuffix(".py")
            if path.is_file() and layer in GRADING and "__pycache__" not in path.parts:
                archive.add(path, Path("podium", path.relative_to(source)).as_posix())
    return packed.getvalue()


def _put(path: Path, text: str, *, executable: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if executable:
        path.chmod(0o755)
