"""Verifying batches: columns of lists, numpy, pandas and Arrow; a bad row affects no other verdict."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import workbench
from workbench.core.errors import UsageError
from workbench.core.reasons import REASONS
from workbench.training.batches import NOT_TEXT, Judge

COLUMNS: dict[str, Any] = {
    "question": ["What is 1 + 1?"] * 4,
    "answer": [r"\boxed{2}", r"\boxed{2}", r"\boxed{x^2-1}", r"\boxed{2}"],
    "completion": [r"\boxed{2}", r"\boxed{3}", r"\boxed{(x-1)(x+1)}", None],
}
VERDICTS = ["correct", "incorrect", "correct", None]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    made = workbench.Judge("rules")
    yield made
    made.close()


def test_verdicts_are_those_of_judge(judge: Judge) -> None:
    found = judge(COLUMNS)
    assert [*found] == ["question", "answer", "completion", "verdict", "score", "reason"]
    assert found["verdict"] == VERDICTS
    one = workbench.judge(COLUMNS["answer"][0], COLUMNS["completion"][0], COLUMNS["question"][0])
    assert (found["verdict"][0], found["score"][0], found["reason"][0]) == (one.outcome.word, one.score, one.reason)
    assert found["reason"][3] == NOT_TEXT
    assert NOT_TEXT in REASONS


def test_a_batch_keeps_its_container_type(judge: Judge) -> None:
    arrays = {name: np.array(values, dtype=object) for name, values in COLUMNS.items()}
    found = judge(arrays)
    assert found["verdict"].tolist() == VERDICTS
    assert found["score"].dtype == np.float64
    assert np.isnan(found["score"]).all()
    assert found["answer"] is arrays["answer"]
    frame = pd.DataFrame(COLUMNS, index=[7, 8, 9, 7])
    judged = judge(frame)
    assert judged["verdict"].tolist()[:3] == VERDICTS[:3]
    assert judged["verdict"].isna().tolist() == [False, False, False, True]
    assert judged.index.tolist() == [7, 8, 9, 7]
    assert "verdict" not in frame
    table = judge(pa.table(COLUMNS))
    assert table.column("verdict").to_pylist() == VERDICTS
    assert table.schema.field("score").type == pa.float64()


def test_bad_rows_have_no_verdict_and_the_others_theirs(judge: Judge) -> None:
    bad: list[Any] = [None, float("nan"), True, {"a": 1}, ["x"], object()]
    batch = {
        "question": ["q"] * 7,
        "answer": ["2"] * 7,
        "completion": [*bad, "2"],
    }
    assert judge(batch)["verdict"] == [None] * 6 + ["correct"]
    assert judge({**batch, "completion": ["2"] * 7, "answer": [*bad, 2]})["verdict"] == [None] * 6 + ["correct"]
    assert judge({name: [] for name in COLUMNS})["verdict"] == []


def test_conversations_are_read_as_rewards_read_them(judge: Judge) -> None:
    batch = {
        "question": [[{"role": "user", "content": "1+1?"}]],
        "ground_truth": ["2"],
        "completion": [[{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": r"\boxed{2}"}]],
    }
    assert judge(batch)["verdict"] == ["correct"]


def test_the_subtype_decides_what_brackets_mean(judge: Judge) -> None:
    batch = {"answer": ["(1,2)"] * 2, "completion": [r"\boxed{[1,2]}"] * 2, "subtype": ["B5", "A1"]}
    assert judge(batch)["verdict"] == ["correct", "incorrect"]


def test_columns_are_configurable_and_missing_ones_reported() -> None:
    with Closing(Judge("exact", question="ask", reference="gold", completion="reply", prefix="e_")) as judge:
        found = judge({"ask": ["q"], "gold": ["a"], "reply": ["a"], "verdict": [0]})
        assert (found["e_verdict"], found["verdict"]) == (["correct"], [0])
        with pytest.raises(UsageError, match="reply is missing"):
            judge({"gold": ["a"]})
        with pytest.raises(UsageError, match="gold is missing"):
            judge({"reply": ["a"]})
        with pytest.raises(UsageError, match="'e_score' already"):
            judge({"gold": ["a"], "reply": ["a"], "e_score": [1]})
        with pytest.raises(UsageError, match="is not a batch"):
            judge([1])


class Closing:
    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def __enter__(self) -> Judge:
        return self._judge

    def __exit__(self, *_: object) -> None:
        self._judge.close()


def test_a_copy_works_where_it_is_sent(judge: Judge) -> None:
    with Closing(pickle.loads(pickle.dumps(judge))) as copy:
        assert copy(COLUMNS)["verdict"] == VERDICTS


def test_neither_ray_nor_numpy_is_imported_for_plain_columns() -> None:
    program = (
        "import sys, workbench\n"
        "judge = workbench.Judge('exact')\n"
        "assert judge({'answer': ['a'], 'completion': ['a']})['verdict'] == ['correct']\n"
        "assert not {'ray', 'numpy', 'pandas', 'pyarrow'} & sys.modules.keys(), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_tests_are_references_where_solutions_are_run() -> None:
    code = "def double(a):\n    return 2 * a\n"
    batch = {
        "question": ["Double it."] * 4,
        "tests": [["assert double(4) == 8"], ["assert double(4) == 9"], None, [{"input": 1}]],
        "completion": [code] * 4,
    }
    with Closing(Judge("execution")) as judge:
        assert judge(batch)["verdict"] == ["correct", "incorrect", None, None]
