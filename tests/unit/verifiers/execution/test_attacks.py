"""Attacks on the sandbox, and the checks that run them."""

from __future__ import annotations

import ast
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from workbench.core.code import Execution, Level
from workbench.core.code_tests.assertion import assertion_of
from workbench.verifiers.execution.attacks import watching
from workbench.verifiers.execution.attacks.attack import ANY, Attack, PreparedScene, Scene, corpus, set_up_scene
from workbench.verifiers.execution.attacks.watching import UnusableLevelError, run_attacks
from workbench.verifiers.execution.levels import check_level

ATTACKS = {attack.name: attack for attack in corpus()}
SCENE = Scene("/nowhere", "mark", "planted-0", 1)
LEVELS: tuple[Level, ...] = ("L3", "L2")

REAL = {
    "write-file": "left 'write-file' outside",
    "write-otherwise": "passed",
    "read-file": "passed: assert f(1) == 'the secret'",
    "symlink-race": "the secret",
    "connect": "got through to a socket outside",
    "abstract-socket": "got through to a socket outside",
    "listen": "passed",
    "fork-bomb": "passed",
    "run-a-program": "left 'run-a-program' outside",
    "run-from-memory": "passed",
    "trace-parent": "passed",
    "keys": "passed",
    "filter-loosened": "passed",
    "multipath-connect": "got through to a socket outside",
    "connect-by-sending": "got through to a socket outside",
    "open-otherwise": "the secret",
    "through-parents-folders": "the secret",
    "second-interpreter": "left 'second-interpreter.made' outside",
}
"""What some attacks achieve where there are no walls: they fail at the levels above because of these."""


@pytest.mark.few(2)
@pytest.mark.parametrize("level", LEVELS)
def test_a_level_holds(level: Level) -> None:
    """Run all attacks at once to share the start-up time; a successful attack is reported by name."""
    try:
        results = check_level(level)
    except UnusableLevelError as error:
        pytest.skip(f"{level} can't be used here: {error}")
    assert [result.name for result in results] == [attack.name for attack in corpus() if level in attack.levels]
    assert {result.name: result.wrong for result in results if not result.held} == {}


def test_attacks_succeed_without_a_sandbox() -> None:
    unheld = [structs.replace(ATTACKS[name], levels=("L1",)) for name in REAL]
    try:
        results = run_attacks("L1", unheld)
    except UnusableLevelError as error:
        pytest.skip(f"L1 can't be used here: {error}")
    failed = [one.name for one in results if not any(REAL[one.name] in wrong for wrong in one.wrong)]
    assert failed == []


def test_the_corpus_covers_every_promised_attack() -> None:
    assert len(ATTACKS) == len(corpus()) >= 100
    assert sum(attack.first for attack in corpus()) >= 18
    assert len({attack.link for attack in corpus() if attack.link}) >= 10
    assert all("L3" in attack.levels for attack in corpus())
    elsewhere = [attack.name for attack in corpus() if "L2" not in attack.levels and attack.language == "python"]
    assert elsewhere == ["size-of-a-secret"]


def test_programs_and_tests_are_python() -> None:
    for attack in corpus():
        if attack.language != "python":
            continue
        ast.parse(attack.staged(SCENE, 1).source)
        tests = attack.tests(SCENE)
        assert tests, attack.name
        for test in tests:
            if test.form != "stdio":
                ast.parse(test.source)
            assert (assertion_of(test.source) is not None) or test.form != "expression", test.source


def ran(outcomes: str, forgeable: int = 0) -> Execution:
    return Execution(outcomes=outcomes, level="L2", forgeable=forgeable)


TRUSTED = Attack(name="a", tries="", source="", program="", expressions=("assert f() == SECRET", "assert f() == 2"))
FORGED = Attack(name="a", tries="", source="", program="", forges=True, expressions=("a",), statements=("b",))


@pytest.mark.parametrize(
    ("attack", "execution", "wrong"),
    [
        (TRUSTED, ran("ft"), []),
        (TRUSTED, ran("pf"), ["passed: assert f() == 'the secret'"]),
        (TRUSTED, ran("fp"), ["passed: assert f() == 2"]),
        (TRUSTED, ran("f"), ["1 outcomes came of 2 tests"]),
        (TRUSTED, ran("fn"), ["it chose its outcomes: 'n'"]),
        (TRUSTED, ran("qf"), ["it chose its outcomes: 'q'"]),
        (FORGED, ran("fp", 1), []),
        (FORGED, ran("fp", 0), ["a forged pass is not counted as forgeable"]),
        (FORGED, ran("pf", 1), ["passed: a"]),
        (structs.replace(FORGED, forges=False), ran("fp", 1), ["passed: b"]),
    ],
)
def test_what_counts_as_success(attack: Attack, execution: Execution, wrong: list[str]) -> None:
    assert attack.passes(SCENE, execution) == wrong


@pytest.fixture
def stage() -> Iterator[PreparedScene]:
    with set_up_scene() as stage:
        yield stage


def test_an_untouched_stage_has_no_traces(stage: PreparedScene) -> None:
    assert stage.traces() == {}
    assert SCENE.names("x", 7) == "NAME = 'x'\nFOLDER = '/nowhere'\nMARK = 'mark'\nPORT = 1\nHARNESS = 7"


def test_traces_name_their_attack(stage: PreparedScene) -> None:
    folder = Path(stage.scene.folder)
    (folder / "one.x").touch()
    (folder / f"two-{stage.scene.mark}").touch()
    (folder / "target").write_text("touched")
    with socket.create_connection(("127.0.0.1", stage.scene.port)) as connection:
        connection.sendall(b"three")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{stage.scene.mark}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"four", ("127.0.0.1", stage.scene.port))
    assert stage.traces() == {
        "one": ["left 'one.x' outside"],
        "two": [f"left 'two-{stage.scene.mark}' outside"],
        "three": ["got through to a socket outside"],
        "four": ["got through to a socket outside"],
        ANY: ["changed a file outside", "got through to a socket outside"],
    }


CHOSEN = [ATTACKS["exit-at-import"], ATTACKS["exit-in-function"]]
DIED = "the process that runs solutions died or hung"


@pytest.mark.parametrize(
    ("boot", "wrong"),
    [
        ("import os; os._exit(1)", (DIED,)),
        ("import time; time.sleep(60)", (DIED,)),
        ("print('leaked')", (DIED, "output of programs came out of the process that runs them")),
    ],
    ids=["dies", "hangs", "prints"],
)
def test_an_attack_that_kills_the_harness_is_detected(
    monkeypatch: pytest.MonkeyPatch, boot: str, wrong: tuple[str, ...]
) -> None:
    monkeypatch.setattr(watching, "_BOOT", boot)
    monkeypatch.setattr(watching, "_MAX_SILENCE_S", 0.1)
    found = run_attacks("L2", CHOSEN)
    assert [(result.name, result.held) for result in found] == [(attack.name, False) for attack in CHOSEN]
    assert all(set(result.wrong) == set(wrong) for result in found)


REPORTS = """
import json, os, socket, sys
with socket.socket(fileno=int(sys.argv[1])) as connection:
    order = json.loads(connection.makefile().readline())
    for name in order["names"]:
        second = "function" in name
        found = {"outcomes": "xxx" if second else "eeef", "level": "L2", "harness_killed": second}
        connection.sendall(json.dumps({"name": name, "execution": found, "grown": 2**30}).encode() + b"\\n")
    connection.sendall(json.dumps({"name": "exit-at-import", "after": "ppp"}).encode() + b"\\n")
    connection.sendall(json.dumps({"left": 3}).encode() + b"\\n")
"""


def test_reports_of_the_harness_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_BOOT", REPORTS)
    first, second = run_attacks("L2", CHOSEN)
    assert first.wrong == (
        "the harness grew by 1024 MiB",
        "the next program came out as ppp",
        "processes outlived the pool: 3",
    )
    assert second.wrong == (
        "the process that runs solutions died",
        "the harness grew by 1024 MiB",
        "processes outlived the pool: 3",
    )


def test_an_unusable_level_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnusableLevelError, match="bubblewrap"):
        check_level("L3", first_use=True)


@pytest.mark.soak
@pytest.mark.parametrize("level", LEVELS)
def test_levels_hold_repeatedly(level: Level) -> None:
    for _ in range(5):
        assert [result for result in run_attacks(level, [*corpus(), *reversed(corpus())]) if not result.held] == []
