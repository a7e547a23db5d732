"""The review queues: their items, order and reasons."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import add_items, make_project, numbered
from tests.unit.measuring.reviewing.desk import add_run, label, voted
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.measuring.records.review import QUEUES, Disagreement, Queue
from workbench.measuring.reviewing.deciding import confirm
from workbench.measuring.reviewing.queues import question_end, queue
from workbench.runs.store import verdicts


def rows(project: Project, name: Queue, **options: Any) -> dict[str, Disagreement]:
    """The whole queue in order, by completion id."""
    found = queue(project, name, **options)
    return {row.completion_id: row for row in found.rows(found.ids)}


def test_a_verdict_against_gold_names_both_verdicts(tmp_path: Path) -> None:
    project = voted(tmp_path, "+++", "++?", "---", gold="+--", names=["rules", "math-verify", "exact"])
    found = rows(project, "verifier-gold")
    assert list(found) == ["c1"]
    row = found["c1"]
    assert row.why == "rules and math-verify say correct, exact abstains; gold says incorrect (imported)."
    assert [(vote.verifier, vote.run, vote.verdict) for vote in row.votes] == [
        ("rules", 1, "correct"),
        ("math-verify", 2, "correct"),
        ("exact", 3, "abstain"),
    ]
    assert (row.gold, row.question_id, row.dataset, row.type, row.subtype) == ("incorrect", "q0", "sample", None, None)


def test_the_reason_names_the_source_of_gold(tmp_path: Path) -> None:
    project = voted(tmp_path, "+", "+", gold="..")
    label(project, 1, {"ann": "incorrect", "ben": "incorrect"})
    assert rows(project, "verifier-gold")["c0"].why == "a says correct; gold says incorrect (agreed by 2 people)."


def test_many_verifiers_are_counted_instead_of_named(tmp_path: Path) -> None:
    project = voted(tmp_path, "++++++", gold="-")
    assert rows(project, "verifier-gold")["c0"].why.startswith("a, b, c and 3 more say correct;")


def test_a_baseline_is_included_only_by_name(tmp_path: Path) -> None:
    project = voted(tmp_path, "+-", "+-", gold="++", names=["rules", "always-incorrect"])
    assert rows(project, "verifier-gold") == {}
    assert len(rows(project, "verifier-gold", verifiers=("rules", "always-incorrect"))) == 2


def test_two_against_three_is_found_and_the_other_splits_are_counted(tmp_path: Path) -> None:
    project = voted(tmp_path, "++---", "+++++", "++--?", "-----", "+----", "++-!-")
    found = queue(project, "split")
    assert [row.completion_id for row in found.rows(found.ids)] == ["c0"]
    assert "5:0 2, 4:1 1, 3:2 1; not fully voted 2" in found.text
    assert len(queue(project, "split", k=1)) == 1
    assert list(queue(project, "split", k=4).ids) == list(queue(project, "split", k=1).ids)


@pytest.mark.parametrize("k", [0, 5, -1])
def test_an_invalid_minority_is_rejected(tmp_path: Path, k: int) -> None:
    with pytest.raises(UsageError, match="can't be a minority"):
        queue(voted(tmp_path, "++---"), "split", k=k)


def test_the_split_text_counts_the_verifiers_of_the_project(tmp_path: Path) -> None:
    assert queue(voted(tmp_path, "+-"), "split").text.startswith("1 against 1 of a (run 1), b (run 2).")
    assert not any(sign.isdigit() for sign in QUEUES["split"])


@pytest.mark.parametrize("name", ["split", "verifiers"])
def test_a_single_verifier_has_no_disagreements(tmp_path: Path, name: Queue) -> None:
    with pytest.raises(UsageError, match="can't disagree with another"):
        queue(voted(tmp_path, "+"), name)


@pytest.mark.parametrize("name", [name for name in QUEUES if name != "annotators"])
def test_without_verdicts_there_are_no_disagreements(tmp_path: Path, name: Queue) -> None:
    with pytest.raises(UsageError, match="No verifier has a complete run yet"):
        queue(make_project(tmp_path, numbered(2)), name)


def test_incompatible_options_are_rejected(tmp_path: Path) -> None:
    project = voted(tmp_path, "+-")
    with pytest.raises(UsageError, match="only applies to the queue split"):
        queue(project, "verifiers", k=1)
    with pytest.raises(UsageError, match="There is no queue"):
        queue(project, "nonsense")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="No complete run of 'nobody'"):
        queue(project, "verifiers", verifiers=("nobody",))


def test_equal_answers_labelled_incorrect_come_first(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"completion_id": f"c{number}", "gold": number in (2, 4)} for number in range(5)])
    said = [
        (Outcome.CORRECT, "letter", "choice.letter", "B", "B"),
        (Outcome.CORRECT, "text_equal", "text.exact", "x = 1", "x\n=  1"),
        (Outcome.INCORRECT, "letter", "choice.letter", "A", "C"),
        (Outcome.CORRECT, "text_equal", "text.contained", "1", "it is 1"),
        (Outcome.INCORRECT, "letter", "choice.none", "A", "none"),
    ]
    found = [
        (item, Verdict(outcome=outcome, reason=reason, rule=rule, reference_final=reference, candidate_final=candidate))
        for item, (outcome, reason, rule, reference, candidate) in enumerate(said, 1)
    ]
    add_complete_run(project, "rules", found, kind="rules")
    listed = rows(project, "exact-label")
    assert {key: row.score for key, row in listed.items()} == {"c1": 3.0, "c0": 2.0, "c2": 1.0}
    assert listed["c1"].why == (
        "Both final answers are the same text (rules: “x = 1” and “x = 1”); gold says incorrect (imported)."
    )
    assert listed["c2"].why.startswith("They choose different options (rules: “A” and “C”); gold says correct")


def test_equal_answers_need_a_verifier_that_compares_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="extracts final answers"):
        queue(voted(tmp_path, "+"), "exact-label")


def test_a_label_that_the_verifiers_make_improbable_is_suspect(tmp_path: Path) -> None:
    chance = random.Random(1)
    gold = "".join(chance.choice("+-") for _ in range(60))
    items = [sign * 3 for sign in gold]
    # Item 7 has the wrong label: all three see it; on item 20 one of them is mistaken.
    items[20] = gold[20] * 2 + ("-" if gold[20] == "+" else "+")
    flipped = gold[:7] + ("-" if gold[7] == "+" else "+") + gold[8:]
    found = rows(voted(tmp_path, *items, gold=flipped), "suspect-gold")
    assert next(iter(found)) == "c7"
    assert found["c7"].score > 0.5
    assert "wrong with probability 1.00 (Dawid–Skene)" in found["c7"].why


def test_joint_verifier_errors_make_no_right_label_suspect(tmp_path: Path) -> None:
    """All labels are right; one time in twelve all three verifiers are mistaken at once."""
    chance = random.Random(2)
    gold = "".join(chance.choice("+-") for _ in range(240))
    other = {"+": "-", "-": "+"}
    items = [(other[sign] if number % 12 == 5 else sign) * 3 for number, sign in enumerate(gold)]
    project = voted(tmp_path, *items, gold=gold)
    shown = queue(project, "suspect-gold")
    found = rows(project, "suspect-gold")
    assert len(found) == 20
    assert min(row.score for row in found.values()) > 0.85
    assert "no probability of a wrong label" in shown.text
    for row in found.values():
        share = f"Of items judged like it, about {100 * row.score:.0f} % have the other label. "
        said, _, model = row.why.partition(share)
        assert "wrong" not in said
        assert model.startswith("If verifiers and gold erred independently of each other, this label would be wrong")


def test_a_single_verifier_gives_no_probability_of_a_wrong_label(tmp_path: Path) -> None:
    gold = "+-" * 30
    found = rows(voted(tmp_path, *gold, gold="-" + gold[1:]), "suspect-gold")
    share = f"Of items judged like it, about {100 * found['c0'].score:.0f} % have the other label."
    assert found["c0"].why == f"a says correct; gold says incorrect (imported). {share}"


def test_verifiers_that_agree_with_a_label_never_make_it_suspect(tmp_path: Path) -> None:
    """Few labels are alike, so that a model doubts them all the same."""
    gold = "-" * 3 + "+" * 57
    project = voted(tmp_path, *[sign * 2 for sign in gold[:50]], *["+-"] * 10, gold=gold)
    found = rows(project, "suspect-gold")
    assert not found.keys() & {f"c{number}" for number in range(50)}


def test_a_handful_of_questions_makes_no_label_suspect(tmp_path: Path) -> None:
    project = voted(tmp_path, *["+"] * 20, *["-"] * 18, gold="-" + "+" * 19 + "-" * 18)
    found = queue(project, "suspect-gold")
    assert not len(found)
    assert found.text.startswith("Labels (final) of 19 questions: too few for a model")
    assert rows(project, "verifier-gold").keys() == {"c0"}


def test_only_items_with_a_verdict_are_suspect(tmp_path: Path) -> None:
    found = rows(voted(tmp_path, *["+"] * 9, *["-"] * 20, ".", gold="+" * 9 + "-" * 20 + "+"), "suspect-gold")
    assert "c29" not in found


def test_a_verifier_that_contradicts_itself_between_runs_flips(tmp_path: Path) -> None:
    project = voted(tmp_path, "+", "-", "+", "?")
    add_run_again(project, "a", "++?+")
    found = queue(project, "flips")
    assert [row.completion_id for row in found.rows(found.ids)] == ["c1"]
    assert found.rows(found.ids)[0].why.startswith("a differs between run 1 and run 2;")
    assert "a 1 of 2 (50.0%) from run 1 to run 2" in found.text


def test_samples_flip_independently_of_the_item_verdict(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(3))
    run = add_complete_run(project, "judge", [], kind="judge")
    outcomes = {1: "+++-", 2: "---?", 3: "+-"}
    with project.database.write() as connection:
        verdicts.put_samples(
            connection,
            run,
            [
                (
                    item,
                    sample,
                    Verdict(outcome=Outcome.CORRECT if sign == "+" else OutcomeCode(2 if sign == "?" else 0).outcome),
                )
                for item, signs in outcomes.items()
                for sample, sign in enumerate(signs)
            ],
        )
    found = queue(project, "flips")
    assert [row.completion_id for row in found.rows(found.ids)] == ["c0"]
    assert found.rows(found.ids)[0].why.startswith("of judge's samples 2 say correct and 1 incorrect;")
    assert "judge 1 of 2 (50.0%) between samples" in found.text


def test_nothing_repeats_where_every_verifier_ran_once(tmp_path: Path) -> None:
    found = queue(voted(tmp_path, "+-"), "flips")
    assert (len(found), found.text) == (
        0,
        "No verdicts are repeated: a (run 1), b (run 2) took one sample in one complete run.",
    )


def test_unresolved_disagreements_come_first(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    label(project, 1, {"ann": "correct", "ben": "incorrect", "cy": "incorrect"})
    label(project, 2, {"ann": "correct", "ben": "correct"})
    label(project, 3, {"ann": "correct", "ben": "incorrect"})
    found = rows(project, "annotators")
    assert {key: round(row.score, 3) for key, row in found.items()} == {"c2": 2.0, "c0": 1.667}
    assert found["c2"].why == "ann says correct, ben says incorrect, not resolved; there is no gold."
    assert found["c0"].why.startswith("ann says correct, ben and cy say incorrect, not resolved")


def test_conditions_choose_among_the_items(tmp_path: Path) -> None:
    project = voted(tmp_path, "+-", "+-", "+-", gold="+-+")
    chosen = Selection((parse_condition("completion_id=c1"),))
    assert list(rows(project, "verifiers", selection=chosen)) == ["c1"]
    assert list(rows(project, "verifier-gold", selection=chosen)) == ["c1"]


def test_reviewed_items_can_be_hidden_until_their_gold_changes(tmp_path: Path) -> None:
    project = voted(tmp_path, "+-", "+-", gold="+-")
    confirm(project, 1, by="chris")
    assert list(rows(project, "verifiers", hide_reviewed=True)) == ["c1"]
    assert [review.kind for review in rows(project, "verifiers")["c0"].reviews] == ["confirmed"]
    label(project, 1, {"ann": "incorrect", "ben": "incorrect"})
    assert list(rows(project, "verifiers", hide_reviewed=True)) == ["c0", "c1"]


def test_rows_follow_the_order_of_the_requested_ids(tmp_path: Path) -> None:
    project = voted(tmp_path, "+-", "++", "+-")
    found = queue(project, "verifiers")
    assert [row.id for row in found.rows([3, 1])] == [3, 1]
    assert found.rows([2, 99]) == []


def test_gold_can_be_the_imported_one(tmp_path: Path) -> None:
    project = voted(tmp_path, "+", gold="-")
    label(project, 1, {"ann": "correct", "ben": "correct"})
    assert rows(project, "verifier-gold") == {}
    row = rows(project, "verifier-gold", gold="imported")["c0"]
    assert (row.gold, row.why) == ("incorrect", "a says correct; gold says incorrect.")


@pytest.mark.parametrize("seed", range(3))
def test_queues_equal_a_count_over_the_stored_rows(tmp_path: Path, seed: int) -> None:
    """Against plain SQL rows: no columns, no arrays."""
    chance = random.Random(seed)
    items = ["".join(chance.choice("++--?!.") for _ in range(5)) for _ in range(80)]
    gold = "".join(chance.choice("+-.") for _ in range(80))
    project = voted(tmp_path, *items, gold=gold)
    add_items(project.database, [{"completion_id": "later", "dataset": "other"}])
    decided = [[sign for sign in item if sign in "+-"] for item in items]
    wrong = {f"c{number}" for number in range(80) if gold[number] != "." and set(decided[number]) - {gold[number]}}
    mixed = {f"c{number}" for number in range(80) if len(set(decided[number])) == 2}
    split = {f"c{number}" for number, signs in enumerate(decided) if len(signs) == 5 and signs.count("+") in (2, 3)}
    assert set(rows(project, "verifier-gold")) == wrong
    assert set(rows(project, "verifiers")) == mixed
    assert set(rows(project, "split")) == split


def add_run_again(project: Project, name: str, signs: str) -> None:
    """A further complete run of a verifier that is there."""
    from workbench.runs.store import runs

    with project.database.write() as connection:
        stored = runs.verifier_named(connection, name)
        assert stored is not None
        run = runs.add(connection, stored.id, "2")
        runs.queue(connection, run, Selection(), len(signs), 1)
        marks = {"+": Outcome.CORRECT, "-": Outcome.INCORRECT, "?": Outcome.ABSTAIN}
        verdicts.put(connection, run, [(item, Verdict(outcome=marks[sign])) for item, sign in enumerate(signs, 1)])
        runs.complete(connection, run, len(signs))


def test_a_run_of_another_verifier_is_not_a_repetition(tmp_path: Path) -> None:
    project = voted(tmp_path, "+-")
    add_run(project, "c", "-")
    assert len(queue(project, "flips")) == 0


# -- rows that are read without opening ------------------------------------------------------------------------------


def test_a_row_has_the_question_both_answers_and_their_differences(tmp_path: Path) -> None:
    project = voted(tmp_path, "+", "+", gold="+-")
    found = queue(project, "verifier-gold")
    (row,) = found.answered_rows([2, 99])
    assert row.item == found.rows([2])[0]
    assert (row.reference, row.answer, row.differences.kinds) == ("7", "8", ("digits",))
    assert row.question


def test_a_long_question_shows_its_last_sentence() -> None:
    assert question_end(" What is\n6 · 7? ") == "What is 6 · 7?"
    assert question_end(f"{'A story. ' * 40}How does it end, and for whom?") == "…How does it end, and for whom?"
    assert question_end(f"{'A story. ' * 40}Why did he leave? Yes or no?") == "…Why did he leave? Yes or no?"
    assert question_end(f"{'word ' * 100}end").startswith("…word word")
    assert len(question_end("x" * 100_000)) < 200
