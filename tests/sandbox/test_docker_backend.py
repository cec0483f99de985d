"""Behaviour specific to containers. The engine is real; `make test-docker` starts one if none is running."""

from __future__ import annotations

import gc
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from below_home import SECRET, look

from podium.errors import PodiumError
from podium.sandbox.conformance import CHECKS, Bench
from podium.sandbox.docker.container import LABEL
from podium.sandbox.docker.docker_backend import Docker
from podium.sandbox.linux.mounts import own_python
from podium.sandbox.spec import HOME, SandboxSpec

pytestmark = pytest.mark.docker

IMAGE = "podium-test-python"
PROGRAMS = (
    "bash cat chmod cp dash echo env expr grep head id ln ls mkdir mkfifo printf pwd python3 rm seq setsid sh "
    "sha256sum sleep taskset touch tr true truncate yes"
)
HOST_SETTINGS = {
    "cannot_import_podium": "what is in an image is its maker's business",
    "cannot_tamper_with_python": "the same",
}


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Create an image with Debian's own Python and a few programs, from files of this machine."""
    import docker

    python = Path("/usr/bin/python3").resolve()
    if not python.exists():
        pytest.skip("this system has no Python of its own to make an image of")
    client = docker.from_env()
    client.api.import_image_from_data(archive(python), repository=IMAGE, tag="latest")
    yield f"{IMAGE}:latest"
    client.images.remove(f"{IMAGE}:latest", force=True)
    client.close()


def archive(python: Path) -> bytes:
    library = next(Path("/usr/lib").glob(f"{python.name}/os.py")).parent
    programs = [Path("/usr/bin", name) for name in PROGRAMS.split()]
    paths = {path for path in library.rglob("*") if path.is_file() and not {"test", "dist-packages"} & {*path.parts}}
    paths |= {*programs, *(path.resolve() for path in programs), python}
    paths |= {*libraries(path for path in paths if path.suffix == ".so" or path.parent.name == "bin")}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        for name in ("home", "tmp", "var/tmp", "proc", "sys", "dev", "run/podium", "etc"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            made.addfile(entry)
        for name in ("bin", "lib", "lib64"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{name}"
            made.addfile(entry)
        for path in sorted(paths):
            made.add(path, str(path)[1:], recursive=False)
        for name, text in {"etc/passwd": "agent:x:1000:1000::/home:/bin/sh\n", "etc/hosts": ""}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            made.addfile(entry, io.BytesIO(text.encode()))
        entry = tarfile.TarInfo("usr/bin/python")
        entry.type, entry.linkname = tarfile.SYMTYPE, "python3"
        made.addfile(entry)
    return buffer.getvalue()


def libraries(programs: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    shown = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False).stdout
    for name in {*re.findall(r"(?:=>\s*)?(/\S+\.so\S*) \(", shown)}:
        path = Path(name if name.startswith("/usr") else f"/usr{name}")
        found |= {path, path.resolve()}
    return found


@pytest.fixture(scope="module")
def bench_of_image(image: str) -> Iterator[Bench]:
    with Bench(Docker(), SandboxSpec(image=image)) as bench:
        yield bench


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in HOST_SETTINGS])
def test_an_image_is_sealed_like_the_host(bench_of_image: Bench, name: str) -> None:
    result = bench_of_image.run(name)
    assert result.status == "passed", result.reason


def test_missing_image_is_reported(spec: SandboxSpec) -> None:
    with pytest.raises(PodiumError, match="docker pull podium/no-such-image"):
        Docker().check(spec.model_copy(update={"image": "podium/no-such-image"}))


@pytest.fixture
def below_home() -> Iterator[Path]:
    """Create a real folder below /home: the engine does not see a namespace made by a test."""
    around = Path.home() if Path.home().is_relative_to(HOME) else Path(HOME)
    if not os.access(around, os.W_OK):
        pytest.skip(f"this user cannot write to {around}")
    with tempfile.TemporaryDirectory(prefix="podium-test-", dir=around) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def make_environment(folder: Path) -> Path:
    subprocess.run([own_python(), "-m", "venv", "--without-pip", folder], check=True)
    greet = folder / "bin/greet"
    greet.write_text(f"#!{folder}/bin/python\nimport sys\nprint(sys.prefix)\n")
    greet.chmod(0o755)
    for packages in folder.glob("lib/python*/site-packages"):
        (packages / "podium").mkdir()
        (packages / "podium/__init__.py").write_text(SECRET)
    return folder


def test_python_below_home_is_relocated_and_reveals_nothing(below_home: Path) -> None:
    found = look(Docker(), SandboxSpec(env=make_environment(below_home / "env")))
    assert found["greeting"] == "/opt/interpreter\n"
    assert below_home.name not in json.dumps(found)
    assert found["secrets"] == "" and found["workspace"] == [HOME]


def test_podium_is_hidden_under_both_names_of_an_environment(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_environment(tmp_path / "env")
    (tmp_path / "link").symlink_to("env")
    found = look(Docker(), SandboxSpec(env=tmp_path / "link"))
    assert found["secrets"] == "" and found["sys"]["prefix"] == str(tmp_path / "link")


def containers(client: Any) -> set[str]:
    return {container.id for container in client.containers.list(all=True, filters={"label": LABEL})}


def test_image_without_python_is_reported(spec: SandboxSpec) -> None:
    import docker

    client = docker.from_env()
    client.api.import_image_from_data(b"\0" * 10240, repository="podium-test-empty", tag="latest")
    try:
        before = containers(client)
        with pytest.raises(PodiumError, match="python3"):
            Docker().open(spec.model_copy(update={"image": "podium-test-empty:latest"}))
        assert containers(client) == before
    finally:
        client.images.remove("podium-test-empty:latest", force=True)
        client.close()


def test_missing_engine_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the client leaves its socket to the garbage collector
        with pytest.raises(PodiumError, match="No Docker engine responds"):
            Docker().capabilities()
        gc.collect()


def test_containers_of_killed_processes_are_removed(spec: SandboxSpec) -> None:
    import docker

    program = (
        "from podium.sandbox.docker.docker_backend import Docker; import os, signal\n"
        "from podium.sandbox.spec import SandboxSpec\n"
        "Docker().open(SandboxSpec()); os.kill(os.getpid(), signal.SIGKILL)"
    )
    client = docker.from_env()
    before = containers(client)
    subprocess.run([sys.executable, "-c", program], check=False)
    assert len(containers(client)) == len(before) + 1
    try:
        Docker().open(spec).stop()
        assert containers(client) == before
    finally:
        client.close()


@pytest.mark.skipif(os.getuid() != 0, reason="programs have the user's own number")
def test_programs_of_root_run_as_another_user_who_owns_the_workspace(spec: SandboxSpec, tmp_path: Path) -> None:
    inner = tmp_path / "workspace/inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (tmp_path / "workspace/link").symlink_to(tmp_path)
    with Docker().open(spec) as sandbox:
        assert sandbox.enforced().user_id == 1000
        assert (
            sandbox.run(["sh", "-c", "id -u; echo more >> inner/file; cat inner/file"]).stdout.text == "1000\nxmore\n"
        )
    assert tmp_path.stat().st_uid == 0


def test_list_of_hosts_means_a_proxy_only() -> None:
    code = (
        "import socket, urllib.request\n"
        "try: urllib.request.urlopen('http://other.example')\n"
        "except OSError as error: print(error)\n"
        "try: socket.create_connection(('1.1.1.1', 80), 5)\n"
        "except OSError as error: print(error.strerror)\n"
    )
    with Docker().open(SandboxSpec(network=("allowed.example",))) as sandbox:
        said = sandbox.run(["python3", "-c", code]).stdout.text.splitlines()
        assert said == ["HTTP Error 403: Forbidden", "Network is unreachable"]
        assert sandbox.enforced().network == "hosts"
