"""``workbench labels``, ``conflicts``, ``agreement``, ``bundle`` and ``merge``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from workbench.app.cli.common import REFUSED_SOME, project_at, say
from workbench.app.cli.verb import Output, verb
from workbench.app.cli.writing import STDOUT, shown, standard_input
from workbench.core.errors import UsageError
from workbench.core.options import (
    DatabaseOrFile,
    Force,
    Options,
    Where,
    Whole,
    argument,
    names_between_commas,
    option,
    require_one,
    run_job,
)
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.text.figures import counted, some, time_to_minute
from workbench.statistics.records.agreement import Level, Round

if TYPE_CHECKING:
    from workbench.labelling.believing import Trusted
    from workbench.labelling.conflict_classes import ClassRow, ConflictClass, ConflictClasses, Settled
    from workbench.labelling.labels import LabelsImported


class LabelsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["import", "export"], argument()]
    file: Annotated[Path | None, argument(output="stream", words={"import": "[FILE]", "export": "FILE"})] = None
    verdicts: Annotated[
        str | None,
        option(
            "Import the verdicts of verifier NAME as adjudications by that name, instead of a file. With the verifier "
            "`execution`, test results become gold in this way.",
            metavar="NAME",
            only="import",
        ),
    ] = None
    history: Annotated[
        bool, option("On export: write every label event, not only the current labels.", only="export")
    ] = False
    force: Annotated[bool, option("On export: overwrite an existing file.", only="export")] = False
    only: Annotated[
        str | None,
        option(
            "On import: accept only labels by NAME, and reject all others in the file.", metavar="NAME", needs="file"
        ),
    ] = None


@verb
def labels_command(project: Project, options: LabelsOptions) -> Output:
    """Import labels, or export them as JSON lines, or as CSV if the file's name ends in .csv.

    A line: {"completion_id": …, "annotator": …, "verdict": "correct" | "incorrect" | "unsuitable"}, optionally with
    dataset, question_id, reason, answer_subtype ("A1"), note, round, unsure, tags, created_at, uuid, revision;
    adjudications carry "role": "adjudicator". A table (CSV, TSV, XLSX) has these as columns, or one column per person,
    whose cells say correct, incorrect, unsuitable: REASON or A1.

    Importing a file twice changes nothing. Labels are accepted for everybody the file names; the people and the kinds
    of labels are reported. --only accepts the labels of one person, and no decisions. Exit code 3: some lines were
    rejected.
    """
    file = options.file
    require_one(options, "file", "verdicts")
    from workbench.labelling import label_export, labels

    if options.verb == "export" and file is not None:
        written = label_export.export_labels(project, file, history=options.history, force=options.force)
        return Output({"written": written}, lambda _: [f"{counted(written, 'line')} written to {shown(file)}"])
    if file is None:
        report = labels.import_verdicts(project, str(options.verdicts))
        told = [f"decision {one['line']}: {one['message']}" for one in report.refusals]
    else:
        given = standard_input() if file is STDOUT else file
        report = labels.import_labels(project, given, options.only)
        told = [f"{given}:{one['line']}:{one['field'] or 'line'}: {one['message']}" for one in report.refusals]
    return Output(report, _import_lines).lacking(*some(told))


def _import_lines(report: LabelsImported) -> Iterator[str]:
    yield f"{report.imported} imported, {report.unchanged} unchanged, {report.refused} rejected"
    if report.imported:
        yield f"accepted for: {_sorted_counts_text(report.people)} ({_sorted_counts_text(report.kinds)})"
    if report.new_people:
        yield f"new here: {', '.join(report.new_people)}"
    if report.columns:
        yield f"Columns of people: {', '.join(report.columns)}"
    if report.ignored:
        yield f"Ignored columns: {', '.join(report.ignored)}"
    if report.missing:
        yield f"Without a label: {_sorted_counts_text(report.missing)}"
    if report.contradicting:
        yield f"{report.contradicting:,} verdicts with marks that contradict them or each other"


def _sorted_counts_text(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))


# -- ``workbench conflicts DB list | settle | undo --as NAME``


class ConflictsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "settle", "undo"], argument()] = "list"
    person: Annotated[
        str,
        option(
            "Name of the person who resolves conflicts; only conflicts that this person may resolve are used.",
            "--as",
            metavar="NAME",
        ),
    ]
    name: Annotated[
        str | None,
        option(
            "Kind of conflict, such as correct/incorrect or A1/A7.", "--class", metavar="CLASS", required_by="settle"
        ),
    ] = None
    where: Annotated[
        tuple[str, ...],
        option(
            "Use only conflicts of this kind that match (repeatable: all must match). Fields: completion_id, "
            "question_id, dataset.",
            metavar="FIELD=VALUE",
            needs="name",
        ),
    ] = ()
    verdict: Annotated[
        Literal["correct", "incorrect", "unsuitable"] | None,
        option("Verdict that resolves the conflicts.", only="settle"),
    ] = None
    reason: Annotated[
        str | None,
        option(
            "Reason, if the verdict is unsuitable: proof, open_ended, bad_reference …", metavar="REASON", only="settle"
        ),
    ] = None
    subtype: Annotated[
        str | None, option("Answer subtype that resolves the conflicts, such as A7.", metavar="CODE", only="settle")
    ] = None
    note: Annotated[str, option("Note that is stored with every decision.", only="settle")] = ""


@verb
def conflicts_command(project: Project, options: ConflictsOptions) -> Output:
    """List conflicts by kind, and resolve many similar ones at once.

    list shows the number of conflicts of each kind. With --class it shows the items with both labels, without names.
    settle resolves all conflicts of one kind, or those that --where selects; conflicts that have changed since or that
    this person may not resolve are left out and listed (exit code 3). undo retracts the last decision, on all its
    items.

    workbench conflicts DB --as chen

    workbench conflicts DB settle --as chen --class correct/incorrect --where completion_id=c7 --verdict correct
    """
    from workbench.labelling.conflict_classes import ConflictClasses

    session = ConflictClasses(project, options.person)
    if options.verb == "undo":
        count = session.undo()
        return Output({"undone": count}, lambda _: [f"{count} decisions retracted"])
    return (_resolve_conflicts if options.verb == "settle" else _list_conflicts)(session, options)


def _list_conflicts(session: ConflictClasses, options: ConflictsOptions) -> Output:
    name, classes = options.name, session.classes()
    items: list[ClassRow] = []
    if name is not None:
        opened = session.open(name)
        items = session.rows(opened, session.among(opened, selection_of(options.where).conditions))
        classes = [kind for kind in classes if kind.name == name]
    found = [
        {"class": kind.name, "task": kind.task, "values": kind.values, "conflicts": kind.count} for kind in classes
    ]
    person = session.person.name
    return Output(
        {"as": person, "classes": found, "items": items}, lambda _: (*_kind_lines(classes, person), *_item_lines(items))
    )


def _kind_lines(classes: Sequence[ConflictClass], person: str) -> Iterator[str]:
    for kind in classes:
        yield f"{kind.count:>7,}  {kind.name}"
    if not classes:
        yield f"There is no conflict that {person} may resolve."


def _item_lines(items: Sequence[ClassRow]) -> Iterator[str]:
    for row in items:
        yield f"{row.completion_id}\treference {row.reference or '(none found)'}\tcompletion {row.answer or '(none)'}"
        for side in row.sides:
            unsure = f", {side.unsure} unsure" if side.unsure else ""
            yield f"  {side.value} ({side.count}{unsure})" + "".join(f"  {said}" for said in side.notes)


def _resolve_conflicts(session: ConflictClasses, options: ConflictsOptions) -> Output:
    from workbench.labelling.answers import Answer

    opened = session.open(str(options.name))
    chosen = session.among(opened, selection_of(options.where).conditions)
    if not chosen:
        meant = " and ".join(options.where)
        raise UsageError(f"No conflict of the kind {options.name} matches {meant}.", "list --class shows the items.")
    ruling = Answer(verdict=options.verdict, reason=options.reason, subtype=options.subtype, note=options.note)
    done: Settled = session.settle(opened, chosen, ruling)
    text = f"{done.settled} resolved, {len(done.left_out)} left out"
    return Output(done, lambda _: [text]).lacking(*(f"{left.completion_id}: {left.why}" for left in done.left_out))


# -- ``workbench agreement DB`` and ``workbench agreement --from FILE``


class AgreementOptions(Options, frozen=True, kw_only=True):
    database: DatabaseOrFile = None
    file: Annotated[
        Path | None,
        option(
            'Read ratings from this file instead of a database: JSON lines with "item", "annotator" and '
            '"value"; - is standard input.',
            "--from",
            metavar="FILE",
            exists=True,
            dash=True,
        ),
    ] = None
    task: Annotated[
        Literal["correctness", "type"] | None,
        option(
            "Labels to compare: correctness (verdicts on completions, the default) or type (answer types of "
            "questions).",
            needs="database",
        ),
    ] = None
    by: Annotated[
        Literal["type", "subtype", "domain", "source", "dataset"] | None,
        option("Break down by this field; the metrics over all items are always shown.", needs="database"),
    ] = None
    coarse: Annotated[
        bool, option("With --task type: compare only the type's letter (A), not the subtype (A1).", needs="database")
    ] = False
    round: Annotated[
        Round,
        option("Labels that count for reopened items: those of the first or of the latest round.", needs="database"),
    ] = "first"
    level: Annotated[
        Level,
        option("Level of measurement of the values; verdicts and answer types are nominal.", needs="file"),
    ] = "nominal"
    order: Annotated[
        tuple[str, ...],
        option(
            "With --level ordinal: all values, lowest first; not needed for numbers.",
            metavar="A,B,C",
            read=names_between_commas,
            needs="file",
        ),
    ] = ()


@verb
def agreement_command(options: AgreementOptions) -> Output:
    """Show annotator agreement: percent, kappa, alpha, AC1, with intervals and prevalence.

    In a database, only blind first labels that are in force count, with "unsuitable" as a category. Adjudications,
    repeats and checks do not count. Labels after a reopening count only with --round latest. A file may hold any
    ratings: values are text or numbers. Exit code 3: some lines were rejected.
    """
    from workbench.labelling.agreement.measuring import agreement, agreement_of_file
    from workbench.labelling.agreement.text import agreement_text

    require_one(options, "database", "file")
    if options.file is not None:
        piped = str(options.file) == "-"
        report, refused = agreement_of_file(None if piped else options.file, options.level, order=options.order)
        return Output(report, agreement_text).refusing("standard input" if piped else options.file, refused)
    with project_at(str(options.database)) as project:
        task, latest = options.task or "correctness", options.round == "latest"
        report = agreement(project, task, by=options.by, coarse=options.coarse, latest=latest)
        return Output(report, agreement_text)


# -- ``workbench bundle DB FILE --for NAME``


class BundleOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path | None, argument(output="file")] = None
    annotator: Annotated[str, option("Name of the annotator who gets the items.", "--for", metavar="NAME")]
    recall: Annotated[
        bool, option("Release the annotator's items that have not been returned, instead of writing a bundle.")
    ] = False
    where: Where = ()
    limit: Annotated[Whole, option("Maximum number of items in the bundle.")] = 200
    days: Annotated[int, option("Number of days for which the items are reserved.", ge=1, le=365)] = 14
    force: Force = False


@verb
def bundle_command(project: Project, options: BundleOptions) -> Output:
    """Write an annotator's next items to a small separate database, to be labelled elsewhere.

    The bundle holds texts, the guidelines and the assignment: no gold, models, verdicts or labels of others. To label
    it: workbench open FILE --as NAME. When it is returned: workbench merge DB FILE. Until then, for --days, the items
    are reserved, unless they are recalled: workbench bundle DB --for NAME --recall.
    """
    from workbench.labelling.bundling import bundle, free_bundled_items

    require_one(options, "file", "recall")
    if options.file is None:
        freed = free_bundled_items(project, options.annotator)
        said = f"{counted(freed, 'item')} released. Labels by {options.annotator} can still be merged."
        return Output({"recalled": freed}, lambda _: [said])
    done = run_job(bundle, options, project, options.file)
    return Output(
        done,
        lambda done: [
            f"{done.written} items for {done.annotator}, {done.types} of them with the answer type, "
            f"written to {done.file}",
            f"They are reserved for {done.annotator} until {time_to_minute(done.until)} UTC.",
        ],
    )


# -- ``workbench merge DB OTHER…``


class MergeOptions(Options, frozen=True, kw_only=True):
    others: Annotated[tuple[Path, ...], argument("OTHER…")]
    whole: Annotated[
        bool, option("Accept the labels of all people in the files; for databases of colleagues, not for bundles.")
    ] = False


@verb
def merge_command(project: Project, options: MergeOptions) -> Output:
    """Merge the labels of returned bundles, or with --whole of other databases; those files stay unchanged.

    From a bundle, only labels that its annotator gave on its items since it was made are accepted. Everything else in
    it is rejected, named and counted, and the exit code is then 3. --whole accepts the labels of everybody in a file,
    and reports what it contains.

    The order doesn't matter, and merging a file twice changes nothing. Labels are matched to items by their ids and
    texts, and to people by name. Labels beyond an item's assigned number of annotators are kept, listed, and counted in
    agreement.
    """
    from workbench.labelling.merging import merge_all, merge_reports, merged_lines, trusted_text

    def say_trusted(file: Path, trusted: Trusted) -> None:
        say(f"{file} is trusted completely: {trusted_text(trusted)}.")

    reports = merge_all(project, options.others, whole=options.whole, tell=say_trusted)
    refused = any(report.refused for report in reports)
    return Output(
        merge_reports(reports),
        lambda _: chain.from_iterable(map(merged_lines, reports)),
        code=REFUSED_SOME if refused else 0,
    )
