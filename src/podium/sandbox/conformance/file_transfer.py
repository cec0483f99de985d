"""File transfer between host and sandbox, including the traps that programs set for the host."""

from __future__ import annotations

import contextlib
import errno
import stat

from podium.sandbox.conformance.fixtures import SECRET, Bench, check, equal, raises, require, sealed
from podium.sandbox.spec import HOME, Mount

_SPECIAL_FILES = (
    "mkfifo target", "ln -s /dev/zero target", "ln -s /dev/tty target", "ln -s /proc/kmsg target", "mkdir target",
    "ln -s target target", "ln -s /dev/ptmx target", "ln -s /proc/1/mem target", "ln -s /proc/self/mem target",
    "ln -s /proc/self/environ target", "ln -s /etc/shadow target", "ln -s /proc/1/fd/0 target",
    "python -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"target\")'",
)  # fmt: skip


@check()
def written_files_are_readable_on_both_sides(bench: Bench) -> None:
    sandbox = bench.open()
    sandbox.write("a/b/c.txt", b"one\n")
    sandbox.write("a/b/c.txt", b"two\n", append=True)
    equal((sandbox.workspace / "a/b/c.txt").read_text(), "one\ntwo\n")
    equal(sandbox.run(["cat", "a/b/c.txt"]).stdout.text, "one\ntwo\n")
    sandbox.write(f"{sandbox.home}/a/b/c.txt", b"3")
    equal(sandbox.read("a/b/../b/c.txt", limit_bytes=10), b"3")
    sandbox.run(["sh", "-c", "echo from inside > inside.txt"])
    equal((sandbox.workspace / "inside.txt").read_text(), "from inside\n")
    mode = (sandbox.workspace / "a/b/c.txt").stat().st_mode
    equal(stat.S_IMODE(mode) & 0o700, 0o600)


@check()
def reading_stops_one_byte_after_the_limit(bench: Bench) -> None:
    sandbox = bench.open()
    sandbox.write("file", b"x" * 3_000_000)
    sizes = [len(sandbox.read("file", limit_bytes=limit)) for limit in (10, 2_999_999, 3_000_000)]
    equal(sizes, [11, 3_000_000, 3_000_000])


@check()
def file_errors_carry_the_right_errno(bench: Bench) -> None:
    sandbox = bench.open()
    sandbox.run(["sh", "-c", "mkdir folder; touch file; ln -s loop loop; mkfifo fifo; ln -s /no/where nowhere"])
    long = "x" * 300
    for path, number in {"missing": errno.ENOENT, "folder": errno.EISDIR, "file/below": errno.ENOTDIR,
                         "loop": errno.ELOOP, long: errno.ENAMETOOLONG, "zero\0": errno.EINVAL}.items():  # fmt: skip
        error = raises(OSError, sandbox.read, path, limit_bytes=10)
        equal((path, getattr(error, "errno", None)), (path, number))
    for path, number in {"folder": errno.EISDIR, "file/below": errno.ENOTDIR, long: errno.ENAMETOOLONG}.items():
        error = raises(OSError, sandbox.write, path, b"x")
        equal((getattr(error, "filename", None), getattr(error, "errno", None)), (path, number))
    for path in ("fifo", "loop/x", "nowhere/x/y"):
        raises(OSError, sandbox.write, path, b"x")


@check()
def links_do_not_lead_outside(bench: Bench) -> None:
    sandbox, private = bench.open(), bench.folder / "private"
    sandbox.run(["ln", "-s", str(private / "secret.txt"), "link"])
    sandbox.run(["ln", "-s", str(private), "folder"])
    sandbox.run(["ln", "-s", "folder", "chain"])
    for path in ("link", "folder/secret.txt", "chain/secret.txt"):
        raises(OSError, sandbox.read, path, limit_bytes=100)
        raises(OSError, sandbox.write, path, b"x")
    raises(OSError, sandbox.write, "folder/planted", b"x")
    equal([path.name for path in private.iterdir()], ["secret.txt"])
    equal((private / "secret.txt").read_text(), SECRET)


@check()
def special_files_are_refused_immediately(bench: Bench) -> None:
    sandbox = bench.open()
    for number, make in enumerate(_SPECIAL_FILES):
        sandbox.run(["sh", "-c", f"mkdir {number}; cd {number}; {make}"])
        with contextlib.suppress(OSError):
            equal(sandbox.read(f"{number}/target", limit_bytes=1000), b"")
        error = raises(OSError, sandbox.write, f"{number}/target", b"x" * 1000)
        require(not isinstance(error, ConnectionError), make, error)
    for path in ("/proc/self/status", "/proc/1/cmdline", "/sys/devices/system/cpu/online"):
        raises(OSError, sandbox.read, path, limit_bytes=100)


@check()
def reading_endless_files_is_bounded(bench: Bench) -> None:
    sandbox = bench.open()
    sandbox.run(["sh", "-c", "truncate -s 900M sparse; ln -s /proc/self/pagemap map"])
    for name in ("sparse", "map"):
        with contextlib.suppress(OSError):
            require(len(sandbox.read(name, limit_bytes=1000)) <= 1001)


@check()
def mounts_are_visible_below_the_workspace(bench: Bench) -> None:
    mounts = (
        Mount(source=bench.folder / "public", target=f"{HOME}/data"),
        Mount(source=bench.folder / "eval.py", target=f"{HOME}/kept/eval.py"),
    )
    sandbox = bench.open(mounts=mounts)
    equal(sandbox.run(["cat", "data/train.csv", "kept/eval.py"]).stdout.text, "a,b\noriginal")
    equal(sandbox.read("data/train.csv", limit_bytes=10), b"a,b\n")
    for path in ("data/train.csv", "data/new", "kept/eval.py"):
        equal(getattr(raises(OSError, sandbox.write, path, b"x"), "errno", None), errno.EROFS)
    targets = {mount.source: mount.target for mount in sandbox.enforced().mounts}
    equal(targets[bench.folder / "public"], f"{sandbox.home}/data")


@check(sealed)
def writing_outside_the_workspace_is_refused(bench: Bench) -> None:
    sandbox = bench.open(mounts=(Mount(source=bench.folder / "public", target=f"{HOME}/data"),))
    for number, target in enumerate(
        ("/usr/bin/env", "/usr/new", "/new", "/etc/passwd", f"{HOME}/data/train.csv", "/proc/sys/kernel/core_pattern",
         "/proc/self/oom_score_adj", "/dev/null", "/proc/self/fd/2", "/nowhere/below/the/root")
    ):  # fmt: skip
        sandbox.run(["ln", "-s", target, f"link{number}"])
        for path in (f"link{number}", target):
            raises(OSError, sandbox.write, path, b"changed")
    equal((bench.folder / "public" / "train.csv").read_text(), "a,b\n")


@check()
def unreadable_files_are_not_read_for_programs(bench: Bench) -> None:
    sandbox = bench.open()
    sandbox.run(["sh", "-c", "echo x > locked; chmod 0 locked"])
    if sandbox.run(["cat", "locked"]).exit_code != 0:  # root may read locked files
        raises(PermissionError, sandbox.read, "locked", limit_bytes=10)
    (sandbox.workspace / "locked").chmod(0o600)
