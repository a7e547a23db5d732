"""What a row of an ensemble, a pick, an estimate or a correlation says, and why a figure is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

from workbench.model.best_of import BestOfRow
from workbench.model.comparison import LEVEL, PairedFigures
from workbench.model.downstream import DownstreamPoint, DownstreamRow
from workbench.model.ensemble import ENSEMBLES, EnsembleRow, MemberRow
from workbench.model.estimate import EstimateReport, EstimateRow
from workbench.render.columns import p_value
from workbench.services.measuring.combining_text import BEST
from workbench.services.measuring.comparing_tables import is_clear, told
from workbench.services.measuring.estimating_text import verdict

Standing = Literal["", "better", "worse", "not told apart"]


class RowWords(NamedTuple):
    """What a row says.

    Attributes:
        standing: How it stands to what it is compared with; empty where it is not compared.
        words: Sentences.
    """

    standing: Standing = ""
    words: tuple[str, ...] = ()


def of_rule(one: EnsembleRow) -> RowWords:
    """A rule against the best single verifier: better or worse only where both tests, the interval and q say so."""
    missing = tuple(_undefined(one))
    if one.kind not in ENSEMBLES:
        return RowWords(words=missing)
    if one.against is None:
        return RowWords(words=(*missing, f"No item counts for both {one.rule} and {BEST}."))
    chance = is_clear(one.against) and (one.q is None or one.q >= LEVEL)
    doubt = () if not chance else (f"Among all comparisons of the table it may be chance: q {p_value(one.q or 1)}.",)
    return RowWords(_standing(one.against, possible=not chance), (told(one.against, one.rule, BEST), *doubt, *missing))


def _undefined(one: EnsembleRow) -> Iterator[str]:
    if not one.n:
        yield "No item counts here under this protocol."
    elif one.fpr is None:
        yield "All gold here is “correct”: there is no balanced accuracy and no FPR."
    elif one.fnr is None:
        yield "All gold here is “incorrect”: there is no balanced accuracy and no FNR."


def of_member(headline: str, one: MemberRow) -> RowWords:
    """What an ensemble would be without a member: better means that the member helps."""
    if one.help is None:
        return RowWords(words=(f"No item counts for {headline} both with and without it.",))
    return RowWords(_standing(one.help), (told(one.help, headline, f"the same without {one.verifier}"),))


def _standing(figures: PairedFigures, *, possible: bool = True) -> Standing:
    if not (possible and is_clear(figures)):
        return "not told apart"
    return "better" if figures.difference > 0 else "worse"


def of_pick(one: BestOfRow) -> RowWords:
    """A verifier's picks against random ones."""
    if one.reason is not None:
        return RowWords(words=(one.reason,))
    if one.n == 1:
        return RowWords(words=("There is nothing to choose from one.",))
    if not one.mixed:
        return RowWords(words=("No question has correct and incorrect completions: no pick can beat a random one.",))
    if one.gain_ci is None:
        few = "there is one question only" if one.questions < 2 else "it is the same in every question"
        return RowWords("not told apart", (f"The gain has no interval: {few}.",))
    low, high = one.gain_ci
    return RowWords("better" if low > 0 else "worse" if high < 0 else "not told apart")


def of_estimate(report: EstimateReport, one: EstimateRow) -> RowWords:
    """The verdict on the first row; of the others why predictions are no help."""
    if one is report.rows[0]:
        return RowWords(words=(verdict(report),))
    return RowWords(words=() if one.reason is None else (one.reason,))


def of_point(one: DownstreamPoint) -> RowWords:
    """A verifier's accuracy and score."""
    missing = []
    if one.accuracy is None:
        missing.append("No item counts here under this protocol.")
    if one.score_ci is None and one.benchmark is not None:
        missing.append("The score has no interval: its benchmark's n is not given, or the scores are no shares.")
    return RowWords(words=tuple(missing))


def of_association(one: DownstreamRow) -> RowWords:
    """A rank correlation."""
    return RowWords(words=() if one.reason is None else (one.reason,))


def of_nothing(_one: Struct) -> RowWords:
    """A row that only counts."""
    return RowWords()
