"""Running programs: start, input, output, timeout and end."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from podium.errors import SandboxGoneError
from podium.sandbox.conformance.fixtures import (
    HEARTBEAT,
    SOON_S,
    Bench,
    check,
    core_binding,
    count_processes,
    equal,
    eventually,
    limited,
    own_ports,
    pausing,
    raises,
    require,
    run_program,
    sealed,
    unique_seconds,
)
from podium.sandbox.program_result import Keep
from podium.sandbox.spec import MIB, Limits

_EXIT_CODES = {
    "true": 0, "exit 3": 3, "exit 255": 255, "kill -9 $$": 137, "kill -TERM $$": 143, "kill -SEGV $$": 139,
}  # fmt: skip
_USUAL_VARIABLES = {"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER"}


@check()
def exit_codes_are_those_of_a_shell(bench: Bench) -> None:
    sandbox = bench.open()
    results = {script: sandbox.run(["sh", "-c", script]) for script in _EXIT_CODES}
    equal({script: result.exit_code for script, result in results.items()}, _EXIT_CODES)
    require(all(result.stopped is None for result in results.values()))


@check()
def start_failures_are_reported(bench: Bench) -> None:
    sandbox = bench.open()
    sandbox.write("plain", b"")
    for command, code, reason in (
        ("no-such-program", 127, "command not found"),
        (f"{sandbox.home}/no/such", 127, "command not found"),
        (f"{sandbox.home}/plain", 126, "permission denied"),
        (sandbox.home, 126, "permission denied"),
        ("half\0a", 126, "embedded null byte"),
    ):
        result = sandbox.run([command])
        equal((result.exit_code, result.stderr.text), (code, f"{command}: {reason}\n"))
    result = sandbox.run(["true"], cwd="missing")
    equal((result.exit_code, result.stderr.text), (126, f"{sandbox.home}/missing: no such file or directory\n"))


@check()
def programs_get_their_folder_arguments_and_variables(bench: Bench) -> None:
    sandbox = bench.open(environment={"ZERO": "null"})
    sandbox.write("inner/file", b"")
    script = 'pwd; printf "%s|" "$@"; echo; echo "$ZERO $ONE $TWO"; ls'
    result = sandbox.run(
        ["sh", "-c", script, "name", "a b", "", "ü\n"], cwd="inner", environment={"ONE": "eins", "TWO": "zwei"}
    )
    equal(result.stdout.text, f"{sandbox.home}/inner\na b||ü\n|\nnull eins zwei\nfile\n")


@check()
def host_environment_is_not_inherited(bench: Bench) -> None:
    sandbox = bench.open()
    shown = sandbox.run(["env"]).stdout.text.splitlines()
    equal(dict(line.partition("=")[::2] for line in shown), sandbox.enforced().environment)
    require({line.partition("=")[0] for line in shown} >= _USUAL_VARIABLES, shown)


@check()
def programs_start_with_default_signal_handling(bench: Bench) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1})
    try:
        status = bench.open().run(["cat", "/proc/self/status"]).stdout.text
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    of_the_c_library = 0b111 << 31  # signals 32 to 34 are its own, and our parent may have ignored them
    for line in status.splitlines():
        if line.startswith(("SigBlk", "SigIgn", "SigCgt")):
            equal(int(line.split()[1], 16) & ~of_the_c_library, 0)


@check()
def closed_pipe_ends_the_writer(bench: Bench) -> None:
    equal(bench.open().run(["sh", "-c", "yes | head -1"], timeout_s=SOON_S).stdout.text, "y\n")


@check()
def input_is_passed_on_and_closed(bench: Bench) -> None:
    sandbox, data = bench.open(), os.urandom(3_000_000)
    equal(sandbox.run(["sha256sum"], stdin=data).stdout.text.split()[0], hashlib.sha256(data).hexdigest())
    equal(sandbox.run(["cat"]).stdout.text, "")
    echoed = sandbox.run(["cat"], stdin=data, keep=Keep(head_bytes=1 << 22, tail_bytes=0))
    require(echoed.stdout.head == data, "the output differs from the input")


@check()
def unread_input_is_discarded(bench: Bench) -> None:
    sandbox = bench.open()
    equal(sandbox.run(["true"], stdin=b"x" * 3_000_000).exit_code, 0)
    script = "exec <&-; sleep 0.1; echo done"
    equal(sandbox.run(["sh", "-c", script], stdin=b"x" * 3_000_000).stdout.text, "done\n")


@check()
def long_output_keeps_head_and_tail(bench: Bench) -> None:
    output = bench.open().run(["seq", "1000000"], keep=Keep(head_bytes=10, tail_bytes=8)).stdout
    equal((output.head, output.tail, output.dropped), (b"1\n2\n3\n4\n5\n", b"1000000\n", 6_888_896 - 18))


@check()
def streams_are_kept_apart(bench: Bench) -> None:
    result = bench.open().run(["sh", "-c", "echo out; echo err >&2"])
    equal((result.stdout.text, result.stderr.text), ("out\n", "err\n"))


@check()
def timeout_kills_the_whole_process_tree(bench: Bench) -> None:
    sandbox, seconds = bench.open(), unique_seconds()
    script = f"echo before; (setsid sleep {seconds} &); sleep {seconds}"
    result = sandbox.run(["sh", "-c", script], timeout_s=0.5)
    equal((result.exit_code, result.stopped, result.stdout.text), (137, "time limit of 0.5 s", "before\n"))
    require(eventually(lambda: count_processes(seconds) == 0), "something is left")
    equal(sandbox.run(["sleep", "0.2"], timeout_s=SOON_S).stopped, None)


@check()
def background_processes_end_with_the_program_unless_allowed(bench: Bench) -> None:
    sandbox, seconds = bench.open(), unique_seconds()
    sandbox.run(["sh", "-c", f"sleep {seconds} & setsid sleep {seconds} &"])
    require(eventually(lambda: count_processes(seconds) == 0), "something is left")
    sandbox.run(["sh", "-c", f"sleep {seconds} > /dev/null 2>&1 &"], background=True)
    equal(sandbox.run(["true"]).exit_code, 0)
    require(eventually(lambda: count_processes(seconds) == 1), "nothing stays in the background")
    sandbox.kill_all()
    require(eventually(lambda: count_processes(seconds) == 0), "kill_all leaves something")
    equal(sandbox.run(["echo", "fine"]).stdout.text, "fine\n")


@check(pausing)
def background_processes_pause_while_no_program_is_awaited(bench: Bench) -> None:
    sandbox = bench.open(pauses_background=True)
    beats = sandbox.workspace / "beats"
    sandbox.write("beat.py", HEARTBEAT.encode())
    script = "python beat.py > /dev/null 2>&1 & while [ ! -e beats ]; do sleep 0.01; done"
    sandbox.run(["sh", "-c", script], background=True)
    for _ in range(2):
        require(eventually(lambda: _stands_still(beats)), "it goes on")
        sandbox.write("written", b"meanwhile")
        until_the_next = 'old=$(cat beats); while [ "$(cat beats)" = "$old" ]; do sleep 0.01; done'
        equal(sandbox.run(["sh", "-c", until_the_next], timeout_s=SOON_S).stopped, None)
    require(sandbox.enforced().pauses_background)


def _stands_still(path: Path) -> bool:
    before = path.read_text()
    time.sleep(0.1)
    return path.read_text() == before


@check(pausing)
def self_waking_processes_are_killed_in_a_pause(bench: Bench) -> None:
    sandbox = bench.open(pauses_background=True)
    for name in ("wake_itself.pyw", "wake_itself_odd_name.pyw"):
        run_program(sandbox, f"harm/{name}", background=True)
        require(eventually(lambda: count_processes("wake_itself") == 0), name, "goes on")


@check()
def a_program_can_be_killed_from_another_thread(bench: Bench) -> None:
    program = bench.open().start(["sleep", "60"])
    threading.Timer(0.2, program.kill, args=("enough",)).start()
    result = program.wait()
    equal((result.exit_code, result.stopped), (137, "enough"))
    program.kill("again")
    program.close()


@check()
def closed_programs_are_killed(bench: Bench) -> None:
    sandbox, seconds = bench.open(), unique_seconds()
    sandbox.start(["sleep", seconds]).close()
    require(eventually(lambda: count_processes(seconds) == 0), "it goes on")


@check()
def stopping_ends_programs_and_refuses_new_ones(bench: Bench) -> None:
    sandbox, seconds = bench.open(), unique_seconds()
    codes: list[int] = []
    waiting = threading.Thread(target=lambda: codes.append(sandbox.run(["sleep", seconds]).exit_code))
    waiting.start()
    require(eventually(lambda: count_processes(seconds) == 1), "it does not start")
    sandbox.stop()
    waiting.join(SOON_S)
    equal(codes, [137])
    equal((count_processes(seconds), sandbox.is_running), (0, False))
    sandbox.stop()
    raises(SandboxGoneError, sandbox.run, ["true"])
    raises(SandboxGoneError, sandbox.read, "x", limit_bytes=1)
    raises(SandboxGoneError, sandbox.listen, 80)


@check()
def stopping_ends_background_processes(bench: Bench) -> None:
    sandbox, seconds = bench.open(), unique_seconds()
    script = f"sleep {seconds} > /dev/null 2>&1 & setsid sleep {seconds} > /dev/null 2>&1 &"
    sandbox.run(["sh", "-c", script], background=True)
    require(eventually(lambda: count_processes(seconds) == 2), "nothing stays in the background")
    sandbox.stop()
    equal(count_processes(seconds), 0)


@check()
def many_programs_run_in_parallel(bench: Bench) -> None:
    sandbox = bench.open()

    def work(number: int) -> bool:
        sandbox.write(f"files/{number}", str(number).encode())
        result = sandbox.run(["sh", "-c", f"cat files/{number}; exit {number}"], timeout_s=60)
        return (result.exit_code, result.stdout.text) == (number, str(number))

    with ThreadPoolExecutor(16) as pool:
        require(all(pool.map(work, range(64))))


@check()
def host_descriptors_are_not_leaked(bench: Bench) -> None:
    def used() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    sandbox = bench.open()
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
        listener = sandbox.listen(41_000)
        if listener is not None:
            listener.close()
    require(eventually(lambda: used() <= before), f"{used()} are open, {before} were before")


@check()
def programs_run_on_their_assigned_cores(bench: Bench) -> None:
    sandbox, everything = bench.open(), os.sched_getaffinity(0)
    script = "import os; print(sorted(os.sched_getaffinity(0)))"
    for core in sorted(everything)[:2]:
        equal(sandbox.run(["python", "-c", script], cores=[core]).stdout.text, f"[{core}]\n")
    equal(sandbox.run(["python", "-c", script]).stdout.text, f"{sorted(everything)}\n")
    equal(os.sched_getaffinity(0), everything)


@check()
def binding_programs_does_not_move_the_host(bench: Bench) -> None:
    sandbox, everything = bench.open(), os.sched_getaffinity(0)
    chosen = sorted(everything)[:2]

    def work(number: int) -> bool:
        core = chosen[number % len(chosen)]
        shown = sandbox.run(["grep", "Cpus_allowed_list", "/proc/self/status"], cores=[core]).stdout.text
        return shown.split()[-1] == str(core)

    with ThreadPoolExecutor(8) as pool:
        require(all(pool.map(work, range(40))))
        equal(set(pool.map(lambda _: frozenset(os.sched_getaffinity(0)), range(8))), {frozenset(everything)})


@check(core_binding)
def programs_stay_on_their_cores_and_do_not_notice(bench: Bench) -> None:
    core = min(os.sched_getaffinity(0))
    script = "import os; os.sched_setaffinity(0, {0, 1, 2, 3}); print(sorted(os.sched_getaffinity(0)))"
    equal(bench.open().run(["python", "-c", script], cores=[core]).stdout.text, f"[{core}]\n")


@check(own_ports)
def the_host_answers_on_a_port_inside(bench: Bench) -> None:
    sandbox, other = bench.open(), bench.open()
    script = (
        "import socket; s = socket.create_connection(('localhost', 5000)); s.send(b'in'); print(s.recv(9).decode())"
    )
    server, same = sandbox.listen(5000), other.listen(5000)
    require(server is not None and same is not None, "the sandbox's port is not available")
    assert server is not None and same is not None
    with server, same:
        server.settimeout(SOON_S)
        program = sandbox.start(["python", "-c", script])
        connection, _ = server.accept()
        with connection:
            equal(connection.recv(9), b"in")
            connection.send(b"out")
        equal(program.wait(SOON_S).stdout.text, "out\n")
        equal(sandbox.listen(5000), None)


@check(limited("memory_bytes"))
def memory_limit_is_reported_each_time(bench: Bench) -> None:
    sandbox = bench.open(limits=Limits(memory_bytes=200 * MIB))
    for _ in range(2):
        result = sandbox.run(["python", "-c", "x = [bytearray(b'x' * 10_000_000) for _ in range(1000)]"], timeout_s=60)
        equal(result.exit_code, 137)
        require("memory limit" in (result.stopped or ""), result.stopped)
        equal(sandbox.run(["true"]).stopped, None)


@check()
def policy_matches_the_claimed_capabilities(bench: Bench) -> None:
    sandbox = bench.open(limits=Limits(memory_bytes=200 * MIB), environment={"SEED": "3"})
    claimed, policy = bench.capabilities, sandbox.enforced()
    equal((policy.backend, policy.sealed, policy.home), (bench.backend.name, claimed.sealed, sandbox.home))
    equal({name: limit.enforcement for name, limit in policy.limits.items()}, claimed.limits)
    equal(policy.network, "host" if claimed.network == "always" else "none")
    equal(policy.environment["SEED"], "3")
    equal(type(policy).model_validate_json(policy.model_dump_json()), policy)
    shown = sandbox.run(["cat", "/proc/self/status"]).stdout.text
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in shown.splitlines())}
    equal(
        (status["NoNewPrivs"], status["Seccomp"]), (str(int(policy.no_new_privileges)), "2" if policy.seccomp else "0")
    )
    if policy.sealed:
        require(policy.no_new_privileges and policy.seccomp and {"mnt", "net", "pid"} <= {*policy.namespaces}, policy)


@check()
def only_a_temporary_workspace_is_removed(bench: Bench) -> None:
    permanent = bench.open()
    permanent.write("file", b"kept")
    permanent.stop()
    equal((permanent.workspace / "file").read_text(), "kept")
    temporary = bench.open(workspace=None)
    temporary.run(["sh", "-c", "mkdir -p locked/inner; touch locked/inner/file; chmod 0 locked"])
    temporary.stop()
    require(not temporary.workspace.exists(), "it is still there")


_HOST = """
import os, sys
from functools import partial
from pathlib import Path
from podium.sandbox.backend import find_backend
from podium.sandbox.spec import SandboxSpec
name, workspace, seconds, fork = sys.argv[1:]
sandbox = find_backend(name).open(SandboxSpec(workspace=Path(workspace)))
script = f"sleep {seconds} > /dev/null 2>&1 & setsid sleep {seconds} > /dev/null 2>&1 &"
sandbox.run(["sh", "-c", script], background=True)
if fork == "fork" and os.fork() == 0:  # it inherits all sockets of its parent
    os.execvp("sleep", ["sleep", "60"])
print("ready", flush=True)
sandbox.run(["sleep", seconds])
"""


@check()
def sandboxes_end_with_a_killed_host_process(bench: Bench) -> None:
    kind = type(bench.backend)
    for fork in ("fork", "alone"):
        seconds, workspace = unique_seconds(), bench.folder / f"killed-{fork}"
        command = [sys.executable, "-c", _HOST, f"{kind.__module__}:{kind.__qualname__}", str(workspace), seconds, fork]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as host:
            assert host.stdout is not None
            equal(host.stdout.readline(), "ready\n")
            # The process itself has the number among its arguments too, and so may a shell.
            require(eventually(partial(_has_processes, seconds, at_least=4)), "the programs do not start")
            host.kill()
            host.wait()
            require(eventually(partial(_has_processes, seconds, at_least=0, at_most=0)), "programs go on")
            with contextlib.suppress(ProcessLookupError):
                os.killpg(host.pid, signal.SIGKILL)


def _has_processes(argument: str, *, at_least: int, at_most: int = 99) -> bool:
    return at_least <= count_processes(argument) <= at_most


@check(sealed)
def two_sandboxes_do_not_see_each_other(bench: Bench) -> None:
    one, other, seconds = bench.open(), bench.open(), unique_seconds()
    one.write("/tmp/note", b"mine")
    one.write("note", b"mine")
    one.run(["sh", "-c", f"sleep {seconds} > /dev/null 2>&1 &"], background=True)
    for path in ("/tmp/note", "note", f"{one.workspace}/note"):
        raises(FileNotFoundError, other.read, path, limit_bytes=10)
    seen = other.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]).stdout.text
    require(seconds not in seen, seen)
