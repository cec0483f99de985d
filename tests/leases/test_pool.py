"""Leases, with real processes: processes that share a folder share its cores."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from podium.errors import PodiumError, UsageError
from podium.leases import Pool, default_pool

PATIENCE_S = 600
"""Timeout that only a broken pool reaches."""

HOLDER = """
import sys
from podium.leases import pool as leases
folder, cores, gpus, wanted_cores, wanted_gpus, name, poll_s = sys.argv[1:]
leases.POLL_S = float(poll_s)
pool = leases.Pool(folder, range(int(cores)), range(int(gpus)))
with pool.take(int(wanted_cores), int(wanted_gpus), name=name) as lease:
    print(*lease.cores, flush=True)
    sys.stdin.read()
"""

GRABBER = """
import os, random, sys
from pathlib import Path
from podium.leases import pool as leases
leases.POLL_S = 1000
folder, marks, seed, takes = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
pool, random = leases.Pool(folder, range(3), range(1)), random.Random(seed)
for _ in range(takes):
    with pool.take(random.randint(1, 3), random.randint(0, 1)) as lease:
        held = [marks / f"core-{number}" for number in lease.cores] + [marks / f"gpu-{number}" for number in lease.gpus]
        for mark in held:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        for mark in held:
            mark.unlink()
print("done")
"""

KILLED_CHILDREN = """
import os, random, signal, sys, time
from podium.leases import Pool
folder, seed, kills = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = random.Random(seed)
pool = Pool(folder, range(3), range(1))
children = []

def start():
    seed = random.random()
    pid = os.fork()
    if pid:
        return pid
    random.seed(seed)
    while True:
        with pool.take(random.randint(1, 3), random.randint(0, 1)):
            time.sleep(random.random() / 1000)

for _ in range(kills):
    while len(children) < 5:
        children.append(start())
    time.sleep(random.random() / 100)
    victim = children.pop(random.randrange(5))
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("done")
"""


class Holder:
    """Process that takes a lease, prints it and holds it until its input closes; by default it has to be woken up."""

    def __init__(self, pool: Pool, cores: int = 1, gpus: int = 0, *, name: str = "", poll_s: float = 1000) -> None:
        counts = map(str, (len(pool.cores), len(pool.gpus), cores, gpus))
        command = [sys.executable, "-c", HOLDER, str(pool.folder), *counts, name, str(poll_s)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def cores(self) -> tuple[int, ...]:
        """Wait for the lease and return its cores."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "it ended without a lease"
        return tuple(map(int, line.split()))

    def release(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def close(self) -> None:
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            stream.close()


Start = Callable[..., Holder]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pool"


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts holders, which end with the test."""
    holders: list[Holder] = []

    def start(pool: Pool, cores: int = 1, gpus: int = 0, *, name: str = "", poll_s: float = 1000) -> Holder:
        holders.append(Holder(pool, cores, gpus, name=name, poll_s=poll_s))
        return holders[-1]

    yield start
    for holder in holders:
        holder.close()


def waiting(pool: Pool) -> list[str]:
    return [claim.name for claim in pool.holders() if claim.is_waiting]


def holding(pool: Pool) -> list[str]:
    return [claim.name for claim in pool.holders() if not claim.is_waiting]


def until(condition: Callable[[], bool]) -> None:
    """Wait for another process to fulfil a condition."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)


def queue_up(start: Start, pool: Pool, name: str, cores: int = 1, gpus: int = 0, poll_s: float = 1000) -> Holder:
    """Start a holder that has to wait, and return it once it waits."""
    holder = start(pool, cores, gpus, name=name, poll_s=poll_s)
    until(lambda: name in waiting(pool))
    return holder


def everything_is_free(pool: Pool) -> bool:
    with pool.take(len(pool.cores), len(pool.gpus)) as lease:
        free = (lease.cores, lease.gpus) == (pool.cores, pool.gpus)
    return free and pool.holders() == []


def test_leases_are_exclusive(folder: Path) -> None:
    pool = Pool(folder, [2, 3, 7], [1])
    with pool.take(2) as first, pool.take(1, 1, name="second") as second:
        assert (first.cores, first.gpus) == ((2, 3), ())
        assert (second.cores, second.gpus) == ((7,), (1,))
        assert first.waited_s >= 0
        assert [(claim.pid, claim.name, claim.cores, claim.gpus) for claim in pool.holders()] == [
            (os.getpid(), "", (2, 3), ()),
            (os.getpid(), "second", (7,), (1,)),
        ]
    first.release()
    assert everything_is_free(pool)


@pytest.mark.parametrize(
    ("cores", "gpus", "message"),
    [
        (3, 0, r"The pool has only 2 cores and 1 GPU; 3 cores and 0 GPUs cannot be leased together\."),
        (1, 2, r"The pool has only 2 cores and 1 GPU; 1 core and 2 GPUs cannot be leased together\."),
        (0, 0, "A lease needs at least one core or GPU, not 0 cores and 0 GPUs"),
        (-1, 2, "A lease needs at least one core or GPU"),
    ],
)
def test_impossible_lease_is_refused_immediately(folder: Path, cores: int, gpus: int, message: str) -> None:
    pool = Pool(folder, range(2), range(1))
    with pool.take(2, 1), pytest.raises(UsageError, match=message):
        pool.take(cores, gpus)

    async def ask() -> None:
        async with pool.lease(cores, gpus):
            pass

    with pytest.raises(UsageError, match=message):
        anyio.run(ask)


def test_many_processes_never_share_a_core(folder: Path, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    commands = [[sys.executable, "-c", GRABBER, str(folder), str(marks), str(seed), "40"] for seed in range(6)]
    grabbers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    assert [grabber.communicate(timeout=PATIENCE_S)[0] for grabber in grabbers] == ["done\n"] * 6
    assert everything_is_free(Pool(folder, range(3), range(1)))


def test_many_threads_never_share_a_core(folder: Path) -> None:
    pool, held, clashes = Pool(folder, range(2)), set[int](), list[int]()

    def grab() -> None:
        for _ in range(50):
            with pool.take() as lease:
                clashes.extend(held.intersection(lease.cores))
                held.update(lease.cores)
                held.difference_update(lease.cores)

    threads = [threading.Thread(target=grab) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert clashes == []
    assert everything_is_free(pool)


def test_first_come_first_served(folder: Path, start: Start) -> None:
    pool = Pool(folder, range(1))
    holders = [start(pool, name="0")]
    until(lambda: holding(pool) == ["0"])
    holders += [queue_up(start, Pool(folder, range(1)), str(number)) for number in range(1, 5)]
    assert waiting(pool) == ["1", "2", "3", "4"]
    for number, holder in enumerate(holders):
        assert holder.cores() == (0,)
        assert (holding(pool), waiting(pool)) == ([str(number)], [str(later) for later in range(number + 1, 5)])
        holder.release()
    assert everything_is_free(pool)


def test_small_claims_do_not_starve_a_large_one(folder: Path, start: Start) -> None:
    pool = Pool(folder, range(2))
    first = pool.take()
    large = queue_up(start, pool, "large", cores=2)
    small = queue_up(start, pool, "small")
    assert waiting(pool) == ["large", "small"]  # although a core is free
    first.release()
    assert large.cores() == (0, 1)
    assert waiting(pool) == ["small"]
    large.release()
    assert small.cores() == (0,)


def test_later_claim_overtakes_with_unneeded_resources(folder: Path, start: Start) -> None:
    pool = Pool(folder, range(3), range(1))
    with pool.take(0, 1):
        older = queue_up(start, pool, "older", cores=1, gpus=1)
        later = start(pool, name="later", cores=2)
        assert len(later.cores()) == 2
        last = queue_up(start, pool, "last")  # the third core is the older one's
        later.release()
        assert last.cores() != ()
        assert waiting(pool) == ["older"]
    assert older.cores() != ()


def test_a_killed_holder_frees_its_cores(folder: Path, start: Start) -> None:
    pool = Pool(folder, range(2))
    holder = start(pool, name="holder", cores=2)
    holder.cores()
    waiter = queue_up(start, pool, "waiter", cores=2, poll_s=0.05)
    holder.kill()
    assert waiter.cores() == (0, 1)
    assert holding(pool) == ["waiter"]
    waiter.kill()
    assert everything_is_free(pool)


def test_a_killed_waiter_leaves_its_place(folder: Path, start: Start) -> None:
    pool = Pool(folder, range(3))
    first = pool.take()
    large = queue_up(start, pool, "large", cores=3)
    middle = queue_up(start, pool, "middle", cores=3)
    small = queue_up(start, pool, "small", poll_s=0.05)
    middle.kill()
    assert waiting(pool) == ["large", "small"]
    large.kill()
    assert small.cores() == (1,)
    first.release()
    small.release()
    assert everything_is_free(pool)


def test_no_core_is_lost_after_hundreds_of_kills(folder: Path) -> None:
    command = [sys.executable, "-c", KILLED_CHILDREN, str(folder), "0", "300"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert everything_is_free(Pool(folder, range(3), range(1)))
    assert list(folder.glob("*.pipe")) == []


FORKS = """
if os.fork() == 0:
    lease.release()  # not its own
    print("ready", flush=True)
"""
STARTS = """
subprocess.Popen(["cat"], close_fds=False)
print("ready", flush=True)
"""
PARENT = """
import os, subprocess, sys
from podium.leases import Pool
lease = Pool(sys.argv[1], range(1)).take()
{}
sys.stdin.read()
"""


@pytest.mark.parametrize("child", [FORKS, STARTS], ids=["forked", "started"])
def test_a_child_neither_keeps_nor_releases_a_lease(folder: Path, start: Start, child: str) -> None:
    pool = Pool(folder, range(1))
    command = [sys.executable, "-c", PARENT.format(child), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "ready\n"
        waiter = queue_up(start, pool, "waiter", poll_s=0.05)
        parent.kill()  # and its child lives on, until its input ends
        assert waiter.cores() == (0,)


def test_waiting_for_a_lease_does_not_block_the_event_loop(folder: Path) -> None:
    pool, order = Pool(folder, range(1)), list[str]()

    async def run(name: str) -> None:
        async with pool.lease(name=name) as lease:
            assert lease.cores == (0,)
            order.append(name)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            async with pool.lease():
                for name in ("one", "two", "three"):
                    group.start_soon(run, name)
                    while name not in waiting(pool):
                        await anyio.sleep(0)
            assert order == []

    anyio.run(main)
    assert order == ["one", "two", "three"]
    assert everything_is_free(pool)


def test_cancelling_removes_the_claim(folder: Path) -> None:
    pool = Pool(folder, range(1))

    async def hold(name: str) -> None:
        async with pool.lease(name=name):
            await anyio.sleep_forever()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(hold, "holder")
            while holding(pool) != ["holder"]:
                await anyio.sleep(0)
            async with anyio.create_task_group() as inner:
                inner.start_soon(hold, "waiter")
                while waiting(pool) != ["waiter"]:
                    await anyio.sleep(0)
                inner.cancel_scope.cancel()
            assert (holding(pool), waiting(pool)) == (["holder"], [])
            group.cancel_scope.cancel()

    anyio.run(main)
    assert everything_is_free(pool)


def test_tasks_cancelled_at_random_lose_no_core(folder: Path) -> None:
    pool = Pool(folder, range(2))

    async def hold(after: int) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(cancel, group.cancel_scope, after)
            async with pool.lease(1 + after % 2):
                await anyio.sleep(0.002)

    async def cancel(scope: anyio.CancelScope, after: int) -> None:
        for _ in range(after):
            await anyio.sleep(0.0005)
        scope.cancel()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(40):
                group.start_soon(hold, number % 20)

    anyio.run(main)
    assert everything_is_free(pool)


def test_exception_releases_the_lease(folder: Path) -> None:
    pool = Pool(folder, range(1))
    with pytest.raises(ZeroDivisionError), pool.take():
        _ = 1 / 0
    assert everything_is_free(pool)


def test_a_waiter_survives_the_loss_of_the_folder_and_of_the_queue(folder: Path, tmp_path: Path, start: Start) -> None:
    pool = Pool(folder, range(1))
    with pool.take():
        waiter = queue_up(start, pool, "waiter", poll_s=0.05)
        folder.rename(tmp_path / "deleted")
    assert waiter.cores() == (0,)
    waiter.kill()
    (folder / "claims").write_bytes(b"\0\0")  # as after a power cut
    assert everything_is_free(pool)


def test_processes_may_differ_in_the_cores_they_can_use(folder: Path) -> None:
    with Pool(folder, [0, 1]).take(2), Pool(folder, [1, 2]).take() as lease:
        assert lease.cores == (2,)


def test_a_pool_is_private(folder: Path, tmp_path: Path) -> None:
    Pool(folder, range(1))
    assert folder.stat().st_mode & 0o777 == 0o700

    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(PodiumError, match=r"link, is a symbolic link\. Remove it"):
        Pool(link, range(1))

    file = tmp_path / "file"
    file.touch()
    with pytest.raises(PodiumError, match="file, is not a folder"):
        Pool(file, range(1))

    folder.chmod(0o770)
    with pytest.raises(PodiumError, match="has mode 770, not 700"):
        Pool(folder, range(1))


def test_folder_of_another_user_is_refused(folder: Path) -> None:
    if os.geteuid() == 0:
        folder.mkdir(mode=0o700)
        os.chown(folder, 12345, -1)
    else:
        folder = Path("/")
    with pytest.raises(PodiumError, match=r"belongs to user \d+, not to \d+"):
        Pool(folder, range(1))


def test_environment_limits_libraries_to_the_lease(folder: Path) -> None:
    with Pool(folder, [2, 3, 7], [1, 4]).take(2, 2) as lease:
        assert lease.environment == {
            "OMP_NUM_THREADS": "2",
            "OPENBLAS_NUM_THREADS": "2",
            "MKL_NUM_THREADS": "2",
            "CUDA_VISIBLE_DEVICES": "1,4",
        }


def test_pool_can_be_restricted_to_visible_gpus(folder: Path) -> None:
    pool = Pool(folder, range(4), [0, 1, 2])
    with pool.with_gpus([1, 7]).take(1, 1) as lease, pool.take(1, 2) as other:
        assert (lease.gpus, other.gpus) == ((1,), (0, 2))
    with pytest.raises(UsageError, match="The pool has only 4 cores and 1 GPU"):
        pool.with_gpus([1, 7]).take(1, 2)


def test_default_pool_has_the_cores_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    pool = default_pool()
    assert set(pool.cores) == os.sched_getaffinity(0)
    assert pool.gpus == ()
    assert pool.folder == default_pool().folder == tmp_path / f"podium-leases-{os.geteuid()}"
