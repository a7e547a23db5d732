"""Simulated options: they equal a real run, without calls and without stored results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, Scripted, ScriptedServer, chat_reply, scores_reply, scripted
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.config.trust import NotTrustedError
from workbench.core.errors import UsageError
from workbench.core.options import Basis
from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.measuring.accuracy import accuracy
from workbench.measuring.comparing import compare
from workbench.measuring.what_if import WhatIf, WhatIfOptions, save, what_if
from workbench.runs.run_status import run_info, wait
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import start

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "tuples.jsonl"
TEMPLATE = """
id = "mine"
version = 1
parser = "verifybench"

[[calls]]
name = "judge"

[[calls.messages]]
role = "user"
content = "{question} {reference} {completion} Say: Final Judgment: Yes or No. (ours)"
"""
REPLIES = (
    "Final Judgment: Yes",
    "Final Judgment: No",
    "Final Judgment: Yes\n\nNote: units ignored.",
    "**Final judgment**: no, since Yes/No was asked. Yesterday it was Yes",
    "Final Judgement: yes",
    "I can't tell.",
    "<think>Yes, that is",
    "",
)
"""The two parsers of verifybench differ on some of them."""


def replying(texts: tuple[str, ...]) -> Any:
    """A server that answers each request with one of the texts, always with the same one."""

    def answer(received: Received) -> Scripted:
        text = texts[crc32(received.raw) % len(texts)]
        cut = {"finish_reason": "length"} if crc32(received.raw) % 11 == 0 else {}
        return Scripted(body=chat_reply(text, **cut))

    return answer


def scoring(received: Received) -> Scripted:
    return Scripted(body=scores_reply(received.path, [crc32(received.raw) % 100 / 100]))


def project_of(folder: Path, rows: Path) -> Project:
    project = open_project(folder / "p.db", create=True)
    import_files(project, plan_import([rows]), dataset="items")
    return project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = project_of(tmp_path, SAMPLE)
    yield made
    made.close()


def run(project: Project, kind: str, name: str, **options: str) -> int:
    """A complete run, made by the runner."""
    done = wait(project, start(project, kind, options, name).run)
    assert done.state == "complete"
    return done.run


def judged_by(server: ScriptedServer, **more: str) -> dict[str, str]:
    return {"base_url": server.url, "model": "judge", **more}


def words_of(project: Project, verifier: str) -> dict[str, tuple[str, str | None]]:
    return {line.completion_id: (line.verdict, line.reason) for line in verdict_lines(project, verifier)}


def differing(project: Project, a: str, b: str) -> dict[str, tuple[str, str, str | None]]:
    """Map each completion with another verdict to (verdict before, verdict after, reason after)."""
    before, after = words_of(project, a), words_of(project, b)
    assert before.keys() == after.keys()
    return {key: (before[key][0], *after[key]) for key in before if before[key][0] != after[key][0]}


def flipping(found: WhatIf) -> dict[str, tuple[str, str, str | None]]:
    report = found.named(10_000)
    assert report.more == 0
    return {one.completion_id: (one.before, one.after, one.reason_after) for one in report.flips}


def require_as_run(project: Project, found: WhatIf, a: str, b: str) -> None:
    """Make sure that what was found is what two runs of all items differ in, item by item and in figures."""
    report = found.report
    compared = compare(project, a, b)
    assert (report.n, report.broken, report.fixed) == (compared.n, compared.only_a, compared.only_b)
    assert (report.accuracy_before, report.accuracy_after) == (compared.accuracy_a, compared.accuracy_b)
    for name, figure in ((a, "accuracy_before"), (b, "accuracy_after")):
        found_rows = accuracy(project, verifiers=(name,), by="type").rows
        rows = {row.group: row for row in found_rows if row.verifier == name}
        for row in report.types:
            assert (row.n, getattr(row, figure)) == (rows[row.group].n, rows[row.group].accuracy)
    assert sum(row.fixed for row in report.types) == report.fixed
    assert sum(row.broken for row in report.types) == report.broken
    changed = report.fixed + report.broken + report.now_decided + report.now_undecided + report.other
    assert changed + report.without_gold == len(found.ids) == len(flipping(found))


def other_parser(project: Project, texts: tuple[str, ...], before: str, after: str, **more: str) -> WhatIf:
    """Look what another parser would change, and then do it; returns what was found before."""
    with scripted(replying(texts)) as server:
        options = judged_by(server, parser=before, **more)
        run(project, "llm-judge", "before", **options)
        asked = len(server.received)
        found = what_if(project, WhatIfOptions(verifier="before", parser=after))
        assert len(server.received) == asked
        assert (found.report.means, found.report.calls, found.report.items.missing) == ("replies", 0, 0)
        number = run(project, "llm-judge", "after", **options | {"parser": after})
        assert len(server.received) == asked
        assert (usage := run_info(project, number).usage) is not None
        assert usage.calls == 0
    assert flipping(found) == differing(project, "before", "after")
    require_as_run(project, found, "before", "after")
    return found


def test_another_parser_flips_the_same_items_as_a_run(project: Project) -> None:
    found = other_parser(project, REPLIES, "verifybench@1", "verifybench@2").report
    assert found.fixed
    assert found.broken
    assert found.items.undecided.keys() >= {"unparsed", "truncated"}
    assert (found.changed, found.needed) == ({"parser": ("verifybench@1", "verifybench@2")}, None)


@pytest.mark.soak
@pytest.mark.real_data
@pytest.mark.parametrize("judge", ["ice-score", "verifybench"])
def test_another_parser_on_the_real_rows(tmp_path: Path, shared_data: Path, real_file: Path, judge: str) -> None:
    file = "ice_score_java.jsonl" if judge == "ice-score" else "parser_cases.jsonl"
    rows = map(json.loads, (shared_data / "judges" / file).read_text(encoding="utf-8").splitlines())
    texts = {row["raw"] for row in rows if judge == "ice-score" or row["judge"] == judge}
    made = project_of(tmp_path, real_file)
    found = other_parser(made, tuple(sorted(texts)), f"{judge}@1", f"{judge}@2", strategy=judge).report
    assert (found.n, found.items.read) == (108, 108)
    assert found.fixed + found.broken + found.now_undecided > 0
    made.close()


def other_local(project: Project) -> None:
    """The same of a threshold and of an option of a verifier that works here."""
    run(project, "bleu", "before")
    for name, changes in (
        ("lower", {"threshold": "0.2"}),
        ("whole", {"of": "whole"}),
        ("both", {"of": "whole", "threshold": "0.03"}),
    ):
        found = what_if(project, WhatIfOptions(verifier="before", settings=changes))
        assert found.report.means == ("scores" if name == "lower" else "local")
        run(project, "bleu", name, **changes)
        expected = differing(project, "before", name)
        assert {key: one[:2] for key, one in flipping(found).items()} == {key: one[:2] for key, one in expected.items()}
        assert expected
        require_as_run(project, found, "before", name)


@pytest.mark.soak
def test_other_options_of_a_local_verifier(project: Project) -> None:
    pytest.importorskip("sacrebleu")
    other_local(project)


@pytest.mark.soak
@pytest.mark.real_data
def test_other_options_on_the_real_rows(tmp_path: Path, real_file: Path) -> None:
    pytest.importorskip("sacrebleu")
    made = project_of(tmp_path, real_file)
    other_local(made)
    made.close()


def test_other_rules_options_flip_the_same_items_as_a_run(project: Project) -> None:
    run(project, "rules", "before")
    for settings in ({"tolerance": "0.05"}, {"units": "required"}, {"form": "any"}):
        found = what_if(project, WhatIfOptions(verifier="before", settings=settings))
        assert (found.report.means, found.report.calls) == ("local", 0)
        (name,) = settings
        run(project, "rules", name, **settings)
        assert flipping(found) == differing(project, "before", name)
        require_as_run(project, found, "before", name)
    assert differing(project, "before", "tolerance")


def test_another_threshold_of_a_reward_model(project: Project) -> None:
    with scripted(scoring) as server:
        options = judged_by(server)
        run(project, "reward-model", "before", **options)
        asked = len(server.received)
        found = what_if(project, WhatIfOptions(verifier="before", threshold=0.6))
        started = save(project, WhatIfOptions(verifier="before", threshold=0.6, save="after"), trust=True)
        assert wait(project, started.run).state == "complete"
        assert len(server.received) == asked
    assert found.report.means == "scores"
    # Nothing was decided before.
    assert found.report.fixed + found.report.broken + found.report.now_decided > 0
    assert {key: one[:2] for key, one in flipping(found).items()} == {
        key: one[:2] for key, one in differing(project, "before", "after").items()
    }
    require_as_run(project, found, "before", "after")


@pytest.mark.soak
def test_a_simulation_stores_nothing(project: Project) -> None:
    with scripted(replying(REPLIES)) as server:
        run(project, "llm-judge", "before", **judged_by(server, parser="verifybench@1"))
    before = [tuple(row) for row in project.database.reader().execute("SELECT * FROM runs")]
    verdicts = words_of(project, "before")
    what_if(project, WhatIfOptions(verifier="before", parser="verifybench@2"))
    assert [tuple(row) for row in project.database.reader().execute("SELECT * FROM runs")] == before
    assert words_of(project, "before") == verdicts
    assert project.database.reader().execute("SELECT count(*) FROM verifiers").fetchone()[0] == 1


# -- Another template: missing replies are reported, estimated, and requested only on demand.


def template(project: Project) -> str:
    file = project.path.parent / "mine.toml"
    file.write_text(TEMPLATE, encoding="utf-8")
    return str(file)


@pytest.mark.soak
def test_another_template_shows_its_estimate_and_requests_a_sample(project: Project) -> None:
    with scripted(replying(REPLIES)) as server:
        run(project, "llm-judge", "before", **judged_by(server))
        asked, (first, *_) = len(server.received), words_of(project, "before")
        changed = WhatIfOptions(verifier="before", settings={"template": template(project), "strategy": ""})
        found = what_if(project, changed).report
        assert (found.n, found.fixed, found.accuracy_after, found.items.read) == (0, 0, None, 0)
        assert found.needed is not None
        assert (found.needed.calls, found.needed.cost) == (found.items.missing, None)
        assert found.needed.prompt_tokens > 0
        assert len(server.received) == asked
        item = project.database.reader().execute("SELECT id FROM completions WHERE key = ?", (first,)).fetchone()[0]
        wanted = WhatIfOptions(verifier="before", settings=changed.settings, sample=20, ask=True, seed=7)
        with pytest.raises(NotTrustedError):
            what_if(project, wanted)
        assert len(server.received) == asked
        trusted = WhatIfOptions(verifier="before", settings=changed.settings, sample=20, ask=True, seed=7, trust=True)
        sampled = what_if(project, trusted, (item,))
        assert sampled.after(item) is not None
        assert (sampled.report.items.read, sampled.report.calls, sampled.report.means) == (20, 20, "calls")
        assert len(server.received) == asked + 20
        # Paid replies are stored: a second simulation sends no request, and a run sends only the others.
        again = what_if(
            project, WhatIfOptions(verifier="before", settings=changed.settings, sample=20, seed=7), (item,)
        )
        assert flipping(again) == flipping(sampled)
        assert again.report.needed is None
        started = save(project, WhatIfOptions(verifier="before", settings=changed.settings, save="mine"), trust=True)
        done = wait(project, started.run)
        assert len(server.received) == asked + done.items
        whole = what_if(project, changed)
    assert flipping(whole) == differing(project, "before", "mine")
    assert flipping(sampled).items() <= flipping(whole).items()


@pytest.mark.soak
def test_a_known_price_is_included_in_the_estimate(project: Project) -> None:
    (project.path.parent / "workbench.toml").write_text(
        '[prices."judge"]\ninput = 0.15\noutput = 0.6\ndate = "2026-11-01"\n', encoding="utf-8"
    )
    with scripted(replying(REPLIES)) as server:
        run(project, "llm-judge", "before", **judged_by(server))
    found = what_if(project, WhatIfOptions(verifier="before", settings={"template": template(project), "strategy": ""}))
    assert found.report.needed is not None
    assert found.report.needed.cost is not None
    assert found.report.needed.cost > 0


@pytest.mark.soak
def test_a_server_error_ends_the_sample_and_loses_nothing(project: Project) -> None:
    served = 0

    def answer(received: Received) -> Scripted:
        nonlocal served
        if "(ours)" in received.raw.decode():
            served += 1
            if served > 4:
                return Scripted(401, body={"error": {"message": "no"}})
        return Scripted(body=chat_reply("Final Judgment: Yes"))

    with scripted(answer) as server:
        run(project, "llm-judge", "before", **judged_by(server, concurrency="1"))
        settings = {"template": template(project), "strategy": ""}
        found = what_if(project, WhatIfOptions(verifier="before", settings=settings, ask=True, trust=True)).report
        assert found.trouble is not None
        assert "Received replies are stored" in found.trouble
        assert (found.items.read, found.items.left) == (4, found.items.drawn - 4)
        assert found.needed is not None
        assert found.needed.items == found.items.left
        again = what_if(project, WhatIfOptions(verifier="before", settings=settings)).report
        assert again.items.read == 4


# -- Gold, protocols, what is left out, and what can't be done.


def scored(tmp_path: Path, by_item: dict[int, float | None], **fields: Any) -> Project:
    made = make_project(tmp_path, numbered(len(by_item), **fields))
    add_complete_run(made, "rm", scores(by_item))
    return made


def test_items_without_gold_are_counted_separately(tmp_path: Path) -> None:
    made = scored(tmp_path, {1: 0.9, 2: 0.1, 3: 0.4}, gold=None)
    found = what_if(made, WhatIfOptions(verifier="rm", threshold=0.5))
    assert (found.report.n, found.report.accuracy_before, found.report.without_gold) == (0, None, 3)
    assert {one.kind for one in found.report.flips} == {"without_gold"}
    assert found.report.types == []
    made.close()


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [("forced", (1, 1, 0)), ("strict", (2, 0, 0)), ("decided", (0, 0, 4))],
)
def test_undecided_verdicts_count_by_the_protocol(
    tmp_path: Path, protocol: Any, expected: tuple[int, int, int]
) -> None:
    # Gold: correct, incorrect, correct, incorrect; all abstain before.
    made = scored(tmp_path, {1: 0.9, 2: 0.9, 3: 0.1, 4: 0.1})
    found = what_if(made, WhatIfOptions(verifier="rm", threshold=0.5, basis=Basis(protocol=protocol))).report
    assert (found.fixed, found.broken) == expected[:2]
    assert found.fixed + found.broken + found.now_decided == 4
    if protocol == "decided":
        assert found.now_decided == 4
        assert (found.accuracy_before, found.accuracy_after) == (None, 0.5)
    made.close()


def test_failed_items_are_excluded_and_counted(tmp_path: Path) -> None:
    made = scored(tmp_path, {1: 0.9, 2: None, 3: 0.1, 4: None})
    found = what_if(made, WhatIfOptions(verifier="rm", threshold=0.5)).report
    assert (found.items.judged, found.items.read, found.items.failed, found.n) == (4, 2, 2, 2)
    made.close()


def test_a_smaller_sample_is_a_prefix_of_a_larger_one(tmp_path: Path) -> None:
    made = scored(tmp_path, {item: item / 40 for item in range(1, 41)})

    def drawn(sample: int, seed: int = 3) -> set[str]:
        found = what_if(made, WhatIfOptions(verifier="rm", threshold=0.5, sample=sample, seed=seed))
        assert found.report.items.drawn == sample
        return set(flipping(found))

    assert drawn(10) < drawn(20)
    assert drawn(10, seed=4) != drawn(10)
    made.close()


def test_invalid_options_show_an_error(tmp_path: Path) -> None:
    made = scored(tmp_path, {1: 0.9, 2: 0.2})
    run(made, "exact", "exact")
    for options, words in (
        ({"verifier": "nobody", "threshold": 0.5}, "no verdicts of a verifier 'nobody'"),
        ({"verifier": "exact", "threshold": 0.5}, "gives no scores"),
        ({"verifier": "exact"}, "has exactly these options"),
        ({"verifier": "exact", "settings": {"colour": "red"}}, "no option 'colour'"),
        ({"verifier": "rm", "threshold": float("nan")}, "nan is not a valid threshold"),
        ({"verifier": "rm", "threshold": 0.5, "ask": True}, "Scores are stored"),
        ({"verifier": "rm", "threshold": 0.5, "basis": Basis(where=("completion_id=nowhere",))}, "has no verdict on"),
    ):
        with pytest.raises(UsageError, match=words):
            what_if(made, WhatIfOptions(**options))
    made.close()
