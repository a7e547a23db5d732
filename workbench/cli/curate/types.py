"""``workbench curate DB types --model NAME``, ``--set QUESTION=SUBTYPE`` and ``--list``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.asking import drawing, model_settings_option, say_calls
from workbench.cli.common import (
    REFUSED_SOME,
    by_option,
    json_option,
    key_and_value,
    options_of,
    print_json,
    print_line,
    project_at,
    say,
    say_some,
    show,
    trust_option,
    trusting,
)
from workbench.cli.curate.common import counted, scope_of, scope_options
from workbench.errors import UsageError
from workbench.model.curation import COUNTING
from workbench.render.bars import NONE, percent

if TYPE_CHECKING:
    from workbench.model.curation import Scope, TypesProposed, TypesReport
    from workbench.services.project import Project


@click.command()
@scope_options
@click.option("--model", metavar="NAME", help="Ask this model: [models.NAME] of workbench.toml, or see -o base_url=…")
@model_settings_option
@click.option("--name", help="What the proposals are called.  [default: the model's name]")
@click.option("--untyped", is_flag=True, help="Ask only about questions whose type nobody says.")
@click.option(
    "--set",
    "said",
    multiple=True,
    metavar="QUESTION=SUBTYPE",
    help="Say a question's type, such as q7=A1 (repeatable).",
)
@click.option(
    "--accept",
    type=click.Choice(["people", "model"]),
    is_flag=False,
    flag_value="people",
    help="Let types count everywhere: what one person alone said (people), or the newest proposals where nobody said "
    "anything (model).  [people]",
)
@by_option
@click.option("--list", "listing", is_flag=True, help="Print the newest proposals, one JSON line a question.")
@trust_option
@json_option
@click.pass_obj
def command(
    database: str,
    dataset: str | None,
    source: str | None,
    model: str | None,
    options: tuple[str, ...],
    name: str | None,
    untyped: bool,
    said: tuple[str, ...],
    accept: Any,
    by: str,
    listing: bool,
    trust: bool,
    as_json: bool,
) -> None:
    """Have a model propose answer types, say types yourself, accept them, or see who says what.

    A type counts, in accuracy as everywhere, when the file came with it or people settled it: two agree, or a third
    decides. What one person alone said and what a model proposed stands apart; it serves draws without --confirmed,
    and counts elsewhere after --accept. A proposal is no label: annotators don't see it. Whole files of people's types
    come in with: workbench labels DB import FILE, a line {"question_id": …, "annotator": …, "answer_subtype": "A1"}.
    Questions that a model finds without a type are listed by: workbench curate DB exclude --candidates
    """
    if sum((model is not None, bool(said), listing, accept is not None)) > 1:
        raise UsageError("Give one of --model, --set, --accept and --list.")
    scope = scope_of(dataset, source)
    with project_at(database) as project:
        if model is not None:
            _propose(project, model, name or model, options_of(options), scope, untyped, trust, as_json)
        elif said:
            _say(project, said, by, dataset, as_json)
        elif accept is not None:
            from workbench.services.curating.types import accept_types

            taken = accept_types(project, scope, accept, by=by)
            show(f"{taken.imported:,} accepted: they count from now on.") if not as_json else print_json(taken)
            if taken.refused:
                say_some([f"{one['field']}: {one['message']}" for one in taken.refusals])
                sys.exit(REFUSED_SOME)
        elif listing:
            from workbench.services.curating.types import proposals

            for one in proposals(project):
                print_line(one)
        else:
            from workbench.services.curating.types import types_report

            report = types_report(project, scope)
            print_json(report) if as_json else _print(report)


def _propose(
    project: Project,
    model: str,
    name: str,
    options: dict[str, str],
    scope: Scope,
    untyped: bool,
    trust: bool,
    as_json: bool,
) -> None:
    from workbench.services.curating.types import USUAL, propose_types
    from workbench.services.generation import models_from

    models = models_from(project, [model], options, USUAL)
    with drawing() as watch:

        def propose(trusted: bool) -> TypesProposed:
            return propose_types(project, name, models, scope, untyped_only=untyped, trust=trusted, watch=watch)

        report = trusting(propose, trust)
    say_calls(project, report.run)
    if as_json:
        print_json(report)
    else:
        show(f"{report.asked:,} questions asked about ({report.name}, run {report.run})")
        show(f"proposed: {counted(report.proposed)}")
        show(f"none of the four types: {counted(report.outside)}; unreadable: {report.unreadable:,}")
    if report.failed:
        say(f"  {report.failed:,} calls failed for good; the same command tries them again.")
        sys.exit(REFUSED_SOME)


def _say(project: Project, said: tuple[str, ...], by: str, dataset: str | None, as_json: bool) -> None:
    from workbench.services.curating.types import TypeSaid, say_types

    pairs = [key_and_value(text, "--set") for text in said]
    report = say_types(
        project, [TypeSaid(question_id=key, subtype=subtype) for key, subtype in pairs], by=by, dataset=dataset
    )
    if as_json:
        print_json(report)
    else:
        show(f"{report.imported} said, {report.unchanged} unchanged, {report.refused} refused")
    say_some([f"{pairs[int(str(one['line'])) - 1][0]}: {one['message']}" for one in report.refusals])
    if report.refused:
        sys.exit(REFUSED_SOME)


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
