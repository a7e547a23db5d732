"""Pairs of preferred and other answers: RewardBench, RewardBench 2, and what the ``rewardbench`` command writes.

Fields: the cards of allenai/reward-bench and allenai/reward-bench-2, and ``rewardbench/rewardbench.py`` (0.1.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workbench.core.verdict import OutcomeWord
from workbench.data.formats.explain import RefusedError
from workbench.data.formats.logs.cells import asked, kept, maybe_text, messages, number, said
from workbench.data.formats.logs.kind import LogKind, Read
from workbench.data.formats.logs.logged import Grade, Logged, verifier_name

_ENDINGS: Final = (".json", ".jsonl", ".parquet", ".csv", ".gz")
_TAKEN: Final = frozenset(
    {"prompt", "chosen", "rejected", "text_chosen", "text_rejected", "chosen_model", "rejected_model", "subset", "id"}
    # What one reward model's file says: another's, of the same answers, says something else.
    | {"results", "scores", "scores_chosen", "scores_rejected", "text"}
)


def recognises(element: Mapping[str, Any]) -> bool:
    """Whether an object is a pair, or one prompt with lists of both."""
    return {"chosen", "rejected"} <= element.keys() or {"prompt", "text_chosen", "text_rejected"} <= element.keys()


def begin(path: Path) -> Read:
    """A function that gives the completions of a row. A file of results is called after its reward model."""
    judge = verifier_name("rewardbench", _stem(path))
    return lambda row: _read(row, judge)


def _read(row: Mapping[str, Any], judge: str) -> Iterator[Logged]:
    chosen, rejected = _answers(row, "chosen"), _answers(row, "rejected")
    if not chosen and not rejected:
        raise RefusedError("missing_field", "chosen", "chosen and rejected hold no answer. Add one.")
    shared = {
        "question_id": _question_id(row),
        **_question(row),
        "reference": "",
        "source": maybe_text(row, "subset"),
        **kept(row, _TAKEN, "rewardbench"),
    }
    golds = [True] * len(chosen) + [False] * len(rejected)
    grades = _grades(row, judge, len(chosen), len(rejected))
    for completion, gold, grade in zip([*chosen, *rejected], golds, grades, strict=True):
        model = maybe_text(row, "chosen_model" if gold else "rejected_model")
        yield Logged(
            item={**shared, "completion": completion, "model": model, "gold": gold},
            grades=() if grade is None else (grade,),
        )


def _answers(row: Mapping[str, Any], side: str) -> list[str]:
    """The answers of one side: a text, messages that end in it, or a list of texts."""
    value = row.get(side)
    if value is None and f"text_{side}" in row:
        # Their whole conversation, under a template: the prompt stands before the answer.
        return [said(row, f"text_{side}").removeprefix(said(row, "prompt"))]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return list(value)
    return [said(row, side)]


def _question(row: Mapping[str, Any]) -> dict[str, str]:
    """The prompt; where there is none, the messages of the preferred answer without the last."""
    if row.get("prompt") is not None:
        return asked(row, "prompt")
    value = row.get("chosen")
    if not isinstance(value, list) or len(list(messages(value, "chosen"))) < 2:
        raise RefusedError("missing_field", "prompt", "prompt is missing. Add it.")
    return asked({"chosen": value[:-1]}, "chosen")


def _question_id(row: Mapping[str, Any]) -> str | None:
    parts = (maybe_text(row, "subset"), maybe_text(row, "id"))
    return "/".join(part for part in parts if part) if parts[1] else None


def _grades(row: Mapping[str, Any], judge: str, chosen: int, rejected: int) -> Sequence[Grade | None]:
    """What the reward model said of each answer, the preferred ones first."""
    scores = _scores(row, chosen, rejected)
    if scores is None:
        return [*_picks(row, judge, chosen, rejected)]
    best = max((score for score in scores if score is not None), default=None)
    tied = scores.count(best) > 1
    return [None if score is None else _scored(judge, score, best, chosen == 1, tied) for score in scores]


def _scored(judge: str, score: float, best: float | None, single: bool, tied: bool) -> Grade:
    """The best score of a row is what the model takes to be right, where one answer is."""
    if not single:
        return Grade(verifier=judge, score=score)
    if score == best and tied:
        return Grade(verifier=judge, verdict="abstain", score=score, reason="no_preference")
    return Grade(verifier=judge, verdict="correct" if score == best else "incorrect", score=score)


def _picks(row: Mapping[str, Any], judge: str, chosen: int, rejected: int) -> Iterator[Grade | None]:
    """Verdicts from ``results`` alone: 1 where the preferred answer was picked, 0 where another was, else a tie."""
    result = number(row.get("results"))
    told: dict[float, tuple[OutcomeWord, OutcomeWord]] = {
        1: ("correct", "incorrect"),
        # Which of several others was picked is not said.
        0: ("incorrect", "correct" if rejected == 1 else "abstain"),
    }
    for side in (0,) * chosen + (1,) * rejected:
        if result is None or chosen != 1:
            yield None
            continue
        verdict = told[result][side] if result in told else "abstain"
        yield Grade(verifier=judge, verdict=verdict, reason="no_preference" if verdict == "abstain" else None)


def _scores(row: Mapping[str, Any], chosen: int, rejected: int) -> list[float | None] | None:
    """A score an answer; None where the row has none, or not as many."""
    if isinstance(row.get("scores"), list):
        found = row["scores"]
    elif "scores_chosen" in row and "scores_rejected" in row:
        found = [*_listed(row["scores_chosen"]), *_listed(row["scores_rejected"])]
    else:
        return None
    # A score may be a list of one, as the model's head gave it.
    numbers = [number(one[0] if isinstance(one, list) and len(one) == 1 else one) for one in found]
    return numbers if len(numbers) == chosen + rejected else None


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _stem(path: Path) -> str:
    name = path.name
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    return name.removesuffix("_outputs") or path.name


KIND: Final = LogKind(name="rewardbench", recognises=recognises, begin=begin)
