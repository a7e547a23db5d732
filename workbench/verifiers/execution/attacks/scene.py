"""What is set up for attacks to reach for: a folder, a secret, listeners, a terminal. None of it may be reached."""

from __future__ import annotations

import os
import secrets
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.core.files import new_mark, remove_marked, sweep, temporary_folder

VARIABLE: Final = "WORKBENCH_PLANTED"
"""Environment variable of the attacked process that holds the secret."""

ANY: Final = ""
"""Stands for an attack whose name is not known."""

_REACHED: Final = tuple(map(Path, (".", "/", "/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"))))
"""Folders outside that attacks try to write in; where they can, what they leave is taken away."""

_SECRET_FILE: Final = 48
_FILES: Final = frozenset(("secret", "target", "listener"))


class Scene(Struct, frozen=True):
    """Names of what attacks may try to reach.

    Attributes:
        folder: A folder that everybody may write, with a file ``secret``, a file ``target`` and a socket ``listener``.
        mark: A random word for names of what attacks make; also the name of an abstract socket that listens.
        secret: A random text that no program is told.
        port: Where a TCP and a UDP socket listen on this machine.
    """

    folder: str
    mark: str
    secret: str
    port: int

    def names(self, attack: str, harness: int) -> str:
        """What a program is told, as assignments: where it may try to write, whom to connect to, whom to kill."""
        told = {"NAME": attack, "FOLDER": self.folder, "MARK": self.mark, "PORT": self.port, "HARNESS": harness}
        return "\n".join(f"{name} = {value!r}" for name, value in told.items())

    def with_secret(self, source: str) -> str:
        """A test that expects the secret, with it."""
        return source.replace("SECRET", repr(self.secret))


class Stage:
    """A scene that stands, and what can be seen of it from outside."""

    def __init__(self, scene: Scene, sockets: list[socket.socket], terminal: int) -> None:
        self.scene = scene
        self.terminal = terminal
        self._sockets = sockets
        self._target = _state(Path(scene.folder) / "target")

    def traces(self) -> Mapping[str, list[str]]:
        """What attacks have left outside, by their names; `ANY` where it bears none."""
        found = defaultdict[str, list[str]](list)
        for name in sorted(set(os.listdir(self.scene.folder)) - _FILES):
            found[name.partition(".")[0].partition(f"-{self.scene.mark}")[0]].append(f"left {name!r} outside")
        if _state(Path(self.scene.folder) / "target") != self._target:
            found[ANY].append("changed a file outside")
        for one in self._sockets:
            for name in _heard(one):
                found[name].append("got through to a socket outside")
        return found


@contextmanager
def staged() -> Iterator[Stage]:
    """Set a scene up, and take it away after use."""
    with ExitStack() as stack:
        folder = os.fspath(stack.enter_context(temporary_folder("attacks")))
        os.chmod(folder, 0o777)
        mark, secret = new_mark(), f"planted-{secrets.token_hex(16)}"
        for place in _REACHED:
            sweep(place)
            stack.callback(remove_marked, place, mark)
        for name, text in (("secret", secret.ljust(_SECRET_FILE, "\n")), ("target", "untouched\n")):
            (Path(folder) / name).write_text(text)
            (Path(folder) / name).chmod(0o666)
        sockets = [stack.enter_context(one) for one in _listeners(folder, mark)]
        terminal, other_end = os.openpty()
        stack.callback(os.close, terminal)
        stack.callback(os.close, other_end)
        yield Stage(Scene(folder, mark, secret, sockets[0].getsockname()[1]), sockets, other_end)


def _listeners(folder: str, mark: str) -> Iterator[socket.socket]:
    """A TCP listener, a UDP socket at the same port, and Unix listeners with and without a file."""
    stream = socket.create_server(("127.0.0.1", 0))
    yield stream
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(stream.getsockname())
    yield datagrams
    for address in (f"\0{mark}", f"{folder}/listener"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen()
        yield listener
    os.chmod(f"{folder}/listener", 0o777)


def _heard(listening: socket.socket) -> Iterator[str]:
    """The names that those who connected or sent have said; `ANY` for who said nothing."""
    listening.setblocking(False)
    while True:
        try:
            if listening.type == socket.SOCK_DGRAM:
                yield listening.recv(4096).decode("utf-8", "replace")
                continue
            connection = listening.accept()[0]
        except BlockingIOError:
            return
        with connection:
            connection.settimeout(0.1)
            try:
                yield connection.recv(4096).decode("utf-8", "replace")
            except OSError:
                yield ANY


def _state(path: Path) -> tuple[object, ...]:
    """What an attack could change of a file."""
    if not path.is_file():
        return ()
    about = path.stat()
    return path.read_bytes(), about.st_mode, about.st_uid, about.st_mtime_ns, about.st_nlink
