"""The paper's tables 1 to 5, recomputed from the counts that its numbers imply: import, then the shipped tables."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.paper import made
from tests.paper.figures import BENCH, HARD, JUDGES, SCOUT, SKYWORK, SLIPS, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5
from workbench.app.cli import root
from workbench.core.taxonomy import type_name

Tables = Callable[..., str]
SHORT = ("Num", "Exp", "MC", "Str", "AVG")


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(root, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Return the command's output on a database into which items and verdicts were imported from files."""
    folder = tmp_path_factory.mktemp("paper")
    bench, hard = made.bench_items(), made.hard_items()
    run("import", folder / "p.db", made.write(folder / "bench.jsonl", bench), "--dataset", BENCH)
    run("import", folder / "p.db", made.write(folder / "hard.jsonl", hard), "--dataset", HARD)
    run("verdicts", folder / "p.db", "import", made.write(folder / "said.jsonl", made.verdicts(bench, hard)))
    return lambda *arguments: run("tables", folder / "p.db", "--paper", *arguments)


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def expected(table: str, row: str, column: str, printed: str) -> str:
    """Return the printed number, or the correct one where the paper has an error."""
    slip = SLIPS.get((table, row, column))
    if slip is None:
        return printed
    assert slip[0] == printed
    return slip[1]


def test_table_1_counts(tables: Tables) -> None:
    table = json.loads(tables("--table", "1", "--json"))["tables"][0]
    found = {(row["of"], row["group"]): tuple(row["counts"].values()) for row in table["rows"]}
    assert table["datasets"] == [BENCH, HARD]
    assert found == TABLE_1
    assert table["without_gold"] == {BENCH: 0, HARD: 0}


def test_table_2_accuracy(tables: Tables) -> None:
    head, *rows = lines(tables("--table", "2", "--format", "csv"))
    assert head == ["section", "Verifier", *(f"{name} {short}" for name in (BENCH, HARD) for short in SHORT)]
    found = {row[1]: row[2:] for row in rows}
    for name, cells in made.rows_of(TABLE_2).items():
        columns = [*SHORT, *(f"Hard {short}" for short in SHORT)]
        expected_cells = [expected("2", name, column, cell) for column, cell in zip(columns, cells, strict=True)]
        assert found[name] == expected_cells, name
    assert found["always-incorrect"][4::5] == ["50.00", "70.90"]
    assert not set(made.rows_of(TABLE_4)) & set(found), "scores without a threshold decide nothing"


def test_table_3_with_and_without_the_reference(tables: Tables) -> None:
    names = made.rows_of(TABLE_3)
    pairs = [part for name in names for part in ("--pair", f"{name}={name}{made.WITHOUT}")]
    table = json.loads(tables("--table", "3", "--dataset", BENCH, *pairs, "--json"))["tables"][0]
    text = tables("--table", "3", "--dataset", BENCH, *pairs, "--format", "csv")
    found = {row[0]: row[2:] for row in lines(text)[1:]}
    for name, (with_reference, without, delta) in names.items():
        expected_cells = [("with", with_reference), ("without", without), ("delta", delta)]
        assert found[name] == ["2000", *(expected("3", name, *cell) for cell in expected_cells)], name
    assert len(table["rows"]) == len(names)
    assert {row["n"] for row in table["rows"]} == {2000}
    assert (table["protocol"], table["average"]) == ("strict", "micro")


def test_table_4_pairs(tables: Tables) -> None:
    head, *rows = lines(tables("--table", "4", "--format", "csv"))
    assert head == ["Verifier", *(f"{BENCH} {short}" for short in SHORT)]
    assert {row[0]: row[1:] for row in rows} == {
        name: [expected("4", name, *cell) for cell in zip(SHORT, cells, strict=True)]
        for name, cells in made.rows_of(TABLE_4).items()
    }


def test_table_4_rejects_unpaired_items(tables: Tables) -> None:
    table = json.loads(tables("--table", "4", "--json"))["tables"][0]
    refused = {found["dataset"]: found["refused"] for found in table["sets"]}
    assert refused[BENCH] is None
    assert "of 945 questions" in refused[HARD]
    assert f"{HARD} is rejected" in " ".join(tables("--table", "4").split())


def test_table_5_subtypes(tables: Tables) -> None:
    chosen = [part for name in JUDGES.values() for part in ("--verifier", name)]
    head, *rows = lines(tables("--table", "5", "--dataset", BENCH, *chosen, "--format", "csv"))
    assert [head[0], *head[2::2]] == ["Answer type", *JUDGES.values()]
    found = {row[0]: [figure + delta for figure, delta in zip(row[2::2], row[3::2], strict=True)] for row in rows}
    assert found == {
        type_name(code): [expected("5", *cell) for cell in _cells(code, cells)]
        for code, cells in made.rows_of(TABLE_5).items()
    }


def _cells(code: str, cells: list[str]) -> list[tuple[str, str, str]]:
    return [(judge, code, cell) for judge, cell in zip(JUDGES, cells, strict=True)]


def test_table_5_json_has_every_difference(tables: Tables) -> None:
    table = json.loads(tables("--table", "5", "--dataset", BENCH, "--verifier", SCOUT, "--json"))["tables"][0]
    rows = [row for row in table["sets"][0]["rows"] if row["verifier"] == SCOUT]
    subtypes = [row for row in rows if row["group"] and len(row["group"]) == 2]
    assert len(subtypes) == 18
    assert all(isinstance(row["delta"], float) for row in subtypes)


def test_protocol_determines_the_metrics(tables: Tables) -> None:
    strict, forced = (
        {row[1]: row[2:] for row in lines(tables("--table", "2", "--format", "csv", "--protocol", protocol))}
        for protocol in ("strict", "forced")
    )
    assert strict["Qwen/Qwen3-8B"] != forced["Qwen/Qwen3-8B"]
    assert "Protocol forced" in tables("--table", "2", "--protocol", "forced")


def test_text_of_the_paper_has_errors_too(tables: Tables) -> None:
    rows = lines(tables("--table", "2", "--dataset", HARD, "--format", "csv"))[1:]
    hard = {row[1]: float(row[-1]) for row in rows}
    best = max(hard, key=lambda name: hard[name])
    assert (best, hard[best]) == (JUDGES["g4o"], 72.6), "the text says the best accuracy is 72.4"
    losses = sorted(float(cells[2]) for cells in made.rows_of(TABLE_3).values())
    assert (losses[0], losses[-1]) == (-19.0, 0.35), "the text says 5 to 18 % are lost"


def test_errors_are_in_the_paper_itself() -> None:
    assert all(printed != recomputed for printed, recomputed, _ in SLIPS.values())
    printed, _, _ = SLIPS["2", SCOUT, "Str"]
    assert printed not in {f"{100 * right / 500:.2f}" for right in range(501)}
    *columns, average = map(float, made.rows_of(TABLE_4)[SKYWORK])
    assert sum(columns) / 4 == pytest.approx(63.5)
    assert average != 63.5
    *columns, average = map(float, made.rows_of(TABLE_2)[SCOUT][:5])
    assert sum(columns) / 4 == pytest.approx(90.0125)
    assert average == 90.01


def test_package_contains_no_number_of_the_paper() -> None:
    """Distinctive numbers: those with two decimals that are not round."""
    figures = set(re.findall(r"\b\d\d\.\d[1-9]\b", TABLE_2 + TABLE_3 + TABLE_4 + TABLE_5))
    package = Path(__file__).resolve().parents[2] / "workbench"
    found = {
        f"{path.name}: {figure}"
        for path in package.rglob("*.py")
        for figure in re.findall(r"\b\d\d\.\d\d\b", path.read_text(encoding="utf-8"))
        if figure in figures
    }
    assert found == set()


@pytest.mark.few(4)
@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
def test_every_table_names_its_protocol(tables: Tables, form: str) -> None:
    text = " ".join(tables("--format", form).split())
    assert "97.60" in text
    if form != "csv":
        assert text.count("micro average") == 1 + 1 + 1 + 2
        assert text.count("rotocol strict") == 1 + 1 + 2
        assert all(f"Table {number}" in text for number in (1, 2, 3, 4, 5))
