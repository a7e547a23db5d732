"""The real app on a pseudo-terminal, killed at moments that its writes determine.

The process keeps two files: a journal with the uuids of acknowledged labels, and marks around its write transactions.
Both are files, not pipes: what was written before a kill stays readable after it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pexpect

from tests.background import PATIENCE_S

DRIVER = """
import os
import sys
import threading
import time
from contextlib import contextmanager

from workbench.labelling import annotating
from workbench.core.database.connection import Database

def file(name):
    return os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

_, database, annotator, journal, marks = sys.argv
journal, marks = file(journal), file(marks)
submit, write = annotating.AnnotationSession.submit, Database.write
thread = threading.local()

def mark(letter):
    os.write(marks, f"{letter} {time.monotonic()}\\n".encode())

@contextmanager
def marked_write(self, *arguments, **options):
    labels = getattr(thread, "labels", False)
    with write(self, *arguments, **options) as connection:
        mark("B" if labels else "b")
        yield connection
    mark("C" if labels else "c")

def noted_submit(self, *arguments):
    thread.labels = True
    try:
        stored = submit(self, *arguments)
    finally:
        thread.labels = False
    for uuid in stored:
        os.write(journal, (uuid + "\\n").encode())
    return stored

annotating.AnnotationSession.submit = noted_submit
Database.write = marked_write
from workbench.app.cli import main

sys.argv = ["workbench", "open", database, "--as", annotator]
main()
"""


class Mark(NamedTuple):
    """The beginning (``b``) or the end (``c``) of a write transaction; in capitals if it stores a label.

    ``b`` is written after BEGIN IMMEDIATE, ``c`` after COMMIT has returned.
    """

    letter: str
    at: float


class AppOnPty:
    """The app in a separate process, opened by an annotator and driven by keys.

    The journal gets a label's uuid when its submission has returned, which is before the screen can say "saved".
    """

    def __init__(self, database: Path, annotator: str, folder: Path) -> None:
        self._journal, self._marks = folder / "journal", folder / "marks"
        for file in (self._journal, self._marks):
            file.touch()
        self._begun = self._marks.stat().st_size
        self._app = pexpect.spawn(
            sys.executable,
            ["-c", DRIVER, str(database), annotator, str(self._journal), str(self._marks)],
            dimensions=(24, 80),
            env=None,
            timeout=PATIENCE_S,
            use_poll=True,
        )

    def acknowledged(self) -> list[str]:
        """Return the uuids of all labels whose submission has returned, in this process or an earlier one."""
        return self._journal.read_text().splitlines()

    def marks(self) -> list[Mark]:
        """Return the marks of this process."""
        lines = self._marks.read_bytes()[self._begun :].decode().splitlines()
        return [Mark(letter, float(at)) for letter, at in map(str.split, lines)]

    def wait_for(self, text: str) -> None:
        """Read the screen until it shows a text."""
        self._app.expect_exact(text)

    def press(self, keys: str) -> None:
        """Send keys and read what the app draws in response."""
        self._app.send(keys)
        self.drain()

    def drain(self) -> None:
        """Read all pending output: a full pipe would block the app."""
        try:
            while self._app.read_nonblocking(65536, timeout=0):
                pass
        except (pexpect.TIMEOUT, pexpect.EOF):
            return

    def press_until(self, keys: str, condition: Callable[[], bool], pause: float = 0.02) -> None:
        """Press keys repeatedly until a condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, "the condition never held"
            assert self._app.isalive(), "the app has stopped"
            self.press(keys)
            time.sleep(pause)

    def kill_in_write(self, keys: str, delay: float) -> float:
        """Press keys until a label's transaction begins, then send SIGKILL after a delay in seconds.

        Returns:
            When the signal was sent, on the clock of the marks.
        """
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            size = self._marks.stat().st_size
            self.press(keys)
            begun_at = self._watch(size)
            if begun_at is not None:
                while time.monotonic() < begun_at + delay:
                    pass
                return self.kill()
        raise AssertionError("no label was written")

    def _watch(self, size: int) -> float | None:
        """Poll for the next beginning of a label's transaction; return None if none comes soon."""
        end = time.monotonic() + 0.2
        with self._marks.open("rb", buffering=0) as file:
            file.seek(size)
            while (now := time.monotonic()) < end:
                if b"B" in file.read(4096):
                    return now
        return None

    def kill(self) -> float:
        """Send SIGKILL and wait until the process is gone; return when the signal was sent."""
        sent_at = time.monotonic()
        os.kill(self._app.pid, signal.SIGKILL)
        self._app.wait()
        self._app.close(force=True)
        return sent_at
