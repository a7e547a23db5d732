"""What users see is what was frozen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden import frozen
from tests.golden.scenes import Scenes, surroundings
from tests.golden.shown import PARTS, REAL, SLOW


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Scenes:
    return Scenes(tmp_path_factory.mktemp("golden"))


@pytest.fixture(autouse=True)
def _same_everywhere(tmp_path: Path) -> Iterator[None]:
    with surroundings(tmp_path):
        yield


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=[pytest.mark.soak] if part in SLOW else []) for part in PARTS]
)
def test_what_users_see_is_as_it_was(part: str, scenes: Scenes, tmp_path: Path) -> None:
    if part in REAL and not REAL[part].exists():
        pytest.skip(f"the real data {REAL[part].name} is not here")
    said = frozen.told(part, dict(PARTS[part](scenes)), tmp_path)
    assert not said, said


def test_whatever_was_frozen_is_looked_at() -> None:
    assert frozen.digests().keys() == PARTS.keys()


def test_texts_are_kept_of_all_but_real_data_and_are_those_that_were_frozen() -> None:
    assert frozen.texts().keys() == PARTS.keys() - REAL.keys()
    assert [part for part, pieces in frozen.texts().items() if frozen.others(part, pieces)] == []
    assert frozen.TEXTS.stat().st_size < 1 << 20


def test_a_difference_is_shown_with_both_texts(tmp_path: Path) -> None:
    shown = dict(frozen.texts()["help"])
    first, second, *_ = shown
    shown["help mine"] = "new"
    shown[first] = shown[first].replace("Usage", "Use", 1)
    del shown[second]
    said = frozen.told("help", shown, tmp_path)
    assert said.startswith("3 pieces of help are not as they were")
    assert "-Usage: workbench" in said
    assert "+Use: workbench" in said
    assert {file.name for file in (tmp_path / "was").iterdir()} == {f"{first}.txt", f"{second}.txt".replace(" ", "_")}
    assert {file.name for file in (tmp_path / "is").iterdir()} == {f"{first}.txt", "help_mine.txt"}


def test_of_real_data_no_text_is_shown(tmp_path: Path) -> None:
    (part, *_), pieces = REAL, {"verdicts rules": "other"}
    said = frozen.told(part, pieces, tmp_path)
    assert "no text is kept" in said
    assert "other" not in said
