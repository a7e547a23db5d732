"""Text on a screen is not repeated in notices, and unknown values are not shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from tests.tui.labelling import desk, make
from tests.tui.stage import opened, press, until
from workbench.app.tui.kit.choices import PeopleMenu
from workbench.app.tui.screens.annotate import ItemFeed
from workbench.app.tui.screens.home import matter_text
from workbench.core.errors import StoreError
from workbench.core.run import RunUsage
from workbench.core.status import Matter
from workbench.core.text.run_words import usage_words


async def test_empty_page_explains_itself_without_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def fail(*_: object) -> None:
        tries.append(1)
        raise StoreError("The database is locked.", "Wait.")

    monkeypatch.setattr(ItemFeed, "next", fail)
    async with desk(make(tmp_path)) as there:
        notices_text = [one for one in there.app._notifications if "locked" in one.message]
        assert there.screen.has_class("empty")
        assert len(notices_text) == 1
        for _ in range(3):
            there.screen._retry_if_empty()
            await there.settle()
        assert len(tries) == 4
        assert len([one for one in there.app._notifications if "locked" in one.message]) == 1


async def test_menu_of_users_names_its_keys(tmp_path: Path) -> None:
    async with opened(make(tmp_path)) as (app, pilot):
        app.open_screen("annotate")
        await until(pilot, lambda: isinstance(app.screen, PeopleMenu) and app.screen.query(OptionList))
        await press(pilot)
        sentence = str(app.screen.query_one(OptionList).border_subtitle)
        assert sentence == "enter: here · escape: cancel"


def test_key_in_a_sentence_is_distinguishable_from_a_count() -> None:
    matter = Matter(kind="conflicts", sentence="2 conflicts wait.", size=2, screen="conflicts")
    assert matter_text(1, matter, 80).plain == "1) 2 conflicts wait."


def test_unknown_tokens_are_not_shown() -> None:
    assert usage_words(RunUsage(calls=3)) == ["3 calls"]
    words = usage_words(RunUsage(calls=3, prompt_tokens=900, completion_tokens=12))
    assert words == ["3 calls", "900 tokens in, 12 out"]
