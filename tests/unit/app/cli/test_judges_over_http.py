"""LLM judges from outside: the command line, HTTP, and malicious rows."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.servers.scripted import Received, scripted
from tests.unit.app.cli.judge_desk import HOSTILE, KEY, VARIABLE, Desk, content
from tests.unit.verifiers.judges.recount import recounted
from workbench.verifiers.control_tokens import neutralised

REFERENCE = pytest.mark.parametrize("reference", ["true", "false"])
CHAINS = {
    "verifybench": 1,
    "vanilla": 1,
    "ice-score": 1,
    "codejudge": 2,
    "codejudge-fault": 1,
    "compassverifier": 1,
    "xverify": 1,
}
"""Strategies with so many calls an item."""
SMALL = {"beta": "2", "gamma": "2", "delta": "3"}
SEARCHES: dict[str, dict[str, str]] = {
    "test-cases": SMALL,
    "majority-vote": {},
    "mcts": {**SMALL, "rollouts": "3"},
}
RUNS: dict[str, tuple[dict[str, str], int]] = {
    f"{strategy}/{reference}": (
        {"strategy": strategy, "reference": reference, **SEARCHES.get(strategy, {})},
        # Strategies of many calls judge the first two items, one with an example and one without.
        len(HOSTILE) if strategy in CHAINS else 2,
    )
    for reference in ("true", "false")
    for strategy in (*CHAINS, *SEARCHES)
}
LAST = list(RUNS)[-1]
FENCE = re.compile(r"data-[a-z]{16}(?=\.)")
WRITING = 3 * (1 + 1 + 5 * 2)
"""Calls for the tests of a problem: at three levels one generation, one reformat, and five tests validated twice."""
EXECUTING = 2 * 2 * 3
"""Calls to execute a completion once: two tests, three times each, and each time a comparison."""
GREEDY = {"temperature": 0, "max_tokens": 2048}
SEARCHING = {"temperature": 0.4, "top_p": 0.95, "top_k": 40, "max_tokens": 2048}
SAMPLING = (*SEARCHING, "seed")


def answer(received: Received) -> str:
    name = received.body["model"].partition("/")[0]
    return SCRIPT[name](received) if name in SCRIPT else "What?"


def verbose(received: Received) -> str:
    return f"You ask me:\n{content(received)}\nHm. No.\n"


def analysed(received: Received) -> str:
    """Return a distinct analysis for each request."""
    return f"I have read it ({hashlib.sha256(received.raw).hexdigest()})."


def of_codejudge(received: Received) -> str:
    return "Yes" if "Analysis:" in content(received) else analysed(received)


def of_search(received: Received) -> str:
    requests_as = content(received)
    if "MATCH or NOT MATCH" in requests_as:
        return "Both are 1.\n**MATCH**"
    if "PASS if the test case" in requests_as:
        return "PASS"
    if '"expected_output": "..."' in requests_as:
        mark = hashlib.sha256(received.raw).hexdigest()[:8]
        return json.dumps([{"main": {"input": f"{mark} {n}", "expected_output": "1"}} for n in range(5)])
    return "Yes" if "Yes or No only" in requests_as else analysed(received)


SCRIPT: dict[str, Callable[[Received], str]] = {
    "verifybench": lambda received: f"{verbose(received)}Final Judgment: Yes\n\nNote: units ignored.",
    "vanilla": lambda received: "Yes",
    "ice-score": lambda received: "4",
    "codejudge": of_codejudge,
    "codejudge-fault": lambda received: "[]",
    "compassverifier": lambda received: "A",
    "xverify": lambda received: "[Correct]",
    "test-cases": of_search,
    "majority-vote": of_search,
    "mcts": of_search,
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with scripted(answer) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, KEY)
        yield Desk(tmp_path_factory.mktemp("judges"), server)


@pytest.fixture(scope="module")
def judged(desk: Desk) -> Desk:
    """Every strategy, with and without the reference."""
    assert desk.add("hostile", HOSTILE).items() >= {"imported": len(HOSTILE), "quarantined": 0}.items()
    for name, (options, items) in RUNS.items():
        few = ["--limit", str(items), "--detach"]
        desk.judge(name, "hostile", *few[: 2 if name == LAST else 3], server="vllm", **options)
    return desk


@pytest.mark.few(7)
@pytest.mark.parametrize("name", RUNS)
def test_texts_are_sent_verbatim_and_the_reference_is_optional(judged: Desk, name: str) -> None:
    options, items = RUNS[name]
    seen: Counter[str] = Counter()
    for request in judged.requests_as(name):
        sent = content(request)
        fence = FENCE.findall(sent)[0]
        for one in HOSTILE:
            for kind in ("question", "reference", "completion"):
                text, mark = neutralised(one[kind]), f"{kind}-of-{one['completion_id']}"
                assert sent.count(f"\n{fence}\n{text}\n{fence}") == sent.count(mark) <= 1
                seen[mark] += mark in sent
    kinds = ("question", "completion") if options["reference"] == "false" else ("question", "completion", "reference")
    wanted = {f"{kind}-of-{one['completion_id']}" for one in HOSTILE[:items] for kind in kinds}
    assert {mark for mark, count in seen.items() if count} == wanted
    if options["strategy"] in CHAINS:
        assert set(seen.values()) <= {0, 1}


@pytest.mark.parametrize("strategy", ["mcts", "test-cases"])
def test_the_test_writer_sees_no_completion(judged: Desk, strategy: str) -> None:
    sent = [content(one) for one in judged.requests_as(f"{strategy}/true")]
    writing = [text for text in sent if "test case" in text and "What the execution said" not in text]
    assert len(writing) == WRITING * 2
    assert not any("completion-of-" in text for text in writing)
    # The search's tests come of the problem alone; the test-case judge shows their writer a solution.
    assert any("reference-of-" in text for text in writing) == (strategy == "test-cases")


@pytest.mark.parametrize("name", RUNS)
def test_each_call_is_made_once(judged: Desk, name: str) -> None:
    options, items = RUNS[name]
    strategy = options["strategy"]
    if strategy in CHAINS:
        expected = CHAINS[strategy] * items
    elif strategy == "majority-vote":
        # Nine subtasks; the comparison needs a reference or an example, and only the first item has an example.
        expected = 2 * 9 + 2 * (9 if options["reference"] == "true" else 8)
    elif strategy == "test-cases":
        expected = (WRITING + EXECUTING) * items
    else:
        traces = [json.loads(trace) for (trace,) in judged.stored("trace", "verdict_traces", name)]
        assert len(traces) == items
        expected = sum(recounted(trace).total() for trace in traces)
        steps = Counter(step.rpartition(" ")[2] for (step,) in judged.stored("step", "verdict_calls", name))
        assert steps["global"] == items
        assert steps["execute"] + steps["compare"] == EXECUTING * items
        assert steps["generate"] + steps["reformat"] + steps["validate"] == WRITING * items
    assert len(judged.requests_as(name)) == expected


@pytest.mark.parametrize("name", RUNS)
def test_a_judge_that_quotes_everything_is_still_understood(judged: Desk, name: str) -> None:
    verdicts = judged.verdicts(name)
    assert list(verdicts) == [one["completion_id"] for one in HOSTILE[: RUNS[name][1]]]
    assert {(line["verdict"], line["reason"]) for line in verdicts.values()} == {("correct", None)}


def test_messages_and_sampling_are_those_of_each_judge(judged: Desk) -> None:
    def shape(received: Received) -> tuple[list[str], dict[str, Any]]:
        roles = [message["role"] for message in received.body["messages"]]
        return roles, {key: received.body[key] for key in SAMPLING if key in received.body}

    for name, (options, _) in RUNS.items():
        requests = judged.requests_as(name)
        match options["strategy"]:
            case "verifybench" | "compassverifier" | "xverify":
                assert all(shape(one) == (["user"], GREEDY) for one in requests)
            case "vanilla":
                assert all(shape(one)[0] == ["system", "user", "assistant"] for one in requests)
                assert {one.body["messages"][-1]["content"] for one in requests} == {"Answer (Yes or No only):"}
                assert all(one.body["continue_final_message"] for one in requests)
            case "ice-score":
                assert all(shape(one)[0] == ["user"] and shape(one)[1]["temperature"] == 0 for one in requests)
                assert all(content(one).endswith("Functional Correctness (scores ONLY):") for one in requests)
            case "codejudge":
                prefills = Counter(one.body["messages"][-1]["content"] for one in requests)
                assert prefills == {"Evaluation:": len(HOSTILE), "Answer (Yes or No only):": len(HOSTILE)}
                assert {shape(one)[1]["max_tokens"] for one in requests if "Analysis:" in content(one)} == {10}
            case "mcts":
                assert all(shape(one)[1] == SEARCHING for one in requests)


def test_another_parser_reads_the_stored_replies_again(judged: Desk) -> None:
    before = len(judged.server.received)
    said = judged.judge("upstream", "hostile", model="verifybench/true", server="vllm", parser="verifybench@1")
    assert said.document.items() >= {"state": "complete", "reused": len(HOSTILE)}.items()
    assert len(judged.server.received) == before
    # "Note" says no to the parser as it was released.
    assert {line["verdict"] for line in judged.verdicts("upstream").values()} == {"incorrect"}
    assert {line["verdict"] for line in judged.verdicts("verifybench/true").values()} == {"correct"}


def test_a_name_keeps_its_configuration_but_not_its_limits(judged: Desk) -> None:
    before = len(judged.server.received)
    options = {"strategy": "verifybench", "server": "vllm"}
    refused = judged.judge("verifybench/true", "hostile", **options, parser="verifybench@1", temperature="0.5")
    assert (refused.code, refused.out) == (2, "")
    assert "parser is verifybench@2, not verifybench@1" in refused.err
    assert "sampling is" in refused.err
    assert "--name" in refused.err
    limits = {"concurrency": "2", "rpm": "9", "tpm": "9", "max_calls": "1", "max_tokens_total": "1", "max_cost": "0"}
    again = judged.judge("verifybench/true", "hostile", **options, **limits, timeout="1")
    assert again.document.items() >= {"state": "complete", "reused": len(HOSTILE)}.items()
    assert len(judged.server.received) == before


def test_the_preview_equals_the_request(judged: Desk) -> None:
    (shown,) = judged.workbench("preview", "vanilla/true", "--item", "braces", "--json").document
    sent = [one for one in judged.requests_as("vanilla/true") if "question-of-braces" in content(one)]
    assert shown["body"] == sent[0].body
    assert shown["url"] == f"{judged.server.url}/chat/completions"
    stored = judged.select("SELECT body FROM requests WHERE body = ?", sent[0].raw)
    assert stored == [(sent[0].raw,)]
