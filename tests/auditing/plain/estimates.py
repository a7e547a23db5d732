"""Prediction-powered shares, question by question."""

from __future__ import annotations

from typing import Any

from tests.auditing.plain.rates import Value

_FEWEST = 10
"""The effective number of unlabelled questions below which a stratum's predictions are ignored."""


def of_accuracy(own: Any, others: list[Any]) -> Any:
    """Return the verifier's items with ``truth`` (NaN without gold) and ``predicted``, undecided verdicts as wrong."""
    frame = own[own["outcome"].notna() & ~own["check"] & (own["state"] != "excluded")].copy()
    vote = _mean_vote(frame, others)
    frame["truth"] = (frame["outcome"] == frame["gold"]).astype(float).where(frame["gold"].notna())
    frame["predicted"] = vote.where(frame["outcome"] == 1, 1 - vote).where(frame["outcome"] < 2, 0.0)
    return frame


def of_prevalence(own: Any, others: list[Any]) -> Any:
    """Do the same for the share of correct completions."""
    frame = own[own["outcome"].notna() & ~own["check"] & (own["state"] != "excluded")].copy()
    frame["truth"] = frame["gold"]
    frame["predicted"] = _mean_vote(frame, [own, *others])
    return frame


def _mean_vote(frame: Any, judges: list[Any]) -> Any:
    """Return 1 for each acceptance, 0 for each rejection, one half for anything else and for a missing verdict."""
    total = 0.0
    for judge in judges:
        outcome = judge.set_index("item")["outcome"].reindex(frame["item"]).to_numpy()
        total = total + (outcome == 1) * 1.0 + (outcome != 1) * (outcome != 0) * 0.5
    return frame["gold"] * 0 + 1 if not judges else _series(frame, total / len(judges))


def _series(frame: Any, values: Any) -> Any:
    import pandas

    return pandas.Series(values, index=frame.index)


def figures(frame: Any, strata: str | None = None) -> dict[str, Value]:
    """Return the estimate, the mean of labels, the weight of predictions, and the effective number of labels."""
    frame = frame.assign(stratum="all" if strata is None else frame[strata])
    labelled = frame[frame["truth"].notna()]
    if set(labelled["stratum"]) != set(frame["stratum"]) or not len(labelled):
        return {"estimate": None, "classical": None, "power": None, "effective": None}
    share, shift = 0.0, 0.0
    label_part: dict[int, float] = {}
    weights: list[tuple[int, float]] = []
    prediction_part: dict[int, float] = {}
    for _, part in frame.groupby("stratum"):
        weight = len(part) / len(frame)
        known, rest = part[part["truth"].notna()], part[part["truth"].isna()]
        helps = _alike(rest["question"].value_counts()) >= _FEWEST - 1e-9
        mean, mean_known = float(known["truth"].mean()), float(known["predicted"].mean())
        mean_rest = float(rest["predicted"].mean()) if len(rest) else 0.0
        share += weight * mean
        shift += weight * (mean_rest - mean_known) if helps else 0.0
        for question, truth, predicted in zip(known["question"], known["truth"], known["predicted"], strict=True):
            weights.append((question, weight / len(known)))
            label_part[question] = label_part.get(question, 0.0) + weight * (truth - mean) / len(known)
            if helps:
                off = weight * (predicted - mean_known) / len(known)
                prediction_part[question] = prediction_part.get(question, 0.0) + off
        for question, predicted in zip(rest["question"], rest["predicted"], strict=True):
            if helps:
                off = weight * (predicted - mean_rest) / len(rest)
                prediction_part[question] = prediction_part.get(question, 0.0) - off
    n = len(labelled)
    by_question: dict[int, float] = {}
    for question, weight in weights:
        by_question[question] = by_question.get(question, 0.0) + weight
    alike = _alike(by_question.values())
    half = 0.5 * sum(weight**2 for _, weight in weights) ** 2
    labels = sum(value**2 for value in label_part.values()) + half
    predictions = sum(value**2 for value in prediction_part.values()) + half
    together = sum(value * prediction_part.get(question, 0.0) for question, value in label_part.items())
    power = min(max(together / predictions, 0.0), 1.0) if alike > 2 else 0.0
    left = 1 - power * (2 * together - power * predictions) / labels
    if power:
        left = min(left * (alike - 1) / (alike - 2), 1.0)
    estimate = min(max(share + power * shift, 0.0), 1.0)
    return {"estimate": estimate, "classical": share, "power": power, "effective": n / left}


def _alike(sizes: Any) -> float:
    """Return the effective sample size: the square of the sum over the sum of squares."""
    known = list(sizes)
    return float(sum(known) ** 2 / sum(size**2 for size in known)) if known else 0.0
