"""Harbor export: writes tasks as folders for Harbor (`podium export TASK --format harbor`).

The agent works in a container with the public data. Its submission is passed to a second container, built from
`tests/`, which contains the answers and Podium's grading code and is never visible to the agent. Nothing else of the
first container reaches it, so reward files left by an agent have no effect. Submitted programs run there as users who
cannot read the answers (`harbor_grade.py`).
"""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import tarfile
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath

from podium.agents.baseline import UNPACK
from podium.catalog.external_tasks import task_file
from podium.catalog.registry import load, resolve
from podium.data.home import home
from podium.data.prepare import prepare_task
from podium.errors import UsageError
from podium.grading.prepared_task import PreparedTask
from podium.safefs.remove_tree import remove_tree
from podium.sandbox.backend import Capabilities
from podium.sandbox.spec import HOME, SandboxSpec
from podium.task import SUBMISSION, Task
from podium.workspace.instructions import Resources, write_instructions

SCHEMA = "1.4"
MAX_TIME_S = 24 * 3600.0
NEEDED = ("numpy", "pandas", "scikit-learn", "scipy", "threadpoolctl", "rapidfuzz", "pillow", "platformdirs", "click")
OF_RESEARCH = ("torch", "safetensors", "transformers", "huggingface_hub")
GRADING = (
    "__init__",
    "errors",
    "text",
    "plugins",
    "task",
    "safefs",
    "tables",
    "metrics",
    "data",
    "grading",
    "catalog",
    "api",
)
"""Packages needed for grading; they import none of the others."""
CONTAINER = Capabilities(sealed=True, network="own", ports=False, limits={}, core_binding=False, gpus=False, home=HOME)
_TOML = """schema_version = "{schema}"
artifacts = {artifacts}

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
{starter}COPY data {home}/data
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
# Grades the agent's submission; the reward is the percentile in the field, or the improvement over the baseline.
exec python3 /tests/grade.py {id} {edition} {home} /logs/verifier/reward.json
"""


def export_task(task_id: str, out: Path, *, data_dir: Path | None = None, miniature: bool = False) -> Path:
    """Write a task's folder below `out`; missing data of forged tasks and miniatures is generated.

    Raises:
        UsageError: the folder already exists.
    """
    task = load(task_id)
    folder = out / task.id
    if folder.exists():
        raise UsageError(f"{folder} already exists. Choose another --out, or remove it.")
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
    starter = f"COPY starter {HOME}\n" if task.starter else ""
    facts = {"home": HOME, "id": task.id, "edition": prepared.edition}
    facts |= {"packages": " ".join(_packages(task, place.public)), "starter": starter}
    _put(folder / "task.toml", _toml(prepared))
    _put(folder / "instruction.md", _instruction(prepared))
    _put(folder / "environment" / "Dockerfile", _AGENT_IMAGE.format(**facts))
    if task.starter is not None:
        shutil.copytree(task.starter.folder, folder / "environment" / "starter")
    shutil.copytree(place.public, folder / "environment" / "data")
    tests = folder / "tests"
    _put(tests / "Dockerfile", _VERIFIER_IMAGE.format(**facts))
    _put(tests / "test.sh", _TEST.format(**facts), executable=True)
    shutil.copyfile(Path(__file__).with_name("harbor_grade.py"), tests / "grade.py")
    data = tests / "data" / place.root.name
    shutil.copytree(place.public, data / "public")
    shutil.copytree(place.private, data / "private")
    for file in (place.manifest, place.baseline):
        if file.exists():
            shutil.copyfile(file, data / file.name)
    _copy_outside(task, tests)
    (tests / "podium.tar.gz").write_bytes(_package())
    _put(folder / "solution" / "solve.sh", _solution(task), executable=True)


def _packages(task: Task, public: Path) -> list[str]:
    """Return the packages that the containers need for grading, for starter code and for opening the data."""
    scripts = task.starter.folder.rglob("*.py") if task.starter else ()
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in scripts)
    imported = set(re.findall(r"(?m)^\s*(?:import|from) (\w+)", text))
    further = [name for name in OF_RESEARCH if name in imported]
    further += ["py7zr"] if any(public.rglob("*.7z")) else []
    further += ["pyarrow"] if any(public.rglob("*.parquet")) else []
    return [_pinned(name) for name in (*NEEDED, *further)]


def _pinned(name: str) -> str:
    try:
        return f"{name}=={version(name)}"
    except PackageNotFoundError:
        return name


def _copy_outside(task: Task, tests: Path) -> None:
    """Copy the parts of a task outside Podium's source: its file, its folder and the leaderboard."""
    file = task_file(task.id)
    if file is not None:
        shutil.copytree(file.parent, tests / "tasks" / task.id if file.name == "task.py" else tests / "tasks")
    for name in (f"folders/{task.id}", f"imported/{task.id}"):
        if (home() / name).is_dir():
            shutil.copytree(home() / name, tests / "home" / name)


def _solution(task: Task) -> str:
    """Return a script with Podium's baseline: the unchanged starter code, and the sample if it leaves no table."""
    lines = ["#!/bin/sh", f"cd {HOME}"]
    if task.starter is not None:
        lines.append(f"python3 {task.starter.script}")
    sample = f"data/{task.form.sample}" if task.is_table else ""
    if sample.endswith(".csv"):
        lines.append(f"test -s {SUBMISSION} || cp {sample} {SUBMISSION}")
    elif sample:
        lines.append(f"python3 - <<'END'\n{UNPACK.format(sample=sample, submission=SUBMISSION)}END")
    return "\n".join(lines) + "\n"


def _toml(prepared: PreparedTask) -> str:
    task = prepared.task
    return _TOML.format(
        schema=SCHEMA,
        artifacts=_artifacts(task),
        id=task.id,
        title=json.dumps(task.title),
        kind=json.dumps(task.kind),
        metric=json.dumps(task.metric.title),
        version=version("podium"),
        edition=prepared.edition,
        miniature=str(prepared.miniature).lower(),
        time_s=600.0 if prepared.miniature else task.time_s or MAX_TIME_S,
    )


def _artifacts(task: Task) -> str:
    """Return the files passed to the verifier, as TOML."""
    if task.is_table:
        return json.dumps([str(PurePosixPath(HOME, SUBMISSION).parent)])
    if "./" in task.submission.names:
        return f'[{{ source = "{HOME}", exclude = ["data"] }}]'
    return json.dumps([f"{HOME}/{name.rstrip('/')}" for name in task.submission.names])


def _instruction(prepared: PreparedTask) -> str:
    resources = Resources(cores=1, gpus=0, time_s=None, steps=None)
    text = write_instructions(resources, prepared.task, CONTAINER, SandboxSpec(image="python:3.11-slim"))
    brief = (prepared.place.public / "description.md").read_text(encoding="utf-8")
    return f"{text}\n{brief}"


@cache
def _package() -> bytes:
    """Pack the part of Podium that grades; the archive is reproducible."""
    source = Path(__file__).parents[1]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(source.rglob("*")):
            layer = path.relative_to(source).parts[0].removesuffix(".py")
            if path.is_file() and layer in GRADING and "__pycache__" not in path.parts:
                member = tarfile.TarInfo(Path("podium", path.relative_to(source)).as_posix())
                member.size = path.stat().st_size
                with path.open("rb") as file:
                    archive.addfile(member, file)
    return gzip.compress(packed.getvalue(), compresslevel=6, mtime=0)


def _put(path: Path, text: str, *, executable: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if executable:
        path.chmod(0o755)
