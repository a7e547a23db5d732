"""What the verifiers of a table would do where another share of completions is correct."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.errors import UsageError
from workbench.measuring.entries import CONSTANTS, Entries, Entry
from workbench.statistics.records.report import BestAt, TransferRow

if TYPE_CHECKING:
    from workbench.statistics.transfer import Rates


def check_share(what: str, share: float | None) -> None:
    """Refuse what is no share.

    Raises:
        UsageError: It is not from 0 to 1.
    """
    if share is not None and not 0 <= share <= 1:
        raise UsageError(f"The {what} is a share from 0 to 1, not {share:g}.", "Half of them is 0.5.")


def transfer(
    entries: Entries, prevalence: float | None, accept_rate: float | None
) -> tuple[list[TransferRow], list[BestAt]]:
    """Each verifier and constant elsewhere, and who is ahead at which prevalence where one was given.

    Args:
        prevalence: The share of correct completions there.
        accept_rate: The share of completions a verifier accepts there.
    """
    from workbench.statistics.transfer import best

    if prevalence is None and accept_rate is None:
        return [], []
    known = {entry.name: _rates(entries, entry) for entry in entries.everyone}
    # What knows the gold it is measured on has no place among those to choose from.
    choice = [entry.name for entry in entries.everyone if entry.kind == "verifier" or entry.name in CONSTANTS]
    compared = {name: rates for name in choice if (rates := known[name]) is not None}
    ahead = best(list(compared.values())) if prevalence is not None else []
    names = list(compared)
    return (
        [_row(entry, known[entry.name], prevalence, accept_rate) for entry in entries.everyone],
        [BestAt(verifier=names[one.place], low=one.low, high=one.high) for one in ahead],
    )


def _rates(entries: Entries, entry: Entry) -> Rates | None:
    from workbench.statistics.transfer import rates

    measured = entries.measured(entry)
    counted, right = measured.graded(entries.asked.protocol)
    return rates(right[counted], measured.columns.gold[counted], measured.columns.question[counted])


def _row(entry: Entry, known: Rates | None, prevalence: float | None, accept_rate: float | None) -> TransferRow:
    from workbench.statistics.transfer import accuracy_at, true_rate

    expected = None if known is None or prevalence is None else accuracy_at(prevalence, known)
    # What a baseline says rests on no completion: there is nothing to estimate.
    return TransferRow(
        verifier=entry.name,
        prevalence=prevalence,
        accuracy=None if expected is None else expected[0],
        ci=None if expected is None or entry.kind == "baseline" else expected[1],
        accept_rate=accept_rate,
        true_rate=None if known is None or accept_rate is None else true_rate(accept_rate, known),
    )
