"""``workbench accuracy``, ``tables``, ``report`` and ``compare``."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import click

from workbench.app.cli.common import key_and_value, say
from workbench.app.cli.verb import Output, verb
from workbench.app.cli.writing import shown
from workbench.core.errors import UsageError
from workbench.core.options import (
    Basis,
    Force,
    Gold,
    Options,
    Protocol,
    Run,
    TableForm,
    Verifiers,
    Where,
    argument,
    option,
    plot_folder,
    require_one,
    run_job,
)
from workbench.core.project import Project
from workbench.core.selection import GROUPS, selection_of
from workbench.core.text.figures import counted
from workbench.measuring.accuracy import SEED, accuracy
from workbench.statistics.records.report import METRICS

if TYPE_CHECKING:
    from workbench.measuring.comparing_tables import Report
    from workbench.measuring.records.documents import PaperNumber


class AccuracyOptions(Options, frozen=True, kw_only=True):
    verifiers: Verifiers = ()
    by: Annotated[
        str | None,
        option(
            f"Break down by one of {', '.join(GROUPS)} (reason is the verifier's reason code), by column:NAME "
            "(an imported column), or by several crossed; the row over all items is always shown.",
            metavar="FIELD[,FIELD]",
        ),
    ] = None
    protocol: Protocol = None
    gold: Gold = "final"
    run: Run = None
    where: Where = ()
    prevalence: Annotated[
        float | None,
        option(
            "Also estimate each verifier's accuracy if this share of completions were correct, and at which "
            "shares each verifier is the best.",
            metavar="SHARE",
        ),
    ] = None
    accept_rate: Annotated[
        float | None,
        option(
            "Also estimate the true share of correct completions if a verifier accepts this share of them (Rogan and "
            "Gladen's estimator).",
            metavar="SHARE",
        ),
    ] = None
    label_noise: Annotated[
        bool,
        option("Also estimate each verifier's accuracy against error-free labels, from the annotators' error rate."),
    ] = False
    seed: Annotated[int, option("Seed of the permutation tests.", ge=0)] = SEED
    sort: Annotated[
        str | None,
        option(
            "Sort verifiers by name, or by this metric over all items, best first; baselines stay last.",
            choices=("name", *METRICS),
        ),
    ] = None
    form: TableForm = TableForm()
    long: Annotated[bool, option("Show every metric, one row per verifier, instead of accuracy by answer type.")] = (
        False
    )


@verb
def accuracy_command(project: Project, options: AccuracyOptions, as_json: bool) -> Output:
    """Show how accurate verifiers are, with intervals clustered by question.

    By default a table of verifiers by answer type and its findings are shown. With --by or --long every metric is
    shown, one row per verifier and group.

    Accuracy alone misleads if most rows are incorrect: read it with MCC, balanced accuracy, both error rates and the
    baselines, which need no run: always-incorrect, always-correct, and majority-by-type, which gives each type the most
    frequent label of the same gold it is measured on.

    A group has a delta, its accuracy less that of its type (subtypes) or of all items (other groups), a p-value of the
    permutation test by question, and a q-value over all cells of the table (Benjamini and Hochberg), of subtypes within
    significant types (Benjamini and Bogomolov). Micro is the mean over items, macro the unweighted mean over groups.

    Intervals are Wilson's, with Student's t and the effective number of items (adjusted for clusters). Where few
    questions are wrong, or few are right, they are Clopper and Pearson's. Intervals of balanced accuracy and MCC
    combine those of the two classes (Zou and Donner).
    """
    from workbench.measuring.accuracy_tables import accuracy_as, overview_as, sorted_by

    in_full = as_json or options.long or options.by or options.label_noise or options.form.format == "csv"
    report = run_job(accuracy, options, project, by=options.by if in_full else "type")
    if options.sort is not None:
        report = sorted_by(report, options.sort)
    return Output(report, lambda found: (accuracy_as if in_full else overview_as)(found, options.form))


# -- ``workbench tables DB --paper``


class TablesOptions(Options, frozen=True, kw_only=True):
    paper: Annotated[bool, option("Show the tables of the VerifyBench paper (arXiv 2505.15801).")]
    numbers: Annotated[
        tuple[int, ...], option("Show only the table with this number (repeatable).", "--table", ge=1, le=5)
    ] = ()
    datasets: Annotated[
        tuple[str, ...],
        option(
            "Show only this data set; several are shown in the given order (repeatable).", "--dataset", metavar="NAME"
        ),
    ] = ()
    sets: Annotated[
        tuple[str, ...],
        option("Add a column for this frozen set, after the data sets (repeatable).", "--set", metavar="NAME"),
    ] = ()
    where: Where = ()
    verifiers: Verifiers = ()
    given: Annotated[
        tuple[str, ...],
        option(
            "For table 3: compare judge A, which sees the reference answer, with judge B, which does not "
            "(repeatable).  [default: all pairs of judges that differ only in this]",
            "--pair",
            metavar="A=B",
        ),
    ] = ()
    elsewhere: Annotated[
        Path | None,
        option(
            "For table 4: file with scores on other benchmarks, to be shown as columns; each line has "
            "verifier, benchmark and score, from 0 to 1.",
            metavar="FILE",
        ),
    ] = None
    protocol: Protocol = None
    gold: Gold = "final"
    form: TableForm = TableForm()


@verb
def tables_command(project: Project, options: TablesOptions) -> Output:
    """Show the tables of the VerifyBench paper for this project's data sets, or frozen sets, and verifiers.

    1 counts; 2 accuracy by answer type and its average over items; 3 judges with and without the reference answer; 4
    pairs of completions, for verifiers that give scores; 5 answer subtypes, compared with their types. Abstentions
    count as wrong here, as in the paper, unless --protocol says otherwise.
    """
    from workbench.measuring.downstream import scores_elsewhere
    from workbench.measuring.paper import PaperFigures, paper_tables, tables_text
    from workbench.measuring.records.documents import PAPER_NUMBERS

    given = [key_and_value(text, "--pair") for text in options.given]
    elsewhere = () if options.elsewhere is None else scores_elsewhere(options.elsewhere)
    figures = run_job(
        PaperFigures, options, project, only=selection_of(options.where), given=given, elsewhere=elsewhere
    )
    found = paper_tables(figures, cast("tuple[PaperNumber, ...]", options.numbers) or PAPER_NUMBERS)
    return Output(found, lambda found: tables_text(found, options.form))


# -- ``workbench report DB -o FILE``


class ReportOptions(Options, frozen=True, kw_only=True):
    file: Annotated[
        Path | None, option("Output file; - is standard output.", "-o", "--output", metavar="FILE", output="stream")
    ] = None
    figures: Annotated[Path | None, plot_folder("the report's plots")] = None
    format: Annotated[
        Literal["html", "markdown"] | None,
        option("Format of the report.  [default: markdown if the file's name ends in .md, else html]"),
    ] = None
    verifiers: Verifiers = ()
    basis: Basis = Basis()
    examples: Annotated[
        int, option("Maximum number of examples per verifier and kind of error.", metavar="N", ge=0, le=50)
    ] = 3
    force: Force = False


@verb
def report_command(project: Project, options: ReportOptions) -> Output:
    """Write one self-contained page: data card, tables, plots, confusion matrices, comparisons, examples, methods.

    The page needs no network and no script, and executes nothing from the data. It shows questions, final answers and
    the ends of completions as examples; --examples 0 leaves them out. The same database always gives the same bytes,
    apart from the date.

    --figures writes its plots for a paper, with or without the report: they are readable without colour, and the same
    database gives the same bytes.
    """
    from workbench.coding.reporting import code_sections
    from workbench.measuring.report.gathering import gather, write_report

    file = options.file
    if file is None and options.figures is None:
        raise UsageError(
            "No file is named.", "Write: workbench report DB -o report.html, or --figures FOLDER, or both."
        )
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    done = write_report(
        project,
        file,
        partial(run_job, gather, options, project, generated_at=now),
        figures=options.figures,
        format=options.format or ("markdown" if file is not None and file.suffix == ".md" else "html"),
        force=options.force,
        more=() if file is None else code_sections(project, options.basis.selection),
    )
    drawn = [click.format_filename(path) for path in done.figures]
    value: dict[str, object] = {} if file is None else {"written": click.format_filename(file), "bytes": done.size}
    said = [] if file is None else [f"{shown(file)}: {done.size:,} bytes"]
    if options.figures is not None:
        value |= {"figures": drawn}
        said.append(f"{shown(options.figures)}: {counted(len(drawn), 'file')}")
    return Output(value, lambda _: say("\n".join(said)))


# -- ``workbench compare DB A B``, and the same of more verifiers than two.


class CompareOptions(Options, frozen=True, kw_only=True):
    verifiers: Annotated[tuple[str, ...], argument("[VERIFIER]...")] = ()
    everyone: Annotated[bool, option("Compare all verifiers with each other.", "--all")] = False
    against: Annotated[
        str | None, option("Compare each verifier with this one instead of comparing all pairs.", metavar="NAME")
    ] = None
    errors: Annotated[
        bool, option("Show agreement and joint errors of the named verifiers, or of all if none is named.")
    ] = False
    by: Annotated[
        str | None,
        option(
            "For two verifiers: count wins and losses by these fields, such as type, subtype or domain.",
            metavar="FIELD[,FIELD]",
        ),
    ] = None
    basis: Basis = Basis()
    examples: Annotated[
        int,
        option(
            "For two verifiers A and B: list up to N items each of four kinds: both judge them correctly, only A, "
            "only B, or neither.",
            metavar="N",
            ge=0,
            le=1_000,
            shows_default=False,
        ),
    ] = 0
    form: TableForm = TableForm()


@verb
def compare_command(project: Project, options: CompareOptions) -> Output:
    """Compare verifiers in pairs, on the items that both have judged.

    For two verifiers, it shows paired counts, both tests, and the differences with their intervals. McNemar's exact
    test treats items as independent; intervals and the permutation test are clustered by question, since completions of
    one question are right or wrong together. For more than two verifiers, every pair is tested, and p-values are
    adjusted for the number of tests.
    """
    from workbench.measuring import comparing, family
    from workbench.measuring.comparing_tables import comparison_as

    for other in ("everyone", "against"):
        require_one(options, "errors", other, optional=True)
    require_one(options, "verifiers", "everyone", optional=True)
    is_pair = len(options.verifiers) == 2 and not (options.errors or options.against)
    if not is_pair and (options.by or options.examples):
        raise UsageError("--by and --examples require exactly two verifiers.")
    report: Report
    if is_pair:
        report = run_job(comparing.compare, options, project, *options.verifiers)
    elif options.errors:
        report = run_job(comparing.joint_errors, options, project)
    elif options.everyone or options.against or len(options.verifiers) > 2:
        report = run_job(family.family, options, project)
    else:
        raise UsageError("Name two or more verifiers, or use --all.")
    return Output(report, lambda found: comparison_as(found, options.form))
