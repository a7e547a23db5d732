"""Environments for other projects, each installed on first use under ``bench/.peers``."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from bench.figures import left_out

PEERS = Path(__file__).resolve().parent / ".peers"


@cache
def environment(peer: str, packages: tuple[str, ...], figure: str) -> Path | None:
    """Return a peer's Python; None, with the reason printed for the metric, if its packages can't be installed."""
    home = PEERS / peer
    python, stamp = home / "bin" / "python", home / "installed"
    if stamp.exists():
        return python
    for command in (
        [sys.executable, "-m", "venv", str(home)],
        [str(python), "-m", "pip", "-q", "install", *packages],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            left_out(figure, f"not installed: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}")
            return None
    stamp.touch()
    return python
