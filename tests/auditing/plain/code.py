"""pass@k by verdicts, and how well scores rank the solutions of a problem."""

from __future__ import annotations

from math import comb
from typing import Any

from tests.auditing.plain.rates import Value, ratio


def passes(frame: Any, k: int) -> dict[str, Value]:
    """Data set -> mean over problems of 1 - C(n - c, k) / C(n, k); a solution passes if the verifier accepts it.

    Solutions without a verdict or with an error (outcome 3), and reference solutions, are not counted in n.
    """
    solutions = frame[frame["problem"] & (frame["state"] != "excluded") & ~frame["reference_solution"]]
    found: dict[str, Value] = {}
    for dataset, part in solutions.groupby("dataset"):
        shares = []
        for _, problem in part.groupby("question"):
            n, c = int(problem["outcome"].isin([0, 1, 2]).sum()), int((problem["outcome"] == 1).sum())
            if n >= k:
                shares.append(1 - comb(n - c, k) / comb(n, k))
        found[f"{dataset} | pass@{k}"] = ratio(sum(shares), len(shares))
    return found


def ranks(problems: list[tuple[list[float], list[float]]]) -> dict[str, Value]:
    """Return Top-1, Bottom-1, mean coefficients and mean absolute error of true scores and scores, by problem."""
    from scipy.stats import kendalltau, spearmanr

    top, bottom, rho, tau, errors = [], [], [], [], []
    for truth, score in problems:
        top.append(_hits(truth, score, max(truth), max(score)))
        bottom.append(_hits(truth, score, min(truth), min(score)))
        varies = len(set(truth)) > 1 and len(set(score)) > 1
        rho.append(float(spearmanr(truth, score).statistic) if varies else 0.0)
        tau.append(float(kendalltau(truth, score).statistic) if varies else 0.0)
        errors += [abs(one - other) for one, other in zip(truth, score, strict=True)]
    means = {"top1": top, "bottom1": bottom, "spearman": rho, "kendall": tau, "mae": errors}
    return {name: ratio(sum(values), len(values)) for name, values in means.items()}


def _hits(truth: list[float], score: list[float], best: float, chosen: float) -> float:
    tied = [one == best for one, other in zip(truth, score, strict=True) if other == chosen]
    return sum(tied) / len(tied)
