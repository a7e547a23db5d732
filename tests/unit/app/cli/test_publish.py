"""``workbench publish``: its document, notes and exit codes; and the folder as read by the datasets library."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from tests.commands import Call, in_process
from tests.helpers import make_project
from tests.publishing import freeze, publish_sample
from workbench.benchmarks.card.document import HUB, hub_licence
from workbench.benchmarks.records import Publication

READ = Path(__file__).resolve().parents[3] / "data" / "datasets" / "read.json"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    rows = [{"question_id": "q", "gold": gold, "subtype": "A1", "source": "d/s"} for gold in (True, False)]
    project = make_project(tmp_path, rows)
    freeze(project, "s")
    freeze(project, "early", kind="queue")
    project.close()
    return project.path


def test_json_is_one_document_and_notes_go_to_stderr(call: Call, database: Path, tmp_path: Path) -> None:
    code, out, err = call("publish", database, "s", tmp_path / "out", "--json")
    assert code == 0
    found = msgspec.json.decode(out, type=Publication)
    assert (found.sets[0].name, found.sets[0].tuples, found.folder) == ("s", 2, str(tmp_path / "out"))
    assert "--licence" in err
    assert "no known licence of d/s" in err
    assert list(found.notes) == err.splitlines()


def test_the_text_output(call: Call, database: Path, tmp_path: Path) -> None:
    code, out, err = call("publish", database, "s@1", tmp_path / "out", "--licence", "MIT", "--language", "en")
    assert (code, out.count("\n")) == (0, 1)
    assert "9 files" in out
    assert "s@1: 2 completions of 1 question, 0 labels, 0 verifiers" in err
    header = (tmp_path / "out" / "README.md").read_text().split("\n---\n")[0]
    assert 'license: "mit"\nlanguage: ["en"]' in header


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nope", "out"), 2, "There is no set 'nope'"),
        (("s@7", "out"), 2, "There is no set 's@7'"),
        (("early", "out"), 2, "not a finished one"),
        (("a b", "out"), 2, "not a valid set name"),
        (("s", "no/out"), 1, "there is no folder"),
        (("s", "p.db"), 1, "is not a folder"),
        (("s", "p.db-journal"), 1, "belongs to the database itself"),
        (("out",), 2, "Missing argument"),
        (("s", "out", "--language", "English!"), 2, "not a valid language code"),
    ],
    ids=["unknown", "version", "unfinished", "name", "above", "file", "journal", "none", "language"],
)
def test_an_unpublishable_benchmark_has_a_reason(
    call: Call, database: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.chdir(database.parent)
    found, out, err = call("publish", database, *arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert "Traceback" not in err
    assert not (database.parent / "out").exists()


def test_force_is_needed_and_enough(call: Call, database: Path, tmp_path: Path) -> None:
    assert call("publish", database, "s", tmp_path / "out")[0] == 0
    code, _, err = call("publish", database, "s", tmp_path / "out")
    assert (code, "--force" in err) == (1, True)
    assert call("publish", database, "s", tmp_path / "out", "--force")[0] == 0


@pytest.mark.parametrize("licence", [None, "Apache-2.0", "CC BY 4.0", "My ](x): {", "---", ""])
def test_a_licence_is_one_the_hub_knows_or_another(licence: str | None) -> None:
    found = hub_licence(licence)
    assert found["license"] in {*HUB, "unknown", "other"}
    assert (found["license"] == "other") == ("license_name" in found)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "out"
    publish_sample(folder)
    return folder


def test_the_published_folder_equals_the_recorded_reading_of_datasets(sample: Path) -> None:
    """The recorded reading (see tests/data/README.md) equals the current contents."""
    read: dict[str, Any] = json.loads(READ.read_bytes())
    header = (sample / "README.md").read_text(encoding="utf-8").split("\n---\n")[0].removeprefix("---\n")
    assert sha256(header.encode()).hexdigest() == read["front_matter"]
    assert read["yaml_agrees"]
    assert (read["unnamed"], list(read["configs"])) == ("small", ["small", "people-only"])
    for name, found in read["configs"].items():
        table = pq.read_table(sample / "data" / name / "test-00000-of-00001.parquet")
        rows = [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in table.to_pylist()]
        assert {field.name: str(field.type) for field in table.schema} == found["features"]
        assert (table.num_rows, _hash(rows[0]), _hash("\n".join(rows))) == (
            found["num_rows"],
            found["first_row"],
            found["rows"],
        )


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
