"""The first process inside the sandbox: starts programs for the host and outlives none of them.

This file runs alone, by path, as pid 1 of the sandbox's pid namespace: it may import nothing of Podium and, because
the start of a sandbox waits for it, little of the standard library (hence `posix` instead of `os`). When it ends the
kernel ends everything in the namespace, and it ends when the host closes the control socket, however that comes about.

The control socket carries one-byte requests with descriptors. The first descriptor is a socket for that request alone,
on which the host sends four bytes of length and a marshalled dictionary:

    b"x"  run a program      socket, stdin, stdout, stderr    answers b"r"; then, when it ended, the exit code
    b"o"  open a file        socket                           answers an errno, with the descriptor if that is 0
    b"l"  listen on a port   socket                           answers the same
    b"k"  kill everything but this process                    no answer

Each request is served by a forked keeper. The keeper of a program adopts whatever the program leaves behind, so a tree
is killed as a whole however often it forks or changes its session.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import posix
import sys
import time

EVERYBODY = -1
RESTORED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE", "SIGXFSZ", "SIGCHLD")
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
KILL_PATIENCE_S = 3.0
ENDED: dict[int, int] = {}


def main(control: _socket.socket) -> None:
    control.send(b"r")
    load()

    prctl(PR_SET_DUMPABLE, 0)  # hides memory and descriptors of this process and its keepers from programs beside them
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # the kernel reaps keepers and orphans
    while True:
        request, descriptors = receive(control)
        if not request:
            posix._exit(0)
        if request == b"k":
            kill_everybody()
        elif fork() == 0:
            control.close()
            try:
                serve(request, descriptors)
            finally:
                posix._exit(0)
        for descriptor in descriptors:
            posix.close(descriptor)


def load() -> None:
    """Imports what keepers import, once for all of them, and after the host has been told that we are here."""
    for name in ("ctypes", "resource", "select"):
        __import__(name)


def prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def receive(control: _socket.socket) -> tuple[bytes, list[int]]:
    message, ancillary, _, _ = control.recvmsg(1, 1024)
    descriptors = []
    for level, kind, data in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            descriptors += memoryview(data).cast("i").tolist()
    return message, descriptors


def fork() -> int:
    """As os.fork, but -1 when the process table is full: the request's socket then closes, which the host sees."""
    try:
        return posix.fork()
    except OSError:
        return -1


def kill_everybody() -> None:
    # One system call against all at once: a fork bomb cannot outrun it, as it could a loop over pids.
    try:
        posix.kill(EVERYBODY, _signal.SIGKILL)
    except ProcessLookupError:
        pass


def serve(request: bytes, descriptors: list[int]) -> None:
    host = _socket.socket(fileno=descriptors[0])
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):  # a careless pkill should not take the keeper
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
    if request == b"x":
        keep(host, descriptors[1:])
        return
    order = read_order(host)
    try:
        opened = open_file(**order) if request == b"o" else open_port(**order)
    except OSError as error:
        host.send(encode(error.errno))
    else:
        host.sendmsg([encode(0)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, encode(opened))])


def encode(number: int) -> bytes:
    return number.to_bytes(4, "little")


def read_order(host: _socket.socket) -> dict:
    size = int.from_bytes(read_exactly(host, 4), "little")
    return marshal.loads(read_exactly(host, size))


def read_exactly(host: _socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = host.recv(size - len(data))
        if not part:
            posix._exit(0)  # the host gave up
        data += part
    return bytes(data)


def open_file(path: str, flags: int, parents: bool) -> int:
    if parents:
        make_folders(path.rpartition("/")[0])
    # A FIFO must not block the keeper; the host decides what to do with what is no regular file.
    return posix.open(path, flags | posix.O_NONBLOCK | posix.O_CLOEXEC, 0o666)


def make_folders(path: str) -> None:
    try:
        posix.mkdir(path)
    except FileNotFoundError:
        make_folders(path.rpartition("/")[0])
        posix.mkdir(path)
    except FileExistsError:
        pass


def open_port(port: int) -> int:
    server = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    server.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen(64)
    return server.detach()


def keep(host: _socket.socket, streams: list[int]) -> None:
    """Runs a program to its end, or to the host's."""
    import select

    prctl(PR_SET_CHILD_SUBREAPER, 1)
    host.send(b"r")  # the host now places this process (cores, groups): what it starts inherits that
    order = read_order(host)
    woken, wake = posix.pipe()
    posix.set_blocking(wake, False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(wake)
    program = posix.fork()
    if program == 0:
        become(streams, **order["program"])
    for stream in streams:
        posix.close(stream)
    events = select.poll()
    events.register(woken, select.POLLIN)
    events.register(host.fileno(), select.POLLIN)
    killed = False
    while program not in reap():
        for descriptor, _ in events.poll():
            if descriptor == woken:
                posix.read(woken, 4096)
            else:  # b"k", or the host is gone
                killed = True
                kill_descendants()
    if killed or not order["background"]:
        kill_descendants()
    try:
        host.send(encode(ENDED[program]))
    except OSError:
        pass
    host.close()
    while posix.waitpid(EVERYBODY, 0):  # until ChildProcessError: background programs keep their keeper
        pass


def become(streams: list[int], command: list[str], cwd: str, environment: dict, limits: dict) -> None:
    """Turns this process into the program."""
    import resource

    try:
        posix.setsid()
        for target, stream in enumerate(streams):
            posix.dup2(stream, target)
        for name in RESTORED:
            _signal.signal(getattr(_signal, name), _signal.SIG_DFL)
        prefer_when_memory_is_short()
        for kind, value in limits.items():
            resource.setrlimit(getattr(resource, kind), (value, value))
        posix.chdir(cwd)
        code, reason = 127, "command not found"
        for path in candidates(command[0], environment.get("PATH", "")):
            try:
                posix.execve(path, command, environment)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                code, reason = 126, str(error.strerror).lower()
        complain(f"{command[0]}: {reason}")
    except OSError as error:
        code = 126
        complain(f"{cwd}: {error.strerror}")
    finally:
        posix._exit(code)


def complain(text: str) -> None:
    posix.write(2, f"{text}\n".encode(errors="replace"))


def prefer_when_memory_is_short() -> None:
    try:
        descriptor = posix.open("/proc/self/oom_score_adj", posix.O_WRONLY)
        posix.write(descriptor, b"1000")
        posix.close(descriptor)
    except OSError:
        pass  # a preference, no promise


def candidates(program: str, path: str) -> list[str]:
    return [program] if "/" in program else [f"{folder}/{program}" for folder in path.split(":") if folder]


def reap() -> dict[int, int]:
    """Exit codes, as a shell gives them, of the children and adopted processes that have ended so far."""
    try:
        while (ended := posix.waitpid(EVERYBODY, posix.WNOHANG))[0]:
            code = posix.waitstatus_to_exitcode(ended[1])
            ENDED[ended[0]] = code if code >= 0 else 128 - code
    except ChildProcessError:
        pass
    return ENDED


def kill_descendants() -> None:
    patience = time.monotonic() + KILL_PATIENCE_S
    while victims := descendants(posix.getpid()):
        for victim in victims:
            try:
                posix.kill(victim, _signal.SIGKILL)
            except ProcessLookupError:
                pass
        if time.monotonic() > patience:
            kill_everybody()  # something forks faster than it can be found
        time.sleep(0.001)
        reap()


def descendants(root: int) -> set[int]:
    """Processes below a process, zombies too: a zombie may be a program whose first thread alone has ended."""
    parents = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            try:
                descriptor = posix.open(f"/proc/{name}/stat", posix.O_RDONLY)
                parent = posix.read(descriptor, 1024).rpartition(b") ")[2].split()[1]
                posix.close(descriptor)
            except OSError:
                continue  # it has ended
            parents[int(name)] = int(parent)
    found: set[int] = set()
    below = {root}
    while below:
        below = {pid for pid, parent in parents.items() if parent in below}
        found |= below
    return found


if __name__ == "__main__":
    main(_socket.socket(fileno=int(sys.argv[1])))
