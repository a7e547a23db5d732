"""Servers of recorded replies that the app has started: child processes that end with it, even if it crashes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from workbench.app.tui.keymap import key_of
from workbench.core.errors import OptionError, opt


class Ready(Struct, frozen=True):
    """What a server prints once it accepts connections.

    Attributes:
        base_url: The server's URL, for a judge's option of this name.
        replies: Number of replies in its file.
        refused: Number of invalid lines in the file.
        models: Names of the recorded models, at least one.
    """

    base_url: str
    replies: int
    refused: int
    models: tuple[str, ...]


class ReplayServer(NamedTuple):
    """A running server of recorded replies."""

    file: Path
    process: subprocess.Popen[bytes]
    told: Ready

    @property
    def port(self) -> int:
        return urlsplit(self.told.base_url).port or 0


class ReplayServers:
    """The running servers. A child reads its standard input, to which the app writes nothing: the input ends with the
    app.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: list[ReplayServer] = []

    def __iter__(self) -> Iterator[ReplayServer]:
        return iter([one for one in self._begun if one.process.poll() is None])

    def start(self, file: Path, port: int = 0) -> ReplayServer:
        """Serve a file, or return its running server. Waits until connections are accepted: call it in a thread.

        Args:
            port: Port on this machine; 0 for any free port.

        Raises:
            OptionError: ``file`` or ``port`` is invalid.
        """
        file = Path(os.path.abspath(file))
        with self._lock:
            for one in self:
                if one.file == file and port in (0, one.port):
                    return one
                if one.port == port:
                    words = f"Port {port} is in use: {one.file.name} is served there. {key_of('replay.stop')} ends it."
                    raise OptionError("port", words)
            found = _start_process(file, port)
            self._begun.append(found)
            return found

    def words(self) -> str:
        """Return the message about servers that end with the app; "" if there are none."""
        return "\n".join(
            f"The server of recorded replies at {one.told.base_url} has ended. A run that asks it pauses; resume it "
            f"once Replay serves {one.file} at port {one.port} again."
            for one in self
        )

    def stop(self) -> None:
        with self._lock:
            for one in self._begun:
                _stop_process(one.process)
            self._begun = []


def _start_process(file: Path, port: int) -> ReplayServer:
    from workbench.app.tui.verb_forms import form_environment, last_refusal

    words = ["replay", os.fspath(file), "--port", str(port), "--until-eof", "--json"]
    with tempfile.TemporaryFile() as said:
        # Ctrl-C in the terminal is the app's alone.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "workbench", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
            env=form_environment(),
        )
        assert process.stdout is not None
        lines: list[bytes] = []
        while not lines or lines[-1] not in (b"}\n", b""):
            lines.append(process.stdout.readline())
        if lines[-1]:
            return ReplayServer(file, process, msgspec.json.decode(b"".join(lines), type=Ready))
        _stop_process(process)
        said.seek(0)
        printed, found = last_refusal(said.read().decode("utf-8", "replace"))
        text = found.text if found else printed
        raise OptionError("port" if str(opt.port) in text else "file", text)


def _stop_process(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.terminate()
    process.wait()
