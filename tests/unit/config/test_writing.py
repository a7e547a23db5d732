"""Adding a verifier to a settings file changes only its own lines."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config.verifiers import save_verifier
from workbench.core.errors import UsageError

FILE = """# Our project
theme = 'nord'   # dark

[verifiers.other] # the old one
kind = "exact"

[prices."a"]   # looked up by hand
input = 1
output = 2
date = 2026-11-01
# the end
"""


def saved(path: Path, name: str = "mine", **options: str | int | float | bool) -> str:
    save_verifier(path, name, "llm-judge", options)
    return path.read_text(encoding="utf-8")


def test_a_new_file_holds_the_one_table(tmp_path: Path) -> None:
    path = tmp_path / "workbench.toml"
    text = saved(path, base_url="http://a/v1", temperature=0.5)
    assert text == '[verifiers.mine]\nkind = "llm-judge"\nbase_url = "http://a/v1"\ntemperature = 0.5\n'
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_rest_stays_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "workbench.toml"
    path.write_text(FILE, encoding="utf-8")
    path.chmod(0o640)
    text = saved(path, model="m")
    before, after = FILE.split("[prices", 1)
    assert text == f'{before}[verifiers.mine]\nkind = "llm-judge"\nmodel = "m"\n[prices{after}'
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["workbench.toml"]


def test_an_entry_is_replaced_in_place(tmp_path: Path) -> None:
    path = tmp_path / "workbench.toml"
    path.write_text(FILE, encoding="utf-8")
    assert saved(path, "other", model="m") == FILE.replace('kind = "exact"\n', 'kind = "llm-judge"\nmodel = "m"\n')
    assert saved(path, "other") == FILE.replace('"exact"', '"llm-judge"')


@pytest.mark.parametrize(
    "text",
    [
        "verifiers = 3\n",
        "verifiers = { a = { kind = 'x' } }\n",
        "verifiers.other = 3\n",
        "not toml",
        "[[verifiers]]\na=1\n",
        "[verifiers.other]\nkind = 'x'\nkind = 'y'\n",
        "[verifiers]\n'j'.model = 'y'\n[verifiers.j]\n",
        "x = 1\nx = 2\n",
    ],
)
def test_an_uneditable_file_is_left_unchanged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "workbench.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"workbench\.toml"):
        saved(path, "other", model="m")
    assert path.read_text(encoding="utf-8") == text


def test_an_invalid_name_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a valid verifier name"):
        saved(tmp_path / "workbench.toml", "a b")


def test_a_read_only_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be written"):
        saved(tmp_path / "none" / "workbench.toml")


KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
VALUES = st.recursive(
    st.integers(-9, 9) | st.booleans() | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(
    before=st.dictionaries(KEYS.filter(lambda key: key != "verifiers"), VALUES, max_size=4),
    others=st.dictionaries(KEYS, st.dictionaries(KEYS, st.text(st.characters(codec="utf-8")), max_size=3), max_size=3),
    value=st.text(st.characters(codec="utf-8")),
)
def test_other_entries_keep_their_meaning(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, object], others: dict[str, object], value: str
) -> None:
    import tomlkit

    path = tmp_path_factory.mktemp("w") / "workbench.toml"
    content = {**before, **({"verifiers": others} if others else {})}
    path.write_bytes(tomlkit.dumps(content).encode())
    text = saved(path, model=value)
    entry = {"kind": "llm-judge", "model": value}
    assert tomllib.loads(text) == {**before, "verifiers": {**others, "mine": entry}}
