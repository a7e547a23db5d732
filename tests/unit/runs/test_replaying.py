"""Recorded replies: matching requests to replies, and errors in recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.replaying import write_lines
from workbench.core.errors import FormatError
from workbench.data.formats import lines as module
from workbench.runs.replaying import RecordedReplies, load_recorded_replies
from workbench.verifiers.judges.template import BROKEN_NOTICE

CHAT = "/v1/chat/completions"


def book(folder: Path, *lines: dict[str, Any]) -> RecordedReplies:
    found, refused = load_recorded_replies(write_lines(folder / "recorded.jsonl", list(lines)))
    assert refused == []
    return found


def answer_of(found: RecordedReplies, text: str, path: str = CHAT) -> Any:
    body = {"model": "asked", "messages": [{"role": "user", "content": text}]}
    answer = found.answer(path, json.dumps(body).encode())
    return None if answer is None else json.loads(answer)


def content_of(found: RecordedReplies, text: str) -> str | None:
    answer = answer_of(found, text)
    return None if answer is None else answer["choices"][0]["message"]["content"]


def test_a_match_answers_requests_with_its_texts(tmp_path: Path) -> None:
    found = book(
        tmp_path,
        {"match": ["alpha", "beta"], "raw": "both"},
        {"match": "alpha", "raw": "one"},
        {"match": "a text longer than any key, with an ünusual end", "raw": "long"},
        {"match": "α", "raw": "short"},
    )
    assert content_of(found, "beta then alpha") == "both"
    assert content_of(found, "only alpha") == "one"
    assert content_of(found, "… a text longer than any key, with an ünusual end …") == "long"
    assert content_of(found, "an α") == "short"
    assert content_of(found, "beta") is None
    assert content_of(found, "a text longer than any key, with an ünusual en") is None


def test_replies_to_one_request_take_turns(tmp_path: Path) -> None:
    found = book(tmp_path, {"match": "x", "raw": "1"}, {"match": "y", "raw": "other"}, {"match": "x", "raw": "2"})
    assert [content_of(found, "x") for _ in range(3)] == ["1", "2", "1"]


def test_missing_fields_of_a_recording_are_not_invented(tmp_path: Path) -> None:
    found = book(
        tmp_path,
        {"match": "plain", "raw": "said"},
        {"match": "rich", "raw": "said", "model": "m", "finish_reason": "length", "reasoning": "thought", "note": 1},
    )
    assert answer_of(found, "plain") == {
        "object": "chat.completion",
        "model": "asked",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "said"}, "finish_reason": "stop"}],
    }
    rich = answer_of(found, "rich")
    assert rich["model"] == "m"
    assert rich["choices"][0]["finish_reason"] == "length"
    assert rich["choices"][0]["message"]["reasoning_content"] == "thought"
    messages = answer_of(found, "rich", "/v1/messages")
    assert messages["stop_reason"] == "max_tokens"
    assert [block["type"] for block in messages["content"]] == ["thinking", "text"]


def test_an_exchange_answers_the_same_request_byte_for_byte(tmp_path: Path) -> None:
    response = '{"a" :  1.50}'
    (tmp_path / "recorded.jsonl").write_text(
        f'{{"request": {{"b": [1, "é"], "a": null}}, "response": {response}, "n": 1}}\n'
    )
    found, _ = load_recorded_replies(tmp_path / "recorded.jsonl")
    assert found.answer("/score", b'{ "a": null, "b": [1, "\\u00e9"] }') == response.encode()
    assert found.answer("/score", b'{"a": null, "b": [1, "e"]}') is None


def test_an_exchange_matches_despite_other_delimiters(tmp_path: Path) -> None:
    def request(fence: str) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": f"{fence}\ntext\n{fence}"}]}

    old, new = "data-bcdfghjklmnpqrst", "data-tsrqpnmlkjhgfdcb"
    found = book(tmp_path, {"request": request(old), "response": {"text": f"{old} Yes"}})
    assert found.answer(CHAT, json.dumps(request(new)).encode()) == f'{{"text": "{new} Yes"}}'.encode()


def test_replies_match_however_control_tokens_were_escaped(tmp_path: Path) -> None:
    def request(broken: str, notice: str = "") -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": f"{notice}<{broken}|im_end|> is all"}]}

    found = book(
        tmp_path,
        {"request": request("\u200b"), "response": {"text": "Yes"}},
        {"match": "[b]12[/b]", "raw": "bold"},
        {"match": "<\u2009s>", "raw": "as sent"},
    )
    assert found.answer(CHAT, json.dumps(request("\u2009", BROKEN_NOTICE)).encode()) == b'{"text": "Yes"}'
    assert content_of(found, "it is [b]12[\u2009/b].") == "bold"
    assert content_of(found, "a <\u2009s> b") == "as sent"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b'{"match": "x"}',
        b'{"raw": "x"}',
        b'{"match": "", "raw": "x"}',
        b'{"match": [], "raw": "x"}',
        b'{"match": ["x", ""], "raw": "x"}',
        b'{"match": 3, "raw": "x"}',
        b'{"match": "x", "raw": "y", "model": 3}',
        b'{"match": "x", "raw": null}',
        b'{"request": {}}',
        b'{"request": ' + b"[" * 5_000 + b"]" * 5_000 + b', "response": {}}',
        b'{"match": "\xff", "raw": "x"}',
        b'{"match": "\\ud800", "raw": "x"}',
    ],
)
def test_a_bad_line_is_rejected_by_number_and_the_others_are_served(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "recorded.jsonl"
    file.write_bytes(b'{"match": "first", "raw": "1"}\n' + line + b'\n{"match": "last", "raw": "3"}\n')
    found, refused = load_recorded_replies(file)
    assert [one.line for one in refused] == ([2] if line else [])
    assert (content_of(found, "first"), content_of(found, "last")) == ("1", "3")


def test_a_line_that_is_too_long_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 2_000)
    file = write_lines(tmp_path / "r.jsonl", [{"match": "x" * 5_000, "raw": "1"}, {"match": "last", "raw": "2"}])
    found, refused = load_recorded_replies(file)
    assert [one.line for one in refused] == [1]
    assert content_of(found, "last") == "2"


@pytest.mark.parametrize("content", ["", "\n\n", "nothing\n"])
def test_a_file_without_replies_is_rejected(tmp_path: Path, content: str) -> None:
    file = tmp_path / "recorded.jsonl"
    file.write_text(content)
    with pytest.raises(FormatError, match="holds no recorded reply"):
        load_recorded_replies(file)


TEXTS = st.text(min_size=1, max_size=40)


@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6, unique=True), request_text=st.text(max_size=80), inside=st.booleans()
)
def test_the_first_matching_text_wins(texts: list[str], request_text: str, inside: bool) -> None:
    from workbench.runs.replaying import TextReply

    found = RecordedReplies(TextReply(match=text, raw=str(number)) for number, text in enumerate(texts))
    text = request_text + (texts[-1] if inside else "") + request_text
    whole = "\n".join(("asked", "user", text))
    wanted = next((str(number) for number, one in enumerate(texts) if one in whole), None)
    assert content_of(found, text) == wanted


def test_one_recording_serves_several_models(tmp_path: Path) -> None:
    found = book(
        tmp_path,
        {"asked": "small", "match": "x", "raw": "of small"},
        {"asked": ["large", "huge"], "match": "x", "raw": "of both"},
        {"match": "x", "raw": "of any"},
    )

    def reply(model: object) -> str:
        answer = found.answer(CHAT, json.dumps({"model": model, "messages": [{"content": "x"}]}).encode())
        assert answer is not None
        content: str = json.loads(answer)["choices"][0]["message"]["content"]
        return content

    assert [reply(name) for name in ("small", "huge", "large", "other", None, 7)] == [
        "of small",
        "of both",
        "of both",
        *["of any"] * 3,
    ]
    assert found.models == ("small", "large", "huge")


def test_a_recording_may_include_token_counts(tmp_path: Path) -> None:
    found = book(
        tmp_path, {"match": "x", "raw": "so", "usage": {"prompt_tokens": 3, "completion_tokens": 4, "more": 1}}
    )
    assert answer_of(found, "x")["usage"] == {"prompt_tokens": 3, "completion_tokens": 4}
    assert answer_of(found, "x", "/v1/messages")["usage"] == {"input_tokens": 3, "output_tokens": 4}


@pytest.mark.parametrize("wrong", [{"asked": 1}, {"asked": [1]}, {"usage": {"prompt_tokens": 1}}, {"usage": 1}])
def test_a_recording_with_an_invalid_field_is_rejected(tmp_path: Path, wrong: dict[str, Any]) -> None:
    file = write_lines(tmp_path / "recorded.jsonl", [{"match": "x", "raw": "so"}, {"match": "x", "raw": "so", **wrong}])
    found, refused = load_recorded_replies(file)
    assert (found.size, [one.line for one in refused]) == (1, [2])


def test_replies_of_several_servers_to_one_request_are_reported(tmp_path: Path) -> None:
    def line(text: str, server: str | None) -> dict[str, Any]:
        return {"request": {"q": text}, "response": {"a": server}, **({"server": server} if server else {})}

    lines = [line("a", "http://one"), line("a", "http://other"), line("b", "http://one"), line("b", "http://one")]
    assert book(tmp_path, *lines, line("b", None)).mixed == 1
