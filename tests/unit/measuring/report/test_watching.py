"""The report's section on trainings."""

from __future__ import annotations

from pathlib import Path

from tests.commands import run
from tests.unit.measuring.test_watching import watch


def test_the_report_has_the_alarms_of_a_training(tmp_path: Path) -> None:
    watch(tmp_path / "p.db", payload="Thought process:", steps=25, share=0.05).close()
    done = run("report", tmp_path / "p.db", "--output", tmp_path / "r.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r.html").read_text()
    assert "Monitored trainings" in page
    assert "Alarm at step" in page
    assert "thought" in page
