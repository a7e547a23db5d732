"""Custom templates: created from a built-in one, validated, previewed, and saved only next to the database."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from tests.full_disk import small_disk
from tests.helpers import make_project, numbered
from tests.tui.stage import HOSTILE
from workbench.config.file import FOLDER_VARIABLE
from workbench.config.trust import NotTrustedError
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.runs.configuring import bind
from workbench.runs.own_templates import (
    MAX_BYTES,
    TemplateDraft,
    draft_of,
    preview,
    save_template,
    shape_of,
    with_template,
)
from workbench.runs.trust import require_trust
from workbench.verifiers.registry import Registry

KIND = "llm-judge"
SERVER = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
OURS = """id = "mine"
version = 1
parser = "verifybench"

[[calls]]
name = "judge"

[[calls.messages]]
role = "user"
content = "{question} | {reference} | {completion}"
"""
INJECTION = "{completion} {/question} {reference} $(rm -rf x) [bold]x[/]"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    rows = numbered(3)
    return make_project(tmp_path, [rows[0] | {"question": INJECTION}, *rows[1:]])


def draft(text: str = OURS, file: str = "mine.toml", stored: str | None = None) -> TemplateDraft:
    return TemplateDraft(text=text, file=file, stored=stored)


def files(project: Project) -> dict[str, str]:
    """Map the names of files next to the database that do not belong to it to their texts."""
    return {
        one.name: one.read_text()
        for one in project.path.parent.iterdir()
        if one.is_file() and not one.name.startswith(project.path.name)
    }


# -- Where it begins.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Final Judgment"),
        ({"strategy": "ice-score", "variant": "cot"}, "ice-score"),
        ({"strategy": "codejudge"}, "codejudge"),
    ],
)
def test_a_draft_starts_with_the_template_of_the_verifier(
    project: Project, options: dict[str, str], words: str
) -> None:
    found = draft_of(project, KIND, SERVER | options, "My Judge/2")
    assert words in found.text
    assert 'id = "my-judge-2"' in found.text
    assert (found.file, found.stored) == ("my-judge-2.toml", None)
    assert shape_of(found.text, found.file).calls >= 1
    # A copy of a built-in template sends the same requests.
    ours = preview(project, KIND, SERVER, found, 1)
    assert save_template(project, found, found.file) == found.file
    assert [msgspec.json.decode(one.body) for one in ours]


def test_a_draft_has_the_parser_of_the_verifier(project: Project) -> None:
    found = draft_of(project, KIND, SERVER | {"parser": "verifybench@1"}, "judge")
    assert 'parser = "verifybench@1"' in found.text
    assert shape_of(found.text, found.file).parser == "verifybench@1"
    assert with_template(SERVER | {"strategy": "vanilla", "parser": "x"}, "t") == SERVER | {"template": "t"}


def test_a_draft_of_a_custom_template_starts_with_its_file(project: Project) -> None:
    path = project.path.parent / "mine.toml"
    path.write_text(OURS)
    found = draft_of(project, KIND, SERVER | {"template": str(path)}, "judge")
    assert found == draft(stored=OURS)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (KIND, {"strategy": "mcts"}, "the strategy mcts uses its own template"),
        (KIND, {"strategy": "template"}, "template: it is missing"),
        (KIND, {"strategy": "nobody"}, "strategy: it is"),
        ("bleu", {}, "uses no prompt template"),
        (KIND, {"template": "/nowhere/t.toml"}, "no template /nowhere"),
    ],
)
def test_a_template_that_cannot_be_edited_has_a_reason(
    project: Project, kind: str, options: dict[str, str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        draft_of(project, kind, SERVER | options, "judge")


# -- What is wrong with it: line and field, and nothing is written.

WRONG = {
    "syntax": (OURS.replace("version = 1", "version ="), ":2:"),
    "parser": (OURS.replace('"verifybench"', '"nobody"'), ":3:parser:"),
    "no completion": (OURS.replace("{completion}", ""), "none of its calls has a placeholder for the completion"),
    "placeholder": (OURS.replace("{question}", "{qestion}"), ":10:content:"),
    "section": (OURS.replace("{reference}", "{?reference}"), ":10:content:"),
    "unknown field": (OURS + "shell = 1\n", "shell"),
    "no template": ("", "missing required field"),
    "too long": (OURS + "#" * MAX_BYTES, "256 KiB"),
    "control": (OURS.replace("mine", "mi\x1b[31mne"), ":1:"),
    "surrogate": (OURS.replace("mine", "mi\udc80ne"), ":1:"),
    "deep": ("a = " + "[" * 100_000, "mine.toml"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_invalid_template_is_rejected_with_its_line(project: Project, name: str) -> None:
    text, words = WRONG[name]
    for look in (
        lambda: shape_of(text, "mine.toml"),
        lambda: save_template(project, draft(text), "mine"),
        lambda: preview(project, KIND, SERVER, draft(text), 1),
    ):
        with pytest.raises(UsageError) as caught:
            look()
        assert "mine.toml" in str(caught.value)
        assert words in str(caught.value)
    assert files(project) == {}


def test_missing_placeholders_are_reported(project: Project) -> None:
    assert shape_of(OURS, "x").lacks == ()
    assert shape_of(OURS.replace("{reference}", ""), "x").lacks == ("reference",)
    assert shape_of(OURS.replace("{reference}", "{?reference}so{/reference}"), "x").lacks == ("reference",)


def test_a_long_template_is_accepted(project: Project) -> None:
    text = OURS + "#" * 200_000 + "\n"
    assert save_template(project, draft(text), "long") == "long.toml"
    assert len(preview(project, KIND, SERVER, draft(text), 1)) == 1


# -- The preview.


def test_inserted_texts_are_not_expanded_again(project: Project) -> None:
    (call,) = preview(project, KIND, SERVER | {"fence": "off", "neutralise": "off"}, draft(), 1)
    (message,) = msgspec.json.decode(call.body)["messages"]
    assert message["content"].startswith(f"{INJECTION} | ")
    assert files(project) == {}
    with pytest.raises(UsageError, match="reference"):
        preview(project, KIND, SERVER | {"reference": "false"}, draft(), 1)
    with pytest.raises(UsageError, match="no completion 'nowhere'"):
        preview(project, KIND, SERVER, draft(), "nowhere")


# -- The file.


def test_a_saved_template_is_private_and_untrusted(project: Project) -> None:
    assert save_template(project, draft(), "mine") == "mine.toml"
    path = project.path.parent / "mine.toml"
    assert path.read_text() == OURS
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    options = SERVER | {"template": str(path)}
    with pytest.raises(NotTrustedError, match="the template"):
        require_trust(project, Registry().load(KIND, options), options, accept=False)
    # The same once more is no change.
    assert save_template(project, draft(), "mine.toml") == "mine.toml"
    assert files(project) == {"mine.toml": OURS}


NAMES = [
    *HOSTILE,
    "../out",
    "/tmp/out",
    "a/b",
    ".hidden",
    "workbench",
    "workbench.toml",
    "Workbench.toml",
    "x" * 200,
    "a b",
    "a\nb",
    "-x",
    "$(x)",
    "",
]


@pytest.mark.few(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_rejected(project: Project, name: str) -> None:
    with pytest.raises(UsageError, match="not a valid template file name"):
        save_template(project, draft(), name)
    assert files(project) == {}


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "fifo", "second name"])
def test_only_regular_files_are_replaced(project: Project, tmp_path: Path, kind: str) -> None:
    place, other = project.path.parent / "mine.toml", tmp_path / "elsewhere" / "kept"
    other.parent.mkdir()
    other.write_text("kept")
    match kind:
        case "link":
            place.symlink_to(other)
        case "dangling":
            place.symlink_to(other.parent / "new")
        case "folder":
            place.mkdir()
        case "fifo":
            os.mkfifo(place)
        case _:
            os.link(other, place)
    for before in (draft(), draft(stored="kept")):
        with pytest.raises(UsageError):
            save_template(project, before, "mine")
    assert other.read_text() == "kept"
    assert [one.name for one in other.parent.iterdir()] == ["kept"]


def test_only_an_unchanged_file_is_replaced(project: Project) -> None:
    path = project.path.parent / "mine.toml"
    path.write_text(OURS)
    changed = OURS.replace(" | ", " / ")
    with pytest.raises(UsageError, match="There is a file 'mine"):
        save_template(project, draft(changed, file="other.toml"), "mine")
    read = draft_of(project, KIND, SERVER | {"template": str(path)}, "judge")
    mine = structs.replace(read, text=changed)
    path.write_text(OURS + "# somebody else's\n")
    with pytest.raises(UsageError, match="has changed since it was read"):
        save_template(project, mine, "mine")
    assert path.read_text() == OURS + "# somebody else's\n"
    path.write_text(OURS)
    save_template(project, mine, "mine")
    assert path.read_text() == changed


@pytest.mark.parametrize("by", ["database", "settings"])
def test_a_template_used_by_a_verifier_is_never_replaced(project: Project, by: str) -> None:
    path = project.path.parent / "mine.toml"
    path.write_text(OURS)
    if by == "database":
        options = SERVER | {"template": str(path)}
        with project.database.write() as connection:
            bind(connection, "theirs", Registry().load(KIND, options), options)
    else:
        entry = (
            '[verifiers.theirs]\nkind = "llm-judge"\ntemplate = "mine.toml"\nbase_url = "http://h/v1"\nmodel = "m"\n'
        )
        path.with_name("workbench.toml").write_text(entry)
    mine = draft(OURS + "# changed\n", stored=OURS)
    with pytest.raises(UsageError, match=r"'mine\.toml' is used by 'theirs', whose stored requests"):
        save_template(project, mine, "mine")
    assert path.read_text() == OURS
    assert save_template(project, mine, "mine-2") == "mine-2.toml"


def test_a_name_that_is_taken_is_not_proposed(project: Project) -> None:
    project.path.with_name("judge.toml").write_text("")
    assert draft_of(project, KIND, SERVER, "judge").file == "judge-2.toml"
    assert draft_of(project, KIND, SERVER, "workbench").file == "workbench-2.toml"
    assert draft_of(project, KIND, SERVER, "[/]").file == "own.toml"


def test_a_failed_write_is_reported_and_leaves_no_partial_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(UsageError, match="No space left"):
            save_template(project, draft(), "mine")
    assert files(project) == {}
    assert save_template(project, draft(), "mine") == "mine.toml"


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with small_disk(tmp_path) as disk:
        project = make_project(disk.path, numbered(1))
        disk.fill()
        with pytest.raises(UsageError, match="No space left"):
            save_template(project, draft(), "mine")
        assert not [one.name for one in disk.path.iterdir() if "mine" in one.name]
        disk.empty()
        save_template(project, draft(), "mine")
        project.close()
