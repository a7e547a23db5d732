"""Tables as plain text, CSV and LaTeX."""

from __future__ import annotations

import csv
import io

import pytest

from workbench.tables.document import Cell, Head, Row, Table, difference, percentage
from workbench.tables.table_text import csv_table, latex_table, plain_table

TABLE = Table(
    caption="What it shows.",
    head=((Head(""), Head("set_1", 2)), (Head("Name"), Head("n"), Head("Acc"))),
    rows=(
        Row((Cell("Rules"),), "section"),
        Row((Cell("a & b_1"), Cell("1,000"), Cell("97.60"))),
        Row((Cell("   漢字"), Cell("20"), Cell("88.00", small="−9.60")), "total"),
    ),
    notes=("100 % sure.",),
)


def test_plain_text_is_aligned() -> None:
    assert plain_table(TABLE) == (
        "What it shows.\n\n"
        "               set_1\n"
        "Name         n    Acc\n"
        "Rules\n"
        "a & b_1  1,000  97.60\n"
        "   漢字     20  88.00 −9.60\n"
        "\n100 % sure.\n"
    )


def test_csv_has_numbers_and_a_section_column() -> None:
    assert list(csv.reader(io.StringIO(csv_table(TABLE)))) == [
        ["section", "Name", "set_1 n", "set_1 Acc", "set_1 Acc +/-"],
        ["Rules", "a & b_1", "1000", "97.60", ""],
        ["Rules", "漢字", "20", "88.00", "-9.60"],
    ]


@pytest.mark.parametrize("name", ["=cmd()", " @SUM(A1)", "+1", "-2+3", "a\x1b[31m", "a\rb"])
def test_csv_makes_no_formula_and_no_control_of_a_name(name: str) -> None:
    rows = (Row((Cell(name),), "section"), Row((Cell(name), Cell(name), Cell("−9.60"))))
    table = Table(caption="", head=((Head("a"), Head(name), Head("b")),), rows=rows, left=2)
    for *names, figure in list(csv.reader(io.StringIO(csv_table(table), newline="")))[1:]:
        assert all(found.isprintable() and not found.startswith(("=", " ", "+", "-", "@")) for found in names)
        assert figure == "-9.60"
    assert name not in csv_table(table).splitlines()[0].split(",")


def test_latex_escapes_data() -> None:
    text = latex_table(TABLE)
    assert r"\begin{tabular}{lrr}" in text
    assert r"a \& b\_1 & 1,000 & 97.60 \\" in text
    assert r"\multicolumn{2}{c}{set\_1}" in text
    assert r"\cmidrule(lr){2-3}" in text
    assert r"100 \% sure." in text


@pytest.mark.parametrize("name", [r"\input{/etc/passwd}", "$x$ % {", "a\x1bb\nc", "#~^"])
def test_latex_obeys_no_name(name: str) -> None:
    text = latex_table(Table(caption="", head=((Head("a"), Head("b")),), rows=(Row((Cell(name), Cell("1"))),)))
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert "\\input" not in body
    assert len(body.strip().splitlines()) == 1
    assert body.strip().endswith(r"& 1 \\")


@pytest.mark.parametrize(
    ("share", "decimals", "printed"),
    [
        (62 / 64, 2, "96.88"),
        (42 / 64, 2, "65.62"),
        (1, 1, "100.0"),
        (0.0005, 1, "0.0"),
        (0.29, 0, "29"),
        (None, 1, "–"),
    ],
)
def test_percentages(share: float | None, decimals: int, printed: str) -> None:
    assert percentage(share, decimals) == printed


@pytest.mark.parametrize(
    ("points", "printed"),
    [(50 / 64 - 0.902, "−12.08"), (62 / 64 - 0.976, "−0.72"), (0.0035, "+0.35"), (0.0, "+0.00"), (-1e-9, "+0.00")],
)
def test_differences_have_a_sign(points: float, printed: str) -> None:
    assert difference(points, 2) == printed
