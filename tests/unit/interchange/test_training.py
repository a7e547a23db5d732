"""Training files: only items that all verifiers accept, no duplicates, correct paired with incorrect ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tests.helpers import add_items, make_project, numbered
from workbench.core.database.selection import check_names, chosen_ids
from workbench.core.errors import UsageError
from workbench.core.label import LabelLine
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.interchange.exporting import FORMATS, ExportFormat, ExportOptions, export
from workbench.interchange.records import ExportReport, PairLine, SftLine
from workbench.interchange.training_files import crossed
from workbench.labelling.label_export import export_labels
from workbench.labelling.labels import import_labels
from workbench.measuring.accuracy import accuracy
from workbench.measuring.browsing import read_conditions
from workbench.runs.verdict_files import import_verdicts

SAID = {"a": "ccccii-x", "b": "cic.caic"}
"""Of eight items, c0 to c7: correct, incorrect, abstain, error (x), nothing (. and -)."""
_WORDS = {"c": "correct", "i": "incorrect", "a": "abstain", "x": "error"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [{**row, "completion": f"It is {number}."} for number, row in enumerate(numbered(8, model="m"))]
    return make_project(tmp_path, rows)


@pytest.fixture
def judged(project: Project, tmp_path: Path) -> Project:
    judge(project, tmp_path, **SAID)
    return project


def judge(project: Project, folder: Path, **said: str) -> None:
    lines = [
        {"completion_id": f"c{number}", "verifier": name, "verdict": _WORDS[letter]}
        for name, letters in said.items()
        for number, letter in enumerate(letters)
        if letter in _WORDS
    ]
    path = folder / "verdicts.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    import_verdicts(project, path)


def where(*conditions: str) -> Selection:
    return Selection(tuple(map(parse_condition, conditions)))


def written(
    project: Project, folder: Path, format: ExportFormat = "sft", **asked: Any
) -> tuple[list[Any], ExportReport]:
    report = export(project, ExportOptions(file=folder / "out.jsonl", format=format, force=True, **asked))
    return [json.loads(line) for line in (folder / "out.jsonl").read_bytes().splitlines()], report


def ids(lines: list[Any]) -> list[str]:
    return [line["completion_id"] for line in lines]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("condition", "verifiers", "items"),
    [
        ("verdict=correct", ("a",), "0123"),
        ("verdict=correct", ("a", "b"), "02"),
        ("verdict=correct", ("b", "a"), "02"),
        ("verdict!=correct", ("a",), "457"),
        ("verdict!=correct", ("a", "b"), "5"),
        ("verdict=incorrect", ("a",), "45"),
        ("verdict=abstain", ("b",), "5"),
        ("verdict=error", ("a",), "7"),
        ("verdict=none", ("a",), "6"),
        ("verdict!=none", ("a", "b"), "012457"),
    ],
)
def test_a_verdict_is_that_of_every_verifier_named(
    judged: Project, tmp_path: Path, condition: str, verifiers: tuple[str, ...], items: str
) -> None:
    lines, report = written(judged, tmp_path, where=(condition,), verifiers=verifiers)

    assert ids(lines) == [f"c{number}" for number in items]
    assert report.sft
    assert report.sft.verdicts == {
        name: {
            **{word: SAID[name].count(letter) for letter, word in _WORDS.items()},
            "none": SAID[name].count(".") + SAID[name].count("-"),
        }
        for name in verifiers
    }


def test_the_only_verifier_with_a_complete_run_is_meant(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No verifier has a complete run"):
        written(project, tmp_path, where=("verdict=correct",))
    judge(project, tmp_path, a=SAID["a"])
    assert ids(written(project, tmp_path, where=("verdict=correct",))[0]) == ["c0", "c1", "c2", "c3"]

    judge(project, tmp_path, b=SAID["b"])
    with pytest.raises(UsageError, match="2 verifiers are here: a, b") as refused:
        written(project, tmp_path, where=("verdict=correct",))
    assert "--verifier" in refused.value.hint


def test_it_means_the_same_wherever_items_are_chosen(project: Project, tmp_path: Path) -> None:
    judge(project, tmp_path, a=SAID["a"])
    chosen = where("verdict=correct")

    assert chosen_ids(project.database.reader(), chosen) == [1, 2, 3, 4]
    assert check_names(project.database.reader(), chosen) == where("verdict:a=correct")
    assert accuracy(project, selection=chosen).rows == accuracy(project, selection=where("verdict:a=correct")).rows
    assert read_conditions("verdict=correct", ["a"]) == where("verdict:a=correct").conditions
    with pytest.raises(UsageError, match="verifier"):
        read_conditions("verdict=correct", ["a", "b"])


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"where": ("verdict=yes",), "verifiers": ("a",)}, "'yes' is not a valid verdict"),
        ({"where": ("verdict=correct",), "verifiers": ("zz",)}, "No verifier 'zz'"),
        ({"verifiers": ("a",)}, "needs a condition on verdicts"),
        ({"format": "csv", "system": "x"}, "--system has no effect on csv"),
        ({"format": "pairs", "system": "x"}, "--system has no effect on pairs"),
        ({"format": "sft", "sighted": True}, "--sighted has no effect on sft"),
        ({"format": "sft", "checks": True}, "--checks has no effect on sft"),
        ({"format": "sft", "without_calls": True}, "--without-calls has no effect on sft"),
        ({"format": "sft", "table": "labels"}, "--format jsonl or csv or parquet"),
        ({"format": "workbench", "where": ("gold=correct",)}, "the whole database"),
    ],
)
def test_what_makes_no_sense_is_rejected(judged: Project, tmp_path: Path, asked: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        export(judged, ExportOptions(file=tmp_path / "out", **{"format": "sft", **asked}))
    assert message in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_conversations_have_the_format_of_trainers(judged: Project, tmp_path: Path) -> None:
    add_items(judged.database, [{"question_id": "bare", "completion_id": "bare", "completion": "\u2028é\n"}])

    first, *_, bare = written(judged, tmp_path, system="Answer.")[0]

    assert first["messages"] == [
        {"role": "system", "content": "Answer."},
        {"role": "user", "content": "Question q0?"},
        {"role": "assistant", "content": "It is 0."},
    ]
    assert [bare["model"], bare["source"]] == ["", ""]
    assert bare["messages"][-1]["content"] == "\u2028é\n"
    assert msgspec.convert(first, SftLine)
    # Columns that TRL's trainers take for something else (trl 1.16: data_utils, SFTTrainer).
    taken = {"prompt", "completion", "text", "chosen", "rejected", "label", "labels", "input_ids", "images", "tools"}
    assert not taken & set(SftLine.__struct_fields__)


def test_verifiers_that_accepted_are_named(judged: Project, tmp_path: Path) -> None:
    lines, _ = written(judged, tmp_path, where=("verdict=correct", "verdict:b!=none"), verifiers=("a",))
    assert {tuple(line["verifiers"]) for line in lines} == {("a",)}
    lines, _ = written(judged, tmp_path, where=("verdict=correct",), verifiers=("a", "b"))
    assert {tuple(line["verifiers"]) for line in lines} == {("a", "b")}
    lines, _ = written(judged, tmp_path, where=("gold=correct",))
    assert {tuple(line["verifiers"]) for line in lines} == {()}


def test_a_text_occurs_once_per_question(project: Project, tmp_path: Path) -> None:
    again = [
        {"question_id": question, "completion_id": f"again-{question}", "completion": "It is 0."}
        for question in ("q0", "q1", "q0x")
    ]
    add_items(project.database, [*again, {"question_id": "q0", "completion_id": "later", "completion": "It is 0. "}])

    lines, report = written(project, tmp_path)

    assert ids(lines)[:4] == ["c0", "c1", "later", "c2"]
    assert "again-q0" not in ids(lines)
    assert {"again-q1", "again-q0x"} < set(ids(lines))
    assert report.sft
    assert (report.sft.chosen, report.sft.duplicates, report.sft.questions, report.written) == (12, 1, 5, 11)


def test_a_draw_stays_when_others_are_added(project: Project, tmp_path: Path) -> None:
    rows = [{"question_id": f"q{n % 9}", "completion_id": f"n{n}", "completion": f"n{n}"} for n in range(60)]
    add_items(project.database, rows[:40])
    few, report = written(project, tmp_path, per_question=3, seed=5)
    assert report.sft
    assert (report.sft.seed, report.sft.beyond) == (5, 48 - len(few))
    assert max(sum(line["question_id"] == f"q{n}" for line in few) for n in range(9)) == 3

    add_items(project.database, rows[40:])
    more, _ = written(project, tmp_path, per_question=3, seed=5)

    new = {row["completion_id"] for row in rows[40:]}
    assert [key for key in ids(more) if key not in new] == [key for key in ids(few) if key in ids(more)]
    assert ids(more) != ids(written(project, tmp_path, per_question=3, seed=6)[0])


def test_the_same_choice_gives_the_same_bytes(judged: Project, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"where": ("verdict=correct",), "verifiers": ("a",), "per_question": 1}
    found = []
    for _ in range(2):
        written(judged, tmp_path, **asked)
        found.append((tmp_path / "out.jsonl").read_bytes())
    assert found[0] == found[1]


PAIRED: list[tuple[str, list[bool | None]]] = [
    ("one", [True, False]),
    ("other order", [False, True]),
    ("beside one without gold", [True, None, False]),
    ("two correct", [True, True, False]),
    ("two incorrect", [True, False, False]),
    ("only correct", [True]),
    ("only incorrect", [False, False]),
    ("nothing known", [None, None]),
]


def paired(folder: Path) -> Project:
    rows = [
        {"question_id": name, "completion_id": f"{name} {number}", "completion": f"{gold} {number}", "gold": gold}
        for name, golds in PAIRED
        for number, gold in enumerate(golds)
    ]
    return make_project(folder, rows)


def test_a_question_with_both_kinds_makes_a_pair(tmp_path: Path) -> None:
    project = paired(tmp_path)

    lines, report = written(project, tmp_path, "pairs")

    assert [line["question_id"] for line in lines] == [name for name, _ in PAIRED[:5]]
    assert {(line["chosen"][:4], line["rejected"][:4]) for line in lines} == {("True", "Fals")}
    assert (lines[1]["chosen_id"], lines[1]["rejected_id"]) == ("other order 1", "other order 0")
    assert all(msgspec.convert(line, PairLine) for line in lines)
    assert report.pairs
    assert msgspec.to_builtins(report.pairs) == {
        "questions": 8,
        "paired": 5,
        "possible": 7,
        "one_kind": 2,
        "undecided": 1,
        "both": 0,
        "per_question": 1,
        "seed": 0,
        "verifiers": (),
    }
    assert written(project, tmp_path, "pairs")[0] == lines
    assert len(written(project, tmp_path, "pairs", per_question=9)[0]) == 7
    with pytest.raises(UsageError, match="6 have only correct or only incorrect completions") as refused:
        written(project, tmp_path, "pairs", where=("gold=correct",))
    assert "--verifier NAME" in refused.value.hint


def test_verdicts_can_replace_gold(project: Project, tmp_path: Path) -> None:
    many = [{"question_id": "q", "completion_id": f"n{n}", "completion": f"n{n}", "gold": None} for n in range(20)]
    add_items(project.database, many)
    said = {"x": "c" * 8 + "i" * 10 + "ax", "y": "c" * 7 + "i" * 12 + "i"}
    lines = [
        {"completion_id": f"n{n}", "verifier": name, "verdict": _WORDS[letter]}
        for name, letters in said.items()
        for n, letter in enumerate(letters)
    ]
    (tmp_path / "v.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    import_verdicts(project, tmp_path / "v.jsonl")

    found, report = written(project, tmp_path, "pairs", verifiers=("x",), per_question=80)
    pairs = {(line["chosen_id"], line["rejected_id"]) for line in found}
    assert pairs == {(f"n{c}", f"n{i}") for c in range(8) for i in range(8, 18)}
    assert {tuple(line["verifiers"]) for line in found} == {("x",)}
    assert report.pairs
    assert (report.pairs.possible, report.pairs.undecided) == (80, 4)
    # Each completion is used before one is used again.
    few, _ = written(project, tmp_path, "pairs", verifiers=("x",), per_question=8)
    assert len({line["chosen_id"] for line in few}) == len({line["rejected_id"] for line in few}) == 8
    assert few == found[:8]
    # Each of several verifiers has to accept.
    both, _ = written(project, tmp_path, "pairs", verifiers=("x", "y"), per_question=999)
    assert {line["chosen_id"] for line in both} == {f"n{n}" for n in range(7)}
    assert {line["rejected_id"] for line in both} == {f"n{n}" for n in range(8, 18)}
    # The annotated gold is irrelevant then, whichever gold is requested.
    assert written(project, tmp_path, "pairs", verifiers=("x",), gold="people", per_question=80)[0] == found
    with pytest.raises(UsageError, match="No verifier 'zz'"):
        written(project, tmp_path, "pairs", verifiers=("zz",))


def test_a_text_that_is_called_the_one_and_the_other_is_in_no_pair(tmp_path: Path) -> None:
    said = [("a", True), ("b", False), ("a", False), ("c", True), ("c", True), ("b", False)]
    rows = [{"question_id": "q", "completion_id": f"c{n}", "completion": t, "gold": g} for n, (t, g) in enumerate(said)]
    lines, report = written(make_project(tmp_path, rows), tmp_path, "pairs", per_question=99)
    assert [(line["chosen"], line["rejected"]) for line in lines] == [("c", "b")]
    assert report.pairs
    assert report.pairs.both == 1


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        (
            {"format": "pairs", "verifiers": ("a",), "where": ("verdict=correct",)},
            "only correct or only incorrect",
            "Leave out",
        ),
        ({"format": "pairs", "where": ("question_id=q9",)}, "Of 0 questions", "--verifier NAME"),
        ({"format": "sft", "where": ("verdict=none",), "verifiers": ("b", "a")}, "No completion is selected", ""),
    ],
)
def test_an_empty_training_file_is_not_written(
    judged: Project, tmp_path: Path, asked: Any, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        export(judged, ExportOptions(file=tmp_path / "out", **asked))
    assert message in refused.value.message
    assert hint in refused.value.hint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("left", "right"), [(1, 1), (2, 4), (3, 5), (4, 6), (6, 4), (5, 5), (0, 3)])
def test_every_pair_is_produced_exactly_once(left: int, right: int) -> None:
    pairs = list(crossed(list(range(left)), list(range(right)), 10**9))
    assert sorted(pairs) == [(one, other) for one in range(left) for other in range(right)]
    few = min(left, right)
    assert {len(set(side)) for side in zip(*pairs[:few], strict=True)} <= {few}


@pytest.fixture
def labelled(project: Project, tmp_path: Path) -> Project:
    said = [
        {"completion_id": f"c{number}", "annotator": name, "verdict": "correct", "answer_subtype": "A1"}
        for number in range(4)
        for name in ("ann", "bob")
    ]
    (tmp_path / "labels.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in said))
    import_labels(project, tmp_path / "labels.jsonl")
    return project


def test_labels_are_those_that_labels_export_writes(labelled: Project, tmp_path: Path) -> None:
    export(labelled, ExportOptions(file=tmp_path / "here.jsonl", format="labels", names=True))
    export_labels(labelled, tmp_path / "there.jsonl")
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()


def test_labels_of_a_choice_under_pseudonyms(labelled: Project, tmp_path: Path) -> None:
    lines, report = written(labelled, tmp_path, "labels", where=("question_id=q1",))

    assert report.written == 4
    assert {line["annotator"] for line in lines} == {"annotator-1", "annotator-2"}
    assert {line["completion_id"] for line in lines} == {"c2", "c3"}
    assert all(msgspec.convert(line, LabelLine).answer_subtype == "A1" for line in lines)


def test_a_format_is_one_entry_of_one_table() -> None:
    assert get_args(ExportFormat) == FORMATS
