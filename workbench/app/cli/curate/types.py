"""``workbench curate DB types --model NAME``, ``--set QUESTION=SUBTYPE`` and ``--list``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.asking import ModelSettings, drawing, say_calls
from workbench.app.cli.common import REFUSED_SOME, key_and_value, options_of, print_line, show, some, trusting
from workbench.app.cli.curate.common import ScopeDataset, ScopeSource, counted, scope_of
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import By, Options, Trust, option
from workbench.core.text.figures import NONE, percent
from workbench.measuring.records.curation import COUNTING

if TYPE_CHECKING:
    from workbench.core.project import Project
    from workbench.measuring.records.curation import Scope, TypesProposed, TypesReport


class CurateTypesOptions(Options, frozen=True, kw_only=True):
    dataset: ScopeDataset = None
    source: ScopeSource = None
    model: Annotated[
        str | None, option("Ask this model: [models.NAME] of workbench.toml, or see -o base_url=…", metavar="NAME")
    ] = None
    settings: ModelSettings = ()
    name: Annotated[str | None, option("What the proposals are called.  [default: the model's name]")] = None
    untyped: Annotated[bool, option("Ask only about questions whose type nobody says.")] = False
    said: Annotated[
        tuple[str, ...],
        option("Say a question's type, such as q7=A1 (repeatable).", "--set", metavar="QUESTION=SUBTYPE"),
    ] = ()
    accept: Annotated[
        Literal["people", "model"] | None,
        option(
            "Let types count everywhere: what one person alone said (people), or the newest proposals where nobody "
            "said anything (model).  [people]",
            bare="people",
        ),
    ] = None
    by: By = "coordinator"
    listing: Annotated[bool, option("Print the newest proposals, one JSON line a question.", "--list")] = False
    trust: Trust = False


@verb(within=True)
def command(project: Project, options: CurateTypesOptions) -> Output | None:
    """Have a model propose answer types, say types yourself, accept them, or see who says what.

    A type counts, in accuracy as everywhere, when the file came with it or people settled it: two agree, or a third
    decides. What one person alone said and what a model proposed stands apart; it serves draws without --confirmed,
    and counts elsewhere after --accept. A proposal is no label: annotators don't see it. Whole files of people's types
    come in with: workbench labels DB import FILE, a line {"question_id": …, "annotator": …, "answer_subtype": "A1"}.
    Questions that a model finds without a type are listed by: workbench curate DB exclude --candidates
    """
    if sum((options.model is not None, bool(options.said), options.listing, options.accept is not None)) > 1:
        raise UsageError("Give one of --model, --set, --accept and --list.")
    scope = scope_of(options.dataset, options.source)
    if options.model is not None:
        return _propose(project, options.model, options, scope)
    if options.said:
        return _say(project, options)
    from workbench.benchmarks.curating.types import accept_types, proposals, types_report

    if options.accept is not None:
        taken = accept_types(project, scope, options.accept, by=options.by)
        return Output(
            taken,
            lambda found: [f"{found.imported:,} accepted: they count from now on."],
            after=some([f"{one['field']}: {one['message']}" for one in taken.refusals]) if taken.refused else (),
            code=REFUSED_SOME if taken.refused else 0,
        )
    if not options.listing:
        return Output(types_report(project, scope), _print)
    for one in proposals(project):
        print_line(one)
    return None


def _propose(project: Project, model: str, options: CurateTypesOptions, scope: Scope) -> Output:
    from workbench.benchmarks.curating.types import USUAL, propose_types
    from workbench.runs.generation import models_from

    models = models_from(project, [model], options_of(options.settings), USUAL)
    name = options.name or model
    with drawing() as watch:
        report = trusting(
            lambda yes: propose_types(
                project, name, models, scope, untyped_only=options.untyped, trust=yes, watch=watch
            ),
            options.trust,
        )
    say_calls(project, report.run)
    failed = f"  {report.failed:,} calls failed for good; the same command tries them again."
    return Output(
        report,
        _proposed_lines,
        after=[failed] if report.failed else (),
        code=REFUSED_SOME if report.failed else 0,
    )


def _proposed_lines(report: TypesProposed) -> Iterator[str]:
    yield f"{report.asked:,} questions asked about ({report.name}, run {report.run})"
    yield f"proposed: {counted(report.proposed)}"
    yield f"none of the four types: {counted(report.outside)}; unreadable: {report.unreadable:,}"


def _say(project: Project, options: CurateTypesOptions) -> Output:
    from workbench.benchmarks.curating.types import TypeSaid, say_types

    pairs = [key_and_value(text, "--set") for text in options.said]
    said = [TypeSaid(question_id=key, subtype=subtype) for key, subtype in pairs]
    report = say_types(project, said, by=options.by, dataset=options.dataset)
    return Output(
        report,
        lambda found: [f"{found.imported} said, {found.unchanged} unchanged, {found.refused} refused"],
        after=some([f"{pairs[int(str(one['line'])) - 1][0]}: {one['message']}" for one in report.refusals]),
        code=REFUSED_SOME if report.refused else 0,
    )


def _print(report: TypesReport) -> None:
    counts = {word: count for word, count in report.origins.items() if word in COUNTING}
    apart = {word: count for word, count in report.origins.items() if word not in COUNTING}
    show(f"{report.questions:,} questions; the types of {report.counting:,} count: {counted(counts)}")
    show(f"of the others: {counted(apart)}")
    if report.alone:
        instead = "" if report.origins.get("one person") else " instead of their file"
        show(f"To let what one person said of {report.alone:,} count{instead}: workbench curate DB types --accept")
    if proposed := report.origins.get("model"):
        show(f"To let what a model proposed of {proposed:,} count: workbench curate DB types --accept model")
    for one in report.proposals:
        show(f"{one.verifier} (run {one.run}): {one.suggested:,} of {one.questions:,} questions with a proposal")
        subtype = NONE if one.accuracy is None else percent(one.accuracy)
        letter = NONE if one.type_accuracy is None else percent(one.type_accuracy)
        show(f"  as people or files say: {subtype} of {one.compared:,} by subtype, {letter} by type")
