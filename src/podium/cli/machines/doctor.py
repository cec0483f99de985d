"""`podium doctor`: checks tools, limits and credentials of this machine, and suggests fixes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import click

from podium.cli.options import as_json, print_json
from podium.errors import PodiumError
from podium.text import format_size

MODEL_KEYS = ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY")
MIN_DISK_BYTES = 5 << 30
MIN_MEMORY_BYTES = 4 << 30


@dataclass(frozen=True)
class MachineFinding:
    """Result of one check of the machine."""

    name: str
    status: Literal["ok", "missing", "problem"]
    """`missing` if only some features are unavailable, `problem` if no agent can run."""
    found: str
    advice: str = ""


@click.command(name="doctor")
@as_json
def command(as_json: bool) -> None:
    """Check what this machine can run and suggest fixes."""
    findings = [check() for check in CHECKS]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        marks = {"ok": "✓", "missing": "·", "problem": "✗"}
        for finding in findings:
            click.echo(f"{marks[finding.status]} {finding.name:12} {finding.found}")
            if finding.advice:
                click.echo(f"  {'':12} → {finding.advice}")
    problems = [finding.name for finding in findings if finding.status == "problem"]
    if not as_json:
        click.echo(f"\n{_summary(findings, problems)}")
    if problems:
        sys.exit(1)


def _summary(findings: list[MachineFinding], problems: list[str]) -> str:
    if problems:
        return f"Agents cannot run here. Fix first: {', '.join(problems)}."
    if any((finding.name, finding.status) == ("sandbox", "missing") for finding in findings):
        return "Tasks can be prepared and graded here. Agents cannot run here yet. Run: pip install 'podium[run]'"
    return "Agents can run here. Items marked with a dot are optional."


def check_python() -> MachineFinding:
    return MachineFinding("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")


def check_cores() -> MachineFinding:
    return MachineFinding("cores", "ok", f"{len(os.sched_getaffinity(0))} usable of {os.cpu_count()}")


def check_memory() -> MachineFinding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    advice = "" if total >= MIN_MEMORY_BYTES else "Runs need 4 GiB or more; use --parallel 1."
    return MachineFinding("memory", "ok" if not advice else "missing", format_size(total), advice)


def check_disk() -> MachineFinding:
    from podium.data.home import home

    folder = home()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    advice = "" if free >= MIN_DISK_BYTES else "Free some space, or set PODIUM_HOME to a folder on a larger disk."
    return MachineFinding("disk", "ok" if not advice else "problem", f"{format_size(free)} free for {folder}", advice)


def check_gpus() -> MachineFinding:
    if not shutil.which("nvidia-smi"):
        return MachineFinding("gpu", "missing", "none found", "Optional: the suite quick needs no GPU.")
    answer = _run(["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"])
    if answer.returncode:
        return MachineFinding("gpu", "missing", "nvidia-smi fails", "Check the NVIDIA driver.")
    return MachineFinding("gpu", "ok", "; ".join(answer.stdout.strip().splitlines()))


def check_sandbox() -> MachineFinding:
    """Start a sandbox and run a program in it."""
    if not shutil.which("bwrap"):
        return MachineFinding(
            "sandbox", "problem", "bubblewrap is not installed, and agents need it", _install("bubblewrap")
        )
    try:
        from podium.sandbox.linux.bubblewrap import Bubblewrap
        from podium.sandbox.spec import SandboxSpec
    except ImportError:
        return _without_runs("sandbox")
    try:
        with Bubblewrap().open(SandboxSpec()) as sandbox:
            sandbox.run(["true"])
            policy = sandbox.enforced()
    except PodiumError as error:
        advice = "Allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1"
        return MachineFinding("sandbox", "problem", str(error), advice)
    gaps = policy.gaps()
    state = f"bubblewrap works; {'; '.join(gaps) or 'cgroups limit memory and processes'}"
    advice = "Start Podium in a systemd session, or as root with permission to create cgroups." if gaps else ""
    return MachineFinding("sandbox", "ok", state, advice)


def check_limits() -> MachineFinding:
    """Report the default limits of a run."""
    try:
        from podium.sandbox.spec import Limits
    except ImportError:
        return _without_runs("limits")
    limits = Limits().effective()
    assert limits.memory_bytes is not None
    defaults = f"{format_size(limits.memory_bytes)} memory, {format_size(limits.disk_bytes)} disk per run"
    return MachineFinding("limits", "ok", f"{defaults}; change them with --memory and --disk")


def check_network() -> MachineFinding:
    """Check whether `--network` can allow all hosts; an allow-list always works."""
    try:
        from podium.sandbox.linux.network import find_carrier
    except ImportError:
        return _without_runs("network")
    try:
        return MachineFinding("network", "ok", f"--network uses {find_carrier()}")
    except PodiumError as error:
        return MachineFinding(
            "network", "missing", "full Internet access is unavailable", f"Optional: {str(error).rstrip('.')}."
        )


def check_docker() -> MachineFinding:
    """Check that the Docker or Podman engine responds."""
    try:
        from podium.sandbox.docker.docker_backend import Docker
    except ImportError:
        return _without_runs("docker")
    try:
        Docker().capabilities()
    except PodiumError as error:
        return MachineFinding("docker", "missing", str(error), "Optional: bubblewrap is the default sandbox.")
    return MachineFinding("docker", "ok", "the engine responds")


def check_kaggle() -> MachineFinding:
    folder = Path(os.environ.get("KAGGLE_CONFIG_DIR", Path.home() / ".kaggle"))
    if os.environ.get("KAGGLE_USERNAME") and os.environ.get("KAGGLE_KEY"):
        return MachineFinding("kaggle", "ok", "credentials in KAGGLE_USERNAME and KAGGLE_KEY")
    if os.environ.get("KAGGLE_API_TOKEN"):
        return MachineFinding("kaggle", "ok", "token in KAGGLE_API_TOKEN")
    for name in ("kaggle.json", "access_token"):
        if (folder / name).is_file():
            return MachineFinding("kaggle", "ok", f"credentials in {folder / name}")
    advice = "Needed only for real data: create a token at https://www.kaggle.com/settings and save it in ~/.kaggle."
    return MachineFinding("kaggle", "missing", "no credentials", advice)


def check_model_keys() -> MachineFinding:
    present = [name for name in MODEL_KEYS if os.environ.get(name)]
    if present:
        return MachineFinding("model keys", "ok", ", ".join(present))
    return MachineFinding(
        "model keys", "missing", "none", f"Needed only for agents with a model: set {' or '.join(MODEL_KEYS)}."
    )


def _without_runs(name: str) -> MachineFinding:
    return MachineFinding(name, "missing", "the extra 'run' is not installed", "Run: pip install 'podium[run]'")


def _install(package: str) -> str:
    """Return the command that installs a package with this machine's package manager."""
    managers = {"apt-get": "apt-get install", "dnf": "dnf install", "apk": "apk add", "pacman": "pacman -S"}
    install = next((command for name, command in managers.items() if shutil.which(name)), None)
    return f"Run: sudo {install} {package}" if install else f"Install the package {package}"


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "no response within 10 s")


CHECKS: tuple[Callable[[], MachineFinding], ...] = (
    check_python,
    check_cores,
    check_memory,
    check_disk,
    check_gpus,
    check_sandbox,
    check_limits,
    check_network,
    check_docker,
    check_kaggle,
    check_model_keys,
)
