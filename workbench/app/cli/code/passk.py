"""``workbench code passk DB|--from FILE``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import click

from workbench.app.cli.code.common import Source, Suites, Truth, require_one, sizes_up_to
from workbench.app.cli.common import project_at, selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.item import Refusal
from workbench.core.options import DatabaseOrFile, Options, TableFormat, Where, option

if TYPE_CHECKING:
    from workbench.coding.records.figures import PassReport


class CodePasskOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    sizes: Annotated[
        tuple[int, ...], option("How many solutions are drawn.", "--k", metavar="K[,K…]", read=sizes_up_to(100_000))
    ] = (1, 4, 8)
    verifier: Annotated[
        str | None, option("Take a verifier's verdicts instead of the outcomes of tests.", metavar="NAME")
    ] = None
    truth: Truth = None
    suites: Suites = ()
    where: Where = ()
    format: TableFormat = "text"


@verb
def command(options: CodePasskOptions) -> Output:
    """Show pass@k: the chance that at least one of k solutions of a problem passes all tests.

    Unbiased, 1 - C(n - c, k) / C(n, k), by data set, with a 95 % interval over problems. FILE has a line a problem with
    "task_id", "n" and "c", or a line a solution with "task_id" and "passed" (true or false, or a number with "total"),
    such as: workbench code results. Exit code 3: some lines were refused.
    """
    require_one(
        options.database,
        options.source,
        verifier=options.verifier,
        truth=options.truth,
        suite=options.suites,
        where=options.where,
    )
    if options.verifier is not None and (options.truth or options.suites):
        raise click.UsageError("--verifier takes verdicts: --truth and --suite go without it.")
    if options.source is None:
        return _output(_stored(options), options)
    from workbench.coding.ranking.passing import pass_of_file

    found = pass_of_file(options.source, options.sizes)
    return _output(found.report, options, found.refused)


def _stored(options: CodePasskOptions) -> PassReport:
    from workbench.coding.ranking.passing import pass_by_tests, pass_by_verdict
    from workbench.coding.ranking.truth import truth_of

    selection = selection_of(options.where)
    with project_at(str(options.database)) as project:
        if options.verifier is not None:
            return pass_by_verdict(project, options.verifier, options.sizes, selection)
        return pass_by_tests(project, truth_of(project, options.truth, options.suites), options.sizes, selection)


def _output(report: PassReport, options: CodePasskOptions, refused: Sequence[Refusal] = ()) -> Output:
    from workbench.coding.ranking.tables import passes_as

    return Output(report, lambda found: passes_as(found, options.format)).refusing(options.source, refused)
