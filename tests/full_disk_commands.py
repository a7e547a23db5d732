"""Every command of the command line as it is tried on a full disk, and what has to be so afterwards."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import click
from msgspec import Struct

from tests.commands import run
from tests.full_disk import SmallDisk
from tests.publishing import SAMPLE, freeze, sample_project
from tests.unit.services.measuring.scored_runs import add_complete_run
from workbench.model.verdict import Outcome, Verdict
from workbench.services.items.archiving import write_archive
from workbench.services.labelling.people import assign
from workbench.services.project import open_project

COMMANDS: dict[str, str] = {
    "import": "import DB IN/more.jsonl --dataset more",
    "import new": "import NEW IN/more.jsonl --dataset more",
    "export": "export DB FILE.jsonl --format verifybench",
    "export workbench": "export DB FILE.zip --format workbench",
    "export parquet": "export DB FILE.parquet --format parquet",
    "export stdout": "export DB - --format verifybench",
    "publish": "publish DB small FOLDER",
    "status": "status DB",
    "annotators": "annotators DB add kim lee",
    "assign": "assign DB --annotators kim,lee --per-item 2",
    "checks": "checks DB add --limit 5",
    "plan": "plan DB",
    "reopen": "reopen DB --where subtype=A1 --reason anew",
    "exclude": "exclude DB --where subtype=A1 --reason proof",
    "guidelines": "guidelines DB set IN/guidelines.md",
    "flags": "flags DB",
    "history": "history DB",
    "labels": "labels DB export FILE.jsonl --history",
    "labels import": "labels DB import IN/labels.jsonl",
    "conflicts": "conflicts DB --as chidi",
    "curate status": "curate DB status",
    "verifiers": "verifiers DB",
    "runs": "runs DB delete 2 --yes",
    "verdicts": "verdicts DB import IN/verdicts.jsonl",
    "verdicts print": "verdicts DB --verifier often",
    "accuracy": "accuracy DB",
    "tables": "tables DB --paper",
    "report": "report DB -o FILE.html",
    "compare": "compare DB often seldom",
    "ensemble": "ensemble DB",
    "best-of": "best-of DB",
    "validity": "validity DB",
    "build picks": "build DB picks --judge often --dry-run",
    "build balanced": "build DB balanced --name new --per-type 1",
    "build hard": "build DB hard --name new --judge often --judge seldom --judge thrice --minority 1",
    "sets": "sets DB",
    "selected-by": "selected-by DB add often --dataset sample",
    "estimate": "estimate DB often",
    "disagreements": "disagreements DB",
    "review": "review DB confirm ITEM",
    "review export": "review DB export FILE.jsonl",
    "agreement": "agreement DB",
    "correlate": "correlate DB often",
    "threshold": "threshold DB often",
    "pairs": "pairs DB often",
    "bundle": "bundle DB FILE.db --for amira",
    "merge": "merge DB IN/other.db --whole",
    "backup": "backup DB FILE.db",
    "restore": "restore NEW IN/archive.zip",
    "rescue": "rescue DB FILE.db",
}
"""What is tried -> its words; DB stands on the small disk, IN elsewhere, the rest is new on the small disk."""

ELSEWHERE = {
    **dict.fromkeys(("open", "serve", "reward-server", "replay"), "goes on until it is ended; see the tests of each"),
    **dict.fromkeys(("complete", "sweep", "duel", "preview", "transcripts", "types"), "asks model servers, as verify"),
    **dict.fromkeys(
        ("code write-tests", "code write-solutions", "code refine", "code pool", "code evolve"), "asks model servers"
    ),
    **dict.fromkeys(
        (
            "code select",
            "code metrics",
            "code saturation",
            "code passk",
            "code histograms",
            "code duplicates",
            "code results",
        ),
        "prints figures of code, or writes as export does",
    ),
    **dict.fromkeys(
        ("code representatives", "code results", "parse", "downstream", "models"), "prints what it is given"
    ),
    **dict.fromkeys(
        ("curate licence", "curate exclude", "curate duplicates", "curate types", "curate draw"),
        "stores decisions as exclude and build do",
    ),
    **dict.fromkeys(("demo", "verify", "probe"), "start a runner; verify is tried below"),
    "doctor": "attacks the sandbox, which takes its time; tried once below",
}
"""Commands that are not tried one by one, and why."""


class Given(Struct):
    """What the commands are given.

    Attributes:
        folder: Holds the database ``p.db`` and the files to read.
        item: An item's id.
    """

    folder: Path
    item: str


def every_command(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The names of all commands, by reflection."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from every_command(found, (*path, name))
    else:
        yield " ".join(path)


def prepare(folder: Path) -> Given:
    """A project with everything in it, and files to read."""
    project = sample_project(folder / "p.db")
    items = [row[0] for row in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]
    for name, even in (("often", 2), ("seldom", 3), ("thrice", 5)):
        found = [(item, Verdict(outcome=Outcome(item % even == 0), score=item % 7 / 7)) for item in items]
        add_complete_run(project, name, found)
    freeze(project)
    assign(project, ["amira"], per_item=1)
    (key,) = project.database.reader().execute("SELECT key FROM completions WHERE id = ?", (items[0],)).fetchone()
    write_archive(project, folder / "archive.zip", force=False, checks=True, calls=True)
    project.close()
    rows = [
        {"question_id": f"n{n}", "completion_id": f"n{n}", "question": f"{n}?", "answer": "1", "completion": "x" * 900}
        for n in range(1_000)
    ]
    (folder / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "guidelines.md").write_text("# Anew\n" + "Be careful. " * 2_000)
    shutil.copy(SAMPLE / "labels.jsonl", folder / "labels.jsonl")
    said = [{"completion_id": key, "verifier": "theirs", "verdict": "correct"}]
    (folder / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    other = open_project(folder / "other.db", create=True)
    other.close()
    shutil.copy(folder / "p.db", folder / "other.db")
    return Given(folder=folder, item=key)


def try_command(given: Given, disk: SmallDisk, name: str, lefts: Sequence[int]) -> Counter[str]:
    """Run a command with so much room each time; how often it did its work, and how often it said that it did not."""
    place = disk.path / "work"
    words = [
        word.replace("IN/", f"{given.folder}/").replace("FILE", str(place / "new")).replace("ITEM", given.item)
        if word not in _PLACES
        else str(place / _PLACES[word])
        for word in COMMANDS[name].split()
    ]
    wanted: tuple[object, ...] | None = None
    counted = Counter[str]()
    for left in (None, *lefts):
        disk.empty()
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        shutil.copy(given.folder / "p.db", place / "p.db")
        before = _state(place)
        if left is not None:
            disk.fill(left)
        done = run(*words)
        said = [line for line in done.stderr.splitlines() if line.strip()]
        disk.empty()
        if left is None:
            wanted = (done.returncode, _state(place))
            assert done.returncode in (0, 1, 3), (name, done.stderr)
            counted[f"with room: {done.returncode}"] += 1
            continue
        assert "Traceback" not in done.stderr, (name, left, done.stderr)
        after = _state(place)
        if done.returncode == wanted[0]:  # type: ignore[index]
            assert after == wanted[1], (name, left, done.stderr, _difference(after, wanted[1]))  # type: ignore[index]
            counted["done"] += 1
            continue
        assert done.returncode in (1, 3), (name, left, done.returncode)
        assert sum(line.startswith(("Database:", "File:", "Error:", "Run:", "Wrong usage:")) for line in said) == 1, (
            name,
            left,
            said,
        )
        assert _kept(before, after), (name, left, done.stderr, _difference(after, before))
        counted["said"] += 1
        again = run(*words)
        assert again.returncode == wanted[0], (name, left, "again", again.stderr)  # type: ignore[index]
        assert _state(place) == wanted[1], (name, left, "again", _difference(_state(place), wanted[1]))  # type: ignore[index]
    return counted


_PLACES = {"DB": "p.db", "NEW": "fresh.db", "FOLDER": "folder"}
_BESIDE = ("-wal", "-shm", ".columns", ".runner.log")


def _state(place: Path) -> dict[str, object]:
    """Each file that is no cache; of a database how many rows each table has."""
    found: dict[str, object] = {}
    for path in sorted(place.iterdir()):
        if path.name.endswith(_BESIDE):
            continue
        found[path.name] = _tables(path) if path.suffix == ".db" else path.stat().st_size > 0
    return found


def _tables(path: Path) -> dict[str, int] | str:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if "changes" in names:
            names.remove("changes")  # A part that is undone has been noted, too.
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names} or "empty"


def _kept(before: dict[str, object], after: dict[str, object]) -> bool:
    """Nothing new stands there, and nothing that was stored is gone."""
    return before == after


def _difference(left: object, right: object) -> object:
    if isinstance(left, dict) and isinstance(right, dict):
        keys = left.keys() | right.keys()
        return {key: _difference(left.get(key), right.get(key)) for key in keys if left.get(key) != right.get(key)}
    return left, right
