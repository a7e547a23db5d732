"""Plain words for who says what of an item."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.text.marks import with_mark
from workbench.core.verdict import OutcomeWord
from workbench.measuring.judged import VerifierRun
from workbench.measuring.records.review import Vote
from workbench.measuring.reviewing.asked import QueueItem, QueueQuery

_NAMED = 4
"""Verifiers that are named one by one; of more, the first three are, and the others counted."""

_SAYING: tuple[tuple[OutcomeWord, str, str], ...] = (
    ("correct", "says correct", "say correct"),
    ("incorrect", "says incorrect", "say incorrect"),
    ("abstain", "abstains", "abstain"),
    ("error", "failed", "failed"),
)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: ``a, b and c``; of many, the first and how many more."""
    if len(names) > _NAMED:
        names = (*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more")
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def who_says(votes: Sequence[Vote], *words: OutcomeWord) -> str:
    """``rules and exact say correct, math-verify abstains``; of the words given only, else of all."""
    said = []
    for word, one, several in _SAYING:
        names = [vote.verifier for vote in votes if vote.verdict == word and (not words or word in words)]
        if names:
            said.append(f"{listed(names)} {one if len(names) == 1 else several}")
    return ", ".join(said)


def gold_says(case: QueueItem) -> str:
    """``gold says incorrect (agreed by 2 people)``."""
    if case.gold == "none":
        return "there is no gold"
    return f"gold says {case.gold}{_source(case)}"


def _source(case: QueueItem) -> str:
    source, people = case.said.source, case.said.people
    if case.said.word != case.gold:
        return ""
    words = {
        "agreed": f"agreed by {people} {'person' if people == 1 else 'people'}",
        "adjudicated": "settled by a third person",
        "imported": "imported",
    }
    return f" ({words[source]})" if source in words else ""


def runs_of(asked: QueueQuery, judges: Sequence[VerifierRun] | None = None) -> str:
    """``rules (run 1), llm † (run 2), always-incorrect (no run)``: all judges, or these; † if it chose the items."""
    return ", ".join(
        f"{with_mark(judge.name, asked.chose)} ({'no run' if judge.run is None else f'run {judge.run}'})"
        for judge in (asked.judges if judges is None else judges)
    )
