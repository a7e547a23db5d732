"""``[verifiers.NAME]``: parsed into options, or rejected by file and field while other entries still work."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config.file import FILE_NAME, MOST_BYTES
from workbench.config.verifiers import NamedVerifier, named_verifier, verifiers
from workbench.core.errors import UsageError

GOOD = "[verifiers.good]\nkind = 'exact'\n"


def written(folder: Path, text: str) -> Path:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder / "p.db"


def problem(folder: Path, text: str, name: str = "bad") -> str:
    """Return the error of one entry; the valid one is still loaded."""
    found = verifiers(written(folder, f"{text}\n{GOOD}"))
    assert isinstance(found["good"], NamedVerifier)
    error = found[name]
    assert isinstance(error, UsageError)
    return str(error)


def test_a_table_gives_the_options_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("text")
    text = """
[verifiers."org/my-judge@2"]
kind = "llm-judge"
model = "m"
base_url = "http://a/v1"
api_key_env = "SOME_KEY"
prompt = "mine.toml"
reference = false
max_cost = 2.5
concurrency = 8
sampling = { temperature = 0.4, max_tokens = 64 }
"""
    found = named_verifier(written(tmp_path, text), "org/my-judge@2")
    assert found is not None
    assert found.kind == "llm-judge"
    assert found.place == f"{tmp_path / FILE_NAME}:verifiers.org/my-judge@2"
    assert found.options == {
        "model": "m",
        "base_url": "http://a/v1",
        "api_key_env": "SOME_KEY",
        "template": str((tmp_path / "mine.toml").resolve()),
        "reference": "false",
        "max_cost": "2.5",
        "concurrency": "8",
        "temperature": "0.4",
        "max_tokens": "64",
    }


def test_a_missing_file_or_entry_gives_no_verifier(tmp_path: Path) -> None:
    assert named_verifier(tmp_path / "p.db", "x") is None
    assert named_verifier(written(tmp_path, GOOD), "x") is None


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("verifiers.bad = 3", "verifiers.bad must be a table"),
        ("[verifiers.bad]", "verifiers.bad.kind"),
        ("[verifiers.bad]\nkind = 3", "verifiers.bad.kind"),
        ("[verifiers.bad]\nkind = 'k'\nmodel = 2026-01-01", "verifiers.bad.model"),
        ("[verifiers.bad]\nkind = 'k'\nmodel = nan", "verifiers.bad.model"),
        ("[verifiers.bad]\nkind = 'k'\nmodel = []", "verifiers.bad.model"),
        ("[verifiers.bad]\nkind = 'k'\nbase_url = ['a', 3]", "verifiers.bad.base_url"),
        ("[verifiers.bad]\nkind = 'k'\nbase_url = ['http://a,http://b']", "verifiers.bad.base_url"),
        ("[verifiers.bad]\nkind = 'k'\nmodel = { a = 1 }", "verifiers.bad.model"),
        ("[verifiers.bad]\nkind = 'k'\nsampling = 3", "verifiers.bad.sampling"),
        ("[verifiers.bad]\nkind = 'k'\nseed = 1\nsampling = { seed = 2 }", "verifiers.bad.seed occurs twice"),
        ("[verifiers.bad]\nkind = 'k'\nprompt = 'a'\ntemplate = 'b'", "verifiers.bad.template occurs twice"),
        ("[verifiers.bad]\nkind = 'k'\n'OH no' = 1", "not an option name"),
    ],
)
def test_a_wrong_entry_is_named_by_its_field(tmp_path: Path, entry: str, part: str) -> None:
    message = problem(tmp_path, entry)
    assert part in message
    assert str(tmp_path / FILE_NAME) in message


@pytest.mark.parametrize("name", ["", " ", "a b", "a\\u001b[2J", "x" * 101, "a;b", "a\\nb"])
def test_odd_names_are_rejected(tmp_path: Path, name: str) -> None:
    found = verifiers(written(tmp_path, f'[verifiers."{name}"]\nkind = "exact"\n{GOOD}'))
    (error,) = [one for one in found.values() if isinstance(one, UsageError)]
    assert "not a valid verifier name" in error.message
    assert "\x1b" not in error.message


def test_a_key_in_place_of_its_variable_is_not_repeated(tmp_path: Path) -> None:
    message = problem(tmp_path, "[verifiers.bad]\nkind = 'k'\napi_key_env = 'sk-very-secret'")
    assert "api_key_env" in message
    assert "secret" not in message


@pytest.mark.parametrize(
    "name", ["../outside.toml", "/etc/hostname", "sub/../../outside.toml", "link.toml", "a\\u0000b"]
)
def test_a_template_stays_inside_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "outside.toml").write_text("secret")
    (folder / "link.toml").symlink_to(tmp_path / "outside.toml")
    message = problem(folder, f'[verifiers.bad]\nkind = "k"\nprompt = "{name}"')
    assert "verifiers.bad.template" in message
    assert "not inside the project's folder" in message


def test_a_missing_template_is_reported(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("none.toml", "folder", "."):
        assert "there is no file" in problem(tmp_path, f"[verifiers.bad]\nkind = 'k'\nprompt = '{name}'")


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("text")
    (tmp_path / "link.toml").symlink_to("real.toml")
    found = named_verifier(written(tmp_path, "[verifiers.v]\nkind = 'k'\nprompt = 'link.toml'"), "v")
    assert found is not None
    assert found.options["template"] == str((tmp_path / "real.toml").resolve())


@pytest.mark.parametrize(
    "text",
    [
        "verifiers = 3",
        "[verifiers.a",
        "x = " + "[" * 5_000,
        "x = " + "9" * 5_000,
        "#" * (MOST_BYTES + 1),
    ],
)
def test_an_invalid_settings_file_is_rejected_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        verifiers(written(tmp_path, text))
    assert FILE_NAME in caught.value.message
    assert len(str(caught.value)) < 1_000


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.booleans())
def test_numbers_keep_their_value(tmp_path_factory: pytest.TempPathFactory, value: float | int | bool) -> None:
    import tomlkit

    folder = tmp_path_factory.mktemp("v")
    text = tomlkit.dumps({"verifiers": {"v": {"kind": "k", "model": value}}})
    found = named_verifier(written(folder, text), "v")
    assert found is not None
    if isinstance(value, bool):
        assert found.options["model"] == str(value).lower()
    else:
        assert math.isclose(float(found.options["model"]), float(value), rel_tol=0)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_no_file_of_a_folder_with_prompts_leads_out_of_the_project(tmp_path: Path, what: str) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    for folder in (outside / "prompt", home / "copy" / "prompt"):
        folder.mkdir(parents=True)
        (folder / "w_ref.txt").write_text("{question}{answer}{completion}")
    entry = "[verifiers.vb]\nkind = 'llm-judge'\npublished = 'copy'"
    assert isinstance(verifiers(written(home, entry))["vb"], NamedVerifier)
    prompt = home / "copy" / "prompt"
    (prompt / "w_ref.txt").unlink()
    if what == "file":
        (prompt / "w_ref.txt").symlink_to(outside / "prompt" / "w_ref.txt")
    else:
        prompt.rmdir()
        prompt.symlink_to(outside / "prompt")
    error = verifiers(written(home, entry))["vb"]
    assert isinstance(error, UsageError)
    assert "is outside the project's folder" in error.message
