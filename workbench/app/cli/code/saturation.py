"""``workbench code saturation DB``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.code.common import Suites, Truth, sizes_up_to
from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, SeedNumber, TableFormat, Where, option
from workbench.core.project import Project


class CodeSaturationOptions(Options, frozen=True, kw_only=True):
    truth: Truth = None
    suites: Suites = ()
    sizes: Annotated[
        tuple[int, ...], option("Numbers of tests, up to 15.", "--k", metavar="K[,K…]", read=sizes_up_to(15))
    ] = tuple(range(1, 11))
    resamples: Annotated[int, option("How often tests are drawn.", ge=2, le=100_000)] = 100
    seed: Annotated[SeedNumber, option("Seed of the draws.")] = 0
    where: Where = ()
    format: TableFormat = "text"


@verb
def command(project: Project, options: CodeSaturationOptions) -> Output:
    """Show how many tests are enough to rank solutions as all tests do.

    Mean over problems of Spearman's coefficient between the solutions' scores on k tests, drawn without replacement,
    and on all tests; problems with at least 15 tests and two distinct scores. Enough is the first k whose lower 95 %
    bound is at least 0.90.
    """
    from workbench.coding.ranking.saturating import saturation
    from workbench.coding.ranking.tables import saturation_as
    from workbench.coding.ranking.truth import truth_of

    meant = truth_of(project, options.truth, options.suites)
    chosen = selection_of(options.where)
    report = saturation(
        project, meant, selection=chosen, sizes=options.sizes, resamples=options.resamples, seed=options.seed
    )
    return Output(report, lambda found: saturation_as(found, options.format))
