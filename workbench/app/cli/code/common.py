"""Shared by the commands on scores of code: a database or a file, the source of true scores, lists of k."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.common import cluster_at, run_trusted, say_nodes
from workbench.coding.options import Programs
from workbench.core.options import AllowUnsafe, OnCluster, Options, Trust, option
from workbench.core.project import Project
from workbench.core.selection import selection_of

if TYPE_CHECKING:
    from workbench.coding.ranking.scores import ReferenceOutcomes
    from workbench.coding.ranking.scores import Truth as ScoreSource

Source = Annotated[
    Path | None, option("Read the input from this file instead of a database.", "--from", metavar="FILE", exists=True)
]
Truth = Annotated[
    str | None,
    option(
        "Verifier whose test results are the true scores; or the word recorded, for the scores and ranks imported "
        "with the solutions.  [default: a verifier that executes tests, else recorded]",
        metavar="NAME",
        needs="database",
    ),
]
Suites = Annotated[
    tuple[str, ...],
    option(
        "Use the results of this test suite; several suites are combined (repeatable).  [default: base and "
        "plus, if they were run]",
        "--suite",
        metavar="NAME",
        needs="database",
    ),
]
BootstrapSamples = Annotated[
    int,
    option(
        "Number of bootstrap resamples for the intervals; 0 for no intervals.",
        "--bootstrap",
        metavar="SAMPLES",
        ge=0,
        le=100_000,
    ),
]
SolutionsEach = Annotated[int, option("Number of solutions per problem, including the ground truth.", ge=1, le=1_000)]
SelectionRules = Annotated[
    Literal["released", "formula"],
    option(
        "Rules for selecting solutions: released (as in the authors' code; the ground truth has rank 1) or formula "
        "(section 2.2 of the paper, taken literally; it may drop the ground truth, which had rank 1 in only 10 of 40 "
        "real problems)."
    ),
]


class TrueScores(Options, frozen=True, kw_only=True):
    """The source of true scores."""

    truth: Truth = None
    suites: Suites = ()

    def read(self, project: Project) -> ScoreSource:
        from workbench.coding.ranking.scores import truth_of

        return truth_of(project, self.truth, self.suites)


class ReferenceRuns(Options, frozen=True, kw_only=True):
    """How reference solutions are run that no solution represents."""

    workers: Programs = None
    cluster: OnCluster = None
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False

    def run(self, project: Project, truth: ScoreSource, where: Sequence[str]) -> ReferenceOutcomes:
        from workbench.coding.ranking.scores import outcomes_of_references

        cluster = cluster_at(self.cluster)
        selection = selection_of(where)
        found = run_trusted(outcomes_of_references, self, project, truth, selection=selection, cluster=cluster)
        say_nodes(cluster)
        return found
