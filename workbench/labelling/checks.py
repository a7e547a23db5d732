"""Checks: items with a known answer, mixed in unannounced to measure annotators' accuracy.

They belong to no benchmark: they have no gold and no quota, and answers to them change no state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from workbench.config.settings import AnnotationPolicy
from workbench.core.database import people
from workbench.core.database.selection import chosen_ids
from workbench.core.item import Refusal
from workbench.core.label import LabelVerdict
from workbench.core.project import ROWS, Project, batches
from workbench.core.selection import Selection
from workbench.core.text.figures import Narration
from workbench.data.formats.rows import read_records
from workbench.data.store import reading
from workbench.labelling.store import assignments, check_items
from workbench.labelling.store.check_items import CheckCandidate, Source
from workbench.labelling.store.check_items import CheckInfo as CheckInfo

NO_ANSWER = "its answer is not known there"
AT_WORK = "people have labels or slots on it"
NOT_SETTLED = "annotators have not resolved it yet, or are working on it"


class CheckLine(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench checks DB import``.

    Attributes:
        completion_id: The completion's own id.
        verdict: The known answer.
        question_id: Distinguishes completions with the same id.
        dataset: Distinguishes questions with the same id.
    """

    completion_id: str
    verdict: LabelVerdict
    question_id: str | None = None
    dataset: str | None = None


class CheckScore(Struct, frozen=True, kw_only=True):
    """One person's score on checks: one element of ``workbench checks DB report --json``.

    Attributes:
        n: Number of checks answered.
        right: Number of them with the known answer.
        accuracy: ``right / n``; None without any.
        lo: Lower end of its 95 % interval, by question like that of a verifier's accuracy; None with too few questions.
        hi: The upper end.
        paused: Whether the person gets no items for now.
        why: Why they are paused.
    """

    annotator: str
    n: int
    right: int
    accuracy: float | None
    lo: float | None
    hi: float | None
    paused: bool
    why: str = ""


class ChecksChanged(Struct, kw_only=True):
    """The result of adding or importing checks, as numbers of items or lines.

    Attributes:
        added: Items that are checks now, or whose known answer was corrected.
        unchanged: Items that already were checks with this answer.
        refused: Rejected items or lines.
        passed_over: Items that were drawn but can't be checks, if enough others can.
        chosen_from: Items that meet the conditions.
        seed: Seed of the random choice; None without one.
        refusals: Reasons for rejections, with a count or line number.
    """

    added: int = 0
    unchanged: int = 0
    refused: int = 0
    passed_over: int = 0
    chosen_from: int = 0
    seed: int | None = None
    refusals: list[dict[str, object]] = []


def add_checks(
    project: Project, selection: Selection, source: Source = "imported", seed: int = reading.SEED
) -> ChecksChanged:
    """Turn the selected items into checks.

    With a limit, that number of eligible items is drawn at random and spread over their questions, so that annotators
    are measured on all kinds of items.

    Args:
        source: ``imported``: the answer is the imported gold, and the item has no labels and no slots. ``people``: the
            answer is the annotators' gold; these annotators never get the item as a check, and it leaves the benchmark.
        seed: Seed of the draw.

    Raises:
        UsageError: A condition names something unknown.
    """
    report, reasons = ChecksChanged(), Counter[str]()
    found = reading.sampling_frame(project.database.reader(), selection.unlimited)
    most = len(found.item) if selection.limit is None else selection.limit
    order = found.item if selection.limit is None else reading.in_order(found, seed).item
    report.chosen_from, report.seed = len(order), None if selection.limit is None else seed
    for start in range(0, len(order), ROWS):
        if report.added + report.unchanged == most:
            break
        with project.database.write("full") as connection:
            for candidate in check_items.candidates(connection, order[start : start + ROWS].tolist(), source):
                if report.added + report.unchanged == most:
                    break
                if reason := _rejection_reason(candidate, source):
                    reasons[reason] += 1
                else:
                    _add_check(connection, report, candidate)
    is_enough = selection.limit is not None and report.added + report.unchanged == most
    report.passed_over, report.refused = (reasons.total(), 0) if is_enough else (0, reasons.total())
    report.refusals = [{"items": count, "message": reason} for reason, count in reasons.most_common()]
    return report


def _rejection_reason(candidate: CheckCandidate, source: Source) -> str:
    if candidate.verdict is None:
        return NO_ANSWER
    if candidate.is_check:
        return ""
    if source == "people":
        return "" if candidate.settled else NOT_SETTLED
    return AT_WORK if candidate.touched else ""


def _add_check(connection: people.Connection, report: ChecksChanged, candidate: CheckCandidate) -> None:
    if candidate.verdict is None:
        return
    changed = check_items.put(connection, candidate.completion, candidate.verdict)
    report.added += changed
    report.unchanged += not changed


def import_checks(project: Project, path: Path) -> ChecksChanged:
    """Make checks of the items that a file names with their answers; see `CheckLine`.

    Raises:
        FormatError: The file can't be opened.
    """
    report = ChecksChanged()
    lines = list(read_records(path, msgspec.json.Decoder(CheckLine)))
    for some in batches(lines):
        with project.database.write("full") as connection:
            for number, _, line in some:
                if isinstance(line, Refusal):
                    reject(report, number, line.field, line.message)
                else:
                    _import_line(connection, report, number, line)
    return report


def _import_line(connection: people.Connection, report: ChecksChanged, number: int, line: CheckLine) -> None:
    found = reading.find_completions(connection, line.completion_id, line.question_id, line.dataset)
    if len(found) != 1:
        many = "is ambiguous: add dataset or question_id to the line"
        what = many if found else "is not a completion here"
        reject(report, number, "completion_id", f"{line.completion_id!r} {what}")
        return
    (candidate,) = check_items.candidates(connection, [found[0][0]], "file")
    candidate = candidate._replace(verdict=line.verdict)
    if reason := _rejection_reason(candidate, "file"):
        reject(report, number, "completion_id", reason)
    else:
        _add_check(connection, report, candidate)


def reject(report: Any, number: int, field: str | None, message: str) -> None:
    """Add a rejected line to a report with ``refused`` and ``refusals``."""
    report.refused += 1
    report.refusals.append({"line": number, "field": field, "message": message})


def remove_checks(project: Project, selection: Selection) -> int:
    """Turn the selected checks back into ordinary items; return how many there were. Answers are kept.

    Raises:
        UsageError: A condition names something unknown.
    """
    with project.database.write("full") as connection:
        return sum(check_items.remove(connection, completion) for completion in chosen_ids(connection, selection))


def checks(project: Project) -> list[CheckInfo]:
    return check_items.every(project.database.reader())


def report(project: Project) -> list[CheckScore]:
    """Score each annotator's answers to checks, in the order in which annotators were added, without those who answered
    none.
    """
    reader = project.database.reader()
    scores: list[CheckScore] = []
    for person in people.all_people(project.database):
        tally = check_items.tally(reader, person.id)
        if not tally.answered and person.paused_at is None:
            continue
        lo, hi = _interval(reader, person.id) or (None, None)
        scores.append(
            CheckScore(
                annotator=person.name,
                n=tally.answered,
                right=tally.right,
                accuracy=tally.right / tally.answered if tally.answered else None,
                lo=lo,
                hi=hi,
                paused=person.paused_at is not None,
                why=person.paused_why or "",
            )
        )
    return scores


def _interval(connection: people.Connection, person: int) -> tuple[float, float] | None:
    import numpy as np

    from workbench.statistics.intervals import design_effects, intervals

    answered, right = np.array(check_items.by_question(connection, person), dtype=np.int64).reshape(-1, 2).T
    known = design_effects(answered, right, np.zeros(len(answered), dtype=np.int64), 1)
    return intervals(np.array([right.sum()]), np.array([answered.sum()]), known)[0]


def review(connection: people.Connection, person: int, policy: AnnotationPolicy) -> None:
    """Pause an annotator who is wrong on checks too often, in the transaction of their answer.

    Only answers since the person was last resumed count.
    """
    tally = check_items.tally(connection, person)
    n, right = tally.answered_lately, tally.right_lately
    if n < max(policy.check_minimum, 1) or right / n >= policy.check_threshold:
        return
    why = f"{right} of {n} checks right, below {policy.check_threshold:.0%}"
    people.pause(connection, person, why)
    assignments.give_back_all(connection, person)


def check_lines(listed: Sequence[CheckInfo]) -> Iterator[str]:
    for check in listed:
        names = f"{check.dataset}\t{check.question_id}\t{check.completion_id}"
        yield f"{names}\t{check.verdict}\t{check.right} of {check.answered} right"


def score_lines(scores: Sequence[CheckScore]) -> Iterator[str]:
    if not scores:
        yield Narration("No check has been answered yet.")
    for score in scores:
        paused = f"\tpaused{f': {score.why}' if score.why else ''}" if score.paused else ""
        yield f"{score.annotator}\t{score.right} of {score.n} right\t{_checks_share(score)}{paused}"


def _checks_share(score: CheckScore) -> str:
    if score.accuracy is None:
        return "–"
    if score.lo is None or score.hi is None:
        return f"{score.accuracy:.1%} (too few questions for an interval)"
    return f"{score.accuracy:.1%} [{score.lo:.1%}, {score.hi:.1%}]"


def changed_lines(report: ChecksChanged) -> Iterator[str]:
    yield f"{report.added} added, {report.unchanged} unchanged, {report.refused} rejected"
    if report.seed is not None:
        yield f"Drawn at random from {report.chosen_from:,}, spread over their questions (seed {report.seed})."
