"""Trust is stored per database, exactly as shown, in the user's own folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helpers import make_project
from workbench.config import trust
from workbench.config.file import FOLDER_VARIABLE
from workbench.config.trust import NotTrustedError
from workbench.core.errors import UsageError
from workbench.llm.server import ModelServer
from workbench.runs.trust import require_trust
from workbench.verifiers.registry import Registry
from workbench.verifiers.reward import local


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own" / "workbench"))
    return tmp_path / "own" / "workbench" / "trusted"


def server(url: str = "https://one.example/v1", key: str | None = "SOME_KEY", profile: str = "vllm") -> ModelServer:
    return ModelServer(profile=profile, base_url=url, model="m", key_variable=key)


def accept(database: Path, one: ModelServer, options: dict[str, str] | None = None) -> None:
    trust.accept_grants(database, trust.grants_of({"judge": one}, options or {}))


def refused(database: Path, one: ModelServer, options: dict[str, str] | None = None) -> str:
    with pytest.raises(NotTrustedError) as caught:
        trust.require_grants(database, trust.grants_of({"judge": one}, options or {}))
    assert caught.value.exit_code == 2
    assert "--trust" in caught.value.hint
    return caught.value.message


def test_nothing_is_trusted_at_first_this_machine_included(home: Path, tmp_path: Path) -> None:
    message = refused(tmp_path / "p.db", server())
    assert "https://one.example/v1 with the key in SOME_KEY" in message
    assert "http://127.0.0.1:8000/v1 without a key" in refused(
        tmp_path / "p.db", server("http://127.0.0.1:8000/v1", None)
    )
    assert not home.exists()


def test_only_accepted_servers_are_trusted(home: Path, tmp_path: Path) -> None:
    database = tmp_path / "p.db"
    accept(database, server())
    trust.require_grants(database, trust.grants_of({"judge": server(), "tests": server()}, {}))
    refused(database, server(key="OTHER_KEY"))
    refused(database, server(key=None))
    refused(database, server("https://one.example/v2"))
    refused(tmp_path / "other.db", server())


def test_one_database_by_two_paths_is_one(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    accept(tmp_path / "link" / "p.db", server())
    monkeypatch.chdir(tmp_path)
    trust.require_grants(Path("p.db"), trust.grants_of({"judge": server()}, {}))


def test_a_key_that_a_server_s_kind_implies_counts(home: Path, tmp_path: Path) -> None:
    assert "with the key in OPENAI_API_KEY" in refused(tmp_path / "p.db", server(key=None, profile="openai"))


def test_a_template_is_trusted_by_its_text(home: Path, tmp_path: Path) -> None:
    template = tmp_path / "mine.toml"
    template.write_text("first")
    options = {"template": str(template)}
    with pytest.raises(NotTrustedError) as caught:
        trust.require_grants(tmp_path / "p.db", trust.grants_of({"judge": server()}, options))
    assert [grant.content for grant in caught.value.grants] == ["", "first"]
    accept(tmp_path / "p.db", server(), options)
    trust.require_grants(tmp_path / "p.db", trust.grants_of({"judge": server()}, options))
    template.write_text("second")
    assert "mine.toml" in refused(tmp_path / "p.db", server(), options)
    template.unlink()
    with pytest.raises(UsageError, match="no template"):
        trust.require_grants(tmp_path / "p.db", trust.grants_of({"judge": server()}, options))


def test_published_prompts_are_trusted_by_their_text(home: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "copy" / "prompt" / "w_ref.txt"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("first")
    options = {"published": str(tmp_path / "copy")}
    assert "w_ref.txt" in refused(tmp_path / "p.db", server(), options)
    accept(tmp_path / "p.db", server(), options)
    trust.require_grants(tmp_path / "p.db", trust.grants_of({"judge": server()}, options))
    (prompt.parent / "wo_ref.txt").write_text("another")
    assert "wo_ref.txt" in refused(tmp_path / "p.db", server(), options)
    (prompt.parent / "wo_ref.txt").unlink()
    prompt.write_text("second")
    assert "w_ref.txt" in refused(tmp_path / "p.db", server(), options)


def test_the_trust_file_is_private(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    accept(tmp_path / "p.db", server())
    (kept,) = home.iterdir()
    assert (home.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o700, 0o600)
    assert "secret" not in kept.read_text()
    assert kept.read_text().endswith("the server https://one.example/v1 with the key in SOME_KEY\n")


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "file"))
    refused(tmp_path / "p.db", server())
    with pytest.raises(UsageError, match=f"can't be created.*{FOLDER_VARIABLE}"):
        accept(tmp_path / "p.db", server())


@pytest.mark.skipif(os.name != "posix", reason="other systems have other folders")
def test_the_folder_follows_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    accept(tmp_path / "p.db", server())
    assert len(list(tmp_path.glob("**/trusted/*"))) == 1


def test_a_model_that_a_file_names_is_loaded_only_when_accepted(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name in a stranger's settings leads to any hub or folder."""
    monkeypatch.setattr(local, "installed", lambda *_, **__: "")
    project = make_project(tmp_path)
    for options in ({"model": "evil/model"}, {"model": "/etc"}, {"model": "evil/model", "revision": "other"}):
        verifier = local.RewardLocal(**options)
        with pytest.raises(NotTrustedError, match=f"the model {options['model']}"):
            require_trust(project, verifier, options, accept=False)
        require_trust(project, verifier, options, accept=True)
        require_trust(project, verifier, options, accept=False)
    assert len(list(home.iterdir())) == 3
    require_trust(project, Registry().load("rules", {}), {}, accept=False)
    project.close()
