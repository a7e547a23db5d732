"""The real app on a pseudo-terminal, with the uuids of acknowledged labels kept in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect

DRIVER = """
import sys
from workbench.services.labelling import annotating

submit = annotating.AnnotationSession.submit
journal = open(sys.argv[3], "a", buffering=1)

def noted(self, *arguments):
    stored = submit(self, *arguments)
    for uuid in stored:
        journal.write(uuid + "\\n")
    return stored

annotating.AnnotationSession.submit = noted
from workbench.cli import main

sys.argv = ["workbench", "open", sys.argv[1], "--as", sys.argv[2]]
main()
"""
PATIENCE_S = 60.0


class AppOnPty:
    """The app in a process of its own, opened by an annotator, driven by keys.

    The journal gets a label's uuid when its submission has returned, which is when the screen may say "saved".
    """

    def __init__(self, database: Path, annotator: str, journal: Path) -> None:
        self.journal = journal
        self.journal.touch()
        self._app = pexpect.spawn(
            sys.executable,
            ["-c", DRIVER, str(database), annotator, str(journal)],
            dimensions=(24, 80),
            env=None,
            timeout=PATIENCE_S,
        )

    def acknowledged(self) -> list[str]:
        """Uuids of all labels whose submission has returned, in this process or one before."""
        return self.journal.read_text().splitlines()

    def wait_for(self, text: str) -> None:
        """Read the screen until it shows a text."""
        self._app.expect_exact(text)

    def press(self, keys: str) -> None:
        """Send keys, and take what the app has drawn meanwhile."""
        self._app.send(keys)
        self.drain()

    def drain(self) -> None:
        """Read what there is: a full pipe would stop the app."""
        try:
            while self._app.read_nonblocking(65536, timeout=0):
                pass
        except (pexpect.TIMEOUT, pexpect.EOF):
            return

    def press_until(self, keys: str, condition: Callable[[], bool], pause: float = 0.02) -> None:
        """Press again and again until something is so."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            assert self._app.isalive(), "the app has ended"
            self.press(keys)
            time.sleep(pause)

    def kill(self) -> None:
        """kill -9, and wait until the process is gone."""
        self._app.kill(9)
        self._app.wait()
        self._app.close(force=True)
