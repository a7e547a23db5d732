"""The documentation builds as a site: every link resolves, and the reference lists all declarations."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.documents import ROOT
from workbench.app import verbs
from workbench.app.tui.registry import every_screen
from workbench.core.reasons import REASONS
from workbench.verifiers.execution.attacks.attack import corpus
from workbench.verifiers.registry import Registry

SCHEMA = ROOT / "workbench" / "core" / "database" / "schema.sql"
pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def text_of(page: Path) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


@pytest.mark.soak
def test_reference_is_generated_from_the_declarations(site: Path) -> None:
    commands = {name for group in verbs.GROUPS.values() for name in group}
    verifiers = {kind.name for kind in Registry().available()}
    actions = {action.id for screen in every_screen() for action in screen.ACTIONS}
    declared = {"commands": commands, "verifiers": verifiers, "actions": actions, "reasons": set(REASONS)}
    views = set(re.findall(r"(?m)^CREATE VIEW (\w+)", SCHEMA.read_text(encoding="utf-8")))
    declared["views"] = views - {"gold", "horizon"}
    declared["attacks"] = {attack.name for attack in (*corpus(), *corpus(scratch=True))}
    for page, names in declared.items():
        words = set(re.findall(r"[\w.-]+", text_of(site / "reference" / f"{page}.html")))
        assert sorted(names - words) == [], page


def test_reference_describes_every_key(site: Path) -> None:
    page = " ".join(text_of(site / "reference" / "actions.html").split())
    assert "^p Commands" in page
    assert "f4 ^r Save · Run · Import" in page


def test_reference_lists_options_with_their_help(site: Path) -> None:
    commands = text_of(site / "reference" / "commands.html")
    assert re.search(r"--protocol \[[^]]+\]\s+\w+", commands)
    assert "&para;" not in commands


def test_public_names_are_documented(site: Path) -> None:
    page = text_of(site / "reference" / "api.html")
    names = ("workbench.open_project", "workbench.judge", "workbench.reward", "workbench.Judge", "LanguageRunner")
    for name in (*names, "Raises:"):
        assert name in page
