"""Describes a project's open tasks, problems and findings (matters) in sentences, the most urgent first. Every number
comes from another module.

The order is that of `KINDS`: blocked work, then problems that make metrics wrong, then findings, then work in the
background, then possible next steps. Within a kind, the matter with the most items comes first.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct, structs

from workbench.config.file import file_of
from workbench.core.database import states
from workbench.core.database.place import sidecar_path
from workbench.core.errors import Command
from workbench.core.files import cache_folder, cached_file, read_cached
from workbench.core.project import Project, at_one_moment
from workbench.core.run import ACTIVE, RunInfo
from workbench.core.status import DatasetInfo, Matter, PersonProgress, Status
from workbench.core.taxonomy import UNTYPED
from workbench.core.text.excerpt import shorten_line
from workbench.core.text.figures import counted, listed, percent, percent_interval, verb_wait
from workbench.core.verdict import Protocol3
from workbench.labelling.forecasting import Forecast, forecast
from workbench.labelling.store import check_items, flags
from workbench.measuring.store import overview
from workbench.runs.run_status import runs
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.report import AccuracyReport, AccuracyRow

TENTATIVE: Final = 0.667
SOUND: Final = 0.8
"""Least alphas for conclusions: tentative ones, and firm ones (Krippendorff, Content Analysis, 2004, page 241)."""
_MAX_SOLUTIONS: Final = 50_000
"""Most solutions whose tests are counted for a sentence."""
_MAX_QUOTE = 160
"""Most characters of a quoted text (a run's message, a question) in a sentence."""
_shorten = partial(shorten_line, most=_MAX_QUOTE)


class AccuracyRanking(Struct, frozen=True, kw_only=True):
    """The verifiers ranked by accuracy.

    Attributes:
        verifiers: The verifiers' rows over all items, the most accurate first; verifiers without metrics come last.
        constant: Accuracy of the majority-class baseline; None without gold.
        protocol: How undecided verdicts are counted; None without metrics.
    """

    verifiers: list[AccuracyRow]
    constant: float | None
    protocol: Protocol3 | None = None


class ProjectFacts:
    """A project's counts, and metrics that are computed on first access."""

    def __init__(self, project: Project, counts: Status, runs: Sequence[RunInfo]) -> None:
        self.project, self.counts, self.runs = project, counts, runs
        self.now = datetime.now(UTC)

    @cached_property
    def report(self) -> AccuracyReport:
        from workbench.measuring.accuracy import accuracy

        report = accuracy(self.project, by="subtype", seed=None, notes=False)
        groups = {row.group for row in report.rows if row.n and row.group is not None}
        return report if len(groups) > 1 else accuracy(self.project, by="type", seed=None, notes=False)

    @cached_property
    def accuracy_ranking(self) -> AccuracyRanking:
        if not any(run.completed_at for run in self.runs):
            return AccuracyRanking(verifiers=[], constant=None)
        from workbench.measuring.entries import CONSTANTS

        overall = [row for row in self.report.rows if row.group is None]
        return AccuracyRanking(
            verifiers=sorted(
                (row for row in overall if row.kind == "verifier"),
                key=lambda row: -1.0 if row.accuracy is None else row.accuracy,
                reverse=True,
            ),
            constant=max((row.accuracy for row in overall if row.verifier in CONSTANTS and row.accuracy), default=None),
            protocol=self.report.protocol,
        )

    @property
    def best(self) -> AccuracyRow | None:
        """Return the most accurate verifier that reads the completion; None if none has been measured."""
        return next(self.measured, None)

    @property
    def measured(self) -> Iterator[AccuracyRow]:
        from workbench.measuring.entries import CONSTANTS

        return (row for row in self.accuracy_ranking.verifiers if row.verifier not in CONSTANTS and row.n)

    @cached_property
    def progress(self) -> Forecast:
        return forecast(self.project, self.now)

    @cached_property
    def agreement(self) -> AgreementReport | None:
        from workbench.labelling.agreement.measuring import agreement

        several = sum(person.done > 0 for person in self.counts.people) > 1
        return agreement(self.project) if several else None

    def run_of(self, verifier: str) -> int:
        return max((run.run for run in self.runs if run.verifier == verifier and run.completed_at), default=0)


def _matter(sentence: str, command: Command | None, screen: str = "", size: int = 0, **about: str | int) -> Matter:
    shell = "" if command is None else command.shell()
    return Matter(kind="", sentence=sentence, about=about, size=size, screen=screen, command=shell)


# -- Blocked work.


def _stopped_runs(facts: ProjectFacts) -> Iterator[Matter]:
    for run in {run.verifier: run for run in facts.runs}.values():
        if (how := _stop_reason(run)) is not None:
            why = f": {_shorten(run.message)}" if run.message else "."
            text = f"{run.verifier} (run {run.run}) {how} after {_progress_text(run)}{why}"
            yield _run_matter(text, "resume", run)


def _run_matter(said: str, verb: str, run: RunInfo) -> Matter:
    command = Command(f"runs DB {verb} {run.run}")
    return _matter(said, command, "runs", run.items - run.done, run=run.run, verifier=run.verifier)


def _stop_reason(run: RunInfo) -> str | None:
    if run.state == "failed":
        return "failed"
    if run.state == "paused":
        return "stopped by itself" if run.message else "is paused"
    return "has lost its process" if run.state in ACTIVE and not run.alive else None


def _progress_text(run: RunInfo) -> str:
    if run.writes:
        return counted(run.usage.calls if run.usage else 0, "call")
    return f"{run.done:,} of {counted(run.items, 'item')}"


def _flags(facts: ProjectFacts) -> Iterator[Matter]:
    if not facts.counts.flags:
        return
    from workbench.labelling.coordinating import flags as open_flags

    flags = open_flags(facts.project)
    if not flags:
        return
    oldest, names = flags[0], list(dict.fromkeys(flag.annotator for flag in flags))
    asks = f"; {'it' if len(flags) == 1 else 'the first'} asks: “{_shorten(oldest.asked)}”" if oldest.asked else ""
    text = f"{counted(len(flags), 'flag')} of {listed(names)} {verb_wait(len(flags))} for your answer"
    yield _matter(f"{text}, since {oldest.flagged_at[:10]}{asks}.", Command("flags DB"), "flags", len(flags))


def _pauses(facts: ProjectFacts) -> Iterator[Matter]:
    from workbench.labelling.people import annotators

    for person in annotators(facts.project):
        if person.paused:
            text = f"{_shorten(person.name)} is paused and gets no items{person.why and f': {_shorten(person.why)}'}."
            command = Command(f"annotators DB resume {shlex.quote(person.name)}")
            yield _matter(text, command, person=person.name)


def _conflicts(facts: ProjectFacts) -> Iterator[Matter]:
    able = sorted(_annotators_who_can_adjudicate(facts.counts.people), key=lambda person: -person.conflicts)
    if able:
        first, *others = able
        if first.conflicts == able[-1].conflicts:
            whom = f"{listed([one.name for one in able], 'or')} to adjudicate"
        else:
            rest = listed([f"{one.conflicts:,} for {one.name}" for one in others])
            whom = f"{first.name} to adjudicate, {rest}; some may be the same"
        text = f"{counted(first.conflicts, 'conflict')} {verb_wait(first.conflicts)} for {whom}."
        about = {} if others else {"person": first.name}
        yield _matter(text, Command("open DB", as_=first.name), "conflicts", first.conflicts, **about)


def _unassignable_conflicts(facts: ProjectFacts) -> Iterator[Matter]:
    many = facts.counts.states["conflict"]
    if many and not any(_annotators_who_can_adjudicate(facts.counts.people)):
        text = (
            f"{counted(many, 'item')} {'is' if many == 1 else 'are'} in conflict, and no one here may adjudicate them"
        )
        text += ": it takes a third person who has not labelled them."
        yield _matter(text, Command("annotators DB add NAME"), "conflicts", many)


def _annotators_who_can_adjudicate(people: Iterable[PersonProgress]) -> Iterator[PersonProgress]:
    return (person for person in people if person.conflicts and not person.paused)


# -- Problems that make metrics wrong.


def _failed_items(facts: ProjectFacts) -> Iterator[Matter]:
    failed = sorted((row for row in facts.accuracy_ranking.verifiers if row.error), key=lambda row: -row.error)
    for row in failed[:1]:
        means = "which count as “incorrect” in its accuracy" if row.n else "so that it has no metrics"
        share = f" ({percent(row.error / row.n)} %)" if row.n else ""
        others = f"; {listed([one.verifier for one in failed[1:]])} failed, too" if failed[1:] else ""
        run, of = facts.run_of(row.verifier), counted(row.n or row.error, "item")
        text = f"{row.verifier} failed on {row.error:,} of {of}{share}, {means}{others}."
        yield _matter(text, Command(f"runs DB show {run}"), "runs", row.error, run=run, verifier=row.verifier)


def _suspect_labels(facts: ProjectFacts) -> Iterator[Matter]:
    if facts.best is None:
        return
    from workbench.measuring.reviewing.kinds import EVEN
    from workbench.measuring.reviewing.queues import queue

    found = queue(facts.project, "suspect-gold", hide_reviewed=True)
    if len(found.verifiers) > 1 and (many := found.above(EVEN)):
        text = f"{counted(many, 'label')} may be wrong: most items with the same verdicts of "
        text += f"{listed(found.verifiers)} have the other label."
        text += f" {len(found) - many:,} more are less suspect." if many < len(found) else ""
        command = Command("disagreements DB", queue=found.name)
        yield _matter(text, command, "disagreements", many, queue=found.name)


def _verifier_disagreements(facts: ProjectFacts) -> Iterator[Matter]:
    if len({run.verifier for run in facts.runs if run.completed_at}) < 2:
        return
    from workbench.measuring.reviewing.queues import queue

    found = queue(facts.project, "verifiers", hide_reviewed=True)
    if len(found):
        names = found.verifiers
        who = listed(names) if len(names) < 4 else counted(len(names), "verifier")
        text = f"{who} disagree on {counted(len(found), 'item')}."
        command = Command("disagreements DB", queue=found.name)
        yield _matter(text, command, "disagreements", len(found), queue=found.name)


def _low_agreement(facts: ProjectFacts) -> Iterator[Matter]:
    found = facts.agreement
    if found is not None and found.krippendorff_alpha is not None and found.krippendorff_alpha < TENTATIVE:
        yield _matter(agreement_sentence(found), Command("agreement DB"), "agreement", found.paired)


def agreement_sentence(found: AgreementReport) -> str:
    """Describe the annotators' agreement and its implication; empty if no item has two labels."""
    if not found.paired:
        return ""
    alpha = found.krippendorff_alpha
    few = f"(too few {found.interval_by}s for an interval)"
    sure = percent_interval(found.percent_ci) if found.percent_ci else few
    alike = f"Annotators agree on {percent(found.percent_agreement)} % {sure}"
    of = f"of {counted(found.paired, 'item')} with two labels"
    figure = "alpha is not defined" if alpha is None else f"alpha {alpha:z.2f}"
    return f"{alike} {of}, {figure}: {_interpret_alpha(alpha)}."


def _interpret_alpha(alpha: float | None) -> str:
    if alpha is None:
        return "all labels are equal, which doesn't show how well annotators distinguish correct from incorrect"
    if alpha < TENTATIVE:
        return "these labels support no conclusions yet"
    if alpha < SOUND:
        return "these labels support tentative conclusions"
    return "these labels support conclusions"


# -- Findings from metrics.


def _behind_constant(facts: ProjectFacts) -> Iterator[Matter]:
    from workbench.measuring.accuracy_tables import behind_constant

    if facts.best is not None and (text := behind_constant([facts.best])):
        yield _matter(text, Command("accuracy DB"), "accuracy", facts.best.n, verifier=facts.best.verifier)


def _weakest_cell(facts: ProjectFacts) -> Iterator[Matter]:
    # A verifier without errors has no weak cell, so the sentence is about the next verifier.
    best = next((row for row in facts.measured if row.accuracy != 1), None)
    if best is None or best.accuracy is None:
        return
    from workbench.measuring.accuracy_tables import in_words, too_few_to_say, weakest

    found = weakest(facts.report, best.verifier)
    by = facts.report.by or ""
    as_good = sum(row.accuracy == best.accuracy for row in facts.measured)
    first = best is facts.best and len(facts.accuracy_ranking.verifiers) > 1
    rank = "one of the most accurate" if as_good > 1 else "the most accurate"
    who = f"{best.verifier}, {rank}," if first else best.verifier
    about = {"verifier": best.verifier, "by": by}
    if found is None:
        if too_few_to_say(facts.report, best.verifier):
            text = f"On which {by} {who} is weakest: too few questions to say."
            yield _matter(text, Command("accuracy DB", by=by), "accuracy", best.n, **about)
        return
    group, worst = found.row.group or "", found.row
    place = f"{'' if group == UNTYPED else f'{by} '}{found.place(facts.report)}"
    text = f"{who} is weakest on {place}: right on {found.figures}, over all on {percent(best.accuracy)} %."
    least = min(facts.measured, key=lambda row: row.accuracy or 0.0)
    if found.may_be_chance and (least.accuracy or 0.0) < best.accuracy:
        text = (
            f"{least.verifier} is the least accurate: right on {in_words(least)}. {who} is significantly below "
            f"average on no {by}, and least accurate on {found.place(facts.report)} "
            f"({percent(worst.accuracy)} % of {counted(worst.n, 'item')})."
        )
    command = Command("disagreements DB", queue="verifier-gold", verifier=best.verifier, where=f"{by}={group}")
    yield _matter(text, command, "accuracy", worst.n, **about, group=group)


def _unknown_types(facts: ProjectFacts) -> Iterator[Matter]:
    if facts.best is None:
        return
    from workbench.measuring.entries import AccuracyQuery, Entries, TypeField
    from workbench.measuring.notes import unknown_words
    from workbench.measuring.store.curation import unknown_types

    field: TypeField = "type" if facts.report.by == "type" else "subtype"
    items = Entries(facts.project, AccuracyQuery()).lacking(field)
    found = unknown_types(facts.project.database.reader(), items)
    if found is not None:
        by = f"column:{found.column}" if found.column else "type"
        text = f"{unknown_words(found, len(items), field)} Home derives types from references."
        yield _matter(text, Command("accuracy DB", by=by), "accuracy", len(items), by=by)


def _agreement(facts: ProjectFacts) -> Iterator[Matter]:
    found = facts.agreement
    alpha = None if found is None else found.krippendorff_alpha
    if found is not None and found.paired and (alpha is None or alpha >= TENTATIVE):
        yield _matter(agreement_sentence(found), Command("agreement DB"), "agreement", found.paired)


# -- Work in the background.


def _active_runs(facts: ProjectFacts) -> Iterator[Matter]:
    for run in facts.runs:
        if run.state in ACTIVE and run.alive:
            how = f"waits: {_shorten(run.waiting)}" if run.waiting else "is at work"
            to_go = f", about {_duration_text(run.eta)} to go" if run.eta is not None else ""
            text = f"{run.verifier} (run {run.run}) {how}, {_progress_text(run)} done{to_go}."
            yield _run_matter(text, "show", run)


def _duration_text(seconds: float) -> str:
    for size, noun, until in ((1, "second", 100), (60, "minute", 6_000), (3_600, "hour", 48 * 3_600)):
        if seconds < until:
            return counted(max(round(seconds / size), 1), noun)
    return counted(round(seconds / 86_400), "day")


def _labelling_progress(facts: ProjectFacts) -> Iterator[Matter]:
    found, types = facts.progress, sum(person.types_left for person in facts.counts.people)
    if found.left or types:
        there = f"{found.done:,} of {counted(found.done + found.left, 'label')} that were asked for"
        end = f"; {found.words(facts.now)}" if found.left else ""
        more = f"; {counted(types, 'answer type')} {verb_wait(types)} for labels" if types else ""
        text = f"{there} {'is' if found.done == 1 else 'are'} there{end}{more}."
        yield _matter(text, None, "annotate", found.left + types)


# -- Possible next steps.


def _import_first(facts: ProjectFacts) -> Iterator[Matter]:
    if not facts.counts.items and not facts.counts.questions:
        text = "Nothing is here yet: begin with a file of questions, references and completions."
        yield _matter(text, Command("import DB FILE"))
    elif not facts.counts.items:
        many = facts.counts.questions
        text = f"{counted(many, 'question')} without completions {verb_wait(many)}: a pool to curate and to draw from."
        yield _matter(text, Command("curate DB status"))


def _run_verifier_first(facts: ProjectFacts) -> Iterator[Matter]:
    if facts.counts.items and all(run.writes for run in facts.runs):
        from workbench.data.store import problems

        of_code = {name for _, name in problems.datasets(facts.project.database.reader())}
        code = of_code >= {one.name for one in facts.counts.datasets if one.out is None}
        verifier = "execution" if code else "rules"
        easy = "execution runs solutions against their tests" if code else "rules needs no model server"
        text = f"No verifier has judged the {counted(facts.counts.items, 'item')} yet: start one; {easy}."
        yield _matter(text, Command(f"verify DB {verifier}"), "runs", verifier=verifier)


def _test_results(facts: ProjectFacts) -> Iterator[Matter]:
    ran = _executions(facts)
    if ran and ran[-1].items <= _MAX_SOLUTIONS:
        from workbench.measuring.report.figures import testing_sentence
        from workbench.measuring.testing import suite_figures

        for figures in suite_figures(facts.project)[:1]:
            yield _matter(testing_sentence(figures), Command("code passk DB"), "code", len(figures.tests))


def _executions(facts: ProjectFacts) -> list[RunInfo]:
    return [run for run in facts.runs if run.kind == "execution" and run.completed_at]


def _label_first(facts: ProjectFacts) -> Iterator[Matter]:
    if (
        facts.accuracy_ranking.verifiers
        and not _executions(facts)
        and not any(n for source, n in facts.report.gold.items() if source != "none")
    ):
        without = "No item has gold, so there are no metrics"
        if facts.progress.left:
            yield _matter(f"{without} until people have labelled some.", None, "annotate")
        else:
            yield _matter(f"{without}: let people label some.", Command("assign DB", annotators="A,B", per_item=2))


def _datasets_without_items(facts: ProjectFacts) -> Iterator[Matter]:
    for one in facts.counts.datasets:
        if one.out is not None:
            gone = f"{counted(one.items, 'item')} and {counted(one.questions, 'question')} are not counted"
            text = f"The data set {one.name} was excluded ({_shorten(one.out)}): {gone}."
            command = Command(f"datasets DB restore {shlex.quote(one.name)}")
            yield _matter(text, command, "", one.items, dataset=one.name)


_NOTHING: Final = Matter(
    kind="nothing",
    sentence="Nothing is open. A report explains how these metrics were computed.",
    command=Command("report DB", o="report.html").shell(),
)


class MatterKind(NamedTuple):
    """A kind of matter: an open task, problem or finding.

    Attributes:
        find: Yields the matters, with the kind to be added.
        late: Whether it needs metrics that may take seconds to compute.
    """

    find: Callable[[ProjectFacts], Iterator[Matter]]
    late: bool = False


KINDS: Final = {
    "stopped-run": MatterKind(_stopped_runs),
    "paused": MatterKind(_pauses),
    "flags": MatterKind(_flags),
    "conflicts": MatterKind(_conflicts),
    "nobodys-conflicts": MatterKind(_unassignable_conflicts),
    "failures": MatterKind(_failed_items, late=True),
    "suspect-labels": MatterKind(_suspect_labels, late=True),
    "no-conclusion": MatterKind(_low_agreement, late=True),
    "behind-constant": MatterKind(_behind_constant, late=True),
    "weakest-cell": MatterKind(_weakest_cell, late=True),
    "verifier-disagreements": MatterKind(_verifier_disagreements, late=True),
    "unknown-types": MatterKind(_unknown_types, late=True),
    "tests": MatterKind(_test_results, late=True),
    "agreement": MatterKind(_agreement, late=True),
    "running": MatterKind(_active_runs),
    "progress": MatterKind(_labelling_progress),
    "import": MatterKind(_import_first),
    "verify": MatterKind(_run_verifier_first),
    "label": MatterKind(_label_first, late=True),
    "out": MatterKind(_datasets_without_items),
}
"""Every kind of matter by name, the most urgent first."""


def matters(facts: ProjectFacts, *, late: bool) -> list[Matter]:
    asked = ((name, kind.find) for name, kind in KINDS.items() if kind.late == late)
    return [structs.replace(matter, kind=name) for name, find in asked for matter in find(facts)]


def sort_matters(found: Iterable[Matter]) -> list[Matter]:
    """Sort all matters by urgency; without any, return one matter that says that nothing is open."""
    place = {kind: number for number, kind in enumerate(KINDS)}
    return sorted(found, key=lambda matter: (place[matter.kind], -matter.size)) or [_NOTHING]


def briefed(project: Project) -> Status:
    # The state is read before anything else: a later write makes it differ from the state that is found next time.
    return _briefed(project, state_of(project))


@at_one_moment
def _briefed(project: Project, state: str) -> Status:
    counts = status(project)
    facts = ProjectFacts(project, counts, runs(project))
    return structs.replace(
        counts,
        briefing=sort_matters(
            matters(facts, late=False) + cached_matters(project, state, lambda: matters(facts, late=True))
        ),
    )


# -- Matters that need metrics are kept in a file until the database changes: they take longer than all others.


_MAX_BYTES: Final = 2**20
_UNSURE_SECONDS: Final = 2
"""Age below which a file's time doesn't tell a change from the next one."""


class _KnownMatters(Struct, frozen=True):
    state: str
    matters: list[Matter]


def state_of(project: Project) -> str:
    """Identify what matters are found from: code, settings and the database; "" while one of them is being written."""
    place, about = project.path.resolve(), list[os.stat_result]()
    for path in (place, sidecar_path(place, "-wal"), file_of(project.path), *Path(__file__).parents[1].rglob("*.py")):
        with suppress(FileNotFoundError):
            about.append(path.stat())
    if time.time() - max((one.st_mtime for one in about), default=0.0) < _UNSURE_SECONDS:
        return ""
    return blake2b(repr([(one.st_mtime_ns, one.st_size) for one in about]).encode()).hexdigest()


def cached_matters(project: Project, state: str, find: Callable[[], list[Matter]]) -> list[Matter]:
    path = cache_folder(project.path) / "briefing.json"
    with suppress(OSError, msgspec.MsgspecError):
        known = msgspec.json.decode(read_cached(path, _MAX_BYTES), type=_KnownMatters)
        if known.state == state:
            return known.matters
    found = find()
    if state:
        with suppress(OSError), cached_file(path) as file:
            file.write(msgspec.json.encode(_KnownMatters(state, found)))
    return found


# -- Counts.


def status(project: Project) -> Status:
    with project.database.reading() as reader:
        by_state = states.count_by_state(project.database)
        return Status(
            items=sum(by_state.values()),
            states=by_state,
            accepted=overview.accepted(reader),
            checks=check_items.count(reader),
            flags=flags.count_open(reader),
            datasets=overview.datasets(reader),
            people=overview.people(project.database),
            **overview.totals(reader),
        )


def every_dataset(project: Project) -> list[DatasetInfo]:
    with project.database.reading() as reader:
        return overview.datasets(reader)
