"""Few-shot examples of a run: drawn from items with gold when its name is bound, and fixed from then on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.helpers import add_items, make_project
from tests.served_runs import here_on
from tests.servers.scripted import scripted
from workbench.app.cli.verifiers import _verifier_lines
from workbench.core.errors import OptionError
from workbench.core.project import Project
from workbench.measuring.accuracy import accuracy
from workbench.runs.choosing import resolve_verifier
from workbench.runs.verifying import configured, kinds, start
from workbench.verifiers.judges.examples import DrawnExamples, decoded

JUDGE = {"base_url": "http://h:1/v1", "model": "m", "strategy": "vanilla"}


def items(count: int, **fields: Any) -> list[dict[str, Any]]:
    """A right and a wrong completion of each of so many questions."""
    return [
        {
            "question_id": f"q{number}",
            "completion_id": f"q{number}-{word}",
            "question": f"What is {number} + 1?",
            "completion": f"It is {number + (word == 'right')}.",
            "gold": word == "right",
            "subtype": "A1" if number % 2 else "B1",
            **fields,
        }
        for number in range(count)
        for word in ("right", "wrong")
    ]


def drawn(project: Project, name: str | None = None, **options: str) -> DrawnExamples:
    chosen = resolve_verifier(project, "llm-judge", {**JUDGE, **options}, name)
    return decoded(chosen.options["examples_drawn"])


def names(found: DrawnExamples) -> list[str]:
    return [one.item[1] for one in found.examples]


def test_a_seed_draws_the_same_examples_plus_a_spare_one(tmp_path: Path) -> None:
    project = make_project(tmp_path, items(20))
    found = drawn(project, examples="4")
    assert found == drawn(project, examples="4")
    assert names(found) != names(drawn(project, examples="4", examples_seed="1"))
    assert sorted(one.correct for one in found.examples) == [False] * 3 + [True] * 3
    assert len({one.question for one in found.examples}) == 6
    by_type = drawn(project, examples="4", examples_type="true")
    assert sorted((one.type, one.correct) for one in by_type.examples) == [
        (kind, correct) for kind in ("A", "B") for correct in (False, True) for _ in range(3)
    ]


def test_another_copy_of_the_data_draws_the_same(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    one, other = make_project(tmp_path / "a", items(20)), make_project(tmp_path / "b", reversed(items(20)))
    assert names(drawn(one, examples="4")) == names(drawn(other, examples="4"))


def test_only_short_items_with_gold_are_drawn(tmp_path: Path) -> None:
    project = make_project(tmp_path, items(3))
    add_items(project.database, [{"question_id": f"u{n}", "completion_id": f"u{n}"} for n in range(50)])
    add_items(
        project.database,
        [
            {"question_id": f"l{n}", "completion_id": f"l{n}", "completion": "long " * 2000, "gold": n % 2 == 0}
            for n in range(50)
        ],
    )
    assert {name[0] for name in names(drawn(project, examples="2"))} == {"q"}
    with project.database.write() as connection:
        connection.execute("INSERT INTO item_states (completion_id, state) SELECT id, 'conflict' FROM completions")
    with pytest.raises(
        OptionError, match="1 correct items of different questions are needed, but only 0 can be shown"
    ) as error:
        drawn(project, examples="2")
    assert error.value.option == "examples"


def test_drawn_examples_survive_new_items_and_changed_labels(tmp_path: Path) -> None:
    project = make_project(tmp_path, items(4))
    options = {**JUDGE, "examples": "2"}
    with here_on(project) as runs:
        runs.claim()
        start(project, "llm-judge", options, "few")
        before = drawn(project, "few", examples="2")
        add_items(project.database, items(40, dataset="more"))
        with project.database.write() as connection:
            connection.execute("UPDATE completions SET imported_gold = 1 - imported_gold")
        assert drawn(project, "few", examples="2") == before
        assert names(drawn(project, examples="2")) != names(before)
        assert start(project, "llm-judge", options, "few").run == start(project, "few").run
        assert drawn(project, "few", examples="2", examples_seed="5") != before


def test_a_run_shows_its_examples_and_accuracy_mentions_them(tmp_path: Path) -> None:
    with scripted(lambda got: "Yes") as server, here_on(make_project(tmp_path, items(4))) as runs:
        project = runs.project
        found = runs.work(start(project, "llm-judge", {**JUDGE, "base_url": server.url, "examples": "2"}, "few").run)
        assert (found.verdicts or {})["correct"] == 8
        few = decoded(configured(project)[0].options["examples_drawn"])
        for body in server.bodies:
            *shown, judged = re.findall(r"What is \d \+ 1\?", body["messages"][1]["content"])
            assert len(set(shown)) == 2
            assert judged not in shown
            assert set(shown) <= {one.question for one in few.examples}
        (note,) = [one for one in accuracy(project).notes if "examples" in one]
        assert note.startswith(f"{len(few.examples)} items of these are shown to few as examples with gold: ")
        assert not [one for one in accuracy(project, verifiers=("always-correct",)).notes if "examples" in one]
        printed = "\n".join(_verifier_lines(kinds(project)))
        assert "as few: " in printed
        assert "-o examples=2" in printed
        assert "examples_drawn" not in printed
        assert msgspec.json.decode(configured(project)[0].options["examples_drawn"])["plan"]["count"] == 2
