"""The dataset card has all required parts, and its data stays text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.publishing import freeze
from tests.unit.measuring.reviewing.desk import label
from tests.unit.tables.test_markdown import tokens
from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.publishing.publishing import publish
from workbench.core.label import LabelVerdict
from workbench.core.project import Project
from workbench.core.sets import ItemMember, QuestionMember, SetReport, Shortfall, Stratum

HOSTILE = "](http://x) | <b>*so*</b> --- : { `x` \u202e\x1b[31m # $y$ @me"


@pytest.fixture
def hostile(tmp_path: Path) -> Project:
    """A set of which every name is hostile."""
    rows = [
        {
            "dataset": HOSTILE,
            "source": f"{HOSTILE}/{HOSTILE}",
            "domain": HOSTILE,
            "model": HOSTILE,
            "gold": gold,
            "subtype": "A1",
        }
        for gold in (True, False)
    ]
    project = make_project(tmp_path, rows)
    report = SetReport(
        name="s",
        version=None,
        kind="balanced",
        questions=2,
        tuples=2,
        strata=(Stratum(name=HOSTILE, population=1, quota=2, taken=1),),
        shortfall=(Shortfall(stratum=HOSTILE, of="questions", wanted=2, available=1, taken=1, why=HOSTILE),),
        excluded={HOSTILE: 3},
        seed=7,
        splits={HOSTILE: 2},
        stages={HOSTILE: 4},
    )
    with project.database.write() as connection:
        connection.execute("UPDATE sources SET licence = ?", (HOSTILE,))
    freeze(project, "s", report=report, config=json.dumps({HOSTILE: [HOSTILE]}))
    return project


def test_data_is_never_markup(hostile: Project, tmp_path: Path) -> None:
    publish(hostile, PublishOptions(sets=("s",), folder=tmp_path / "out", title=HOSTILE, licence=HOSTILE))
    for name in ("README.md", "LICENSE.md", "leaderboard/s.md"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "\u202e" not in text
        assert "\x1b" not in text
        body = text.split("\n---\n", 1)[1] if name == "README.md" else text
        found = tokens(body)
        kinds = {token.type for token in found}
        assert not kinds & {"html_inline", "html_block", "image", "autolink", "code_inline", "s_open"}
        links = [str(token.attrs["href"]) for token in found if token.type == "link_open"]
        assert all(link.startswith("#") for link in links)
        columns = 0
        for token in found:
            if token.type == "table_open":
                columns = 0
            columns += token.type == "th_open"
            if token.type == "tr_open":
                cells = 0
            elif token.type == "td_open":
                cells += 1
            elif token.type == "tr_close" and cells:
                assert cells == columns


def test_the_card_names_the_sources(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"question_id": f"q{n}", "source": "d/s", "gold": True} for n in range(5)])
    votes: dict[int, LabelVerdict] = {1: "correct", 2: "correct", 3: "incorrect"}
    for item, said in votes.items():
        label(project, item, {"ann": "correct", "bob": said})
    questions = [QuestionMember(question=number, stratum="A") for number in (1, 2, 3, 4)]
    freeze(project, "drawn", kind="draw", members=(), questions=questions)
    items = [ItemMember(item=number, stratum="A", gold=True, gold_from="agreed") for number in (1, 2, 3)]
    freeze(project, "asked", kind="queue", members=items, config='{"minority": 2}')
    freeze(project, "done", kind="hard", members=items[:2])
    freeze(project, "later", kind="queue", members=items)
    publish(project, PublishOptions(sets=("done",), folder=tmp_path / "out"))
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "### Made of asked v1" in text
    assert "- **Plan: minority**: 2" in text
    assert "### Made of drawn v1" in text
    assert "later v1" not in text
    assert "| d/s | unknown | 4 | 2 | 2 |" in text
    assert "### Correctness before the selection" in text
    assert "set=asked&#64;1" in text
    assert "They agree on correctness on 100.0 % of 2 " in text
    assert "resolved or not, they agree on 66.7 % of 3 " in text
    assert "under guidelines" not in text, "nothing says under which version labels were given"


def test_the_card_has_every_required_part(made: tuple[Path, object]) -> None:
    text = (made[0] / "README.md").read_text(encoding="utf-8")
    for said in (
        "Unique questions | 38",
        "By answer type",
        "Completions with gold by answer type and domain",
        "| Source | Licence | Questions drawn |",
        "unknown |",
        "Items with gold by model",
        "Runs whose verdicts selected",
        "Guidelines, version 1",
        "3 people",
        "| person | labels | with others % |",
        "61 with two labels or more",
        "32 with two labels or more",
        "| AC1 |",
        "4 of 61 items with two people's blind labels or more: 2 resolved as correct, 2 resolved as incorrect",
        "Nothing is missing",
        "Accuracy of always “incorrect”**: 50.0",
        "A perfect verifier would have a measured accuracy of",
        "Length where gold is correct",
        "the two fields of the answer type are swapped",
        "seed 7",
        "tables of version",
        "not stated by the publisher",
        "small v1 was frozen on",
        "Without any decided verdict, and so in no row: scores",
    ):
        assert said in text, said
