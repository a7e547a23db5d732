"""One-time login links and the sessions they start."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.helpers import make_project
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.labelling import tokens
from workbench.labelling.people import add_annotators


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    add_annotators(project, ["ann", "ben"])
    return project


def entered(project: Project, name: str) -> str:
    login = tokens.redeem_link(project, tokens.new_link(project, name))
    assert login is not None
    assert login.name == name
    return login.token


def test_a_link_lets_its_person_in_once(project: Project) -> None:
    link = tokens.new_link(project, "ann")
    login = tokens.redeem_link(project, link)
    assert login is not None
    assert tokens.name_of_login(project, login.token) == "ann"
    assert tokens.redeem_link(project, link) is None


def test_one_link_used_by_many_at_once_lets_one_in(project: Project) -> None:
    link = tokens.new_link(project, "ann")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: tokens.redeem_link(project, link), range(24)))
    assert sum(login is not None for login in found) == 1


def test_secrets_are_not_in_the_database(project: Project) -> None:
    link, login = tokens.new_link(project, "ben"), entered(project, "ann")
    project.database.write_back()
    files = [path.read_bytes() for path in project.path.parent.iterdir()]
    assert not [secret for secret in (link, login) for data in files if secret.encode() in data]
    assert link != login


def test_links_and_logins_are_not_interchangeable(project: Project) -> None:
    link, login = tokens.new_link(project, "ann"), entered(project, "ann")
    assert tokens.name_of_login(project, link) is None
    assert tokens.redeem_link(project, login) is None


@pytest.mark.parametrize("text", ["", "x", "A" * 43, "A" * 44, "é" * 43, "\ud800" * 43, "' OR 1 --"])
def test_an_invalid_token_is_rejected(project: Project, text: str) -> None:
    entered(project, "ann")
    assert tokens.redeem_link(project, text) is None
    assert tokens.name_of_login(project, text) is None


def test_using_one_link_voids_the_persons_others(project: Project) -> None:
    first, second, other = (tokens.new_link(project, name) for name in ("ann", "ann", "ben"))
    assert tokens.redeem_link(project, second) is not None
    assert tokens.redeem_link(project, first) is None
    assert tokens.redeem_link(project, other) is not None


def test_a_browser_has_one_login_and_a_person_may_have_several(project: Project) -> None:
    phone, old = entered(project, "ann"), entered(project, "ann")
    new = tokens.redeem_link(project, tokens.new_link(project, "ben"), earlier=old)
    assert new is not None
    assert [tokens.name_of_login(project, login) for login in (phone, old, new.token)] == ["ann", None, "ben"]


def test_links_and_logins_expire(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    link, login = tokens.new_link(project, "ben"), entered(project, "ann")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + tokens.LINK_S + 60)
    assert tokens.redeem_link(project, link) is None
    assert tokens.name_of_login(project, login) == "ann"
    monkeypatch.setattr(time, "time", lambda: now + tokens.LOGIN_S + 60)
    assert tokens.name_of_login(project, login) is None
    tokens.new_link(project, "ben")
    assert project.database.reader().execute("SELECT count(*) FROM admissions").fetchone() == (1,)


def test_revoking_ends_all_logins_of_a_person(project: Project) -> None:
    link, login, other = tokens.new_link(project, "ann"), entered(project, "ann"), entered(project, "ben")
    link = tokens.new_link(project, "ann")
    assert tokens.revoke(project, "ann") == 2
    assert tokens.name_of_login(project, login) is None
    assert tokens.redeem_link(project, link) is None
    assert tokens.name_of_login(project, other) == "ben"


def test_the_link_of_a_paused_annotator_works_once_resumed(project: Project) -> None:
    link = tokens.new_link(project, "ann")
    with project.database.write() as connection:
        connection.execute("UPDATE annotators SET paused_at = '2026-01-02' WHERE id = 1")
    assert tokens.redeem_link(project, link) is None
    with project.database.write() as connection:
        connection.execute("UPDATE annotators SET paused_at = NULL WHERE id = 1")
    assert tokens.redeem_link(project, link) is not None


def test_only_known_people_get_links(project: Project) -> None:
    with pytest.raises(UsageError, match="Known: ann, ben"):
        tokens.new_link(project, "eve")
    with pytest.raises(UsageError):
        tokens.revoke(project, "eve")
