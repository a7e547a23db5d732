"""The real ``workbench replay`` in a separate process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple


class Replay(NamedTuple):
    """A running server.

    Attributes:
        url: The value for base_url.
        report: The JSON document it printed when it was ready.
        process: The server's process.
    """

    url: str
    report: dict[str, Any]
    process: subprocess.Popen[str]


@contextmanager
def replay(file: Path, *arguments: str) -> Iterator[Replay]:
    """Serve a file until the end of the block."""
    command = [sys.executable, "-m", "workbench", "replay", os.fspath(file), "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            report = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
            yield Replay(report["base_url"], report, process)
        finally:
            process.terminate()


def write_lines(file: Path, lines: list[dict[str, Any]]) -> Path:
    """Write JSON lines to a file."""
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file
