"""A server's process, for whoever started it: its real process id, its end, and what it said of it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from typing import Final

_STOP_S: Final = 2.0
_LONGEST_WORDS: Final = 4096


class ServerProcess:
    """A server that is being started, maybe behind walls that are a process of their own.

    To end the walls ends not what is behind them: the kernel asks whether one user may signal the other, and the
    server is another user with no rights. So the server itself is held on to.

    Args:
        command: The server's, or that of its walls.
        inherited: Descriptors it gets.
        environment: All of its environment.

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
        """Hold on to the server.

        Args:
            told: What walls said of who is behind them, as bubblewrap does on ``--info-fd``; nothing without walls.
        """
        with contextlib.suppress(ValueError, KeyError, TypeError):
            self.pid = int(json.loads(told)["child-pid"])
        with contextlib.suppress(OSError, AttributeError):
            self._handle = os.pidfd_open(self.pid)

    def end(self) -> None:
        """Wait until the server and all in it have gone, for a moment, then see to it."""
        self._finish()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if self._process.stderr is not None:
            self._process.stderr.close()

    def last_words(self) -> str:
        """What it wrote before it gave its standard error away; it has gone, or is ended now."""
        self._finish()
        assert self._process.stderr is not None
        return self._process.stderr.read(_LONGEST_WORDS).decode(errors="replace").strip()

    def _finish(self) -> None:
        if not self._gone(_STOP_S):
            self._kill()
            self._gone(_STOP_S)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _gone(self, seconds: float) -> bool:
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
