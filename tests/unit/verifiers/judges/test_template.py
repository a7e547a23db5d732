"""Template files, built-in and custom: placeholders, sections, and errors with file, line and field."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.verifiers.judges.asking import ITEM, SECRET, Scripted, judged, llm_judge, requests
from workbench.core.errors import UsageError
from workbench.verifiers.base import identity
from workbench.verifiers.judges import template
from workbench.verifiers.judges.strategies import RUBRIC, STRATEGIES, TEMPLATE
from workbench.verifiers.judges.template import fill

OWN = """\
id = "mine"
version = 3
parser = "verifybench"

[sampling]
temperature = 0.2

[[calls]]
name = "draft"

[[calls.messages]]
role = "system"
content = 'Solve it: {question} in \\text{so}, x^{up}, {{so}}, { so } and {"json": 1}'

[[calls]]
name = "check"
sampling.max_tokens = 5

[[calls.messages]]
role = "user"
content = '''
{draft}|{completion}|{?reference}R:{reference}{/reference}{!reference}none{/reference}'''
"""


FIRST_VERSIONS = {
    "codejudge": "19695eb7f2e213350c76990f01c4c49d7594ad46378b7b2b36475bcbdc80a52e",
    "codejudge-fault": "a5abc7d0b1364443b34a0b64f019c030c0c61d9f5c7515eb0c7443d521a47c34",
    "compassverifier": "2a46d3b4879dc590abc5431afe589bf6fba1121e78dfc1ed8baca3c3063d0584",
    "compassverifier-cot": "d8738eb6341edc56f40be23b85424b5769bb835948c572a5b1758256c2e1f111",
    "ice-score": "b4fdc772ae8b3440412f6feca5cf6397a167d0fb8ce05c142d27caff91a960ba",
    "ice-score-cot": "5717cb8fd8d6bfb3d068d042fc85493dc6e4f84fe6546cfb17d4da9c94ed319a",
    "ice-score-usefulness": "ac3db0edb610f40332bde4a713df6a631f26198f3ae6ddd042e25a4f078984c1",
    "ice-score-usefulness-cot": "f009cc2c494d4448f8fa5c91f99e4a75efa50dd336e3cbd88ffd4af5e07f4f0e",
    "mcts": "1c81b170dc495d0999fa3892330ed90aa6fcbdbf64d023487ccd7c097d163d5c",
    "test-verification": "89cd6926d0551809274e39f95951bf369c044bdb96e7b7def72c1962f898aa0d",
    "vanilla": "df13a9e92e0595b4cb3de27f5f0b11cac9d1a28c02dec68d6fdefab855dc8daa",
    "verifybench": "b215bfa0c6e0115d801c8c3f7ddd93b0c2dbd4584d0aca65b16930901c4fb13b",
    "xverify": "45297942d296e286fd24f72e6d121e731c4cebc3505ad5edd34f3cfe33878177",
    "xverify-no-question": "1890f493ca3c835159b135303a2056ea992950c67ff278b65a219fc05d97d634",
}
"""What stored replies rest on: these files never change."""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(OWN, encoding="utf-8")
    return path


def refusal(tmp_path: Path, text: str | bytes, **options: str) -> str:
    path = tmp_path / "t.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError) as error:
        llm_judge(template=str(path), **options)
    return str(error.value).replace(str(tmp_path), "")


@pytest.mark.parametrize("name", [path.stem for path in (Path(template.__file__).parent / "templates").glob("*.toml")])
def test_built_in_templates_have_their_name(name: str) -> None:
    text = (Path(template.__file__).parent / "templates" / f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("#"), "it says where its idea comes from"
    own, _, version = name.partition("@")
    assert f'id = "{own}"\nversion = {version}\n' in text


def test_every_strategy_has_its_templates() -> None:
    for strategy, kind in STRATEGIES.items():
        for variant in (None, *kind.variants):
            if strategy not in (RUBRIC, TEMPLATE):
                options = {"strategy": strategy} | ({"variant": variant} if variant else {})
                label = str(llm_judge(**options).config()["template"])
                newest = 1 if kind.file else 2
                assert label == f"{kind.file or strategy}{f'-{variant}' if variant else ''}@{newest}"
                first = llm_judge(**options, template_version="1").config()
                assert first["template"] == f"{label[:-2]}@1"
                assert first["template_sha256"] == FIRST_VERSIONS[label[:-2]]
    with pytest.raises(ValueError, match="template_version: verifybench has 1, 2, not 3"):
        llm_judge(template_version="3")


def test_a_custom_template_is_filled_call_by_call(own: Path) -> None:
    options = {"template": str(own), "fence": "off"}
    found, calls = judged(["draft text", "Final Judgment: No"], **options)
    assert found.verdict.outcome.word == "incorrect"
    assert (
        calls[0].text == f'Solve it: {ITEM.question} in \\text{{so}}, x^{{up}}, {{{{so}}}}, {{ so }} and {{"json": 1}}'
    )
    assert calls[1].text == f"draft text|{ITEM.completion}|R:{ITEM.reference}"
    assert [call.request.sampling.max_tokens for call in calls] == [None, 5]
    assert llm_judge(**options).calls_per_item() == 2
    without = requests(**options, reference="false")
    assert without[1].text.endswith("|none")


def test_texts_in_a_custom_template_are_fenced(own: Path) -> None:
    call = requests(template=str(own))[0]
    line = call.text.partition("two lines that read ")[2].partition(".")[0]
    assert f"Solve it: {line}\n{ITEM.question}\n{line} in" in call.text


def test_a_custom_template_can_place_the_delimiter_notice(own: Path) -> None:
    """The text before the notice is the same for every item."""
    early = requests(template=str(own))[1]
    own.write_text(OWN.replace("{draft}|", "Compare.\n\n{data-notice}{draft}|"), encoding="utf-8")
    late, other = (
        requests(item, template=str(own))[1] for item in (ITEM, structs.replace(ITEM, completion="<|im_end|>"))
    )
    assert early.text.startswith("Texts you are given stand between two lines that read data-")
    assert late.text.startswith("Compare.\n\nTexts you are given stand between")
    shared = late.request.shared
    assert late.text[:shared] == other.text[:shared]
    assert late.text[shared:].startswith("data-")
    assert "thin space" in other.text[shared:]
    bare = requests(template=str(own), fence="off")[1]
    assert bare.text.startswith("Compare.\n\nYes|")
    assert bare.request.shared == 0


def test_the_bytes_of_the_file_are_part_of_the_identity(own: Path) -> None:
    before = identity(llm_judge(template=str(own)))
    own.write_text(OWN + "# a remark\n", encoding="utf-8")
    assert identity(llm_judge(template=str(own))) != before


def test_a_custom_template_can_replace_that_of_a_strategy(own: Path) -> None:
    judge = llm_judge(template=str(own), strategy="codejudge-fault")
    assert judge.config()["template"] == "mine@3"
    assert judge.config()["parser"] == "verifybench@2"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"mine"', "mine", "/t.toml:1: Invalid value (at line 1, column 6)"),
        ("version = 3", 'version = "3"', "/t.toml:2: Expected `int`, got `str` - at `$.version`"),
        ("version = 3", "version = 0", "/t.toml:2: Expected `int` >= 1 - at `$.version`"),
        ("version = 3", "versoin = 3", "/t.toml:2: Object contains unknown field `versoin`"),
        ('parser = "verifybench"', "", "missing required field `parser`"),
        ('parser = "verifybench"', 'parser = "mine"', "/t.toml:3:parser: There is no parser 'mine'"),
        ("temperature = 0.2", "temperature = -1", "/t.toml:6: Expected `float` >= 0.0 - at `$.sampling.temperature`"),
        (
            'role = "user"',
            'role = "robot"',
            "/t.toml:20: Invalid enum value 'robot' - at `$.calls[1].messages[0].role`",
        ),
        ("max_tokens = 5", "max_tokns = 5", "/t.toml:17: Object contains unknown field `max_tokns`"),
        ('name = "check"', 'name = "Check it"', "/t.toml:16: Expected `str` matching regex"),
        ('name = "check"', 'name = "question"', "/t.toml:16:name: 'question' is the name of a placeholder"),
        ('name = "check"', 'name = "draft"', "/t.toml:16:name: 'draft' is the name of a placeholder"),
        ("{completion}", "{completoin}", "/t.toml:22:content: {completoin} is not a placeholder here."),
        ("{question}", "{check}", "/t.toml:13:content: {check} is not a placeholder here."),
        ("{/reference}{!", "{!", "/t.toml:22:content: no section can begin or end with {!reference} here."),
        ("none{/reference}", "none", "a section of {reference} never ends"),
        ("{?reference}", "", "no section can begin or end with {/reference} here"),
        ("{?reference}", "{?refrence}", "{?refrence} is not a placeholder here"),
    ],
)
def test_errors_have_their_position(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in OWN
    assert message in refusal(tmp_path, OWN.replace(old, new, 1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "missing required field `id`"),
        (b"#\n\xff\xfe", "/t.toml:2: 'utf-8' codec"),
        ('id = "mine"\nversion = 3\nid = "mine"', "/t.toml:3: Cannot overwrite a value"),
        ('id = "mine"\nversion = [', "/t.toml:2: Invalid value (at end of document)"),
        (
            OWN.replace("{completion}", "{Completion}"),
            "/t.toml: none of its calls has a placeholder for the completion.",
        ),
        (b"x = " + b"[" * 50_000, "too deep"),
        (b"a." * 100_000 + b"b = 1", "more than 50 parts"),
        (b"#" * (256 * 1024 + 1), "at most 256 KiB"),
        ("calls = []\n" + OWN[: OWN.index("[[calls]]")], "/t.toml:1: Expected `array` of length >= 1 - at `$.calls`"),
        (OWN[: OWN.index("[[calls.messages]]")] + "messages = []", "`$.calls[0].messages`"),
    ],
)
def test_an_invalid_template_file_is_rejected(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert message in refusal(tmp_path, content)


def test_a_missing_file_and_a_folder_are_rejected(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(UsageError, match="there is no such file"):
            llm_judge(template=str(path))


def test_a_required_reference_cannot_be_switched_off(own: Path) -> None:
    own.write_text(OWN.replace("{?reference}R:{reference}{/reference}", "{reference}"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"'mine' needs the reference"):
        llm_judge(template=str(own), reference="false")
    with pytest.raises(ValueError, match="'xverify-no-question' needs the reference"):
        llm_judge(strategy="xverify", variant="no-question", reference="false")


@given(
    st.text(alphabet="ab{}?!/x \\", max_size=40),
    st.dictionaries(st.sampled_from(("ab", "ba")), st.text(max_size=10), min_size=2),
)
def test_inserted_texts_are_not_expanded_again(content: str, texts: dict[str, str]) -> None:
    marked = {name: f"«{len(text)}»" if text else "" for name, text in texts.items()}
    once = fill(content, marked, str)
    again = fill(content, texts, lambda text: f"«{len(text)}»" if text else "")
    assert once == again


def test_texts_that_look_like_placeholders_are_kept(own: Path) -> None:
    server = Scripted(["{completion}{?reference}", "Yes"])
    judge = llm_judge(template=str(own), fence="off")
    with pytest.raises(StopIteration):
        judge.judge(ITEM, server, SECRET).send(None)
    assert server.calls[1].text.startswith("{completion}{?reference}|")


def test_the_documented_template_works(tmp_path: Path) -> None:
    document = (Path(__file__).resolve().parents[4] / "docs" / "judge-prompts.md").read_text(encoding="utf-8")
    shown, criteria, *_ = re.findall(r"```toml\n(.*?)```", document, re.DOTALL)
    path = tmp_path / "mine.toml"
    path.write_text(shown, encoding="utf-8")
    found, calls = judged(["It is 25.", "Final Judgment: Yes"], template=str(path))
    assert found.verdict.outcome.word == "correct"
    assert [call.step for call in calls] == ["notes", "judge"]
    path.write_text(criteria, encoding="utf-8")
    assert judged("result: Yes\nsteps: No\nunits: No", template=str(path))[0].verdict.score == 0.6
    strategies = (Path(__file__).resolve().parents[4] / "docs" / "judges.md").read_text(encoding="utf-8")
    for strategy, kind in STRATEGIES.items():
        assert kind.own_template is False or f"| `{strategy}`" in strategies
        assert all(f"`{variant}`" in strategies for variant in kind.variants)


def test_a_prompt_in_a_text_file_can_define_its_verdict_words(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Is {completion} equal to {reference}? Answer VALID or INVALID.", encoding="utf-8")
    found, _ = judged("Both are 25.\nVALID", template=str(path), parser="words:VALID/INVALID")
    assert found.verdict.outcome == "correct"
    assert judged("Yes", template=str(path), parser="words:VALID/INVALID")[0].verdict.reason == "unparsed"
