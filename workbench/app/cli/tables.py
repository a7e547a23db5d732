"""``workbench tables DB --paper``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from workbench.app.cli.common import key_and_value
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Protocol, Verifiers, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.measuring.records.paper import PaperNumber


class TablesOptions(Options, frozen=True, kw_only=True):
    paper: Annotated[bool, option("The tables of VerifyBench (arXiv 2505.15801).")]
    numbers: Annotated[tuple[int, ...], option("Only this one (repeatable).", "--table", ge=1, le=5)] = ()
    datasets: Annotated[
        tuple[str, ...], option("Only these, in this order (repeatable).", "--dataset", metavar="NAME")
    ] = ()
    verifiers: Verifiers = ()
    given: Annotated[
        tuple[str, ...],
        option(
            "Table 3: A with and B without the reference (repeatable); judges that differ in that alone are found.",
            "--pair",
            metavar="A=B",
        ),
    ] = ()
    protocol: Protocol = "strict"
    gold: Gold = "final"
    format: Annotated[Literal["text", "markdown", "latex", "csv"], option("LaTeX needs the package booktabs.")] = "text"


@verb
def command(project: Project, options: TablesOptions) -> Output:
    """Show the tables of the VerifyBench paper for this project's data sets and verifiers.

    1 counts; 2 accuracy by answer type and its average over items; 3 judges with and without the reference answer;
    4 pairs of completions, for verifiers that give scores; 5 answer subtypes, set against their types. Undecided
    rows count as wrong here unless --protocol says otherwise: so did the paper's.
    """
    from workbench.measuring.records.paper import PAPER_NUMBERS
    from workbench.measuring.reporting_paper import PaperFigures, paper_tables, tables_text

    pairs = [key_and_value(text, "--pair") for text in options.given]
    figures = PaperFigures(
        project,
        datasets=options.datasets,
        verifiers=options.verifiers,
        given=pairs,
        protocol=options.protocol,
        gold=options.gold,
    )
    found = paper_tables(figures, cast("tuple[PaperNumber, ...]", options.numbers) or PAPER_NUMBERS)
    return Output(found, lambda found: tables_text(found, options.format))
