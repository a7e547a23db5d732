"""``workbench disagreements`` and ``review``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import click

from workbench.app.cli.common import say, show
from workbench.app.cli.verb import Output, verb
from workbench.app.cli.writing import shown, standard_output
from workbench.core.errors import UsageError
from workbench.core.options import BY, By, Force, Gold, Options, Where, Whole, argument, option, run_job
from workbench.core.project import Project
from workbench.core.text.figures import aligned, counted, some
from workbench.core.text.inert import inert
from workbench.measuring.records.review import CurrentReview, Disagreement, ErrorCategory, ErrorCount, Queue, Review

if TYPE_CHECKING:
    from workbench.measuring.reviewing.queues import ReviewQueue


_WIDTH: Final = 100
_INDENT: Final = " " * 10


class DisagreementsOptions(Options, frozen=True, kw_only=True):
    name: Annotated[Queue, option("Kind of disagreement to list (see above).", "--queue")] = "verifier-gold"
    verifiers: Annotated[
        tuple[str, ...],
        option(
            "Use the newest complete run of this verifier (repeatable).  [default: all verifiers except "
            "always-incorrect]",
            "--verifier",
            metavar="NAME",
        ),
    ] = ()
    k: Annotated[
        Whole | None,
        option(
            "With --queue split: number of verifiers in the minority.  [default: half, such as 2 of 5]", metavar="K"
        ),
    ] = None
    where: Where = ()
    limit: Annotated[Whole, option("Maximum number of items to list.")] = 50
    gold: Gold = "final"
    unreviewed: Annotated[
        bool, option("Leave out items that were reviewed, unless their gold label has changed since.")
    ] = False


@verb
def disagreements_command(project: Project, options: DisagreementsOptions) -> Output:
    """List items on which verifiers, gold or annotators disagree, the most suspicious first, each with the reason.

    \b
    verifier-gold  a verdict differs from gold
    verifiers      verdicts disagree
    split          K verifiers against all the others
    exact-label    the final answers are equal, but gold says incorrect
    suspect-gold   items on which the verifiers agree have the other label
    flips          a verifier contradicts itself
    annotators     annotators disagree

    Decide with: workbench review DB confirm | send-back | error ID…
    """
    from workbench.measuring.reviewing.queues import queue

    found = run_job(queue, options, project, hide_reviewed=options.unreviewed)
    rows = found.rows(found.ids[: options.limit])
    return Output(rows, lambda rows: _show_queue(found, rows, final=options.gold == "final"))


def _show_queue(found: ReviewQueue, rows: Sequence[Disagreement], *, final: bool) -> None:
    _show_wrapped(found.text)
    show(counted(len(found), "item") + (f", the first {len(rows)} of them:" if len(rows) < len(found) else ""))
    for row in rows:
        _show_item(row, final=final)
    if len(rows) < len(found):
        say(f"{len(found) - len(rows):,} more: --limit N")


def _show_item(row: Disagreement, *, final: bool) -> None:
    show()
    show(f"{row.score:8.3f}  {row.completion_id}  {row.subtype or row.type or 'untyped'}  {row.dataset}")
    _show_wrapped(row.why, _INDENT)
    for review in row.reviews:
        about = f" of {review.verifier}: {review.category}" if review.kind == "error" else ""
        since = f"; gold was {review.gold} then" if final and review.gold != row.gold else ""
        _show_wrapped(
            f"{review.kind}{about}, by {review.reviewer}{since}{f': {review.note}' if review.note else ''}", _INDENT
        )


def _show_wrapped(text: str, indent: str = "") -> None:
    lines = fill(inert(text), _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    click.echo(lines)


# -- ``workbench review DB confirm | send-back | error | undo | list | errors | export | import``


Verb = Literal["confirm", "send-back", "error", "undo", "list", "errors", "export", "import"]
_DECISIONS = ("confirm", "send-back", "error")
_WORDS = {**dict.fromkeys(_DECISIONS, "ID…"), "undo": "UUID…", "export": "FILE", "import": "FILE"}


class ReviewOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Verb, argument()] = "list"
    words: Annotated[tuple[str, ...], argument("[ID… | UUID… | FILE]", words=_WORDS)] = ()
    verifier: Annotated[
        str | None,
        option(
            "For error: verifier whose verdict is wrong. For errors and list: show only this verifier.",
            metavar="NAME",
            required_by="error",
        ),
    ] = None
    category: Annotated[
        ErrorCategory | None,
        option("Kind of error to record for a wrong verdict.", only="error", required_by="error"),
    ] = None
    note: Annotated[
        str,
        option(
            "Note on the decision. With send-back, it gives the reason for labelling again; with --category other, it "
            "names the kind of error.",
            metavar="TEXT",
            required_by="send-back",
        ),
    ] = ""
    queue: Annotated[Queue | None, option("Queue in which the items were found.")] = None
    dataset: Annotated[str | None, option("Data set of the items, if several contain these ids.", metavar="NAME")] = (
        None
    )
    question: Annotated[
        str | None, option("Question of the completions, if several contain these ids.", metavar="ID")
    ] = None
    per: Annotated[Literal["type", "subtype"] | None, option("Count errors by answer type or by answer subtype.")] = (
        None
    )
    by: By = BY
    force: Force = False


@verb
def review_command(project: Project, options: ReviewOptions, as_json: bool) -> Output | None:
    """Decide disagreements between verifiers, gold or annotators, and count verifiers' errors by kind.

    \b
    confirm ID…    gold is right
    send-back ID…  the item is labelled again; --note says why
    error ID…      the verdict of --verifier is an error of --category
    undo UUID…     retract decisions
    list           all decisions in force, each with its uuid
    errors         marked errors of each verifier, by kind
    export FILE    write all decisions as JSON lines; import FILE reads them

    An id is a completion's. Items that can't be decided are left out and listed (exit code 3). A decision is recorded
    with its author; merge does not copy decisions from one database to another, export and import do.

    workbench review DB error c17 c21 --verifier rules --category equivalence
    """
    if options.verb in _DECISIONS:
        return _decide_items(project, options)
    if options.verb == "undo":
        from workbench.measuring.reviewing.deciding import take_back

        done = [take_back(project, uuid, by=options.by) for uuid in options.words]
        return Output(done, lambda done: [f"{len(done)} retracted"])
    if options.verb == "list":
        from workbench.measuring.reviewing.deciding import current_reviews

        found = [one for one in current_reviews(project) if options.verifier in (None, one.verifier)]
        return Output(found, _show_reviews)
    if options.verb == "errors":
        from workbench.measuring.reviewing.deciding import error_counts

        counts = error_counts(project, (options.verifier,) if options.verifier else (), options.per)
        return Output(counts, lambda counts: _show_errors(counts, options.per))
    return _exchange_reviews(project, options, as_json)


def _decide_items(project: Project, options: ReviewOptions) -> Output:
    from workbench.measuring.reviewing.deciding import UndecidableError, named

    decide = _decision_function(project, options)
    decided: list[Review] = []
    refused: list[dict[str, str]] = []
    for key, found in named(project, options.words, options.dataset, options.question):
        try:
            if isinstance(found, str):
                raise UndecidableError(found)
            decided.append(decide(found))
        except UndecidableError as error:
            refused.append({"completion_id": key, "why": str(error)})
    told = some([f"{left['completion_id']}: {left['why']}" for left in refused])
    text = f"{len(decided)} decided, {len(refused)} left out"
    return Output({"decided": decided, "refused": refused}, lambda _: [text]).lacking(*told)


def _decision_function(project: Project, options: ReviewOptions) -> Callable[[int], Review]:
    from workbench.measuring.judged import judges_of
    from workbench.measuring.reviewing import deciding

    by, queue, note = options.by, options.queue, options.note
    if options.verb == "confirm":
        return lambda item: deciding.confirm(project, item, by=by, queue=queue, note=note)
    if options.verb == "send-back":
        return lambda item: deciding.send_back(project, item, reason=note, by=by, queue=queue)
    verifier, category = str(options.verifier), cast("ErrorCategory", options.category)
    run = judges_of(project, (verifier,))[0].run
    if run is None:
        raise UsageError(f"{verifier} has no run: it has no verdict that could be an error.")
    return lambda item: deciding.mark_error(project, item, run, category, by=by, queue=queue, note=note)


def _show_reviews(found: Sequence[CurrentReview]) -> None:
    for review in found:
        about = f" {review.verifier} {review.category}" if review.kind == "error" else ""
        since = f"\tgold was {review.gold}, is {review.gold_now}" if review.gold != review.gold_now else ""
        note = f"\t{review.note}" if review.note else ""
        show(f"{review.uuid}\t{review.completion_id}\t{review.kind}{about}\t{review.reviewer}{since}{note}")
    if not found:
        say("Nothing has been decided yet.")


def _show_errors(counts: Sequence[ErrorCount], per: str | None) -> None:
    if counts:
        lines = [(row.verifier, row.group or "all", row.category, f"{row.count} of {row.marked}") for row in counts]
        click.echo(aligned([("verifier", per or "items", "kind", "of marked"), *lines], left=(0, 1, 2)))
    outdated = sum({(row.verifier, row.group): row.outdated for row in counts}.values())
    if outdated:
        say(f"{outdated} more marks are not counted: gold now agrees with the verdict.")
    if not counts:
        say("No error has been marked yet.")


def _exchange_reviews(project: Project, options: ReviewOptions, as_json: bool) -> Output | None:
    from workbench.measuring.reviewing.deciding import export_reviews, import_reviews

    (name,) = options.words
    if options.verb == "export":
        with standard_output(as_json=as_json) if name == "-" else nullcontext(Path(name)) as target:
            written = export_reviews(project, target, force=options.force)
            output = Output({"written": written}, lambda _: [f"{counted(written, 'line')} written to {shown(target)}"])
            if name == "-":
                output.tell(as_json=False)
                return None
        return output
    report = import_reviews(project, Path(name))
    return Output(
        report, lambda found: [f"{found.imported} imported, {found.unchanged} unchanged, {found.refused} rejected"]
    ).refusing(name, report.refusals)
