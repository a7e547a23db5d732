"""Metrics recomputed independently: equal on a comprehensive project, and a fault of each family is detected."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import structs

from tests import auditing
from tests.auditing.auditing import audit
from tests.auditing.records import AuditReport, Family
from tests.helpers import CREATED, make_project, numbered
from tests.unit.labelling.recording import Record
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.statistics.records.report import METRICS

ITEMS = 400
SUBTYPES = (None, "A1", "A3", "C1")
FAMILIES = get_args(Family)


def filled(folder: Path) -> Project:
    """Questions of one to three completions, gold of some; four verifiers, one of which has failed on everything."""
    chance = random.Random(4)
    project = make_project(folder, [_row(number, chance) for number in range(ITEMS)])
    for name, right in (("[b]judge[/]", 0.8), ("rules", 0.9), ("scored", 0.7)):
        said = [(item, _verdict(item, right, chance, scores=name == "scored")) for item in range(1, ITEMS - 10)]
        add_complete_run(project, name, said, kind="judge")
    broken = [(item, Verdict(outcome=Outcome.ERROR, reason="timeout")) for item in range(1, ITEMS)]
    add_complete_run(project, "down", broken, kind="judge")
    _label(project, chance)
    return project


def _row(number: int, chance: random.Random) -> dict[str, Any]:
    question = number - number % (1 + number // 100 % 3)
    return {
        "question_id": f"q{question}",
        "completion_id": f"c{number}",
        "subtype": SUBTYPES[question // 7 % 4],
        "model": chance.choice(("m", "<n>", None)),
        "gold": number % 3 == 0 if chance.random() < 0.7 else None,
    }


def _verdict(item: int, right: float, chance: random.Random, *, scores: bool) -> Verdict:
    score = round(chance.random() * 0.6 + 0.4 * ((item - 1) % 3 == 0), 1) if scores and chance.random() < 0.9 else None
    if chance.random() < 0.06:
        return Verdict(outcome=OutcomeCode(chance.choice((2, 3))).outcome, reason="unparsed", score=score)
    return Verdict(outcome=OutcomeCode(int(((item - 1) % 3 == 0) == (chance.random() < right))).outcome, score=score)


def _label(project: Project, chance: random.Random) -> None:
    """Three people, conflicts settled and open, what does not count: corrected, unblinded, of checks, excluded."""
    record = Record(project)
    for item in range(1, 41):
        for person in chance.sample(("ann", "bob", "cy"), 2 + item % 2):
            record.say(person, item, "c" if chance.random() < 0.6 else "iu"[item % 9 == 0])
    first = record.say("ann", 50, "c")
    record.say("ann", 50, "i", supersedes=first)
    record.say("bob", 50, "i", unblinded=True)
    record.say("dee", 3, "i", kind="adjudication")
    for item in (60, 61):
        record.say("ann", item, "c")
        record.say("bob", item, "c")
    record.table(("ann", "bob"), ("A1 A3 C1 A1", "A1 A1 C1 A3"), task="type")
    with project.database.write() as connection:
        connection.execute("INSERT INTO check_items VALUES (60, 'correct', ?)", (CREATED,))
        connection.execute("UPDATE item_states SET state = 'excluded' WHERE completion_id = 61")
        connection.execute("INSERT INTO code_problems (question_id) SELECT id FROM questions WHERE id % 2")
        connection.execute("INSERT INTO changes (first_id, last_id) VALUES (1, ?)", (ITEMS,))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = filled(tmp_path_factory.mktemp("audited"))
    project.close()
    return project.path


@pytest.fixture
def project(path: Path) -> Any:
    project = open_project(path)
    yield project
    project.close()


def test_every_family_of_metrics_agrees(project: Project) -> None:
    report = audit(project)
    assert report.differences == []
    found = {one.family: one for one in report.families}
    assert list(found) == list(FAMILIES)
    assert all(one.figures and (one.largest or 0) <= 1e-9 for one in found.values())
    assert found["accuracy"].figures > 1_000


def one_more(value: Any) -> Any:
    return value if value is None else value + 1e-6


FAULTS: dict[Family, tuple[str, Callable[[Any], Any]]] = {
    "accuracy": ("workbench.statistics.accuracy.coverage", one_more),
    "confusion": ("workbench.statistics.joint_errors.divide_or_nan", lambda found: found + 1e-6),
    "compare": ("workbench.statistics.compare.quadrants", lambda cells: cells._replace(only_a=cells.only_b)),
    "agreement": ("workbench.statistics.agreement.figures.alpha", lambda found: found + 1e-6),
    "estimates": (
        "workbench.statistics.prediction_powered.estimate_share",
        lambda found: structs.replace(found, power=found.power / 2),
    ),
    "code": ("workbench.statistics.best_of.pass_at", lambda shares: shares * 0.999999),
    "calibration": ("workbench.statistics.calibration.calibration_error", one_more),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_fault_of_each_family_is_found(path: Path, family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    place, spoilt = FAULTS[family]
    module, _, name = place.rpartition(".")
    right = getattr(__import__(module, fromlist=[name]), name)
    monkeypatch.setattr(place, lambda *arguments, **more: spoilt(right(*arguments, **more)))
    project = open_project(path)
    report = audit(project, (family,))
    project.close()
    (summary,) = report.families
    assert summary.differences > 0
    assert {one.family for one in report.differences} == {family}


def test_metrics_missing_on_one_side_are_differences(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.auditing.plain.calibration.figures", lambda frame: {"other": None})
    report = audit(project, ("calibration",))
    assert {one.absent for one in report.differences} == {"shown", "plain"}


def test_an_empty_project_has_a_reason_for_no_audit(tmp_path: Path) -> None:
    report: AuditReport = audit(make_project(tmp_path))
    assert report.differences == []
    assert all(one.figures == 0 and one.reason for one in report.families)


@pytest.mark.few(3)
@pytest.mark.parametrize("lacks", ["gold", "a verdict", "all items, excluded"])
def test_groups_without_counted_items_agree(tmp_path: Path, lacks: str) -> None:
    """Real code problems have no gold, and a set of solutions may lack a verdict."""
    rows = [row | {"subtype": ("A1", "B1")[place // 2 % 2], "model": "m"} for place, row in enumerate(numbered(40))]
    lacking = [place for place, row in enumerate(rows) if row["subtype"] == "B1"]
    for place in lacking:
        rows[place] |= {"model": "n", "dataset": "second"} | ({"gold": None} if lacks == "gold" else {})
    project = make_project(tmp_path, rows)
    for name in ("judge", "rules"):
        judged = [place for place in range(40) if lacks != "a verdict" or place not in lacking]
        said = [(place + 1, Verdict(outcome=OutcomeCode(place % 3 == 0).outcome)) for place in judged]
        add_complete_run(project, name, said, kind="judge")
    with project.database.write() as connection:
        connection.execute("INSERT INTO code_problems (question_id) SELECT id FROM questions")
        if lacks == "all items, excluded":
            states = [(place + 1,) for place in lacking]
            connection.executemany("INSERT INTO item_states (completion_id, state) VALUES (?, 'excluded')", states)
        connection.execute("INSERT INTO changes (first_id, last_id) VALUES (1, 40)")
    report = audit(project)
    assert report.differences == []
    assert {one.family for one in report.families if one.figures} >= {"accuracy", "confusion", "compare", "code"}


def test_an_unknown_family_is_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="no family of figures 'accuracies'"):
        audit(project, ("accuracies",))


def test_nan_is_a_difference(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "mcc", structs.replace(METRICS["mcc"], of=lambda counts: float("nan")))
    report = audit(project, ("accuracy",))
    assert report.differences
    assert all(one.figure.endswith("mcc") for one in report.differences)


def test_the_oracle_shares_no_code_with_the_program() -> None:
    folder = Path(auditing.__file__).parent
    checked = ("benchmarks", "coding", "data", "labelling", "measuring", "runs", "statistics")
    imports = [
        line
        for file in [*folder.glob("plain/*.py"), *folder.glob("store/*.py")]
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith(tuple(f"from workbench.{room}" for room in checked))
    ]
    assert imports == []
