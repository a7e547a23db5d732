"""The choice of the isolation level and its cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from workbench.core.code import Level
from workbench.core.errors import VerifierError
from workbench.verifiers.execution import levels
from workbench.verifiers.execution.attacks.attack import Attack, AttackResult, corpus
from workbench.verifiers.execution.attacks.watching import UnusableLevelError

Made = Callable[..., list[Level]]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "workbench"


@pytest.fixture
def attacked(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Made:
    """Have these levels hold, and others not or be missing; gives the list of levels as they are attacked."""

    def make(holding: Sequence[Level], missing: Sequence[Level] = ()) -> list[Level]:
        asked: list[Level] = []

        def attack(level: Level, attacks: Sequence[Attack], *, scratch: int = 0) -> list[AttackResult]:
            asked.append(level)
            if level in missing:
                raise UnusableLevelError("There is no bubblewrap here.")
            wrong = () if level in holding else ("it let me through",)
            return [AttackResult(name=one.name, level=level, wrong=wrong) for one in attacks]

        monkeypatch.setattr(levels, "run_attacks", attack)
        return asked

    return make


def test_the_best_level_that_holds_is_found_once(attacked: Made, cache: Path) -> None:
    asked = attacked(["L3", "L2"])
    assert [levels.best_level(), levels.best_level()] == ["L3", "L3"]
    assert asked == ["L3"]
    assert cache.stat().st_mode & 0o777 == 0o700
    assert [file.stat().st_mode & 0o777 for file in cache.iterdir()] == [0o600]


@pytest.mark.parametrize(("missing", "tried"), [([], ["L3", "L3", "L2"]), (["L3"], ["L3", "L2"])])
def test_the_next_level_is_used_where_the_best_does_not_hold(
    attacked: Made, missing: list[Level], tried: list[Level]
) -> None:
    asked = attacked(["L2"], missing)
    assert [levels.best_level(), levels.best_level(allow_unsafe=True)] == ["L2", "L2"]
    assert asked == tried


def test_limits_only_needs_permission(attacked: Made) -> None:
    asked = attacked([])
    with pytest.raises(VerifierError, match="--allow-unsafe-execution") as raised:
        levels.best_level()
    assert "bubblewrap" in raised.value.hint
    assert levels.best_level(allow_unsafe=True) == "L1"
    assert asked == ["L3", "L3", "L2", "L2"] * 2, "that nothing holds may be the fault of the moment"


def one_file(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


def symlink(cache: Path) -> None:
    file = one_file(cache)
    other = cache.parent / "other"
    file.rename(other)
    file.symlink_to(other)


def foreign(cache: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give a file away")
    os.chown(one_file(cache), 12345, 12345)


def fifo(cache: Path) -> None:
    file = one_file(cache)
    file.unlink()
    os.mkfifo(file, 0o600)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda cache: one_file(cache).write_text('"L9"'),
        lambda cache: one_file(cache).write_text("nonsense"),
        lambda cache: one_file(cache).write_bytes(b""),
        lambda cache: one_file(cache).chmod(0o666),
        lambda cache: one_file(cache).chmod(0o620),
        lambda cache: cache.chmod(0o777),
        lambda cache: one_file(cache).unlink(),
        symlink,
        foreign,
        fifo,
    ],
    ids=["level", "nonsense", "empty", "all", "group", "folder", "gone", "symlink", "foreign", "fifo"],
)
def test_a_cache_that_others_can_write_is_not_trusted(
    attacked: Made, cache: Path, spoil: Callable[[Path], object]
) -> None:
    asked = attacked(["L2"])
    levels.best_level()
    one_file(cache).write_text('"L3"')
    assert levels.best_level() == "L3"
    spoil(cache)
    assert levels.best_level() == "L2"
    assert asked == ["L3", "L3", "L2"] * 2


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        ("levels", "_package_version", lambda: "9"),
        ("levels", "_package_hash", lambda: "other code"),
        ("levels", "_bubblewrap_version", lambda: "/usr/bin/bwrap 99"),
        ("os", "getuid", lambda: 4711),
        ("sys", "version", "3.99"),
    ],
)
def test_a_changed_machine_is_checked_again(
    attacked: Made, monkeypatch: pytest.MonkeyPatch, module: str, name: str, value: object
) -> None:
    asked = attacked(["L3"])
    levels.best_level()
    monkeypatch.setattr(levels if module == "levels" else getattr(levels, module), name, value)
    levels.best_level()
    assert asked == ["L3", "L3"]


def test_an_unwritable_cache_repeats_the_check(attacked: Made, cache: Path) -> None:
    asked = attacked(["L3"])
    cache.write_text("a file where the folder should be")
    assert [levels.best_level(), levels.best_level()] == ["L3", "L3"]
    assert asked == ["L3", "L3"]


def test_a_survey_runs_all_attacks_and_is_cached(attacked: Made) -> None:
    asked = attacked(["L2"], ["L3"])
    best, second = levels.survey()
    assert (best.level, best.unusable, best.holds) == ("L3", "There is no bubblewrap here.", False)
    assert (second.level, len(second.results), second.holds) == ("L2", len(corpus()), True)
    assert levels.best_level() == "L2"
    assert sorted(asked) == ["L2", "L3"]
