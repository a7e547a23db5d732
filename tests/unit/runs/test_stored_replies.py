"""Reuse of stored replies: only from the same server, unless the run retries or they had no verdict."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.served_runs import HereRunner, check_sums, here
from tests.servers.scripted import Scripted, ScriptedServer, chat_reply, scripted
from workbench.core.errors import UsageError
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.llm.server import server_identity
from workbench.runs.rejudging import variant
from workbench.runs.verifying import start

ITEMS = 6
ALL_YES = {"correct": ITEMS, "incorrect": 0, "abstain": 0, "error": 0}
ALL_NO = {"correct": 0, "incorrect": ITEMS, "abstain": 0, "error": 0}


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[HereRunner]:
    with here(tmp_path, ITEMS) as made:
        yield made


@pytest.fixture
def yes() -> Iterator[ScriptedServer]:
    with scripted(lambda _: "Yes") as made:
        yield made


@pytest.fixture
def no() -> Iterator[ScriptedServer]:
    with scripted(lambda _: "No") as made:
        yield made


def test_servers_with_the_same_model_name_do_not_share_replies(
    runs: HereRunner, yes: ScriptedServer, no: ScriptedServer
) -> None:
    assert runs.start(yes.url, "a").verdicts == ALL_YES
    found = runs.start(no.url, "b")
    assert found.verdicts == ALL_NO
    assert (len(yes.received), len(no.received)) == (ITEMS, ITEMS)
    check_sums(runs.project, found)
    again = runs.start(yes.url.removesuffix("/v1") + "/v1/", "c")
    assert (again.verdicts, len(yes.received)) == (ALL_YES, ITEMS)
    assert {server for (server,) in runs.sql("SELECT DISTINCT server FROM responses")} == {
        server_identity(yes.url),
        server_identity(no.url),
    }


def test_equal_servers_share_replies_by_their_name(runs: HereRunner, yes: ScriptedServer, no: ScriptedServer) -> None:
    runs.start(yes.url, "a", server_name="twins")
    assert runs.start(no.url, "b", server_name="twins").verdicts == ALL_YES
    assert len(no.received) == 0


def test_a_judges_name_belongs_to_its_server(runs: HereRunner, yes: ScriptedServer, no: ScriptedServer) -> None:
    judge = {"base_url": yes.url, "model": "m", "strategy": "vanilla"}
    first = start(runs.project, "llm-judge", judge)
    runs.work(first.run)
    with pytest.raises(UsageError, match="server_at") as caught:
        start(runs.project, "llm-judge", {**judge, "base_url": no.url})
    assert f"-o server_name={server_identity(yes.url)}" in caught.value.hint
    moved = {**judge, "base_url": no.url, "server_name": server_identity(yes.url)}
    runs.claim()
    assert start(runs.project, "llm-judge", moved).run == first.run
    assert len(no.received) == 0


def test_asking_again_retracts_verdicts_and_keeps_stored_replies(runs: HereRunner) -> None:
    words = ["Yes"]
    with scripted(lambda _: words[0]) as server:
        first = runs.start(server.url, "a")
        words[0] = "No"
        assert runs.start(server.url, "b").verdicts == ALL_YES
        assert len(server.received) == ITEMS
        two = Selection(limit=2)
        some = runs.ask_again(server.url, "a", two)
        assert (some.run, some.verdicts, len(server.received)) == (
            first.run,
            {**ALL_YES, "correct": ITEMS - 2, "incorrect": 2},
            ITEMS + 2,
        )
        assert runs.ask_again(server.url, "b").verdicts == ALL_NO
        assert len(server.received) == 2 * ITEMS + 2
        # The latest reply is the stored one; earlier replies stay with the verdicts based on them.
        assert runs.start(server.url, "c").verdicts == ALL_NO
        assert len(server.received) == 2 * ITEMS + 2
        assert runs.sql("SELECT count(*) FROM verdict_calls WHERE run_id = ?", first.run) == [(ITEMS,)]
    with pytest.raises(UsageError, match="can judge items again"):
        start(runs.project, "exact", ask_again=True)


def test_a_killed_retry_repeats_no_request(runs: HereRunner, yes: ScriptedServer) -> None:
    runs.start(yes.url)
    again = runs.ask_again(yes.url, max_calls=ITEMS + 3)
    assert (again.state, again.done, len(yes.received)) == ("paused", 3, ITEMS + 3)
    assert runs.start(yes.url).state == "complete"
    assert len(yes.received) == 2 * ITEMS


def judged(runs: HereRunner, url: str, name: str, **options: str) -> RunInfo:
    """The run of a judge whose replies may hold no verdict."""
    runs.claim()
    chosen = {"base_url": url, "model": "m", "strategy": "vanilla", **options}
    return runs.work(start(runs.project, "llm-judge", chosen, name).run)


def test_unparsed_replies_are_reused_by_other_parsers(runs: HereRunner) -> None:
    words = ["So Yes."]
    with scripted(lambda _: words[0]) as server:
        first = judged(runs, server.url, "a")
        assert (first.reasons, len(server.received)) == ({"unparsed": ITEMS}, ITEMS)
        # Another reader needs no call for what is stored.
        assert judged(runs, server.url, "b", parser="verifybench").verdicts == ALL_YES
        assert len(server.received) == ITEMS
        words[0] = "No"
        # A new name is no way to be given an unreadable reply again.
        assert judged(runs, server.url, "c").verdicts == ALL_NO
        assert len(server.received) == 2 * ITEMS
        # Current verdicts are repeated only by request; replies requested since then are reused.
        assert judged(runs, server.url, "a").reasons == {"unparsed": ITEMS}
        assert runs.resume(first.run, retry_unread=True).verdicts == ALL_NO
        assert len(server.received) == 2 * ITEMS


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Scripted(body=chat_reply("Is it right? Yes, so far. But", finish_reason="length")), "truncated"),
        (Scripted(body=chat_reply(None, message={"refusal": "I can't."})), "refused"),
        (Scripted(body=chat_reply("", finish_reason="content_filter")), "content_filter"),
        ("Hm.", "unparsed"),
    ],
)
def test_replies_without_a_verdict_are_repeated_by_request(
    runs: HereRunner, reply: str | Scripted, reason: str
) -> None:
    answers: list[str | Scripted] = [reply]
    with scripted(lambda _: answers[0]) as server:
        first = judged(runs, server.url, "a")
        assert first.reasons == {reason: ITEMS}
        answers[0] = "Yes"
        assert runs.resume(first.run, retry_unread=True).verdicts == ALL_YES
        assert len(server.received) == 2 * ITEMS


def test_an_older_name_without_a_server_takes_the_current_one(
    runs: HereRunner, yes: ScriptedServer, no: ScriptedServer
) -> None:
    judge = {"base_url": yes.url, "model": "m", "strategy": "vanilla"}
    first = start(runs.project, "llm-judge", judge)
    runs.work(first.run)
    from workbench.verifiers.base import SERVER_AT, _hash
    from workbench.verifiers.judges.verifier import LlmJudge

    config = {name: value for name, value in LlmJudge(**judge).config().items() if name != SERVER_AT}
    with runs.project.database.write() as connection:
        connection.execute("UPDATE verifiers SET config_hash = ?", (_hash("llm-judge", config),))
    runs.claim()
    assert start(runs.project, "llm-judge", judge).run == first.run
    with pytest.raises(UsageError, match="server_at"):
        start(runs.project, "llm-judge", {**judge, "base_url": no.url})


def test_a_judge_keeps_the_template_version_it_is_bound_to(runs: HereRunner, yes: ScriptedServer) -> None:
    """Databases from before templates had versions record none: it was the first."""
    judge = {"base_url": yes.url, "model": "m"}
    first = start(runs.project, "llm-judge", {**judge, "template_version": "1"}, "a", Selection(limit=2))
    runs.work(first.run)
    with sqlite3.connect(runs.project.path) as connection:
        connection.execute("UPDATE verifiers SET config = json_remove(config, '$.options.template_version')")
    asked = [one["messages"][0]["content"] for one in yes.bodies]
    assert all(text.startswith("Texts you are given") for text in asked)
    # The same command, the name alone, and stored replies under another parser.
    for kind, options, name in (("llm-judge", judge, "a"), ("a", {}, None)):
        runs.claim()
        again = start(runs.project, kind, options, name)
        runs.work(again.run)
        assert again.run == first.run
    assert len(yes.received) == ITEMS
    reread = variant(runs.project, first.run, {"parser": "verifybench@1"}, None)
    assert reread.options["template_version"] == "1"
    runs.claim()
    fresh = start(runs.project, "llm-judge", judge, "b", Selection(limit=1))
    runs.work(fresh.run)
    assert yes.bodies[-1]["messages"][0]["content"].startswith("You grade")
