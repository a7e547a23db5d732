"""What a program of another language reports, as it comes: lines on its standard output, which may be anything."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from typing import Final, Literal

import msgspec
from msgspec import Struct

_CHUNK: Final = 1 << 16
_HEED_S: Final = 0.1

Cut = tuple[str, str]
"""Why a process had to be ended: the outcome to give, and the same in words."""


class Line(Struct):
    """A line of a program's report; see `Asked`."""

    ready: bool = False
    started: bool = False
    outcome: Literal["p", "f", "e", "s"] | None = None
    value: msgspec.Raw = msgspec.Raw()
    error: str | None = None
    message: str | None = None
    line: int | None = None


def awaited(process: subprocess.Popen[bytes], seconds: float) -> Cut | None:
    """Wait for the end of a process that says no more."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return "t", f"it took more than {seconds:g} s"
    return None


class Listener:
    """Takes in what a process writes to its standard output."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, count: int, most: int) -> None:
        assert process.stdout is not None
        self._descriptor = process.stdout.fileno()
        self._mark = mark.encode()
        self._count = count
        self._most = most
        self._place = 0
        self.output = bytearray()
        self.lines: list[Line] = []

    def listen(self, seconds: float, start_s: float, ends: float, stopped: threading.Event) -> Cut | None:
        """Listen to the end, or until all is said; returns the outcome to give and why, if the process has to end."""
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        since = time.monotonic() + start_s
        while not self._count or len(self.lines) < self._count:
            left = min(since + seconds, ends) - time.monotonic()
            if left <= 0 or stopped.is_set():
                return "t", f"it took more than {seconds:g} s"
            if not poller.poll(min(left, _HEED_S) * 1000 + 1):
                continue
            data = os.read(self._descriptor, _CHUNK)
            if not data:
                return None
            self.output += data
            if len(self.output) > self._most:
                return "x", "it wrote more than it may"
            if self._count and self._read():
                since = time.monotonic()
        return None

    def _read(self) -> bool:
        """Take in lines that are complete; returns whether one belongs to the report."""
        heard = False
        while (end := self.output.find(b"\n", self._place)) >= 0:
            text = bytes(self.output[self._place : end])
            self._place = end + 1
            if text.startswith(self._mark):
                heard = True
                line = _line(text[len(self._mark) :])
                if not line.ready:
                    self.lines.append(line)
        return heard


def _line(text: bytes) -> Line:
    """A line of the report; one that makes no sense says nothing."""
    try:
        return msgspec.json.decode(text, type=Line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Line()
