"""Agreement of labels: which ones count, and the statistics of annotators, pairs and groups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import make_project, numbered
from tests.unit.labelling.recording import Record
from workbench.core.errors import FormatError, UsageError
from workbench.core.label import Task
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import people
from workbench.labelling.agreement.measuring import agreement, agreement_of_file
from workbench.labelling.agreement.text import agreement_text
from workbench.measuring.briefing import agreement_sentence
from workbench.measuring.browsing import pair_items
from workbench.measuring.store import figures
from workbench.statistics.intervals import share_interval, wilson
from workbench.statistics.records.agreement import AgreementReport, AnnotatorQuality, GoldLabels

# Both completions of three questions right, both of the other three wrong: the design effect is 6/5 · 6 / (12 · .25) =
# 2.4, so that Wilson's of 2.5 in 5 with Student's t of 5 degrees of freedom, 2.570582, is .5 ± 2.570582
# sqrt(1.25 + 2.570582²/4) / (5 + 2.570582²). Of twelve independent items it would be .5 ± .246.
HALF_BY_QUESTION = (0.5 - 0.377246, 0.5 + 0.377246)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Twelve items, two a question; the first four are of one domain, the rest of another."""
    rows: list[dict[str, Any]] = [
        row | {"source": "s1" if place < 4 else "s2", "domain": "maths" if place < 4 else "logic", "subtype": "A1"}
        for place, row in enumerate(numbered(12))
    ]
    made = make_project(tmp_path, rows)
    yield made
    made.close()


@pytest.fixture
def record(project: Project) -> Record:
    return Record(project)


def of(project: Project, task: Task = "correctness", **more: Any) -> AgreementReport:
    return agreement(project, task, **more)


def person(report: AgreementReport, name: str) -> AnnotatorQuality:
    return next(row for row in report.per_annotator if row.name == name)


def test_first_pass_labels_count(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c i c i c i u i", "c i c c c i i ."))
    found = of(project)
    assert (found.items, found.paired, found.labels, found.annotators) == (8, 7, 15, 2)
    assert found.percent_agreement == pytest.approx(5 / 7)
    assert found.prevalence == pytest.approx({"correct": 7 / 15, "incorrect": 7 / 15, "unsuitable": 1 / 15})
    (pair,) = found.cohen_kappa
    assert (pair.pair, pair.n) == (("ann", "bob"), 7)
    assert pair.agreement == pytest.approx(5 / 7)
    assert found.fleiss_kappa is None


def test_a_project_without_labels_has_no_metrics(project: Project) -> None:
    found = agreement(project, by="type")
    assert (found.items, found.annotators, found.cohen_kappa, found.groups, found.ceiling) == (0, 0, [], [], [])
    assert found.percent_agreement is found.krippendorff_alpha is found.gwet_ac1 is None
    assert "0 items" in agreement_text(found)


def test_the_last_label_of_an_annotator_counts(project: Project, record: Record) -> None:
    first = record.say("ann", 1, "i")
    record.say("ann", 1, "c", supersedes=first)
    record.say("bob", 1, "c")
    gone = record.say("bob", 2, "c")
    record.say("bob", 2, "", kind="retraction", supersedes=gone)
    record.say("ann", 2, "i")
    found = of(project)
    assert (found.items, found.paired, found.percent_agreement) == (2, 1, 1)


def test_the_later_of_two_merged_labels_counts(project: Project, record: Record) -> None:
    record.say("ann", 1, "i")
    record.say("ann", 1, "c", merged=True)
    record.say("bob", 1, "c")
    found = of(project)
    assert (found.labels, found.percent_agreement) == (2, 1)


def test_adjudications_flags_repeats_and_checks_do_not_count(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c c", "i c"))
    record.say("cy", 1, "c", kind="adjudication")
    record.say("dee", 1, "", kind="flag")
    record.say("ann", 2, "i", kind="repeat")
    record.say("dee", 3, "c", kind="check")
    found = of(project)
    assert (found.labels, found.annotators, found.percent_agreement) == (4, 2, 0.5)


def test_unblinded_labels_are_left_out_and_counted(project: Project, record: Record) -> None:
    first = record.say("ann", 1, "i")
    record.say("bob", 1, "c")
    record.say("ann", 1, "c", supersedes=first, unblinded=True)
    record.say("cy", 1, "c")
    found = of(project)
    assert (found.labels, found.unblinded, found.annotators) == (2, 1, 2)
    assert person(found, "ann").unblinded == 1
    assert person(found, "ann").labels == 0


def test_a_reopening_changes_no_metric_unless_its_round_is_chosen(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c c c", "i c c"))
    before = of(project)
    assert (before.round, before.reopened) == ("first", 0)
    assert before.percent_agreement == pytest.approx(2 / 3)
    assert "round" not in agreement_text(before)
    record.say("cy", 1, "c", kind="adjudication")
    assert person(of(project), "ann").upheld.n == 1
    record.say("cy", 1, "", kind="reopen", round=2)
    record.say("ann", 1, "c", round=2)
    record.say("dee", 1, "c", round=2)
    found = of(project)
    assert (found.percent_agreement, found.labels, found.reopened) == (before.percent_agreement, 6, 1)
    assert person(found, "ann").upheld.n == 0, "the decision on the first round no longer stands"
    assert "6 labels of the first round (1 reopened)" in agreement_text(found)
    latest = of(project, latest=True)
    assert (latest.percent_agreement, latest.labels, latest.annotators) == (1, 6, 3)
    assert "6 labels of the latest round (1 reopened)" in agreement_text(latest)
    pairs = [pair_items(project, "correctness", "ann", "bob", latest=asked) for asked in (False, True)]
    assert [(list(one.differing), list(one.same)) for one in pairs] == [([1], [2, 3]), ([], [2, 3])]


def test_checks_are_excluded_from_agreement(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c c", "i c"))
    with project.database.write() as connection:
        connection.execute("INSERT INTO check_items VALUES (1, 'correct', '2025-01-01')")
    record.say("ann", 1, "c", kind="check")
    record.say("bob", 1, "i", kind="check")
    record.say("bob", 1, "i", kind="check", unblinded=True)
    found = of(project)
    assert (found.items, found.percent_agreement) == (1, 1)
    assert (person(found, "ann").checks.share, person(found, "bob").checks.share) == (1, 0)
    assert person(found, "bob").checks.n == 1


def test_checks_of_several_questions_give_a_ceiling(project: Project, record: Record) -> None:
    with project.database.write() as connection:
        connection.execute("INSERT INTO check_items SELECT id, 'correct', '2025-01-01' FROM completions")
    for item in (1, 2):
        record.say("ann", item, "c", kind="check")
    assert of(project).ceiling == []
    for item in range(3, 13):
        record.say("ann", item, "c" if item < 7 else "i", kind="check")
    (by_checks,) = of(project).ceiling
    assert (by_checks.source, by_checks.annotator_accuracy) == ("checks", 0.5)
    assert by_checks.accuracy_ci == pytest.approx(HALF_BY_QUESTION, abs=1e-6)


def test_surplus_labels_count_and_are_reported(project: Project, record: Record) -> None:
    people.assign(project, ["ann", "bob"], per_item=2)
    record.table(("ann", "bob", "cy"), ("c c", "c c", "c ."))
    found = of(project)
    assert (found.labels, found.surplus) == (5, 1)
    assert "1 beyond the overlap" in agreement_text(found)


def test_annotators_are_compared_with_rulings_gold_and_repeats(project: Project, record: Record) -> None:
    # Gold of the data: items 1, 3, 5 … are correct.
    record.table(("ann", "bob"), ("c c c i", "i c i i"))
    record.say("cy", 1, "c", kind="adjudication")
    record.say("cy", 3, "i", kind="adjudication")
    record.say("ann", 4, "c", kind="repeat")
    record.say("ann", 2, "c", kind="repeat")
    record.say("ann", 1, "i", kind="repeat", unblinded=True)
    found = of(project)
    ann, bob = person(found, "ann"), person(found, "bob")
    assert (ann.upheld.n, ann.upheld.share) == (2, 0.5)
    assert (bob.upheld.n, bob.upheld.share) == (2, 0.5)
    assert (ann.imported.n, ann.imported.share, bob.imported.share) == (4, 0.75, 0.25)
    assert (ann.repeats.n, ann.repeats.share, bob.repeats.n, bob.repeats.share) == (2, 0.5, 0, None)
    assert ann.repeats.ci == share_interval(np.array([True, False]), np.arange(2))
    assert (found.repeats.n, found.repeats.share) == (2, 0.5)


def test_a_repeat_is_compared_with_the_label_before_it(project: Project, record: Record) -> None:
    """An edit before the repeat counts, one after it does not."""
    first = record.say("ann", 1, "i")
    second = record.say("ann", 1, "c", supersedes=first)
    record.say("ann", 1, "c", kind="repeat")
    record.say("ann", 1, "i", supersedes=second)
    assert of(project).repeats.share == 1


def test_times_and_fast_decisions(project: Project, record: Record) -> None:
    for subject, ms in enumerate((500, 1_999, 2_000, 90_000), 1):
        record.say("ann", subject, "c", focused_ms=ms)
    record.say("ann", 5, "c")
    ann = person(of(project), "ann")
    assert ann.median_ms == 1_999.5
    assert (ann.fast.n, ann.fast.share) == (4, 0.5)


def test_a_revised_label_takes_its_longest_view_time(project: Project, record: Record) -> None:
    slow = record.say("ann", 1, "c", focused_ms=30_000)
    back = record.say("ann", 1, "", kind="retraction", supersedes=slow)
    record.say("ann", 1, "c", focused_ms=600, supersedes=back)
    first = record.say("ann", 2, "c", focused_ms=45_000)
    record.say("ann", 2, "i", focused_ms=900, supersedes=first)
    hasty = record.say("ann", 3, "c", focused_ms=700)
    record.say("ann", 3, "i", focused_ms=800, supersedes=hasty)
    record.say("bob", 1, "c", focused_ms=500)
    found = of(project)
    assert person(found, "ann").fast.n == 3
    assert person(found, "ann").fast.share == pytest.approx(1 / 3)
    assert person(found, "ann").median_ms == 30_000
    assert person(found, "bob").fast.share == 1
    assert sorted(figures.label_times(project.database.reader())) == [500, 800, 30_000, 45_000]


def test_the_type_task_is_on_questions(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("A1 A3 B1", "A1 A1 C1"), task="type")
    found = of(project, "type")
    assert (found.items, found.interval_by) == (3, "item")
    assert found.percent_agreement == pytest.approx(1 / 3)
    letters = of(project, "type", coarse=True)
    assert letters.coarse
    assert letters.percent_agreement == pytest.approx(2 / 3)
    assert letters.prevalence == pytest.approx({"A": 4 / 6, "B": 1 / 6, "C": 1 / 6})
    assert person(found, "ann").imported.share == pytest.approx(1 / 3)
    assert person(letters, "ann").imported.share == pytest.approx(2 / 3)
    assert found.ceiling == []
    assert of(project).items == 0


def test_groups_and_blocks_of_time_cover_the_items(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c i c i c i c i", "c i c c c i i i"))
    found = of(project, by="domain")
    assert [(group.group, group.items) for group in found.groups] == [("logic", 4), ("maths", 4)]
    assert [group.percent_agreement for group in found.groups] == [0.75, 0.75]
    (block,) = found.over_time
    assert (block.paired, block.percent_agreement) == (8, found.percent_agreement)
    assert block.group == "2025-03-01"


def test_ac1_of_a_group_includes_single_labels(project: Project, record: Record) -> None:
    """Gwet's chance agreement includes single labels: all of them in total, those of the group in a group."""
    record.table(("ann", "bob"), ("c . . . i i i i", "i . . . . . . ."))
    found = of(project, by="domain")
    maths = next(group for group in found.groups if group.group == "maths")
    assert (found.paired, maths.paired) == (1, 1)
    assert maths.gwet_ac1 == -1.0
    pe = 2 * 0.9 * 0.1
    assert found.gwet_ac1 == pytest.approx(-pe / (1 - pe))
    said = "AC1 estimates chance agreement from all labels of a group, including single ones."
    assert said in agreement_text(found)
    record.table(("bob",), (". . . . i i i i",))
    assert said not in agreement_text(of(project, by="domain"))


def test_time_blocks_follow_the_order_of_completion(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(60))
    record = Record(project)
    early = "2024-12-30T10:00:00Z"
    for subject in range(1, 61):
        late = subject <= 30
        record.say("ann", subject, "c", created_at=early)
        record.say("bob", subject, "i" if late else "c", created_at="2025-01-02T10:00:00Z" if late else early)
    first, second = of(project).over_time
    assert (first.percent_agreement, second.percent_agreement) == (1, 0)
    assert (first.group, second.group) == ("2024-12-30", "2025-01-02")


def test_a_pair_with_a_single_domain_is_reported(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), (". . . . c c c i c c", ". . . . c c c c c c"))
    record.table(("cy", "dee"), ("c i c i c", "c i c c c"))
    found = of(project)
    assert found.shared_by == "domain"
    shared = {pair.pair: pair.shared for pair in found.cohen_kappa}
    assert shared["ann", "bob"] == {"logic": 6}
    assert shared["cy", "dee"] == {"maths": 4, "logic": 1}
    (alone,) = found.confounded
    assert (alone.pair, alone.group, alone.n) == (("ann", "bob"), "logic", 6)
    assert "ann and bob share logic only (6 items)" in agreement_text(found)


def test_a_single_group_has_no_confounding(tmp_path: Path) -> None:
    project = make_project(tmp_path, [row | {"source": "s", "domain": "maths"} for row in numbered(12)])
    Record(project).table(("ann", "bob"), ("c " * 12, "c " * 12))
    found = of(project)
    assert (found.shared_by, found.confounded, found.cohen_kappa[0].shared) == (None, [], {})


def test_intervals_are_by_question_and_too_few_are_reported(tmp_path: Path) -> None:
    rows = [row | {"question_id": f"q{place // 2}"} for place, row in enumerate(numbered(40))]
    project = make_project(tmp_path, rows)
    record = Record(project)
    record.table(("ann", "bob"), ("c i " * 20, "c i c c i i c i " * 5))
    found = agreement(project, by="domain")
    assert (found.interval_by, found.differing, found.rarer) == ("question", 10, 20)
    for value, ends in (
        (found.krippendorff_alpha, found.alpha_ci),
        (found.gwet_ac1, found.ac1_ci),
        (found.fleiss_kappa, found.fleiss_ci),
        (found.cohen_kappa[0].kappa, found.cohen_kappa[0].ci),
        (found.groups[0].krippendorff_alpha, found.groups[0].alpha_ci),
    ):
        assert value is not None
        assert ends is not None
        assert ends[0] < value < ends[1]
    few = agreement(project, selection=Selection((parse_condition("question_id=q1"),)))
    assert few.krippendorff_alpha is not None
    assert few.alpha_ci is few.cohen_kappa[0].ci is None
    text = agreement_text(few)
    assert (
        "too few questions to say: people disagree in 1 (4 needed), people agree on a rarer label in 0 (4 needed), "
        "1 hold a rarer label (7 needed)\n"
    ) in text
    assert "  too few\n" in text.partition("pair")[2]


def test_only_insufficient_counts_are_named(tmp_path: Path) -> None:
    rows = [row | {"question_id": f"q{place}"} for place, row in enumerate(numbered(20))]
    project = make_project(tmp_path, rows)
    Record(project).table(("ann", "bob"), ("c i " * 10, "i i " + "c i " * 9))
    found = agreement(project)
    assert (found.differing, found.alike, found.rarer) == (1, 9, 10)
    assert "too few questions to say: people disagree in 1 (4 needed)\n" in agreement_text(found)


def test_agreement_on_one_item_is_reported_as_too_few(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c", "i"))
    said = agreement_sentence(of(project))
    assert said.startswith("Annotators agree on 0.0 % (too few questions for an interval) of 1 item with two labels, ")


def test_completions_of_a_question_are_one_cluster(project: Project, record: Record) -> None:
    """Both completions of two questions are disputed: that is two accidents, not four."""
    record.table(("ann", "bob"), ("c c c c c c c c c c c c", "i i i i c c c c c c c c"))
    expected = share_interval(np.arange(12) >= 4, np.arange(12) // 2)
    found = of(project)
    assert expected is not None
    assert found.percent_ci == pytest.approx(expected)
    assert expected[0] < wilson(8, 12)[0]


def test_annotator_shares_have_intervals_by_question(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c i c i c i i c i c i c", "c i c i c i c i c i c i"))
    for item in range(1, 13):
        record.say("bob", item, "c", kind="repeat")
    with project.database.write() as connection:
        connection.execute("UPDATE completions SET imported_gold = id % 2")
    found = of(project)
    ann, bob = person(found, "ann"), person(found, "bob")
    for share in (ann.with_others, ann.imported, bob.with_others):
        assert (share.n, share.share) == (12, 0.5)
        assert share.ci == pytest.approx(HALF_BY_QUESTION, abs=1e-6)
    # One of every question equals the first, the other doesn't: questions are all alike, and a design effect is 1.
    assert bob.repeats.share == 0.5
    assert bob.repeats.ci == found.repeats.ci == pytest.approx(wilson(6, 12, 2.570582), abs=1e-6)


def test_shares_by_rulings_have_intervals_by_question(project: Project, record: Record) -> None:
    record.table(("ann", "bob", "cy"), ("c i c i c i i c i c i c", *["c i c i c i c i c i c i"] * 2))
    for item in range(1, 13):
        record.say("dee", item, "c" if item % 2 else "i", kind="adjudication")
    ann = person(of(project), "ann")
    assert (ann.upheld.n, ann.upheld.share) == (12, 0.5)
    assert ann.upheld.ci == pytest.approx(HALF_BY_QUESTION, abs=1e-6)


@pytest.mark.parametrize(("items", "is_stated"), [(99, False), (100, True)])
def test_a_consensus_needs_100_items(tmp_path: Path, items: int, is_stated: bool) -> None:
    project = make_project(tmp_path, numbered(104))
    rightly = "c i " * (items // 2) + "c " * (items % 2)
    wrongly = "c i " * 25 + rightly[100:].translate(str.maketrans("ci", "ic"))
    Record(project).table(("ann", "bob", "cy"), (wrongly, rightly, rightly + "c c c c"))
    found = agreement(project)
    ann = person(found, "ann")
    assert (found.items, found.paired) == (items + 4, items), "items with one label only say nothing of a consensus"
    columns = agreement_text(found).partition("\nperson")[2].partition("\n")[0].split()
    assert ("consensus" in columns, "sens" in columns) == (is_stated, is_stated)
    if is_stated:
        assert (ann.consensus.n, ann.consensus.share) == (100, 0.5)
        assert ann.consensus.ci == pytest.approx(share_interval(np.arange(100) < 50, np.arange(100) // 2))
        assert ann.sensitivity is not None
    else:
        assert (ann.consensus.n, ann.consensus.share) == (0, None)
        assert ann.sensitivity is ann.specificity is None


def test_a_single_question_gives_no_interval(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c c", "c i"))
    found = of(project)
    share = person(found, "ann").with_others
    assert (share.n, share.share, share.ci, found.percent_ci) == (2, 0.5, None, None)
    assert "too few questions to say" in agreement_text(found)
    assert "Wilson by question" not in agreement_text(found)


def test_the_ceiling_follows_from_agreement(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c i c i c i c i c i", "c i c i c i c i c c"))
    (found,) = of(project).ceiling
    assert found.source == "agreement"
    assert found.annotator_accuracy == pytest.approx((1 + 0.8**0.5) / 2)
    assert found.highest_accuracy == pytest.approx(1 - found.wrong)
    assert found.highest_ci[0] < found.highest_accuracy < found.highest_ci[1]
    said = " ".join(agreement_text(of(project)).split())
    assert "annotators' gold (9 agreed, 0 adjudicated; 1 open conflict left out; without imported labels)" in said
    assert "no verifier can" not in said
    assert found.gold == GoldLabels(agreed=9, adjudicated=0, in_conflict=1)
    miss = (1 - 0.8**0.5) / 2
    assert found.wrong == pytest.approx(miss**2 / (miss**2 + (1 - miss) ** 2))
    record.say("cy", 10, "i", kind="adjudication")
    (settled,) = of(project).ceiling
    assert settled.gold == GoldLabels(agreed=9, adjudicated=1, in_conflict=0)
    assert settled.wrong > found.wrong


def test_agreement_below_one_half_has_no_ceiling(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("c c c", "i i c"))
    assert of(project).ceiling == []


def test_invalid_options_are_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="model"):
        agreement(project, by="model")
    with pytest.raises(UsageError, match="--task type"):
        agreement(project, coarse=True)


@pytest.mark.parametrize("cy", ["c i c i c i c i", "c i c i c i c c", "i c i c c i c i", "i c i c i c i c"])
def test_the_text_rates_no_metric(project: Project, record: Record, cy: str) -> None:
    record.table(("ann", "bob", "cy"), ("c i c i c i c i", "c i c i c i c i", cy))
    found = agreement(project, by="domain")
    # "Perfect" describes the verifier of the ceiling, not a metric.
    text = " ".join(f"{agreement_text(found)} {agreement_sentence(found)}".lower().split())
    text = text.replace("a perfect verifier would", "")
    adjectives = ("good", "poor", "fair", "moderate", "substantial", "perfect", "excellent", "slight", "strong", "weak")
    assert not [word for word in (*adjectives, "sound", "high agreement", "low agreement") if word in text]


def test_names_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [{"item": 1, "annotator": who, "value": "\x1b[31m\u202e"} for who in ("[bold]a[/]", "b\u202eb\x1b[2J")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = agreement_text(agreement_of_file(path, "nominal")[0])
    assert "[bold]a[/]" in text
    assert not {"\u202e", "\x1b"} & set(text)


# -- the items behind a pair -----------------------------------------------------------------------


def test_the_items_of_a_pair_are_those_its_cell_counts(project: Project, record: Record) -> None:
    record.table(("ann", "bob", "cy"), ("c i c i .", "c c c u i", "i i i i i"))
    found = pair_items(project, "correctness", "ann", "bob")
    assert (found.differing.tolist(), found.same.tolist()) == ([2, 4], [1, 3])
    rows = found.rows([4, 1])
    assert [(row.item.completion_id, row.a, row.b) for row in rows] == [
        ("c3", "incorrect", "unsuitable"),
        ("c0", "correct", "correct"),
    ]
    (pair,) = [pair for pair in of(project).cohen_kappa if pair.pair == ("ann", "bob")]
    assert (pair.n, round(pair.n * (1 - pair.agreement))) == (4, 2)


def test_the_items_of_a_pair_on_types_show_a_completion_of_the_question(project: Project, record: Record) -> None:
    record.table(("ann", "bob"), ("A1 A3 B1", "A1 A1 C1"), task="type")
    found = pair_items(project, "type", "ann", "bob")
    assert found.differing.tolist() == [3, 5]
    assert pair_items(project, "type", "ann", "bob", coarse=True).differing.tolist() == [5]


def test_items_of_an_unknown_pair_are_rejected(project: Project, record: Record) -> None:
    record.table(("ann",), ("c",))
    with pytest.raises(UsageError, match="'bob'"):
        pair_items(project, "correctness", "ann", "bob")


# -- files -----------------------------------------------------------------------------------------


def test_a_file_of_two_categories_has_a_ceiling(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [f'{{"item": {item}, "annotator": "{who}", "value": {item % 2}}}' for item in range(10) for who in "ab"]
    path.write_text("\n".join(lines) + "\nbad\n")
    report, refused = agreement_of_file(path, "nominal")
    assert [line.line for line in refused] == [21]
    assert (report.items, report.annotators, report.task, report.refused) == (10, 2, None, 1)
    assert report.percent_agreement == report.krippendorff_alpha == report.cohen_kappa[0].kappa == 1
    assert report.alpha_ci is report.cohen_kappa[0].ci is None
    assert report.percent_ci == pytest.approx((0.025**0.1, 1))
    assert [ceiling.source for ceiling in report.ceiling] == ["agreement"]


def test_a_file_without_a_rating_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("bad\n")
    with pytest.raises(FormatError, match="no rating"):
        agreement_of_file(path, "nominal")


def test_too_many_ratios_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f'{{"item": {n}, "annotator": "a", "value": {n}}}\n' for n in range(1_001)))
    with pytest.raises(UsageError, match="1,000 distinct"):
        agreement_of_file(path, "ratio")
