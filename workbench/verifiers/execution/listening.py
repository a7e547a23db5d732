"""What a program of another language reports, as it comes: lines on its standard output, which may be anything."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from typing import Final, Literal

import msgspec
from msgspec import Struct

from workbench.verifiers.meter import Meter, ProcessUsage, in_words

_CHUNK: Final = 1 << 16
_HEED_S: Final = 0.1
_NEAR_S: Final = 0.05
"""Tests so close to each other are measured together: to look at all that a process started takes a while."""


Cut = tuple[str, str]
"""Why a process had to be ended: the outcome to give, and the same in words."""


class ReportLine(Struct):
    """A line of a program's report; see `RunnerTask`."""

    ready: bool = False
    started: bool = False
    outcome: Literal["p", "f", "e", "s"] | None = None
    value: msgspec.Raw = msgspec.Raw()
    error: str | None = None
    message: str | None = None
    line: int | None = None


def _cut(spent: ProcessUsage, limit: float, left: float) -> Cut | None:
    if cause := spent.over(limit):
        return "t", in_words(cause, limit)
    return ("t", "timeout: all tests together took more than they may") if spent.own >= left else None


class OutputListener:
    """Takes in what a process writes to its standard output."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, count: int, most: int) -> None:
        assert process.stdout is not None
        self._process = process
        self._meter = Meter(process.pid, tree=True)
        self._restarted = time.monotonic()
        self._descriptor = process.stdout.fileno()
        self._mark = mark.encode()
        self._count = count
        self._most = most
        self._place = 0
        self.output = bytearray()
        self.lines: list[ReportLine] = []
        self.own = self.cpu = 0.0

    def listen(self, seconds: float, start_s: float, left: float, stopped: threading.Event) -> Cut | None:
        """Listen to the end, or until all is said; returns the outcome to give and why, if the process has to end.

        Args:
            seconds: Processor time for a test.
            start_s: What the first may take more.
            left: Seconds for all tests together, see `ProcessUsage.own`.
        """
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        limit = seconds + start_s
        next_look = time.monotonic() + min(limit, left)
        while not self._count or len(self.lines) < self._count:
            if stopped.is_set():
                return "t", "it was stopped"
            now = time.monotonic()
            if now >= next_look:
                spent = self._meter.spent()
                if cut := _cut(spent, limit, left - self.own):
                    return cut
                next_look = now + spent.left(limit)
            if not poller.poll(min(next_look - now, _HEED_S) * 1000 + 1):
                continue
            data = os.read(self._descriptor, _CHUNK)
            if not data:
                return None
            self.output += data
            if len(self.output) > self._most:
                return "x", "it wrote more than it may"
            if self._count and self._read():
                limit, next_look = seconds, self._restart(seconds)
        return None

    def awaited(self, seconds: float) -> Cut | None:
        """Wait for the end of the process, which says no more."""
        limit = seconds + self._meter.spent().cpu
        while not (cut := self._meter.spent().over(limit)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_HEED_S)
                return None
        return "t", in_words(cut, seconds)

    def stop(self) -> None:
        """Nothing more is heard of the process: see what it has taken."""
        self._add()
        self._meter.close()

    def _restart(self, seconds: float) -> float:
        """The next test's time begins, by and large; returns when it could be over."""
        now = time.monotonic()
        if now - self._restarted >= min(_NEAR_S, seconds / 20):
            self._add()
            self._meter.restart()
            self._restarted = now
        return self._restarted + seconds

    def _add(self) -> None:
        spent = self._meter.spent()
        self.own, self.cpu = self.own + spent.own, self.cpu + spent.cpu

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


def _line(text: bytes) -> ReportLine:
    """A line of the report; one that makes no sense says nothing."""
    try:
        return msgspec.json.decode(text, type=ReportLine)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ReportLine()
