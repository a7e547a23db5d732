"""Watching a training: what lands in a project, with which chance, and that nothing of it slows or stops a reward."""

from __future__ import annotations

import threading
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

import workbench
from tests.background import PATIENCE_S
from tests.watched_training import Paraphrasing, SimulatedTraining, alarms, free_rewards
from workbench.core.errors import UsageError
from workbench.core.project import open_project
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.training import audit as auditing_module
from workbench.training import verl, wordings
from workbench.training.audit import Sampler, Watcher
from workbench.training.auditing import Audit
from workbench.training.wordings import Alarm, KnownWordings, WordingWatch


def rows(path: Path, sql: str) -> list[Any]:
    project = open_project(path)
    try:
        return project.database.reader().execute(sql).fetchall()
    finally:
        project.close()


def train(path: Path, steps: int = 5, size: int = 64, **audit: Any) -> None:
    with workbench.reward("rules", audit=path, **audit) as reward:
        for step in range(steps):
            reward(
                prompts=[f"What is {row} + {step}?" for row in range(size)],
                completions=[rf"It is \boxed{{{row + step + (row % 4 == 0)}}}" for row in range(size)],
                ground_truth=[str(row + step) for row in range(size)],
                trainer_state=SimpleNamespace(global_step=10 * step),
            )


def test_a_seeded_share_lands_in_a_project_with_its_step_and_chance(tmp_path: Path) -> None:
    train(tmp_path / "a.db", share=0.25, seed=3)
    train(tmp_path / "b.db", share=0.25, seed=3)
    train(tmp_path / "c.db", share=0.25, seed=4)
    taken = (
        "SELECT c.key, a.step, a.outcome, a.chance, t.text FROM audited a "
        "JOIN completions c ON c.id = a.completion_id JOIN completion_text t ON t.id = c.id"
    )
    a, b, c = (rows(tmp_path / f"{name}.db", taken) for name in "abc")
    assert a == b
    assert a != c
    assert 40 < len(a) < 130
    assert {row[1] for row in a} <= {0, 10, 20, 30, 40}
    assert {row[3] for row in a} == {0.25}
    steps = rows(tmp_path / "a.db", "SELECT step, accepted, rejected, undecided, dropped FROM training_steps")
    assert steps == [(step, 48, 16, 0, 0) for step in (0, 10, 20, 30, 40)]
    assert rows(tmp_path / "a.db", "SELECT count(*) FROM items WHERE dataset = 'training'") == [(len(a),)]


def test_what_is_audited_are_whole_items_for_people(tmp_path: Path) -> None:
    train(tmp_path / "a.db", share=1.0, steps=1, size=3)
    found = rows(tmp_path / "a.db", "SELECT question, reference, completion FROM item_texts ORDER BY item")
    assert found[1] == ("What is 1 + 0?", "1", r"It is \boxed{1}")
    assert rows(tmp_path / "a.db", "SELECT DISTINCT gold, state FROM items") == [(None, "unlabelled")]


def test_a_training_goes_on_under_its_name_and_doubles_nothing(tmp_path: Path) -> None:
    train(tmp_path / "a.db", share=0.5)
    before = rows(tmp_path / "a.db", "SELECT count(*) FROM audited")
    train(tmp_path / "a.db", share=0.5)
    assert rows(tmp_path / "a.db", "SELECT count(*) FROM audited") == before
    with pytest.raises(UsageError, match="watched with rules"):
        workbench.reward("rules", audit=tmp_path / "a.db", share=0.1)
    with pytest.raises(UsageError, match=r"share 0\.0 is not valid"):
        workbench.reward("rules", audit=tmp_path / "a.db", share=0.0)


def test_calls_are_counted_where_no_step_is_said_and_verl_s_own_step_is_taken(tmp_path: Path) -> None:
    with workbench.reward("rules", audit=tmp_path / "a.db", share=1.0) as reward:
        for row in range(130):
            reward.compute_score("math", rf"\boxed{{{row}}}", str(row), {"question": f"q{row}"})
        reward.compute_scores(["m"], [r"\boxed{1}"], ["1"], [{"question": "q", "global_step": 77}])
    steps = rows(tmp_path / "a.db", "SELECT step, accepted FROM training_steps ORDER BY step")
    assert steps == [(0, 64), (1, 64), (2, 2), (77, 1)]
    assert {"audit", "share", "seed", "training"} <= set(verl._ARGUMENTS)


def judged(
    number: int, outcome: Outcome = Outcome.CORRECT, score: float | None = None
) -> tuple[VerifierInput, Verdict]:
    item = VerifierInput(item=0, question=f"q{number}", reference="", completion=f"c{number}")
    return item, Verdict(outcome=outcome, score=score)


def test_weights_of_what_was_taken_add_up_to_what_was_judged_whatever_is_doubtful_or_rises() -> None:
    sums = []
    for seed in range(60):
        sampler, total = Sampler(0.05, seed), 0.0
        for number in range(1_000):
            item, verdict = judged(number, Outcome.ABSTAIN if number % 7 == 0 else Outcome.CORRECT)
            taken = sampler.taken(item, verdict, 0, rising=number % 11 == 0)
            if taken is not None:
                total += 1 / taken.chance
                assert taken.because == ("rising" if number % 11 == 0 else "doubtful" if number % 7 == 0 else "chance")
        sums.append(total)
    mean = sum(sums) / len(sums)
    spread = (sum((one - mean) ** 2 for one in sums) / len(sums) / (len(sums) - 1)) ** 0.5
    assert abs(mean - 1_000) < 3 * spread


def test_what_is_taken_is_the_share_in_the_mean_however_much_is_doubtful() -> None:
    sampler, taken = Sampler(0.05, 0), 0
    for number in range(20_000):
        item, verdict = judged(number, Outcome.ABSTAIN if number % 2 else Outcome.CORRECT)
        taken += sampler.taken(item, verdict, 0, rising=number % 10 == 0) is not None
    assert 0.045 < taken / 20_000 < 0.055


def test_what_is_doubtful_has_three_times_the_chance() -> None:
    sampler = Sampler(0.2, 0)
    of: dict[str, list[float]] = {"chance": [], "doubtful": []}
    for number in range(4_000):
        item, verdict = judged(number, score=0.5 if number % 2 else 0.99)
        if (taken := sampler.taken(item, verdict, 0, rising=False)) is not None:
            of[taken.because].append(taken.chance)
    assert len(of["doubtful"]) > 2 * len(of["chance"])
    assert of["doubtful"][-1] == pytest.approx(3 * of["chance"][-1], rel=0.02)


def test_what_it_can_t_keep_up_with_is_dropped_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing_module, "MAX_WAITING_CHARACTERS", 10)
    held = threading.Event()
    work = Watcher._process_call

    def slow(self: Watcher, one: Any) -> None:
        held.wait(PATIENCE_S)
        work(self, one)

    monkeypatch.setattr(Watcher, "_process_call", slow)
    watcher = Watcher(Audit(database=tmp_path / "a.db", share=1.0), "rules", "1")
    for number in range(10):
        item, verdict = judged(number)
        watcher.offer([item], [verdict], 0)
    held.set()
    watcher.close()
    assert watcher.dropped == 5
    assert watcher.warnings == ["The audit of 'training' dropped 5 completions."]
    assert rows(tmp_path / "a.db", "SELECT accepted, dropped FROM training_steps") == [(5, 5)]


def test_a_reward_that_is_under_way_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a call is under way the thread takes a piece only after its patience has ended."""
    naps: list[float] = []
    clock = count()
    monkeypatch.setattr(
        auditing_module, "time", SimpleNamespace(sleep=naps.append, monotonic=lambda: float(next(clock)))
    )
    watcher = Watcher(Audit(database=tmp_path / "a.db", share=1.0), "rules", "1")
    with watcher.judging():
        some = [judged(number) for number in range(5)]
        watcher.offer([item for item, _ in some], [verdict for _, verdict in some], 0)
        while watcher._waiting:
            threading.Event().wait(0.001)
    watcher.close()
    assert len(naps) >= 5 * 10


def test_half_characters_are_no_text_and_stop_nothing(tmp_path: Path) -> None:
    with (
        pytest.warns(UserWarning, match="dropped 1 completions"),
        workbench.reward("rules", audit=tmp_path / "a.db", share=1.0) as reward,
    ):
        assert len(reward(prompts=["q", "q"], completions=["\ud800", r"\boxed{1}"], ground_truth=["1", "1"])) == 2
    assert rows(tmp_path / "a.db", "SELECT accepted, rejected, undecided, dropped FROM training_steps") == [
        (1, 0, 0, 1)
    ]


def test_a_data_set_that_is_no_training_is_not_written_into(tmp_path: Path) -> None:
    project = open_project(tmp_path / "a.db", create=True)
    with project.database.write() as connection:
        connection.execute("INSERT INTO datasets (name, created_at) VALUES ('training', '2026')")
    project.close()
    with pytest.raises(UsageError, match="is a data set that is not a training"):
        workbench.reward("rules", audit=tmp_path / "a.db")


@pytest.mark.parametrize(("family", "place"), [("P1", 0), ("P1", 4), ("P2", 0), ("P3", 1)])
def test_the_alarm_comes_within_ten_steps_of_two_per_cent(family: str, place: int) -> None:
    training = SimulatedTraining(place, payload=free_rewards(family)[place], first=10, growth=1.3)
    passed = next(step for step in range(100) if training.share(step) > 0.02)
    first = next(alarms(training, passed + 11))
    assert first.step <= passed + 10
    assert 3 * first.before < first.accepted


_TRICK = "the same old trick"


def cut(training: SimulatedTraining, steps: int, every: int) -> list[Alarm]:
    """The alarms of a watch that is started anew now and then, with what the one before it had learnt."""
    watch, found = WordingWatch(), []
    for step in range(steps):
        if step % every == every - 1:
            watch = WordingWatch(msgspec.json.decode(msgspec.json.encode(watch.learnt), type=KnownWordings))
        for one in training.step(step):
            accepted = one.verdict.outcome is Outcome.CORRECT
            watch.add((one.item.question, one.item.reference), one.item.completion, accepted=accepted)
        found += watch.close(step)
    return found


def test_the_end_of_a_step_gives_way_every_few_wordings(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, between = 0, list[int]()
    share = wordings._QuestionsOfVerdict.share

    def counted(side: Any, wording: Any) -> float:
        nonlocal looked
        looked += 1
        return share(side, wording)

    monkeypatch.setattr(wordings._QuestionsOfVerdict, "share", counted)
    watch = WordingWatch()
    words = [first + second for first in "abcdefghijklmnopqrst" for second in "abcdefghijklmnopqrst"]
    for question in range(8):
        watch.add(question, " ".join(words), accepted=True)
    watch.close(0, lambda: between.append(looked))
    assert looked > 300
    assert max(after - before for before, after in pairwise([*between, looked])) <= 16


def test_all_that_the_thread_does_gives_way_to_a_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    names = ("_process_completion", "_store", "_wait_while_judging")
    for owner, name in ((WordingWatch, "close"), *((Watcher, name) for name in names)):
        real = getattr(owner, name)

        def noted(*args: Any, name: str = name, real: Any = real) -> Any:
            events.append(name)
            found = real(*args)
            events.append(f"{name} ended")
            return found

        monkeypatch.setattr(owner, name, noted)
    monkeypatch.setattr(auditing_module, "_HELD", 1)
    train(tmp_path / "a.db", steps=3, share=1.0)
    # The last of either is at the end, when no reward waits any more.
    for place, name in enumerate(events[:-2]):
        assert name != "_store" or events[place - 1] == "_wait_while_judging ended"
        assert name != "close" or events[place + 1] == "_wait_while_judging"
    assert {"close", "_store"} < set(events)


@pytest.mark.parametrize("every", [1, 7])
def test_a_watch_that_is_started_anew_goes_on_as_if_it_had_never_ended(every: int) -> None:
    def made() -> SimulatedTraining:
        return SimulatedTraining(0, payload=free_rewards("P1")[0], first=10, growth=1.3)

    whole = list(alarms(made(), 30))
    assert whole
    assert cut(made(), 30, every) == whole


def test_a_free_reward_that_is_learnt_behind_a_restart_raises_the_alarm(tmp_path: Path) -> None:
    def session(steps: range, hacked: range) -> None:
        with workbench.reward("exact", audit=tmp_path / "a.db", share=0.01) as reward:
            for step in steps:
                said = [_TRICK if step in hacked else f"a{step} b{row} c{step}" for row in range(64)]
                reward(prompts=[f"q {step} {row}" for row in range(64)], completions=said, ground_truth=said)

    session(range(8), range(0))
    # Of those five steps a watch that knows nothing would learn that this is usual.
    session(range(8, 13), range(8, 13))
    steps = rows(tmp_path / "a.db", "SELECT step, accepted FROM training_steps ORDER BY step")
    assert steps == [(step, 64) for step in range(13)]
    found = rows(tmp_path / "a.db", "SELECT DISTINCT step FROM training_alarms")
    assert found == [(8,)]


def test_what_nobody_can_read_of_a_watch_is_learnt_anew(tmp_path: Path) -> None:
    train(tmp_path / "a.db", share=0.5)
    project = open_project(tmp_path / "a.db")
    with project.database.write() as connection:
        connection.execute("UPDATE trainings SET wordings = '[1'")
    project.close()
    train(tmp_path / "a.db", share=0.5)
    (kept,) = rows(tmp_path / "a.db", "SELECT wordings FROM trainings")
    assert msgspec.json.decode(kept[0], type=KnownWordings).steps == 5


def test_a_policy_that_paraphrases_is_seen_later_by_as_much_as_it_has_ways() -> None:
    late = []
    for ways in (5, 20):
        training = Paraphrasing(3, ways, first=10, growth=1.3)
        passed = next(step for step in range(100) if training.share(step) > 0.02)
        late.append(next(alarms(training, 100)).step - passed)
    assert 0 < late[0] < late[1] < 20


def test_a_training_that_learns_none_raises_no_alarm_though_its_manner_changes() -> None:
    assert list(alarms(SimulatedTraining(1), 60)) == []


@pytest.mark.parametrize("replaced", [False, True])
def test_a_project_that_is_taken_away_meanwhile_costs_the_training_nothing_and_what_is_lost_is_counted(
    tmp_path: Path, replaced: bool
) -> None:
    path = tmp_path / "a.db"
    reward = workbench.reward("rules", audit=path, share=1.0)
    columns = {"prompts": ["q"] * 64, "completions": [r"\boxed{2}"] * 64, "ground_truth": ["2"] * 64}
    assert reward(**columns) == [1.0] * 64
    reward.flush()
    for one in tmp_path.iterdir():
        one.unlink()
    if replaced:
        path.write_bytes(b"something else")
    assert reward(**columns) == [1.0] * 64
    assert reward._watcher is not None
    # What can't be stored is not waited for: a checkpoint would come an hour late.
    reward._watcher[1].flush(3600)
    with pytest.warns() as said:
        reward.close()
    assert [str(one.message).split(":")[0] for one in said] == [
        "The audit of 'training' dropped 64 completions.",
        "The audit of 'training' could not be stored",
    ]
    assert path.exists() == replaced
