"""Generations in the list of runs: their calls are shown in place of items and verdicts."""

from __future__ import annotations

from textual.content import Content

from workbench.app.tui.kit import overview
from workbench.app.tui.screens import runs as runs_screen
from workbench.core.run import GENERATION, Amount, RunCosts, RunInfo, RunUsage
from workbench.tables.table import cells

GO_ON = "Run the command that started it again to continue."


def info(message: str | None = None) -> RunInfo:
    return RunInfo(
        run=3,
        verifier="tests/utg",
        kind=GENERATION,
        version="1",
        selection="all items",
        state="complete" if message is None else "paused",
        request=None,
        items=0,
        done=0,
        verdicts={"correct": 0, "incorrect": 0, "abstain": 0, "error": 0},
        workers=1,
        created_at="2025-01-01T00:00:00Z",
        message=message,
        usage=RunUsage(calls=119, answered=119, prompt_tokens=900),
    )


def words(content: Content) -> str:
    return content.plain


def test_lists_show_calls() -> None:
    texts = cells(runs_screen.run_columns(wide=True), info())
    assert "119 calls" in texts
    assert texts.count("–") == 6
    assert "119 calls" in words(overview.run_line(info()))
    assert "%" not in words(overview.run_line(info()))


def test_the_sentence_describes_the_run_without_counts() -> None:
    said = words(runs_screen.run_sentence(info(GO_ON)))
    assert "texts that models write" in said
    assert said.endswith(f"‖ {GO_ON}")
    assert "correct" not in said


def test_details_end_with_the_calls() -> None:
    nothing = Amount(calls=0, tokens=0, cost=None)
    costs = RunCosts(attempts={}, ambiguous=[], spent=nothing, possibly_spent=nothing, to_finish=None)
    said = words(runs_screen.run_details(info(), costs, "p.db.runner.log"))
    assert "119 calls" in said
    assert not any(word in said for word in ("verdicts", "reasons", "0 of 0", "all items"))
