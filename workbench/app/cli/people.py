"""``workbench annotators``, ``assign``, ``checks``, ``plan``, ``reopen``, ``guidelines``, ``flags``, ``history``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from workbench.app.cli.common import confirmed, required_selection, say, show
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import Command, UsageError
from workbench.core.options import (
    BY,
    PEOPLE,
    By,
    Drawn,
    Gold,
    Limit,
    Options,
    Seed,
    Where,
    Whole,
    argument,
    option,
    restricted,
    run_job,
    split_people,
    split_people_words,
)
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.text.figures import counted, listed, some, time_to_minute
from workbench.statistics.records.report import BatchOrder, OrderName

if TYPE_CHECKING:
    from workbench.labelling.checks import ChecksChanged
    from workbench.labelling.coordinating import Flag
    from workbench.labelling.guidelines import Version
    from workbench.labelling.people import AnnotatorInfo


class AnnotatorsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["add", "list", "pause", "remove", "resume"], argument()] = "list"
    names: Annotated[
        tuple[str, ...],
        argument(words={"add": "NAME…", "pause": "NAME…", "resume": "NAME…", "remove": "NAME…"}),
        Meta(description=f"Annotators: {PEOPLE}."),
    ] = ()
    why: Annotated[
        str,
        option("Reason for pausing the annotator; only the coordinator sees it.", metavar="TEXT", only="pause"),
    ] = ""


@verb
def annotators_command(project: Project, options: AnnotatorsOptions) -> Output:
    """Add, list, pause, resume and remove the people who label.

    workbench annotators DB add amira ben

    workbench annotators DB list

    workbench annotators DB pause ben --why "wants to talk about sets"

    workbench annotators DB resume ben

    A paused annotator gets no items, and a message that the coordinator would like to speak with them; their labels are
    kept. Annotators are also paused automatically when they are too often wrong on checks. Annotators without labels
    can be removed, such as a misspelt name; their assigned items go to others.
    """
    from workbench.labelling import people

    names = split_people_words(options.names)
    if options.verb == "add":
        people.add_annotators(project, names)
    else:
        for name in names:
            people.require_annotator(project, name)
        change: dict[str, Callable[[Project, str], None]]
        change = {"pause": partial(people.pause, why=options.why), "resume": people.resume, "remove": people.remove}
        for name in names:
            change[options.verb](project, name)
    return Output(people.annotators(project), lambda found: map(_annotator_line, found))


def _annotator_line(person: AnnotatorInfo) -> str:
    paused = f"\tpaused{f': {person.why}' if person.why else ''}" if person.paused else ""
    return f"{person.name}\t{person.role}{paused}"


# -- ``workbench assign DB --annotators a,b,c --per-item 2``


def _parse_caps(text: str) -> dict[str, int] | int:
    if _is_number(text):
        return int(text)
    caps: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        if not equals or not name.strip() or not _is_number(number):
            raise UsageError("Write a number, or NAME=NUMBER,NAME=NUMBER.")
        caps[name.strip()] = int(number)
    return caps


def _is_number(text: str) -> bool:
    return text.strip().isdecimal() and len(text.strip()) <= 18


class AssignOptions(Options, frozen=True, kw_only=True):
    annotators: Annotated[
        tuple[str, ...],
        option(
            f"Annotators who may claim the slots: {PEOPLE}. If the project has none yet, these are added.",
            metavar="A,B,C",
            read=split_people,
        ),
    ]
    per_item: Annotated[int, option("Number of annotators per item; existing labels count towards it.")] = 2
    adjudicator: Annotated[
        str | None, option("People who resolve conflicts on these items.  [default: any third person]", metavar="D")
    ] = None
    caps: Annotated[
        dict[str, int] | int | None,
        option(
            "Maximum number of items per person in this batch; a number alone applies to everybody.",
            "--cap",
            metavar="A=50,B=20",
            read=_parse_caps,
        ),
    ] = None
    where: Where = ()
    order: Annotated[OrderName, option("Order in which annotators get the items; they aren't told the order.")] = (
        "random"
    )
    verifiers: Annotated[
        tuple[str, ...],
        option("Verifier whose verdicts decide the order (repeatable).", "--verifier", metavar="NAME", needs="order"),
    ] = ()
    per_subtype: Annotated[Whole | None, option("Maximum number of items per answer subtype.", metavar="K")] = None
    limit: Drawn = None
    seed: Seed = 0
    final_too: Annotated[bool, option("Also assign items whose label is already final.")] = False
    dry_run: Annotated[bool, option("Show which label slots would be opened without writing anything.")] = False


@verb
def assign_command(project: Project, options: AssignOptions) -> Output:
    """Open label slots on items; the first annotator who claims a slot labels the item.

    Every item is labelled by exactly --per-item different people, in a random order that is the same for all. Every
    combination of people is assigned equally many items of each source; items assigned to an absent person go to the
    others in the end.

    --limit N draws items at random, spread evenly over their questions, each equally likely: their labels are
    representative of all items (workbench estimate, plan). The same --seed draws the same ones, and a larger N adds to
    them.

    With --order disagreement, items on which the verifiers' newest complete runs are split most evenly come first;
    --per-subtype and --limit keep the first items. Their labels are not a random sample; estimate and plan say so.

    Annotators are also asked for the answer type of each question, unless it was accepted (Derive types on the app's
    screen Home, or workbench curate DB types --accept), or the imported file has the types of all questions.

    Labels given earlier count. Items whose label is already final are left out, unless --final-too is given; on other
    items, existing labels fill slots. Both are reported, with --dry-run beforehand. Items that are already assigned get
    the missing slots if --per-item is now larger. The people named here may also claim slots that are still open on
    these items and in their batches; --cap replaces a person's cap there.

    If the project has no people yet, the named people are added. Later, an unknown name may be a typing error: at a
    terminal the command asks for confirmation, elsewhere it rejects the name until `workbench annotators DB add` has
    added it.
    """
    from workbench.labelling import people
    from workbench.labelling.assigning import assigned_lines
    from workbench.measuring.planning import ordering_by

    by_chance = options.order == "random" and options.per_subtype is None
    wanted = BatchOrder(
        name=options.order,
        verifiers=options.verifiers,
        per_subtype=options.per_subtype,
        limit=None if by_chance else options.limit,
    )
    if any(person.role == "annotator" for person in people.annotators(project)):
        # A name that nobody has may be a slip; the first people of a project have no others to be told from.
        for name in filter(None, [*options.annotators, options.adjudicator]):
            if not people.is_known(project, name) and not confirmed(f"Nobody is called {name} here yet. Add them?"):
                people.require_annotator(project, name)
    selection = selection_of(options.where, options.limit if by_chance else None)
    ordering = ordering_by(project, wanted)
    done = run_job(people.assign, options, project, options.annotators, selection=selection, ordering=ordering)
    if done.beyond_caps:
        say(f"{done.beyond_caps} slots are assigned to nobody, because the caps allow too few labels.")
    team = f"{counted(done.items - done.final - done.full, 'item')} for {listed(options.annotators)}"
    next_ = f"{counted(options.per_item, 'label')} each. They label in Annotate: {Command('open DB', as_='NAME')}"
    told = "Nothing was written (--dry-run)." if options.dry_run else f"{team}: {next_}"
    return Output(done, assigned_lines, after=[told] if options.dry_run or done.assigned else ())


# -- ``workbench checks DB add``, ``import FILE``, ``list``, ``remove`` and ``report``


class ChecksOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["add", "import", "list", "remove", "report"], argument()] = "list"
    file: Annotated[Path | None, argument(words={"import": "FILE"})] = None
    source: Annotated[
        Literal["imported", "people"],
        option("Source of the known answers: imported labels, or final labels by annotators.", "--from"),
    ] = "imported"
    where: Where = ()
    limit: Annotated[Whole | None, option("Maximum number of items; with add, they are drawn at random.")] = None
    seed: Seed = 0


@verb
def checks_command(project: Project, options: ChecksOptions) -> Output:
    """Add items with a known answer to the queues of all annotators, unmarked, to measure their accuracy.

    workbench checks DB add --where source=algebra --limit 40

    workbench checks DB import known.jsonl

    workbench checks DB report

    With --limit N, N items are drawn at random, spread over their questions, so that people are checked on all kinds of
    items. The same --seed draws the same items.

    Checks are not part of the benchmark: they have no gold, no overlap and no state. A line to import:
    {"completion_id": …, "verdict": "correct" | "incorrect" | "unsuitable"}, optionally with dataset and question_id. An
    item that is labelled or assigned can't become a check, unless its label is final and it is added --from people.
    Rate, threshold and minimum are in workbench.toml under [annotation]. Exit code 3: some items or lines were
    rejected.
    """
    from workbench.labelling import checks

    if options.verb in ("add", "remove") and not (options.where or options.limit):
        raise UsageError(f"Name the items to {options.verb}: --where, --limit.")
    selection = selection_of(options.where, options.limit)
    if options.verb == "list":
        return Output(checks.checks(project), checks.check_lines)
    if options.verb == "report":
        return Output(checks.report(project), checks.score_lines)
    if options.verb == "remove":
        removed = checks.remove_checks(project, selection)
        return Output({"removed": removed}, lambda _: [f"{removed} checks are ordinary items again."])
    if options.file is not None:
        return _checks_output(checks.import_checks(project, options.file), options.file)
    return _checks_output(checks.add_checks(project, selection, options.source, options.seed))


def _checks_output(report: ChecksChanged, file: Path | None = None) -> Output:
    from workbench.labelling import checks

    word = "passed over" if report.passed_over else "rejected"
    told = some([_rejection_text(refusal, file, word) for refusal in report.refusals])
    return Output(report, checks.changed_lines).lacking(*told)


def _rejection_text(refusal: dict[str, object], file: Path | None, word: str) -> str:
    if file is None:
        return f"{refusal['items']} {word}: {refusal['message']}"
    return f"{file}:{refusal['line']}:{refusal['field'] or 'line'}: {refusal['message']}"


# -- ``workbench plan DB --within 0.05``


class PlanOptions(Options, frozen=True, kw_only=True):
    within: Annotated[float, option("Target half-width of the confidence intervals, as a share.", metavar="X")] = 0.05
    by: Annotated[Literal["subtype", "type"], option("Field to group items by.")] = "subtype"
    verifier: Annotated[str | None, option("Verifiers to plan for.  [default: all that have run]", metavar="NAME")] = (
        None
    )
    per_item: Annotated[int, option("Number of annotators per item; existing labels count towards it.")] = 2
    gold: Gold = "final"
    where: Where = ()


@verb
def plan_command(project: Project, options: PlanOptions) -> Output:
    """Show how many more labels are needed to estimate accuracy to ± --within in each group.

    The intervals are those of `workbench accuracy`: Wilson's, with the design effect of completions that share a
    question. The expected accuracy is the centre of the current interval, or 0.5 if there is no gold yet.
    """
    from workbench.measuring.planning import plan, plan_text

    return Output(run_job(plan, options, project), plan_text)


# -- ``workbench reopen DB --where … --reason TEXT``


class ReopenOptions(Options, frozen=True, kw_only=True):
    where: Where = ()
    limit: Limit = None
    reason: Annotated[str, option("Reason for labelling the items again; it is stored in the history.", metavar="TEXT")]
    by: By = BY
    task: Annotated[
        Literal["correctness", "type", "both"],
        option(
            "Labels to give again: verdicts on the items (correctness), answer types of their questions "
            "(type), or both."
        ),
    ] = "correctness"


@verb
def reopen_command(project: Project, options: ReopenOptions) -> Output:
    """Reopen items for labelling: a new round begins, and earlier labels no longer count.

    Nothing is lost: the labels stay in the history. The same number of slots is opened again.

    workbench reopen DB --where completion_id=c17 --reason "the reference was corrected"
    """
    from workbench.labelling import coordinating

    done = run_job(coordinating.reopen, options, project, required_selection(options.where, options.limit))
    return Output(
        done,
        lambda found: [f"{found.reopened} reopened, {found.skipped} skipped (nobody has labelled them in this round)"],
    )


# -- ``workbench guidelines DB``, ``versions``, ``set FILE`` and ``note TEXT``


class GuidelinesOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["show", "versions", "set", "note"], argument()] = "show"
    what: Annotated[
        str | None, argument("[VERSION|FILE|TEXT]", words={"show": "[VERSION]", "set": "FILE", "note": "TEXT"})
    ] = None
    by: By = BY


@verb
def guidelines_command(project: Project, options: GuidelinesOptions) -> Output:
    """Show the annotation guidelines, or put a new version in force.

    Annotators at work are notified of a new version at once. Every label names the newest version its author has read;
    versions never change. `versions` shows who has read which version in the app.

    workbench guidelines DB

    workbench guidelines DB set guidelines.md --by dora

    workbench guidelines DB note "a sum left undone is incorrect"
    """
    from workbench.labelling import guidelines

    if options.verb == "versions":
        return Output(guidelines.versions(project), lambda found: map(_version_line, found))
    if options.verb == "set":
        found = guidelines.add_version(project, guidelines.read_text(Path(str(options.what))), by=options.by)
    elif options.verb == "note":
        found = guidelines.add_case(project, str(options.what), by=options.by)
    else:
        found = (
            guidelines.versions(project)[-1] if options.what is None else guidelines.of_version(project, options.what)
        )
        return Output(found, lambda found: [f"Version {found.version}", "", *found.text.splitlines()])
    return Output(found, lambda found: [f"Version {found.version} is in force."])


def _version_line(version: Version) -> str:
    read = f"read by {', '.join(version.read_by)}" if version.read_by else ""
    return "\t".join((version.version, version.author or "built in", time_to_minute(version.created_at), read)).rstrip()


# -- ``workbench flags DB [list]`` and ``answer COMPLETION_ID TEXT``


class FlagsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "answer"], argument()] = "list"
    what: Annotated[tuple[str, ...], argument("[COMPLETION_ID TEXT]", words={"answer": "COMPLETION_ID TEXT"})] = ()
    every: Annotated[bool, option("Also list flags that have been answered.", "--all", only="list")] = False
    where: Annotated[Where, restricted(only="list")] = ()
    dataset: Annotated[
        str | None,
        option("Data set of the item, if several contain an item with this id.", metavar="NAME", only="answer"),
    ] = None
    by: By = BY


@verb
def flags_command(project: Project, options: FlagsOptions) -> Output:
    """Show items that annotators have flagged for the coordinator, and answer the flags.

    workbench flags DB

    workbench flags DB answer c17 "Round to three digits: see the guidelines." --by dora

    Only the annotator who flagged the item gets the answer. To select items by flag, in Browse or with --where:
    flagged=open, flagged=answered or flagged=none.
    """
    from workbench.labelling import coordinating

    if options.verb == "answer":
        item = coordinating.flagged_item(project, options.what[0], options.dataset)
        done = coordinating.answer(project, item, options.what[1], by=options.by)
        return Output(done, lambda found: [f"{found.completion_id}: answered to {', '.join(found.to)}."])
    found = coordinating.flags(project, "all" if options.every else "open", selection=selection_of(options.where))
    return Output(found, lambda found: _show_flags(found, options.every))


def _show_flags(found: Sequence[Flag], every: bool) -> None:
    for flag in found:
        show("\t".join(_flag_cells(flag)))
    if not found:
        say("No flag is unanswered." if not every else "Nothing is flagged.")


def _flag_cells(flag: Flag) -> list[str]:
    answered = f"{flag.answered_by}: {flag.answer}{'' if flag.heard else ' (not read yet)'}" if flag.answer else "open"
    earlier = [f"{one.asked or '–'} → {one.answered_by}: {one.answer}" for one in flag.earlier]
    return [flag.completion_id, flag.annotator, time_to_minute(flag.flagged_at), flag.asked or "–", answered, *earlier]


# -- ``workbench history DB``


class HistoryOptions(Options, frozen=True, kw_only=True):
    item: Annotated[
        str | None,
        option("Show only events on this item, and on the answer type of its question.", metavar="COMPLETION_ID"),
    ] = None
    annotator: Annotated[str | None, option("Show only events of this person.", metavar="NAME")] = None


@verb
def history_command(project: Project, options: HistoryOptions) -> Output:
    """Show who did what when: labels, edits, undos, decisions, flags, answers, looks at gold, reopenings …"""
    from workbench.labelling.ledger import event_cells, history

    found = history(project, item=options.item, annotator=options.annotator)
    return Output(found, lambda found: ("  ".join(event_cells(line)) for line in found))
