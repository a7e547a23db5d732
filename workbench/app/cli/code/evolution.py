"""``workbench code evolve``, ``duplicates``, ``refine`` and ``representatives``."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import click

from workbench.app.cli.code.common import Source
from workbench.app.cli.common import (
    REFUSED_SOME,
    ModelSettings,
    asked,
    cluster_at,
    drawing,
    model_option,
    print_lines,
    project_at,
    say,
    say_calls,
    say_nodes,
    say_some,
    show,
    trusting,
)
from workbench.app.cli.verb import Output, verb
from workbench.app.cli.writing import shown
from workbench.coding.options import OwnPromptFiles, ProblemSet, ProgramOptions, RefinementOptions
from workbench.coding.records.figures import RefineReport
from workbench.core.errors import UsageError
from workbench.core.options import (
    NONE_GIVEN,
    DatabaseOrFile,
    Force,
    Options,
    Trust,
    Whole,
    option,
    require_one,
    restricted,
    run_job,
)
from workbench.core.project import Project
from workbench.core.text.figures import counted
from workbench.data.records import DuplicateReport

if TYPE_CHECKING:
    from workbench.coding.duplicates import ProblemCosines
    from workbench.coding.records.evolution import EvolutionReport


class CodeEvolveOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("Name of the evolution, and prefix of its test suites.", metavar="NAME")]
    model: Annotated[str | None, model_option("Model that writes the tests")] = None
    settings: ModelSettings = NONE_GIVEN
    rounds: Annotated[int, option("Number of rounds.", ge=1, le=20)] = 3
    seed: Annotated[int, option("Seed of all random draws.")] = 0
    problems: Annotated[
        Whole | None, option("Maximum number of problems to evolve; the first suitable ones are used.")
    ] = None
    only: Annotated[
        Path | None,
        option("Evolve only the problems in this file, such as the output of code duplicates.", metavar="FILE"),
    ] = None
    suite: Annotated[str, option("Test suite to start from, as round 0.", metavar="NAME")] = "base"
    asked: Annotated[int, option("Number of tests requested per model call.", "--tests", ge=1, le=200)] = 20
    objective: Annotated[
        Literal["released", "max-min", "max-sum"],
        option(
            "Criterion for choosing the three solutions that the model sees in addition to the two best "
            "(docs/code-evolution.md)."
        ),
    ] = "released"
    easiest: Annotated[
        float | None,
        option("Don't show the model, as examples, tests that at least this share of solutions passes.", gt=0, le=1),
    ] = None
    keep_unverified: Annotated[bool, option("Keep tests even if the reference solution fails them.")] = False
    seconds: Annotated[
        float | None,
        option(
            "Time limit per test, in seconds.  [default: the problem's limit, else 3]",
            "--timeout",
            metavar="SECONDS",
            ge=0.01,
            le=600,
        ),
    ] = None
    extractor: Annotated[
        Literal["fence-1", "lines-1"],
        option(
            "How code is extracted from a reply: fence-1 (the last fenced block with the entry point) or "
            "lines-1 (the longest range of lines that parses)."
        ),
    ] = "fence-1"
    templates: OwnPromptFiles = ()
    dataset: ProblemSet = None
    programs: ProgramOptions = ProgramOptions()
    trust: Trust = False
    show: Annotated[bool, option("Show the state of the evolution without continuing it.")] = False
    lines: Annotated[
        Path | None,
        option(
            "Write the evolved problems and tests to this file, as training data.",
            "--export",
            metavar="FILE",
            output="stream",
        ),
    ] = None
    force: Force = False


@verb
def evolve_command(project: Project, options: CodeEvolveOptions) -> Output:
    """Make test suites harder, round by round, against the solutions that pass them (EvolveCoder).

    In each round a model sees five solutions with their results and writes tests: first tests that the best ones fail,
    then tests that distinguish similar ones. The tests run on all solutions of the problem and are filtered. The result
    is the suites NAME-round-1 … and NAME. After any interruption the same command continues, with identical results.

    workbench code evolve DB --name hard --model gpt-4.1-mini -o base_url=https://api.openai.com/v1

    workbench code evolve DB --name hard --show --export hard.jsonl

    To have its tables and plots as a page: workbench report DB -o report.html
    """
    if options.model is None and not options.show:
        raise UsageError("Name the model that writes the tests: --model NAME", "To show an evolution: --show")
    from workbench.coding.evolution import evolved
    from workbench.coding.evolution.running import export
    from workbench.coding.evolution.tables import evolution_text

    if options.show or options.model is None:
        report = evolved.report(project, evolved.evolution(project, options.name, options.dataset))
    else:
        report = _run_evolution(project, options.model, options)
    if options.lines is not None:
        row = evolved.evolution(project, options.name, report.dataset)
        say(f"{export(project, row, options.lines, force=options.force):,} problems written to {shown(options.lines)}")
    return Output(report, evolution_text)


def _run_evolution(project: Project, model: str, options: CodeEvolveOptions) -> EvolutionReport:
    from workbench.coding.duplicates import read_remaining
    from workbench.coding.evolution.refining import USUAL
    from workbench.coding.evolution.running import run
    from workbench.coding.records.evolution import EvolutionSettings
    from workbench.runs.generation import models_from

    # Not by `run_job`: the sandbox, not the options of programs, decides on a scratch folder.
    wanted = EvolutionSettings(
        **{name: getattr(options, name) for name in EvolutionSettings.__struct_fields__ if hasattr(options, name)}
    )
    cluster = cluster_at(options.programs.cluster)
    work = partial(
        run_job,
        run,
        options,
        project,
        options.name,
        models_from(project, [model], options.settings, USUAL),
        wanted,
        only=None if options.only is None else read_remaining(options.only),
        cluster=cluster,
    )
    report = asked(work, options.trust, "problems")
    say_nodes(cluster)
    return report


# -- ``workbench code duplicates DB|--from FILE``


class CodeDuplicatesOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    source: Source = None
    model: Annotated[str | None, model_option("Embedding model on a server"), restricted(needs="database")] = None
    settings: ModelSettings = NONE_GIVEN
    local: Annotated[
        str | None,
        option(
            "Embedding model of sentence-transformers on this machine: a folder or a Hugging Face name.",
            metavar="NAME",
            needs="database",
        ),
    ] = None
    threshold: Annotated[float, option("Cosine similarity above which two problems are duplicates.", ge=-1, le=1)] = 0.9
    seed: Annotated[int, option("Seed of the random choice of which duplicate is kept.")] = 0
    kept: Annotated[
        Path | None,
        option(
            "Write the kept problems to this file; `code evolve` can be restricted to it.",
            "--output",
            metavar="FILE",
            output="stream",
        ),
    ] = None
    trust: Trust = False
    force: Force = False


@verb
def duplicates_command(options: CodeDuplicatesOptions) -> Output:
    """Find problems with the same content by the cosine of their embeddings; one of each group is kept, drawn by seed.

    FILE holds one problem per line, {"task_id": …, "vector": […], "source": …}. The paper's model is
    sentence-transformers/all-mpnet-base-v2. Nothing is deleted.
    """
    from workbench.coding.duplicates import find_duplicates, read_cosines, write_remaining

    require_one(options, "database", "source")
    if options.database is not None:
        require_one(options, "model", "local")
    with nullcontext() if options.database is None else project_at(options.database) as project:
        compared = (
            read_cosines(cast("Path", options.source)) if project is None else _cosines_of_embeddings(project, options)
        )
        report = find_duplicates(compared, threshold=options.threshold, seed=options.seed)
        if options.kept is not None:
            write_remaining(compared, report, options.kept, project=project, force=options.force)
    return Output(report, _show_duplicates)


def _show_duplicates(report: DuplicateReport) -> None:
    from workbench.coding.evolution.tables import duplicates_text

    click.echo(duplicates_text(report), nl=False)
    say_some([f"  {one.task_id} is a duplicate of {one.of} ({one.similarity:.3f})" for one in report.duplicates])


def _cosines_of_embeddings(project: Project, options: CodeDuplicatesOptions) -> ProblemCosines:
    from workbench.coding.duplicates import embed_by_server, embed_locally
    from workbench.runs.generation import models_from

    if options.local is not None:
        return embed_locally(project, options.local)
    model = str(options.model)
    models = models_from(project, [model], options.settings)
    return asked(partial(embed_by_server, project, model, models), options.trust, "requests")


# -- ``workbench code refine DB --model MODEL --output FILE``


_WHY = {"no_problem": "no reply, or an incomplete one", "few_tests": "too few of its tests check the function"}


class CodeRefineOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("Name of the run that records the model calls.", metavar="NAME")] = "refined"
    model: Annotated[str, model_option("Model that rewrites the problems")]
    settings: ModelSettings = NONE_GIVEN
    functions: Annotated[
        bool, option("Also rewrite problems that already ask for a function, not only those that read standard input.")
    ] = False
    file: Annotated[
        Path,
        option(
            "Write the rewritten problems to this file, as input of `workbench import`.",
            "--output",
            metavar="FILE",
            output="stream",
        ),
    ]
    wish: RefinementOptions = RefinementOptions()
    problems: Annotated[Whole | None, option("Maximum number of problems to rewrite; the first ones are used.")] = None
    dataset: ProblemSet = None
    programs: ProgramOptions = ProgramOptions()
    trust: Trust = False
    force: Force = False


@verb
def refine_command(project: Project, options: CodeRefineOptions) -> Output:
    """Have a model rewrite problems that read standard input: each then asks for a function and has about 20 tests.

    The model's own solution is executed against its tests, and the number it passes is reported; but no test is dropped
    because of it, since a model's solution may be as wrong as its tests. A problem with too few tests that check the
    function is rejected, with the reason. For a problem without a reference solution only the text is sent. Import the
    file, have solutions written, and let the tests evolve.
    """
    from workbench.coding.evolution.refining import USUAL, prompts_of, refine, reply_settings
    from workbench.coding.problems import code_dataset, programs_sandbox
    from workbench.runs.generation import generating, models_from

    wish, found = options.wish, code_dataset(project, options.dataset)
    own, name = prompts_of(wish), f"refined/{options.name}"
    models = models_from(project, [options.model], options.settings, USUAL)
    cluster = cluster_at(options.programs.cluster)

    def run(accepted: bool) -> tuple[RefineReport, int]:
        with (
            programs_sandbox(project, options.programs, cluster, name) as sandbox,
            drawing() as watch,
            generating(project, name, models, reply_settings(wish, own), trust=accepted, watch=watch) as writer,
        ):
            places = (project, found, wish, writer, sandbox, options.file)
            return run_job(refine, options, *places, own=own, limit=options.problems), writer.run

    report, number = trusting(run, options.trust)
    say_calls(project, number)
    say_nodes(cluster)
    return Output(report, lambda found: _show_refined(found, options.file), code=REFUSED_SOME if report.refused else 0)


def _show_refined(report: RefineReport, file: Path) -> None:
    show(f"{report.written:,} of {report.problems:,} problems of {report.dataset} written to {shown(file)}")
    if report.tried_tests:
        show(
            f"Their own solutions pass {report.passed_tests:,} of {report.tried_tests:,} tests; they are not an oracle."
        )
    if untried := report.tests - report.tried_tests:
        show(f"{counted(untried, 'test')} came without a solution to run them on.")
    say_some([f"  {one.task_id}: {_WHY[one.reason]} ({counted(one.tests, 'test')})" for one in report.refused])


# -- ``workbench code representatives --from FILE --mode adversarial|discriminative``


class CodeRepresentativesOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, option("Input file with the pass vectors, one case per line.", "--from", metavar="FILE")]
    mode: Annotated[
        Literal["adversarial", "discriminative"],
        option(
            "Solutions to choose: adversarial (the best and most diverse five) or discriminative (the "
            "five that the tests distinguish least)."
        ),
    ]
    objective: Annotated[
        Literal["released", "max-min", "max-sum"],
        option(
            "Criterion of --mode adversarial. The criterion released chooses among solutions that pass 40 % to under "
            "90 % of the tests; the other criteria choose among all solutions."
        ),
    ] = "released"
    seed: Annotated[int, option("Seed of the random choice between equally good solutions.")] = 0


@verb(json=False)
def representatives_command(options: CodeRepresentativesOptions) -> None:
    """Choose the solutions that the model sees in code evolve, one JSON line per case: name, selected, …

    FILE holds one case per line, {"name": …, "vectors": ["1101", …]}, or one object of such cases by name. Each vector
    is one solution, with one character per test, 1 for a pass; selected holds indexes into the list, from 0.
    """
    from workbench.coding.evolution.representatives import representatives

    found = representatives(options.file, options.mode, objective=options.objective, seed=options.seed)
    print_lines(found, options.file)
