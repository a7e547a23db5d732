"""The published folder equals the frozen benchmark, is reproducible byte for byte, and can be imported."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from tests.helpers import make_project
from tests.publishing import SAMPLE, freeze, with_gold
from workbench.benchmarks.card.contents import SetContents
from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.publishing import publishing
from workbench.benchmarks.publishing.frozen import frozen_set
from workbench.benchmarks.publishing.gathering import gather
from workbench.benchmarks.publishing.publishing import publish
from workbench.benchmarks.records import COLUMNS, FolderManifest, Publication
from workbench.core.database import events, people
from workbench.core.errors import FormatError, StoreError, UsageError
from workbench.core.label import EventKind, LabelEvent
from workbench.core.project import Project, open_project
from workbench.core.sets import ItemMember, SetName
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.agreement.measuring import agreement
from workbench.labelling.coordinating import reopen
from workbench.labelling.labels import import_labels

Made = tuple[Path, Publication]
DATA = "data/small/test-00000-of-00001.parquet"


def rows_of(folder: Path, path: str = DATA) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / path).to_pylist()
    return found


def lines_of(folder: Path, path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / path).read_bytes().splitlines()]


def section(card: str, title: str) -> str:
    return card.split(f"\n## {title}\n")[1].split("\n## ")[0]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_file_is_in_the_manifest_and_the_checksums(made: Made) -> None:
    folder, found = made
    hashes = {path: sha256(content).hexdigest() for path, content in bytes_of(folder).items()}
    manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=FolderManifest)
    assert manifest.files == found.files
    assert {file.path: file.sha256 for file in found.files} == {
        path: digest for path, digest in hashes.items() if path not in ("manifest.json", "checksums.txt")
    }
    pairs = [line.split("  ") for line in (folder / "checksums.txt").read_text().splitlines()]
    said = {path: digest for digest, path in pairs}
    assert said == {path: digest for path, digest in hashes.items() if path != "checksums.txt"}
    one = found.sets[0]
    assert (one.tuples, one.questions, one.correct, one.labels, one.verifiers) == (76, 38, 38, 199, 2)


def test_the_same_database_gives_the_same_bytes(made: Made, project: Project) -> None:
    again = project.path.with_name("again")
    publish(project, PublishOptions(sets=("small",), folder=again))
    assert bytes_of(again) == bytes_of(made[0])


def test_labels_added_during_publishing_are_in_no_file(
    made: Made, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label that arrives while the folder is written is in all of it or none of it."""

    def gather_after_a_label(*arguments: Any) -> SetContents:
        with project.database.write() as connection:
            events.append(connection, later("new", "label", 1, people.add(connection, "dora"), verdict="correct"))
        return gather(*arguments)

    monkeypatch.setattr(publishing, "gather", gather_after_a_label)
    publish(project, PublishOptions(sets=("small",), folder=project.path.with_name("out")))
    assert bytes_of(project.path.with_name("out")) == bytes_of(made[0])


def test_gold_and_types_are_those_that_were_frozen(project: Project, tmp_path: Path) -> None:
    before = {row["completion_id"]: row for row in _published(project, tmp_path / "before")}
    key, question = next((row["completion_id"], row["question_id"]) for row in before.values() if row["gold_correct"])
    with project.database.write() as connection:
        connection.execute("UPDATE item_states SET gold = 1 - gold WHERE gold IS NOT NULL")
        connection.execute("UPDATE completions SET imported_gold = 1 - imported_gold")
        connection.execute("UPDATE questions SET subtype = 'D2', type = 'D' WHERE key = ?", (question,))
        connection.execute("UPDATE item_states SET subtype = 'D2'")
    found = publish(project, PublishOptions(sets=("small",), folder=tmp_path / "after"))
    after = {row["completion_id"]: row for row in rows_of(tmp_path / "after")}
    assert {name: row["gold_correct"] for name, row in after.items()} == {
        name: row["gold_correct"] for name, row in before.items()
    }
    assert {name: row["answer_subtype"][:2] for name, row in after.items()} == {
        name: row["answer_subtype"][:2] for name, row in before.items()
    }
    assert after[key]["answer_type"][0] == before[key]["answer_type"][0]
    assert found.sets[0].differing.gold == 76
    assert found.sets[0].differing.types
    assert any("gold of 76 items" in note for note in found.notes)
    card = (tmp_path / "after" / "README.md").read_text()
    assert "the gold of 76 items" in card
    assert section(card, "Data card") == section((tmp_path / "before" / "README.md").read_text(), "Data card")
    board = lines_of(tmp_path / "after", "leaderboard/small.jsonl")
    assert board == lines_of(tmp_path / "before", "leaderboard/small.jsonl")


def _published(project: Project, folder: Path) -> list[dict[str, Any]]:
    publish(project, PublishOptions(sets=("small",), folder=folder))
    return rows_of(folder)


def test_both_files_can_be_imported(made: Made, tmp_path: Path) -> None:
    folder, _ = made
    source = {row["completion_id"]: row for row in lines_of(SAMPLE, "tuples.jsonl")}
    for path in (DATA, "verifybench/small.jsonl"):
        project = open_project(tmp_path / f"{Path(path).stem}.db", create=True)
        import_files(project, plan_import([folder / path]), dataset="again")
        rows = project.database.reader().execute(
            "SELECT c.key, q.key, qt.text, qt.reference, ct.text, c.imported_gold, q.type, q.subtype "
            "FROM completions AS c JOIN completion_text AS ct USING (id) JOIN questions AS q ON q.id = c.question_id "
            "JOIN question_text AS qt ON qt.id = q.id"
        )
        back = {row[0]: row[1:] for row in rows}
        published = {row["completion_id"]: row for row in rows_of(folder)}
        assert back.keys() == published.keys()
        for key, row in published.items():
            kept = ("question_id", "question", "answer", "completion")
            types = (row["answer_type"][0], row["answer_subtype"][:2])
            assert back[key] == (*(row[name] for name in kept), int(row["gold_correct"]), *types)
            assert [row[name] for name in kept] == [source[key][name] for name in kept]


def test_imported_labels_have_the_same_agreement(made: Made, project: Project, tmp_path: Path) -> None:
    folder, _ = made
    again = open_project(tmp_path / "again.db", create=True)
    import_files(again, plan_import([folder / DATA]), dataset="again")
    assert import_labels(again, folder / "annotations/small.jsonl").refused == 0
    selection = frozen_set(project, SetName("small")).selection
    for task in ("correctness", "type"):
        ours, theirs = agreement(project, task, selection=selection), agreement(again, task)
        assert (ours.labels, ours.paired) == (theirs.labels, theirs.paired)
        assert ours.krippendorff_alpha == pytest.approx(theirs.krippendorff_alpha)


def test_the_card_counts_agreement_and_conflicts_on_the_published_labels(project: Project) -> None:
    """Only the latest round of reopened items is published; unblinded labels are published but not counted."""
    rows = project.database.reader().execute("SELECT id, key FROM completions ORDER BY id LIMIT 3").fetchall()
    reopen(project, [rows[0][0]], reason="another reference")
    said = [(rows[0][1], "amira", "correct", False), (rows[0][1], "ben", "incorrect", False)]
    said += [(rows[1][1], "eve", "incorrect", True), (rows[2][1], "eve", "incorrect", True)]
    lines = [
        {
            "completion_id": item,
            "annotator": name,
            "verdict": verdict,
            "unblinded": sighted,
            "uuid": str(UUID(int=place + 1)),
        }
        for place, (item, name, verdict, sighted) in enumerate(said)
    ]
    labels = project.path.with_name("labels.jsonl")
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert import_labels(project, labels).imported == 4
    freeze(project, "later")
    disputed = ItemMember(item=rows[0][0], stratum="A1", gold=True, gold_from="imported", subtype="A1")
    freeze(project, "conflict", members=[disputed])
    folder = project.path.with_name("out")
    publish(project, PublishOptions(sets=("later", "conflict"), folder=folder))
    card = (folder / "README.md").read_text()
    for name in ("later", "conflict"):
        again = open_project(project.path.with_name(f"{name}.db"), create=True)
        import_files(again, plan_import([folder / f"data/{name}/test-00000-of-00001.parquet"]), dataset="again")
        assert import_labels(again, folder / f"annotations/{name}.jsonl").refused == 0
        found = agreement(again)
        assert f"{found.paired} with two labels or more" in card
        assert f" of {found.paired} item" in card
        if name == "conflict":
            assert (found.paired, found.percent_agreement) == (1, 0)
            assert "1 of 1 item with two people's blind labels" in card
        else:
            assert "3 people" in card
        again.close()


def test_annotators_have_pseudonyms_by_default(made: Made, project: Project) -> None:
    people = {line["annotator"] for line in lines_of(made[0], "annotations/small.jsonl")}
    assert people == {"annotator-1", "annotator-2", "annotator-3"}
    whole = b"".join(bytes_of(made[0]).values())
    assert not re.search(rb"amira|chidi|\bben\b", whole)
    publish(project, PublishOptions(sets=("small",), folder=project.path.with_name("named"), names=True))
    named = project.path.with_name("named")
    assert {line["annotator"] for line in lines_of(named, "annotations/small.jsonl")} == {"amira", "ben", "chidi"}
    assert "| amira – ben |" in (named / "README.md").read_text()


def test_checks_stay_with_the_coordinator(project: Project, made: Made) -> None:
    """An item of the set that has become a check is published as any other, and no answer to it is."""
    with project.database.write() as connection:
        connection.execute("INSERT INTO check_items (completion_id, verdict, added_at) VALUES (1, 'correct', 'x')")
        connection.execute(
            "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, round, verdict, schema, created_at) "
            "VALUES ('u', 'check', 'correctness', 1, 3, 1, 'incorrect', 2, '2025-01-01')"
        )
    out = project.path.with_name("out")
    publish(project, PublishOptions(sets=("small",), folder=out))
    assert rows_of(out) == rows_of(made[0])
    assert (out / "annotations/small.jsonl").read_bytes() == (made[0] / "annotations/small.jsonl").read_bytes()
    assert b"check" not in (out / "annotations/small.jsonl").read_bytes()


def later(uuid: str, kind: EventKind, item: int, person: int, **said: Any) -> LabelEvent:
    at = "2030-01-01T00:00:00.000000Z"
    return LabelEvent(uuid=uuid, kind=kind, task="correctness", subject=item, annotator=person, created_at=at, **said)


def test_current_labels_are_published(project: Project, made: Made) -> None:
    """Corrected and retracted labels are not, nor are the coordinator's exclusions."""
    reader = project.database.reader()
    rows = reader.execute(
        "SELECT e.uuid, e.subject, e.annotator_id FROM label_events AS e JOIN set_items ON completion_id = e.subject "
        "WHERE e.task = 'correctness' AND e.kind = 'label' ORDER BY e.id LIMIT 2"
    ).fetchall()
    (first, item, person), (second, other, another) = rows
    with project.database.write() as connection:
        events.append(connection, later("a", "label", item, person, supersedes=first, verdict="correct"))
        events.append(connection, later("b", "retraction", other, another, supersedes=second))
        events.append(connection, later("c", "exclusion", item, 3, verdict="unsuitable", exclusion_reason="other"))
    out = project.path.with_name("out")
    publish(project, PublishOptions(sets=("small",), folder=out))
    before, after = ({line["uuid"] for line in lines_of(f, "annotations/small.jsonl")} for f in (made[0], out))
    assert (before - after, after - before) == ({first, second}, {"a"})
    assert "1 label came after the set was frozen" in (out / "README.md").read_text()


def test_shared_ids_are_prefixed_with_their_dataset(tmp_path: Path) -> None:
    rows = [
        {"dataset": name, "question_id": "q", "completion_id": "c", "completion": name, "gold": gold, "subtype": "A1"}
        for name, gold in (("one", True), ("two", False))
    ]
    project = make_project(tmp_path, rows)
    freeze(project, "both")
    publish(project, PublishOptions(sets=("both",), folder=tmp_path / "out"))
    found = rows_of(tmp_path / "out", "data/both/test-00000-of-00001.parquet")
    assert [(row["question_id"], row["completion_id"]) for row in found] == [("one/q", "one/c"), ("two/q", "two/c")]
    assert "each id has its data set before it" in (tmp_path / "out" / "README.md").read_text()


def test_a_new_version_lists_its_changes(project: Project) -> None:
    members = with_gold(project)
    other = structs.replace(members[1], gold=not members[1].gold, subtype="D2")
    freeze(project, members=[other, *members[2:]])
    publish(project, PublishOptions(sets=("small",), folder=project.path.with_name("out")))
    card = (project.path.with_name("out") / "README.md").read_text()
    said = section(card, "Changes since version 1")
    lines = [line.split("**")[1] for line in said.splitlines() if line.startswith("- ")]
    assert lines == ["Removed", "Other gold", "Other type"]


@pytest.mark.parametrize("kind", ["draw", "picks", "queue"])
def test_an_unfinished_benchmark_is_not_published(project: Project, kind: Any) -> None:
    freeze(project, "early", kind=kind)
    with pytest.raises(UsageError, match=kind):
        publish(project, PublishOptions(sets=("early",), folder=project.path.with_name("out")))


def test_a_missing_benchmark_is_not_published(project: Project) -> None:
    out = project.path.with_name("out")
    freeze(project, "open", members=[ItemMember(item=1, stratum="")])
    with pytest.raises(UsageError, match="1 of 1 items of open@1 had no gold"):
        publish(project, PublishOptions(sets=("open",), folder=out))
    with pytest.raises(UsageError, match="no set 'none'"):
        publish(project, PublishOptions(sets=("none",), folder=out))
    with pytest.raises(UsageError, match="the same name"):
        publish(
            project,
            PublishOptions(
                sets=(
                    "small",
                    "small@1",
                ),
                folder=out,
            ),
        )
    with project.database.write() as connection:
        connection.execute("DELETE FROM completion_text WHERE id = 1")
    with pytest.raises(StoreError, match="1 of 76 items of small@1 have lost their texts"):
        publish(project, PublishOptions(sets=("small",), folder=out))
    assert not out.exists()


def test_other_items_than_were_frozen_are_not_published(project: Project) -> None:
    with project.database.write() as connection:
        connection.execute("UPDATE completions SET hash = zeroblob(16) WHERE id = 1")
    with pytest.raises(StoreError, match="digest"):
        publish(project, PublishOptions(sets=("small",), folder=project.path.with_name("out")))


def test_a_missing_pyarrow_is_reported_with_its_installation(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(FormatError, match="pyarrow") as caught:
        publish(project, PublishOptions(sets=("small",), folder=project.path.with_name("out")))
    assert "pip install" in caught.value.hint
    assert not list(project.path.parent.glob("*out*"))


def test_the_columns_are_those_of_the_card(made: Made) -> None:
    assert list(rows_of(made[0])[0]) == list(COLUMNS)
    card = (made[0] / "README.md").read_text()
    for name in COLUMNS:
        assert f"| {name.replace('_', chr(92) + '_')} | " in card


def test_real_rows_equal_the_released_file_byte_for_byte(real_file: Path, tmp_path: Path) -> None:
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import([real_file]), dataset="hard")
    freeze(project, "hard", kind="hard")
    publish(project, PublishOptions(sets=("hard",), folder=tmp_path / "out"))
    project.close()
    assert (tmp_path / "out/verifybench/hard.jsonl").read_bytes() == real_file.read_bytes()
