"""How far a verifier's scores follow the gold labels."""

from __future__ import annotations

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice
from workbench.measuring import selected_by
from workbench.measuring.columns import columns
from workbench.runs.running_verdicts import run_of
from workbench.statistics.records.report import CorrelationReport, CorrelationRow


def correlate(
    project: Project,
    verifier: str,
    *,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    run: int | None = None,
) -> CorrelationReport:
    """Kendall's, Pearson's and Spearman's coefficients of a verifier's scores with gold.

    Args:
        verifier: Its name.
        run: A run of it; by default the newest that has been complete, or the newest while none has.

    Raises:
        UsageError: There is no such verifier, run or field, or the run has no scores.
    """
    import numpy as np

    from workbench.statistics.correlation import correlations

    found = run_of(project, verifier, run)
    everything = columns(project)
    scores = everything.score(found)
    if found is None or scores is None:
        raise UsageError(f"{verifier!r} has no scores.", "ICE-Score, CodeJudge's fault localisation and rewards have.")
    kept = everything.chosen(selection or Selection())
    rows = slice(None) if kept is None else kept
    score, labels = scores[rows], everything.gold(gold)[rows]
    judged = (labels >= 0) & (everything.outcome(found)[rows] >= 0)
    scored = judged & ~np.isnan(score)
    coefficients = correlations(score, labels, everything.question[rows])
    return CorrelationReport(
        verifier=verifier,
        run=found,
        n=int(scored.sum()),
        unscored=int(judged.sum() - scored.sum()),
        gold=everything.gold_counts(gold, kept),
        gold_choice=gold,
        rows=[
            CorrelationRow(
                method=method,
                corpus=row.corpus,
                per_question=row.mean,
                defined=row.defined,
                questions=row.groups,
            )
            for method, row in coefficients.items()
        ],
        selection_judges=selected_by.among(project, (verifier,), selection, everything),
    )
