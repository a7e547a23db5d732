"""Ratings files: accepted lines, rejected lines with reasons, and duplicates."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import FormatError, UsageError
from workbench.data.formats import lines
from workbench.labelling.agreement.measuring import RatingColumns, read
from workbench.statistics.records.agreement import Level


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "r.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def rating(item: Any, annotator: Any, value: Any) -> dict[str, Any]:
    return {"item": item, "annotator": annotator, "value": value}


def refusals_of(found: RatingColumns) -> list[tuple[int, str | None, str]]:
    return [(line.line, line.field, line.message) for line in found.refused]


def test_a_file_is_read_in_its_order(tmp_path: Path) -> None:
    path = written(
        tmp_path, rating("x", "bob", "no"), {**rating("y", "ann", "yes"), "more": [1]}, "", rating("x", "ann", "no")
    )
    found = read(path, "nominal")
    assert (found.item.tolist(), found.annotator.tolist(), found.value.tolist()) == ([0, 1, 0], [1, 0, 0], [0, 1, 0])
    assert (found.values, found.annotators, found.items) == (["no", "yes"], ["ann", "bob"], 2)
    assert found.refused == []


def test_equal_spellings_are_one_annotator(tmp_path: Path) -> None:
    path = written(tmp_path, rating(1, 7, 1), rating("1", "8", "1"), rating(1, 9, 1.0), rating(2, "7", True))
    found = read(path, "nominal")
    assert (found.items, found.annotators, found.values) == (2, ["7", "8", "9"], ["1", "true"])


def test_numbers_keep_their_order_and_worth(tmp_path: Path) -> None:
    path = written(tmp_path, *(rating(place, "a", value) for place, value in enumerate((10, 2, -1.5, 2.0))))
    interval, ordinal = read(path, "interval"), read(path, "ordinal")
    assert (interval.values, interval.numbers) == (["-1.5", "2", "10"], [-1.5, 2, 10])
    assert (ordinal.values, ordinal.numbers) == (["-1.5", "2", "10"], [0, 1, 2])
    assert interval.value.tolist() == [2, 1, 0, 1]


def test_ordinal_values_have_the_given_order(tmp_path: Path) -> None:
    path = written(tmp_path, rating(1, "a", "good"), rating(2, "a", "poor"), rating(3, "a", "great"))
    found = read(path, "ordinal", ("poor", "fair", "good"))
    assert (found.values, found.numbers, found.value.tolist()) == (["poor", "fair", "good"], [0, 1, 2], [2, 0])
    ((line, field, message),) = refusals_of(found)
    assert (line, field) == (3, "value")
    assert "'great'" in message
    assert "--order" in message


def test_a_second_rating_is_rejected_and_the_first_stays(tmp_path: Path) -> None:
    path = written(tmp_path, rating(1, "a", 0), rating(1, "b", 0), rating("1", "a", 1), rating(1, "a", 0))
    found = read(path, "nominal")
    assert found.value.tolist() == [0, 0]
    assert [(line, field) for line, field, _ in refusals_of(found)] == [(3, "annotator"), (4, "annotator")]
    assert all("on line 1 already" in message for *_, message in refusals_of(found))


@pytest.mark.parametrize(
    ("line", "field", "part"),
    [
        ("nonsense", None, "JSON"),
        ("[1, 2]", None, "not an object"),
        ('{"item": 1, "annotator": "a"}', "value", "value is missing"),
        ('{"annotator": "a", "value": 1}', "item", "item is missing"),
        ('{"item": 1, "value": 1}', "annotator", "annotator is missing"),
        ('{"item": null, "annotator": "a", "value": 1}', "item", "text or a whole number"),
        ('{"item": 1.5, "annotator": "a", "value": 1}', "item", "text or a whole number"),
        ('{"item": 1, "annotator": ["a"], "value": 1}', "annotator", "text or a whole number"),
        ('{"item": 1, "annotator": "a", "value": null}', "value", "Leave out lines without a rating"),
        ('{"item": 1, "annotator": "a", "value": ""}', "value", "value is empty"),
        ('{"item": "", "annotator": "a", "value": 1}', "item", "item is empty"),
        ('{"item": 1, "annotator": "", "value": 1}', "annotator", "annotator is empty"),
        ('{"item": 1, "annotator": "a", "value": {}}', "value", "text, a number, true or false"),
        ('{"item": 1, "annotator": "a", "value": NaN}', "value", "JSON"),
        ('{"item": 1, "annotator": "a", "value": ' + "[" * 100_000, None, "nested"),
        ('{"item": "\\ud800", "annotator": "a", "value": 1}', None, ""),
    ],
    ids=range(16),
)
def test_a_bad_line_is_rejected_with_its_field_and_the_rest_is_used(
    tmp_path: Path, line: str, field: str | None, part: str
) -> None:
    found = read(written(tmp_path, rating(1, "b", 1), line, rating(2, "b", 1)), "nominal")
    ((number, named, message),) = refusals_of(found)
    assert (number, named) == (2, field)
    assert part in message
    assert len(found.item) == 2
    assert found.annotators == ["b"]


@pytest.mark.parametrize(
    ("level", "value", "part"),
    [
        ("interval", "5", "value is text"),
        ("ordinal", "good", "--order"),
        ("interval", True, "true or false"),
        ("ratio", -1, "negative"),
        ("interval", 10**400, "too large"),
    ],
)
def test_a_value_that_is_none_of_the_level_is_rejected(tmp_path: Path, level: Level, value: Any, part: str) -> None:
    found = read(written(tmp_path, rating(1, "a", 1), rating(2, "a", value)), level)
    ((line, field, message),) = refusals_of(found)
    assert (line, field) == (2, "value")
    assert part in message
    assert found.items == 1


def test_a_line_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"item": 1, "annotator": "\xff", "value": 1}\n{"item": 1, "annotator": "a", "value": 1}\n')
    found = read(path, "nominal")
    ((_, _, message),) = refusals_of(found)
    assert "not UTF-8" in message
    assert found.annotators == ["a"]


def test_a_line_that_is_too_long_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 2_000)
    found = read(written(tmp_path, rating("x" * 5_000, "a", 1), rating(1, "a", 1)), "nominal")
    assert [line for line, *_ in refusals_of(found)] == [1]
    assert found.items == 1


def test_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(rating(1, "a", 2)).encode() + b"\n"))
    assert read(path, "nominal").values == ["2"]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        read(tmp_path / "none.jsonl", "nominal")


@pytest.mark.parametrize(("level", "order"), [("nominal", ("a", "b")), ("ordinal", ("a", "a"))])
def test_an_order_must_fit(tmp_path: Path, level: Level, order: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--order"):
        read(written(tmp_path, rating(1, "a", "a")), level, order)
