"""``workbench review DB confirm | send-back | error | undo | list | errors | export | import``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.common import (
    REFUSED_SOME,
    by_option,
    database_argument,
    force_option,
    json_option,
    print_json,
    project_at,
    say,
    say_some,
    show,
)
from workbench.cli.writing import shown, standard_output
from workbench.errors import UsageError
from workbench.model.review import ERROR_CATEGORIES, QUEUES, Review
from workbench.render.columns import aligned

if TYPE_CHECKING:
    from workbench.services.project import Project

_VERBS = ("confirm", "send-back", "error", "undo", "list", "errors", "export", "import")
_DECISIONS = _VERBS[:3]
_WITHOUT_WORDS = ("list", "errors")


@click.command()
@database_argument
@click.argument("verb", type=click.Choice(_VERBS), default="list")
@click.argument("words", nargs=-1, metavar="[ID… | UUID… | FILE]")
@click.option("--verifier", metavar="NAME", help="Whose verdict is an error; with errors and list: only this one.")
@click.option("--category", type=click.Choice(list(ERROR_CATEGORIES)), help="What kind of error it is.")
@click.option("--note", default="", metavar="TEXT", help="A note; why people are to look again; which other error.")
@click.option("--queue", type=click.Choice(list(QUEUES)), help="Where the items were met.")
@click.option("--dataset", metavar="NAME", help="The data set the ids are of, where several have them.")
@click.option("--question", metavar="ID", help="The question the ids are of, where several have them.")
@click.option("--per", type=click.Choice(["type", "subtype"]), help="Count errors by answer type or subtype.")
@by_option
@force_option
@json_option
def command(database: str, verb: str, words: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Decide of items on which verifiers, gold or people disagree, and count verifiers' errors by kind.

    \b
    confirm ID…    gold is right as it stands
    send-back ID…  people label the item anew; --note says why
    error ID…      the verdict of --verifier is an error of --category
    undo UUID…     take decisions back
    list           all decisions in force, each with its uuid
    errors         marked errors of each verifier, by kind
    export FILE    write all decisions as JSON lines; import FILE reads them

    An id is a completion's. What can't be decided is left out and listed (exit code 3). A decision is on record
    with its maker; merge does not carry decisions from one database to another, export and import do.

    workbench review DB error c17 c21 --verifier rules --category equivalence
    """
    _check(verb, words, options)
    with project_at(database) as project:
        if verb in _DECISIONS:
            _decide(project, verb, words, options, as_json)
        elif verb == "undo":
            _undo(project, words, options["by"], as_json)
        elif verb == "list":
            _list(project, options["verifier"], as_json)
        elif verb == "errors":
            _errors(project, options["verifier"], options["per"], as_json)
        else:
            _exchange(project, verb, words[0], options["force"], as_json)


def _check(verb: str, words: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse what does not go together.

    Raises:
        UsageError: The ids or the file are missing, or an option is that does not belong there.
    """
    if bool(words) == (verb in _WITHOUT_WORDS) or (verb in ("export", "import") and len(words) != 1):
        needs = {"undo": " UUID…", "export": " FILE", "import": " FILE"}.get(verb, " ID…" if verb in _DECISIONS else "")
        raise UsageError(f"Write: workbench review DB {verb}{needs}")
    if verb == "error" and not (options["verifier"] and options["category"]):
        raise UsageError("Whose error is it, and of what kind?", "Write: --verifier NAME --category KIND")
    if options["category"] == "other" and not options["note"].strip():
        raise UsageError("Another kind of error needs a note that says which.", "Write: --note TEXT")
    if verb == "send-back" and not options["note"].strip():
        raise UsageError("Sending items back needs a note that says why.", "Write: --note TEXT")
    if options["category"] and verb != "error":
        raise UsageError("--category goes with error.")


def _decide(project: Project, verb: str, ids: tuple[str, ...], options: dict[str, Any], as_json: bool) -> None:
    from workbench.services.reviewing.deciding import UndecidableError
    from workbench.services.reviewing.naming import named

    decide = _decision(project, verb, options)
    decided: list[Review] = []
    refused: list[dict[str, str]] = []
    for key, found in named(project, ids, options["dataset"], options["question"]):
        try:
            if isinstance(found, str):
                raise UndecidableError(found)
            decided.append(decide(found))
        except UndecidableError as error:
            refused.append({"completion_id": key, "why": str(error)})
    if as_json:
        print_json({"decided": decided, "refused": refused})
    else:
        show(f"{len(decided)} decided, {len(refused)} left out")
    say_some([f"{left['completion_id']}: {left['why']}" for left in refused])
    if refused:
        sys.exit(REFUSED_SOME)


def _decision(project: Project, verb: str, options: dict[str, Any]) -> Callable[[int], Review]:
    from workbench.services.measuring.judged import judges_of
    from workbench.services.reviewing import deciding

    by, queue, note = options["by"], options["queue"], options["note"]
    if verb == "confirm":
        return lambda item: deciding.confirm(project, item, by=by, queue=queue, note=note)
    if verb == "send-back":
        return lambda item: deciding.send_back(project, item, reason=note, by=by, queue=queue)
    run = judges_of(project, (options["verifier"],))[0].run
    if run is None:
        raise UsageError(f"{options['verifier']} has no run: it gave no verdict that could be an error.")
    category = options["category"]
    return lambda item: deciding.mark_error(project, item, run, category, by=by, queue=queue, note=note)


def _undo(project: Project, uuids: tuple[str, ...], by: str, as_json: bool) -> None:
    from workbench.services.reviewing.deciding import take_back

    done = [take_back(project, uuid, by=by) for uuid in uuids]
    print_json(done) if as_json else show(f"{len(done)} taken back")


def _list(project: Project, verifier: str | None, as_json: bool) -> None:
    from workbench.services.reviewing.decided import standing_reviews

    found = [review for review in standing_reviews(project) if verifier in (None, review.verifier)]
    if as_json:
        print_json(found)
        return
    for review in found:
        about = f" {review.verifier} {review.category}" if review.kind == "error" else ""
        since = f"\tgold was {review.gold}, is {review.gold_now}" if review.gold != review.gold_now else ""
        note = f"\t{review.note}" if review.note else ""
        show(f"{review.uuid}\t{review.completion_id}\t{review.kind}{about}\t{review.reviewer}{since}{note}")
    if not found:
        say("Nothing has been decided yet.")


def _errors(project: Project, verifier: str | None, per: Any, as_json: bool) -> None:
    from workbench.services.reviewing.decided import error_counts

    counts = error_counts(project, (verifier,) if verifier else (), per)
    if as_json:
        print_json(counts)
        return
    if counts:
        lines = [(row.verifier, row.group or "all", row.category, f"{row.count} of {row.marked}") for row in counts]
        click.echo(aligned([("verifier", per or "items", "kind", "of marked"), *lines], left=(0, 1, 2)))
    outdated = sum({(row.verifier, row.group): row.outdated for row in counts}.values())
    if outdated:
        say(f"{outdated} more marks are not counted: gold has come to agree with the verdict since.")
    if not counts:
        say("No error has been marked yet.")


def _exchange(project: Project, verb: str, name: str, force: bool, as_json: bool) -> None:
    from workbench.services.reviewing.exchange import export_reviews, import_reviews

    if verb == "export":
        with standard_output(as_json=as_json) if name == "-" else nullcontext(Path(name)) as target:
            written = export_reviews(project, target, force=force)
            print_json({"written": written}) if as_json else show(f"{written} lines written to {shown(target)}")
        return
    file = Path(name)
    report = import_reviews(project, file)
    if as_json:
        print_json(report)
    else:
        show(f"{report.imported} imported, {report.unchanged} unchanged, {report.refused} refused")
    say_some([f"{file}:{left.line}:{left.field or 'line'}: {left.message}" for left in report.refusals])
    if report.refused:
        sys.exit(REFUSED_SOME)
