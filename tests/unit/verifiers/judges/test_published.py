"""Published prompts: the request is the file with the texts of the item, and the file is identified."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.servers.memory import MemoryJournal
from tests.servers.scripted import scripted
from tests.unit.verifiers.judges.asking import ITEM, judged, llm_judge, requests
from tests.unit.verifiers.over_http import judged_over_http
from workbench.core.errors import UsageError
from workbench.core.verdict import VerifierInput
from workbench.verifiers.base import identity
from workbench.verifiers.judges import published
from workbench.verifiers.judges.published import VERIFYBENCH
from workbench.verifiers.judges.verifier import LlmJudge

WITH = (
    b"Is it right?\r\n{question} {{so}} {x} {?question} {data-notice}\n\\frac{a}{b}\n"
    b"[{answer}]\n[{completion}] {answer}\n\n"
)
WITHOUT = b"{question}\n\n{completion}"
NAMES = ("question", "answer", "completion")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return of(tmp_path, WITH, WITHOUT)


def of(folder: Path, with_reference: bytes, without: bytes = WITHOUT) -> Path:
    (folder / "prompt").mkdir()
    (folder / "prompt" / "w_ref.txt").write_bytes(with_reference)
    (folder / "prompt" / "wo_ref.txt").write_bytes(without)
    return folder


def put_in(prompt: bytes, item: VerifierInput) -> str:
    """The prompt cut at its placeholders, an item's texts between the pieces."""
    said = {"question": item.question, "answer": item.reference, "completion": item.completion}
    parts = [prompt.decode()]
    for name in NAMES:
        parts = [piece for part in parts for piece in _split(part, f"{{{name}}}")]
    return "".join(said.get(part[1:-1], part) if part[:1] == "{" and part[-1:] == "}" else part for part in parts)


def _split(part: str, mark: str) -> list[str]:
    if part[1:-1] in NAMES and part == f"{{{part[1:-1]}}}":
        return [part]
    pieces = part.split(mark)
    return [found for piece in pieces for found in (piece, mark)][:-1]


def test_the_request_is_the_file_with_the_texts_in_it(copy: Path) -> None:
    (call,) = requests(published=str(copy))
    (message,) = call.request.messages
    assert (message.role, message.content) == ("user", put_in(WITH, ITEM))
    assert "{data-notice}" in message.content
    assert "{?question}" in message.content
    (call,) = requests(published=str(copy), reference="false")
    (message,) = call.request.messages
    assert message.content == put_in(WITHOUT, ITEM)
    assert ITEM.reference not in message.content


@given(
    st.text(alphabet="{}?!/abqueston \n\r<|>\u2009"), st.sampled_from(["<|im_end|>", "{answer}", "{completion}", ""])
)
def test_no_text_of_an_item_changes_the_rest(tmp_path_factory: pytest.TempPathFactory, text: str, mark: str) -> None:
    copy = of(tmp_path_factory.mktemp("copy"), WITH)
    item = structs.replace(ITEM, question=f"{mark}{text}", completion=f"{text}{mark}", reference=mark)
    ((message,),) = (call.request.messages for call in requests(item, published=str(copy)))
    assert message.content == put_in(WITH, item)


def test_the_published_parser_reads_the_reply(copy: Path) -> None:
    found, _ = judged("Nothing is wrong here, I think. Yes. Not bad.", published=str(copy))
    assert found.verdict.outcome.name == "INCORRECT", "the release takes the last Yes or No, in words, too"
    found, _ = judged("Final Judgment: Yes. Not bad.", published=str(copy), parser="verifybench@2")
    assert found.verdict.outcome.name == "CORRECT"


def test_the_configuration_tells_released_from_changed_files(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = llm_judge(published=str(copy))
    assert changed.config()["published"] == "changed"
    assert "bytes differ" in changed.notes[0]
    digest = hashlib.sha256(WITH).hexdigest()
    monkeypatch.setitem(VERIFYBENCH, True, structs.replace(VERIFYBENCH[True], sha256=digest))
    same = llm_judge(published=str(copy))
    assert (same.config()["published"], same.config()["template_sha256"]) == ("as released", digest)
    assert "are those that VerifyBench's authors released" in same.notes[0]
    assert llm_judge(published=str(copy), reference="false").config()["published"] == "changed"
    assert llm_judge().notes == ()
    assert "published" not in llm_judge().config()


def test_the_digests_equal_the_release() -> None:
    assert VERIFYBENCH[True].sha256 == "0c8636d070a7af9d2ab3bf5b1b7a9c41dcbe038850c45eda110fba0c8a0ad718"
    assert VERIFYBENCH[False].sha256 == "3c59b3b793451a1c673d2cf9f6f367bad1c1af045adbacbfeb1672dd27a2a5fc"


def test_another_file_is_another_verifier(copy: Path) -> None:
    before = identity(llm_judge(published=str(copy)))
    assert identity(llm_judge(published=str(copy))) == before
    (copy / "prompt" / "w_ref.txt").write_bytes(WITH + b" ")
    assert identity(llm_judge(published=str(copy))) != before


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("fence", "on"),
        ("neutralise", "true"),
        ("template", "mine.toml"),
        ("template_version", "1"),
        ("variant", "cot"),
        ("examples", "2"),
        ("strategy", "vanilla"),
    ],
)
def test_options_that_change_the_request_are_rejected(copy: Path, option: str, value: str) -> None:
    with pytest.raises(ValueError, match="published"):
        llm_judge(published=str(copy), **{option: value})


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (b"{question} {completion}", r"w_ref.txt: {answer} is missing"),
        (b"{question} {answer}", r"w_ref.txt: {completion} is missing"),
        (b"\xff{question}", r"w_ref.txt:1: "),
        (b"{question}{answer}{completion}" + b"x" * 300_000, r"at most 256 KiB"),
    ],
)
def test_an_invalid_prompt_file_is_rejected(tmp_path: Path, prompt: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        llm_judge(published=str(of(tmp_path, prompt)))


def test_a_prompt_without_reference_has_none(tmp_path: Path) -> None:
    copy = of(tmp_path, WITH, b"{question} {completion} {answer}")
    with pytest.raises(UsageError, match=r"wo_ref.txt: {answer} does not belong there"):
        llm_judge(published=str(copy), reference="false")
    with pytest.raises(UsageError, match="no such file"):
        llm_judge(published=str(tmp_path / "nowhere"))


def test_sampling_options_are_free(copy: Path) -> None:
    def sampling(**options: str) -> dict[str, object]:
        (call,) = requests(published=str(copy), **options)
        return {name: value for name, value in structs.asdict(call.request.sampling).items() if value not in (None, ())}

    assert sampling() == {"temperature": 0.0, "max_tokens": 2048}, "as the release draws"
    assert sampling(temperature="0.7", max_tokens="9") == {"temperature": 0.7, "max_tokens": 9}
    assert sampling(temperature="none") == {"max_tokens": 2048}
    assert sampling(max_tokens="none") == {"temperature": 0.0}
    assert published.PARSER == "verifybench@1"


def test_a_swapped_prompt_is_recognised_by_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = of(tmp_path, WITHOUT, WITH)
    for reference, data in ((True, WITH), (False, WITHOUT)):
        digest = hashlib.sha256(data).hexdigest()
        monkeypatch.setitem(VERIFYBENCH, reference, structs.replace(VERIFYBENCH[reference], sha256=digest))
    with pytest.raises(UsageError, match=r"w_ref\.txt: this is the file prompt/wo_ref\.txt of the release"):
        llm_judge(published=str(copy))
    with pytest.raises(UsageError, match=r"wo_ref\.txt: this is the file prompt/w_ref\.txt of the release"):
        llm_judge(published=str(copy), reference="false")


def test_one_of_the_two_prompts_is_enough(copy: Path) -> None:
    (copy / "prompt" / "wo_ref.txt").unlink()
    assert llm_judge(published=str(copy))
    with pytest.raises(UsageError, match="no such file"):
        llm_judge(published=str(copy), reference="false")


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "device"])
def test_a_special_file_is_rejected_without_blocking(tmp_path: Path, kind: str) -> None:
    copy = of(tmp_path, WITH)
    prompt = copy / "prompt" / "w_ref.txt"
    prompt.unlink()
    match kind:
        case "pipe":
            os.mkfifo(prompt)
        case "folder":
            prompt.mkdir()
        case "loop":
            prompt.symlink_to(prompt)
        case _:
            prompt.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="no such file"):
        llm_judge(published=str(copy))


@pytest.mark.parametrize(
    "around", [b"\xef\xbb\xbf%s", b"%s\r\n", b"\r%s\n\r", b"a\0b%s", "\u2028%s\u0085".encode(), b"%s" + b"\n" * 9]
)
def test_byte_order_marks_and_line_ends_are_sent_unchanged(tmp_path: Path, around: bytes) -> None:
    prompt = around.replace(b"%s", WITH)
    copy = of(tmp_path, prompt)
    (call,) = requests(published=str(copy))
    (message,) = call.request.messages
    assert message.content == put_in(prompt, ITEM)
    assert llm_judge(published=str(copy)).config()["published"] == "changed"


@pytest.mark.parametrize("reference", ["true", "false"])
def test_the_server_gets_exactly_the_file_with_the_texts(copy: Path, reference: str) -> None:
    item = structs.replace(ITEM, question="<|im_end|>{answer}\u2028\r\n\ud7ff", completion="{question}\0{completion}")
    with scripted(lambda _: "Final Judgment: Yes") as server:
        judge = LlmJudge(base_url=server.url, model="m", published=str(copy), reference=reference)
        judged_over_http(judge, [item], MemoryJournal())
    (body,) = server.bodies
    prompt = WITH if reference == "true" else WITHOUT
    messages = [{"role": "user", "content": put_in(prompt, item)}]
    assert body == {"model": "m", "temperature": 0.0, "max_tokens": 2048, "messages": messages}
