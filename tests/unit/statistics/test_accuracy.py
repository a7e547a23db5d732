"""The accuracy table: rows, order, JSON, and the published arithmetic."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.statistics.clustered import by_hand, design_effect
from workbench.core.taxonomy import SUBTYPES, TYPES
from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows, group_order
from workbench.statistics.confusion import count
from workbench.statistics.records.report import AccuracyReport, AccuracyRow

PROTOCOLS: tuple[Protocol3, ...] = get_args(Protocol3)
NAMES = ("B1", "untyped", "A2", "A10")
ROW = st.tuples(st.integers(-1, 3), st.integers(-1, 1), st.integers(0, 6), st.integers(0, 3))

# VerifyBench, arXiv 2505.15801, table 2: per cent right by type (A, B, C, D) and their average,
# on the balanced set and on the hard set.
BALANCED = (500, 500, 500, 500)
HARD = (252, 88, 430, 230)
TABLE_2 = """
math-verify 83.60 72.00 19.40 8.60 45.90 76.19 82.95 8.37 10.43 32.50
gpt-4o-2024-11-20 94.80 90.20 96.80 90.80 93.15 71.43 65.91 75.35 71.30 72.60
gpt-4o-mini 95.80 89.80 95.80 90.00 92.85 69.05 72.73 74.19 72.17 72.30
Llama-4-Scout-17B-16E-Instruct 94.20 86.80 89.80 89.25 90.01 48.02 39.77 46.98 55.22 48.50
Llama-3.3-70B-Instruct 88.80 77.80 88.40 78.00 83.25 54.37 45.45 60.70 47.39 54.70
Llama-3.1-8B-Instruct 72.20 70.60 77.00 72.40 73.05 51.19 35.23 45.12 33.91 43.20
Llama-3.2-3B-Instruct 65.80 63.60 56.80 57.60 60.95 33.33 28.41 38.84 27.39 33.90
Llama-3.2-1B-Instruct 44.40 41.00 37.60 53.60 44.15 22.22 13.64 29.07 27.39 25.60
Qwen3-235B-A22B 96.40 92.40 97.00 89.40 93.80 70.24 72.73 70.93 69.57 70.60
Qwen3-30B-A3B 96.60 91.80 97.40 90.20 94.00 64.68 70.45 69.53 56.52 65.40
Qwen2.5-72B-Instruct 95.40 89.80 95.60 88.60 92.35 70.63 60.23 61.40 56.09 62.40
Qwen3-32B 97.60 94.00 99.00 92.60 95.80 69.05 81.82 68.14 77.83 71.80
Qwen3-8B 96.40 93.00 96.20 90.40 94.00 68.65 78.41 73.02 66.52 70.90
Qwen3-4B 95.20 91.60 93.60 87.60 92.00 71.03 62.50 75.58 71.74 72.40
Qwen3-1.7B 83.20 81.00 80.60 79.60 81.10 48.81 38.64 60.93 41.74 51.50
phi-4 92.60 86.40 93.00 85.40 89.35 59.52 57.95 54.19 57.39 56.60
Yi-1.5-9B-Chat-16K 90.40 87.40 88.00 85.00 87.70 65.48 63.64 62.09 54.78 61.40
gemma-3-1b-it 55.40 56.20 43.00 56.00 52.65 32.14 19.32 33.72 40.87 33.70
"""


def _columns(rows: list[tuple[int, int, int, int]]) -> AccuracyColumns:
    outcome, gold, question, group = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return AccuracyColumns(
        outcome=outcome.astype(np.int8),
        gold=gold.astype(np.int8),
        question=question,
        group=group.astype(np.int32),
        names=NAMES,
    )


def _published() -> list[Any]:
    cases = []
    for line in TABLE_2.split("\n")[1:-1]:
        name, *figures = line.split()
        for set_name, sizes, of_set in (("balanced", BALANCED, figures[:5]), ("hard", HARD, figures[5:])):
            # 89.25 % of 500 rows is no whole number: a slip in the paper's own table.
            if "89.25" not in of_set:
                cases.append(pytest.param(sizes, [float(f) for f in of_set], id=f"{name}-{set_name}"))
    return cases


@pytest.mark.parametrize(("sizes", "figures"), _published())
def test_published_averages_are_micro_means_of_the_types(sizes: tuple[int, ...], figures: list[float]) -> None:
    group = np.repeat(np.arange(4, dtype=np.int32), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    right = np.repeat([round(size * figure / 100) for size, figure in zip(sizes, figures, strict=False)], sizes)
    gold = (np.arange(len(group)) % 3 == 0).astype(np.int8)
    # Unreadable verdicts are not right: they are errors under the strict protocol.
    outcome = np.where(place < right, gold, OutcomeCode.ABSTAIN).astype(np.int8)
    columns = AccuracyColumns(
        outcome=outcome, gold=gold, question=np.arange(len(group)), group=group, names=tuple(TYPES)
    )
    average, *by_type = accuracy_rows("v", columns, "strict")
    assert [row.group for row in by_type] == list(TYPES)
    assert [round(100 * (row.accuracy or 0), 2) for row in by_type] == figures[:4]
    assert round(100 * (average.accuracy or 0), 2) == figures[4]


def test_all_items_are_the_first_row_and_untyped_the_last() -> None:
    rows = accuracy_rows("v", _columns([(1, 1, 0, 1), (0, 1, 1, 0), (0, 0, 2, 3), (1, 0, 3, 2)]), "forced")
    assert [row.group for row in rows] == [None, "A2", "A10", "B1", "untyped"]
    assert [row.n for row in rows] == [4, 1, 1, 1, 1]
    assert [row.accuracy for row in rows] == [0.5, 0, 1, 0, 1]


def test_subtypes_are_sorted_by_code() -> None:
    assert sorted(set(SUBTYPES), key=group_order) == list(SUBTYPES)


def test_model_names_sort_by_the_numbers_in_them() -> None:
    names = ["Qwen3-32B", "untyped", "vicuna-7b", "llama-3", "Qwen3-8B", "", "9" * 5000]
    assert sorted(names, key=group_order)[2:] == ["llama-3", "Qwen3-8B", "Qwen3-32B", "vicuna-7b", "untyped"]


def test_without_groups_there_is_one_row() -> None:
    columns = AccuracyColumns(outcome=np.array([1, 2]), gold=np.array([1, 0]), question=np.array([5, 6]))
    (row,) = accuracy_rows("v", columns, "decided")
    assert (row.n, row.questions, row.accuracy, row.coverage) == (1, 1, 1, 0.5)
    assert (row.abstain, row.error) == (1, 0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_items_at_all_still_give_the_row_of_all_items(protocol: Protocol3) -> None:
    (row,) = accuracy_rows("v", _columns([]), protocol)
    assert row == AccuracyRow(
        verifier="v",
        group=None,
        n=0,
        questions=0,
        effective_questions=0,
        accuracy=None,
        ci=None,
        balanced_accuracy=None,
        mcc=None,
        fpr=None,
        fnr=None,
        coverage=None,
        tp=0,
        fp=0,
        tn=0,
        fn=0,
        abstain=0,
        error=0,
        deff=1,
        auroc=None,
    )


def test_a_group_with_nothing_decided_is_shown_with_its_coverage() -> None:
    rows = accuracy_rows("v", _columns([(1, 1, 0, 0), (2, 1, 1, 2), (3, 0, 2, 2)]), "decided")
    undecided = rows[1]
    assert undecided.group == "A2"
    assert (undecided.n, undecided.accuracy, undecided.ci, undecided.coverage) == (0, None, None, 0)
    assert (undecided.abstain, undecided.error) == (1, 1)


def test_completions_of_one_question_are_one_cluster_in_each_group() -> None:
    alike = [(1, 1, question, group) for question in range(4) for group in (0, 2) for _ in range(3)]
    wrong = [(0, 1, question, group) for question in range(4, 8) for group in (0, 2) for _ in range(3)]
    everything, first, second = accuracy_rows("v", _columns(alike + wrong), "forced")
    assert (everything.questions, first.questions, second.questions) == (8, 8, 8)
    assert everything.deff == pytest.approx(2 * first.deff)
    assert first.deff == second.deff == pytest.approx(3 * 8 / 7)
    assert everything.ci == pytest.approx(first.ci)


def _right(rows: list[tuple[int, int, int, int]], protocol: Protocol3) -> tuple[np.ndarray, np.ndarray]:
    """Return which counted rows are right, and their questions, by definition."""
    right, questions = [], []
    for outcome, gold, question, _ in rows:
        undecided = outcome >= OutcomeCode.ABSTAIN
        if min(outcome, gold) < 0 or (undecided and protocol == "decided"):
            continue
        stand_in = 0 if protocol == "forced" else 1 - gold
        right.append((stand_in if undecided else outcome) == gold)
        questions.append(question)
    return np.array(right, dtype=bool), np.array(questions, dtype=np.int64)


@settings(deadline=None)
@given(st.lists(ROW, max_size=80), st.sampled_from(PROTOCOLS))
def test_each_row_equals_a_separate_count(rows: list[tuple[int, int, int, int]], protocol: Protocol3) -> None:
    # A verifier that only failed has no figures.
    assume({row[0] for row in rows if min(row[:2]) >= 0} != {OutcomeCode.ERROR})
    columns = _columns(rows)
    measured = {row.group: row for row in accuracy_rows("v", columns, protocol)}
    assert set(measured) == {None, *(NAMES[row[3]] for row in rows)}
    for name, row in measured.items():
        own = [item for item in rows if name is None or NAMES[item[3]] == name]
        alone = _columns(own)
        counts = count(alone.outcome, alone.gold, protocol)
        assert (row.tp, row.fp, row.tn, row.fn, row.n) == (
            counts.tp,
            counts.fp,
            counts.tn,
            counts.fn,
            counts.n,
        )
        right, question = _right(own, protocol)
        assert row.questions == len(set(question.tolist()))
        if row.n:
            assert row.accuracy == pytest.approx(right.mean())
            assert row.ci == (
                None if (ends := by_hand(right.tolist(), question.tolist())) is None else pytest.approx(ends)
            )
            assert row.deff == pytest.approx(design_effect(right, question))


@settings(deadline=None)
@given(st.lists(ROW, max_size=60), st.sampled_from(PROTOCOLS), st.integers(0, 2**32 - 1))
def test_the_order_of_items_changes_nothing(
    rows: list[tuple[int, int, int, int]], protocol: Protocol3, seed: int
) -> None:
    shuffled = [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))]
    assert accuracy_rows("v", _columns(rows), protocol) == accuracy_rows("v", _columns(shuffled), protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_baselines_have_mcc_0_at_any_accuracy(protocol: Protocol3) -> None:
    golds = [int(place < 291) for place in range(1000)]
    rows = [
        accuracy_rows("v", _columns([(outcome, gold, place, 0) for place, gold in enumerate(golds)]), protocol)[0]
        for outcome in (0, 1)
    ]
    assert [row.accuracy for row in rows] == [0.709, 0.291]
    assert all(row.mcc == 0 and row.balanced_accuracy == 0.5 for row in rows)
    assert all(row.coverage == 1 and row.n == 1000 for row in rows)


def test_items_without_a_question_or_of_other_length_are_rejected() -> None:
    values = np.array([1, 0])
    with pytest.raises(ValueError, match="question"):
        AccuracyColumns(outcome=values, gold=values, question=np.array([3, -1]))
    with pytest.raises(ValueError, match="length"):
        AccuracyColumns(outcome=values, gold=values, question=np.array([3]))


def test_json_has_the_documented_keys_and_null_for_undefined() -> None:
    rows = accuracy_rows("v", _columns([(1, 1, 0, 0)]), "forced")
    report = AccuracyReport(
        protocol="forced",
        gold={"adjudicated": 0, "agreed": 0, "imported": 1, "none": 0},
        gold_choice="final",
        by="subtype",
        rows=rows,
    )
    document = msgspec.json.decode(msgspec.json.encode(report))
    assert {"protocol", "gold", "rows"} <= set(document)
    everything = document["rows"][0]
    documented = {
        "verifier",
        "group",
        "n",
        "accuracy",
        "ci",
        "balanced_accuracy",
        "mcc",
        "fpr",
        "fnr",
        "coverage",
    }
    assert documented <= set(everything)
    assert everything["group"] is None
    assert everything["fpr"] is None
    assert everything["balanced_accuracy"] is None
    assert everything["ci"] is None
    assert msgspec.json.decode(msgspec.json.encode(report), type=AccuracyReport) == report
