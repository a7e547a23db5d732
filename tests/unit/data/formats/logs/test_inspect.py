"""Inspect logs: its own files, its scores, and damaged or malicious archives."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.formats.logs.documented_logs import FILES, Found, grades_of, read
from tests.unit.data.formats.logs.evaluation_logs import (
    HEADER,
    SAMPLE,
    archive,
    changed,
    document,
    members,
)
from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.data.formats import source
from workbench.data.formats.logs import inspect_ai
from workbench.data.formats.logs.inspect_ai import dataset_of, open_eval_file
from workbench.data.formats.logs.logged import Grade
from workbench.data.formats.reading import plan_file

INSPECT = FILES / "inspect"


def items(found: list[Found]) -> list[dict[str, Any]]:
    return [one[0] for one in found if not isinstance(one, Refusal)]


def all_grades(found: list[Found]) -> list[Grade]:
    return [grade for one in found if not isinstance(one, Refusal) for grade in one[1]]


def refusals(found: list[Found]) -> list[Refusal]:
    return [one for one in found if isinstance(one, Refusal)]


@pytest.mark.parametrize("name", ["answers.eval", "chunked.eval"])
def test_a_log_is_recognised_by_its_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / "renamed.bin"
    path.write_bytes((INSPECT / name).read_bytes())
    assert (plan_file(path).format, dataset_of(path)) == ("inspect", "sample_answers")
    found = read("inspect", path)
    assert len(items(found)) == 8
    one = next(one for one in items(found) if one["sample_id"] == "a94dd6" and one["epoch"] == 1)
    assert one["question"].startswith("A bakery bakes 15 trays")
    assert (one["reference"], one["model"], one["source"]) == ("18", "mockllm/sample", "sample_answers")
    assert one["completion"].endswith("#### 18")
    assert one["metadata"] == {"subtype": "A1 - Integer"}
    failed = refusals(found)
    assert [row.line for row in failed] == [2, 7]
    assert "The tool of this sample is not there." in failed[0].message


def test_all_forms_of_a_log_give_the_same_items() -> None:
    assert read("inspect", INSPECT / "chunked.eval")[:1] == read("inspect", INSPECT / "answers.eval")[:1]
    assert items(read("inspect", INSPECT / "chunked.eval")) == items(read("inspect", INSPECT / "answers.eval"))
    assert (plan_file(INSPECT / "options.json").format, dataset_of(INSPECT / "options.json")) == (
        "inspect",
        "sample_options",
    )
    assert read("inspect", INSPECT / "options.json") == read("inspect", INSPECT / "options.eval")


def test_every_scorer_is_a_verifier_and_every_part_of_a_score() -> None:
    grades: dict[str, dict[tuple[object, bool, object], Grade]] = {}
    for grade in all_grades(read("inspect", INSPECT / "answers.eval")):
        of_scorer = grades.setdefault(grade.verifier.removeprefix("inspect/sample_answers/"), {})
        of_scorer[(grade.verdict, grade.score is None, grade.reason)] = grade
    assert list(grades) == ["includes", "pattern", "form/short", "form/boxed", "form/words", "doubtful"]
    assert set(grades["includes"]) == {("correct", True, None), ("incorrect", True, None)}
    assert set(grades["form/short"]) == {("correct", True, None), ("incorrect", True, None)}
    assert set(grades["form/boxed"]) == {("correct", False, None), ("incorrect", False, None)}
    assert set(grades["form/words"]) == {(None, False, None)}
    assert set(grades["doubtful"]) == {
        ("correct", True, None),
        (None, False, None),
        (None, True, "no_answer_found"),
        (None, True, "invalid_response_format"),
    }
    assert grades["doubtful"][(None, False, None)].score == 0.5
    assert grades["form/words"][(None, False, None)].detail == "Looks at the form alone."


def test_options_are_in_the_question_with_their_letters() -> None:
    first, second = items(read("inspect", INSPECT / "options.eval"))
    assert first["question"].endswith("\n\nA) proved\nB) disproved\nC) unknown")
    assert second["question"].endswith("\n\nA) valid\nB) invalid")
    assert (first["reference"], first["completion"]) == ("B", "ANSWER: A")


@pytest.mark.parametrize(
    ("value", "verdict", "score", "reason"),
    [
        ("C", "correct", None, None),
        ("I", "incorrect", None, None),
        ("P", None, 0.5, None),
        ("N", None, None, "no_answer_found"),
        ("Yes", "correct", None, None),
        ("Correct", "correct", None, None),
        ("WRONG", "incorrect", None, None),
        ("0.25", None, 0.25, None),
        ("B+", None, None, "no_verdict"),
        (True, "correct", None, None),
        (1, "correct", 1.0, None),
        (0.0, "incorrect", 0.0, None),
        (0.5, None, 0.5, None),
        (float("nan"), None, None, "unscored"),
        (None, None, None, "unscored"),
    ],
    ids=str,
)
def test_a_scores_value_is_a_verdict_a_score_or_an_abstention(
    tmp_path: Path, value: object, verdict: str | None, score: float | None, reason: str | None
) -> None:
    (grade,) = all_grades(read("inspect", document(tmp_path, changed(scores={"s": {"value": value}}))))
    assert (grade.verifier, grade.verdict, grade.score, grade.reason) == ("inspect/sums/s", verdict, score, reason)


def test_a_scorer_with_numbers_beyond_one_gives_only_scores(tmp_path: Path) -> None:
    scored = [changed(id=n, scores={"stars": {"value": n}, "ok": {"value": 1}}) for n in (1, 5)]
    for path in (document(tmp_path, *scored), archive(tmp_path, {**members(*scored), "summaries.json": scored})):
        assert grades_of(read("inspect", path)) == [
            {"inspect/sums/stars": (None, 1.0), "inspect/sums/ok": ("correct", 1.0)},
            {"inspect/sums/stars": (None, 5.0), "inspect/sums/ok": ("correct", 1.0)},
        ]


@pytest.mark.parametrize("letters", ["ABC", "CF", "D-CI", "CPNB+"])
def test_letters_of_another_scale_are_no_verdicts(tmp_path: Path, letters: str) -> None:
    values = re.findall(r"\w[+-]?", letters)
    scored = [changed(id=n, scores={"s": {"value": one}, "ok": {"value": "C"}}) for n, one in enumerate(values)]
    for path in (document(tmp_path, *scored), archive(tmp_path, {**members(*scored), "summaries.json": scored})):
        grades = [sorted(one.items()) for one in grades_of(read("inspect", path))]
        assert grades == [[("inspect/sums/ok", ("correct", None)), ("inspect/sums/s", (None, None))]] * len(values)


def test_an_answer_equal_to_the_completion_is_dropped(tmp_path: Path) -> None:
    score = {"value": "C", "answer": "It is 7.", "explanation": "It is 7."}
    (grade,) = all_grades(read("inspect", document(tmp_path, changed(scores={"s": score}))))
    assert (grade.answer, grade.detail) == (None, None)


def test_parts_of_a_score_that_is_a_list_are_numbered(tmp_path: Path) -> None:
    (grades,) = grades_of(read("inspect", document(tmp_path, changed(scores={"s": {"value": ["C", 0.5]}}))))
    assert grades == {"inspect/sums/s/1": ("correct", None), "inspect/sums/s/2": (None, 0.5)}


def test_the_first_version_had_one_score_and_no_ids(tmp_path: Path) -> None:
    path = document(tmp_path, changed(scores=..., score={"value": "C"}, epoch=2))
    assert items(read("inspect", path))[0]["completion_id"] == "e1/1/2"
    assert grades_of(read("inspect", path)) == [{"inspect/sums/score": ("correct", None)}]


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ([{"role": "user", "content": "What is 3 + 4?"}], "What is 3 + 4?"),
        (
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 3 + 4?"}],
            "What is 3 + 4?",
        ),
        (
            [
                {"role": "user", "content": [{"type": "text", "text": "See "}, {"type": "image", "image": "data:"}]},
                {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text"}]},
            ],
            "user: See [image]\n\nassistant: [text]",
        ),
        ("attachment://ab", "What is 3 + 4?"),
    ],
    ids=["chat", "system", "parts", "attachment"],
)
def test_the_question_is_the_user_message(tmp_path: Path, asked: object, question: str) -> None:
    path = document(tmp_path, changed(input=asked, attachments={"ab": "What is 3 + 4?"}))
    assert items(read("inspect", path))[0]["question"] == question


def test_further_choices_of_a_model_are_unscored_completions(tmp_path: Path) -> None:
    message = [{"message": {"content": text}} for text in ("It is 7.", "It is 8.")]
    found = read("inspect", document(tmp_path, changed(output={"choices": message}, uuid="u")))
    assert [(one["completion"], one["completion_id"]) for one in items(found)] == [
        ("It is 7.", "u"),
        ("It is 8.", "u/2"),
    ]
    assert grades_of(found) == [{"inspect/sums/match": ("correct", None)}, {}]


@pytest.mark.parametrize(
    "wrong",
    [
        changed(output=..., error={"message": "boom"}),
        changed(output={"choices": [], "completion": ""}),
        changed(output={"choices": [{"message": {"content": ""}}]}, error={"message": "boom"}),
        changed(input=...),
        changed(target=7),
        changed(target={"a": 1}),
        5,
    ],
    ids=["error", "silent", "error-and-silent", "no-input", "number", "object", "no-sample"],
)
def test_a_bad_sample_is_rejected_and_the_rest_loaded(tmp_path: Path, wrong: object) -> None:
    for path in (document(tmp_path, wrong, SAMPLE), archive(tmp_path, members(wrong, SAMPLE))):
        refused, taken = read("inspect", path)
        assert isinstance(refused, Refusal)
        assert refused.line == 1
        assert not isinstance(taken, Refusal)


def test_an_interrupted_log_is_read_up_to_its_end(tmp_path: Path) -> None:
    """Only the journal has a header and summaries; the last copy of a repeated sample counts."""
    path = archive(tmp_path, members(changed(output={"completion": "An early answer."}), changed(id=2)))
    with zipfile.ZipFile(path, "a") as file:
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("samples/1_epoch_1.json", json.dumps(SAMPLE))
        file.writestr("_journal/summaries/1.json", json.dumps([{"scores": {"match": {"value": 7}}}]))
    found = read("inspect", path)
    assert [one["completion"] for one in items(found)] == ["It is 7.", "It is 7."]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"_journal/start.json": HEADER}, "no samples"),
        ({"samples/1_epoch_1.json": SAMPLE}, "neither header.json nor _journal/start.json"),
        ({"header.json": {"version": 2}, "samples/1_epoch_1.json": SAMPLE}, "name its task"),
        ({"header.json": b"{", "samples/1_epoch_1.json": SAMPLE}, "Not valid JSON"),
        ({"samples/../../etc/passwd": b"x", "header.json": HEADER}, "no samples"),
    ],
    ids=["empty", "headless", "taskless", "broken", "path"],
)
def test_an_archive_that_is_no_log_is_rejected_with_a_message(
    tmp_path: Path, content: dict[str, Any], words: str
) -> None:
    with pytest.raises(FormatError, match=words):
        read("inspect", archive(tmp_path, content))


def test_a_document_without_samples_is_rejected_with_a_message(tmp_path: Path) -> None:
    for path in (document(tmp_path), document(tmp_path, SAMPLE)):
        path.write_text(path.read_text().replace(json.dumps(SAMPLE), "").replace('"samples": []', '"samples": null'))
        with pytest.raises(FormatError, match="no samples"):
            read("inspect", path)
    path.write_text(path.read_text()[:-1])
    with pytest.raises(FormatError, match="Not valid JSON"):
        read("inspect", path)


def test_a_cut_archive_is_rejected_with_a_message(tmp_path: Path) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes((INSPECT / "answers.eval").read_bytes()[:-100])
    with pytest.raises(FormatError, match="damaged"):
        read("inspect", path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED], ids=["deflated", "stored"])
def test_a_damaged_member_affects_only_its_sample(tmp_path: Path, method: int) -> None:
    path = archive(tmp_path, members(SAMPLE, changed(id=2)), method)
    with zipfile.ZipFile(path) as file:
        start = file.getinfo("samples/1_epoch_1.json").header_offset
    content = bytearray(path.read_bytes())
    content[start + 60 : start + 64] = b"\xff\xff\xff\xff"
    path.write_bytes(bytes(content))
    refused, taken = read("inspect", path)
    assert isinstance(refused, Refusal)
    assert (refused.code, isinstance(taken, Refusal)) == ("truncated", False)


def test_a_damaged_zstandard_member_affects_only_its_sample(tmp_path: Path) -> None:
    with open_eval_file(INSPECT / "answers.eval") as file:
        (_, entry, *_) = (file._members[name] for name in file.samples)
    content = bytearray((INSPECT / "answers.eval").read_bytes())
    content[entry.header_offset + 200 : entry.header_offset + 400] = bytes(200)
    path = tmp_path / "damaged.eval"
    path.write_bytes(bytes(content))
    found = read("inspect", path)
    assert [row.line for row in refusals(found)] == [2, 7]
    assert refusals(found)[0].code == "truncated"


def test_a_member_that_unpacks_to_something_else_than_was_packed_is_rejected(tmp_path: Path) -> None:
    content = bytearray((INSPECT / "options.eval").read_bytes())
    directory = content.index(b"PK\x01\x02")
    member = content.rindex(b"PK\x01\x02", directory, content.index(b"samples/90c50c_epoch_1.json", directory))
    content[member + 16] ^= 1
    path = tmp_path / "other.eval"
    path.write_bytes(bytes(content))
    refused, taken = read("inspect", path)
    assert isinstance(refused, Refusal)
    assert (refused.code, isinstance(taken, Refusal)) == ("truncated", False)


def test_encrypted_and_overlong_members_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path, members(SAMPLE, changed(metadata={"long": "x" * 5_000})))
    monkeypatch.setattr(inspect_ai, "_MAX_MEMBER_BYTES", 2_000)
    assert [(row.line, row.code) for row in refusals(read("inspect", path))] == [(2, "too_long")]
    content = path.read_bytes()
    place = content.rindex(b"PK\x01\x02", 0, content.index(b"samples/1_epoch_1.json", len(content) // 2))
    path.write_bytes(content[: place + 8] + b"\x01\x00" + content[place + 10 :])
    assert [(row.line, row.code) for row in refusals(read("inspect", path))] == [(1, "unsupported"), (2, "too_long")]


def test_a_bomb_is_rejected_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path, members(changed(metadata={"long": " " * 4_000_000})))
    monkeypatch.setattr(source, "_RATIO_LIMIT", (1 << 20, 300))
    with pytest.raises(FormatError, match="hundreds of times its size"):
        read("inspect", path)


def test_a_member_that_is_longer_than_it_says_is_rejected(tmp_path: Path) -> None:
    path = archive(tmp_path, members(SAMPLE))
    content = path.read_bytes()
    place = content.rindex(b"PK\x01\x02")
    path.write_bytes(content[: place + 24] + (5).to_bytes(4, "little") + content[place + 28 :])
    (refused,) = read("inspect", path)
    assert isinstance(refused, Refusal)
    assert refused.code == "truncated"


def test_other_zip_files_and_documents_are_no_logs(tmp_path: Path) -> None:
    assert not inspect_ai.is_log(archive(tmp_path, {"manifest.json": {}}).read_bytes())
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"data": [{"question": "q", "reference": "r", "completion": "c"}]}))
    assert plan_file(other).format == "json"
