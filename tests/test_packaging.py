"""Extras: each is installed from a wheel into an empty environment and used.

The extra `research` has its own tests, because of the size of torch.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from podium.cli import COMMANDS

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parent.parent
TASK = "spaceship-titanic"
LIBRARY = ("metrics", "data", "grading", "catalog", "task", "api")
"""Modules that every installation can import; tasks of the catalogue import their packages late."""
IMPORT_ALL = """
import sys
from importlib import import_module
from pathlib import Path
import podium
root = Path(podium.__file__).parent
for layer in sys.argv[1:]:
    for path in [root / f"{layer}.py", *sorted((root / layer).rglob("*.py"))]:
        parts = path.relative_to(root).with_suffix("").parts
        if path.is_file() and "__main__" not in parts and "kit" not in parts and parts[:2] != ("catalog", "research"):
            import_module(".".join(("podium", *parts)).removesuffix(".__init__"))
"""
MISSING = "needs an optional dependency"


class Installed:
    """Virtual environment with Podium and an extra, and a folder for its data."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.bin = folder / "bin"
        self.folder = folder
        self.environment = {**os.environ, "PODIUM_HOME": str(data)}
        for key in ("KAGGLE_USERNAME", "KAGGLE_KEY", "PYTHONPATH"):
            self.environment.pop(key, None)
        self.environment["KAGGLE_CONFIG_DIR"] = str(folder)

    def start(self, program: str, *args: object) -> subprocess.Popen[str]:
        command = [str(self.bin / program), *map(str, args)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, program: str, *args: object) -> tuple[int, str, str]:
        with self.start(program, *args) as process:
            out, err = process.communicate()
        return process.returncode, out, err

    def output(self, program: str, *args: object) -> str:
        code, out, err = self.run(program, *args)
        assert code == 0, err
        return out

    def imports(self, *layers: str) -> None:
        self.output("python", "-c", IMPORT_ALL, *layers)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Installed]:
    """Return a function that creates an environment with one extra, or without."""

    def make(extra: str) -> Installed:
        folder = tmp_path_factory.mktemp(extra or "base")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        what = f"podium[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
        pip = [str(folder / "bin/pip"), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", ROOT / "constraints.txt", what], check=True)
        installed = Installed(folder, tmp_path_factory.mktemp("data"))
        installed.output("podium", "prepare", TASK, "--miniature")
        return installed

    return make


def as_ordinary_user(*folders: Path) -> list[str]:
    """Return a command prefix that drops root privileges and gives the folders away; empty unless this is root."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return []
    nobody = pwd.getpwnam("nobody")
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            os.lchown(path, nobody.pw_uid, nobody.pw_gid)
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "--no-new-privs"]


def python_for(user: list[str]) -> str:
    """Return a Python that the user may start; this one may be in a home that is closed to others."""
    for python in (sys.executable, "/usr/bin/python3"):
        # A program in a closed home may be started by setpriv, but nothing else of it can be reached.
        code = "import os, sys, venv; os.stat(os.path.realpath(sys.executable)); sys.exit(sys.version_info < (3, 11))"
        check = [*user, python, "-c", code]
        if subprocess.run(check, cwd="/", capture_output=True).returncode == 0:
            return python
    pytest.skip("an ordinary user has no Python 3.11 here")


@pytest.fixture(scope="session")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an experiment of one run, created by the environment of these tests."""
    folder = tmp_path_factory.mktemp("experiment") / "first"
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path_factory.mktemp("data"))}
    podium = Path(sys.executable).with_name("podium")
    command = [podium, "run", TASK, "--miniature", "--agent", "baseline", "--out", folder]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return folder


def sample(installed: Installed) -> Path:
    return next(Path(installed.environment["PODIUM_HOME"]).rglob("sample_submission.csv"))


def test_base_grades_and_names_missing_extras(install: Callable[[str], Installed], experiment: Path) -> None:
    base = install("")
    base.imports(*LIBRARY)
    grade = json.loads(base.output("podium", "grade", TASK, sample(base), "--json"))
    assert grade["valid"] and grade["score"] is not None
    assert len(json.loads(base.output("podium", "tasks", "--json"))) > 90
    output = base.output("podium", "doctor")
    assert "pip install 'podium[run]'" in output and "Agents cannot run here yet" in output
    for extra, args in {"run": ["run", TASK], "report": ["report", experiment], "view": ["view", experiment]}.items():
        code, _, err = base.run("podium", *args)
        assert code == 1 and f"{MISSING}. Run: pip install 'podium[{extra}]'" in err, err
    for name in COMMANDS:
        assert f"podium {name}" in base.output("podium", name, "--help")
    assert any((base.folder / "lib").rglob("podium/py.typed"))


def test_parquet_grades_parquet_submissions(install: Callable[[str], Installed]) -> None:
    parquet = install("parquet")
    file = parquet.folder / "submission.parquet"
    parquet.output(
        "python", "-c", f"import pandas; pandas.read_csv({str(sample(parquet))!r}).to_parquet({str(file)!r})"
    )
    assert json.loads(parquet.output("podium", "grade", TASK, file, "--json"))["valid"]


def test_kaggle_asks_for_credentials_and_opens_7z_archives(install: Callable[[str], Installed]) -> None:
    kaggle = install("kaggle")
    code, _, err = kaggle.run("podium", "prepare", "nomad2018-predict-transparent-conductors")
    assert code == 1 and "kaggle.json" in err and MISSING not in err, err
    kaggle.output("python", "-c", "import py7zr")


def test_run_executes_an_agent(install: Callable[[str], Installed]) -> None:
    run = install("run")
    run.imports("sandbox", "workspace", "actions", "recipes", "agents", "runs", "inspect_registry")
    out = run.folder / "first"
    [row] = json.loads(run.output("podium", "run", TASK, "--miniature", "--agent", "baseline", "--out", out, "--json"))
    assert row["status"] == "finished" and row["valid"]
    assert run.run("podium", "verify", out)[0] == 0


def test_report_writes_a_page(install: Callable[[str], Installed], experiment: Path) -> None:
    report = install("report")
    report.imports("report")
    page = report.folder / "report.html"
    assert TASK in report.output("podium", "report", experiment, "--html", page)
    assert TASK in page.read_text(encoding="utf-8")
    code, _, err = report.run("podium", "compare", experiment, experiment)
    assert MISSING not in err and "Traceback" not in err, (code, err)


def test_view_serves_pages(install: Callable[[str], Installed], experiment: Path) -> None:
    view = install("view")
    view.imports("viewer")
    with view.start("podium", "view", experiment.parent, "--port", 0) as server:
        try:
            assert server.stdout is not None
            with urlopen(server.stdout.readline().removeprefix("Open ").strip()) as answer:
                assert experiment.name in answer.read().decode()
        finally:
            server.terminate()


def test_wheel_and_source_archive_contain_the_same_package(wheel: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    again = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, next(tmp_path.glob("*.tar.gz"))]
    subprocess.run(again, check=True)
    with ZipFile(wheel) as first, ZipFile(next(tmp_path.glob("*.whl"))) as second:
        assert set(first.namelist()) == set(second.namelist())


def test_unprivileged_user_runs_the_demo(wheel: Path) -> None:
    """Run the demo as after `pipx install`: from a read-only environment outside the checkout."""
    with tempfile.TemporaryDirectory(prefix="podium-user-") as top:
        environment, home = Path(top, "environment"), Path(top, "home")
        Path(top).chmod(0o755)
        home.mkdir()
        user = as_ordinary_user(home)
        subprocess.run([python_for(user), "-m", "venv", environment], check=True)
        pip = [str(environment / "bin/pip"), "install", "-q", "--disable-pip-version-check"]
        what = f"podium[report,run] @ {wheel.as_uri()}"
        subprocess.run([*pip, "-c", ROOT / "constraints.txt", what], check=True)
        command = [*user, str(environment / "bin/podium"), "demo", "--time", "30s"]
        variables = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        done = subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "of tasks with a medal" in done.stdout
        assert "forge-audio-medium-109" in (home / "demo/report.html").read_text(encoding="utf-8")
