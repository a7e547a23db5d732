"""The layout of an accuracy report: marks, counts next to metrics, order, scales."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from workbench.app.tui.kit.accuracy_sheet import AccuracySheet, group_detail, verifier_detail
from workbench.app.tui.kit.accuracy_view import FIGURES, caption, cell_sentence, legend, notes
from workbench.core.text.figures import GLYPHS, NONE
from workbench.statistics.records.report import AccuracyReport, AccuracyRow


def row(verifier: str, group: str | None, accuracy: float | None, n: int = 100, **fields: Any) -> AccuracyRow:
    """Return a row in which only the accuracy matters."""
    right = round((accuracy or 0.0) * n)
    return AccuracyRow(
        **{
            "verifier": verifier,
            "group": group,
            "n": n,
            "questions": n,
            "effective_questions": float(n),
            "accuracy": accuracy,
            "ci": None if accuracy is None else (max(0.0, accuracy - 0.1), min(1.0, accuracy + 0.1)),
            "balanced_accuracy": accuracy,
            "mcc": 0.0,
            "fpr": None,
            "fnr": 0.25,
            "coverage": 1.0,
            "tp": right,
            "fp": 0,
            "tn": 0,
            "fn": n - right,
            "abstain": 0,
            "error": 0,
            "deff": 1.0,
            "auroc": None,
            **fields,
        }
    )


def report(*rows: AccuracyRow, **fields: Any) -> AccuracyReport:
    return AccuracyReport(
        **{
            "protocol": "forced",
            "gold": {"imported": 100},
            "gold_choice": "final",
            "by": "type",
            "rows": [*rows],
            **fields,
        }
    )


SMALL = report(
    row("judge", None, 0.8, selection_judge=True),
    row("judge", "A", 0.5, delta=-0.3, q=0.01),
    row("rule", None, 0.9),
    row("rule", "A", 0.95, delta=0.05, q=0.4, n=7),
    row("slow", None, 0.7),
    row("slow", "A", None, n=0),
    row("always-incorrect", None, 0.75, kind="baseline"),
    row("always-incorrect", "A", 0.75, kind="baseline"),
    unfinished={"slow": 0.999},
    notes=("One thing.",),
)
ACCURACY = FIGURES["accuracy"]


def texts(sheet: AccuracySheet, figure: str = "accuracy") -> dict[tuple[str, str | None], str]:
    """Return the cells' texts without their glyphs."""
    return {
        (row.key, group): cell.text.lstrip(GLYPHS)
        for row in sheet.rows(FIGURES[figure], ())
        for group, cell in zip(sheet.groups, row.cells[1:], strict=True)
    }


def test_marks_follow_names_and_metrics() -> None:
    sheet = AccuracySheet(SMALL)
    assert {name: sheet.mark(name, {"rule": None}) for name in sheet.verifiers} == {
        "judge": " †",
        "rule": "↑ ",
        "slow": "  ",
        "always-incorrect": " ○",
    }
    assert texts(sheet)["judge", "A"] == "50.0*"
    assert texts(sheet)["judge", None] == "80.0"
    assert texts(sheet, "delta")["judge", "A"] == "-30.0*"
    assert texts(sheet, "fnr")["judge", "A"] == "25.0"
    words = legend(SMALL, ACCURACY, pinned=True)
    for mark in (
        "▁ 0 … █ 100",
        "pale: n < 10",
        "* q < .05",
        "○ baseline",
        "† helped to select the items",
        "↑ pinned",
        "judged so far",
    ):
        assert mark in words
    plain = report(row("rule", None, 0.9))
    assert legend(plain, FIGURES["n"], pinned=False) == ""


def test_long_group_names_keep_their_distinguishing_ends() -> None:
    names = ("math_reasoning/algebra", "math_reasoning/geometry")
    sheet = AccuracySheet(report(row("rule", None, 0.9), *(row("rule", name, 0.9) for name in names), by="source"))
    titles = [column.title for column in sheet.columns(ACCURACY, wide=False)]
    assert len(set(titles)) == 3
    assert titles[1].endswith("gebra")


def test_unfinished_run_is_never_called_finished() -> None:
    assert AccuracySheet(SMALL).progress("slow") == "99 %"
    assert AccuracySheet(SMALL).progress("rule") == ""


def test_every_metric_has_its_n() -> None:
    sheet = AccuracySheet(SMALL)
    assert [column.below for column in sheet.columns(ACCURACY, wide=False)] == [("n 100",)] * 2
    assert texts(sheet)["rule", "A"] == "95.0 (7)"
    assert texts(sheet)["slow", "A"] == NONE
    assert texts(sheet, "n")["rule", "A"] == "7"


def test_pinned_verifiers_stay_first() -> None:
    rows = AccuracySheet(SMALL).rows(ACCURACY, {"slow": None, "not there": None, "judge": None})
    assert [(row.key, row.block) for row in rows] == [("slow", 0), ("judge", 1), ("rule", 2), ("always-incorrect", 2)]


@pytest.mark.parametrize(("descending", "expected"), [(False, [0, 1, 2, 3]), (True, [0, 2, 1, 3])])
def test_rows_without_a_value_sort_last(descending: bool, expected: list[int]) -> None:
    groups = {"A": 0.5, "B": 0.9, "C": None}
    sheet = AccuracySheet(report(row("v", None, 0.7), *(row("v", name, share) for name, share in groups.items())))
    found = verifier_detail(sheet, "v", ACCURACY, descending=descending, wide=True)
    assert [line.id for line in found.rows] == expected


def test_tint_shows_quality_and_glyph_shows_magnitude() -> None:
    bad, good = row("v", None, 0.1, fpr=0.9), row("v", None, 0.9, fpr=0.1)
    for key, (low, high) in {"accuracy": (bad, good), "fpr": (good, bad)}.items():
        figure = FIGURES[key]
        assert (figure.step(low) or 0) < (figure.step(high) or 0)
        assert (figure.tint(bad) or 0) < 0 < (figure.tint(good) or 0)
    shades = [FIGURES["accuracy"].tint(row("v", None, 1.0, n=n)) or 0 for n in (1, 10, 1_000)]
    assert shades == sorted(shades)
    assert 0 < shades[0] < shades[1] == shades[2] * 1_010 / 2_000 < 1
    assert FIGURES["n"].step(good) is None
    assert FIGURES["fpr"].tint(row("v", None, 0.5)) is None
    assert FIGURES["mcc"].step(row("v", None, None, n=0)) is None


def test_column_sorts_best_first_and_keeps_baselines_last() -> None:
    found = group_detail(AccuracySheet(SMALL), None, ACCURACY, (), wide=False)
    lines = sorted(found.rows, key=lambda line: line.block)
    names = [line.cells[0].text.strip(" †○") for line in lines]
    assert names == ["rule", "judge", "slow 99 % run", "always-incorrect"]


def test_caption_names_protocol_gold_and_unfinished_runs() -> None:
    assert "protocol forced" in str(caption(SMALL, FIGURES["mcc"]))
    assert "MCC" in str(caption(SMALL, FIGURES["mcc"]))
    assert "gold final (100 imported)" in str(caption(SMALL, ACCURACY))
    origins = {"adjudicated": 104, "agreed": 557, "imported": 1_150, "none": 11, "conflict": 22}
    lines = str(caption(structs.replace(SMALL, gold=origins), ACCURACY)).splitlines()
    assert len(lines) == 2
    assert "22 conflict" in lines[1]
    assert max(map(len, lines)) <= 78, "complete at 80 columns"
    assert notes(SMALL).splitlines() == ["• One thing.", "• slow has been judged to 99 %: its metrics still change."]
    sheet = AccuracySheet(SMALL)
    assert "Δ -30.0 points, q .010" in str(cell_sentence(SMALL, sheet.row("judge", "A")))
    assert "No item has a verdict and gold (final)" in str(cell_sentence(SMALL, sheet.row("slow", "A")))
    long = report(row("x" * 90, None, 0.9))
    assert "accuracy 90.0 %" in str(cell_sentence(long, long.rows[0])).splitlines()[0][:78]
