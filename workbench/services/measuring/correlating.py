"""How far a verifier's scores follow the gold labels."""

from __future__ import annotations

from workbench.errors import UsageError
from workbench.model.report import CorrelationReport, CorrelationRow
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice
from workbench.services.measuring.accuracy import outcome_column
from workbench.services.project import Project
from workbench.services.running.verdicts import run_of
from workbench.store import figures
from workbench.store.selection import check_names


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

    from workbench.analysis.arrays import align
    from workbench.analysis.correlation import correlations

    found = run_of(project, verifier, run)
    reader = project.database.reader()
    items, values = ((), ()) if found is None else figures.scores(reader, found)
    if found is None or not len(items):
        raise UsageError(f"{verifier!r} has no scores.", "ICE-Score, CodeJudge's fault localisation and rewards have.")
    wanted = check_names(reader, selection or Selection())
    columns = figures.gold_columns(reader, wanted, None, gold)
    score = align(np.asarray(columns.item, dtype=np.int64), items, values, missing=np.float64(np.nan))
    labels = np.asarray(columns.gold, dtype=np.int8)
    judged = (labels >= 0) & (outcome_column(project, columns, found) >= 0)
    scored = judged & ~np.isnan(score)
    rows = correlations(score, labels, np.asarray(columns.question, dtype=np.int64))
    return CorrelationReport(
        verifier=verifier,
        run=found,
        n=int(scored.sum()),
        unscored=int(judged.sum() - scored.sum()),
        gold=figures.gold_counts(reader, wanted),
        gold_choice=gold,
        rows=[
            CorrelationRow(
                method=method,
                corpus=row.corpus,
                per_question=row.mean,
                defined=row.defined,
                questions=row.groups,
            )
            for method, row in rows.items()
        ],
    )
