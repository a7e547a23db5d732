"""An attack: its aim, its source, its program, and the tests that must not pass."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.core.code import OUTCOMES, PASS, CodeTest, Execution, Level, Program
from workbench.core.files import new_file_mark, remove_leftovers, remove_marked, temporary_folder
from workbench.core.options import record_from

# -- Targets of the attacks: a folder, a secret, listeners, a terminal. None of them may be reached.


VARIABLE: Final = "WORKBENCH_PLANTED"
"""Environment variable of the attacked process that holds the secret."""
ANY: Final = ""
"""Stands for an unknown attack."""
_REACHED: Final = tuple(map(Path, (".", "/", "/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"))))
"""Folders outside that attacks try to write in; if they succeed, their traces are removed."""
_SECRET_FILE: Final = 48
_FILES: Final = frozenset(("secret", "target", "listener"))


SCRATCH_BYTES: Final = 1 << 24
"""Size of the writable folder for attacks on such folders, in bytes."""


class Scene(Struct, frozen=True):
    """Targets that attacks may try to reach.

    Attributes:
        folder: A world-writable folder with a file ``secret``, a file ``target`` and a socket ``listener``.
        mark: A random word for names of files that attacks create; also the name of an abstract socket that listens.
        secret: A random text that no program gets.
        port: The port of a TCP and a UDP socket that listen on this machine.
    """

    folder: str
    mark: str
    secret: str
    port: int

    def names(self, attack: str, harness: int) -> str:
        """Return a program's targets as Python assignments: paths to write, addresses to connect to, processes to
        kill."""
        told = {"NAME": attack, "FOLDER": self.folder, "MARK": self.mark, "PORT": self.port, "HARNESS": harness}
        return "\n".join(f"{name} = {value!r}" for name, value in told.items())

    def with_secret(self, source: str) -> str:
        return source.replace("SECRET", repr(self.secret))


class PreparedScene:
    """A scene that is set up; it finds the traces of attacks."""

    def __init__(self, scene: Scene, sockets: list[socket.socket], terminal: int) -> None:
        self.scene = scene
        self.terminal = terminal
        self._sockets = sockets
        self._target = _file_state(Path(scene.folder) / "target")

    def traces(self) -> Mapping[str, list[str]]:
        """Return traces that attacks have left outside, by attack; `ANY` for traces of unknown attacks."""
        found = defaultdict[str, list[str]](list)
        for name in sorted(set(os.listdir(self.scene.folder)) - _FILES):
            found[name.partition(".")[0].partition(f"-{self.scene.mark}")[0]].append(f"left {name!r} outside")
        if _file_state(Path(self.scene.folder) / "target") != self._target:
            found[ANY].append("changed a file outside")
        for one in self._sockets:
            for name in _connected_names(one):
                found[name].append("got through to a socket outside")
        return found


@contextmanager
def set_up_scene() -> Iterator[PreparedScene]:
    with ExitStack() as stack:
        folder = os.fspath(stack.enter_context(temporary_folder("attacks")))
        os.chmod(folder, 0o777)
        mark, secret = new_file_mark(), f"planted-{secrets.token_hex(16)}"
        for place in _REACHED:
            remove_leftovers(place)
            stack.callback(remove_marked, place, mark)
        for name, text in (("secret", secret.ljust(_SECRET_FILE, "\n")), ("target", "untouched\n")):
            (Path(folder) / name).write_text(text)
            (Path(folder) / name).chmod(0o666)
        sockets = [stack.enter_context(one) for one in _open_listeners(folder, mark)]
        terminal, other_end = os.openpty()
        stack.callback(os.close, terminal)
        stack.callback(os.close, other_end)
        yield PreparedScene(Scene(folder, mark, secret, sockets[0].getsockname()[1]), sockets, other_end)


def _open_listeners(folder: str, mark: str) -> Iterator[socket.socket]:
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


def _connected_names(listening: socket.socket) -> Iterator[str]:
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


def _file_state(path: Path) -> tuple[object, ...]:
    if not path.is_file():
        return ()
    about = path.stat()
    return path.read_bytes(), about.st_mode, about.st_uid, about.st_mtime_ns, about.st_nlink


_FOLDER: Final = Path(__file__).parent / "corpus"


class Attack(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that tries to do what a solution must not, and the tests that detect success.

    The program gets `Scene.names` as globals. ``SECRET`` in a test is replaced by the text planted where the program
    must not read: a test that expects it passes only if the program has read it.

    Attributes:
        name: In kebab case, unique.
        tries: Its aim, as in "tries to ...".
        source: Its source: a write-up's title, or "our own".
        link: The write-up's address.
        first: Whether it is one of the few that are run before the first use of a level.
        levels: The levels that withstand it.
        scratch: Whether it has a writable folder.
        forges: Whether its ``statement`` and ``program`` tests may pass, if they are counted as forgeable.
        seconds: Wall time of a test; short if it would run forever.
        program: Its code.
        language: The language of program and tests; attacks in unavailable languages are skipped.
        entry_point: The function the tests call; None if unspecified.
        setup: Code between the program and the tests.
        expressions: Tests compared outside; none may pass.
        statements: Tests with other statements.
        programs: Tests that form one program with it.
        stdio: Texts for standard input with the output of a correct program.
    """

    name: str
    tries: str
    source: str
    program: str
    language: str = "python"
    entry_point: str | None = None
    setup: str = ""
    link: str | None = None
    first: bool = False
    levels: tuple[Level, ...] = ("L2", "L3")
    scratch: bool = False
    forges: bool = False
    seconds: float = 0.3
    expressions: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    stdio: tuple[tuple[str, str], ...] = ()

    def tests(self, scene: Scene) -> tuple[CodeTest, ...]:
        return (
            *(CodeTest(form="expression", source=scene.with_secret(source)) for source in self.expressions),
            *(CodeTest(form="statement", source=scene.with_secret(source)) for source in self.statements),
            *(CodeTest(form="program", source=source) for source in self.programs),
            *(CodeTest(form="stdio", source=given, expected=expected) for given, expected in self.stdio),
        )

    def staged(self, scene: Scene, harness: int) -> Program:
        source = f"{scene.names(self.name, harness)}\n{self.program}"
        return record_from(Program, self, source=source, tests=self.tests(scene))

    def passes(self, scene: Scene, execution: Execution) -> list[str]:
        """Return the tests that passed and mustn't, and errors in the number or flags of outcomes."""
        tests = self.tests(scene)
        if len(execution.outcomes) != len(tests):
            return [f"{len(execution.outcomes)} outcomes came of {len(tests)} tests"]
        if unknown := set(execution.outcomes) - set(OUTCOMES) | ({"n"} & set(execution.outcomes)):
            return [f"it chose its outcomes: {''.join(sorted(unknown))!r}"]
        passed = [test for test, outcome in zip(tests, execution.outcomes, strict=True) if outcome == PASS]
        forged = [test for test in passed if test.form in ("statement", "program")]
        wrong = [test for test in passed if not (self.forges and test in forged)]
        found = [f"passed: {test.source.replace(scene.secret, 'the secret')}" for test in wrong]
        if len(forged) > execution.forgeable:
            found.append("a forged pass is not counted as forgeable")
        return found


class AttackResult(Struct, frozen=True, kw_only=True):
    """The result of an attack on a level.

    Attributes:
        name: The attack's name.
        level: The level attacked.
        outcomes: The letters of its tests.
        wrong: Descriptions of what it achieved; empty if the level withstood it.
    """

    name: str
    level: Level
    outcomes: str = ""
    wrong: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        return not self.wrong


class _Theme(Struct, forbid_unknown_fields=True):
    attacks: list[Attack]
    prelude: str = ""


def corpus(*, scratch: bool = False) -> tuple[Attack, ...]:
    """Return all attacks on a level that can be run here, in the order of their files.

    Args:
        scratch: Whether to return those on a folder that programs may write in, which has `SCRATCH_BYTES`.
    """
    return tuple(attack for attack in _attacks() if attack.scratch == scratch)


@cache
def _attacks() -> tuple[Attack, ...]:
    themes = [msgspec.toml.decode(path.read_bytes(), type=_Theme) for path in sorted(_FOLDER.glob("*.toml"))]
    return tuple(
        msgspec.structs.replace(attack, program=theme.prelude * (attack.language == "python") + attack.program)
        for theme in themes
        for attack in theme.attacks
        if attack.language == "python" or shutil.which("node")
    )
