"""A project with data that imitates markup, a script, a style sheet or a very long line."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.project import Project
from workbench.core.verdict import Outcome, Verdict

SCRIPT = "<script>window.hacked = 1</script>"
TEXTS = (
    SCRIPT,
    "<img src=x onerror=window.hacked=1>",
    "</style></title></pre></svg><script src=//evil.example/x.js></script>",
    '"><svg onload=window.hacked=1><a href="javascript:window.hacked=1">x</a>',
    "<style>body { display: none }</style><link rel=stylesheet href=http://evil.example/x.css>",
    "<iframe srcdoc='<script>top.hacked=1</script>'></iframe><meta http-equiv=refresh content=0>",
    "\x00\x07\x1b[31mred\x1b[0m \u202eevil\u2066 \ufeff \x9b2J",
    "![x](http://evil.example/x.png) [y](javascript:alert(1)) <http://evil.example> www.evil.example | a@evil.example",
    "```\n````\n# not a heading\n</pre>\n- no list",
    "$$\\href{javascript:alert(1)}{x}$$ {{ 7 * 7 }} {% raw %} &lt;b&gt; &#60;",
    "<" * 1_000_000,
)


def hostile_project(folder: Path) -> Project:
    """Create a project whose items, names, reasons and evidence are hostile, all judged wrongly by one verifier."""
    rows = numbered(2 * len(TEXTS), subtype="A1", source="x", domain=TEXTS[1], model=TEXTS[3])
    for place, row in enumerate(rows):
        text = TEXTS[place % len(TEXTS)]
        row |= {"question_id": f"{place // 2}{text}", "completion_id": f"{place}{text}", "dataset": f"d{TEXTS[0]}"}
        row |= {"question": text, "reference": text, "completion": f"{text}\n{text}"}
    project = make_project(folder, rows)
    verdicts = [(place + 1, _verdict(place)) for place in range(len(rows))]
    add_complete_run(project, f"judge{TEXTS[1]}", verdicts, kind="llm-judge")
    add_complete_run(project, "other", [(item, _right(item)) for item, _ in verdicts], kind="rules")
    return project


def _verdict(place: int) -> Verdict:
    text = TEXTS[place % len(TEXTS)]
    outcome = Outcome.ABSTAIN if place % 5 == 4 else Outcome.INCORRECT if place % 2 == 0 else Outcome.CORRECT
    return Verdict(
        outcome=outcome,
        score=place / 100,
        reason=text[:200],
        rule=text[:200],
        reference_final=text,
        candidate_final=text,
        detail=text,
    )


def _right(item: int) -> Verdict:
    return Verdict(outcome=Outcome.CORRECT if item % 2 else Outcome.INCORRECT, reason="letter")
