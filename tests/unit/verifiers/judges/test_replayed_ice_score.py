"""Recorded replies through the judge: its metrics equal those of the file."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.unit.verifiers.judges.asking import SECRET, Scripted, llm_judge
from workbench.core.verdict import Verdict, VerifierInput
from workbench.statistics.correlation import correlations

pytestmark = pytest.mark.real_data
PUBLISHED = {"nsnr": (0.5902, 0.330, 0.427, 113), "nswr": (0.7279, 0.412, 0.388, 115)}
MEASURES = {"kendall": stats.kendalltau, "pearson": stats.pearsonr, "spearman": stats.spearmanr}


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> dict[str, list[dict[str, Any]]]:
    found = defaultdict(list)
    for line in (shared_data / "judges" / "ice_score_java.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["judge"]].append(row)
    return found


async def replayed(rows: list[dict[str, Any]], reference: str, parser: str) -> list[Verdict]:
    judge = llm_judge(strategy="ice-score", reference=reference, parser=parser)
    server = Scripted([row["raw"] for row in rows])
    items = [
        VerifierInput(item=number, question=f"q{row['item']}", reference="ref", completion=f"c{number}")
        for number, row in enumerate(rows)
    ]
    return [(await judge.judge(item, server, SECRET)).verdict for item in items]


@pytest.mark.parametrize(("prompt", "reference"), [("nsnr", "false"), ("nswr", "true")])
def test_accuracy_and_correlations(recorded: dict[str, list[dict[str, Any]]], prompt: str, reference: str) -> None:
    rows = recorded[prompt]
    accuracy, corpus, mean, defined = PUBLISHED[prompt]
    verdicts = asyncio.run(replayed(rows, reference, "ice-score@1"))
    gold = [row["gold"] for row in rows]
    scores = [row["score_reparsed"] for row in rows]

    right = sum(
        (verdict.outcome.word == "correct") == bool(label) for verdict, label in zip(verdicts, gold, strict=True)
    )
    assert right == sum((score == 4) == bool(label) for score, label in zip(scores, gold, strict=True))
    assert round(right / len(rows), 4) == accuracy

    assert [verdict.score for verdict in verdicts] == scores
    found = correlations(
        np.array([verdict.score for verdict in verdicts]) / 4,
        np.array(gold),
        np.array([row["item"] for row in rows]),
    )
    by_item: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        by_item[row["item"]].append((row["score_reparsed"], row["gold"]))
    varied = [pairs for pairs in by_item.values() if all(len(set(column)) > 1 for column in zip(*pairs, strict=True))]
    for name, measure in MEASURES.items():
        assert found[name].corpus == pytest.approx(measure(scores, gold).statistic, abs=1e-9)
        own = [measure(*zip(*pairs, strict=True)).statistic for pairs in varied]
        assert found[name].mean == pytest.approx(fmean(own), abs=1e-9)
        assert (found[name].defined, found[name].groups) == (len(own), 161)
    kendall = found["kendall"]
    assert kendall.corpus == pytest.approx(corpus, abs=0.0006)
    assert kendall.mean == pytest.approx(mean, abs=0.0006)
    assert kendall.defined == defined


def test_the_strict_parser_reports_missing_scores(recorded: dict[str, list[dict[str, Any]]]) -> None:
    undecided = {
        prompt: sum(
            verdict.reason == "unparsed"
            for verdict in asyncio.run(replayed(recorded[prompt], reference, "ice-score@2"))
        )
        for prompt, reference in (("nsnr", "false"), ("nswr", "true"))
    }
    assert sum(undecided.values()) == 2
