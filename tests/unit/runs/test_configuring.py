"""Saving a verifier that calls a model server: an error names its option, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.errors import OptionError
from workbench.core.project import Project
from workbench.runs.choosing import resolve_verifier
from workbench.runs.configuring import forms, preview, save
from workbench.runs.previewing import preview_calls
from workbench.runs.verifying import kinds

GOOD = {"base_url": "http://localhost:9/v1", "model": "qwen"}
KEY = "sk-proj-0123456789abcdef"
TEMPLATE = """
id = "mine"
version = 1
parser = "verifybench"
[[calls]]
name = "judge"
[[calls.messages]]
role = "user"
content = "{question} {completion}"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    return make_project(tmp_path, numbered(2))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("option", "name", "changes"),
    [
        ("name", "", {}),
        ("name", "a b", {}),
        ("name", "rules", {}),
        ("base_url", "fine", {"base_url": ""}),
        ("base_url", "fine", {"base_url": "http://me:secret@x/v1"}),
        ("model", "fine", {"model": " "}),
        ("api_key_env", "fine", {"api_key_env": KEY}),
        ("temperature", "fine", {"temperature": "hot"}),
        ("template", "fine", {"template": "../elsewhere.toml"}),
        ("template", "fine", {"template": "missing.toml"}),
    ],
)
def test_an_error_names_its_option(project: Project, option: str, name: str, changes: dict[str, str]) -> None:
    with pytest.raises(OptionError) as refused:
        save(project, name, "llm-judge", {**GOOD, **changes})
    assert refused.value.option == option
    assert refused.value.wrong
    assert KEY not in str(refused.value)
    assert not project.path.with_name("workbench.toml").exists()


def test_a_name_cannot_be_saved_twice(project: Project) -> None:
    save(project, "mine", "llm-judge", GOOD)
    with pytest.raises(OptionError, match="already"):
        save(project, "mine", "llm-judge", GOOD)


def test_templates_are_relative_to_the_folder_of_the_project(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text(TEMPLATE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    options = {**GOOD, "template": "mine.toml"}
    seen = preview(project, "llm-judge", options, None)
    save(project, "mine", "llm-judge", options)
    assert resolve_verifier(project, "mine", {}).options["template"] == str(tmp_path / "mine.toml")
    assert [bytes(call.body) for call in preview_calls(project, "mine", {}, "c0")] == [
        bytes(call.body) for call in seen
    ]


def test_every_server_verifier_has_a_preview(project: Project) -> None:
    for form in forms():
        # A panel and a stack are of verifiers that a project has.
        if form.kind not in ("judge-panel", "stack"):
            assert preview(project, form.kind, GOOD, None)[0].exact, form.kind
    (strategies,) = (
        option.choices
        for form in forms()
        if form.kind == "llm-judge"
        for section in form.sections
        for option in section.options
        if option.name == "strategy"
    )
    for strategy in strategies.keys() - {"rubric", "template"}:
        assert preview(project, "llm-judge", {**GOOD, "strategy": strategy}, None)[0].exact, strategy


def test_forms_have_every_option_once(project: Project) -> None:
    found = {form.kind: form for form in forms()}
    assert next(iter(found)) == "llm-judge"
    served = {kind.name: kind for kind in kinds(project) if kind.isolation == "served"}
    assert found.keys() == served.keys() >= {"llm-judge", "reward-model", "answer-type"}
    for kind, form in found.items():
        asked = [(option.name, option.about) for section in form.sections for option in section.options]
        assert sorted(asked) == sorted(served[kind].options.items())
    options = {option.name: option for section in found["llm-judge"].sections for option in section.options}
    assert options["base_url"].is_used({})
    assert not options["rollouts"].is_used({"strategy": "vanilla"})
    assert options["rollouts"].is_used({"strategy": "mcts"})
    assert {"verifybench", "mcts"} <= options["strategy"].choices.keys()
