"""Sentences about uncertainty, checked on generated projects whose truth is known."""

from __future__ import annotations

import json
import random
import re
from math import sqrt
from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.labelling.labels import import_labels
from workbench.measuring.accuracy import accuracy
from workbench.measuring.validity import validity

_WORDS = {True: "correct", False: "incorrect"}
_RANGE = r"at ([\d.]+) to ([\d.]+) % if their errors"
_INTERVAL = r"would have a measured accuracy of [\d.]+ % \[([\d.]+), ([\d.]+)\]"


def sized(folder: Path, sizes: list[int]) -> Project:
    """Questions of these sizes and a verifier that is right on nine items of ten."""
    rows = [
        {"question_id": f"q{question}", "completion_id": f"c{question}-{number}", "gold": number % 2 == 0}
        for question, size in enumerate(sizes)
        for number in range(size)
    ]
    project = make_project(folder, rows)
    note = [
        (item, Verdict(outcome=OutcomeCode(int(bool(row["gold"]) == (item % 10 > 0))).outcome))
        for item, row in enumerate(rows, 1)
    ]
    add_complete_run(project, "v", note, kind="exact")
    return project


def test_one_large_question_gets_a_note_about_unequal_sizes(tmp_path: Path) -> None:
    report = accuracy(sized(tmp_path, [30] + [1] * 100))
    (note,) = (note for note in report.notes if "of equal size" in note)
    # (30² + 100)² / (30⁴ + 100) = 1.2
    assert note == (
        "Questions differ strongly in size: 101 questions give an interval as wide as 1.2 of equal size would. "
        "Intervals account for that."
    )


@pytest.mark.parametrize("sizes", [[4] * 30, [1, 2, 3, 4] * 10], ids=["equal", "a little unequal"])
def test_ordinary_sizes_get_no_note(tmp_path: Path, sizes: list[int]) -> None:
    assert not any("of equal size" in note for note in accuracy(sized(tmp_path, sizes)).notes)


@pytest.mark.parametrize("sizes", [[20], [40, 1, 1, 1]], ids=["one question", "one that outweighs the others"])
def test_too_few_questions_have_no_interval_and_a_note(tmp_path: Path, sizes: list[int]) -> None:
    report = accuracy(sized(tmp_path, sizes))
    (row,) = (row for row in report.rows if row.verifier == "v")
    assert (row.accuracy is None, row.ci) == (False, None)
    assert "Too few questions for an interval of accuracy: items are clustered by question." in report.notes


def test_two_equal_questions_have_an_interval_and_no_note(tmp_path: Path) -> None:
    report = accuracy(sized(tmp_path, [20, 20]))
    (row,) = (row for row in report.rows if row.verifier == "v")
    assert row.ci is not None
    assert row.ci[1] - row.ci[0] > 0.5
    assert not any("Too few questions" in note for note in report.notes)


def test_the_ceiling_of_a_group_depends_on_its_own_gold(tmp_path: Path) -> None:
    """Annotators agree on nearly all of type A and less on type B; type A does not inherit the noise of B."""
    rows = [
        {"question_id": f"q{number}", "completion_id": f"c{number}", "gold": None, "subtype": "AB"[number % 2] + "1"}
        for number in range(80)
    ]
    project = make_project(tmp_path, rows)
    differ = {0, *range(1, 80, 4)}
    note = [("ann", number, number % 3 == 0) for number in range(80)]
    note += [("bob", number, (number % 3 == 0) ^ (number in differ)) for number in range(80)]
    file = tmp_path / "labels.jsonl"
    file.write_text(
        "".join(
            json.dumps({"completion_id": f"c{number}", "annotator": name, "verdict": _WORDS[one]}) + "\n"
            for name, number, one in note
        )
    )
    import_labels(project, file)
    always = [(number + 1, Verdict(outcome=OutcomeCode(int(number % 3 == 0)).outcome)) for number in range(80)]
    add_complete_run(project, "oracle", always, kind="exact")
    of_a = Selection((parse_condition("type=A"),))
    report = accuracy(project, selection=of_a, label_noise=True)
    (noisy,) = report.label_noise
    (said_of,) = (note for note in report.notes if "the annotators' gold" in note)
    assert "39 agreed, 0 adjudicated; 1 open conflict left out" in said_of
    (same,) = (one.sentence for one in validity(project, selection=of_a).findings if one.check == "ceiling")
    assert said_of.startswith(same)
    miss = (1 - sqrt(2 * 39 / 40 - 1)) / 2
    assert noisy.wrong == pytest.approx(miss**2 / (miss**2 + (1 - miss) ** 2))
    (whole,) = accuracy(project, label_noise=True).label_noise
    assert whole.wrong > 10 * noisy.wrong


@pytest.mark.few(4)
@pytest.mark.parametrize("error", [(0.1, 0.1), (0.04, 0.2)], ids=["alike", "unequal"])
@pytest.mark.parametrize("together", [0.0, 0.25], ids=["independent", "hard items"])
def test_the_ceiling_contains_the_accuracy_of_a_perfect_verifier(
    tmp_path: Path, error: tuple[float, float], together: float
) -> None:
    """Each completion has two annotators and conflicts stay open."""
    chance, items = random.Random(11), 3_000
    truth = [chance.random() < 0.3 for _ in range(items)]
    project = make_project(
        tmp_path,
        [{"question_id": f"q{number}", "completion_id": f"c{number}", "gold": None} for number in range(items)],
    )
    lines, agreed, right = [], 0, 0
    for number, correct in enumerate(truth):
        mean = error[correct]
        sharp = (1 - together) / together if together else 0.0
        rate = chance.betavariate(mean * sharp, (1 - mean) * sharp) if together else mean
        note = [correct ^ (chance.random() < rate) for _ in range(2)]
        agreed, right = agreed + (note[0] == note[1]), right + (note[0] == note[1] == correct)
        for person, one in zip(("ann", "bob"), note, strict=True):
            verdict = "correct" if one else "incorrect"
            lines.append(json.dumps({"completion_id": f"c{number}", "annotator": person, "verdict": verdict}))
    file = tmp_path / "labels.jsonl"
    file.write_text("\n".join(lines) + "\n")
    import_labels(project, file)
    always = [(item, Verdict(outcome=OutcomeCode(int(correct)).outcome)) for item, correct in enumerate(truth, 1)]
    add_complete_run(project, "oracle", always, kind="exact")
    report = accuracy(project)
    (oracle,) = (row for row in report.rows if row.verifier == "oracle")
    assert oracle.n == agreed
    assert oracle.accuracy == pytest.approx(right / agreed)
    (said_of,) = (note for note in report.notes if "the annotators' gold" in note)
    assert f"{agreed:,} agreed, 0 adjudicated; {items - agreed:,} open conflicts left out" in said_of
    range_, between = (re.search(pattern, said_of) for pattern in (_RANGE, _INTERVAL))
    assert range_ is not None
    assert between is not None
    ends = [float(end) / 100 for found in (range_, between) for end in found.groups()]
    by_chance = 2 * sqrt(right / agreed * (1 - right / agreed) / agreed)
    assert min(ends) - by_chance <= right / agreed <= max(ends) + by_chance
    assert "no verifier can" not in said_of
