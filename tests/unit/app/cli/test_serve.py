"""`workbench serve`: its output, and usage rejected before the start."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.helpers import make_project
from workbench.app.cli import root
from workbench.app.web.serve import server
from workbench.app.web.serve.addresses import Address
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.labelling import tokens
from workbench.labelling.people import add_annotators


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    add_annotators(project, ["ann", "ben", "Zoë Ö"])
    return project


@pytest.fixture
def ready_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says it is ready, and ends."""

    def serve(_: Project, address: Address, command: object, most: int, on_ready: object) -> None:
        assert callable(on_ready)
        on_ready(address)

    monkeypatch.setattr(server, "serve", serve)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(root, ["serve", *map(str, arguments)])


def test_everyone_gets_a_link_that_lets_them_in(project: Project, ready_at_once: None) -> None:
    done = run(project.path)
    assert done.exit_code == 0
    lines = [line.rsplit("  ", 1) for line in done.stdout.splitlines()]
    assert [name for name, _ in lines] == ["ann", "ben", "Zoë Ö"]
    for name, url in lines:
        place, _, token = url.partition("#")
        assert place == "http://127.0.0.1:8000/enter"
        login = tokens.redeem_link(project, token)
        assert login is not None
        assert login.name == name


def test_links_as_json_for_those_named(project: Project, ready_at_once: None) -> None:
    url = "https://labels.example.org"
    done = run(project.path, "--annotators", "ben, ann", "--public-url", url, "--json")
    found = json.loads(done.stdout)
    assert found["url"] == url
    assert list(found["links"]) == ["ben", "ann"]
    assert all(link.startswith(f"{url}/enter#") for link in found["links"].values())


def test_one_more_link_and_the_end_of_them(project: Project) -> None:
    done = run(project.path, "--link", "ann", "--port", 8123)
    name, url = done.stdout.split()
    assert (name, url.partition("#")[0]) == ("ann", "http://127.0.0.1:8123/enter")
    assert run(project.path, "--revoke", "ann", "--json").stdout == '{\n  "revoked": 1\n}\n'
    assert tokens.redeem_link(project, url.partition("#")[2]) is None


@pytest.mark.usefixtures("ready_at_once")
def test_other_machines_are_warned_of(project: Project) -> None:
    assert "not encrypted" in " ".join(
        run(project.path, "--host", "0.0.0.0").stderr.replace("nothing is", "not").split()
    )
    assert "encrypted" not in run(project.path).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--annotators", "eve"], "no annotator 'eve'"),
        (["--link", "eve"], "no annotator 'eve'"),
        (["--revoke", "eve"], "no annotator 'eve'"),
        (["--link", "ann", "--revoke", "ann"], "not both"),
        (["--public-url", "labels.example.org"], "not a public URL"),
        (["--public-url", "https://x.org/sub"], "not a public URL"),
    ],
)
def test_impossible_requests_show_an_error(project: Project, options: list[str], said: str) -> None:
    done = run(project.path, *options)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_a_list_without_names_is_an_error(project: Project) -> None:
    done = run(project.path, "--annotators", " , ")
    assert done.exit_code == 2
    assert "No name" in done.output


def test_a_project_without_annotators_is_an_error(tmp_path: Path) -> None:
    assert "annotators DB add" in str(run(make_project(tmp_path).path).exception)


@pytest.mark.parametrize(("options", "known"), [([], "accuracy"), (["--as=ann"], "annotate")])
def test_the_app_begins_on_a_screen_there_is(project: Project, options: list[str], known: str) -> None:
    runner = CliRunner(env={"TEXTUAL_DRIVER": "workbench.app.tui.served:ServedDriver"})
    done = runner.invoke(root, ["open", str(project.path), "--at=nowhere", *options])
    assert isinstance(done.exception, UsageError)
    assert known in done.exception.hint


def test_the_coordinators_screens_are_not_served(project: Project) -> None:
    runner = CliRunner(env={"TEXTUAL_DRIVER": "workbench.app.tui.served:ServedDriver"})
    done = runner.invoke(root, ["open", str(project.path), "--at=accuracy", "--as=ann"])
    assert isinstance(done.exception, UsageError)


def test_a_port_in_use_is_an_error(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(project.path, "--port", taken.getsockname()[1])
    assert isinstance(done.exception, UsageError)
    assert "is not available" in done.exception.message
    assert "--port" in done.exception.hint


@pytest.mark.parametrize("host", ["no.such.host.invalid", "256.1.1.1", "é" * 300])
def test_an_invalid_host_is_an_error(project: Project, host: str) -> None:
    assert isinstance(run(project.path, "--host", host, "--port", 0).exception, UsageError)
