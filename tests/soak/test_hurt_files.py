"""Files are damaged at random places, and rescue and repair are killed: doctor is right, no label is lost."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.damage import (
    KINDS,
    changed_texts,
    false_numbers,
    false_words,
    hurt,
    owners,
    readable,
    rich_project,
)
from workbench.care.doctor import examine
from workbench.care.rescuing import rescue
from workbench.core.errors import StoreError

pytestmark = pytest.mark.soak

PLACES = 240
KILLS = 30


def labels(path: Path) -> dict[int, dict[str, object]]:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return {row["id"]: dict(row) for row in connection.execute("SELECT * FROM label_events")}


def test_doctor_is_right_and_rescue_finds_every_readable_label(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = rich_project(tmp_path / "whole")
    names, expected = owners(whole), labels(whole)
    by_name: dict[str, list[int]] = {}
    for page, name in names.items():
        by_name.setdefault(name, []).append(page)
    draw, wrong = random.Random(17), list[str]()
    path, out = tmp_path / "hurt.db", tmp_path / "out.db"
    for number in range(PLACES):
        name = sorted(by_name)[number % len(by_name)]
        page, kind = draw.choice(by_name[name]), draw.choice(KINDS)
        damage = hurt(whole, path, page, kind, number)
        description = f"{number} {damage.kind} {name} {page}"
        wrong += [f"{description}: doctor: {word}" for word in false_words(whole, path, examine(path))]
        out.unlink(missing_ok=True)
        try:
            found = rescue(path, out)
        except StoreError as error:
            # Without its list of tables SQLite can't read a file at all.
            if "sqlite_schema" not in {names.get(one) for one in damage.pages}:
                wrong.append(f"{description}: {error}")
            continue
        words = [*false_numbers(whole, found), *(changed_texts(whole, out) if found.is_whole else [])]
        wrong += [f"{description}: rescue: {word}" for word in words]
        back = labels(out)
        found_by_id = readable(path, "label_events", expected)
        if any(
            back.get(one) != expected[one] for one, row in found_by_id.items() if row == tuple(expected[one].values())
        ):
            wrong.append(f"{description}: labels")
    assert wrong == []


@pytest.mark.parametrize("verb", ["rescue", "repair"])
def test_kill_leaves_an_intact_database_or_none(tmp_path: Path, verb: str) -> None:
    (tmp_path / "whole").mkdir()
    whole = rich_project(tmp_path / "whole")
    expected = labels(whole)
    index = next(page for page, name in owners(whole).items() if name == "label_events_subject")
    path, out = tmp_path / "p.db", tmp_path / "out.db"
    words = {"rescue": ["rescue", path, out], "repair": ["doctor", path, "--repair"]}[verb]
    command = [sys.executable, "-m", "workbench", *map(str, words)]
    draw = random.Random(verb)
    ended, took = 0, 2.0
    for number in range(KILLS):
        for file in tmp_path.iterdir():
            # The next command sweeps the partial files of a killed one.
            if file.is_file() and not file.name.startswith("."):
                file.unlink()
        if verb == "repair":
            hurt(whole, path, index, KINDS[3], 1)
        else:
            path.write_bytes(whole.read_bytes())
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            began = time.monotonic()
            with suppress(subprocess.TimeoutExpired):
                # The first run shows how long one takes.
                running.wait(None if number == 0 else draw.uniform(0.1, 1.2) * took)
            took = took if number else time.monotonic() - began
            ended += running.poll() is not None
            running.send_signal(signal.SIGKILL)
        if out.exists():
            assert examined(out) == []
            assert labels(out) == expected
        if verb == "repair":
            assert {finding.name for finding in examine(path) if not finding.ok} <= {"integrity"}
        else:
            assert labels(path) == expected
    assert ended < KILLS
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    assert not list(tmp_path.glob(".*.part"))


def examined(path: Path) -> list[str]:
    return [finding.name for finding in examine(path) if not finding.ok]
