"""The briefing of a project: each kind of open matter appears exactly when it applies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.coding import make_code_project
from tests.helpers import add_items, make_project, numbered
from tests.tui.solved import CLIP
from tests.tui.stage import add_run
from tests.unit.labelling.conflicting import disputed, label_all, project_of, put
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.config.settings import AnnotationPolicy
from workbench.core.database.values import timestamp_of
from workbench.core.files import cache_folder
from workbench.core.project import Project, open_project
from workbench.core.run import RunState
from workbench.core.selection import Selection, parse_condition
from workbench.core.status import Matter
from workbench.core.verdict import Outcome, Verdict
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.checks import add_checks
from workbench.measuring import briefing
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import conclusion
from workbench.measuring.briefing import KINDS, briefed, sort_matters
from workbench.measuring.reviewing.queues import queue
from workbench.measuring.reviewing.triage import weakest_cell
from workbench.runs.store import runs, verdicts


def sentences(project: Project) -> dict[str, str]:
    """Map the kind of each matter to its sentence, in the order of the briefing."""
    return {matter.kind: matter.sentence for matter in briefed(project).briefing}


def of_kind(project: Project, kind: str) -> Matter:
    (found,) = (matter for matter in briefed(project).briefing if matter.kind == kind)
    return found


def judge(project: Project, name: str, outcomes: Mapping[int, Outcome]) -> int:
    """A complete run with these verdicts, by row id of the item."""
    found = [(item, Verdict(outcome=outcome, reason="rule")) for item, outcome in outcomes.items()]
    return add_complete_run(project, name, found, kind="exact")


def right_outcomes(project: Project, but: Mapping[int, Outcome] | None = None) -> dict[int, Outcome]:
    """Return the outcomes that agree with gold, except for those in `but`."""
    rows = project.database.reader().execute("SELECT id, imported_gold FROM completions")
    return {item: Outcome.CORRECT if gold else Outcome.INCORRECT for item, gold in rows} | dict(but or {})


def add_stopped_run(project: Project, state: RunState, message: str | None) -> int:
    """Add an unfinished run of ``rules`` that has judged 2 of 6 items."""
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name="rules", kind="rules", options={}, config={}, config_hash="rules")
        run = runs.add(connection, verifier, "1")
        runs.queue(connection, run, Selection(), 6, 1)
        verdicts.put(connection, run, [(item, Verdict(outcome=Outcome.CORRECT)) for item in (1, 2)])
        runs.end_run(connection, run, state, message)
    return run


def flag(project: Project, name: str, asked: str) -> None:
    session = AnnotationSession(project, name)
    item = session.next()
    assert item is not None
    session.flag(item, True, asked)
    session.close()


def test_an_empty_project_suggests_an_import(tmp_path: Path) -> None:
    assert sentences(make_project(tmp_path)) == {
        "import": "Nothing is here yet: begin with a file of questions, references and completions."
    }


def test_questions_without_completions_suggest_sampling(tmp_path: Path) -> None:
    pool = tmp_path / "pool.csv"
    pool.write_text("question,answer\nHow many?,12\n")
    project = make_project(tmp_path)
    import_files(project, plan_import([pool]))
    assert sentences(project) == {"import": "1 question without completions waits: a pool to curate and to draw from."}


def test_items_without_a_verifier_suggest_a_run(tmp_path: Path) -> None:
    matter = of_kind(make_project(tmp_path, numbered(6)), "verify")
    assert matter.sentence.startswith("No verifier has judged the 6 items yet")
    assert (matter.screen, matter.command) == ("runs", "workbench verify DB rules")


def test_items_without_gold_suggest_annotators(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6, gold=None))
    judge(project, "rules", dict.fromkeys(range(1, 7), Outcome.CORRECT))
    assert sentences(project) == {"label": "No item has gold, so there are no metrics: let people label some."}
    people.assign(project, ["amira", "ben"], per_item=2)
    assert sentences(project)["label"] == "No item has gold, so there are no metrics until people have labelled some."
    matter = of_kind(project, "label")
    assert (matter.screen, matter.command) == ("annotate", ""), "people are named already: they begin"


def test_a_project_without_open_matters_has_a_message(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    judge(project, "rules", right_outcomes(project))
    assert list(sentences(project)) == ["nothing"]


@pytest.mark.parametrize(
    ("state", "message", "sentence"),
    [
        ("failed", "No such model.", "rules (run 1) failed after 2 of 6 items: No such model."),
        ("paused", "The server asks for money.", "stopped by itself after 2 of 6 items: The server asks for money."),
        ("paused", None, "rules (run 1) is paused after 2 of 6 items."),
        ("running", None, "rules (run 1) has lost its process after 2 of 6 items."),
    ],
)
def test_a_stopped_run_shows_its_reason(tmp_path: Path, state: RunState, message: str | None, sentence: str) -> None:
    project = make_project(tmp_path, numbered(6))
    run = add_stopped_run(project, state, message)
    matter = of_kind(project, "stopped-run")
    assert sentence in matter.sentence
    assert (matter.screen, matter.about) == ("runs", {"run": run, "verifier": "rules"})
    assert matter.command == f"workbench runs DB resume {run}"


def test_a_cancelled_or_replaced_run_is_not_open(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    add_stopped_run(project, "cancelled", None)
    assert "stopped-run" not in sentences(project)
    with project.database.write() as connection:
        runs.end_run(connection, 1, "failed", "gone")
        newer = runs.add(connection, 1, "2")
        runs.queue(connection, newer, Selection(), 6, 1)
        runs.complete(connection, newer, 6)
    assert "stopped-run" not in sentences(project)


def test_conflicts_name_their_possible_adjudicators(tmp_path: Path) -> None:
    project = disputed(tmp_path, 3)
    matter = of_kind(project, "conflicts")
    assert matter.sentence == "3 conflicts wait for chen to adjudicate."
    assert (matter.screen, matter.about) == ("conflicts", {"person": "chen"})
    people.pause(project, "chen", "on holiday")
    found = sentences(project)
    assert "conflicts" not in found
    assert "it takes a third person" in found["nobodys-conflicts"]


def test_each_adjudicator_has_their_number_of_conflicts(tmp_path: Path) -> None:
    project = disputed(tmp_path, 3)
    people.add_annotators(project, ["dora"])
    assert of_kind(project, "conflicts").sentence == "3 conflicts wait for chen or dora to adjudicate."
    put(project, "dora", 1, "correct")
    matter = of_kind(project, "conflicts")
    assert matter.sentence == "3 conflicts wait for chen to adjudicate, 2 for dora; some may be the same."
    assert matter.about == {}, "the person is asked"


def test_flags_wait_for_an_answer(tmp_path: Path) -> None:
    project = project_of(tmp_path, 4)
    people.assign(project, ["amira", "ben"], per_item=2)
    assert "flags" not in sentences(project)
    flag(project, "amira", "Is\n2+2   a sum?")
    flag(project, "ben", "")
    found = sentences(project)["flags"]
    assert found.startswith("2 flags of amira and ben wait for your answer, since 20")
    assert found.endswith("; the first asks: “Is 2+2 a sum?”.")


def test_paused_annotators_are_named_with_the_reason(tmp_path: Path) -> None:
    project = project_of(tmp_path, 12)
    checks = Selection(tuple(parse_condition(f"completion_id!=c{one}") for one in (0, 1)))
    assert add_checks(project, checks).added == 10
    people.assign(project, ["amira", "ben"], per_item=2)
    assert "paused" not in sentences(project)
    session = AnnotationSession(project, "ben", policy=AnnotationPolicy(check_rate=1, check_minimum=3))
    while item := session.next():
        session.submit(item, Answer(verdict="unsuitable", reason="proof"))
    session.close()
    matter = of_kind(project, "paused")
    assert matter.sentence.startswith("ben is paused and gets no items: 0 of ")
    assert matter.about == {"person": "ben"}
    assert matter.command == "workbench annotators DB resume ben"
    people.resume(project, "ben")
    assert "paused" not in sentences(project)


def test_failed_items_are_reported_with_their_effect_on_accuracy(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    run = judge(project, "judge", right_outcomes(project, {1: Outcome.ERROR, 2: Outcome.ERROR}))
    judge(project, "rules", right_outcomes(project))
    matter = of_kind(project, "failures")
    assert matter.sentence.startswith("judge failed on 2 of 6 items (33.3 %), which count as “incorrect”")
    assert matter.about == {"run": run, "verifier": "judge"}
    judge(project, "another", right_outcomes(project, {1: Outcome.ERROR}))
    assert of_kind(project, "failures").sentence.endswith("in its accuracy; another failed, too.")


def test_a_judge_that_failed_on_all_items_has_no_accuracy(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    judge(project, "judge", dict.fromkeys(range(1, 7), Outcome.ERROR))
    found = sentences(project)
    assert found["failures"] == "judge failed on 6 of 6 items, so that it has no metrics."
    assert "weakest-cell" not in found


def test_suspect_labels_are_counted(tmp_path: Path) -> None:
    rows = [{**row, "question_id": f"q{number}"} for number, row in enumerate(numbered(80))]
    project = make_project(tmp_path, rows)
    true = right_outcomes(project)
    judge(project, "rules", true)
    assert "suspect-labels" not in sentences(project)
    with project.database.write() as connection:
        connection.execute("UPDATE completions SET imported_gold = 1 - imported_gold WHERE id IN (3, 8)")
        connection.execute("INSERT INTO changes (first_id, last_id) VALUES (3, 8)")
    assert "suspect-labels" not in sentences(project), "one verifier alone may be the one that is wrong"
    judge(project, "exact", true)
    matter = of_kind(project, "suspect-labels")
    assert (
        matter.sentence
        == "2 labels may be wrong: most items with the same verdicts of rules and exact have the other label."
    )
    assert (matter.screen, matter.about) == ("disagreements", {"queue": "suspect-gold"})
    assert len(queue(project, "suspect-gold", hide_reviewed=True)) == matter.size


def test_code_begins_with_the_tests(tmp_path: Path) -> None:
    solutions = {"own/clip": [{"completion": "def clip(x):\n    return x\n"}]}
    assert "rules needs no model server" in of_kind(make_project(tmp_path, numbered(2)), "verify").sentence
    other = tmp_path / "code"
    other.mkdir()
    matter = of_kind(make_code_project(other, solutions, CLIP), "verify")
    assert matter.sentence.endswith("1 item yet: start one; execution runs solutions against their tests.")
    assert matter.command == "workbench verify DB execution"


def test_a_capped_number_of_suspects_is_reported_as_capped(tmp_path: Path) -> None:
    rows = [{**row, "question_id": f"q{number}"} for number, row in enumerate(numbered(80))]
    project = make_project(tmp_path, rows)
    others = dict.fromkeys(range(1, 25, 2), Outcome.INCORRECT)
    for name, wrong in (("rules", {}), ("exact", others)):
        judge(project, name, right_outcomes(project, wrong))
    with project.database.write() as connection:
        connection.execute("UPDATE completions SET imported_gold = 1 - imported_gold WHERE id IN (1, 3, 40, 51)")
        connection.execute("INSERT INTO changes (first_id, last_id) VALUES (1, 51)")
    matter = of_kind(project, "suspect-labels")
    every = len(queue(project, "suspect-gold", hide_reviewed=True))
    assert every > matter.size
    assert matter.sentence.endswith(f" {every - matter.size} more are less suspect.")


@pytest.mark.parametrize(
    ("kind", "differ", "words"),
    [
        ("no-conclusion", 10, ": these labels support no conclusions yet."),
        ("agreement", 3, ": these labels support tentative conclusions."),
        ("agreement", 0, ": these labels support conclusions."),
    ],
)
def test_agreement_is_described_in_words(tmp_path: Path, kind: str, differ: int, words: str) -> None:
    project = project_of(tmp_path, 24)
    for item in range(1, 25):
        put(project, "amira", item, "correct" if item % 2 else "incorrect")
        put(project, "ben", item, "correct" if item % 2 and item > 2 * differ else "incorrect")
    found = of_kind(project, kind).sentence
    assert words in found
    assert "of 24 items with two labels, alpha " in found
    assert "]" in found, "with its interval"


def test_undefined_agreement_is_reported_as_undefined(tmp_path: Path) -> None:
    project = project_of(tmp_path, 4)
    for item in range(1, 5):
        for name in ("amira", "ben"):
            put(project, name, item, "correct")
    assert "alpha is not defined: all labels are equal, " in sentences(project)["agreement"]


def test_labels_of_a_single_annotator_have_no_agreement(tmp_path: Path) -> None:
    project = project_of(tmp_path, 4)
    put(project, "amira", 1, "correct")
    assert not {"agreement", "no-conclusion"} & set(sentences(project))


def make_typed_project(folder: Path) -> Project:
    """Make 40 items of A1, 40 of C1 and 2 of D2, each with its own question."""
    project = make_project(folder)
    for subtype, count in (("A1", 40), ("C1", 40), ("D2", 2)):
        rows = numbered(count, subtype=subtype)
        add_items(
            project.database,
            [
                {**row, "question_id": f"{subtype}-{number}", "completion_id": f"{subtype}-{number}"}
                for number, row in enumerate(rows)
            ],
        )
    return project


def test_the_weakest_cell_is_significant_and_of_the_best_verifier(tmp_path: Path) -> None:
    project = make_typed_project(tmp_path)
    wrong = dict.fromkeys(range(41, 81, 2), Outcome.ABSTAIN)
    judge(project, "rules", right_outcomes(project, {**wrong, 82: Outcome.CORRECT}))
    judge(project, "exact", dict.fromkeys(range(1, 83), Outcome.INCORRECT))
    matter = of_kind(project, "weakest-cell")
    assert matter.sentence.startswith(
        "rules, the most accurate, is weakest on subtype C1 - Single Choice (1 other cell as low): right on 50.0 % ["
    )
    assert matter.sentence.endswith("] of 40 items, over all on 74.4 %."), "one of two on D2 is as low, maybe by chance"
    assert matter.about == {"verifier": "rules", "by": "subtype", "group": "C1"}
    assert matter.screen == "accuracy"


def test_the_weakest_cell_is_of_a_verifier_with_errors(tmp_path: Path) -> None:
    project = make_typed_project(tmp_path)
    judge(project, "rules", right_outcomes(project))
    assert "weakest-cell" not in sentences(project)
    judge(project, "exact", right_outcomes(project, dict.fromkeys(range(41, 61), Outcome.INCORRECT)))
    matter = of_kind(project, "weakest-cell")
    assert matter.sentence.startswith("exact is weakest on subtype C1 - Single Choice: right on ")
    assert matter.about == {"verifier": "exact", "by": "subtype", "group": "C1"}
    assert weakest_cell(project).verifiers == ("exact",)


def test_too_few_questions_for_a_weakest_cell_are_reported(tmp_path: Path) -> None:
    project = make_project(
        tmp_path,
        [
            {**row, "question_id": row["completion_id"], "subtype": name}
            for row, name in zip(numbered(2), ("A1", "B1"), strict=True)
        ],
    )
    judge(project, "rules", {1: Outcome.CORRECT, 2: Outcome.CORRECT})
    matter = of_kind(project, "weakest-cell")
    assert matter.sentence == "On which subtype rules is weakest: too few questions to say."
    assert matter.about == {"verifier": "rules", "by": "subtype"}
    assert conclusion(accuracy(project, by="subtype"))[-1] == "Where rules is weakest: too few questions to say."
    assert weakest_cell(project).verifiers == ("rules",)


def test_a_missing_interval_is_explained_in_words(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    judge(project, "rules", {1: Outcome.CORRECT, 2: Outcome.CORRECT})
    assert (
        conclusion(accuracy(project))[0] == "rules is right on 50.0 % of 2 items (too few questions for an interval)."
    )
    judge(project, "exact", {1: Outcome.CORRECT, 2: Outcome.INCORRECT})
    assert conclusion(accuracy(project))[0] == (
        "exact is the most accurate: right on all 2 items (too few questions for an interval)."
    )


def test_untyped_items_have_no_weakest_cell(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    judge(project, "rules", dict.fromkeys(range(1, 7), Outcome.CORRECT))
    assert "weakest-cell" not in sentences(project)


def test_a_baseline_is_not_the_best_verifier(tmp_path: Path) -> None:
    project = make_typed_project(tmp_path)
    judge(project, "always-incorrect", dict.fromkeys(range(1, 83), Outcome.INCORRECT))
    assert not {"weakest-cell", "suspect-labels"} & set(sentences(project))


def test_progress_has_a_forecast_from_the_pace_of_the_last_week(tmp_path: Path) -> None:
    project = project_of(tmp_path, 10)
    people.assign(project, ["amira", "ben"], per_item=2)
    assert sentences(project)["progress"] == (
        "0 of 20 labels that were asked for are there; no one has labelled yet, so the end can't be forecast."
    )
    label_all(project, "amira", Answer(verdict="correct"))
    assert sentences(project)["progress"] == (
        "10 of 20 labels that were asked for are there; labels have been given for less than a day, so the end can't "
        "be forecast."
    )
    label_all(project, "ben", Answer(verdict="correct"))
    assert "progress" not in sentences(project)


def test_matters_are_sorted_by_urgency(tmp_path: Path) -> None:
    project = disputed(tmp_path, 6, subtype="A1")
    add_items(project.database, numbered(6, subtype="B1", dataset="more"))
    add_items(project.database, numbered(6, subtype="C1", dataset="others"))
    judge(project, "judge", {**right_outcomes(project), 7: Outcome.ERROR})
    add_stopped_run(project, "failed", "gone")
    people.assign(project, ["dora"], per_item=1, selection=Selection())
    order = list(sentences(project))
    assert order == sorted(order, key=list(KINDS).index)
    assert order[:2] == ["stopped-run", "conflicts"]
    assert {"failures", "no-conclusion", "weakest-cell", "progress"} <= set(order)


def test_matters_of_one_kind_are_sorted_by_size() -> None:
    small, large = (Matter(kind="failures", sentence=str(size), size=size) for size in (1, 12))
    first = Matter(kind="flags", sentence="flags", size=1)
    assert sort_matters([small, large, first]) == [first, large, small]


def test_every_kind_has_its_name(tmp_path: Path) -> None:
    project = disputed(tmp_path, 6)
    add_stopped_run(project, "failed", "gone")
    kinds = {matter.kind for matter in briefed(project).briefing}
    assert kinds <= KINDS.keys()


def test_untrusted_names_and_messages_are_short_single_lines(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    add_stopped_run(project, "failed", "a\nb\t" + "[bold]x[/] " * 4_000)
    found = sentences(project)["stopped-run"]
    assert "\n" not in found
    assert len(found) < 250


def test_a_forecast_averages_over_days(tmp_path: Path) -> None:
    project = project_of(tmp_path, 40)
    people.assign(project, ["amira"], per_item=1)
    at = timestamp_of((datetime.now(UTC) - timedelta(days=4)).timestamp())
    for item in range(1, 9):
        put(project, "amira", item, "correct", at=at)
    assert "at 2 labels a day" in sentences(project)["progress"]


def test_one_of_two_as_accurate_is_not_called_the_most_accurate(tmp_path: Path) -> None:
    rows = [{**row, "gold": True, "subtype": f"A{1 + number // 20}"} for number, row in enumerate(numbered(60))]
    project = make_project(tmp_path, rows)
    for name, wrong in (("first", range(1, 11)), ("second", range(21, 31)), ("third", range(5, 30))):
        add_run(project, name, {n: Outcome.INCORRECT if n in wrong else Outcome.CORRECT for n in range(1, 61)})
    (sentence,) = [matter.sentence for matter in briefed(project).briefing if matter.kind == "weakest-cell"]
    assert ", one of the most accurate, is weak" in sentence


def test_an_insignificant_cell_is_not_the_weakest(tmp_path: Path) -> None:
    rows = [{**row, "gold": True, "subtype": f"A{1 + number // 6}"} for number, row in enumerate(numbered(18))]
    project = make_project(tmp_path, rows)
    add_run(project, "good", dict.fromkeys(range(1, 18), Outcome.CORRECT) | {18: Outcome.INCORRECT})
    add_run(project, "poor", {n: Outcome.CORRECT if n % 2 else Outcome.INCORRECT for n in range(1, 19)})
    (sentence,) = [matter.sentence for matter in briefed(project).briefing if matter.kind == "weakest-cell"]
    assert sentence.startswith("poor is the least accurate: right on 50.0 %")
    assert "good, the most accurate, is significantly below average on no subtype" in sentence
    assert "is weakest" not in sentence


def age(project: Project) -> None:
    """Make the database's files older than what may still be changing."""
    for end in ("", "-wal"):
        path = project.path.with_name(project.path.name + end)
        if path.exists():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 60))


def test_metrics_are_recomputed_only_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path, numbered(6))
    judge(project, "strict", right_outcomes(project, {1: Outcome.INCORRECT}))
    age(project)
    before, computed = sentences(project), list[bool]()
    find = briefing.matters

    def counting(facts: briefing.ProjectFacts, *, late: bool) -> list[Matter]:
        computed.append(late)
        return find(facts, late=late)

    monkeypatch.setattr(briefing, "matters", counting)
    assert sentences(project) == before
    assert computed == [False]
    judge(project, "loose", right_outcomes(project, {1: Outcome.ERROR}))
    assert "loose failed on 1" in sentences(project)["failures"]
    age(project)
    assert "failures" in sentences(project)
    assert computed == [False, *[False, True] * 2]


def test_a_write_to_the_log_behind_a_link_or_to_the_settings_is_a_change(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(project.path)
    linked, states = open_project(link), list[str]()
    states.append(aged_state(linked, project))
    judge(project, "strict", right_outcomes(project, {1: Outcome.INCORRECT}))
    states.append(aged_state(linked, project))
    (link.parent / "workbench.toml").write_text('protocol = "wrong"\n')
    os.utime(link.parent / "workbench.toml", (1, 1))
    states.append(aged_state(linked, project))
    assert len({*states} - {""}) == 3


def aged_state(linked: Project, project: Project) -> str:
    age(project)
    return briefing.state_of(linked)


def test_a_damaged_briefing_cache_is_ignored(tmp_path: Path) -> None:
    project = disputed(tmp_path, 6)
    age(project)
    before = sentences(project)
    (path,) = cache_folder(project.path).glob("briefing.json")
    path.write_bytes(b"{")
    assert sentences(project) == before
    assert path.stat().st_size > 1
