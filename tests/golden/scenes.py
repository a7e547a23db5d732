"""The projects shown, created from the sample on first use."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.commands import done
from tests.documents import ROOT
from tests.full_disk_input import CommandInput, prepared
from tests.helpers import copy_database, make_project, numbered
from tests.publishing import freeze
from tests.replaying import replay
from tests.tui.stored_calls import StoredCall, add_judged
from tests.tui.test_search_tree import search_with
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.database import migrations
from workbench.core.project import open_project

SAMPLE = ROOT / "sample_data"
RULES = ("rules", "exact", "normalized-exact", "math-verify")
JUDGE = "sample-judge"


@contextmanager
def surroundings(folder: Path) -> Iterator[None]:
    """Set a terminal of 80 columns and an empty configuration."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setenv("LOGNAME", "coordinator")
        patch.setenv(FOLDER_VARIABLE, str(folder / "configuration"))
        patch.setattr(migrations, "_draw", _draw)
        # Otherwise the messages would contain the name of the test program.
        patch.setattr(sys.modules["__main__"], "__package__", "", raising=False)
        yield


class Scenes:
    """Closed databases in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = ExitStack()

    def close(self) -> None:
        """Stop the servers of the scenes."""
        self._stack.close()

    @cached_property
    def tuples(self) -> Path:
        """The sample's tuples with their labels, verdicts of four verifiers, and a batch for two annotators."""
        path = self.folder / "sample.db"
        done("import", path, SAMPLE / "tuples.jsonl", "--dataset", "sample")
        done("labels", path, "import", SAMPLE / "labels.jsonl")
        for verifier in RULES:
            done("verify", path, verifier)
        done("annotators", path, "add", "dana", "eli")
        done("assign", path, "--annotators", "dana,eli", "--limit", "3")
        return path

    @cached_property
    def code(self) -> Path:
        """The sample's problems, with the outcomes of its solutions."""
        path = self.folder / "code.db"
        done("import", path, SAMPLE / "code_problems.jsonl", SAMPLE / "code_solutions.jsonl")
        done("verify", path, "execution")
        done("verify", path, "execution", "--name", "base", "-o", "suite=base")
        return path

    @cached_property
    def frozen(self) -> Path:
        """The sample's tuples with a frozen set."""
        path = self.copy(self.tuples, "frozen.db")
        with closing(open_project(path)) as project:
            freeze(project)
        return path

    @cached_property
    def judged(self) -> Path:
        """The sample's tuples, judged by recorded replies."""
        path = self.folder / "judged.db"
        done("import", path, SAMPLE / "tuples.jsonl", "--dataset", "sample")
        with replay(SAMPLE / "judge_replies.jsonl", "--model", JUDGE) as server:
            options = ("-o", f"base_url={server.url}", "-o", f"model={JUDGE}")
            done("verify", path, "llm-judge", "--name", JUDGE, *options)
        return path

    @cached_property
    def command_input(self) -> CommandInput:
        """Databases with content of every kind, files to read, and a model server."""
        folder = self.folder / "given"
        folder.mkdir()
        content = self._stack.enter_context(prepared(folder, with_server=True))
        shutil.copy(SAMPLE / "judge_replies.jsonl", folder / "recorded.jsonl")
        return content

    def input_copy(self, name: str) -> Path:
        """Copy one of the `command_input` databases into a separate folder."""
        place = Path(mkdtemp(dir=self.command_input.folder))
        self._make(name, place)
        return place / "p.db"

    def _make(self, name: str, place: Path) -> None:
        match name:
            case "empty":
                open_project(place / "p.db", create=True).close()
            case "answered":
                shutil.copy(self.command_input.folder / "p.db", place / "p.db")
                done("flags", place / "p.db", "answer", self.command_input.flagged, "two")
            case "untyped":
                make_project(place, numbered(4)).close()
            case "searched":
                search_with().stored(place)[0].close()
            case "solved":
                self.copy(self.code, f"{place.relative_to(self.folder)}/p.db")
            case "written":
                shutil.copy(self.command_input.folder / "code.db", place / "p.db")
                options = ("--dataset", "own", "--model", "tests", "-o", f"base_url={self.command_input.url}")
                done("code", "write-tests", place / "p.db", "--suite", "new", "--n", 3, *options)
                with closing(sqlite3.connect(place / "p.db")) as connection, connection:
                    connection.execute("UPDATE responses SET ms = 100")
            case "judged":
                project = make_project(place, numbered(2))
                add_judged(
                    project,
                    "judge",
                    1,
                    [StoredCall("analyse", reply="It is wrong."), StoredCall("summarise", reply="No")],
                )
                project.close()
            case _:
                shutil.copy(self.command_input.folder / f"{name}.db", place / "p.db")

    def rows(self, file: Path) -> Path:
        """A file's rows with four verifiers' verdicts."""
        path = self.folder / "rows.db"
        done("import", path, file, "--dataset", "rows")
        for verifier in RULES:
            done("verify", path, verifier)
        return path

    def copy(self, path: Path, name: str) -> Path:
        """Copy a database for writing."""
        return copy_database(path, self.folder / name)


def _draw(connection: sqlite3.Connection) -> None:
    """Fix a project's secret, which determines the assignment of slots and the order of two labels."""
    _drawn(connection)
    connection.execute("UPDATE secrets SET secret = zeroblob(32)")


_drawn = migrations._draw
