"""``workbench code histograms DB|--from FILE``."""

from __future__ import annotations

from workbench.app.cli.code.common import SelectionRules, SolutionsEach, Source, Suites, Truth, require_one
from workbench.app.cli.common import project_at, selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import DatabaseOrFile, Options, Where


class CodeHistogramsOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    k: SolutionsEach = 5
    rules: SelectionRules = "released"
    truth: Truth = None
    suites: Suites = ()
    where: Where = ()


@verb
def command(options: CodeHistogramsOptions) -> Output:
    """Show scores, score gaps and sizes of a selection as histograms, and what came of the tests of each run.

    The selection is that of: workbench code select. The tests' shares (passed, failed by an assertion, by else) stand
    beside it for a database. Exit code 3: some lines of FILE were refused.
    """
    from workbench.coding.ranking.histograms import histograms, outcome_shares
    from workbench.coding.ranking.selecting import How, select_from, select_stored
    from workbench.coding.ranking.tables import histograms_text
    from workbench.coding.ranking.truth import truth_of
    from workbench.coding.records.figures import HistogramsReport

    require_one(options.database, options.source, truth=options.truth, suite=options.suites, where=options.where)
    how = How(k=options.k, rules=options.rules)
    if options.source is not None:
        found = select_from(options.source, how)
        report = HistogramsReport(histograms=histograms(found.sets), shares=[], refused=len(found.refused))
        return Output(report, histograms_text).refusing(options.source, found.refused)
    with project_at(str(options.database)) as project:
        meant, chosen = truth_of(project, options.truth, options.suites), selection_of(options.where)
        sets = list(select_stored(project, how, meant, chosen))
        report = HistogramsReport(histograms=histograms(sets), shares=outcome_shares(project, chosen))
    return Output(report, histograms_text)
