"""The corpus of hostile programs, each run for real: what it must not reach, and what it must not do to others.

`hostile/reach` holds programs that try to get at something; they print ACHIEVED for every success and DONE at the end.
`hostile/harm` holds programs that use up what they can, or try to outlive their execution. After each of them a
neighbour sandbox must still be at work, and this process as it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from podium.data.trees import remove_tree
from podium.errors import PodiumError
from podium.sandbox import bubblewrap, cgroups
from podium.sandbox.bubblewrap import Bubblewrap
from podium.sandbox.result import Keep, ProgramResult
from podium.sandbox.spec import MIB, Limits, Mount, SandboxSpec
from podium.sandbox.supervised import SupervisedSandbox as Sandbox
from podium.sandbox.watchdog import tree

CORPUS = Path(__file__).parent / "hostile"
SECRET = "the-answers-42"
LIMITS = Limits(
    memory_bytes=300 * MIB,
    shared_memory_bytes=100 * MIB,
    processes=100,
    file_bytes=1 << 30,
    disk_bytes=30 * MIB,
    files=2000,
)
SOON_S = 10.0  # far more than anything here takes, on a busy machine too


@dataclass(frozen=True)
class World:
    """What lies around the sandbox on the host, and is to stay as it is."""

    folder: Path
    neighbour: Sandbox
    heartbeat: Path
    canary: Path

    def beats(self) -> str:
        return self.heartbeat.read_text()


BEAT = b"""
import itertools, os, time
for number in itertools.count(1):
    with open("beats.new", "w") as file:
        file.write(str(number))
    os.replace("beats.new", "beats")
    time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("host")
    for name in ("private", "home", "other"):
        (folder / name).mkdir()
        (folder / name / "secret.txt").write_text(SECRET)
    (folder / "public" / "deep").mkdir(parents=True)
    (folder / "public" / "train.csv").write_text("a,b\n")
    (folder / "eval.py").write_text("original")
    canary = folder / "canary"
    canary.write_text("canary")
    canary.chmod(0o444)
    with Bubblewrap().open(SandboxSpec(limits=LIMITS, workspace=folder / "other")) as neighbour:
        neighbour.write("/tmp/beat.py", BEAT)
        neighbour.run(["sh", "-c", "python /tmp/beat.py > /dev/null 2>&1 &"], background=True)
        yield World(folder, neighbour, folder / "other" / "beats", canary)


@pytest.fixture(autouse=True)
def others_are_unaffected(world: World) -> Iterator[None]:
    cores, cwd = os.sched_getaffinity(0), Path.cwd()
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    yield
    before = world.beats() if world.heartbeat.exists() else ""
    outcome = world.neighbour.run(["sh", "-c", "cat secret.txt; echo; ls"], timeout_s=SOON_S)
    assert outcome.stdout.text == f"{SECRET}\nbeats\nsecret.txt\n" or "beats.new" in outcome.stdout.text
    assert outcome.stopped is None
    assert eventually(lambda: world.beats() not in ("", before))
    assert (world.canary.read_text(), stat.S_IMODE(world.canary.stat().st_mode)) == ("canary", 0o444)
    assert (os.sched_getaffinity(0), Path.cwd()) == (cores, cwd)
    assert eventually(lambda: len(list(Path("/proc/self/fd").iterdir())) <= descriptors)


def eventually(claim: Callable[[], bool]) -> bool:
    until = time.monotonic() + SOON_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if claim():
                return True
        time.sleep(0.01)
    return False


def programs(running: Sandbox) -> list[str]:
    """The command lines of everything inside but the first process and its supervisors."""
    found = []
    for pid in tree(running.pid)[1:]:
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
    return [line for line in found if line and "init.py" not in line]


def run(running: Sandbox, name: str, *, background: bool = False, timeout_s: float = SOON_S) -> ProgramResult:
    source = CORPUS / name
    interpreter = "python" if source.suffix == ".py" else "sh"
    running.write(f"/tmp/{source.name}", source.read_bytes())
    return running.run(
        [interpreter, f"/tmp/{source.name}"],
        timeout_s=timeout_s,
        background=background,
        keep=Keep(head_bytes=20_000, tail_bytes=20_000),
    )


# What must not be reached


@pytest.fixture(scope="module")
def reached(world: World) -> Iterator[Sandbox]:
    """A sandbox whose programs know where on the host everything is."""
    workspace = world.folder / "workspace"
    workspace.mkdir()
    mounts = (
        Mount(source=world.folder / "public", target="/home/data"),
        Mount(source=world.folder / "eval.py", target="/home/kept/eval.py"),
        Mount(source=world.folder / "eval.py", target="/home/kept/deep/inner/eval.py"),
    )
    named = world.folder / "socket"
    with (
        pytest.MonkeyPatch.context() as patch,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        patch.setenv("PODIUM_TEST_KEY", "key-of-the-host")
        abstract.bind(f"\0podium-test-{os.getpid()}")
        by_name.bind(str(named))
        for listening in (abstract, by_name):
            listening.listen()
        paths = {name: str(world.folder / name / "secret.txt") for name in ("private", "home", "other")}
        targets = {
            "paths": {**paths, "public": str(world.folder / "public")},
            "port": server.getsockname()[1],
            "addresses": addresses(),
            "abstract": f"podium-test-{os.getpid()}",
            "socket": str(named),
            "processes": [os.getpid(), os.getppid(), world.neighbour.pid],
        }
        (workspace / "targets.json").write_text(json.dumps(targets))
        spec = SandboxSpec(limits=LIMITS, mounts=mounts, workspace=workspace)
        with Bubblewrap().open(spec) as running:
            yield running


def addresses() -> list[str]:
    """Where this machine can be found on its networks."""
    with contextlib.suppress(OSError):
        return sorted({str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)})
    return []


@pytest.mark.parametrize("name", sorted(path.name for path in (CORPUS / "reach").iterdir()))
def test_is_not_reached(reached: Sandbox, name: str) -> None:
    cores = [min(os.sched_getaffinity(0))]
    reached.write(f"/tmp/{name}", (CORPUS / "reach" / name).read_bytes())
    outcome = reached.run(["python", f"/tmp/{name}"], timeout_s=60, cores=cores)
    assert (outcome.exit_code, outcome.stderr.text) == (0, "")
    lines = outcome.stdout.text.splitlines()
    assert [line for line in lines if line.startswith("ACHIEVED")] == []
    assert lines[-1] == "DONE"
    assert SECRET not in outcome.stdout.text


def test_nothing_of_the_attacks_is_left_on_the_host(world: World, reached: Sandbox) -> None:
    assert (world.folder / "eval.py").read_text() == "original"
    assert (world.folder / "public" / "train.csv").read_text() == "a,b\n"
    assert sorted(path.name for path in (world.folder / "public").iterdir()) == ["deep", "train.csv"]
    modes = [path.lstat().st_mode for path in (world.folder / "workspace").rglob("*")]
    assert not any(mode & stat.S_ISUID for mode in modes)


@pytest.mark.parametrize("place", ["kept/deep", "kept/eval.py", "data"])
def test_a_link_left_where_a_mount_belongs_is_refused(world: World, tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).symlink_to(world.folder / "home")
    mounts = (
        Mount(source=world.folder / "public", target="/home/data"),
        Mount(source=world.folder / "eval.py", target="/home/kept/eval.py"),
        Mount(source=world.folder / "eval.py", target="/home/kept/deep/inner/eval.py"),
    )
    with pytest.raises(PodiumError, match="is a link to"):
        Bubblewrap().open(SandboxSpec(mounts=mounts, workspace=tmp_path))
    assert [path.name for path in (world.folder / "home").iterdir()] == ["secret.txt"]


# What must not be used up


@pytest.fixture(params=["groups", "watchdog"])
def guard(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Limits held by the kernel where it lets us, and by measuring."""
    if request.param == "watchdog":
        monkeypatch.setattr(cgroups, "make_group", lambda limits, pid: cgroups.Group({}))
    return str(request.param)


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Sandbox]:
    workspace = tmp_path / "victim"
    workspace.mkdir()
    with Bubblewrap().open(SandboxSpec(limits=LIMITS, workspace=workspace)) as running:
        yield running
        pids = tree(running.pid)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    remove_tree(workspace)  # pytest could not


@pytest.fixture
def workspace(victim: Sandbox) -> Path:
    return victim.workspace


def works(running: Sandbox) -> bool:
    """Whether a program can still be started that starts another."""
    return running.run(["sh", "-c", "expr 1 + 1; :"], timeout_s=30).stdout.text == "2\n"


# Where the kernel bounds nothing (root without control groups) a shell makes thousands before it is measured.
EXPLOSIVE = pytest.param("watchdog", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", ["fork_bomb.py", "thread_bomb.py", "pile_up_zombies.py"])
def test_a_full_process_table_is_emptied(guard: str, victim: Sandbox, name: str) -> None:
    run(victim, f"harm/{name}", timeout_s=1)
    assert programs(victim) == []
    assert works(victim)


@pytest.mark.parametrize("guard", ["groups", EXPLOSIVE], indirect=True)
def test_a_full_process_table_in_the_background_is_emptied_when_needed(guard: str, victim: Sandbox) -> None:
    run(victim, "harm/fork_bomb.sh", timeout_s=1)
    assert programs(victim) == []
    run(victim, "harm/fork_bomb.sh", background=True)
    assert eventually(lambda: works(victim))
    victim.kill_all()
    assert eventually(lambda: programs(victim) == [])


@pytest.mark.parametrize("name", ["eat_memory.py", "eat_memory_in_swarms.py", "eat_memory_files.py"])
def test_memory_is_limited(guard: str, victim: Sandbox, name: str) -> None:
    outcome = run(victim, f"harm/{name}", timeout_s=1.2 if "swarms" in name else SOON_S)
    assert outcome.exit_code == 137
    assert outcome.stopped is not None
    assert "memory limit" in outcome.stopped or name == "eat_memory_in_swarms.py"
    assert works(victim)


def test_shared_memory_leaves_some_for_the_next_program(guard: str, victim: Sandbox) -> None:
    assert run(victim, "harm/eat_shared_memory.py").stdout.text.strip() == "28"
    assert works(victim)
    taken = run(victim, "harm/eat_memory.py")
    assert "memory limit" in (taken.stopped or "")
    assert works(victim)
    assert victim.run(["rm", "/dev/shm/left"]).exit_code == 0


@pytest.mark.parametrize(
    "name", ["fill_disk.py", "fill_disk_locked.py", "fill_disk_nameless.py", "fill_disk_elsewhere.sh"]
)
def test_disk_space_is_limited(victim: Sandbox, name: str) -> None:
    outcome = run(victim, f"harm/{name}")
    assert outcome.exit_code == 137
    assert "disk limit of 30 MiB exceeded" in (outcome.stopped or "")
    assert works(victim)


def test_over_the_limit_of_the_disk_files_can_only_be_deleted(victim: Sandbox) -> None:
    run(victim, "harm/fill_disk.py")
    assert victim.run(["sh", "-c", "echo more > more"]).exit_code != 0
    assert victim.run(["sh", "-c", "rm -f big*"]).exit_code == 0
    assert victim.run(["sh", "-c", "echo more > more && cat more"]).stdout.text == "more\n"


def test_the_number_of_files_is_limited(victim: Sandbox) -> None:
    outcome = run(victim, "harm/fill_inodes.py", timeout_s=30)
    assert "limit of 2,000 files exceeded" in (outcome.stopped or "")
    assert works(victim)


def test_a_file_is_limited(victim: Sandbox) -> None:
    assert run(victim, "harm/big_file.py").stdout.text == "27\n"  # EFBIG


@pytest.mark.parametrize("name", ["flood.sh", "flood_without_lines.py"])
def test_a_flood_of_output_is_counted_and_not_kept(victim: Sandbox, name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = run(victim, f"harm/{name}", timeout_s=1.2)
    assert len(outcome.stdout.head) + len(outcome.stdout.tail) <= 40_000
    assert outcome.stdout.dropped > 10_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB
    assert programs(victim) == []
    if outcome.stopped is None:
        assert outcome.stdout.tail.endswith(b"the end")


def test_a_flood_from_behind_does_not_keep_the_host_waiting(victim: Sandbox) -> None:
    outcome = run(victim, "harm/flood_from_behind.sh", background=True)
    assert outcome.seconds < SOON_S
    assert outcome.exit_code == 0
    assert "first" in outcome.stdout.text


def test_using_up_what_is_counted_per_user_does_not_stop_the_host(victim: Sandbox, world: World) -> None:
    greedy = threading.Thread(target=run, args=(victim, "harm/use_up_descriptors.py"), kwargs={"timeout_s": 1.5})
    greedy.start()
    try:
        assert eventually(lambda: programs(victim) != [])
        while greedy.is_alive():
            assert world.neighbour.run(["echo", "fine"], timeout_s=SOON_S).stdout.text == "fine\n"
            time.sleep(0.1)
    finally:
        greedy.join()


# What must not outlive its execution


def submission_stays(workspace: Path, content: str = "honest") -> bool:
    """Whether nobody writes the submission any more after the host has written it."""
    (workspace / "submission.csv").write_text(content)
    time.sleep(0.25)
    return (workspace / "submission.csv").read_text() == content


@pytest.mark.parametrize(
    "name",
    ["daemonise.py", "ignore_signals.py", "kill_everybody.py", "kill_supervisor.py", "stop_everybody.py",
     "stop_supervisor.py", "comet.py", "end_main_thread.py"],
)  # fmt: skip
def test_nothing_outlives_its_execution(victim: Sandbox, workspace: Path, name: str) -> None:
    outcome = run(victim, f"harm/{name}", timeout_s=1)
    assert outcome.seconds < SOON_S
    assert programs(victim) == []
    written = {path.name: path.read_text() for path in workspace.iterdir()}
    assert submission_stays(workspace)
    assert {path.name: path.read_text() for path in workspace.iterdir()} == {**written, "submission.csv": "honest"}
    assert works(victim)


def test_a_program_that_kills_everything_does_not_look_successful(victim: Sandbox) -> None:
    outcome = run(victim, "harm/kill_everybody.py")
    assert (outcome.exit_code, outcome.stopped) == (137, "killed together with its supervisor")


def test_a_killed_supervisor_costs_its_neighbours_nothing(victim: Sandbox) -> None:
    beside = victim.start(["sh", "-c", "sleep 0.8; echo unharmed"])
    run(victim, "harm/kill_supervisor.py")
    run(victim, "harm/comet.py")
    assert beside.wait(SOON_S).stdout.text == "unharmed\n"


def test_a_program_without_streams_is_waited_for(victim: Sandbox, workspace: Path) -> None:
    outcome = run(victim, "harm/close_streams.py")
    assert outcome.exit_code == 7
    assert (workspace / "still-there").read_text() == "yes"


def test_a_program_in_the_background_ends_with_the_sandbox(tmp_path: Path) -> None:
    with Bubblewrap().open(SandboxSpec(limits=LIMITS, workspace=tmp_path)) as running:
        run(running, "harm/daemonise.py", background=True)
        assert eventually(lambda: (tmp_path / "submission.csv").read_text() == "forged")
    assert submission_stays(tmp_path)


@pytest.mark.parametrize("holder", ["nobody", "a child"])
def test_nothing_remains_of_a_killed_host(tmp_path: Path, holder: str) -> None:
    program = f"""
import os, sys, time
from pathlib import Path
from podium.sandbox.bubblewrap import Bubblewrap
from podium.sandbox.spec import SandboxSpec
running = Bubblewrap().open(SandboxSpec(workspace=Path({str(tmp_path / "workspace")!r})))
running.run(["sh", "-c", "sleep 300 > /dev/null 2>&1 & setsid sleep 301 > /dev/null 2>&1 &"], background=True)
if {holder == "a child"} and os.fork() == 0:  # it inherits all sockets of the host
    time.sleep(60)
    os._exit(0)
print(running.pid, running._temporary, flush=True)
running.run(["sleep", "302"])
"""
    (tmp_path / "workspace").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as host:
        try:
            assert host.stdout is not None
            first, temporary = host.stdout.readline().split()
            assert eventually(lambda: len(tree(int(first))) >= 6)
            pids = tree(int(first))
            groups = (Path(temporary) / "groups").read_text().split()
            host.kill()
            assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
        finally:
            os.killpg(host.pid, signal.SIGKILL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path))
        with Bubblewrap().open(SandboxSpec(workspace=tmp_path / "workspace")):
            assert eventually(lambda: not Path(temporary).exists())
    assert not any(Path(group).exists() for group in groups)


# What is left behind


@pytest.mark.parametrize("name", ["leave_locked_folders.py", "leave_odd_names.py"])
def test_whatever_is_left_in_temporary_folders_is_removed(world: World, tmp_path: Path, name: str) -> None:
    (tmp_path / "canary-path").write_text(str(world.canary))
    with Bubblewrap().open(SandboxSpec(limits=LIMITS, workspace=tmp_path)) as running:
        temporary = running._temporary
        assert run(running, f"harm/{name}").stdout.text == "left\n"
    assert not temporary.exists()
    assert (tmp_path / "canary-path").exists()
    remove_tree(tmp_path)


def test_endless_folders_are_removed(tmp_path: Path) -> None:
    with Bubblewrap().open(SandboxSpec(workspace=tmp_path)) as running:
        temporary = running._temporary
        outcome = run(running, "harm/leave_deep_folders.py", timeout_s=60)
        assert outcome.stdout.text == "left\n" or "nested too deep" in (outcome.stopped or "")
        assert works(running)
    assert not temporary.exists()


# What must not confuse the host when it reads and writes for an agent


@pytest.mark.parametrize(
    "make",
    ["mkfifo target", "ln -s /dev/zero target", "ln -s /dev/tty target", "ln -s /proc/kmsg target", "mkdir target",
     "ln -s target target", "ln -s /dev/ptmx target", "ln -s /proc/1/mem target", "ln -s /proc/self/mem target",
     "ln -s /proc/self/environ target", "ln -s /etc/shadow target", "ln -s /proc/1/fd/0 target",
     "python -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"target\")'"],
)  # fmt: skip
def test_reading_what_is_no_file_is_refused_at_once(victim: Sandbox, make: str) -> None:
    assert victim.run(["sh", "-c", make]).exit_code == 0
    began = time.monotonic()
    with contextlib.suppress(OSError):
        assert victim.read("target", limit_bytes=1000) == b""
    with pytest.raises(OSError):
        victim.write("target/../target", b"x" * 1000)
    assert time.monotonic() - began < SOON_S


def test_reading_endless_files_is_bounded(victim: Sandbox) -> None:
    victim.run(["sh", "-c", "truncate -s 900M sparse; sleep 60 & ln -s /proc/$!/pagemap map"], background=True)
    for name in ("sparse", "map"):
        with contextlib.suppress(OSError):
            assert len(victim.read(name, limit_bytes=1000)) <= 1001


@pytest.mark.parametrize(
    "target", ["/usr/bin/env", "/home/data/train.csv", bubblewrap.INIT, "/proc/sys/kernel/core_pattern",
               "/proc/self/oom_score_adj", "/dev/null", "/proc/self/fd/2", "/nowhere/below/the/root"]
)  # fmt: skip
def test_writing_through_links_reaches_nothing_more(world: World, tmp_path: Path, target: str) -> None:
    mount = Mount(source=world.folder / "public", target="/home/data")
    with Bubblewrap().open(SandboxSpec(mounts=(mount,), workspace=tmp_path)) as running:
        running.run(["ln", "-s", target, "link"])
        for path in ("link", target):
            with pytest.raises(OSError):
                running.write(path, b"changed")
    assert (world.folder / "public" / "train.csv").read_text() == "a,b\n"
