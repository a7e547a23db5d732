"""Reading the open project's own files releases none of its locks, whichever command is given them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import pytest

import workbench.app.cli
from tests.commands import Call, in_process
from tests.full_disk_commands import every_command
from tests.helpers import make_project, numbered
from workbench.app.cli.writing import OutputPath
from workbench.core.errors import FormatError
from workbench.core.files import require_input
from workbench.core.project import Project

COMMANDS = {
    "import": "import DB FILE",
    "curate types": "curate DB types --model m -o base_url=http://localhost:9/v1 --template FILE",
    "complete": "complete DB FILE --trust",
    "checks": "checks DB import FILE",
    "agreement": "agreement --from FILE",
    "merge": "merge DB FILE",
    "verdicts": "verdicts DB import FILE",
    "replay": "replay FILE",
    "parse": "parse verifybench@2 FILE",
    "downstream": "downstream DB FILE",
    "tables": "tables DB --paper --table 4 --elsewhere FILE",
    "template check": "template check FILE",
    "code select": "code select --from FILE",
    "code metrics": "code metrics --from FILE",
    "code duplicates": "code duplicates --from FILE",
    "code evolve": "code evolve DB --name grown --dataset own --rounds 1 --model m -o base_url=http://localhost:9 "
    "--only FILE",
    "code representatives": "code representatives --from FILE --mode discriminative",
    "judge-file": "judge-file FILE none/out.jsonl",
    "restore": "restore FILE OTHER",
}
"""Every command that reads a file that is named as one, and how it is given one."""
NAMED = {
    "rescue": "rescue DB FILE",
    "guidelines": "guidelines DB set FILE",
    "template": "verify DB llm-judge -o base_url=http://localhost:9/v1 -o model=m -o template=FILE",
}
"""Those that take it as a text, or would write it."""
ENDS = ("", "-wal", "-shm")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's list of locks is looked at")


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path, numbered(3))
    project.database.reader().execute("SELECT count(*) FROM completions").fetchone()
    return project


def locks(database: Path) -> list[str]:
    """Return the locks of this process on the files of a database, according to the kernel."""
    files = {f"{os.major(at.st_dev):02x}:{os.minor(at.st_dev):02x}:{at.st_ino}" for at in map(os.stat, _own(database))}
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    # /proc/locks is read in pieces: while other processes lock and unlock, a line may occur twice.
    return sorted({" ".join(words[1:]) for words in lines if files & set(words) and str(os.getpid()) in words})


def _own(database: Path) -> list[str]:
    return [f"{database}{end}" for end in ENDS]


def _is_read(kind: object) -> bool:
    return isinstance(kind, click.Path) and not isinstance(kind, OutputPath)


def test_every_command_that_reads_a_file_is_covered() -> None:
    root = workbench.app.cli.root
    reading = {
        name
        for name, command in every_command(root)
        if any(_is_read(param.type) and param.name != "database" for param in command.params)
    }
    assert reading == set(COMMANDS)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", [*COMMANDS, *NAMED])
def test_files_of_the_project_are_rejected_and_its_locks_kept(
    name: str, project: Project, tmp_path: Path, call: Call
) -> None:
    database = project.database.path
    before = locks(database)
    assert before
    for end in ENDS:
        link, second = tmp_path / f"link{end}.jsonl", tmp_path / f"second{end}.csv"
        link.symlink_to(f"{database}{end}")
        os.link(f"{database}{end}", second)
        for file in (f"{database}{end}", link, second):
            words = {"DB": str(database), "OTHER": str(tmp_path / "other.db"), "FILE": str(file)}
            given = [words.get(word, word.replace("=FILE", f"={file}")) for word in (COMMANDS | NAMED)[name].split()]
            code, _, said = call(*given)
            assert code != 0
            assert said
            assert "Traceback" not in said
            assert locks(database) == before, file
        link.unlink()
        second.unlink()
    project.close()


def test_a_file_without_a_writer_can_be_read_concurrently(project: Project, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("question\n1\n")
    with rows.open("rb"):
        require_input(rows)
    with rows.open("ab"), pytest.raises(FormatError, match="is being written"):
        require_input(rows)
    require_input(tmp_path / "none")
    project.close()
    require_input(project.database.path)
