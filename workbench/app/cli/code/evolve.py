"""``workbench code evolve DB --name NAME --model MODEL``; with ``--show``, what it has come to."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.asking import ModelSettings, ProblemSet, Programs, drawing
from workbench.app.cli.common import options_of, say, trusting
from workbench.app.cli.verb import Output, ToStdout, verb
from workbench.app.cli.writing import shown
from workbench.core.errors import UsageError
from workbench.core.options import AllowUnsafe, Force, Options, Trust, Whole, option

if TYPE_CHECKING:
    from workbench.coding.records.evolution_report import EvolutionReport
    from workbench.core.project import Project


class CodeEvolveOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("The evolution's; its suites are called after it.", metavar="NAME")]
    model: Annotated[
        str | None, option("Who writes tests: [models.NAME] of workbench.toml, or see -o base_url=…", metavar="NAME")
    ] = None
    settings: ModelSettings = ()
    rounds: Annotated[int, option(ge=1, le=20)] = 3
    seed: Annotated[int, option("Of every draw.")] = 0
    problems: Annotated[Whole | None, option("Only the first so many problems that can evolve.")] = None
    only: Annotated[Path | None, option("Only problems of this file, such as duplicates --output.", metavar="FILE")] = (
        None
    )
    suite: Annotated[str, option("The tests of round 0.", metavar="NAME")] = "base"
    asked: Annotated[int, option("Asked for at a time.", "--tests", ge=1, le=200)] = 20
    objective: Annotated[
        Literal["released", "max-min", "max-sum"],
        option("By what three solutions are shown beside the two best (docs/code-evolution.md)."),
    ] = "released"
    easiest: Annotated[
        float | None, option("Don't show tests that at least this share passes to make harder ones.", gt=0, le=1)
    ] = None
    keep_unverified: Annotated[bool, option("Take tests that the reference solution fails, too.")] = False
    seconds: Annotated[
        float | None, option("Of a test; else its problem's, or 3.", "--timeout", metavar="SECONDS", ge=0.01, le=600)
    ] = None
    extractor: Annotated[Literal["fence-1", "lines-1"], option()] = "fence-1"
    dataset: ProblemSet = None
    workers: Programs = None
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False
    show: Annotated[bool, option("Only show what the evolution has come to.")] = False
    page: Annotated[
        Path | None, option("Write tables and plots as a page of HTML.", metavar="FILE", output="stream")
    ] = None
    lines: Annotated[
        Path | None, option("Write the result for training.", "--export", metavar="FILE", output="stream")
    ] = None
    force: Force = False


@verb(to_stdout=ToStdout("page", "lines"))
def command(project: Project, options: CodeEvolveOptions) -> Output:
    """Grow suites of tests harder by rounds against the solutions they let through (EvolveCoder).

    In each round a model sees five solutions with their results and writes tests: first such as fail the best, then
    such as tell alike ones apart. They are executed over all solutions of the problem and filtered. The result are the
    suites NAME-round-1 … and NAME. The same command goes on after any end, to the same bytes.

    workbench code evolve DB --name hard --model gpt-4.1-mini -o base_url=https://api.openai.com/v1

    workbench code evolve DB --name hard --show --page hard.html --export hard.jsonl
    """
    if options.model is None and not options.show:
        raise UsageError("Say which model writes tests: --model NAME", "To see an evolution: --show")
    from workbench.coding.evolution import evolved
    from workbench.coding.evolution.running import export, write_page
    from workbench.coding.evolution.tables import evolution_text

    if options.show or options.model is None:
        report = evolved.report(project, evolved.evolution(project, options.name, options.dataset))
    else:
        report = _run(project, options.model, options)
    row = evolved.evolution(project, options.name, report.dataset)
    if options.page is not None:
        write_page(
            project, row, options.page, made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), force=options.force
        )
    if options.lines is not None:
        say(f"{export(project, row, options.lines, force=options.force):,} problems written to {shown(options.lines)}")
    return Output(report, evolution_text)


def _run(project: Project, model: str, options: CodeEvolveOptions) -> EvolutionReport:
    from workbench.coding.duplicates import read_kept
    from workbench.coding.evolution.refining import USUAL
    from workbench.coding.evolution.running import run
    from workbench.coding.records.evolution import EvolutionSettings
    from workbench.runs.generation import models_from

    wanted = EvolutionSettings(
        **{name: getattr(options, name) for name in EvolutionSettings.__struct_fields__ if hasattr(options, name)}
    )
    with drawing("problems") as watch:
        return trusting(
            lambda yes: run(
                project,
                options.name,
                models_from(project, [model], options_of(options.settings), USUAL),
                wanted,
                only=None if options.only is None else read_kept(options.only),
                dataset=options.dataset,
                problems=options.problems,
                workers=options.workers,
                allow_unsafe=options.allow_unsafe,
                trust=yes,
                watch=watch,
            ),
            options.trust,
        )
