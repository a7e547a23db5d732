"""Random keys, some faster than the screen: each stored label is of the item that was visible at its key.

The test itself records the visible item: from the refresh after it was put on the card until the refresh after the
next one was.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual import events

from tests.helpers import make_project
from tests.tui.labelling import Desktop, desk, rows
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.card import FinalAnswerCard
from workbench.app.tui.kit.card_texts import CardTexts
from workbench.core.project import Project
from workbench.labelling import ledger, people
from workbench.labelling.annotating import AnnotationSession

ITEMS = 30
MOVES = (
    *[("1",), ("0",)] * 6,
    *[("z",), ("t", "a", "8"), ("x", "3"), ("t", "d", "1"), ("1", "b", "5")] * 2,
    *[("l",), ("exclamation_mark",), ("u",), ("left_square_bracket",), ("right_square_bracket",)] * 2,
    *[
        ("m", "1"),
        ("percent_sign", "2"),
        ("c", "a", "b", "enter"),
        ("ampersand",),
        ("C", "escape"),
        ("x", "escape"),
        ("t", "escape"),
    ],
    *[("1", "1"), ("0", "1", "0"), ("z", "z"), ("1", "z", "0"), ("l", "1"), ("u", "1", "u")],
)
"""Sequences of keys that a user may press; the longer ones are too fast to read the frames in between."""


class Sight(NamedTuple):
    """The item on the screen (None: none) from some time on."""

    since: float
    completion: int | None


class Deed(NamedTuple):
    """Something stored: the kind, the item, and the key before it."""

    name: str
    completion: int
    pressed_at: float


class Witness:
    """Record every key, the visible item, and what the session stores."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sights: list[Sight] = []
        self.pressed_at = 0.0
        self.deeds: list[Deed] = []
        self._watch_card(monkeypatch)
        self._watch_keys(monkeypatch)
        for name in ("submit", "flag", "skip", "keep_draft"):
            self._watch_session(monkeypatch, name)

    def _watch_card(self, monkeypatch: pytest.MonkeyPatch) -> None:
        show = FinalAnswerCard.show

        def shown(card: FinalAnswerCard, texts: CardTexts | None) -> None:
            show(card, texts)
            completion = None if texts is None else texts.item.completion
            card.call_after_refresh(lambda: self.sights.append(Sight(time.perf_counter(), completion)))

        monkeypatch.setattr(FinalAnswerCard, "show", shown)

    def _watch_keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        handled = WorkbenchApp.on_event

        async def on_event(app: WorkbenchApp, event: events.Event) -> None:
            if isinstance(event, events.Key) and not event.is_forwarded:
                self.pressed_at = event.time
            await handled(app, event)

        monkeypatch.setattr(WorkbenchApp, "on_event", on_event)

    def _watch_session(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        plain: Callable[..., Any] = getattr(AnnotationSession, name)

        def noted(session: AnnotationSession, item: Any, *arguments: Any) -> Any:
            self.deeds.append(Deed(name, item.completion, self.pressed_at))
            return plain(session, item, *arguments)

        monkeypatch.setattr(AnnotationSession, name, noted)

    def in_sight(self, at: float) -> int | None:
        """Return the item on the screen at a time."""
        place = bisect_right(self.sights, at, key=lambda sight: sight.since)
        return self.sights[place - 1].completion if place else None


async def press_at_random(it: Desktop, draw: random.Random, presses: int) -> None:
    """Press about so many keys; pause between two moves for anything from no time to all the app needs."""
    while presses > 0:
        move = draw.choice(MOVES)
        presses -= len(move)
        for key in move:
            it.app.post_message(events.Key(key, key if len(key) == 1 else None))
            await it.pilot.pause(draw.choice((None, 0, 0.003, 0.01)))
        if draw.random() < 0.5:
            await it.settle()


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", [2, 5, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(6, 60))])
async def test_stored_labels_are_of_the_visible_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draw = random.Random(seed)
    project = make(tmp_path, draw)
    witness = Witness(monkeypatch)
    async with desk(project) as it:
        await press_at_random(it, draw, 80)
        await it.settle()
    wrong = [deed for deed in witness.deeds if witness.in_sight(deed.pressed_at) != deed.completion]
    assert wrong == []
    assert any(deed.name == "submit" for deed in witness.deeds)
    assert not ledger.states_differ(project)
    assert rows(project, "SELECT count(*) FROM (SELECT 1 FROM label_events GROUP BY uuid HAVING count(*) > 1)") == [
        (0,)
    ]
    project.close()


def make(folder: Path, draw: random.Random) -> Project:
    """Create two completions per question, some of them long."""
    project = make_project(
        folder,
        [
            {
                "question_id": f"q{number // 2}",
                "completion_id": f"c{number}",
                "question": f"What is {number // 2}?",
                "completion": f"{'So it goes. ' * draw.choice((1, 40, 4000))}The answer is \\boxed{{{number}}}.",
                "types": "labelled",
            }
            for number in range(ITEMS)
        ],
    )
    people.assign(project, ["amira", "ben"], per_item=2)
    return project
