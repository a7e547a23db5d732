"""Sixteen annotators reserve and label items while a verifier stores 20,000 verdicts a second."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.claiming import assigned, labelled, overtaken, quotas, rank, verifying, work

ITEMS, PEOPLE, ROWS_A_SECOND = 300, 16, 20_000
MOST_OVERTAKEN = 2
"""How often each of the others may overtake a submit, for 99 submits in a hundred."""


@pytest.mark.soak
def test_annotators_fill_every_quota_exactly_during_a_run(tmp_path: Path) -> None:
    project = assigned(tmp_path, ITEMS, PEOPLE, others=ROWS_A_SECOND - ITEMS)
    with verifying(project, ROWS_A_SECOND) as pace:
        times = work(project, PEOPLE)
    assert labelled(project) == ITEMS
    assert quotas(project) == {(2, 2)}
    assert quotas(project, "type") == {(2, 2)}
    submits = [one for person in times for one in person["submit"]]
    figures = {
        "figure": "claim_label_beside_verdicts",
        "people": PEOPLE,
        **pace,
        "labels": len(submits),
        "submit_p50_ms": round(rank(submits, 0.5), 2),
        "submit_p99_ms": round(rank(submits, 0.99), 2),
        "overtaken_p99": rank(overtaken(times), 0.99),
        "next_p99_ms": round(rank([one for person in times for one in person["next"]], 0.99), 2),
    }
    print(json.dumps(figures))
    assert rank(overtaken(times), 0.99) <= MOST_OVERTAKEN * (PEOPLE - 1), figures
    project.close()


@pytest.mark.soak
def test_restless_annotators_fill_every_quota_exactly(tmp_path: Path) -> None:
    project = assigned(tmp_path, ITEMS, PEOPLE)
    work(project, PEOPLE, restless=True)
    assert labelled(project) == ITEMS
    assert quotas(project) == {(2, 2)}
    project.close()
