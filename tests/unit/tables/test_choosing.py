"""Partial tables: columns by heading, rows without baselines, labels."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.core.errors import UsageError
from workbench.core.options import TableForm
from workbench.tables.document import Cell, Head, Row, Table, heads, row
from workbench.tables.files import format_tables

TABLE = Table(
    caption="All.",
    head=((Head(""), Head("set_1", 2), Head("")), heads("Verifier", "n", "95 % interval", "MCC")),
    rows=(
        Row((Cell("Rules"),), "section"),
        row("exact", "10", "[0, 1]", "0.5"),
        Row((Cell("Baselines"),), "section"),
        row("constant", "10", "[0, 0]", "0.0", kind="aside"),
    ),
)
OTHER = Table(caption="Other.", head=(heads("A", "p"),), rows=(row("x", "0.1"),))


def test_columns_follow_the_requested_order_with_their_headings() -> None:
    output = format_tables([TABLE], TableForm(columns=("verifier", "mcc", "set_1 N"), format="latex"))
    assert "Verifier & MCC & n" in output
    assert "exact & 0.5 & 10" in output
    assert r"\begin{tabular}{lrr}" in output
    assert r"\multicolumn{3}{l}{\textit{Rules}}" in output


def test_neighbours_keep_the_heading_over_both() -> None:
    output = format_tables([TABLE], TableForm(columns=("verifier", "set_1 n", "set 1 95 interval"), format="latex"))
    assert r"\multicolumn{2}{c}{set\_1}" in output


def test_an_interval_has_a_short_name() -> None:
    plain = Table(caption="", head=(heads("A", "95 % interval"),), rows=(row("x", "[0, 1]"),))
    assert "[0, 1]" in format_tables([plain], TableForm(columns=("ci",)))


def test_rows_of_baselines_are_removed_with_their_section() -> None:
    output = format_tables([TABLE], TableForm(no_baselines=True))
    assert "exact" in output
    assert "constant" not in output
    assert "Baselines" not in output


def test_a_table_without_the_columns_is_left_out_and_labels_are_numbered() -> None:
    assert "Other." not in format_tables([TABLE, OTHER], TableForm(columns=("MCC",)))
    output = format_tables([TABLE, OTHER], TableForm(format="latex", label="tab:a"))
    assert output.index(r"\label{tab:a}") < output.index(r"\label{tab:a-2}")


def test_an_unknown_column_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"no column 'verifer'.*Did you mean 'Verifier'"):
        format_tables([TABLE, OTHER], TableForm(columns=("p", "verifer")))


@pytest.mark.parametrize(
    "options",
    [
        {"format": "csv", "columns": ("a",)},
        {"format": "csv", "no_baselines": True},
        {"label": "tab:a"},
        {"format": "latex", "label": "a}\\input{x"},
        {"format": "latex", "label": "ä"},
    ],
)
def test_incompatible_options_are_rejected(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        TableForm(**options)
