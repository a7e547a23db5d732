"""Run a program on a real pseudo-terminal, send keys, and time the last byte of the output."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from types import TracebackType

KEYS = {
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "page up": b"\x1b[5~",
    "page down": b"\x1b[6~",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
}
_CODES = re.compile(
    rb"\x1b\[[0-9;?<>=$\"' ]*[A-Za-z~@`]|\x1b[()][A-Z0-9]|\x1b[=>78]|\x1b[P\]_].*?(?:\x07|\x1b\\)", re.S
)
QUIET_S = 0.02
"""Seconds without output after which it is complete: frames have shorter gaps."""


class Terminal:
    """A running program and the bytes it has written.

    Args:
        arguments: The command.
        columns: Width in cells.
        rows: Height in cells.
    """

    def __init__(self, arguments: Sequence[str], columns: int = 120, rows: int = 40) -> None:
        self.started = time.perf_counter()
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.process = subprocess.Popen(
            arguments, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True, start_new_session=True,
            env=environment,
        )  # fmt: skip
        os.close(theirs)
        self._file = ours
        self.output = b""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._file)

    def send(self, key: str) -> float:
        """Press a key by name, or type a text; return the moment it was sent."""
        self.output = b""
        sent = time.perf_counter()
        os.write(self._file, KEYS.get(key, key.encode()))
        return sent

    def go_to(self, letter: str) -> float:
        """Go to a screen by its letter; return the moment enter was pressed."""
        self.send(":")
        self.until_text("Go to")
        self.send(letter)
        self.until_quiet()
        return self.send("enter")

    def until_quiet(self, quiet: float = QUIET_S, first: float = 2.0) -> float:
        """Read until the output pauses; return the moment of its last byte.

        Args:
            quiet: Seconds without a byte that end a frame.
            first: Seconds to wait for its first byte.

        Raises:
            TimeoutError: There was no output.
        """
        if not self._read(first):
            raise TimeoutError("the program wrote nothing")
        last = time.perf_counter()
        while self._read(quiet):
            last = time.perf_counter()
        return last

    def until_text(self, text: str, timeout: float = 60.0) -> float:
        """Read until a text has been written since the last key; return that moment.

        Raises:
            TimeoutError: The text did not appear.
        """
        end = time.perf_counter() + timeout
        while text not in self.text():
            if time.perf_counter() > end or not self._read(max(0.0, end - time.perf_counter())):
                raise TimeoutError(f"{text!r} did not come; the terminal shows: {self.text()[-2000:]}")
        return time.perf_counter()

    def text(self) -> str:
        """Return the output since the last key, without control codes; cells that did not change are missing."""
        return _CODES.sub(b"", self.output).decode("utf-8", "replace")

    def press(self, key: str) -> float:
        """Press a key; return the milliseconds to the last byte of the output."""
        sent = self.send(key)
        return (self.until_quiet() - sent) * 1000

    def _read(self, timeout: float) -> bool:
        ready, _, _ = select.select([self._file], [], [], timeout)
        if not ready:
            return False
        try:
            found = os.read(self._file, 65_536)
        except OSError:
            return False
        self.output += found
        return bool(found)


def workbench(*arguments: str) -> list[str]:
    """Return the command that runs workbench with this interpreter."""
    return [sys.executable, "-m", "workbench", *arguments]
