"""Finds the items of each review queue: labels that are probably wrong, disagreements and unstable verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from workbench.core.database import people
from workbench.core.errors import Command, UsageError, opt
from workbench.core.label import Task
from workbench.core.options import grouped
from workbench.core.text.figures import counted, listed
from workbench.core.verdict import OutcomeCode
from workbench.labelling.store import agreement
from workbench.measuring.judged import VerifierRun
from workbench.measuring.reviewing.asked import QueueContents, QueueItem, QueueQuery, gold_says, runs_of, who_says
from workbench.measuring.store import reviews

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.disagreement import Feature


_TEXTS: Final = ("text_equal", "text_differs")
"""Reason codes of verifiers that compare final answers as texts."""
_EQUAL: Final[dict[str | None, tuple[float, str]]] = {
    None: (3.0, "Both final answers are the same text"),
    "text.exact": (3.0, "Both final answers are the same text"),
    "text.canonical": (3.0, "Both final answers are the same text, apart from typesetting"),
    "choice.letter": (2.0, "Both choose the same option"),
    "number.exact": (2.0, "Both final answers are the same number"),
}
"""Rules by which answers are exactly equal (None for a verifier without rules) -> score and words."""
_OTHER_LETTER: Final = (1.0, "They choose different options")
_PROBABILITY: Final = (
    " If verifiers and gold erred independently of each other, this label would be wrong with probability {:.2f} "
    "(Dawid–Skene)."
)
_MAX_SHOWN = 60
_MIN_SUSPICION = 0.1
"""Least share of opposite gold among items with the same verdicts for a label to be in the queue."""
_MIN_QUESTIONS: Final = 20
"""Fewest questions for a model fitted on the other questions: four in each of its five folds."""
EVEN: Final = 0.5
"""Share above which most items with the same verdicts have the opposite label; the label may still be right."""


class _CertainVerdict(NamedTuple):
    score: float
    words: str
    verifier: str
    compared: reviews.ComparedAnswers


def exact_label(asked: QueueQuery) -> QueueContents:
    import numpy as np

    from workbench.statistics.disagreement import rank_by_score

    known = [judge for judge in asked.judges if set(_TEXTS) & set(asked.columns.reasons(judge.run).names)]
    if not known:
        raise UsageError(
            "None of these verifiers extracts final answers.", "Run one that does", Command("verify DB rules")
        )
    sure: dict[int, _CertainVerdict] = {}
    for judge in known:
        for place, found in _certain_verdicts(asked, judge).items():
            sure[place] = max(found, sure.get(place, found), key=lambda one: one.score)
    places = sorted(sure)
    ranking = rank_by_score(
        np.array(places, dtype=np.int64), np.array([sure[place].score for place in places], dtype=float)
    )

    return QueueContents(
        ranking=ranking,
        text=f"The final answers are exactly equal by {runs_of(asked, known)}, yet gold ({asked.gold}) says incorrect. "
        "Score: 3 the same text, 2 the same option or number; 1 is the reverse, other option letters and gold says "
        "correct.",
        why=lambda case: f"{_compared_text(sure[case.place])}; {gold_says(case)}.",
    )


def _certain_verdicts(asked: QueueQuery, judge: VerifierRun) -> dict[int, _CertainVerdict]:
    import numpy as np

    from workbench.statistics.disagreement import of

    outcome, truth = asked.columns.outcome(judge.run), asked.truth
    reasons = asked.columns.reasons(judge.run)
    wanted = [number for number, name in enumerate(reasons.names) if name in ("text_equal", "letter", "number")]
    against = ((outcome == OutcomeCode.CORRECT) & (truth == 0)) | ((outcome == OutcomeCode.INCORRECT) & (truth == 1))
    places = of(against & np.isin(reasons.code, wanted), asked.kept)
    items = asked.columns.item[places].tolist()
    rests = reviews.compared(asked.project.database.reader(), judge.run or 0, items)
    found = {}
    for place, item in zip(places.tolist(), items, strict=True):
        compared = rests.get(item, reviews.ComparedAnswers(None, None, None))
        if outcome[place] == OutcomeCode.CORRECT:
            score, words = _EQUAL.get(compared.rule, (0.0, ""))
        else:
            score, words = _OTHER_LETTER if compared.rule == "choice.letter" else (0.0, "")
        if score:
            found[place] = _CertainVerdict(score, words, judge.name, compared)
    return found


def _compared_text(sure: _CertainVerdict) -> str:
    reference, candidate = (_quoted(text) for text in (sure.compared.reference, sure.compared.candidate))
    return f"{sure.words} ({sure.verifier}: {reference} and {candidate})"


def _quoted(text: str | None) -> str:
    text = " ".join((text or "").split())
    return f"“{text[:_MAX_SHOWN]}{'…' if len(text) > _MAX_SHOWN else ''}”"


def suspect_gold(asked: QueueQuery) -> QueueContents:
    """Find labels with which a verifier disagrees, and where most (or many) items with the same verdicts have the
    opposite label.

    The number of wrong labels can't be estimated: in such data, joint errors of verifiers look the same as wrong gold,
    and error-free gold also has rare labels.
    """
    import numpy as np

    from workbench.statistics.disagreement import (
        is_contradicted,
        label_error_probability,
        label_surprise,
        rank_by_score,
    )

    voted = np.zeros(len(asked.truth), dtype=np.bool_)
    for vote in asked.votes:
        voted |= vote >= 0
    rows = np.flatnonzero(voted & (asked.truth >= 0))
    questions = len(np.unique(asked.columns.question[rows]))
    if questions < _MIN_QUESTIONS:
        return _too_few_contents(asked, questions)
    gold = asked.truth[rows].astype(np.int64)
    wrong = label_surprise(_features(asked, rows), gold, asked.columns.question[rows])
    suspect = (wrong >= _MIN_SUSPICION) & is_contradicted(asked.votes, asked.truth)[rows]
    outvotes = np.zeros(len(asked.truth))
    outvotes[rows] = label_error_probability([vote[rows] for vote in asked.votes], gold)
    if asked.kept is not None:
        suspect &= asked.kept[rows]

    # With only one verifier, its errors can't be distinguished from errors of gold.
    probability = _PROBABILITY if len(asked.judges) > 1 else ""
    return QueueContents(
        ranking=rank_by_score(rows[suspect], wrong[suspect]),
        text=f"Labels ({asked.gold}) other than those of at least {100 * _MIN_SUSPICION:.0f} % of the items that "
        f"{runs_of(asked)} judge the same way, where at least one of them disagrees with the label; "
        f"{np.count_nonzero(suspect & (wrong > EVEN)):,} differ from most. Score: that share, 1 - P(label), by a "
        "model of verdicts, scores, type and length that was fitted on other questions (confident learning). It ranks "
        "items, and is no probability of a wrong label: where verifiers err together a right label scores high, too.",
        why=lambda case: (
            f"{who_says(case.votes)}; {gold_says(case)}. Of items judged like it, about "
            f"{100 * case.score:.0f} % have the other label.{probability.format(outvotes[case.place])}"
        ),
    )


def _too_few_contents(asked: QueueQuery, questions: int) -> QueueContents:
    import numpy as np

    from workbench.statistics.disagreement import rank_by_score

    none: IntArray = np.zeros(0, dtype=np.int64)
    return QueueContents(
        ranking=rank_by_score(none, none.astype(float)),
        text=f"Labels ({asked.gold}) of {counted(questions, 'question')}: too few for a model that says which are "
        f"probably wrong, which takes {_MIN_QUESTIONS}. The queue verifier-gold has all that {runs_of(asked)} say "
        "otherwise.",
        why=lambda case: "",
    )


def _features(asked: QueueQuery, rows: IntArray) -> list[Feature]:
    import numpy as np

    from workbench.statistics.disagreement import Feature, quantiles

    types = asked.columns.groups("type")
    lengths: FloatArray = asked.columns.characters[rows].astype(np.float64)
    found = [Feature(types.code[rows], len(types.names)), quantiles(lengths, 4)]
    for judge, vote in zip(asked.judges, asked.votes, strict=True):
        found.append(Feature(vote[rows] + 1, len(OutcomeCode) + 1))
        score = asked.columns.score(judge.run)
        if score is not None:
            found.append(quantiles(score[rows], 5))
    return found


# -- The queue of items on which annotators disagree, resolved or not.


_TASKS: Final[tuple[Task, ...]] = "correctness", "type"


def annotators(asked: QueueQuery) -> QueueContents:
    import numpy as np

    from workbench.statistics.disagreement import rank_by_score

    differing = grouped(disputed for task in _TASKS for disputed in _disputed_items(asked, task))
    items = np.array(sorted(differing), dtype=np.int64)
    place = np.searchsorted(asked.columns.item, items)
    there = asked.columns.item[np.minimum(place, len(asked.columns.item) - 1)] == items
    place = place[there] if asked.kept is None else place[there][asked.kept[place[there]]]
    score = [max(differing[item])[0] for item in asked.columns.item[place].tolist()]

    return QueueContents(
        ranking=rank_by_score(place, np.array(score, dtype=np.float64)),
        text="Labels of the current round that differ, on the verdict or on the answer type. Score: the share of "
        "pairs of annotators who differ, plus 1 if it is not adjudicated.",
        why=lambda case: f"{'; '.join(label for _, label in differing[case.id])}; {gold_says(case)}.",
    )


def _disputed_items(asked: QueueQuery, task: Task) -> Iterator[tuple[int, tuple[float, str]]]:
    """Yield the completions on which (or on whose question) annotators disagree, each with its score and a description
    of the labels with their annotators. The score is the share of pairs of annotators who disagree, plus 1 if the
    disagreement is unresolved.
    """
    reader = asked.project.database.reader()
    about = agreement.subjects(reader, task, None)
    names = {person.id: person.name for person in people.all_people(asked.project.database)}
    for subject, labels in groupby(agreement.labels(reader, task), key=lambda label: label.subject):
        by_value = grouped((label.value, names[label.annotator]) for label in labels)
        if len(by_value) < 2:
            continue
        ruling = about[subject].ruling
        sizes = Counter({value: len(makers) for value, makers in by_value.items()})
        total = sizes.total()
        same = sum(size * (size - 1) for size in sizes.values())
        text = ", ".join(
            f"{listed(makers)} {'says' if len(makers) == 1 else 'say'} {value}" for value, makers in by_value.items()
        )
        settled = f", resolved as {ruling}" if ruling else ", not resolved"
        score = 1 - same / (total * (total - 1)) + (ruling is None)
        yield about[subject].completion, (score, text + settled)


# -- The queue of unstable verdicts: a verifier's verdicts differ between its samples, or between its newest two
# runs.


_DECIDED = OutcomeCode.CORRECT, OutcomeCode.INCORRECT


class _RepeatedVerdicts(Struct, frozen=True, kw_only=True, eq=False):
    """Counts of several verdicts of one verifier on each item: those of its newest two runs, or the samples of one run.

    Attributes:
        judge: The verifier and its newest run.
        before: The complete run before it; None if the verdicts are the samples of one run.
        yes: Number of "correct" verdicts of each item.
        no: Number of "incorrect" verdicts of each item.
    """

    judge: VerifierRun
    before: int | None
    yes: IntArray
    no: IntArray

    def words(self, place: int) -> str:
        yes, no = int(self.yes[place]), int(self.no[place])
        if not yes or not no:
            return ""
        if self.before is None:
            return f"of {self.judge.name}'s samples {yes} say correct and {no} incorrect"
        return f"{self.judge.name} differs between run {self.before} and run {self.judge.run}"

    def rate(self, kept: BoolArray | None) -> str:
        import numpy as np

        twice, flips = self.yes + self.no > 1, (self.yes > 0) & (self.no > 0)
        if kept is not None:
            twice, flips = twice & kept, flips & kept
        items, flipped = int(np.count_nonzero(twice)), int(np.count_nonzero(flips))
        share = f" ({flipped / items:.1%})" if items else ""
        between = "between samples" if self.before is None else f"from run {self.before} to run {self.judge.run}"
        return f"{self.judge.name} {flipped:,} of {items:,}{share} {between}"


def flips(asked: QueueQuery) -> QueueContents:
    import numpy as np

    from workbench.statistics.disagreement import of, rank_by_score

    repeated = list(_repeated_verdicts(asked))
    score = np.zeros(len(asked.columns.item))
    for one in repeated:
        score += 2 * np.minimum(one.yes, one.no) / np.maximum(one.yes + one.no, 1)
    place = of(score > 0, asked.kept)

    rates = "; ".join(one.rate(asked.kept) for one in repeated)
    return QueueContents(
        ranking=rank_by_score(place, score[place]),
        text=f"Decided verdicts of one verifier that contradict each other. Flip rate, of items with two of them: "
        f"{rates}. Score: twice the minority's share, summed over verifiers and kinds of repetition."
        if repeated
        else f"No verdicts are repeated: {runs_of(asked) or 'no verifier'} took one sample in one complete run.",
        why=lambda case: f"{', '.join(filter(None, (one.words(case.place) for one in repeated)))}; {gold_says(case)}.",
    )


def _repeated_verdicts(asked: QueueQuery) -> Iterator[_RepeatedVerdicts]:
    import numpy as np

    from workbench.statistics.confusion import align

    reader = asked.project.database.reader()
    for judge, vote in zip(asked.judges, asked.votes, strict=True):
        if judge.run is None:
            continue
        found = reviews.samples(reader, judge.run)
        if found.item:
            yes, no = (align(asked.columns.item, found.item, said, np.int16(0)) for said in (found.yes, found.no))
            yield _RepeatedVerdicts(judge=judge, before=None, yes=yes, no=no)
        before = reviews.run_before(reader, judge.run)
        if before is not None:
            both = vote, asked.columns.outcome(before)
            yes, no = (sum((one == said).astype(np.int16) for one in both) for said in _DECIDED)
            yield _RepeatedVerdicts(judge=judge, before=before, yes=yes, no=no)


# -- Queues counted from verdicts: against gold, against each other, and k against n - k.


def verifier_gold(asked: QueueQuery) -> QueueContents:
    from workbench.statistics.disagreement import against_gold

    types = asked.columns.groups("type")
    found = against_gold(asked.votes, asked.truth, types.code, len(types.names), asked.kept)

    return QueueContents(
        ranking=found,
        text=f"A decided verdict differs from gold ({asked.gold}), of {runs_of(asked)}. Ordered by how far all "
        "verdicts on the item speak against gold: a log-likelihood ratio, by each verifier's rates on the item's type.",
        why=_explain_sides,
    )


def verifiers(asked: QueueQuery) -> QueueContents:
    from workbench.statistics.disagreement import rank_by_split

    _require_verifiers(asked, 2)
    return QueueContents(
        ranking=rank_by_split(asked.votes, len(asked.columns.item), asked.kept),
        text=f"Decided verdicts differ, of {runs_of(asked)}. The most evenly split first (the score is twice "
        "the minority's share), then those with more verdicts.",
        why=_explain_sides,
    )


def split(asked: QueueQuery) -> QueueContents:
    from workbench.statistics.disagreement import splits

    _require_verifiers(asked, 2)
    many = len(asked.judges)
    k = many // 2 if asked.k is None else asked.k
    if not 1 <= k < many:
        raise UsageError(f"{k} of {many} verifiers can't be a minority.", f"Use 1 to {many - 1}.")
    k = min(k, many - k)
    found = splits(asked.votes, len(asked.columns.item), k, asked.kept)
    sizes = ", ".join(f"{many - fewer}:{fewer} {number:,}" for fewer, number in enumerate(found.sizes))
    return QueueContents(
        ranking=found.ranking,
        text=f"{k} against {many - k} of {runs_of(asked)}. Items by split: {sizes}; not fully voted "
        f"{found.unvoted:,} (an abstention or an error is no vote). First where the weaker side weighs nearly as much "
        "as the stronger: a verifier weighs the more, the more often it sides with the others' majority.",
        why=_explain_sides,
    )


def _require_verifiers(asked: QueueQuery, least: int) -> None:
    if len(asked.judges) < least:
        raise UsageError(
            f"{len(asked.judges)} verifier can't disagree with another.",
            f"Run one more, or name more: {opt.verifier:A} {opt.verifier:B}",
        )


def _explain_sides(case: QueueItem) -> str:
    return f"{who_says(case.votes)}; {gold_says(case)}."
