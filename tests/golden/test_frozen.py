"""What users see equals what was frozen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import frozen
from tests.golden.frozen import KINDS
from tests.golden.projections import Data, Help, project
from tests.golden.scenes import Scenes
from tests.golden.shown import GROUPS, REAL, SLOW

TRIES = 3
"""Attempts per screen: on a busy machine one may be read before it has settled. A real change persists."""


@pytest.mark.parametrize(
    "group", [pytest.param(group, marks=[pytest.mark.soak] if group in SLOW else []) for group in GROUPS]
)
def test_group_equals_its_frozen_files(group: str, scenes: Scenes) -> None:
    if group in REAL and not REAL[group].exists():
        pytest.skip(f"the real data {REAL[group].name} is not here")
    for _ in range(TRIES if group.startswith(("screens", "walks")) else 1):
        changes = frozen.report(group, dict(GROUPS[group](scenes)), as_digests=group in REAL)
        if not changes:
            break
    assert not changes, changes


def test_every_frozen_file_belongs_to_a_group() -> None:
    files = [file for kind in KINDS for file in (frozen.FOLDER / kind).iterdir()]
    assert {file.stem for file in files} == GROUPS.keys()
    assert sum(file.stat().st_size for file in files) < 3_000_000


TABLE = """exit 0
! Read 79 items.
Accuracy by answer type: 2 verifiers.

verifier  A      verdict
rules     0.934  correct
exact     –      abstain
"""


def test_values_are_numbers_and_cell_names_and_wording_is_the_rest() -> None:
    values, wording = project(TABLE)
    assert values.split() == ["0", "79", "2", "rules", "0.934", "correct", "exact", "–", "abstain"]
    assert wording.splitlines() == [
        "exit #",
        "! Read # items.",
        "Accuracy by answer type: # verifiers.",
        "",
        "verifier  A  verdict",
        "#  #  #",
        "#  #  #",
    ]


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        (TABLE, []),
        (TABLE.replace("0.934", "0.933"), ["values"]),
        (TABLE.replace("0.934", "10.934"), ["values"]),
        (TABLE.replace("correct", "incorrect"), ["values"]),
        (TABLE.replace("exit 0", "exit 1"), ["values"]),
        (TABLE.replace("Accuracy by", "Accuracy of every"), ["wording"]),
        (TABLE.replace("type: 2", "type:\n2"), ["wording"]),
        (TABLE.replace("answer type: 2", "type: 3"), ["values", "wording"]),
        ("\n".join([*TABLE.splitlines()[:-2], *TABLE.splitlines()[:-3:-1], ""]), ["values"]),
    ],
)
def test_changes_of_values_and_of_wording_are_distinguished(changed: str, kinds: list[str], tmp_path: Path) -> None:
    for kind in KINDS:
        frozen.freeze("mine", {"table": TABLE}, kind, tmp_path)
    assert list(frozen.differences("mine", {"table": changed}, tmp_path)) == kinds


def test_json_documents_are_values_except_sentences() -> None:
    changes = 'exit 0\n{"n": 7, "verifier": "rules", "note": "as it is", "why": "rules says 3 of 4 are right"}\n'
    values, wording = project(changes)
    assert values == '0\n{"n": 7, "verifier": "rules", "note": "as it is", "why": "…"}\n3  4\n'
    assert wording == "exit #\nrules says # of # are right\n"


def test_long_value_is_stored_as_its_beginning_and_a_digest() -> None:
    values, _ = project(Data("x" * 5000))
    assert len(values) < 200
    assert values != project(Data("x" * 4999 + "y")).values


def test_options_are_values_of_help() -> None:
    text = "Options:\n  -o, --option KEY=VALUE  An option, as in --k 3.\n"
    assert project(Help(text)).values.split() == ["-o", "--option", "--k", "3"]
    assert project(text).values.split() == ["3"]


def test_added_and_removed_pieces_are_reported() -> None:
    shown = {"one": "1\n", "two": "2\n"}
    assert frozen.differences("never frozen", shown) == {"values": ["one", "two"], "wording": ["one", "two"]}


def test_report_shows_the_difference_and_how_to_freeze_it(tmp_path: Path) -> None:
    for kind in KINDS:
        frozen.freeze("mine", {"one": "It is 1.\n", "two": "rules  2\n"}, kind, tmp_path)
    changes = frozen.report("mine", {"one": "It was 2.\n", "two": "2  rules\n"}, tmp_path)
    assert "VALUES of mine: 2 pieces" in changes
    assert "-1" in changes
    assert "+2" in changes
    assert "The same values in another order:" in changes
    assert "WORDING of mine: 1 pieces" in changes
    assert "-It is #." in changes
    assert "python -m tests.golden mine" in changes


def test_changed_line_breaks_keep_the_lines_of_values(tmp_path: Path) -> None:
    frozen.freeze("mine", {"one": "1 and 2\n3\n"}, "values", tmp_path)
    frozen.freeze("mine", {"one": "1 and\n2 and 3\n"}, "values", tmp_path)
    assert frozen.read("mine", "values", tmp_path) == {"one": "1  2\n3\n"}


def test_no_text_of_real_data_is_stored(tmp_path: Path) -> None:
    for kind in KINDS:
        frozen.freeze("real", {"row": "exit 0\nA question.\n"}, kind, tmp_path, as_digests=True)
        assert "question" not in frozen.file_of("real", kind, tmp_path).read_text(encoding="utf-8")
    assert frozen.differences("real", {"row": "exit 0\nA quest.\n"}, tmp_path, as_digests=True) == {"wording": ["row"]}
