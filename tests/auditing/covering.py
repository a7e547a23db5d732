"""The commands whose metrics are recomputed, and every kind of metric that is not."""

from __future__ import annotations

from typing import Final, NamedTuple

from tests.auditing.records import Family

COVERED: Final[dict[Family, tuple[str, ...]]] = {
    "accuracy": ("accuracy",),
    "confusion": ("accuracy", "compare"),
    "compare": ("compare",),
    "agreement": ("agreement",),
    "estimates": ("estimate",),
    "code": ("code passk", "code metrics"),
    "calibration": ("calibrate",),
}
"""Family -> the commands that show its metrics."""


class Uncovered(NamedTuple):
    """One kind of metrics that is shown but not recomputed.

    Attributes:
        commands: Commands without any recomputed metric; empty if audited commands show the kind, too.
    """

    about: str
    commands: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return the kind as text for users."""
        return f"{self.about} ({', '.join(self.commands)})" if self.commands else self.about


UNCOVERED: Final = (
    Uncovered("intervals, p- and q-values, design effects, effective questions, detectable differences"),
    Uncovered("accuracy without label noise (--label-noise), at another --prevalence or --accept-rate"),
    Uncovered("comparisons by group (--by), joint errors by gold or that chance would give"),
    Uncovered("agreement by group, of other levels or of a file; AC2, prevalence, what was left out and why"),
    Uncovered("people's sensitivity, specificity, agreement with others and time; ceilings and label noise"),
    Uncovered("estimates of other groups than types; how many labels are saved; whether labels are a random sample"),
    Uncovered("chances by Platt's sigmoid and isotonic maps, bins of reliability, pairs beside them"),
    Uncovered("pass@k by tests, by model and for k other than 1 and 5"),
    Uncovered("MAE and R² of rankings, rankings by problem, of k solutions, of a file; what is filled in or left out"),
    Uncovered("true scores and verifiers' scores in rankings: they are taken as the tool reads them"),
    Uncovered("groups by domain, source, data set, reason, length, crossed or of own columns"),
    Uncovered("selections (--where), gold other than final, runs other than the newest complete ones"),
    Uncovered("accuracy tables, comparisons and plots put together from the others", ("demo", "tables", "report")),
    Uncovered("what verdicts follow besides gold; what other options would change", ("validity", "what-if")),
    Uncovered("correlations, pairs, thresholds, sweeps", ("correlate", "pairs", "threshold", "sweep")),
    Uncovered("one of n, stacks, tokens, seconds and dollars", ("best-of", "stack", "cost")),
    Uncovered("who was wrong, how suspect gold is, what errors are of", ("disagreements", "review")),
    Uncovered("preferences and attacks", ("pairwise", "probe")),
    Uncovered("rewards, scores of trained models", ("reward-server", "downstream")),
    Uncovered(
        "labels still needed, checks answered rightly, conflicts, who did how much",
        ("plan", "checks", "conflicts", "annotators", "assign", "history", "flags", "labels", "merge"),
    ),
    Uncovered(
        "items, runs and verdicts counted", ("status", "datasets", "runs", "verify", "judge-file", "verdicts", "parse")
    ),
    Uncovered("types suggested and how far they agree", ("curate types",)),
    Uncovered(
        "pools and sets: sizes, shares, licences, leaderboards",
        (
            "curate status",
            "curate duplicates",
            "curate draw",
            "complete",
            "build random",
            "build picks",
            "build balanced",
            "build hard",
            "sets",
            "publish",
        ),
    ),
    Uncovered(
        "code: outcomes and times of tests, how many tests are enough, scales, histograms, pools, evolution",
        (
            "code write-tests",
            "code write-solutions",
            "code scale",
            "code results",
            "code select",
            "code saturation",
            "code histograms",
            "code duplicates",
            "code refine",
            "code pool",
            "code evolve",
            "code representatives",
        ),
    ),
)
"""All kinds."""
