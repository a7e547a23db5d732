"""Accuracy reports as text, CSV, Markdown and LaTeX: they have the metrics, and names are escaped."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs
from pylatexenc.latex2text import LatexNodes2Text

from workbench.core.options import TableForm
from workbench.core.text.inert import inert
from workbench.measuring.accuracy_tables import accuracy_as, accuracy_tables, sorted_by
from workbench.statistics.records.report import AccuracyReport, AccuracyRow, AverageRow, CellTests, TransferRow
from workbench.tables.files import FORMATS

# Names as data sets, models and sources could bring them.
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
SPECIAL = st.text(st.sampled_from("\\{}$&#%_^~<>|[]*`\"'-=+@!() \n\t0aé中–"), min_size=1, max_size=10)


def row(verifier: str, group: str | None = None, **changes: Any) -> AccuracyRow:
    figures: dict[str, Any] = {
        "n": 1234,
        "questions": 617,
        "effective_questions": 580.5,
        "accuracy": 0.8125,
        "ci": (0.78, 0.84),
        "balanced_accuracy": 0.75,
        "mcc": 0.5,
        "fpr": 0.125,
        "fnr": None,
        "coverage": 1.0,
        "tp": 1,
        "fp": 2,
        "tn": 3,
        "fn": 4,
        "abstain": 0,
        "error": 0,
        "deff": 1.5,
        "auroc": None,
    }
    return AccuracyRow(
        verifier=verifier, group=group, groups=() if group is None else (group,), **{**figures, **changes}
    )


def report(*rows: AccuracyRow, by: str | None = "source", **changes: Any) -> AccuracyReport:
    averages = [
        AverageRow(verifier=one.verifier, micro=one.accuracy, macro=0.4, over=by or "type", groups=4)
        for one in rows
        if one.group is None
    ]
    gold = {"adjudicated": 1, "agreed": 2, "imported": 1_000, "none": 0}
    whole = AccuracyReport(protocol="strict", gold=gold, gold_choice="final", by=by, rows=list(rows), averages=averages)
    return structs.replace(whole, **changes)


FULL = report(
    row("rules", selection_judge=True),
    row("rules", "A1", delta=-0.03125, p=0.01, q=0.00001),
    row("constant", kind="baseline", mcc_ci=None),
    by="subtype",
    tests=CellTests(hypotheses=17, exact=16),
    transfer=[
        TransferRow(verifier="rules", prevalence=0.3, accuracy=0.9, ci=(0.8, 0.95), accept_rate=0.4, true_rate=0.33)
    ],
    notes=("Read this first.",),
)


@pytest.mark.parametrize("as_", [format_ for format_ in FORMATS if format_ != "csv"])
def test_every_format_names_its_protocol_its_averages_its_tests_and_its_marks(as_: Any) -> None:
    text = " ".join(
        re.sub(r"\\([\[\]])", r"\1", accuracy_as(FULL, TableForm(format=as_))).replace("{\\textdagger}", "†").split()
    )
    for said in (
        "protocol strict, gold final (1 adjudicated, 2 agreed, 1,000 imported, 0 none)",
        "all (micro)",
        "macro over 4 subtypes",
        "A1 - Integer",
        "over 17 tests",
        "Read this first.",
        "rules †",
        "0.330",
        "[0.800, 0.950]",
    ):
        assert said in text


def test_deltas_and_q_have_columns_only_if_computed() -> None:
    (table, _) = accuracy_tables(FULL)
    heads = [head.text for head in table.head[0]]
    cells = [cell.text for cell in table.rows[2].cells]
    assert dict(zip(heads, cells, strict=True))["delta"] == "-0.031"
    assert dict(zip(heads, cells, strict=True))["q"] == "< 0.0001"
    (bare,) = accuracy_tables(report(row("rules")))
    assert not {"delta", "q", "AUROC"} & {head.text for head in bare.head[0]}


def test_intervals_follow_each_metric() -> None:
    text = accuracy_as(report(row("rules", mcc_ci=(0.4, 0.6), balanced_accuracy_ci=(0.71, 0.9))), TableForm())
    assert "[0.400, 0.600]" in text
    assert "[0.710, 0.900]" in text


def test_the_text_states_how_q_was_computed() -> None:
    drawn = CellTests(hypotheses=12, exact=2, drawn=10, families=4, seed=3)
    text = " ".join(accuracy_as(structs.replace(FULL, tests=drawn), TableForm()).split())
    assert "permutation by question (10 by draws, seed 3), after Benjamini and Bogomolov over 12 tests in 4" in text
    rough = " ".join(
        accuracy_as(structs.replace(FULL, tests=CellTests(hypotheses=9, exact=1, approximate=8)), TableForm()).split()
    )
    assert "permutation by question (8 still by a normal distribution), after Benjamini and Hochberg over 9" in rough


def test_csv_has_full_precision_and_empty_undefined_cells() -> None:
    (everything, cell, _) = csv.DictReader(io.StringIO(accuracy_as(FULL, TableForm(format="csv"))))
    assert (everything["macro"], everything["macro_over"], everything["selection_judge"]) == ("0.4", "subtype", "1")
    assert (cell["delta"], cell["q"], cell["macro"], cell["fnr"]) == ("-0.03125", "1e-05", "", "")
    assert float(cell["ci_low"]) == 0.78


@pytest.mark.parametrize("name", ['=HYPERLINK("x")', "+1", "-1+1", "@SUM(A1)", " =1", "\t=1", "\uff1d1"])
def test_csv_escapes_spreadsheet_formulas(name: str) -> None:
    (_, line) = csv.DictReader(
        io.StringIO(accuracy_as(report(row(name), row(name, name)), TableForm(format="csv")), newline="")
    )
    assert line["verifier"] == line["group"] == f"'{inert(name)}"


@given(NAMES | SPECIAL, NAMES | SPECIAL)
def test_names_read_from_the_csv_equal_the_shown_names(verifier: str, group: str) -> None:
    text = accuracy_as(report(row(verifier), row(verifier, group)), TableForm(format="csv"))
    (_, line) = csv.DictReader(io.StringIO(text, newline=""))
    assert line["verifier"] in (inert(verifier), f"'{inert(verifier)}")
    assert line["group"] in (inert(group), f"'{inert(group)}")
    assert not line["group"].lstrip().startswith(tuple("=+-@"))


@given(NAMES | SPECIAL, NAMES | SPECIAL)
def test_markdown_tables_escape_names(verifier: str, group: str) -> None:
    text = accuracy_as(report(row(verifier), row(verifier, group)), TableForm(format="markdown"))
    lines = [line for line in text.split("\n") if line.startswith("|")]
    columns = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
    assert len(lines) == 5
    assert columns == {13}
    assert not re.search(r"(?<!\\)(?:\\\\)*[`<\[]", text.replace("\\\\", ""))


@given(NAMES | SPECIAL, NAMES | SPECIAL)
@example("[1cm]", "*")
@example("*", "[1cm]")
def test_latex_tables_escape_names(verifier: str, group: str) -> None:
    text = accuracy_as(report(row(verifier), row(verifier, group)), TableForm(format="latex"))
    body = text[text.index("\\midrule") : text.index("\\bottomrule")].split("\n")[1:-1]
    assert len(body) == 3
    for line in body:
        bare = line.removesuffix(" \\\\")
        assert bare != line
        # Eleven separators and nothing else that TeX obeys: braces balanced, no macro but those of characters.
        assert len(re.findall(r"(?<!\\)&", bare)) == 11
        assert "\\\\" not in bare
        assert not re.search(r"(?<!\\)[#%$]", bare)
        assert not re.match(r"\s*[\[*]", bare)
        assert bare.replace("\\{", "").replace("\\}", "").count("{") == bare.replace("\\{", "").replace(
            "\\}", ""
        ).count("}")


@given(st.text(st.sampled_from("\\{}$&#%_^~<>|[]*-=+@!()aéß0 "), min_size=1).filter(lambda text: text.strip() == text))
def test_latex_reads_back_as_the_name(name: str) -> None:
    text = accuracy_as(report(row(name)), TableForm(format="latex"))
    line = text[text.index("\\midrule\n") + len("\\midrule\n") :].split("\n")[0]
    read = LatexNodes2Text(keep_comments=True).latex_to_text(line.split(" & all (micro)")[0])
    assert str(read).replace(" ", "").replace("ˆ", "^") == name.replace(" ", "")


def test_sorting_moves_whole_verifiers_and_keeps_baselines_last() -> None:
    shown = report(
        *(row("b", accuracy=0.5, fpr=0.3), row("b", "g", accuracy=1.0)),
        *(row("a", accuracy=0.9, fpr=None), row("a", "g", accuracy=0.1)),
        *(row("C", accuracy=0.7, fpr=0.1), row("constant", kind="baseline", accuracy=0.99, fpr=0.0)),
    )
    assert [one.verifier for one in sorted_by(shown, "accuracy").rows] == ["a", "a", "C", "b", "b", "constant"]
    assert [one.verifier for one in sorted_by(shown, "name").averages] == ["a", "b", "C", "constant"]
    # Fewer false positives are better; without any figure is last.
    assert [one.verifier for one in sorted_by(shown, "fpr").averages] == ["C", "b", "a", "constant"]
    assert [one.group for one in sorted_by(shown, "accuracy").rows[:2]] == [None, "g"]
