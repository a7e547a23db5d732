"""``workbench best-of``, ``validity``, ``estimate``, ``correlate``, ``pairs``, ``calibrate`` ...."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from workbench.app.cli.common import draw
from workbench.app.cli.verb import Output, verb
from workbench.core.options import (
    Basis,
    Force,
    Gold,
    Options,
    Run,
    TableForm,
    Verifiers,
    Where,
    argument,
    option,
    plot_folder,
    read_sizes,
    run_job,
)
from workbench.core.project import Project

# -- ``workbench cost DB``


class CostOptions(Options, frozen=True, kw_only=True):
    verifiers: Verifiers = ()
    against: Annotated[
        Literal["dollars", "tokens", "seconds", "calls"] | None,
        option("Cost to compare with accuracy.  [default: dollars if all prices are known, else tokens]"),
    ] = None
    basis: Basis = Basis()
    form: TableForm = TableForm()
    figures: Annotated[Path | None, plot_folder("plots of accuracy against cost")] = None
    force: Force = False


@verb
def cost_command(project: Project, options: CostOptions) -> Output:
    """Show the cost of verdicts next to their accuracy: calls, tokens, seconds and dollars per item.

    The cost of each verifier is computed as if no reply had been stored before, so that shared replies make no verifier
    cheaper. Tokens are generated tokens, including thoughts; those of simulated executions and of written tests are
    listed separately. ● marks verifiers on the frontier: no other verifier is as accurate at a lower cost, or more
    accurate at the same cost.
    """
    from workbench.measuring.costs import cost_plots, cost_table, costs
    from workbench.tables.files import format_tables

    report = run_job(costs, options, project)
    draw(cost_plots(report), options.figures, force=options.force)
    return Output(report, lambda found: format_tables([cost_table(found)], options.form))


# -- ``workbench best-of DB``


class BestOfOptions(Options, frozen=True, kw_only=True):
    verifiers: Verifiers = ()
    sizes: Annotated[
        tuple[int, ...],
        option(
            "Numbers of completions to pick from.  [default: 1, 2, 4, 8 …]", "--n", metavar="N[,N…]", read=read_sizes
        ),
    ] = ()
    basis: Basis = Basis()


@verb
def best_of_command(project: Project, options: BestOfOptions) -> Output:
    """Show how often a verifier's pick from n completions is correct (best of n).

    A verifier picks by its scores if it gives any, else by its verdicts. The result is compared with a random pick and
    with the best possible one (pass@n). Only questions with at least n completions count, all equally; --protocol says
    how abstentions are counted.
    """
    from workbench.measuring.selecting import best_of, best_of_text

    report = run_job(best_of, options, project)
    return Output(report, best_of_text)


# -- ``workbench validity DB``


class ValidityOptions(Options, frozen=True, kw_only=True):
    verifiers: Verifiers = ()
    gold: Gold = "final"
    where: Where = ()


@verb
def validity_command(project: Project, options: ValidityOptions) -> Output:
    """Check what verdicts depend on besides correctness: length, authorship, form, chance.

    Only completions with the same gold and answer type are compared, since gold itself correlates with length and form.
    Intervals are clustered by question. Flip rates need several samples or runs. Judges that selected the data are
    named (workbench selected-by).
    """
    from workbench.measuring.validity import validity, validity_text

    report = run_job(validity, options, project)
    return Output(report, validity_text)


# -- ``workbench estimate DB VERIFIER``


class EstimateOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()]
    predictors: Annotated[
        tuple[str, ...],
        option(
            "Verifier whose verdicts predict gold (repeatable).  [default: all other verifiers that have run]",
            "--predictor",
            metavar="NAME",
        ),
    ] = ()
    by: Annotated[
        str | None,
        option(
            "Break down by these fields (those of `workbench accuracy`), with labels stratified by them.",
            metavar="FIELD[,FIELD]",
        ),
    ] = None
    basis: Basis = Basis()


@verb
def estimate_command(project: Project, options: EstimateOptions) -> Output:
    """Estimate a verifier's accuracy on all items it has judged when few of them have gold.

    Other verifiers' verdicts on all items are corrected by their errors on the labelled ones (prediction-powered
    inference). The estimate is shown next to the estimate from labels alone, with the number of labels it saves.
    Labelled items are assumed to be a random sample; --by gives each group's labels the weight of its items.
    """
    from workbench.measuring.estimating import estimate, estimate_text

    report = run_job(estimate, options, project)
    return Output(report, estimate_text)


# -- ``workbench correlate DB VERIFIER``


class CorrelateOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()]
    gold: Gold = "final"
    where: Where = ()
    run: Run = None


@verb
def correlate_command(project: Project, options: CorrelateOptions) -> Output:
    """Show how well a verifier's scores correlate with gold labels: Kendall, Pearson and Spearman.

    Each coefficient is computed over all items, and as the mean of the coefficients of single questions. A question
    whose scores or labels are all equal has no coefficient; the number of questions that have one is shown.
    """
    from workbench.measuring.scores import correlate, correlation_lines

    report = run_job(correlate, options, project)
    return Output(report, correlation_lines)


# -- ``workbench pairs DB VERIFIER``


class PairsOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument("VERIFIER")]
    by: Annotated[
        Literal["type", "subtype", "domain", "source", "dataset"] | None,
        option("Break down by this field; the row over all pairs is always shown."),
    ] = None
    gold: Gold = "final"
    where: Where = ()


@verb
def pairs_command(project: Project, options: PairsOptions) -> Output:
    """Show how often a verifier scores a question's correct completion above its incorrect one.

    It needs questions with exactly one correct and one incorrect completion; a tie counts as wrong.
    """
    from workbench.measuring.scores import pairs, pairs_text

    report = run_job(pairs, options, project)
    return Output(report, pairs_text)


# -- ``workbench calibrate DB VERIFIER``


class CalibrateOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument("VERIFIER")]
    folds: Annotated[
        int,
        option("Number of cross-validation folds; all completions of a question are in the same fold.", ge=2, le=1_000),
    ] = 5
    figures: Annotated[Path | None, plot_folder("reliability plots")] = None
    gold: Gold = "final"
    where: Where = ()
    force: Force = False


@verb
def calibrate_command(project: Project, options: CalibrateOptions) -> Output:
    """Show how well a verifier's scores predict correctness, raw and calibrated against gold.

    Compares its verdicts, its scores, and its scores after Platt's sigmoid and after isotonic regression: AUROC,
    pairwise accuracy, the expected calibration error (ECE) with its interval, Brier score. The calibrations are fitted
    on four fifths of the questions and evaluated on the rest, in turn (--folds).
    """
    from workbench.measuring.calibrating import calibrate, calibration_plots, calibration_text

    report = run_job(calibrate, options, project)
    draw(calibration_plots(report), options.figures, force=options.force)
    return Output(report, calibration_text)


# -- ``workbench downstream DB FILE``


class DownstreamOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, argument(exists=True)]
    by: Annotated[
        str | None,
        option("Also break accuracy down by these fields (those of `workbench accuracy`).", metavar="FIELD[,FIELD]"),
    ] = None
    scored_by: Annotated[
        str | None,
        option(
            "Verifier whose verdicts decide which completions of the models are correct.  [default: gold "
            "labels decide]",
            metavar="VERIFIER",
        ),
    ] = None
    figures: Annotated[Path | None, plot_folder("curves of scores by training step")] = None
    basis: Basis = Basis()
    force: Force = False


@verb
def downstream_command(project: Project, options: DownstreamOptions) -> Output:
    """Show how verifiers' accuracy relates to the scores of models trained with them.

    FILE holds JSON lines, or CSV with these columns: "verifier", "benchmark", "score", optionally "step", "seed" and
    "n" (items of the benchmark). Verifiers are compared at the training steps they all have; seeds are averaged. For a
    line with "verifier" and "model", the scores are the mean accuracies of that model's completions in DB, by data set
    (avg@k). Exit code 3: some lines were rejected.
    """
    from workbench.measuring.downstream import downstream, downstream_text, step_curves

    report = run_job(downstream, options, project, options.file)
    draw(step_curves(report.steps), options.figures, force=options.force)
    return Output(report, downstream_text).refusing(options.file, report.refusals)


# -- ``workbench stack DB``


class StackOptions(Options, frozen=True, kw_only=True):
    stages: Annotated[
        str,
        option("The stack: its stages in order, such as rules:correct, qwen:score>=0.9@A/B, gpt", metavar="STAGES"),
    ] = ""
    basis: Basis = Basis()
    form: TableForm = TableForm()


@verb
def stack_command(project: Project, options: StackOptions) -> Output:
    """Show the accuracy and cost of a stack of verifiers, from stored verdicts: no calls are made.

    In a stack each stage judges the items deferred by the stages before it. A stage decides an item by its verdict
    (correct, incorrect or both) or by its score; @ with answer types restricts the stage to items of these types. The
    table of stages shows how often each was wrong on its decided items, by answer type.
    """
    from workbench.measuring.stacking import simulate, simulated_text

    report = run_job(simulate, options, project, options.stages)
    return Output(report, lambda found: simulated_text(found, options.form))
