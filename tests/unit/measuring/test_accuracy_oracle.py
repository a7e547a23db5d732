"""The accuracy report equals an independent oracle on sample and real rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import get_args

import pytest

from tests.unit.measuring import accuracy_oracle as oracle
from tests.unit.measuring.accuracy_oracle import Judged
from tests.unit.measuring.scored_runs import add_complete_run, judged_project
from workbench.app.demo import sample_folder
from workbench.core.project import Project, open_project
from workbench.core.verdict import OutcomeCode, Protocol3, Verdict
from workbench.measuring.accuracy import accuracy
from workbench.statistics.records.report import AccuracyReport
from workbench.verifiers.rules.verifier import Rules
from workbench.verifiers.text import always_incorrect, exact, normalized_exact

FIELDS = ("type", "subtype", "domain", "source", "model")
PROTOCOLS: tuple[Protocol3, ...] = get_args(Protocol3)
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    # Groups in which gold and verdicts are of one class are what is measured here.
    pytest.mark.filterwarnings("ignore:A single label was found"),
]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    path = tmp_path_factory.mktemp("oracle") / "p.db"
    verifiers = (Rules(), exact(), normalized_exact(), always_incorrect())
    project = judged_project(path, sample_folder() / "tuples.jsonl", verifiers)
    draw = Random(3)
    ids = [row[0] for row in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]
    noisy = [
        (
            item,
            Verdict(
                outcome=OutcomeCode(draw.choice((0, 0, 1, 1, 2, 3))).outcome, score=draw.choice((None, 0.1, 0.4, 0.9))
            ),
        )
        for item in ids
        if draw.random() < 0.9
    ]
    add_complete_run(project, "noisy", noisy)
    yield project
    project.close()


@pytest.fixture
def real(judged_rows: Path) -> Project:
    return open_project(judged_rows)


def items_of(project: Project, by: str) -> dict[str, list[Judged]]:
    """Verifier -> its items with gold, by a plain query; baselines as they are described."""
    group = {
        "type": "coalesce(q.type, 'untyped')",
        "subtype": "coalesce(q.subtype, 'untyped')",
        "domain": "coalesce(s.domain, '')",
        "source": "coalesce(s.name, '')",
        "model": "coalesce(m.name, '')",
    }[by]
    items = (
        f"SELECT c.id, q.id, coalesce(q.type, 'untyped'), {group}, c.imported_gold FROM completions c "
        "JOIN questions q ON q.id = c.question_id LEFT JOIN sources s ON s.id = q.source_id "
        "LEFT JOIN models m ON m.id = c.model_id WHERE c.imported_gold IS NOT NULL"
    )
    said = (
        "SELECT v.completion_id, v.outcome, v.score, f.name FROM verdicts v JOIN runs r ON r.id = v.run_id "
        "JOIN verifiers f ON f.id = r.verifier_id ORDER BY f.id"
    )
    reader = project.database.reader()
    known: dict[int, tuple[int, str, str, int]] = {row[0]: row[1:] for row in reader.execute(items)}
    found: dict[str, list[Judged]] = defaultdict(list)
    for item, outcome, score, name in reader.execute(said):
        if item in known:
            found[name].append(Judged(*known[item], outcome, score))
    correct: dict[str, list[int]] = defaultdict(list)
    for row in known.values():
        correct[row[1]].append(row[3])
    most = {kind: int(2 * sum(golds) > len(golds)) for kind, golds in correct.items()}
    says = {
        "always-incorrect": dict.fromkeys(most, 0),
        "always-correct": dict.fromkeys(most, 1),
        "majority-by-type": most,
    }
    for name, said_of in says.items():
        found.setdefault(name, [Judged(*row, said_of[row[1]], None) for row in known.values()])
    return found


def check_rows(report: AccuracyReport, expected: dict[str, list[Judged]], protocol: Protocol3) -> None:
    rows = {(row.verifier, row.group): row for row in report.rows}
    assert len(rows) == len(report.rows)
    assert set(rows) == {
        (name, group) for name, items in expected.items() for group in (None, *(item.group for item in items))
    }
    for (name, group), row in rows.items():
        own = [item for item in expected[name] if group in (None, item.group)]
        for figure, value in oracle.figures(own, protocol).items():
            assert getattr(row, figure) == pytest.approx(value, abs=1e-12), (name, group, figure)


def check_cells(report: AccuracyReport, expected: dict[str, list[Judged]], protocol: Protocol3) -> None:
    """Deltas, p- and q-values."""
    within = report.by == "subtype"
    constant = {"always-incorrect", "always-correct", "majority-by-type"}
    tests = {
        name: oracle.cell_tests(items, protocol, within_types=within)
        for name, items in expected.items()
        if name not in constant
    }
    distinct = {(name, test.of): test for name, own in tests.items() for test in own.values()}
    counted = {key: test.p for key, test in distinct.items() if test.p is not None}
    families = [f"{name} {test.scope}" if within else "" for (name, _), test in distinct.items()]
    assert report.tests is not None
    assert report.tests.hypotheses == len(distinct) == report.tests.exact + report.tests.drawn
    assert report.tests.exact >= len(counted)
    q = dict(zip(counted, oracle.adjusted(counted, families), strict=True)) if len(counted) == len(distinct) else {}
    for row in report.rows:
        test = tests.get(row.verifier, {}).get(row.group or "")
        if row.group is None or test is None:
            assert (row.p, row.q) == (None, None)
        elif test.p is None:
            assert 0 < (row.p or 0) <= (row.q or 0) <= 1
        else:
            assert row.p == pytest.approx(test.p, abs=1e-11)
            assert row.q == pytest.approx(q[row.verifier, test.of], abs=1e-11)
        assert row.delta == pytest.approx(delta(row.group, expected[row.verifier], protocol, within=within), abs=1e-12)


def delta(group: str | None, items: list[Judged], protocol: Protocol3, *, within: bool) -> float | None:
    own = [item for item in items if item.group == group]
    kinds = {item.kind for item in own}
    scope = [item for item in items if not within or item.kind in kinds]
    counted, against = oracle.count(own, protocol), oracle.count(scope, protocol)
    if not counted or (within and len(kinds) > 1):
        return None
    return share(counted) - share(against)


def share(counted: Sequence[oracle.Counted]) -> float:
    return sum(item.right for item in counted) / len(counted)


def check_averages(report: AccuracyReport, expected: dict[str, list[Judged]], protocol: Protocol3) -> None:
    averages = {row.verifier: row for row in report.averages}
    assert set(averages) == set(expected)
    for name, items in expected.items():
        groups: dict[str, list[Judged]] = defaultdict(list)
        for item in items:
            groups[item.group].append(item)
        shares = [share(found) for own in groups.values() if (found := oracle.count(own, protocol))]
        assert averages[name].micro == pytest.approx(share(oracle.count(items, protocol)))
        assert averages[name].macro == pytest.approx(sum(shares) / len(shares))
        assert (averages[name].over, averages[name].groups) == (report.by, len(shares))


def check(project: Project, by: str, protocol: Protocol3) -> None:
    report = accuracy(project, by=by, protocol=protocol)
    expected = items_of(project, by)
    check_rows(report, expected, protocol)
    check_cells(report, expected, protocol)
    check_averages(report, expected, protocol)


@pytest.mark.few(4)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("by", FIELDS)
def test_every_metric_of_the_sample_equals_the_oracle(sample: Project, by: str, protocol: Protocol3) -> None:
    check(sample, by, protocol)


@pytest.mark.few(4)
@pytest.mark.real_data
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("by", FIELDS)
def test_every_metric_of_the_real_rows_equals_the_oracle(real: Project, by: str, protocol: Protocol3) -> None:
    check(real, by, protocol)
