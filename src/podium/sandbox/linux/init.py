"""Init process of a sandbox: starts programs for the host, and takes everything inside down with it.

This file runs alone, by path: it must not import Podium and, because the start of a sandbox waits for it, only
little of the standard library (hence `posix` instead of `os`). If it is pid 1 of a namespace, the kernel ends
everything inside with it; otherwise (backend `none`) it adopts the processes its programs leave behind, and kills
them itself. It exits when the host closes the control socket or exits in any way.

Its first argument is the descriptor of the control socket, or a path to connect to; the second, optional one is a
file with a system call filter. When ready, it sends b"r" and the names of its namespaces. A request is one byte with
descriptors; the first is a socket for that request alone, on which the host sends a four-byte length and a marshalled
dictionary:

    b"x"  run a program      socket, stdin, stdout, stderr    answers b"r", then the exit code when it has ended
    b"o"  open a file        socket                           answers an errno, with the descriptor if it is 0
    b"l"  listen on a port   socket                           answers like b"o"
    b"k"  kill everything but this process                    no answer
    b"s"  stop everything but this process and supervisors    no answer
    b"c"  continue what was stopped                           no answer
    b"p"  exit with a process; the descriptor is its pidfd    no answer

Each request is served by a forked supervisor. The supervisor of a program adopts every process the program leaves
behind, so a tree is killed as a whole however often it forks or changes its session. Programs may kill or stop a
supervisor, but not the first process of a namespace: it holds a copy of each request's socket, wakes supervisors
that were stopped, and kills what is left of one that was killed before the host sees the socket closed.
"""

import posix
import sys

if __name__ == "__main__":
    NAMESPACES = [posix.readlink(f"/proc/self/ns/{name}") for name in posix.listdir("/proc/self/ns")]
    READY = f"r{' '.join(NAMESPACES)}".encode()
    if sys.argv[1].isdigit():
        posix.write(int(sys.argv[1]), READY)  # the host waits for this only

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import time

TYPE_CHECKING = False  # as in `typing`, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

ALL_PROCESSES = -1
INIT_PID = posix.getpid()
HAS_NAMESPACE = INIT_PID == 1
EIO, EINVAL = 5, 22
DEFAULT_SIGNALS = [number for number in range(1, 32) if number not in (9, 19)]  # SIGKILL and SIGSTOP are fixed
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
SECCOMP_MODE_FILTER, FILTER_OPERATION_BYTES = 2, 8
STOP_AFTER_S, KILL_PATIENCE_S = 0.1, 5.0
AWAITED: dict[int, int] = {}  # children to wait for, each with the socket of its request
ENDED: dict[int, int] = {}  # exit codes of children that have ended


def main(control: _socket.socket) -> None:
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # the only signal with which Python lets programs end this process
    preload_modules()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_DUMPABLE, 0)  # hides memory and descriptors of this process and its supervisors from programs
    children = wake_on_children()
    hosts: list[int] = []
    while True:
        for descriptor in wait_for(children, control.fileno(), *hosts):
            if descriptor == children:
                posix.read(children, 4096)
                clean_up_supervisors()
            elif descriptor == control.fileno():
                hosts += handle_request(control)
            else:  # the host's process has exited, although a child of it may have inherited the socket
                end()


def connect(path: str) -> _socket.socket:
    control = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    control.connect(path)
    return control


def filter_system_calls(path: str) -> None:
    import ctypes

    program = read_file(path, 1 << 20)

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("operations", ctypes.c_char_p))

    prctl(PR_SET_NO_NEW_PRIVS, 1)
    described = Filter(len(program) // FILTER_OPERATION_BYTES, program)
    if ctypes.CDLL(None).prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0) != 0:
        posix._exit(1)


def end() -> None:
    if not HAS_NAMESPACE:
        kill_descendants()
    posix._exit(0)


def handle_request(control: _socket.socket) -> list[int]:
    """Serve a request and return descriptors to watch from now on."""
    request, descriptors = receive(control)
    if not request:
        end()
    if request == b"p":
        return descriptors
    if request == b"k":
        if HAS_NAMESPACE:
            signal_all(_signal.SIGKILL, [])
        kill_descendants()  # and waits until they are gone: the next request may need their slots
        return []
    if request in (b"s", b"c"):
        signal_programs(_signal.SIGSTOP if request == b"s" else _signal.SIGCONT)
        return []
    supervisor = fork()
    if supervisor == 0:
        control.close()
        for other in AWAITED.values():  # otherwise the host would not see the end of that request before ours
            posix.close(other)
        AWAITED.clear()
        for stream in (1, 2):  # a path may lead to the supervisor's own descriptors: /proc/self/fd/2
            posix.dup2(0, stream)
        try:
            serve(request, descriptors)
            posix._exit(0)
        finally:
            posix._exit(1)
    if supervisor > 0:
        AWAITED[supervisor] = descriptors.pop(0)
    for descriptor in descriptors:
        posix.close(descriptor)
    return []


def clean_up_supervisors() -> None:
    """Clean up after supervisors that have exited."""
    reap()
    gone = AWAITED.keys() & ENDED.keys()
    sockets = [AWAITED.pop(supervisor) for supervisor in gone]
    codes = [ENDED.pop(supervisor) for supervisor in gone]
    if any(codes):
        # The host must not consider a program ended that has only lost its supervisor.
        kill_descendants(spared=AWAITED.keys())
    for descriptor in sockets:
        posix.close(descriptor)


def preload_modules() -> None:
    """Import the modules that supervisors need, once for all of them, after the host has been notified."""
    for name in ("ctypes", "resource", "select"):
        __import__(name)


def prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def receive(control: _socket.socket) -> tuple[bytes, list[int]]:
    message, ancillary, _, _ = control.recvmsg(1, 1024, _socket.MSG_CMSG_CLOEXEC)
    descriptors = []
    for level, kind, data in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            descriptors += memoryview(data).cast("i").tolist()
    return message, descriptors


def fork() -> int:
    """Fork, or return -1 if the process table is full: the request's socket then closes, which the host sees."""
    try:
        return posix.fork()
    except OSError:
        return -1


def signal_all(number: int, targets: "Collection[int]") -> None:
    """Send a signal to everything in our namespace; without one, to the given processes."""
    # One system call for all processes: a fork bomb cannot outrun it, as it could a loop over pids.
    for process in (ALL_PROCESSES,) if HAS_NAMESPACE else targets:
        try:
            posix.kill(process, number)
        except ProcessLookupError:
            pass


def signal_programs(number: int) -> None:
    """Send a signal to everything below supervisors."""
    if not has_children():
        return
    signal_all(number, [])
    targets: set[int] = set()
    started = time.monotonic()
    while not HAS_NAMESPACE and (
        new := descendants(INIT_PID, ()) - AWAITED.keys() - targets
    ):  # they may fork meanwhile
        signal_all(number, new)
        targets |= new
        if time.monotonic() - started > KILL_PATIENCE_S:
            break
    for supervisor in AWAITED if number == _signal.SIGSTOP else ():
        posix.kill(supervisor, _signal.SIGCONT)


def wake_on_children() -> int:
    """Return a descriptor that becomes readable when children have ended or stopped."""
    woken, wake = posix.pipe()
    posix.set_blocking(wake, False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return woken


def wait_for(*descriptors: int) -> list[int]:
    import select

    events = select.poll()
    for descriptor in descriptors:
        events.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in events.poll()]


def serve(request: bytes, descriptors: list[int]) -> None:
    host = _socket.socket(fileno=descriptors[0])
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):  # a careless pkill should not kill the supervisor
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
    if request == b"x":
        supervise(host, descriptors[1:])
        return
    order = read_order(host)
    try:
        opened = open_file(**order) if request == b"o" else open_port(**order)
    except (OSError, ValueError) as error:
        host.send(encode(getattr(error, "errno", EINVAL) or EIO))
    else:
        host.sendmsg([encode(0)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, encode(opened))])


def encode(number: int) -> bytes:
    return number.to_bytes(4, "little")


def read_order(host: _socket.socket) -> "dict[str, Any]":
    size = int.from_bytes(read_exactly(host, 4), "little")
    order: dict[str, Any] = marshal.loads(read_exactly(host, size))
    return order


def read_exactly(host: _socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = host.recv(size - len(data))
        if not part:
            posix._exit(0)  # the host has given up
        data += part
    return bytes(data)


def open_file(path: str, flags: int, parents: bool) -> int:
    if parents:
        make_folders(path.rpartition("/")[0])
    # A FIFO must not block the supervisor; the host handles files that are not regular.
    return posix.open(path, flags | posix.O_NONBLOCK | posix.O_CLOEXEC, 0o666)


def make_folders(path: str) -> None:
    missing: list[str] = []
    while path:
        try:
            posix.mkdir(path)
        except FileNotFoundError:
            missing.append(path)
            path = path.rpartition("/")[0]
            continue
        except FileExistsError:
            pass
        break
    for folder in reversed(missing):  # once each: below a dangling link they can never be created
        try:
            posix.mkdir(folder)
        except FileExistsError:
            pass


def open_port(port: int) -> int:
    server = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    server.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen(64)
    return server.detach()


def supervise(host: _socket.socket, streams: list[int]) -> None:
    """Run a program until it or the host ends."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    host.send(b"r")  # the host now assigns cores and groups to this process; its children inherit them
    order = read_order(host)
    children = wake_on_children()
    program = posix.fork()
    if program == 0:
        exec_program(streams, **order["program"])
    AWAITED[program] = host.fileno()
    for stream in streams:
        posix.close(stream)
    killed = False
    while program not in reap():
        for descriptor in wait_for(children, host.fileno()):
            if descriptor == children:
                posix.read(children, 4096)
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
    try:
        while posix.waitpid(ALL_PROCESSES, 0):  # background programs keep their supervisor alive
            pass
    except ChildProcessError:
        pass


def exec_program(
    streams: list[int], command: list[str], cwd: str, environment: dict[str, str], limits: dict[str, int], nice: int
) -> None:
    """Replace this process with the program."""
    import resource

    code = 126
    try:
        posix.setsid()
        for target, stream in enumerate(streams):
            posix.dup2(stream, target)
        posix.closerange(3, 256)
        for number in DEFAULT_SIGNALS:  # a shell in the background, or nohup, makes us ignore some
            _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())  # Ray's workers block some
        prefer_as_oom_victim()
        set_niceness(nice)
        for kind, value in limits.items():
            resource.setrlimit(getattr(resource, kind), (value, value))
        posix.chdir(cwd)
        code, reason = 127, "command not found"
        for path in candidates(command[0], environment.get("PATH", "")):
            try:
                posix.execve(path, command, environment)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, ValueError) as error:  # ValueError: a null byte or a lone surrogate
                code, reason = 126, explain(error)
        write_error(f"{command[0]}: {reason}")
    except (OSError, ValueError) as error:
        write_error(f"{cwd}: {explain(error)}")
    finally:
        posix._exit(code)


def explain(error: Exception) -> str:
    return str(getattr(error, "strerror", error)).lower()


def write_error(text: str) -> None:
    posix.write(2, f"{text}\n".encode(errors="replace"))


def prefer_as_oom_victim() -> None:
    prctl(PR_SET_DUMPABLE, 1)  # otherwise its files in /proc belong to root; nothing here is secret any more
    try:
        descriptor = posix.open("/proc/self/oom_score_adj", posix.O_WRONLY)
        posix.write(descriptor, b"1000")
        posix.close(descriptor)
    except OSError:
        pass  # best effort


def set_niceness(nice: int) -> None:
    try:
        posix.setpriority(posix.PRIO_PROCESS, 0, nice)
    except PermissionError:
        pass  # the host has a higher priority than the parent of this process


def candidates(program: str, path: str) -> list[str]:
    return [program] if "/" in program else [f"{folder}/{program}" for folder in path.split(":") if folder]


def reap() -> dict[int, int]:
    """Return the exit codes, as a shell reports them, of awaited children that have ended; reap the others unnoted."""
    try:
        while (found := posix.waitpid(ALL_PROCESSES, posix.WNOHANG | posix.WUNTRACED))[0]:
            child, status = found
            if posix.WIFSTOPPED(status):
                if posix.getpid() == INIT_PID and child in AWAITED:
                    posix.kill(child, _signal.SIGCONT)
            elif child in AWAITED:
                code = posix.waitstatus_to_exitcode(status)
                ENDED[child] = code if code >= 0 else 128 - code
    except ChildProcessError:
        pass
    return ENDED


def kill_descendants(spared: "Collection[int]" = ()) -> None:
    """Kill everything below this process except the spared children and their descendants."""
    if not has_children():
        return
    started = time.monotonic()
    while victims := descendants(posix.getpid(), spared):
        waited = time.monotonic() - started
        if waited > KILL_PATIENCE_S:
            return  # they hang in the kernel and will die there
        if waited > STOP_AFTER_S:  # something forks and exits faster than it is found, so stop everything
            signal_all(_signal.SIGSTOP, victims)
            victims = descendants(posix.getpid(), spared)
        for victim in victims:
            try:
                posix.kill(victim, _signal.SIGKILL)
            except ProcessLookupError:
                pass
        if waited > STOP_AFTER_S:
            signal_all(_signal.SIGCONT, [])
        time.sleep(0.001)
        reap()


def has_children() -> bool:
    """Return whether anything is below this process, adopted orphans included."""
    try:
        posix.waitid(posix.P_ALL, 0, posix.WEXITED | posix.WNOHANG | posix.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def descendants(root: int, spared: "Collection[int]") -> set[int]:
    """Return the processes below a process, and zombies, because a zombie's other threads may still run."""
    parents = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            try:
                parents[int(name)] = int(read_file(f"/proc/{name}/stat").rpartition(b") ")[2].split()[1])
            except OSError:
                continue  # it has ended
    found: set[int] = set()
    below = {root}
    while below:
        below = {pid for pid, parent in parents.items() if parent in below and pid not in spared}
        found |= below
    return found


def read_file(path: str, max_bytes: int = 1024) -> bytes:
    descriptor = posix.open(path, posix.O_RDONLY)
    try:
        return posix.read(descriptor, max_bytes)
    finally:
        posix.close(descriptor)


def start(where: str, *filters: str) -> None:
    if where.isdigit():
        main(_socket.socket(fileno=int(where)))
    control = connect(where)
    for path in filters:
        filter_system_calls(path)
    control.send(READY)
    main(control)


if __name__ == "__main__":
    start(*sys.argv[1:])
