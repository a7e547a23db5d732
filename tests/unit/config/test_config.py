"""``workbench.toml``: read from its folder, and rejected with file and field if invalid."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.config import FILE_NAME, Settings, load
from workbench.core.errors import UsageError


def written(folder: Path, text: str | bytes) -> Path:
    """Write a settings file and return the path of a database next to it."""
    (folder / FILE_NAME).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / "p.db"


def test_defaults_apply_without_a_file(tmp_path: Path) -> None:
    assert load(tmp_path / "p.db") == Settings(theme=None, keymap={})


def test_theme_and_keymap_are_read(tmp_path: Path) -> None:
    text = 'theme = "nord"\n[keymap]\n"annotate.correct" = "k,1"\n"app.help" = "f2"\n'
    assert load(written(tmp_path, text)) == Settings(theme="nord", keymap={"annotate.correct": "k,1", "app.help": "f2"})


def test_the_suggester_of_types_is_read(tmp_path: Path) -> None:
    assert load(written(tmp_path, 'suggest_types = "typist"')) == Settings(suggest_types="typist")
    with pytest.raises(UsageError, match=r"workbench\.toml:suggest_types: Expected text"):
        load(written(tmp_path, "suggest_types = true"))


def test_the_policy_of_annotation_is_read(tmp_path: Path) -> None:
    policy = load(written(tmp_path, "[annotation]\ncheck_rate = 0\ncheck_minimum = 5\n")).annotation
    assert (policy.check_rate, policy.check_minimum, policy.repeat_share) == (0, 5, 0.03)


def test_other_tables_are_ignored(tmp_path: Path) -> None:
    assert load(written(tmp_path, "[verifiers.mine]\nkind = 'exact'\n")) == Settings()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("theme = 3", "theme"),
        ("keymap = 3", "keymap"),
        ('[keymap]\n"app.help" = 3', "keymap"),
        ('[keymap]\n"app.help" = ["f2"]', "keymap"),
        ("[keymap]\napp.help = 'f2'", "keymap"),
        ("theme =\nkeymap = 3", "line 1"),
        ("annotation = 3", "annotation"),
        ("[annotation]\ncheck_rate = 'often'", "check_rate"),
        ("[annotation]\ncheck_rate = nan", "annotation.check_rate"),
        ("[annotation]\nrepeat_share = 1.5", "annotation.repeat_share"),
        ("[annotation]\ncheck_minimum = -5", "annotation.check_minimum"),
        ("[annotation]\nbreak_after_minutes = 50", "annotation.break_after_minutes is unknown"),
        ("[annotation]\nchekc_rate = 0.1", "workbench.toml:annotation.chekc_rate is unknown"),
        (b"theme = '\xff'", "UTF-8"),
    ],
)
def test_an_invalid_file_is_rejected_by_name_and_field(tmp_path: Path, text: str | bytes, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(written(tmp_path, text))
    assert str(tmp_path / FILE_NAME) in caught.value.message
    assert part in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_folder_in_place_of_the_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(UsageError, match=FILE_NAME):
        load(tmp_path / "p.db")
