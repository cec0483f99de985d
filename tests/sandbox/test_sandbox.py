"""How a sandbox behaves towards programs that mean no harm."""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from podium.errors import PodiumError, SandboxGoneError, UsageError
from podium.sandbox import bubblewrap, interpreter
from podium.sandbox.bubblewrap import Bubblewrap
from podium.sandbox.disk import disk_use
from podium.sandbox.interpreter import Interpreter, find_interpreter
from podium.sandbox.program import SupervisedProgram
from podium.sandbox.result import Collector, Keep
from podium.sandbox.spec import MIB, Limits, Mount, SandboxSpec
from podium.sandbox.supervised import SupervisedSandbox as Sandbox
from podium.sandbox.watchdog import tree

SOON_S = 10.0


def eventually(claim: Callable[[], bool]) -> bool:
    until = time.monotonic() + SOON_S
    while time.monotonic() < until:
        if claim():
            return True
        time.sleep(0.02)
    return False


# Programs


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("true", 0),
        ("exit 3", 3),
        ("exit 255", 255),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("kill -SEGV $$", 139),
    ],
)
def test_exit_codes_are_those_of_a_shell(sandbox: Sandbox, script: str, code: int) -> None:
    outcome = sandbox.run(["sh", "-c", script])
    assert (outcome.exit_code, outcome.stopped) == (code, None)


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (["no-such-program"], 127, "no-such-program: command not found\n"),
        (["/home/no/such"], 127, "/home/no/such: command not found\n"),
        (["/etc/passwd"], 126, "/etc/passwd: permission denied\n"),
        (["/home"], 126, "/home: permission denied\n"),
        (["half\0a"], 126, "half\0a: embedded null byte\n"),
    ],
)
def test_what_cannot_be_started_is_said(sandbox: Sandbox, command: list[str], code: int, message: str) -> None:
    outcome = sandbox.run(command)
    assert (outcome.exit_code, outcome.stderr.text) == (code, message)


def test_a_missing_folder_is_said(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["true"], cwd="missing")
    assert (outcome.exit_code, outcome.stderr.text) == (126, "/home/missing: no such file or directory\n")


def test_a_program_has_its_folder_its_arguments_and_its_variables(sandbox: Sandbox) -> None:
    sandbox.write("inner/file", b"")
    script = 'pwd; printf "%s|" "$@"; echo; echo "$ONE $TWO"; ls'
    outcome = sandbox.run(
        ["sh", "-c", script, "name", "a b", "", "ü\n"], cwd="inner", environment={"ONE": "eins", "TWO": "zwei"}
    )
    assert outcome.stdout.text == "/home/inner\na b||ü\n|\neins zwei\nfile\n"


def test_nothing_of_the_hosts_environment_is_inherited(sandbox: Sandbox) -> None:
    names = {line.partition("=")[0] for line in sandbox.run(["env"]).stdout.text.splitlines()}
    assert names == {"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER"}


def test_a_program_starts_with_signals_as_usual(sandbox: Sandbox) -> None:
    status = sandbox.run(["cat", "/proc/self/status"]).stdout.text
    names = ("SigBlk", "SigIgn", "SigCgt")
    of_the_c_library = 0b111 << 31  # signals 32 to 34 are its own, and may come ignored from whoever started us
    masks = {
        line.split(":")[0]: int(line.split()[1], 16) & ~of_the_c_library
        for line in status.splitlines()
        if line[:6] in names
    }
    assert masks == dict.fromkeys(names, 0)


def test_what_comes_after_a_pipe_ends_the_program_before_it(sandbox: Sandbox) -> None:
    assert sandbox.run(["sh", "-c", "yes | head -1"], timeout_s=SOON_S).stdout.text == "y\n"


# Streams


def test_input_is_passed_on_and_closed(sandbox: Sandbox) -> None:
    data = os.urandom(3_000_000)
    outcome = sandbox.run(["sha256sum"], stdin=data)
    assert outcome.stdout.text.split()[0] == __import__("hashlib").sha256(data).hexdigest()
    assert sandbox.run(["cat"]).stdout.text == ""


def test_input_that_nobody_reads_does_not_matter(sandbox: Sandbox) -> None:
    assert sandbox.run(["true"], stdin=b"x" * 3_000_000).exit_code == 0
    assert sandbox.run(["sh", "-c", "exec <&-; sleep 0.1; echo done"], stdin=b"x" * 3_000_000).stdout.text == "done\n"


def test_large_input_and_output_at_once(sandbox: Sandbox) -> None:
    data = b"0123456789abcde\n" * 200_000
    outcome = sandbox.run(["cat"], stdin=data, keep=Keep(head_bytes=1 << 22, tail_bytes=0))
    assert outcome.stdout.head == data


def test_of_much_output_head_and_tail_are_kept_and_the_rest_is_counted(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["seq", "1000000"], keep=Keep(head_bytes=10, tail_bytes=8))
    assert outcome.stdout.head == b"1\n2\n3\n4\n5\n"
    assert outcome.stdout.tail == b"1000000\n"
    assert outcome.stdout.dropped == 6_888_896 - 18
    assert outcome.stdout.text == "1\n2\n3\n4\n5\n\n[... 6,888,878 bytes left out ...]\n1000000\n"


def test_streams_are_kept_apart(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["sh", "-c", "echo out; echo err >&2"])
    assert (outcome.stdout.text, outcome.stderr.text) == ("out\n", "err\n")


@pytest.mark.parametrize("sizes", [[1] * 500, [7, 100, 3], [1000], [], [64, 64, 64]])
@pytest.mark.parametrize(("head", "tail"), [(0, 0), (10, 0), (0, 10), (100, 100), (1000, 1000)])
def test_a_collector_keeps_what_it_should(sizes: list[int], head: int, tail: int) -> None:
    collector = Collector(Keep(head, tail))
    whole = os.urandom(sum(sizes))
    place = 0
    for size in sizes:
        collector.add(whole[place : place + size])
        place += size
    output = collector.output()
    assert output.head == whole[:head]
    rest = whole[head:]
    assert output.tail == rest[max(0, len(rest) - tail) :]
    assert len(output.head) + len(output.tail) + output.dropped == len(whole)


# Ending


def test_a_program_whose_time_is_up_is_killed_with_all_it_started(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["sh", "-c", "echo before; (setsid sleep 61 &) ; sleep 62"], timeout_s=0.5)
    assert (outcome.exit_code, outcome.stopped, outcome.stdout.text) == (137, "time limit of 0.5 s", "before\n")
    assert outcome.seconds < SOON_S
    assert eventually(lambda: len(tree(sandbox.pid)) == 1)


def test_a_program_that_ends_in_time_is_not_stopped(sandbox: Sandbox) -> None:
    assert sandbox.run(["sleep", "0.2"], timeout_s=SOON_S).stopped is None


def test_what_is_left_behind_ends_with_the_program_unless_it_may_stay(sandbox: Sandbox) -> None:
    sandbox.run(["sh", "-c", "sleep 61 & setsid sleep 62 &"])
    assert eventually(lambda: len(tree(sandbox.pid)) == 1)
    sandbox.run(["sh", "-c", "sleep 61 > /dev/null 2>&1 &"], background=True)
    assert "sleep 61" in sandbox.run(["ps", "-eo", "args"]).stdout.text
    sandbox.kill_all()
    assert "sleep 61" not in sandbox.run(["ps", "-eo", "args"]).stdout.text


def test_a_program_can_be_killed_from_another_thread(sandbox: Sandbox) -> None:
    execution = sandbox.start(["sleep", "60"])
    threading.Timer(0.2, execution.kill, args=("enough",)).start()
    outcome = execution.wait()
    assert (outcome.exit_code, outcome.stopped) == (137, "enough")
    execution.kill("again")
    execution.close()


def test_a_program_that_is_let_go_of_is_killed(sandbox: Sandbox) -> None:
    sandbox.start(["sleep", "60"]).close()
    assert eventually(lambda: len(tree(sandbox.pid)) == 1)


def test_stopping_ends_what_runs_and_refuses_what_comes(spec: SandboxSpec) -> None:
    running = Bubblewrap().open(spec)
    outcomes: list[object] = []
    waiting = threading.Thread(target=lambda: outcomes.append(running.run(["sleep", "60"])))
    waiting.start()
    assert eventually(lambda: len(tree(running.pid)) == 3)
    pids = tree(running.pid)
    temporary = running._temporary
    running.stop()
    waiting.join(SOON_S)
    assert [getattr(outcome, "exit_code", None) for outcome in outcomes] == [137]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not temporary.exists()
    running.stop()
    for attempt in (
        lambda: running.run(["true"]),
        lambda: running.read("x", limit_bytes=1),
        lambda: running.listen(80),
    ):
        with pytest.raises(SandboxGoneError, match="is gone"):
            attempt()


def test_a_warden_killed_from_outside_is_noticed(spec: SandboxSpec) -> None:
    with Bubblewrap().open(spec) as running:
        os.kill(running.pid, signal.SIGKILL)
        with pytest.raises(SandboxGoneError):
            running.run(["true"])


def test_many_programs_at_once(sandbox: Sandbox) -> None:
    def work(number: int) -> bool:
        sandbox.write(f"files/{number}", str(number).encode())
        outcome = sandbox.run(["sh", "-c", f"cat files/{number}; exit {number}"], timeout_s=60)
        return (outcome.exit_code, outcome.stdout.text) == (number, str(number))

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(64)))
    assert eventually(lambda: len(tree(sandbox.pid)) == 1)


def test_descriptors_of_the_host_are_given_back(sandbox: Sandbox) -> None:
    def used() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    sandbox.run(["true"])
    before = used()
    for _ in range(5):
        sandbox.run(["sh", "-c", "sleep 60 &"], stdin=b"x", background=True)
        sandbox.run(["sleep", "60"], timeout_s=0.05)
        sandbox.write("file", b"x")
        for path in ("file", ".", "missing"):
            try:
                sandbox.read(path, limit_bytes=10)
            except OSError:
                continue
        sandbox.listen(4000).close()
    assert used() == before


# Cores


def test_a_program_is_bound_to_its_cores_and_does_not_notice(sandbox: Sandbox) -> None:
    script = "import os; os.sched_setaffinity(0, {0, 1, 2, 3}); print(sorted(os.sched_getaffinity(0)))"
    everything = os.sched_getaffinity(0)
    for core in sorted(everything)[:2]:
        for command in (["python", "-c", script], ["sh", "-c", f"nohup python -c '{script}'"]):
            assert sandbox.run(command, cores=[core]).stdout.text == f"[{core}]\n"
    assert sandbox.run(["python", "-c", script]).stdout.text == f"{sorted(everything)}\n"
    assert os.sched_getaffinity(0) == everything


def test_many_programs_on_different_cores_leave_ours_alone(sandbox: Sandbox) -> None:
    everything = os.sched_getaffinity(0)
    chosen = sorted(everything)[:2]

    def work(number: int) -> str:
        core = chosen[number % len(chosen)]
        shown = sandbox.run(["sh", "-c", "grep Cpus_allowed_list /proc/self/status"], cores=[core]).stdout.text
        return "" if shown.split()[-1] == str(core) else shown

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(40))) == {""}
        assert set(pool.map(lambda _: frozenset(os.sched_getaffinity(0)), range(8))) == {frozenset(everything)}


# Files


def test_what_is_written_can_be_read_on_both_sides(sandbox: Sandbox, spec: SandboxSpec) -> None:
    workspace = sandbox.workspace
    sandbox.write("a/b/c.txt", b"one\n")
    sandbox.write("a/b/c.txt", b"two\n", append=True)
    assert (workspace / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert sandbox.run(["cat", "a/b/c.txt"]).stdout.text == "one\ntwo\n"
    sandbox.write("/home/a/b/c.txt", b"3")
    assert sandbox.read("a/b/../b/c.txt", limit_bytes=10) == b"3"
    sandbox.write("/tmp/elsewhere", b"x")
    assert sandbox.read("/tmp/elsewhere", limit_bytes=10) == b"x"
    assert not (workspace / "elsewhere").exists()


def test_reading_stops_one_byte_after_the_limit(sandbox: Sandbox) -> None:
    sandbox.write("file", b"x" * 3_000_000)
    assert len(sandbox.read("file", limit_bytes=10)) == 11
    assert len(sandbox.read("file", limit_bytes=2_999_999)) == 3_000_000
    assert len(sandbox.read("file", limit_bytes=3_000_000)) == 3_000_000


@pytest.mark.parametrize(
    ("path", "kind"),
    [("missing", FileNotFoundError), ("folder", IsADirectoryError), ("file/below", NotADirectoryError),
     ("locked", PermissionError), ("loop", OSError), ("x" * 300, OSError), ("fifo", OSError), ("zero\0", OSError)],
)  # fmt: skip
def test_reading_says_what_is_wrong(sandbox: Sandbox, path: str, kind: type[OSError]) -> None:
    if path == "locked" and os.getuid() == 0:
        pytest.skip("nothing is locked to root")
    sandbox.run(["sh", "-c", "mkdir folder; touch file locked; chmod 0 locked; ln -s loop loop; mkfifo fifo"])
    with pytest.raises(kind):
        sandbox.read(path, limit_bytes=10)


@pytest.mark.parametrize(
    "path", ["/proc/sys/kernel/hostname", "/proc/self/status", "/proc/1/cmdline", "/sys/devices/system/cpu/online"]
)
def test_files_of_the_kernel_are_not_read_with_the_hosts_eyes(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(OSError, match="Not a regular file"):
        sandbox.read(path, limit_bytes=100)


@pytest.mark.parametrize(
    ("path", "number"),
    [("/usr/new", errno.EROFS), ("/new", errno.EROFS), ("folder", errno.EISDIR), ("file/below", errno.ENOTDIR),
     ("/etc/passwd", errno.EROFS), ("nowhere/x/y", errno.ENOENT), ("loop/x", errno.ELOOP),
     ("x" * 300, errno.ENAMETOOLONG)],
)  # fmt: skip
def test_writing_says_what_is_wrong(sandbox: Sandbox, path: str, number: int) -> None:
    sandbox.run(["sh", "-c", "mkdir folder; touch file; ln -s /no/where nowhere; ln -s loop loop"])
    with pytest.raises(OSError) as caught:
        sandbox.write(path, b"x")
    assert caught.value.errno == number
    assert caught.value.filename == path


def test_descriptors_are_the_hosts_and_closed_in_its_children(sandbox: Sandbox) -> None:
    sandbox.write("file", b"content")
    descriptor = sandbox.open("file")
    try:
        assert os.read(descriptor, 100) == b"content"
        assert not os.get_inheritable(descriptor)
    finally:
        os.close(descriptor)


def test_permissions_of_new_files_are_usual(sandbox: Sandbox, spec: SandboxSpec) -> None:
    sandbox.write("new/file", b"")
    workspace = sandbox.workspace
    assert stat.S_IMODE((workspace / "new/file").stat().st_mode) & 0o700 == 0o600
    assert (workspace / "new/file").stat().st_uid == os.getuid()


# Ports


def test_the_host_answers_on_a_port_inside(sandbox: Sandbox) -> None:
    script = (
        "import socket; s = socket.create_connection(('localhost', 5000)); s.send(b'in'); print(s.recv(9).decode())"
    )
    with sandbox.listen(5000) as server:
        server.settimeout(SOON_S)
        execution = sandbox.start(["python", "-c", script])
        connection, _ = server.accept()
        with connection:
            assert connection.recv(9) == b"in"
            connection.send(b"out")
        assert execution.wait(SOON_S).stdout.text == "out\n"
        assert sandbox.listen(5000) is None


def test_ports_of_two_sandboxes_are_their_own(sandbox: Sandbox, tmp_path: Path) -> None:
    with Bubblewrap().open(SandboxSpec(workspace=tmp_path)) as other, sandbox.listen(5000), other.listen(5000):
        pass


# Starting


def test_a_missing_bubblewrap_is_said_and_leaves_nothing(
    spec: SandboxSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PodiumError, match="apt install bubblewrap"):
        Bubblewrap().open(spec)
    assert list(tmp_path.glob("podium-sandbox-*")) == []


def test_a_sandbox_that_cannot_start_says_why_and_leaves_nothing(
    spec: SandboxSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mount = Mount(source=tmp_path / "missing", target="/home/missing")
    with pytest.raises(PodiumError, match=r"does not start: bwrap: .*missing"):
        Bubblewrap().open(spec.model_copy(update={"mounts": (mount,)}))
    assert list(tmp_path.glob("podium-sandbox-*")) == []


def test_folders_between_mounts_are_mounts_themselves(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "f").write_text("x")
    mounts = (
        Mount(source=tmp_path / "w", target="/home", writable=True),
        Mount(source=tmp_path / "f", target="/home/a/b/f"),
        Mount(source=tmp_path / "f", target="/home/a/g"),
    )
    options = list(bubblewrap._mounts(mounts))
    assert [options[place : place + 3] for place in range(0, len(options), 3)] == [
        ["--bind", f"{tmp_path}/w", "/home"],
        ["--bind", f"{tmp_path}/w/a", "/home/a"],
        ["--bind", f"{tmp_path}/w/a/b", "/home/a/b"],
        ["--ro-bind", f"{tmp_path}/f", "/home/a/b/f"],
        ["--ro-bind", f"{tmp_path}/f", "/home/a/g"],
    ]


# The agent's Python


def make_python(home: Path) -> Path:
    """Something that looks like an installation of Python."""
    (home / "bin").mkdir(parents=True)
    (home / "lib/python3.11/site-packages").mkdir(parents=True)
    (home / "lib/python3.11/os.py").touch()
    (home / "bin/python3.11").touch()
    return home / "bin/python3.11"


def test_of_a_link_on_the_way_to_python_only_the_link_is_shown(tmp_path: Path) -> None:
    real = make_python(tmp_path / "share/python")
    (tmp_path / "local/bin").mkdir(parents=True)
    (tmp_path / "local/bin/python3").symlink_to(real)
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to(tmp_path / "local/bin/python3")
    shown = [mount.target for mount in Interpreter(tmp_path / "env").mounts()]
    assert shown == [str(tmp_path / part) for part in ("env", "local/bin/python3", "share/python")]


def test_a_system_python_by_its_short_name_does_not_show_everything(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to("/bin/sh")  # as good as /bin/python3
    assert [mount.target for mount in Interpreter(tmp_path).mounts()] == [str(tmp_path)]


def test_a_python_in_the_home_folder_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    make_python(tmp_path / "user")
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to(tmp_path / "user/bin/python3.11")
    with pytest.raises(UsageError, match="folder of its own"):
        Interpreter(tmp_path / "env").mounts()


def test_every_trace_of_podium_is_hidden(tmp_path: Path) -> None:
    make_python(tmp_path)
    packages = tmp_path / "lib/python3.11/site-packages"
    traces = ["podium", "podium-1.0.dist-info", "_podium.pth", "__editable___podium_finder.py", "podium.egg-link"]
    for name in [*traces, "numpy", "podiums", "my_podium_notes"]:
        (packages / name).touch()
    assert interpreter.traces([tmp_path]) == tuple(sorted(str(packages / name) for name in traces))
    checkout = Path(interpreter.__file__).parents[3]
    if (checkout / "pyproject.toml").exists():
        assert interpreter.traces([checkout.parent]) == (str(checkout),)


def test_folders_of_tasks_are_hidden_where_they_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, elsewhere = tmp_path / "env/share/tasks", tmp_path / "tasks"
    for folder in (inside, elsewhere):
        folder.mkdir(parents=True)
    monkeypatch.setenv("PODIUM_TASKS", f"{inside}:{elsewhere}")
    assert interpreter.traces([tmp_path / "env"]) == (str(inside),)


def test_the_environment_is_seen_and_podium_is_not(sandbox: Sandbox) -> None:
    script = "import sys, numpy; print(sys.prefix)"
    assert sandbox.run(["python", "-c", script], timeout_s=60).stdout.text == f"{find_interpreter(None).prefix}\n"
    assert "No module named 'podium'" in sandbox.run(["python", "-c", "import podium"]).stderr.text


# Limits


def test_locked_folders_are_measured_and_stay_locked(tmp_path: Path) -> None:
    inner = tmp_path / "top/locked/inner"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"x" * MIB)
    os.link(inner / "file", inner / "same")
    (tmp_path / "top/link").symlink_to("/")
    for folder, mode in ((inner, 0o000), (inner.parent, 0o300)):
        folder.chmod(mode)
    use = disk_use([tmp_path / "top"], Limits())
    assert MIB <= use.size < 2 * MIB
    assert use.files == 5
    assert stat.S_IMODE(inner.parent.stat().st_mode) == 0o300
    inner.parent.chmod(0o700)
    assert stat.S_IMODE(inner.stat().st_mode) == 0o000
    inner.chmod(0o700)


def test_folders_too_deep_to_measure_are_reported(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(250):
        folder = folder / "d"
        folder.mkdir()
    assert disk_use([tmp_path], Limits()).is_too_deep


def test_memory_limit_is_told_each_time(tmp_path: Path) -> None:
    limits = Limits(memory_bytes=200 * MIB)
    with Bubblewrap().open(SandboxSpec(limits=limits, workspace=tmp_path)) as running:
        greedy = ["python", "-c", "x = [bytearray(b'x' * 10_000_000) for _ in range(1000)]"]
        for _ in range(2):
            outcome = running.run(greedy, timeout_s=30)
            assert outcome.exit_code == 137
            assert "memory limit" in (outcome.stopped or "")
            assert running.run(["true"]).stopped is None


def test_executions_are_values_of_their_own(sandbox: Sandbox) -> None:
    executions: list[SupervisedProgram] = [
        sandbox.start(["sh", "-c", f"sleep 0.1; exit {number}"]) for number in range(5)
    ]
    assert [execution.wait().exit_code for execution in reversed(executions)] == [4, 3, 2, 1, 0]
