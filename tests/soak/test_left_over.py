"""Publish and import are killed at random moments: all or nothing is left, and the next command sweeps leftovers."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.full_disk_input import prepare

pytestmark = pytest.mark.soak

KILLS = int(os.environ.get("KILLS", "40"))
ROWS = 3_000


def _killed(command: list[object], after: float) -> bool:
    """Run a command and kill it after some seconds; return whether it was still running."""
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        try:
            running.wait(after)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            return True
    return False


def _done(command: list[object]) -> float:
    began = time.monotonic()
    assert subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, command)], stdout=subprocess.DEVNULL, check=False
    ).returncode in (0, 3)
    return time.monotonic() - began


def _parts(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".part") or ".part-" in name]


@pytest.mark.parametrize("what", ["publish", "import new", "import"])
def test_kill_leaves_all_or_nothing(tmp_path: Path, what: str) -> None:
    template = prepare(tmp_path)
    rows = [
        {"question_id": f"k{n}", "completion_id": f"k{n}", "question": f"{n}?", "answer": "1", "completion": "x" * 900}
        for n in range(ROWS)
    ]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = tmp_path / "place"
    place.mkdir()
    chance, killed, left = random.Random(what), 0, 0
    commands: dict[str, list[object]] = {
        "publish": ["publish", template.folder / "p.db", "small", place / "out", "--force"],
        "import new": ["import", place / "new.db", tmp_path / "many.jsonl"],
        "import": ["import", place / "there.db", tmp_path / "many.jsonl", "--dataset", "more"],
    }

    def fresh() -> None:
        for path in place.iterdir():
            if path.name.startswith(("new.db", "there.db")):
                path.unlink() if path.is_file() else None
        if what == "import":
            (place / "there.db").write_bytes((template.folder / "p.db").read_bytes())

    fresh()
    lasts = _done(commands[what])
    for _ in range(KILLS):
        fresh()
        was_at_work = _killed(commands[what], lasts * chance.uniform(0.2, 1.0))
        killed += was_at_work
        # The duration was measured on a busy machine, too.
        lasts *= 1.0 if was_at_work else 0.8
        left += bool(_parts(place))
        if what == "publish":
            checked = subprocess.run(["sha256sum", "-c", "--quiet", "checksums.txt"], cwd=place / "out", check=False)
            assert checked.returncode == 0
            continue
        path = place / ("new.db" if what == "import new" else "there.db")
        if path.exists():
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                complete = connection.execute("SELECT count(*) FROM imports WHERE state = 'complete'").fetchone()[0]
                (items,) = connection.execute("SELECT count(*) FROM completions WHERE key LIKE 'k%'").fetchone()
            assert items == ROWS or complete < 2
    fresh()
    _done(commands[what])
    assert _parts(place) == []
    print(what, "killed", killed, "with left-overs", left, flush=True)
    assert killed > KILLS / 2
