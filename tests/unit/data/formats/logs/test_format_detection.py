"""Every supported format is recognised by the start of its file."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.documents import ROOT
from tests.unit.data.formats.code.documented_rows import EXAMPLES as CODE
from tests.unit.data.formats.logs.documented_logs import EXAMPLES, FILES
from workbench.core.item import Refusal
from workbench.data.formats import kinds
from workbench.data.formats.logs.logged import Format, Grade, Logged, constant_reader
from workbench.data.formats.reading import plan_file, read_grades, read_records

LOGS = {name for name, kind in kinds.KINDS.items() if not kind.is_code}
WRITTEN: dict[str, str] = {
    "tests/data/logs/openai_batch/output.jsonl": "openai-batch",
    "tests/data/logs/rewardbench/sample-equations-rm_outputs.jsonl": "rewardbench",
    "tests/data/logs/fields/xverify.json": "xverify",
    "tests/data/logs/fields/verifierbench.jsonl": "compassverifier",
    "tests/data/logs/trl/completions/completions_00010.parquet": "trl-completions",
    "tests/data/logs/verl/20.jsonl": "verl-rollouts",
    "tests/data/logs/verl/responses.parquet": "verl-responses",
    "tests/data/label_studio/made.json": "label-studio",
    "tests/data/argilla/made.json": "argilla",
    "sample_data/tuples.jsonl": "verifybench",
    "sample_data/code_problems.jsonl": "problems",
    "sample_data/code_solutions.jsonl": "solutions",
}
PLAIN: dict[str, tuple[dict[str, Any], str]] = {
    "an answer a row": ({"question": "Q", "answer": "1", "response": "1"}, "jsonl"),
    "prompts and outputs with a step": ({"prompt": "Q", "completion": "1", "answer": "1", "step": 3}, "jsonl"),
    "inputs and outputs": ({"input": "x", "question": "Q", "output": "1", "gold_answer": "1"}, "jsonl"),
    "a source and a score": ({"data_source": "s", "prompt": "Q", "output": "1", "answer": "1", "score": 1}, "jsonl"),
    "questions": ({"question": "Q", "answer": "1", "source": "s/t"}, "questions"),
}
BY_FOLDER = {"lm_eval": "lm-eval", "inspect": "inspect"}
WRITTEN |= {
    str(file.relative_to(ROOT)): format
    for folder, format in BY_FOLDER.items()
    for file in sorted((FILES / folder).rglob("*"))
    if file.suffix in (".jsonl", ".eval") or (folder == "inspect" and file.suffix == ".json")
}
EVERY = [*WRITTEN.items(), *((f"{name} (example)", name) for name in (*EXAMPLES, *CODE))]


def first_row(name: str) -> dict[str, Any]:
    row: dict[str, Any] = {**EXAMPLES, **CODE}[name.removesuffix(" (example)")]
    return row


@pytest.mark.parametrize(("name", "format"), EVERY, ids=[name for name, _ in EVERY])
def test_a_format_is_recognised_by_the_first_row(name: str, format: str, tmp_path: Path) -> None:
    file = ROOT / name
    if name.endswith("(example)"):
        file = tmp_path / "rows.jsonl"
        file.write_text(json.dumps(first_row(name)) + "\n")
    assert plan_file(file).format == format


@pytest.mark.parametrize("name", PLAIN)
def test_plain_rows_are_no_logs(name: str, tmp_path: Path) -> None:
    row, format = PLAIN[name]
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n")
    assert plan_file(file).format == format


@pytest.mark.parametrize("name", [*EXAMPLES, *CODE])
def test_a_row_is_recognised_by_exactly_one_kind(name: str) -> None:
    row = first_row(name)
    recognised = [kind for kind in LOGS if kinds.KINDS[kind].recognises(row)]
    # A data set with responses is one without, and more, and so is what an evolution exports; code is looked for first.
    more = ("verl-responses", "evolved")
    alone = [kind for kind in recognised if name not in more or kind != "verl-dataset"]
    assert alone == ([name] if name in EXAMPLES else [])
    tokens = msgspec.json.decode(msgspec.json.encode(row), type=dict[str, msgspec.Raw])
    assert kinds.detect_rows(list(row), [tokens]) == name


@pytest.mark.parametrize(("document", "names"), [("formats", LOGS), ("code-formats", kinds.KINDS.keys() - LOGS)])
def test_every_format_is_documented(document: str, names: Collection[str]) -> None:
    text = (ROOT / "docs" / f"{document}.md").read_text(encoding="utf-8")
    assert set(names) - set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)) == set()


def test_every_format_has_a_row_that_loads(tmp_path: Path) -> None:
    assert set(EXAMPLES) == LOGS - {"lm-eval", "inspect"}
    for name, row in EXAMPLES.items():
        file = tmp_path / "rows.jsonl"
        file.write_text(json.dumps(row) + "\n")
        with read_records(plan_file(file)) as (records, _):
            found = list(records)
        codes = [record.code for record in found if isinstance(record, Refusal)]
        assert found
        # The log has no question for this answer.
        assert codes == (["unknown_request"] if name == "openai-batch" else [])


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_row_in_a_list_and_packed(name: str, tmp_path: Path) -> None:
    listed = tmp_path / "rows.json"
    listed.write_text(json.dumps([EXAMPLES[name]], indent=1))
    assert plan_file(listed).format == name


def test_a_new_format_is_a_kind_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(row: Mapping[str, Any]) -> Iterator[Logged]:
        yield Logged(
            item={"question": row["ask"], "reference": row["key"], "completion": row["say"]},
            grades=(Grade(verifier="new", verdict="correct"),),
        )

    kind = Format(name="new", keys=({"ask", "key", "say"},), begin=constant_reader(read))
    monkeypatch.setitem(kinds.KINDS, kind.name, kind)
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"ask": "Q", "key": "1", "say": "It is 1."}) + "\n")
    ((found, grades),) = read_grades(plan_file(file))
    assert (found.question, found.completion, grades) == ("Q", "It is 1.", (Grade(verifier="new", verdict="correct"),))
