"""The simulations cited in the documentation of intervals and tests: each kind runs on a few datasets."""

from __future__ import annotations

import json
import sys

import pytest

from bench import __main__ as everything
from bench import coverage, null_projects


@pytest.mark.parametrize("kind", coverage.KINDS)
def test_every_kind_counts_shares_of_datasets(kind: str) -> None:
    row = next(coverage.KINDS[kind](20, 0))
    value, named = row["value"], row["figure"]
    assert isinstance(value, float)
    assert isinstance(named, str)
    assert 0 <= value <= 1
    # Each kind begins with its kindest setting: nothing there is far from what is promised.
    if named.startswith("coverage"):
        assert value >= 0.8, row
    elif named.startswith("power"):
        assert value >= 0.5, row
    else:
        assert value <= 0.2, row


@pytest.mark.few(2)
@pytest.mark.parametrize("single", [False, True])
def test_null_projects_go_through_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], single: bool
) -> None:
    monkeypatch.setattr(sys, "argv", ["null_projects", "--projects", "1", "--seed", "3", *["--single"] * single])
    null_projects.main()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {line["figure"]: line for line in lines}
    for line in lines:
        assert line["projects"] == 1
        if line["figure"].startswith("null projects with any"):
            assert line["value"] in (0, 1)
    verifiers = len(null_projects.VERIFIERS)
    for table, groups in zip(null_projects.TABLES, (null_projects.SUBTYPES, null_projects.MODELS), strict=True):
        # Each group is a cell of each verifier; a group may be the only one of its type, or have too few questions.
        cells = found[f"size of p of accuracy by {table}"]["tests"]
        assert cells == found[f"null projects with any q of accuracy by {table} <= .05"]["tests"]
        assert len(groups) <= cells <= verifiers * len(groups)
    assert found["size of permutation p of two"]["tests"] == 1
    if single:
        assert found["size of McNemar's p of two"]["tests"] == 1
    assert found["null projects with any Holm's p of a family <= .05"]["tests"] == 3
    assert all(found[f"size of p of a check of labels, drawn by {unit}"]["tests"] for unit in ("items", "questions"))


def test_null_projects_are_among_all_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = [one for one in vars(everything).values() if hasattr(one, "main") and hasattr(one, "__file__")]
    ran: list[str] = []
    for one in modules:
        monkeypatch.setattr(one, "main", lambda name=one.__name__: ran.append(name))
    everything.main()
    assert sorted(ran) == sorted(one.__name__ for one in modules)
    assert "bench.null_projects" in ran
