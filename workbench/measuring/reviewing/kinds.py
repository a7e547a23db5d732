"""Queues of labels that are probably wrong: by the final answers themselves, and by what verifiers make probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome
from workbench.measuring.judged import VerifierRun
from workbench.measuring.reviewing.asked import QueueContents, QueueItem, QueueQuery
from workbench.measuring.reviewing.wording import gold_says, runs_of, who_says
from workbench.measuring.store import disagreements

if TYPE_CHECKING:
    from workbench.statistics.arrays import FloatArray, IntArray
    from workbench.statistics.patterns import Feature

_TEXTS: Final = ("text_equal", "text_differs")
"""Reason codes of verifiers that compare final answers as texts."""

_EQUAL: Final[dict[str | None, tuple[float, str]]] = {
    None: (3.0, "Both final answers are the same text"),
    "text.exact": (3.0, "Both final answers are the same text"),
    "text.canonical": (3.0, "Both final answers are the same text, typesetting aside"),
    "choice.letter": (2.0, "Both choose the same option"),
    "number.exact": (2.0, "Both final answers are the same number"),
}
"""Rules by which answers are exactly equal (None: of a verifier without rules): score and words."""

_OTHER_LETTER: Final = (1.0, "They choose different options")
_SHOWN = 60
_SUSPECT = 0.1
"""How probably wrong a label must be to be in the queue."""


class _Sure(NamedTuple):
    """A comparison that leaves no doubt, and what it compared."""

    score: float
    words: str
    verifier: str
    compared: disagreements.ComparedAnswers


def exact_label(asked: QueueQuery) -> QueueContents:
    """The final answers are exactly equal but gold says incorrect, or name other options but it says correct."""
    import numpy as np

    from workbench.statistics.votes import falling

    known = [judge for judge in asked.judges if set(_TEXTS) & set(asked.columns.reasons(judge.run).names)]
    if not known:
        raise UsageError(
            "None of these verifiers compares final answers as texts.", "Run one that does: workbench verify DB rules"
        )
    sure: dict[int, _Sure] = {}
    for judge in known:
        for place, found in _without_doubt(asked, judge).items():
            sure[place] = max(found, sure.get(place, found), key=lambda one: one.score)
    places = sorted(sure)
    ranking = falling(np.array(places, dtype=np.int64), np.array([sure[place].score for place in places], dtype=float))

    def why(cases: Sequence[QueueItem]) -> list[str]:
        return [f"{_compared(sure[case.place])}; {gold_says(case)}." for case in cases]

    return QueueContents(
        ranking=ranking,
        text=f"The final answers are exactly equal by {runs_of(asked, known)}, yet gold ({asked.gold}) says incorrect. "
        "Score: 3 the same text, 2 the same option or number; 1 is the reverse, other option letters and gold says "
        "correct.",
        why=why,
    )


def _without_doubt(asked: QueueQuery, judge: VerifierRun) -> dict[int, _Sure]:
    """Position -> what a run's rules leave no doubt of, against gold."""
    import numpy as np

    from workbench.statistics.votes import of

    outcome, truth = asked.columns.outcome(judge.run), asked.truth
    reasons = asked.columns.reasons(judge.run)
    wanted = [number for number, name in enumerate(reasons.names) if name in ("text_equal", "letter", "number")]
    against = ((outcome == Outcome.CORRECT) & (truth == 0)) | ((outcome == Outcome.INCORRECT) & (truth == 1))
    places = of(against & np.isin(reasons.code, wanted), asked.kept)
    items = asked.columns.item[places].tolist()
    rests = disagreements.compared(asked.project.database.reader(), judge.run or 0, items)
    found = {}
    for place, item in zip(places.tolist(), items, strict=True):
        compared = rests.get(item, disagreements.ComparedAnswers(None, None, None))
        if outcome[place] == Outcome.CORRECT:
            score, words = _EQUAL.get(compared.rule, (0.0, ""))
        else:
            score, words = _OTHER_LETTER if compared.rule == "choice.letter" else (0.0, "")
        if score:
            found[place] = _Sure(score, words, judge.name, compared)
    return found


def _compared(sure: _Sure) -> str:
    reference, candidate = (_shown(text) for text in (sure.compared.reference, sure.compared.candidate))
    return f"{sure.words} ({sure.verifier}: {reference} and {candidate})"


def _shown(text: str | None) -> str:
    text = " ".join((text or "").split())
    return f"“{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}”"


def suspect_gold(asked: QueueQuery) -> QueueContents:
    """The verifiers together make the label improbable."""
    import numpy as np

    from workbench.statistics.disagreement import improbable, outvoted
    from workbench.statistics.votes import falling

    said = np.zeros(len(asked.truth), dtype=np.bool_)
    for vote in asked.votes:
        said |= vote >= 0
    rows = np.flatnonzero(said & (asked.truth >= 0))
    gold = asked.truth[rows].astype(np.int64)
    wrong = improbable(_features(asked, rows), gold, asked.columns.question[rows])
    suspect = wrong >= _SUSPECT
    outvotes = np.zeros(len(asked.truth))
    outvotes[rows] = outvoted([vote[rows] for vote in asked.votes], gold)
    if asked.kept is not None:
        suspect &= asked.kept[rows]

    def why(cases: Sequence[QueueItem]) -> list[str]:
        return [
            f"{who_says(case.votes)}; {gold_says(case)}: wrong with probability {case.score:.2f}, "
            f"by Dawid–Skene {outvotes[case.place]:.2f}."
            for case in cases
        ]

    return QueueContents(
        ranking=falling(rows[suspect], wrong[suspect]),
        text=f"Labels ({asked.gold}) that {runs_of(asked)} together make wrong with a probability of at least "
        f"{_SUSPECT}; {np.count_nonzero(suspect & (wrong > 0.5)):,} are more probably wrong than right. Score: the "
        "probability, 1 - P(label), by a model of verdicts, scores, type and length that was fitted on other questions "
        "(confident learning).",
        why=why,
    )


def _features(asked: QueueQuery, rows: IntArray) -> list[Feature]:
    """What a label may follow from: verdicts and scores of every verifier, the type, the completion's length."""
    import numpy as np

    from workbench.statistics.patterns import Feature, quantiles

    types = asked.columns.groups("type")
    lengths: FloatArray = asked.columns.characters[rows].astype(np.float64)
    found = [Feature(types.code[rows], len(types.names)), quantiles(lengths, 4)]
    for judge, vote in zip(asked.judges, asked.votes, strict=True):
        found.append(Feature(vote[rows] + 1, len(Outcome) + 1))
        score = asked.columns.score(judge.run)
        if score is not None:
            found.append(quantiles(score[rows], 5))
    return found
