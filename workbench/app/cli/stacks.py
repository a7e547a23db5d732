"""``workbench stack DB``: stacks of verifiers, computed from stored verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from workbench.app.cli.common import draw
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import Basis, Force, Options, TableForm, option, plot_folder
from workbench.core.project import Project


class StackOptions(Options, frozen=True, kw_only=True):
    stages: Annotated[
        str | None,
        option(
            "Evaluate only this stack: its stages in order, such as rules:correct, qwen:score>=0.9@A/B, gpt",
            metavar="STAGES",
        ),
    ] = None
    verifiers: Annotated[
        tuple[str, ...],
        option("Verifier that may be a stage (repeatable).  [default: all that have run]", "--verifier"),
    ] = ()
    against: Annotated[
        Literal["dollars", "tokens", "seconds", "calls"] | None,
        option("Cost to compare with accuracy.  [default: dollars if all are known, else tokens, else seconds]"),
    ] = None
    under: Annotated[
        float | None, option("Find the most accurate stack that costs less than this per 1,000 items.", gt=0)
    ] = None
    reference: Annotated[
        str | None,
        option("Find the cheapest stack that is not worse than this verifier.", "--not-worse-than", metavar="NAME"),
    ] = None
    margin: Annotated[
        float, option("With --not-worse-than: tolerated difference in accuracy, in percentage points.", ge=0, le=100)
    ] = 1.0
    most_stages: Annotated[int, option("Maximum number of stages in a stack.", ge=1, le=4)] = 3
    folds: Annotated[
        int,
        option("Number of cross-validation folds; all completions of a question are in the same fold.", ge=2, le=1_000),
    ] = 5
    figures: Annotated[Path | None, plot_folder("the plot of accuracy against cost")] = None
    basis: Basis = Basis()
    form: TableForm = TableForm()
    force: Force = False


@verb
def stack_command(project: Project, options: StackOptions) -> Output:
    """Find the best stack of verifiers, or show the accuracy and cost of one, from stored verdicts: no calls are made.

    In a stack each stage judges the items deferred by the stages before it. A stage decides an item by its verdict
    (correct, incorrect or both) or by its score; @ with answer types restricts the stage to items of these types.
    Without --stages all stacks are tried. The best is chosen on four fifths of the questions and evaluated on the rest,
    in turn (--folds). The table of stages shows how often each was wrong on its decided items, by answer type.
    """
    from workbench.measuring.stack_choosing import best_stacks
    from workbench.measuring.stack_tables import best_text, simulated_text, write_front_plot
    from workbench.measuring.stacking import simulate

    if options.stages is not None:
        _reject_search_options(options)
        simulated = simulate(project, options.stages, **options.basis.arguments)
        return Output(simulated, lambda found: simulated_text(found, options.form))
    report = best_stacks(
        project,
        options.verifiers,
        against=options.against,
        under=options.under,
        reference=options.reference,
        margin=options.margin / 100,
        most_stages=options.most_stages,
        folds=options.folds,
        **options.basis.arguments,
    )
    draw(write_front_plot, report, options.figures, force=options.force)
    return Output(report, lambda found: best_text(found, options.form))


def _reject_search_options(options: StackOptions) -> None:
    given = {
        "--verifier": options.verifiers,
        "--against": options.against,
        "--under": options.under,
        "--not-worse-than": options.reference,
        "--figures": options.figures,
    }
    if wrong := [name for name, value in given.items() if value]:
        raise UsageError(f"{wrong[0]} is only for the search for the best stack.", "Leave it or --stages out.")
