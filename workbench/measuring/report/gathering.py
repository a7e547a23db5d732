"""Gathers the contents of a report from the functions that compute every other table."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from workbench.config import protocol_of
from workbench.core.errors import UsageError
from workbench.core.final_answer import completion_answer, reference_answer
from workbench.core.options import record_from
from workbench.core.progress import step, stepping
from workbench.core.project import Project, at_one_moment
from workbench.core.reasons import explain_verdict
from workbench.core.run import ConfiguredVerifier
from workbench.core.selection import Selection
from workbench.core.text.excerpt import short_answer
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice, Outcome, OutcomeCode, Protocol3
from workbench.data.formats.writing import new_file
from workbench.data.records import ItemDetail
from workbench.labelling.agreement.measuring import agreement
from workbench.measuring.accuracy import accuracy
from workbench.measuring.browsing import read
from workbench.measuring.columns import Columns, columns
from workbench.measuring.costs import CostReport, costs
from workbench.measuring.entries import combine_q_values
from workbench.measuring.family import family
from workbench.measuring.judged import BASELINE, JudgedSelection, VerifierRun, judged, judges_of
from workbench.measuring.report.card import GoldItems, data_card
from workbench.measuring.report.common import summary_section
from workbench.measuring.report.contents import (
    ERROR_KINDS,
    ConfusionCounts,
    Contents,
    ErrorExample,
    ErrorKind,
    Errors,
    RunFacts,
    ScoreBin,
    Scores,
    Software,
)
from workbench.measuring.report.figures import (
    breakdown_section,
    causes_section,
    comparison_section,
    confusion_section,
    cost_section,
    scores_section,
    tables_section,
    testing_section,
    validity_section,
)
from workbench.measuring.report.people import (
    data_section,
    examples_section,
    methods_section,
    people_section,
    provenance_section,
)
from workbench.measuring.report.pictures import pictures, write_plots
from workbench.measuring.reviewing.triage import cause_lines
from workbench.measuring.store import overview
from workbench.measuring.testing import suite_figures
from workbench.measuring.validity import validity
from workbench.runs.store import runs
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.comparison import FamilyReport
from workbench.statistics.records.report import AccuracyReport
from workbench.tables.document import Document, Section, shorten_end, shorten_start
from workbench.tables.html import html
from workbench.tables.markdown import markdown
from workbench.tables.pictures import require_matplotlib

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray


# -- The report: from metrics and texts to a document.


SECTIONS: Final[tuple[Callable[[Contents], Section | None], ...]] = (
    summary_section,
    testing_section,
    data_section,
    breakdown_section,
    confusion_section,
    comparison_section,
    cost_section,
    scores_section,
    validity_section,
    people_section,
    causes_section,
    examples_section,
    methods_section,
    provenance_section,
    tables_section,
)
"""The sections in reading order."""


def report_document(contents: Contents, more: Sequence[Section] = ()) -> Document:
    """Assemble all sections that have contents.

    Args:
        more: Sections made by other packages, which come before the section on methods.
    """
    place = SECTIONS.index(methods_section)
    made = (*(make(contents) for make in SECTIONS[:place]), *more, *(make(contents) for make in SECTIONS[place:]))
    ran = {figures.verifier for figures in contents.tests}
    verifiers = len(ran | {row.verifier for row in contents.overall.rows if row.kind == "verifier"})
    datasets = ", ".join(contents.card.counts.datasets) or "no data"
    return Document(
        title=f"Verifiers on {datasets}",
        lead=f"{counted(verifiers, 'verifier')}, {_items_text(contents)}. Items: {contents.selection}. "
        f"Protocol {contents.protocol}, gold {contents.gold_choice}.",
        generated_at=contents.generated_at,
        sections=tuple(section for section in made if section is not None),
    )


def _items_text(contents: Contents) -> str:
    if contents.tests and not any(
        contents.overall.gold[source] for source in contents.overall.gold if source != "none"
    ):
        return (
            counted(sum(one.solutions for one in contents.tests[0].problems), "solution") + " run against their tests"
        )
    counts = {row.of: sum(row.counts.values()) for row in contents.card.counts.rows if row.group is None}
    return (
        f"{counted(counts.get('completions', 0), 'completion')} with gold of "
        f"{counted(counts.get('questions', 0), 'question')}"
    )


# -- Scores compared with gold: their distribution, and the share of correct completions by score.


_BINS = 20
_PROBABILITY_BINS = 10
_THRESHOLD = "threshold"
_HUGE = 2.0**50
"""Magnitude of scores from which half a point is negligible."""


def scores_of(
    everything: Columns, part: GoldItems, judge: VerifierRun, known: ConfiguredVerifier | None, overall: AccuracyReport
) -> Scores | None:
    import numpy as np

    column = everything.score(judge.run)
    if column is None:
        return None
    score = column[part.rows]
    there = np.isfinite(score)
    score, gold = score[there], part.gold[there]
    if not len(score):
        return None
    probability = bool(score.min() >= 0 and score.max() <= 1)
    area = next((row.auroc for row in overall.rows if row.verifier == judge.name and row.group is None), None)
    value = None if known is None else known.config.get(_THRESHOLD)
    return Scores(
        verifier=judge.name,
        n=len(score),
        auroc=area,
        threshold=(float(value) if isinstance(value, int | float) and math.isfinite(value) else None),
        probability=probability,
        bins=_score_bins(score, gold, probability),
    )


def _score_bins(score: FloatArray, gold: IntArray, probability: bool) -> list[ScoreBin]:
    import numpy as np

    low, high = (0.0, 1.0) if probability else (float(score.min()), float(score.max()))
    if low == high:
        low, high = (low - 0.5, high + 0.5) if abs(low) < _HUGE else (min(low, 0.0), max(high, 0.0))
    # The range of very large scores may exceed the largest float.
    scale = max(abs(low), abs(high))
    edges = np.linspace(low / scale, high / scale, (_PROBABILITY_BINS if probability else _BINS) + 1) * scale
    place = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    size = len(edges) - 1
    items, correct = np.bincount(place, minlength=size), np.bincount(place, weights=gold, minlength=size)
    sums = np.bincount(place, weights=score / scale, minlength=size)
    return [
        ScoreBin(
            low=float(edges[at]),
            high=float(edges[at + 1]),
            correct=int(correct[at]),
            incorrect=int(items[at] - correct[at]),
            mean=float(sums[at] / items[at] * scale) if items[at] else None,
            rate=float(correct[at] / items[at]) if items[at] else None,
        )
        for at in range(size)
    ]


# -- A verifier's errors; those that other verifiers don't share come first.


_QUESTION, _ANSWER, _ENDING, _DETAIL = 600, 300, 700, 300
"""Most characters of texts in the report."""


def errors_of(project: Project, found: JudgedSelection, examples: int) -> list[Errors]:
    """Return every verifier's errors by kind, without baselines and verifiers that have no decided verdict.

    The examples are sorted by how many other verifiers judge the item correctly, most first: such errors are specific
    to the verifier and not caused by the item. Ties are in the order of import.
    """
    judges = [
        (place, judge)
        for place, (judge, outcome) in enumerate(zip(found.judges, found.outcomes, strict=True))
        if judge.run is not None and bool(((outcome >= 0) & (outcome < OutcomeCode.ABSTAIN)).any())
    ]
    chosen = [(place, judge.name) for place, judge in judges]
    listed = []
    for place, name in chosen:
        right, judged = _others_counts(found, [other for other, _ in chosen if other != place])
        outcome = found.outcomes[place]
        wrong: dict[ErrorKind, BoolArray] = {
            "accepted": (outcome == OutcomeCode.CORRECT) & (found.gold == 0),
            "refused": (outcome == OutcomeCode.INCORRECT) & (found.gold == 1),
            "undecided": (outcome >= OutcomeCode.ABSTAIN) & (found.gold >= 0),
        }
        for kind in ERROR_KINDS:
            items = wrong[kind].nonzero()[0]
            shown = items[(-right[items]).argsort(kind="stable")[:examples]]
            cases = [
                _error_example(read(project, int(found.item[at])), name, int(right[at]), int(judged[at]))
                for at in shown
            ]
            listed.append(Errors(verifier=name, kind=kind, count=len(items), examples=cases))
    return listed


def _others_counts(found: JudgedSelection, places: list[int]) -> tuple[IntArray, IntArray]:
    import numpy as np

    right, judged = np.zeros(len(found.item), dtype=np.int16), np.zeros(len(found.item), dtype=np.int16)
    for place in places:
        right += found.outcomes[place] == found.gold
        judged += found.outcomes[place] >= 0
    return right, judged


def _error_example(item: ItemDetail, verifier: str, right: int, judged: int) -> ErrorExample:
    verdict = next(verdict for verdict in item.verdicts if verdict.verifier == verifier)
    answer = reference_answer(item.reference, item.subtype)
    stated = completion_answer(item.completion)
    return record_from(
        ErrorExample,
        item,
        verdict=Outcome(verdict.verdict).word,
        score=verdict.score,
        reason=verdict.reason or "",
        rule=verdict.rule or "",
        why=explain_verdict(verdict.verdict, verdict.reason, verdict.rule, short_answer(verdict.reference_final)),
        detail=shorten_end(verdict.detail or "", _DETAIL),
        others_right=right,
        others=judged,
        question=shorten_end(item.question, _QUESTION),
        answer=shorten_end(answer.text if answer.found else item.reference, _ANSWER),
        reference_read=shorten_end(verdict.reference_final or "", _ANSWER),
        completion_read=shorten_end(verdict.candidate_final or (stated.text if stated.found else ""), _ANSWER),
        ending=shorten_start(item.completion, _ENDING),
    )


BREAKDOWNS = ("type", "subtype", "domain", "source", "model", "length", "dataset")
"""Breakdowns of accuracy, if they have more than one group."""
_DISTRIBUTION = "verifier-workbench"
_IDENTITY = (
    "strategy",
    "template",
    "template_sha256",
    "published",
    "parser",
    "model",
    "samples",
    "reference",
    "threshold",
    "of",
)


@at_one_moment
def gather(
    project: Project,
    *,
    verifiers: Sequence[str] = (),
    selection: Selection | None = None,
    protocol: Protocol3 | None = None,
    gold: GoldChoice = "final",
    examples: int = 3,
    generated_at: str,
) -> Contents:
    """Gather the contents of a report.

    Args:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.
        examples: Maximum number of examples of each kind of error for each verifier.
        generated_at: The time of the report that it shows; otherwise the same database gives the same contents.

    Raises:
        UsageError: A verifier is unknown, or the selection names something unknown.
    """
    protocol = protocol or protocol_of(project)
    wanted = selection or Selection()
    basis: dict[str, Any] = {"protocol": protocol, "gold": gold, "selection": wanted}
    measure = partial(accuracy, project, **basis)
    everything = columns(project)
    judges = judges_of(project, tuple(verifiers))
    everyone = measure(verifiers=tuple(judge.name for judge in judges) or (BASELINE,), notes=False)
    names = deciding(judges, everyone)
    found = judged(project, names, gold=gold, selection=wanted) if names else None
    configured = {known.name: known for known in runs.verifiers(project.database.reader())}
    part = GoldItems.of(everything, gold, everything.chosen(wanted))
    texts = overview.text_hashes(project.database.reader())
    scores = [scores_of(everything, part, judge, configured.get(judge.name), everyone) for judge in judges]
    return Contents(
        database=project.path.name,
        selection=str(wanted),
        protocol=protocol,
        gold_choice=gold,
        generated_at=generated_at,
        card=data_card(project, wanted, gold, texts=texts),
        overall=measure(verifiers=names or (BASELINE,)),
        by=combine_q_values(_breakdowns(partial(measure, verifiers=names)) if names else {}),
        confusions=[] if found is None else list(_confusion_counts(found)),
        family=_family_or_none(project, names, **basis),
        scores=[one for one in scores if one is not None],
        validity=validity(project, names, gold=gold, selection=wanted) if names else None,
        agreement=_agreement_report(project),
        errors=errors_of(project, found, examples) if found is not None and examples else [],
        causes=cause_lines(project, names),
        examples=examples,
        tests=suite_figures(project, wanted),
        costs=_costs_of_model_calls(project, names, **basis) if names else None,
        runs=[run_facts(project, judge.run) for judge in judges if judge.run is not None],
        software=software(project, found, texts),
    )


def _breakdowns(measure: Callable[..., AccuracyReport]) -> dict[str, AccuracyReport]:
    ways = stepping(BREAKDOWNS, "breaking down", "ways")
    found = {by: measure(by=by) for by in ways}
    return {by: one for by, one in found.items() if len({row.group for row in one.rows} - {None, ""}) > 1}


def _confusion_counts(found: JudgedSelection) -> Iterator[ConfusionCounts]:
    import numpy as np

    from workbench.statistics.confusion import tally

    for judge, outcome in zip(found.judges, found.outcomes, strict=True):
        (cells,) = tally(outcome, found.gold, np.zeros(len(outcome), dtype=np.int8), 1)
        of_incorrect, of_correct = ((yes, no, sum(undecided)) for no, yes, *undecided in cells.tolist())
        yield ConfusionCounts(verifier=judge.name, of_correct=of_correct, of_incorrect=of_incorrect)


def _family_or_none(project: Project, names: tuple[str, ...], **basis: Any) -> FamilyReport | None:
    try:
        return family(project, names, **basis)
    except UsageError:
        return None


def deciding(judges: Sequence[VerifierRun], everyone: AccuracyReport) -> tuple[str, ...]:
    decided = {row.verifier for row in everyone.rows if row.coverage}
    return tuple(judge.name for judge in judges if judge.name in decided and judge.name != BASELINE)


def _costs_of_model_calls(project: Project, names: tuple[str, ...], **basis: Any) -> CostReport | None:
    found = costs(project, names, **basis)
    return found if any(row.calls for row in found.rows) else None


def _agreement_report(project: Project) -> AgreementReport | None:
    found = agreement(project, by="type")
    return found if found.paired else None


def run_facts(project: Project, run: int) -> RunFacts:
    """Return a run and the identity of its verifier.

    Raises:
        UsageError: The run no longer exists.
    """
    row = runs.get(project.database.reader(), run)
    if row is None:
        raise UsageError(f"Run {run} is gone.", "Make the report again.")
    config = row.verifier.config
    return RunFacts(
        verifier=row.verifier.name,
        kind=row.verifier.kind,
        run=row.id,
        version=row.version,
        config_hash=row.verifier.config_hash,
        items=row.items,
        completed_at=row.completed_at or "",
        identity={key: str(config[key]) for key in _IDENTITY if config.get(key) not in (None, "")},
    )


def software(project: Project, found: JudgedSelection | None, texts: overview.TextHashes | None = None) -> Software:
    reader = project.database.reader()
    digest = blake2b(overview.texts_digest(reader, texts or overview.text_hashes(reader)), digest_size=16)
    if found is not None:
        digest.update(found.item.tobytes() + found.gold.tobytes())
        for judge, outcome in zip(found.judges, found.outcomes, strict=True):
            digest.update(judge.name.encode() + b"\0" + outcome.tobytes())
    return Software(
        workbench=version(_DISTRIBUTION),
        python=platform.python_version(),
        numpy=version("numpy"),
        scipy=version("scipy"),
        schema=overview.schema_version(reader),
        content_hash=digest.hexdigest(),
    )


# -- The report as a file.


class WrittenReport(NamedTuple):
    """The written files.

    Attributes:
        size: Size of the report's file in bytes; None if only plots were written.
        figures: Paths of the plots.
    """

    size: int | None
    figures: list[Path]


ReportFormat = Literal["html", "markdown"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
_WRITERS: dict[ReportFormat, Callable[[Document], str]] = {"html": html, "markdown": markdown}


def write_report(
    project: Project,
    path: Path | None,
    contents: Callable[[], Contents],
    *,
    figures: Path | None = None,
    format: ReportFormat = "html",
    more: Sequence[Section] = (),
    force: bool = False,
) -> WrittenReport:
    """Write the report to a file, atomically, and its plots to a folder.

    Args:
        path: The report's file; None to write only plots.
        contents: Gathers the contents, by `gather`.
        figures: The folder of the plots; None to write no plots.
        more: Sections made by other packages.
        force: Whether to replace existing files.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
        UsageError: A verifier is unknown, the selection names something unknown, or matplotlib is not installed.
    """
    if path is not None:
        project.database.require_other(path)
    if figures is not None:
        require_matplotlib()
    with ExitStack() as stack:
        file = None if path is None else stack.enter_context(new_file(path, force=force))
        stack.enter_context(step("counting"))
        found = contents()
        size = None if file is None else file.write(_WRITERS[format](report_document(found, more)).encode())
        drawn = [] if figures is None else write_plots(figures, pictures(found), force=force)
        return WrittenReport(size, drawn)
