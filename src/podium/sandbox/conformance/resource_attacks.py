"""Resource attacks: attempts to exhaust the machine or to outlive the program. Each must leave a neighbour unharmed."""

from __future__ import annotations

import contextlib
import resource
import threading
import time
from functools import partial

from podium.sandbox.backend import Sandbox
from podium.sandbox.conformance.fixtures import (
    LIMITS,
    SOON_S,
    Bench,
    check,
    count_processes,
    equal,
    eventually,
    limited,
    require,
    run_program,
    sealed,
    works,
)
from podium.sandbox.linux.limits.disk_usage import measure_disk_usage
from podium.sandbox.spec import GIB, Limits

bounded_processes = limited("processes", by_kernel_if_unsealed=True)


_MEMORY_ATTACKS = (
    "eat_memory.pyw",
    "eat_memory_in_swarms.pyw",
    "eat_memory_files.pyw",
    "eat_memory_page_tables.pyw",
    "eat_memory_sockets.pyw",
    "eat_memory_in_flight.pyw",
)
_DISK_ATTACKS = (
    "fill_disk.pyw",
    "fill_disk_locked.pyw",
    "fill_disk_nameless.pyw",
    "fill_disk_at_once.pyw",
    "fill_disk_mapped.pyw",
    "fill_disk_in_flight.pyw",
    "fill_disk_behind_a_socket.pyw",
    "fill_disk_odd_names.pyw",
)


def victim(bench: Bench) -> Sandbox:
    return bench.open(limits=LIMITS)


def _is_gone(name: str) -> bool:
    return count_processes(name) == 0


@check(bounded_processes)
def a_full_process_table_is_emptied(bench: Bench) -> None:
    for name in ("fork_bomb.pyw", "thread_bomb.pyw", "pile_up_zombies.pyw"):
        with bench.others_unharmed():
            sandbox = victim(bench)
            run_program(sandbox, f"harm/{name}", timeout_s=1)
            require(eventually(partial(_is_gone, name)), name, "goes on")
            require(works(sandbox), name)


@check(sealed, bounded_processes)
def a_full_process_table_in_the_background_is_emptied_when_needed(bench: Bench) -> None:
    with bench.others_unharmed():
        sandbox = victim(bench)
        run_program(sandbox, "harm/fork_bomb.sh", timeout_s=1)
        run_program(sandbox, "harm/fork_bomb.sh", background=True)
        require(eventually(lambda: works(sandbox)))
        sandbox.kill_all()
        require(eventually(lambda: count_processes("fork_bomb.sh") == 0), "it goes on")


@check(limited("memory_bytes"), bounded_processes)
def memory_is_limited(bench: Bench) -> None:
    for name in _MEMORY_ATTACKS:
        with bench.others_unharmed():
            sandbox = victim(bench)
            result = run_program(sandbox, f"harm/{name}", timeout_s=1.2 if "swarms" in name else SOON_S)
            # With this limit on processes, the swarm's last ones may fail to start, and it ends by itself.
            require(result.exit_code == 137 or (result.exit_code == 1 and "swarms" in name), name, result.exit_code)
            require("memory limit" in str(result.stopped) or "swarms" in name, name, result.stopped)
            require(works(sandbox), name)


@check(limited("shared_memory_bytes"), limited("memory_bytes"))
def shared_memory_leaves_some_for_the_next_program(bench: Bench) -> None:
    sandbox = victim(bench)
    equal(run_program(sandbox, "harm/eat_shared_memory.pyw").stdout.text.strip(), "28")  # ENOSPC
    require(works(sandbox))
    require("memory limit" in str(run_program(sandbox, "harm/eat_memory.pyw").stopped))
    require(works(sandbox))
    equal(sandbox.run(["sh", "-c", "rm /dev/shm/left*"]).exit_code, 0)


@check(limited("disk_bytes"))
def disk_space_is_limited(bench: Bench) -> None:
    # If temporary files are in memory, they count as memory: that limit must not come first.
    limits = LIMITS.model_copy(update={"memory_bytes": 8 * GIB})
    for name in [*_DISK_ATTACKS, *(["fill_disk_elsewhere.sh"] if bench.capabilities.sealed else [])]:
        sandbox = bench.open(limits=limits)
        result = run_program(sandbox, f"harm/{name}")
        equal((name, result.exit_code), (name, 137))
        require("disk limit of 30 MiB exceeded" in str(result.stopped), name, result.stopped)
        require(works(sandbox), name)
        left = measure_disk_usage([sandbox.workspace], Limits()).size
        require(left <= LIMITS.disk_bytes, name, "leaves", left)


@check(limited("disk_bytes"))
def files_can_only_be_deleted_over_the_disk_limit(bench: Bench) -> None:
    sandbox = victim(bench)
    run_program(sandbox, "harm/fill_disk.pyw")
    require(sandbox.run(["sh", "-c", "echo more > more"]).exit_code != 0, "more was written")
    equal(sandbox.run(["sh", "-c", "rm -f big*"]).exit_code, 0)
    equal(sandbox.run(["sh", "-c", "echo more > more && cat more"]).stdout.text, "more\n")


@check(limited("files"))
def the_number_of_files_is_limited(bench: Bench) -> None:
    sandbox = victim(bench)
    result = run_program(sandbox, "harm/fill_inodes.pyw", timeout_s=30)
    require("limit of 2,000 files exceeded" in str(result.stopped), result.stopped)
    require(works(sandbox))


@check(limited("file_bytes"))
def file_size_is_limited(bench: Bench) -> None:
    equal(run_program(victim(bench), "harm/big_file.pyw").stdout.text, "27\n")  # EFBIG


@check()
def output_flood_is_counted_but_not_kept(bench: Bench) -> None:
    for name in ("flood.sh", "flood_without_lines.pyw"):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = run_program(victim(bench), f"harm/{name}", timeout_s=1.2)
        require(len(result.stdout.head) + len(result.stdout.tail) <= 40_000)
        require(result.stdout.dropped > 10_000_000, result.stdout.dropped)
        require(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000, "it is kept in memory")  # KiB
        require(result.stopped is not None or result.stdout.tail.endswith(b"the end"))


@check()
def background_flood_does_not_block(bench: Bench) -> None:
    result = run_program(victim(bench), "harm/flood_from_behind.sh", background=True, timeout_s=600)
    equal((result.exit_code, result.stopped), (0, None))
    require("first" in result.stdout.text)


@check(sealed)
def exhausting_per_user_limits_does_not_stop_the_host(bench: Bench) -> None:
    with bench.others_unharmed():
        sandbox = victim(bench)
        greedy = threading.Thread(
            target=run_program, args=(sandbox, "harm/use_up_descriptors.pyw"), kwargs={"timeout_s": 1.5}
        )
        greedy.start()
        try:
            # On a busy machine its time may be up before it is seen.
            require(eventually(lambda: count_processes("use_up_descriptors") > 0 or not greedy.is_alive()))
            while greedy.is_alive():
                equal(bench.neighbour.run(["echo", "fine"], timeout_s=SOON_S).stdout.text, "fine\n")
                time.sleep(0.1)
        finally:
            greedy.join()


def _require_nothing_outlives(bench: Bench, *names: str) -> None:
    for name in names:
        sandbox = victim(bench)
        with bench.others_unharmed():
            run_program(sandbox, f"harm/{name}", timeout_s=1)
            written = {path.name: path.read_bytes() for path in sandbox.workspace.iterdir() if path.is_file()}
            (sandbox.workspace / "submission.csv").write_text("honest")
            time.sleep(0.25)
            after = {path.name: path.read_bytes() for path in sandbox.workspace.iterdir() if path.is_file()}
            equal((name, after), (name, {**written, "submission.csv": b"honest"}))
            require(works(sandbox), name)


@check()
def nothing_outlives_its_program(bench: Bench) -> None:
    _require_nothing_outlives(
        bench,
        "daemonise.pyw",
        "ignore_signals.pyw",
        "kill_supervisor.pyw",
        "stop_supervisor.pyw",
        "end_main_thread.pyw",
    )


@check(sealed)
def programs_that_signal_all_processes_leave_nothing_behind(bench: Bench) -> None:
    _require_nothing_outlives(bench, "kill_all_processes.pyw", "stop_all_processes.pyw", "comet.pyw")
    result = run_program(victim(bench), "harm/kill_all_processes.pyw")
    equal((result.exit_code, result.stopped), (137, "killed together with its supervisor"))


@check()
def killed_supervisor_does_not_harm_other_programs(bench: Bench) -> None:
    sandbox = victim(bench)
    beside = sandbox.start(["sh", "-c", "sleep 0.8; echo unharmed"])
    run_program(sandbox, "harm/kill_supervisor.pyw")
    if bench.capabilities.sealed:
        run_program(sandbox, "harm/comet.pyw")
    equal(beside.wait(SOON_S).stdout.text, "unharmed\n")


@check()
def killed_supervisor_is_noticed_while_others_run(bench: Bench) -> None:
    sandbox = victim(bench)
    script = "echo up > up; while [ ! -e go ]; do sleep 0.01; done; kill -9 $PPID; sleep 600"
    program = sandbox.start(["sh", "-c", script])
    require(eventually((sandbox.workspace / "up").exists), "it does not start")
    with contextlib.closing(sandbox.start(["sleep", "600"])):  # must not keep open the first one's socket
        sandbox.write("go", b"")
        equal(program.wait(SOON_S).stopped, "killed together with its supervisor")


@check()
def a_program_without_streams_is_waited_for(bench: Bench) -> None:
    sandbox = victim(bench)
    equal(run_program(sandbox, "harm/close_streams.pyw").exit_code, 7)
    equal((sandbox.workspace / "still-there").read_text(), "yes")


@check()
def a_daemon_ends_with_the_sandbox(bench: Bench) -> None:
    sandbox = victim(bench)
    run_program(sandbox, "harm/daemonise.pyw", background=True)
    submission = sandbox.workspace / "submission.csv"
    require(eventually(lambda: submission.read_text() == "forged"), "it does not run")
    sandbox.stop()
    submission.write_text("honest")
    time.sleep(0.25)
    equal(submission.read_text(), "honest")


@check(sealed)
def temporary_folders_are_removed(bench: Bench) -> None:
    canary = bench.folder / "canary"
    canary.write_text("canary")
    canary.chmod(0o444)
    for name in ("leave_locked_folders.pyw", "leave_odd_names.pyw", "leave_deep_folders.pyw"):
        sandbox = bench.open()
        sandbox.write("canary-path", str(canary).encode())
        result = run_program(sandbox, f"harm/{name}", timeout_s=60)
        require(result.stdout.text == "left\n" or "nested too deep" in str(result.stopped), name, result)
        require(works(sandbox), name)
        sandbox.stop()
        require((sandbox.workspace / "canary-path").exists(), "the workspace is touched")
    equal((canary.read_text(), canary.stat().st_mode & 0o777), ("canary", 0o444))
