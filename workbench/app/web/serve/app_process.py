"""The app of one person, in a process of its own that exchanges packets instead of drawing on a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from textual_serve.app_service import AppService

from workbench.core.text.inert import inert

LOG = logging.getLogger("workbench.serve")
GRACE_S = 8.0
"""Seconds a process may take to end after its input; the app's own limit is shorter."""
DRIVER = "workbench.app.tui.served:ServedDriver"
_KEPT = {
    *("PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8"),
    *("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "WORKBENCH_CONFIG_DIR", "TMPDIR"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "NO_COLOR"),
}
_READY = b"__GANGLION__\n"
_MAX_PACKET = 16 << 20
_LOG_TAIL = 2_000


class Size(Struct, frozen=True):
    width: int
    height: int


def environment(size: Size, ours: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of the app's process: locale, and paths of Python and the settings; no service keys."""
    kept = {name: value for name, value in ours.items() if name in _KEPT}
    return kept | {
        "TERM": "xterm-256color",
        "TERM_PROGRAM": "textual",
        "TEXTUAL_DRIVER": DRIVER,
        "TEXTUAL_FPS": "60",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "COLUMNS": str(size.width),
        "ROWS": str(size.height),
    }


class AppProcess:
    """A running app that exchanges packets.

    The end of its input tells it to end, so that it also ends when the server is killed.

    Attributes:
        has_quit: Whether the person has left the app.
        has_drawn: Whether the app has opened.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._tail = bytearray()
        self._listening = asyncio.create_task(self._keep_tail())
        self.has_quit = self.has_drawn = False

    @classmethod
    async def start(cls, command: Sequence[str], size: Size) -> AppProcess:
        """Start the app in a process group of its own.

        Raises:
            OSError: It can't be started.
        """
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment(size), start_new_session=True
        )
        return cls(process)

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield the app's drawing packets until its output ends; other requests to a browser (downloads, links) are
        dropped.
        """
        stdout = self._process.stdout
        assert stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            await stdout.readuntil(_READY)
            self.has_drawn = True
            while True:
                kind, size = await stdout.readexactly(1), int.from_bytes(await stdout.readexactly(4), "big")
                if size > _MAX_PACKET:
                    return
                payload = await stdout.readexactly(size)
                if kind == b"D":
                    yield payload
                elif kind == b"M":
                    self._note_exit(payload)

    def _note_exit(self, payload: bytes) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            match msgspec.json.decode(payload):
                case {"type": "exit"}:
                    self.has_quit = True

    async def type(self, keys: bytes) -> None:
        await self._send(b"D", keys)

    async def resize(self, size: Size) -> None:
        await self._send_message({"type": "resize", "width": size.width, "height": size.height})

    async def focus(self, has_it: bool) -> None:
        await self._send_message({"type": "focus" if has_it else "blur"})

    async def _send_message(self, message: dict[str, Any]) -> None:
        await self._send(b"M", msgspec.json.encode(message))

    async def _send(self, kind: Any, payload: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError):
            stdin.write(AppService.encode_packet(kind, payload))
            await stdin.drain()

    def hang_up(self) -> None:
        """Close the app's input: it processes pending keys, and ends without releasing reserved items."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def ended(self) -> None:
        """Wait for its end; after `GRACE_S` it is killed with its children."""
        try:
            await asyncio.wait_for(self._process.wait(), GRACE_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        await self._listening
        self._log_failure()

    def _log_failure(self) -> None:
        if self._process.returncode and self._tail:
            lines = self._tail.decode("utf-8", "replace").strip().splitlines()
            # The hint of an error, on lines of its own, is nothing without the error.
            said = next((at for at in range(len(lines) - 1, -1, -1) if not lines[at].startswith(" ")), 0)
            words = " ".join(line.strip() for line in lines[said:])
            LOG.warning("the app ended with code %s: %s", self._process.returncode, inert(words))

    async def _keep_tail(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while data := await stderr.read(_LOG_TAIL):
            self._tail = (self._tail + data)[-_LOG_TAIL:]


# -- The messages that textual-serve's page sends, taken apart and checked.


MAX_MESSAGE = 4 << 20
"""Maximum bytes of a message: keys, or a text pasted into a note."""
_MAX_KEYS = 64 << 10
"""Maximum characters of a message to the app: longer than any line."""
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
"""Terminal sequences before and after a pasted text."""
_WIDTHS = range(20, 1_001)
_HEIGHTS = range(5, 501)
_MAX_PING = 64


class KeysFrame(Struct, frozen=True):
    keys: bytes


class Resized(Struct, frozen=True):
    size: Size


class Focused(Struct, frozen=True):
    has_it: bool


class Pinged(Struct, frozen=True):
    text: str


def parse(text: str | None) -> KeysFrame | Resized | Focused | Pinged:
    """Decode a message of the page.

    Args:
        text: JSON such as ``["stdin", "a"]``; None for a binary frame.

    Raises:
        ValueError: It is not a valid message.
    """
    try:
        match msgspec.json.decode(text or ""):
            case ["stdin", str(keys)]:
                return KeysFrame(_limit_keys(keys).encode())
            case ["resize", {"width": width, "height": height}]:
                return Resized(_checked_size(width, height))
            case ["focus" | "blur" as kind]:
                return Focused(kind == "focus")
            case ["ping", str(said)] if len(said) <= _MAX_PING:
                return Pinged(said)
    except RecursionError as error:
        raise ValueError("too deep") from error
    raise ValueError("an unknown message")


def _limit_keys(keys: str) -> str:
    if len(keys) <= _MAX_KEYS:
        return keys
    kept = keys[:_MAX_KEYS]
    return kept + _PASTED if kept.rfind(_PASTE) > kept.rfind(_PASTED) else kept


def size_of(query: Mapping[str, str]) -> Size:
    """Return the terminal size a page asks for when it connects.

    Raises:
        ValueError: It is not a valid size.
    """
    return _checked_size(*(int(query.get(name, "")[:5]) for name in ("width", "height")))


def _checked_size(width: object, height: object) -> Size:
    if type(width) is int and type(height) is int and width in _WIDTHS and height in _HEIGHTS:
        return Size(width, height)
    raise ValueError("not a terminal size")
