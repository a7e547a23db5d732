"""Pace: labels of the session, median seconds, remaining time; and a note that yields to other text."""

from __future__ import annotations

import pytest

from workbench.app.tui.kit.title_bar import RemarkPiece, fit_pieces
from workbench.app.tui.pace import ENOUGH, Pace, about, pace_parts


def paced(*seconds: float) -> Pace:
    pace = Pace()
    for completion, took in enumerate(seconds):
        pace.label(completion, round(1000 * took))
    return pace


def test_a_few_labels_give_no_pace() -> None:
    pace = paced(*[8] * (ENOUGH - 1))
    assert (pace.labels, pace.seconds, pace.to_go(100)) == (ENOUGH - 1, None, None)


def test_a_label_takes_the_median_and_the_forecast_the_mean() -> None:
    pace = paced(5, 5, 6, 7, 77)
    assert pace.seconds == 6
    assert pace.to_go(30) == 600
    assert paced(5, 5, 6, 7, 8, 77).seconds == 6.5


def test_an_item_counts_once_with_its_longest_time() -> None:
    pace = paced(4, 4, 4, 4, 4)
    pace.label(0, 9000)
    pace.label(0, 1000)
    assert (pace.labels, pace.to_go(5)) == (5, 25)


def test_a_retracted_label_does_not_count() -> None:
    pace = paced(4, 4)
    pace.take_back(1)
    pace.take_back(7)
    assert pace.labels == 1


def test_a_repeated_label_after_undo_keeps_its_first_time() -> None:
    pace = paced(4, 4, 4, 4, 30)
    pace.take_back(4)
    assert (pace.labels, pace.longest(4), pace.longest(5)) == (4, 30_000, 0)
    pace.label(4, 700)
    pace.take_back(4)
    pace.label(4, 900)
    assert (pace.labels, pace.to_go(5)) == (5, 46)


def test_the_time_to_go_stays_longest() -> None:
    pieces = sorted(pace_parts(paced(*[9] * ENOUGH), 40), key=lambda part: part.rank)
    assert [part.text for part in pieces] == ["≈ 6 min to go", "9.0 s each", f"{ENOUGH} this session"]
    assert [part.text for part in pace_parts(paced(9), 40)] == ["1 this session"]
    assert not any("to go" in part.text for part in pace_parts(paced(*[9] * ENOUGH), 0))
    assert list(pace_parts(Pace(), 40)) == []


@pytest.mark.parametrize(
    ("seconds", "words"), [(1.44, "1.4 s"), (12.4, "12 s"), (89, "1 min"), (5399, "90 min"), (9000, "2.5 h")]
)
def test_times_are_rounded(seconds: float, words: str) -> None:
    assert about(seconds) == words


PARTS = (
    RemarkPiece("name", rank=4),
    RemarkPiece("2 done"),
    RemarkPiece("9 s each", rank=3),
    RemarkPiece(""),
    RemarkPiece("saved ✓"),
)


@pytest.mark.parametrize(
    ("room", "remark"),
    [
        (None, "name · 2 done · 9 s each · saved ✓"),
        (34, "name · 2 done · 9 s each · saved ✓"),
        (33, "2 done · 9 s each · saved ✓"),
        (26, "2 done · saved ✓"),
        (5, "2 done · saved ✓"),
    ],
)
def test_the_least_important_part_is_dropped_first(room: int | None, remark: str) -> None:
    assert fit_pieces(PARTS, room) == remark


def test_without_parts_there_is_no_remark() -> None:
    assert fit_pieces((), 10) == ""
