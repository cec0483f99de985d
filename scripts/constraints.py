"""Resolves Podium's dependencies for the lowest Python that it supports: writes constraints.txt, or checks it."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
EXTRAS = "all,benchmarks,dev,docs"
LATER = ("3.12.0", "3.13.0")  # releases above the lowest that the same pins must resolve for


def lowest_python() -> str:
    """The first release that `requires-python` admits, such as 3.11.0."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    series = re.fullmatch(r">=(\d+\.\d+)", declared)
    if series is None:
        sys.exit(f"requires-python is {declared!r}; expected a single lower bound such as '>=3.11'")
    return f"{series[1]}.0"


def resolve(python: str, *, constrained: bool) -> list[dict[str, Any]]:
    """The releases pip would install under this Python, without installing any. Needs the network."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        options = ["--dry-run", "--ignore-installed", "--only-binary=:all:", f"--python-version={python}"]
        options += [f"--target={scratch}/target", f"--report={report}", "--quiet"]
        options += [f"--constraint={CONSTRAINTS}"] if constrained else []
        command = [sys.executable, "-m", "pip", "install", *options, f"{ROOT}[{EXTRAS}]"]
        if subprocess.run(command).returncode:
            sys.exit(f"The dependencies do not resolve for Python {python}; pip says why above.")
        return [item["metadata"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]


def write() -> None:
    releases = {item["name"]: item["version"].partition("+")[0] for item in resolve(lowest_python(), constrained=False)}
    releases.pop("podium", None)
    lines = [f"{name}=={releases[name]}\n" for name in sorted(releases, key=str.lower)]
    CONSTRAINTS.write_text("".join(lines), encoding="utf-8")


def check() -> None:
    for python in (lowest_python(), *LATER):
        print(f"Python {python}: {len(resolve(python, constrained=True))} releases")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("write", "check"))
    {"write": write, "check": check}[parser.parse_args().action]()
