"""Importing one's data in one step: verdict columns, paths, chats, spreadsheets, missing values, kept columns."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import UNSET
from openpyxl import Workbook

from workbench.app.cli import root
from workbench.core.database.selection import check_names
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project, open_project
from workbench.core.run import VerdictColumn
from workbench.core.selection import GROUPS, TOLD, selection_of
from workbench.data.formats.fields import parse_map
from workbench.data.formats.verdict_words import parse_verdicts
from workbench.data.store.reading import sampling_frame
from workbench.interchange.import_report import ImportReport
from workbench.interchange.importing import import_files, plan_import, preview_import
from workbench.labelling.labels import import_labels
from workbench.measuring.accuracy import accuracy
from workbench.measuring.browsing import breakdowns
from workbench.measuring.columns import columns
from workbench.runs.verdict_files import import_verdicts, verdict_lines

HEADER = ["id", "question", "answer", "response", "human", "grader_says", "hint"]
ROWS = [
    ["a", "1+1?", "2", "It is 2.", "yes", "TRUE", "easy"],
    ["b", "1+2?", "3", "It is 4.", "no", "0", "easy"],
    ["c", "1+3?", "4", "It is 4.", "", "maybe", "hard"],
    ["d", "1+4?", "5", "It is 5.", "NaN", "N/A", "hard"],
]
MAPS = ["completion_id=id", "gold=human"]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p.db", create=True)
    yield opened
    opened.close()


def table(folder: Path, rows: list[list[str]] = ROWS, header: list[str] = HEADER, name: str = "own.csv") -> Path:
    file = folder / name
    with file.open("w", newline="") as out:
        csv.writer(out, delimiter="\t" if name.endswith(".tsv") else ",").writerows([header, *rows])
    return file


def sheet(folder: Path, rows: list[list[Any]], header: list[Any] = HEADER) -> Path:
    book = Workbook()
    page = book.active
    assert page is not None
    for row in [header, *rows]:
        page.append(row)
    book.save(folder / "own.xlsx")
    return folder / "own.xlsx"


def lines(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "own.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def taken(
    project: Project, file: Path, maps: list[str] = MAPS, verdicts: tuple[str, ...] = (), **options: Any
) -> ImportReport:
    plans = plan_import([file], columns=parse_map(maps), graders=parse_verdicts(verdicts), **options)
    return import_files(project, plans, dataset="d")


def verdicts_of(project: Project, verifier: str) -> dict[str, tuple[str, float | None]]:
    return {one.completion_id: (one.verdict, one.score) for one in verdict_lines(project, verifier)}


def texts(project: Project) -> list[tuple[str, str, str]]:
    return (
        project.database.reader().execute("SELECT question, reference, completion FROM item_texts ORDER BY item")
    ).fetchall()


@pytest.mark.parametrize("name", ["own.csv", "own.tsv"])
def test_a_column_becomes_a_verifier_with_a_complete_run(project: Project, tmp_path: Path, name: str) -> None:
    report = taken(project, table(tmp_path, name=name), verdicts=("regex=grader_says",))
    assert verdicts_of(project, "regex") == {"a": ("correct", None), "b": ("incorrect", None)}
    assert (report.imported, report.verdicts, report.verdicts_refused) == (4, 2, 1)
    assert report.verdict_columns == [
        VerdictColumn(
            verifier="regex",
            column="grader_says",
            correct=1,
            incorrect=1,
            missing=1,
            unknown=1,
            words={"maybe": 1},
        )
    ]
    (refused,) = report.refused_verdicts or []
    assert (refused.line, refused.field) == (4, "grader_says")
    assert "'maybe'" in refused.message
    again = taken(project, table(tmp_path, name=name), verdicts=("regex=grader_says",))
    assert (again.imported, again.verdicts, again.verdicts_unchanged) == (0, 0, 2)


WORDS: list[tuple[Any, str | None]] = [
    *((value, "correct") for value in ("true", "Yes", " CORRECT ", "1", "1.0", "pass")),
    *((value, "incorrect") for value in ("False", "no", "Incorrect", "0", "FAIL")),
    *((value, "correct") for value in (True, 1, 1.0)),
    *((value, "incorrect") for value in (False, 0, 0.0)),
    ("abstain", "abstain"),
    ("error", "error"),
    (None, None),
    *((value, None) for value in ("", "nan", "NaN", "NULL", "None", "n/a")),
    (float("nan"), None),
    *((value, "unknown") for value in ("maybe", "inf", "[]", "true false")),
    ([], "unknown"),
    ({"correct": True}, "unknown"),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("value", "verdict"), WORDS)
def test_one_table_defines_the_verdict_words(project: Project, tmp_path: Path, value: Any, verdict: str | None) -> None:
    row = {"completion_id": "c", "question": "q", "answer": "a", "response": "r", "grade": value}
    report = taken(project, lines(tmp_path, row), [], ("g=grade",))
    (column,) = report.verdict_columns or []
    assert getattr(column, "missing" if verdict is None else verdict) == 1
    if verdict in (None, "unknown"):
        assert report.verdicts == 0
    else:
        assert verdicts_of(project, "g") == {"c": (verdict, None)}


@pytest.mark.parametrize("value", ["1e400", "9" * 5000, "[" * 900 + "]" * 900])
def test_invalid_values_are_unknown_rather_than_missing(project: Project, tmp_path: Path, value: str) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(f'{{"question": "q", "answer": "a", "response": "r", "grade": {value}}}\n')
    report = taken(project, file, [], ("g=grade",))
    (column,) = report.verdict_columns or []
    assert (report.imported, column.unknown, column.missing) == (1, 1, 0)


def test_numbers_other_than_0_and_1_are_scores(project: Project, tmp_path: Path) -> None:
    rows = [[*row[:5], score, ""] for row, score in zip(ROWS, ["0.9", "1", "-3e-1", "nan"], strict=True)]
    report = taken(project, table(tmp_path, rows), verdicts=("rm=grader_says",))
    assert verdicts_of(project, "rm") == {"a": ("abstain", 0.9), "b": ("abstain", 1.0), "c": ("abstain", -0.3)}
    (column,) = report.verdict_columns or []
    assert (column.scored, column.missing) == (3, 1)


def test_missing_values_are_counted_and_other_columns_listed(project: Project, tmp_path: Path) -> None:
    report = taken(project, table(tmp_path))
    assert report.missing == {"human": 2}
    assert report.kept == ["grader_says", "hint"]
    gold = project.database.reader().execute("SELECT completion_id, gold FROM items ORDER BY item").fetchall()
    assert gold == [("a", 1), ("b", 0), ("c", None), ("d", None)]


def test_a_preview_counts_the_same_and_writes_nothing(tmp_path: Path) -> None:
    plans = plan_import([table(tmp_path)], columns=parse_map(MAPS), graders={"regex": "grader_says"})
    report = preview_import(None, plans)
    (column,) = report.verdict_columns or []
    assert (column.correct, column.words) == (1, {"maybe": 1})
    assert report.first is not UNSET
    assert [(row.line, row.question, row.reference, row.completion, row.gold) for row in report.first] == [
        (2, "1+1?", "2", "It is 2.", True),
        (3, "1+2?", "3", "It is 4.", False),
        (4, "1+3?", "4", "It is 4.", None),
    ]


def test_a_verdict_needs_a_column_and_a_unique_name(project: Project, tmp_path: Path) -> None:
    file = table(tmp_path)
    for verdicts, message in (
        (("regex=nope",), "there is no column 'nope'"),
        (("rules=grader_says",), "runs here"),
        (("a b=grader_says",), "not a valid verifier name"),
        (("regex",), "is not a FIELD=COLUMN pair"),
        (("r=hint", "r=human"), "twice"),
    ):
        with pytest.raises(UsageError, match=message):
            taken(project, file, verdicts=verdicts)
    assert texts(project) == []


CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "5"},
    {"role": "user", "content": "Sure? 2+2?"},
    {"role": "assistant", "content": [{"type": "text", "text": "4"}]},
]


@pytest.mark.parametrize(
    "maps",
    [
        ["question=prompt.0.content", "reference=meta.key.answer", "completion=choices.0.message.content"],
        ["question=prompt[-1].content", "reference=meta.key.answer", "completion=messages[-1].content[0].text"],
        ["question=prompt", "reference=meta.key.answer", "completion=messages"],
    ],
)
def test_paths_and_chats_lead_to_texts(project: Project, tmp_path: Path, maps: list[str]) -> None:
    row = {
        "prompt": CHAT[1:2],
        "meta.key": {"answer": "4", "ok": True},
        "messages": CHAT,
        "choices": [{"message": {"content": "4"}}],
    }
    report = taken(project, lines(tmp_path, row), maps, ("g=meta.key.ok",))
    assert texts(project) == [("2+2?", "4", "4")]
    assert [verdict for verdict, _ in verdicts_of(project, "g").values()] == ["correct"]
    assert report.kept == list(row)


def test_a_chat_is_read_as_the_last_turn_of_its_speaker(project: Project, tmp_path: Path) -> None:
    file = lines(tmp_path, {"m": CHAT, "answer": "4"}, {"m": CHAT[:2], "answer": "4"})
    report = taken(project, file, ["question=m[3].content", "completion=m"])
    assert texts(project) == [("Sure? 2+2?", "4", "4")]
    (refused,) = report.quarantine
    assert (refused.line, refused.code) == (2, "missing_field")
    assert report.mapping["completion"] == "m (last assistant turn)"


@pytest.mark.parametrize("path", ["m[99].content", "m.x", "m[", "m..0", ".m", "m[0]x", "m[99999999999].content"])
def test_a_path_that_leads_nowhere_is_rejected_with_a_message(project: Project, tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError, match="there is no column"):
        taken(project, lines(tmp_path, {"m": CHAT, "answer": "4", "q": "?"}), ["question=q", f"completion={path}"])


def test_a_nan_of_python_is_a_missing_value(project: Project, tmp_path: Path) -> None:
    row = {"question": 'NaN or "NaN"?', "answer": "a NaN", "response": "r", "gold": float("nan"), "loss": float("nan")}
    report = taken(project, lines(tmp_path, row), [])
    assert (report.imported, report.missing) == (1, {"gold": 1})
    assert texts(project) == [('NaN or "NaN"?', "a NaN", "r")]


def test_a_spreadsheet_is_read_as_displayed(project: Project, tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        [1, "1+1?", 2, "It is 2.", True, 1, "easy"],
        [2, "1+2?", 0.5, "=1+1", False, "no"],
        [],
        [3, "1+3?", 4.0, "It is 4.", None, None, None],
    ]
    report = taken(project, sheet(tmp_path, rows), verdicts=("regex=grader_says",))
    assert texts(project) == [("1+1?", "2", "It is 2."), ("1+3?", "4", "It is 4.")]
    # A formula that no program has worked out yet shows nothing.
    (refused,) = report.quarantine
    assert (refused.line, refused.field, "=1+1 without a stored value" in refused.message) == (3, "response", True)
    assert report.format == "xlsx"
    assert verdicts_of(project, "regex") == {"1": ("correct", None)}


def test_a_formula_without_a_value_is_no_verdict(project: Project, tmp_path: Path) -> None:
    rows: list[list[Any]] = [[1, "1+1?", 2, "It is 2.", True, "=1=1", "easy"], [2, "1+2?", 3, "3", None, 1, "=1"]]
    report = taken(project, sheet(tmp_path, rows), verdicts=("regex=grader_says",))
    assert report.imported == 2
    assert verdicts_of(project, "regex") == {"2": ("correct", None)}
    (refused,) = report.refused_verdicts or []
    assert (refused.line, refused.field, "'=1=1' is not a word" in refused.message) == (2, "grader_says", True)


@pytest.mark.parametrize("damage", ["cut", "empty", "zip", "wide", "no header"])
def test_a_spreadsheet_that_is_none_is_rejected_with_a_message(project: Project, tmp_path: Path, damage: str) -> None:
    header = [] if damage == "no header" else HEADER
    file = sheet(tmp_path, [] if damage in ("empty", "no header") else [[*ROWS[0], "x"]], header)
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:2000])
    elif damage == "zip":
        file.write_bytes(b"PK\x03\x04" + b"\0" * 100)
    if damage == "empty":
        assert taken(project, file).read == 0
    elif damage == "wide":
        (refused,) = taken(project, file).quarantine
        assert (refused.line, refused.code) == (2, "bad_csv")
    else:
        with pytest.raises(FormatError, match=r"spreadsheet|header row"):
            taken(project, file)


def test_a_missing_spreadsheet_reader_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FormatError) as caught:
        plan_import([sheet_file(tmp_path)])
    assert "verifier-workbench[xlsx]" in str(caught.value)


def sheet_file(folder: Path) -> Path:
    return sheet(folder, [list(row) for row in ROWS])


KEPT: list[dict[str, Any]] = [
    {"level": "easy", "len": 5},
    {"level": "easy", "len": 7.5},
    {"level": "hard", "len": "x"},
    {"level": True, "len": 1e-05},
    {},
]
LEVELS: list[dict[str, Any]] = [
    {"completion_id": f"{n}", "question": f"{n}?", "answer": "1", "response": "1", "gold": n < 4, **kept}
    for n, kept in enumerate(KEPT, 1)
]


def chosen(project: Project, *where: str) -> list[str]:
    found = sampling_frame(project.database.reader(), check_names(project.database.reader(), selection_of(where)))
    keys = dict(project.database.reader().execute("SELECT id, key FROM completions"))
    return [keys[item] for item in found.item.tolist()]


def test_a_kept_column_can_be_filtered(project: Project, tmp_path: Path) -> None:
    taken(project, lines(tmp_path, *LEVELS), [])
    assert chosen(project, "column:level=easy") == ["1", "2"]
    assert chosen(project, "column:level!=easy") == ["3", "4", "5"]
    assert chosen(project, "column:level=true") == ["4"]
    assert chosen(project, "column:level=") == ["5"]
    assert chosen(project, "column:len>5") == ["2"]
    assert chosen(project, "column:len<6", "column:level=easy") == ["1"]
    assert chosen(project, "column:len<1") == ["4"]


@pytest.mark.parametrize("field", ["column:levl", "column:", "column:\"'; DROP TABLE completions; --"])
def test_a_column_that_nobody_has_is_rejected_with_a_message(project: Project, tmp_path: Path, field: str) -> None:
    taken(project, lines(tmp_path, *LEVELS), [])
    with pytest.raises(UsageError, match=r"No item has a column|is not a valid condition|Unknown field"):
        chosen(project, f"{field}=x")
    with pytest.raises(UsageError, match="No item has a column"):
        columns(project).groups(field)


def test_metrics_can_be_grouped_by_a_kept_column(project: Project, tmp_path: Path) -> None:
    rows = [{**row, "grade": "yes"} for row in LEVELS]
    taken(project, lines(tmp_path, *rows), [], ("g=grade",))
    report = accuracy(project, verifiers=("g",), by="column:level")
    assert {row.group: (row.n, row.accuracy) for row in report.rows if row.verifier == "g"} == {
        None: (5, 0.6),
        "easy": (2, 1.0),
        "hard": (1, 1.0),
        "true": (1, 0.0),
        "": (1, 0.0),
    }
    crossed = columns(project).groups("column:level,column:len")
    assert ("easy", "7.5") in crossed.parts
    taken(project, lines(tmp_path, {**LEVELS[0], "completion_id": "new", "level": "new"}), [])
    assert "new" in columns(project).groups("column:level").names


def test_a_columns_name_may_hold_commas_and_spaces(project: Project, tmp_path: Path) -> None:
    taken(project, lines(tmp_path, *({**row, "a, b ": "x"} for row in LEVELS)), [])
    assert columns(project).groups("column:a, b ").names == ("", "x")
    assert ("x", "easy") in columns(project).groups("column:a, b ,column:level").parts
    with pytest.raises(UsageError, match="can't be broken down by 'nothing'"):
        columns(project).groups("type,nothing")


def test_columns_with_few_values_are_offered_as_breakdowns(project: Project, tmp_path: Path) -> None:
    told = tuple(by for by in GROUPS if by not in TOLD)
    assert breakdowns(project) == told
    rows = [{**LEVELS[0], "completion_id": f"{n}", "own": f"{n}", "level": n % 3} for n in range(40)]
    taken(project, lines(tmp_path, *rows), [])
    assert breakdowns(project) == (*told, "column:level")


def test_a_column_of_ids_is_not_a_grouping(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.data.store.columns._MAX_VALUES", 2)
    taken(project, lines(tmp_path, *LEVELS), [])
    with pytest.raises(UsageError, match="more than 2 values"):
        columns(project).groups("column:level")


TOPICS = ["arithmetic", "fractions", "equations", "facts", "units", ""]
OF_TOPICS = [["q?", str(number), f"It is {number}.", topic] for number, topic in enumerate(TOPICS)]
TOPIC_HEADER = ["question", "answer", "response", "topic"]


def test_values_that_are_no_answer_type_are_counted_and_kept(project: Project, tmp_path: Path) -> None:
    file = table(tmp_path, OF_TOPICS, TOPIC_HEADER)
    maps = ["subtype=topic"]
    seen = preview_import(project, plan_import([file], columns=parse_map(maps)))
    report = taken(project, file, maps)
    assert seen.type_columns == report.type_columns
    (column,) = report.type_columns or []
    assert (column.values, column.unknown, column.words) == (
        5,
        4,
        dict.fromkeys(["arithmetic", "fractions", "facts", "units"], 1),
    )
    assert column.description.startswith(
        "4 of 5 values of topic are not answer types (arithmetic, fractions, facts, …): take it"
    )
    assert report.kept == ["topic"]
    kept = project.database.reader().execute("SELECT extra FROM completion_text ORDER BY 1").fetchall()
    assert {json.loads(extra)["topic"] for (extra,) in kept} == set(TOPICS)


def test_values_that_are_no_answer_type_are_kept_on_any_row(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.data.formats.reading.SAMPLE_ROWS", 2)
    rows = [["q?", f"{n}", f"{n}", kind] for n, kind in enumerate(["A1", "B2", "C1", "geometry", "D1", "geometry"])]
    file = table(tmp_path, rows, TOPIC_HEADER)
    seen = preview_import(project, plan_import([file], columns=parse_map(["subtype=topic"])))
    report = taken(project, file, ["subtype=topic"])
    assert seen.kept == report.kept == ["topic"]
    groups = columns(project).groups("column:topic")
    assert groups.names == ("", "geometry")
    assert groups.code.tolist() == [0, 0, 0, 1, 0, 1]
    assert taken(project, file, ["subtype=topic"]).unchanged == 6
    questions = [{"question": f"{n}?", "answer": "1", "type": kind} for n, kind in enumerate(["A", "B", "shapes"])]
    assert taken(project, lines(tmp_path, *questions), []).kept == ["type"]


def test_known_types_need_no_message(project: Project, tmp_path: Path) -> None:
    report = taken(project, table(tmp_path, [["q?", "1", "1", "B2"]], TOPIC_HEADER), ["subtype=topic"])
    assert (report.type_columns, report.kept) == (UNSET, UNSET)


def test_a_column_is_the_domain_and_stays_with_the_items(project: Project, tmp_path: Path) -> None:
    report = taken(project, table(tmp_path, OF_TOPICS, TOPIC_HEADER), ["domain=topic"])
    assert (report.imported, report.kept) == (6, ["topic"])
    names = project.database.reader().execute("SELECT domain, name FROM sources ORDER BY 1").fetchall()
    assert names == [(topic, f"{topic}/unknown") for topic in sorted(TOPICS) if topic]


STRANGE = ["Nr", "Task (en)", "Expected", "Model's output", "human says", "grader"]
OF_STRANGE = [[f"{n}", "1+1?", "2", "It is 2.", "yes" if n % 2 else "no", "no" if n % 3 else "yes"] for n in range(6)]


def test_a_missing_column_gets_suggestions(tmp_path: Path) -> None:
    file, database = table(tmp_path, OF_STRANGE, STRANGE), str(tmp_path / "new.db")

    def imported(*maps: str) -> str:
        words = [word for one in maps for word in ("--map", one)]
        return CliRunner().invoke(root, ["import", database, str(file), *words], catch_exceptions=False).output

    with pytest.raises(FormatError, match="no column holds the question") as found:
        imported()
    assert "--map question=COLUMN --map reference=Expected --map 'completion=Model'\"'\"'s output'?" in str(found.value)
    maps = ("question=Task (en)", "reference=Expected", "completion=Model's output")
    meant = "no column was found for gold. Did you mean --map 'gold=human says' --verdict grader=grader?"
    assert meant in imported(*maps)
    assert "Did you mean" not in imported(*maps, "gold=human says")


def test_a_grader_column_besides_gold_is_suggested_as_a_verifier(tmp_path: Path) -> None:
    rows = [[f"{n}?", "2", "It is 2.", "yes", "no" if n % 3 else "yes", str(n % 2)] for n in range(6)]
    file = table(tmp_path, rows, ["question", "reference", "completion", "gold", "is_correct", "has_image"])

    def imported(*words: str) -> str:
        line = ["import", str(tmp_path / "new.db"), str(file), *words]
        return CliRunner().invoke(root, line, catch_exceptions=False).output

    offer = "--verdict is_correct=is_correct"
    output = imported()
    assert f"import again with {offer}\n" in output
    assert "has_image=" not in output
    again = imported(*offer.split())
    assert "Verdicts: 6 imported" in again
    assert "import again" not in again


def test_type_and_model_columns_are_suggested_by_their_values(tmp_path: Path) -> None:
    rows = [[f"{n}?", "2", "It is 2.", "yes", f"m{n % 2}", "B4 - Set", f"{n % 2}", "A"] for n in range(6)]
    file = table(tmp_path, rows, ["question", "reference", "completion", "gold", "llm", "kind", "judge llm", "letter"])
    output = CliRunner().invoke(root, ["import", str(tmp_path / "new.db"), str(file)], catch_exceptions=False).output
    assert "no column was found for model, subtype. Did you mean --map model=llm --map subtype=kind?" in output
    maps = ["--map", "model=llm", "--map", "subtype=kind"]
    output = CliRunner().invoke(root, ["import", str(tmp_path / "two.db"), str(file), *maps]).output
    assert "Did you mean" not in output


@pytest.mark.soak
def test_a_column_that_numbers_samples_of_a_question_is_offered_as_their_id(tmp_path: Path) -> None:
    header = ["id", "question", "answer", "response", "grade"]
    file = table(tmp_path, [[f"{n}", f"{n % 3}+1?", "2", "It is 2.", f"g{n}"] for n in range(6)], header)

    def imported(name: str, *words: str) -> str:
        line = ["import", str(tmp_path / name), str(file), *words]
        return CliRunner().invoke(root, line, catch_exceptions=False).output

    output = imported("a.db")
    assert "3 imported, 0 unchanged, 3 quarantined" in output
    assert "no column was found for completion_id. Did you mean --map completion_id=id?" in output
    assert "'0+1?' has another id and grade than the row of the same question" in output
    output = imported("b.db", "--map", "completion_id=id")
    assert "6 imported, 0 unchanged, 0 quarantined" in output
    table(tmp_path, [[f"{n}", f"{n}+1?", "2", "It is 2.", "g"] for n in range(6)], header)
    assert "Did you mean" not in imported("c.db")


GRADED = ["completion_id", "question", "answer", "response", "is_correct"]


def graded(folder: Path, header: list[str] = GRADED) -> Path:
    rows = [[f"c{n}", f"{n}+1?", str(n + 1), "It is 2.", str(n % 3 > 0), str(n % 2 > 0)] for n in range(12)]
    return table(folder, [row[: len(header)] for row in rows], header)


def test_a_grade_needs_an_option_to_be_gold_or_a_verdict(tmp_path: Path) -> None:
    file = graded(tmp_path)

    def imported(name: str, *words: str) -> str:
        return (
            CliRunner().invoke(root, ["import", str(tmp_path / name), str(file), *words], catch_exceptions=False).output
        )

    output = imported("a.db")
    assert "Gold: none" in output
    advised = re.search(r"Did you mean (--verdict \S+) \(or (--map \S+) if people gave these verdicts\)", output)
    assert advised is not None
    for option, counts in zip(
        advised.groups(), (f"{'is_correct'}: run 1", "Gold: the column 'is_correct'."), strict=True
    ):
        found = imported(f"{option[2]}.db", *option.split())
        assert counts in found
        assert "Did you mean" not in found


@pytest.mark.parametrize("column", ["gold", "gold_correct", "label"])
def test_a_verifiers_column_is_not_gold_too(project: Project, tmp_path: Path, column: str) -> None:
    report = taken(project, graded(tmp_path, [*GRADED[:4], column]), [], (f"g={column}",))
    assert "gold" not in report.mapping
    assert report.verdicts == 12
    with pytest.raises(UsageError, match="both gold and a verifier's"):
        taken(project, graded(tmp_path, [*GRADED[:4], column]), [f"gold={column}"], (f"g={column}",))


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "n"), [("is_correct", 0), ("Is correct", 0), ("other", 12)])
def test_gold_is_not_measured_by_the_column_it_was_read_from(
    project: Project, tmp_path: Path, name: str, n: int
) -> None:
    taken(project, graded(tmp_path), ["gold=is_correct"])
    import_verdicts(
        project, table(tmp_path, [[f"c{n}", str(n % 3 > 0)] for n in range(12)], ["completion_id", name], "v.csv")
    )
    report = accuracy(project)
    (row,) = [row for row in report.rows if row.kind == "verifier"]
    assert (row.n, row.accuracy) == (n, 1.0 if n else None)
    assert any("is not measured on 12 items" in note for note in report.notes) is (not n)


def test_other_gold_is_measured_by_a_column_that_gold_was_read_from_elsewhere(project: Project, tmp_path: Path) -> None:
    import_files(project, plan_import([graded(tmp_path)], columns={"gold": "is_correct"}), dataset="one")
    rows = [[f"d{n}", f"{n}+2?", str(n + 2), "It is 2.", str(n % 2 > 0), str(n % 3 > 0)] for n in range(12)]
    other = table(tmp_path, rows, [*GRADED[:4], "gold", "is_correct"], "two.csv")
    import_files(project, plan_import([other], graders={"is_correct": "is_correct"}), dataset="two")
    (row,) = [row for row in accuracy(project).rows if row.kind == "verifier"]
    assert (row.n, row.accuracy) == (12, 0.5)


SPELLED = [("Correct", "WRONG"), ("TRUE", "FALSE"), (1, 0), (1.0, 0.0), ("Yes", "No"), (True, False)]


@pytest.mark.parametrize("spelled", SPELLED)
def test_gold_is_read_equally_in_every_file(project: Project, tmp_path: Path, spelled: tuple[Any, Any]) -> None:
    rows = [dict(zip(GRADED[:4], (f"c{n}", f"{n}?", "2", "2"), strict=True)) | {"gold": spelled[n]} for n in (0, 1)]
    taken(project, lines(tmp_path, *rows), [])
    taken(project, table(tmp_path, [[*map(str, row.values())] for row in rows], [*rows[0]]), [])
    read = project.database.reader()
    assert read.execute("SELECT imported_gold FROM completions ORDER BY id").fetchall() == [(1,), (0,)]
    assert read.execute("SELECT count(*) FROM quarantine").fetchone() == (0,)


@pytest.mark.parametrize("scale", ["12345", "2210", "ABCDF"])
def test_grades_of_another_scale_are_neither_gold_nor_verdicts(project: Project, tmp_path: Path, scale: str) -> None:
    rows = [[f"c{n}", f"{n}?", "2", "It is 2.", one] for n, one in enumerate(scale)]
    file = table(tmp_path, rows, [*GRADED[:4], "label"])
    with pytest.raises(UsageError, match="has other grades than right and wrong"):
        taken(project, file, ["gold=label"])
    report = taken(project, file, [], ("v=label",))
    assert "gold" not in report.mapping
    (column,) = report.verdict_columns or []
    assert (column.correct, column.incorrect, column.scored + column.unknown) == (0, 0, len(scale))
    given = [[f"c{n}", one] for n, one in enumerate(scale + "FFF111")]
    with pytest.raises(FormatError, match="no column has known words"):
        import_labels(project, table(tmp_path, given, ["completion_id", "ann"], "l.csv"))


def test_letters_that_are_words_for_verdicts_are_gold(project: Project, tmp_path: Path) -> None:
    rows = [[f"c{n}", f"{n}?", "2", "It is 2.", one] for n, one in enumerate("TFynu")]
    report = taken(project, table(tmp_path, rows, [*GRADED[:4], "gold"]), [])
    assert (report.imported, report.reasons) == (4, {"wrong_type": 1})
