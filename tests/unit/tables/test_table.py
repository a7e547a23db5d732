"""Tables declared as columns over records."""

from __future__ import annotations

from typing import NamedTuple

from workbench.tables.document import Cell, Head, Row, Tone
from workbench.tables.table import Columns, aligned_rows, cells, column, count, ends, metric_column, table, text, word
from workbench.tables.table_text import csv_table, plain_table


class Rule(NamedTuple):
    name: str
    n: int
    accuracy: float | None
    ci: tuple[float, float] | None


RULES = (Rule("numbers", 1_200, 0.9125, (0.9, 0.925)), Rule("\x1bwords", 3, None, None))


def columns(*, intervals: bool = True) -> Columns[Rule]:
    return (
        word("rule", lambda rule: rule.name),
        count("n", lambda rule: rule.n),
        metric_column("accuracy", lambda rule: rule.accuracy, over="right"),
        ends(lambda rule: rule.ci, over="right", there=intervals),
    )


def test_a_table_has_a_heading_and_a_cell_a_column() -> None:
    found = table("Rules", columns(), RULES, notes=("All of them.",))
    assert found.head == ((Head("", 2), Head("right", 2)), tuple(map(Head, ("rule", "n", "accuracy", "95 % interval"))))
    assert [tuple(cell.text for cell in row.cells) for row in found.rows] == [
        ("numbers", "1,200", "0.912", "[0.900, 0.925]"),
        ("\x1bwords", "3", "–", "–"),
    ]
    assert (found.left, found.notes) == (1, ("All of them.",))


def test_a_column_that_is_not_there_leaves_neither_heading_nor_cell() -> None:
    found = table("Rules", columns(intervals=False), RULES)
    assert found.columns == ("rule", "n", "right accuracy")
    assert {len(row.cells) for row in found.rows} == {3}
    assert "interval" not in aligned_rows(columns(intervals=False), RULES)


def test_every_writer_accepts_the_same_table() -> None:
    found = table("Rules", columns(intervals=False), RULES)
    assert plain_table(found).splitlines()[2:] == [
        "                 right",
        "rule         n  accuracy",
        "numbers  1,200     0.912",
        "␛words       3         –",
    ]
    assert csv_table(found) == "rule,n,right accuracy\nnumbers,1200,0.912\n␛words,3,\n"


def test_rows_are_of_a_kind_and_cells_may_have_small_print() -> None:
    declared: Columns[Rule] = (text("rule", lambda rule: Cell(rule.name, small="new")),)
    found = table("Rules", declared, RULES[:1], kind=lambda rule: "total" if rule.n > 3 else "")
    assert found.rows == (Row((Cell("numbers", small="new", value="numbers"),), "total"),)
    assert found.left == 0


def test_a_list_has_words_to_the_left_and_shows_control_characters() -> None:
    declared: Columns[Rule] = (count("n", lambda rule: rule.n), word("rule", lambda rule: rule.name))
    shown = "    n  rule\n1,200  numbers\n    3  ␛words"
    assert aligned_rows(declared, RULES) == shown
    assert aligned_rows((word("absent", str, there=False), *declared), RULES) == shown


def test_a_custom_column_defines_its_format() -> None:
    share: Columns[Rule] = [column("share", lambda rule: rule.n / 2_400, "{:.0%}".format, words=True)]
    assert cells(share, RULES[0]) == ("50%",)


def test_a_cell_has_its_meaning_and_sort_key() -> None:
    def doubted(rule: Rule) -> Tone:
        return "warning" if rule.accuracy is None else ""

    columns: Columns[Rule] = (
        word("rule", lambda rule: rule.name, tone="bold"),
        count("n", lambda rule: rule.n, tone=doubted),
        text("accuracy", lambda rule: Cell("?", "dim"), by=lambda rule: rule.accuracy, tone=doubted),
        column("figures", lambda rule: {"n": rule.n}, str),
    )
    found = [one.cell(RULES[1]) for one in columns]
    assert [cell.tone for cell in found] == ["bold", "warning", "dim", ""]
    assert [cell.value for cell in found] == ["\x1bwords", 3, None, "{'n': 3}"]
    assert columns[2].cell(RULES[0]).value == 0.9125
