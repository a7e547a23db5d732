"""Very wide tables: messages stay short, and invalid ones are rejected at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Call, in_process
from workbench.data.formats.documents import MOST_COLUMNS

ITEM = {"question": "q", "reference": "7", "completion": "7"}


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def test_a_message_about_many_keys_names_a_few(call: Call, tmp_path: Path) -> None:
    row = ITEM | {f"key{number}": 1 for number in range(3_000)}
    (tmp_path / "wide.jsonl").write_text(json.dumps(row) + "\n")
    code, shown, said = call("import", tmp_path / "p.db", tmp_path / "wide.jsonl")
    assert code == 0
    assert "and 2,980 more" in shown
    assert "Did you mean --verdict" in said
    assert len(shown) + len(said) < 3_000


@pytest.mark.parametrize("columns", [MOST_COLUMNS, MOST_COLUMNS + 1])
def test_a_table_has_so_many_columns_at_most(call: Call, tmp_path: Path, columns: int) -> None:
    names = [*ITEM, *(f"c{number}" for number in range(columns - len(ITEM)))]
    cells = [*ITEM.values(), *("x" for _ in names[len(ITEM) :])]
    (tmp_path / "wide.csv").write_text(f"{','.join(names)}\n{','.join(cells)}\n")
    code, _, said = call("import", tmp_path / "p.db", tmp_path / "wide.csv")
    assert code == (0 if columns == MOST_COLUMNS else 1), said
    assert ("10,001 columns; a table has at most 10,000" in said) == (columns > MOST_COLUMNS)
    assert "Traceback" not in said
