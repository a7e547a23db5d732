"""Verifiers' agreement with each other and their errors in common: which of them are worth combining."""

from __future__ import annotations

from itertools import combinations

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring import selected_by
from workbench.measuring.columns import columns, gold_counts
from workbench.measuring.comparing import TOO_FEW
from workbench.measuring.judged import judged
from workbench.statistics.records.comparison import Bootstrap, JointErrorReport

SAMPLES = 1_000
"""Samples of the bootstrap of every pair, unless others are asked for."""


def joint_errors(
    project: Project,
    verifiers: tuple[str, ...] = (),
    *,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    samples: int = 0,
    seed: int = 0,
) -> JointErrorReport:
    """Every two verifiers' agreement and joint errors, each pair on the items that count for both.

    Args:
        verifiers: Names; empty for all that have a complete run and judge completions.
        samples: Of the bootstrap behind the intervals; 0 for none.

    Raises:
        UsageError: There are fewer than two verifiers, or one has no complete run.
    """
    from workbench.statistics.joint_errors import Verdicts, judge_pair, said

    everything = columns(project)
    found = judged(project, verifiers, gold=gold, selection=selection, known=everything)
    if len(found.judges) < 2:
        raise UsageError(*TOO_FEW)
    order = sorted(range(len(found.judges)), key=lambda place: _rank(found.judges[place].name, verifiers))
    words = {found.judges[place].name: said(found.outcomes[place], protocol) for place in order}
    draws = Bootstrap(samples=samples, seed=seed) if samples else None
    return JointErrorReport(
        errors=[
            judge_pair(a, b, Verdicts(words[a], words[b], found.gold, found.question), draws)
            for a, b in combinations(words, 2)
        ],
        verifiers={found.judges[place].name: found.judges[place].run for place in order},
        bootstrap=draws,
        protocol=protocol,
        gold=gold_counts(project, selection or Selection(), gold),
        gold_choice=gold,
        selection_judges=selected_by.among(project, words, selection, everything),
        failed=found.failed,
    )


def _rank(name: str, verifiers: tuple[str, ...]) -> int:
    """Verifiers in the order they were named in; those of no name in that of their runs."""
    return verifiers.index(name) if name in verifiers else 0
