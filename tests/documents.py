"""The commands shown in the documents, and the servers they need."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.ports import free_ports

ROOT = Path(__file__).resolve().parent.parent


def shown_commands(document: str) -> list[list[str]]:
    """Return the ``workbench`` commands of a document's console blocks, in order."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("workbench ")]


def on_free_ports(commands: list[list[str]], *files: Path) -> list[list[str]]:
    """Replace the ports in commands, and in files that name their servers, by free ones: tests run in parallel."""
    shown = [command[command.index("--port") + 1] for command in commands if "--port" in command]
    ports = dict(zip(shown, map(str, free_ports(len(shown))), strict=True))

    def moved(text: str) -> str:
        return re.sub(r"\b\d{4}\b", lambda found: ports.get(found[0], found[0]), text)

    for file in files:
        file.write_text(moved(file.read_text(encoding="utf-8")), encoding="utf-8")
    return [[moved(word) for word in command] for command in commands]


@contextmanager
def in_background(arguments: list[str], folder: Path) -> Iterator[None]:
    """Run a server for the block, which is entered when the server reports its address."""
    command = [sys.executable, "-m", "workbench", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert "http://" in server.stdout.readline()
            yield
        finally:
            server.terminate()
