"""Evaluation samples with arbitrary content: never a traceback, and the other samples are still loaded."""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.data.formats.logs.evaluation_logs import (
    HEADER,
    SAMPLE,
    archive,
    document,
    members,
    options,
    row,
    written,
)
from tests.unit.data.formats.logs.test_hostile_logs import VALUES, sorted_out
from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.data.formats.logs.inspect_ai import begins

ROWS = {"text": row(), "options": options("5", "7", likelihoods=[-1.0, -2.0], metrics=["acc"], acc=0.0)}
DEEP = 100_000
BEYOND = json.dumps({"x": 0}).replace("0", "[" * DEEP + "]" * DEEP)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, one in inner for found in ((*path, key), *places(one, (*path, key)))]


def with_other(value: Any, path: tuple[Any, ...], other: object) -> Any:
    """The document with something else in one place."""
    changed = deepcopy(value)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = other
    return changed


def loaded(path: Path) -> tuple[list[Any], list[Refusal]]:
    return sorted_out(path, "inspect" if path.stem == "log" else "lm-eval")


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_a_sample_of_lm_eval_with_anything_in_any_place(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given_row = ROWS[name]
    other = with_other(given_row, data.draw(st.sampled_from(places(given_row))), data.draw(VALUES))
    items, _ = loaded(written(tmp_path_factory.mktemp("hostile"), row(), other, row(doc_id=4)))
    assert len(items) >= 2


@given(data=st.data())
def test_a_sample_of_inspect_with_anything_in_any_place(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = with_other(SAMPLE, data.draw(st.sampled_from(places(SAMPLE))), data.draw(VALUES))
    folder = tmp_path_factory.mktemp("hostile")
    for path in (document(folder, SAMPLE, other), archive(folder, members(SAMPLE, other))):
        assert len(loaded(path)[0]) >= 1


@given(data=st.data())
def test_a_header_of_inspect_with_anything_in_any_place(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The log is read, or rejected as a whole with a message."""
    header = with_other(HEADER, data.draw(st.sampled_from(places(HEADER))), data.draw(VALUES))
    path = archive(tmp_path_factory.mktemp("hostile"), {**members(SAMPLE), "_journal/start.json": header})
    with suppress(FormatError):
        assert any(loaded(path))


@settings(max_examples=40)
@given(place=st.integers(0, 3_000), junk=st.binary(min_size=1, max_size=40))
def test_an_archive_with_junk_anywhere(place: int, junk: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = archive(tmp_path_factory.mktemp("hostile"), members(SAMPLE, SAMPLE))
    content = path.read_bytes()
    place %= len(content)
    path.write_bytes(content[:place] + junk + content[place + len(junk) :])
    with suppress(FormatError):
        assert any(loaded(path))


def test_deep_and_broken_samples(tmp_path: Path) -> None:
    lines = ["{", BEYOND, json.dumps(row(doc=None)).replace("null", BEYOND), json.dumps(row(target="\udfff"))]
    path = written(tmp_path, row())
    path.write_text(path.read_text() + "\n".join(lines) + "\n" + json.dumps(row(doc_id=5)) + "\n")
    items, refused = loaded(path)
    assert (len(items), [one.line for one in refused]) == (2, [2, 3, 4, 5])
    broken = {**members(SAMPLE), "samples/2_epoch_1.json": b"{", "samples/3_epoch_1.json": BEYOND.encode()}
    items, refused = loaded(archive(tmp_path, broken))
    assert (len(items), [one.line for one in refused]) == (1, [2, 3])


def test_member_names_cannot_escape_the_archive(tmp_path: Path) -> None:
    names = ("samples/../../../tmp/x_epoch_1.json", "samples//etc/passwd_epoch_1.json", "samples/\n_epoch_2.json")
    path = archive(tmp_path, {**members(SAMPLE), **dict.fromkeys(names, SAMPLE)})
    before = sorted(tmp_path.rglob("*"))
    assert len(loaded(path)[0]) == 4
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_within_an_archive_is_no_log(tmp_path: Path) -> None:
    inner = archive(tmp_path, members(SAMPLE)).read_bytes()
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as file:
        file.writestr("log.eval", inner)
    assert not begins((tmp_path / "outer.zip").read_bytes())
