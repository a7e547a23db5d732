"""Metrics of test outcomes: pass@1, ranked solutions, tests that all or no solutions pass; the report and Home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.solved import OUTCOMES, solved_project
from workbench.coding.apart import exclude_test
from workbench.core.project import Project
from workbench.measuring.briefing import briefed
from workbench.measuring.report.gathering import gather, write_report
from workbench.measuring.testing import suite_figures


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    found = solved_project(tmp_path)
    yield found
    found.close()


def test_tests_and_solutions_are_counted_by_problem(project: Project) -> None:
    (base,) = suite_figures(project)
    clip, double = base.problems
    assert (base.verifier, base.suite, clip.solutions, clip.judged, clip.passing) == ("execution", "base", 6, 6, 1)
    assert clip.pass_at_1 == 1 / 6
    assert clip.order[:3] == [("0", 5), ("3", 4), ("1", 3)]
    assert [test.passed for test in clip.tests] == [sum(one[n] == "p" for one in OUTCOMES.values()) for n in range(5)]
    assert (double.count("all"), clip.count("mixed")) == (1, 5)
    exclude_test(project, 1, "base", 2, reason="not asked for", by="ines")
    clip = suite_figures(project)[0].problems[0]
    assert (clip.count("apart"), clip.tests[2].rate, clip.tests[2].why) == (1, None, "not asked for (ines)")
    assert clip.passing == 1


def test_the_report_and_the_briefing_show_execution_results(project: Project, tmp_path: Path) -> None:
    exclude_test(project, 1, "base", 2, reason="not [asked] for", by="ines")
    write_report(project, tmp_path / "r.md", lambda: gather(project, generated_at=""), format="markdown")
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "execution (run 1) ran 7 solutions of 2 problems against 6 tests of suite base" in text
    assert "own/clip" in text
    assert "asked" in text
    sentences = [matter.sentence for matter in briefed(project).briefing or [] if matter.kind == "tests"]
    assert sentences
    assert "pass@1 58.3 % (mean over problems); 1 test passed by every solution, 1 test excluded." in sentences[0]
