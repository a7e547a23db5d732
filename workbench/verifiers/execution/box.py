"""A box: one server process in the sandbox of a level, and the children it forks."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import psutil
from msgspec import Struct

from workbench.core.code import Level
from workbench.core.errors import VerifierError
from workbench.verifiers.execution.inside.scratch import FOLDER
from workbench.verifiers.execution.inside.server import AHEAD, NEWS, ORDER
from workbench.verifiers.execution.interpreter import Interpreter, interpreter
from workbench.verifiers.execution.settings import PoolSettings

# -- A server's process, for its starter: its real process id, its end, and its last output.


_STOP_S: Final = 2.0
_LONGEST_WORDS: Final = 4096


class ServerProcess:
    """A server that is being started, possibly inside a sandbox that is a separate process.

    Ending the sandbox's process doesn't end the server: the kernel checks whether one user may signal the other, and
    the server has another user without rights. So a handle on the server itself is kept.

    Args:
        command: The command of the server, or of its sandbox.
        inherited: File descriptors that the server inherits.
        environment: All environment variables of the server.

    Raises:
        OSError: The command can't be run.
    """

    def __init__(self, command: Sequence[str], inherited: Sequence[int], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            pass_fds=inherited,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._handle: int | None = None

    def identify(self, told: bytes) -> None:
        """Get a handle on the server.

        Args:
            told: bubblewrap's report of the process inside, from ``--info-fd``; empty without bubblewrap.
        """
        with contextlib.suppress(ValueError, KeyError, TypeError):
            self.pid = int(json.loads(told)["child-pid"])
        with contextlib.suppress(OSError, AttributeError):
            self._handle = os.pidfd_open(self.pid)

    def end(self) -> None:
        """Wait briefly for the end of the server and its children, then kill them."""
        self._finish()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._process.stderr is not None:
            self._process.stderr.close()

    def last_words(self) -> str:
        """Return its output to standard error; end it first if it still runs."""
        self._finish()
        assert self._process.stderr is not None
        return self._process.stderr.read(_LONGEST_WORDS).decode(errors="replace").strip()

    def _finish(self) -> None:
        if not self._wait_for_end(_STOP_S):
            self._kill()
            self._wait_for_end(_STOP_S)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait_for_end(self, seconds: float) -> bool:
        if self._handle is not None:
            poller = select.poll()
            poller.register(self._handle, select.POLLIN)
            return bool(poller.poll(seconds * 1000))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            return True
        return False

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            else:
                self._process.kill()


FLAGS = ("-s", "-S", "-B")
"""The interpreter's flags: neither the user's nor the machine's packages, and no compiled files."""
_INSIDE = Path(__file__).resolve().parent / "inside"
HOME = "/harness"
SCRATCH_RIGHT: Final = ("--cap-add", "CAP_SYS_ADMIN")
"""The capability needed to limit a folder's files; see `inside.scratch`."""
_BOOT = (
    "import sys, json; config = json.loads(sys.argv[1]); sys.path[0] = config['home']; "
    "from inside import server; server.main(config)"
)
_MAX_PROCESSES = 64
_MORE_PROCESSES = 256
_PIPE_BYTES = 1 << 20
_ANSWER_S = 2.0
_FIRST_USER, _USERS = 2_000_000_000, 1 << 30
_numbers = count()


class Child:
    """A process that waits for its job or runs it.

    Attributes:
        pid: The process id as its server sees it.
        pid_here: Its process id here; None if unknown.
        job: The job is written to this pipe.
        results: The results are read from this pipe.
    """

    def __init__(self, pid: int, job: int, results: int, handle: int | None = None) -> None:
        self.pid = pid
        self.pid_here = pid if handle is None else _process_id(handle)
        self.job = job
        self.results = results
        self._open = {job, results}
        for descriptor in (job, results):
            os.set_blocking(descriptor, False)
            os.set_inheritable(descriptor, False)
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                fcntl.fcntl(results, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def close_job(self) -> None:
        self._close(self.job)

    def close(self) -> None:
        self._close(self.job)
        self._close(self.results)

    def _close(self, descriptor: int) -> None:
        if descriptor in self._open:
            self._open.remove(descriptor)
            os.close(descriptor)


def _process_id(handle: int) -> int | None:
    try:
        lines = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    finally:
        os.close(handle)
    found = next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), 0)
    return found if found > 0 else None


class Ended(Struct, frozen=True):
    """The end of a child: its process id and its status as ``os.wait`` returns it."""

    pid: int
    status: int


class BoxLostError(Exception):
    """The server has ended or never started; the message gives the known reason."""


class Box:
    """A server process in the sandbox of a level, with its children; it must be closed.

    Raises:
        VerifierError: This machine lacks a requirement of the level.
    """

    def __init__(self, level: Level, settings: PoolSettings) -> None:
        self.started = False
        self.ready: deque[Child] = deque()
        self.ordered = _children_ahead(settings)
        self.control, theirs = socket.socketpair()
        try:
            self._process = _start_server(level, settings, theirs)
        except BaseException:
            self.control.close()
            raise
        self.control.setblocking(False)

    @property
    def pid(self) -> int:
        return self._process.pid

    def retire(self, child: Child) -> None:
        """End a child and order the next one from the server.

        Raises:
            BoxLostError: The server has ended.
        """
        child.close()
        try:
            self.control.send(ORDER.pack(child.pid))
        except OSError as error:
            raise BoxLostError(self._last_words()) from error
        self.ordered += 1

    def news(self) -> Iterator[Ended]:
        """Register new children, and yield those that ended.

        Raises:
            BoxLostError: The server has ended.
        """
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.control, NEWS.size, 3)
            except BlockingIOError:
                return
            except OSError as error:
                raise BoxLostError(self._last_words()) from error
            if len(data) < NEWS.size or len(descriptors) < 2:
                raise BoxLostError(self._last_words())
            pid, ended, status = NEWS.unpack(data)
            self.ordered -= 1
            self.started = True
            self.ready.append(Child(pid, *descriptors))
            if ended:
                yield Ended(ended, status)

    def dismiss(self) -> None:
        """Ask the server to end with all its children; `close` waits for that."""
        self.control.close()
        for child in self.ready:
            child.close()
        self.ready.clear()

    def close(self) -> None:
        """End the server; return when it and all its children are gone."""
        self.dismiss()
        self._process.end()

    def _last_words(self) -> str:
        output = b""
        with contextlib.suppress(OSError):
            self.control.settimeout(_ANSWER_S)
            output = self.control.recv(_LONGEST_WORDS)
        return output.decode(errors="replace").strip() or self._process.last_words()


def _start_server(level: Level, settings: PoolSettings, control: socket.socket) -> ServerProcess:
    """Start a server; ``control`` is its end of the control socket, which is then closed in this process.

    Raises:
        VerifierError: The server can't be started.
    """
    known = interpreter(settings.python)
    reading, writing = os.pipe()
    with control, os.fdopen(reading, "rb") as info:
        try:
            command = _command(level, settings, known, control.fileno(), writing)
            process = ServerProcess(command, [control.fileno(), writing], _environment(settings))
        except OSError as error:
            raise VerifierError(f"The sandbox can't be started: {error}") from error
        finally:
            os.close(writing)
        process.identify(info.read(_LONGEST_WORDS) if level == "L3" else b"")
    return process


def _environment(settings: PoolSettings) -> dict[str, str]:
    return {
        "PYTHONHASHSEED": str(settings.hash_seed),
        "PYTHONUTF8": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _command(level: Level, settings: PoolSettings, known: Interpreter, control: int, info: int) -> list[str]:
    root = os.geteuid() == 0
    with_packages = settings.python is not None
    config = {
        "control": control,
        "locked": level != "L1",
        "home": HOME if level == "L3" else str(_INSIDE.parent),
        "path": known.search_path(with_packages=with_packages),
        "read": known.readable(with_packages=with_packages),
        "list": known.stdlib,
        "user": unused_user_id(),
        "parent": 0 if level == "L3" else os.getpid(),
        "seed": settings.hash_seed,
        # Written files are memory as well.
        "memory": settings.memory_bytes - settings.scratch_bytes,
        "scratch": settings.scratch_bytes,
        "ahead": _children_ahead(settings),
        "processes": _MAX_PROCESSES if root else _tasks_of_user() + _MORE_PROCESSES,
    }
    walls: list[str] = []
    if level == "L3":
        more = ("--info-fd", str(info))
        walls = namespaces(known, root=root, with_packages=with_packages, more=more, scratch=settings.scratch_bytes)
    return [*walls, known.program, *FLAGS, "-c", _BOOT, json.dumps(config)]


def _children_ahead(settings: PoolSettings) -> int:
    return 1 if settings.scratch_bytes else AHEAD


def unused_user_id() -> int | None:
    """Return an unused user id for root to become; None for any other user."""
    return None if os.geteuid() else _FIRST_USER + (os.getpid() * 256 + next(_numbers) % 256) % _USERS


def _tasks_of_user() -> int:
    own = os.getuid()
    found = psutil.process_iter(["uids", "num_threads"])
    return sum(
        entry.info["num_threads"] or 1 for entry in found if entry.info["uids"] and entry.info["uids"].real == own
    )


def namespaces(
    known: Interpreter, *, root: bool, with_packages: bool, more: Iterable[str] = (), scratch: int = 0
) -> list[str]:
    """Return bubblewrap's command: no network, no processes or name of the machine, and read-only access to some files.

    There is no ``/proc``: programs don't need it, and the level works even if a new one can't be mounted. As root, the
    server gives up its user itself, inside; other users get a user namespace.

    Args:
        known: The interpreter that is run inside.
        root: Whether this process is root.
        with_packages: Whether packages can be imported.
        more: Further arguments for bubblewrap.
        scratch: Size of a writable folder in bytes; 0 for none.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise VerifierError("There is no bubblewrap here.", "Install the package bubblewrap, or use isolation L2.")
    mounted = known.mounted(with_packages=with_packages)
    # Folders that bubblewrap creates on the way are closed to others.
    above = sorted({str(folder) for path in mounted for folder in Path(path).parents} | {"/dev"} - {"/"})
    binds = [word for path in above for word in ("--perms", "0755", "--dir", path)]
    binds += [word for path in mounted for word in ("--ro-bind", path, path)]
    binds += [word for path in known.hidden(with_packages=with_packages) for word in ("--tmpfs", path)]
    user = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    if not root:
        user = ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    writable: list[str] = []
    if scratch:
        # Only the kernel can limit the number of files, and bubblewrap can't request it: the server does, and gives up
        # the right before it accepts a program. Other mounts below are mounted on top of this.
        user += SCRATCH_RIGHT
        writable = ["--perms", "0777", "--size", str(scratch), "--tmpfs", FOLDER]
    return [
        program, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", *user,
        "--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "sandbox", *writable, *binds,
        "--ro-bind", str(_INSIDE), f"{HOME}/inside", "--dev-bind", os.devnull, os.devnull,
        "--dev-bind", "/dev/urandom", "/dev/urandom", *more, "--remount-ro", "/", "--chdir", "/", "--",
    ]  # fmt: skip
