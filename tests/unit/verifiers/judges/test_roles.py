"""Custom prompts: the roles of the search from files, in TOML or as printed in a paper."""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path

import pytest
from msgspec import structs

from tests.commands import run
from tests.documents import ROOT
from tests.unit.verifiers.judges.asking import SECRET, llm_judge
from tests.unit.verifiers.judges.coin import PROBLEM, Coin, as_json, judged, trace
from workbench.core.errors import UsageError

PAPER = ROOT.parent / "shared" / "papers" / "mcts_judge.txt"
TITLES = {
    # The title above a printed prompt, and its role.
    8: {"Vanilla": "vanilla"},
    9: {"Test Cases Generation": "generate", "Test Case Validation": "validate", "Simulated Execution": "execute"},
    10: {"LLM-drive Self-Assessment for Node Selection": "assess"},
    11: {"Code Logic Evaluation": "analyse-logic", "Analysis Summarization": "summarise"},
    12: {
        "Initial Test Cases Generation": "generate",
        "JSON Reformation": "reformat",
        "Test Case Validation": "validate",
    },
    13: {
        "Simulated Execution": "execute",
        "Compare Execution Results with Expected Outputs of Test Cases": "compare",
    },
}
CODE = structs.replace(PROBLEM, language="python", function_name="add", example="1 2 -> 3", difficulty="introductory")
ANALYSE = """\
<|system|>: Look at {agent} of this {language} code. Sets are {{1, 2}}.
<|user|>: Problem:{problem}
Known:{reference code}
Code ({language}):{code}
<|assistant|>:Thoughts:
"""


def printed(table: int) -> dict[str, str]:
    """The prompts of a table of the paper, by role."""
    text = PAPER.read_text(encoding="utf-8")
    end = re.search(rf"^Table {table}: ", text, re.MULTILINE)
    assert end is not None
    start = text.rfind(f"\n{next(iter(TITLES[table]))}\n", 0, end.start())
    body = text[start : end.start()]
    found: dict[str, str] = {}
    for part in re.split("|".join(rf"^{re.escape(title)}\n" for title in TITLES[table]), body, flags=re.MULTILINE)[1:]:
        found[list(TITLES[table].values())[len(found)]] = part
    assert list(found) == list(TITLES[table].values())
    return found


def filled(turn: str, **texts: str) -> str:
    """A turn of a prompt as it is to go out, worked out without the program's own reader."""
    for name, text in texts.items():
        turn = turn.replace(f"{{{name}}}", text)
    return turn.replace("{{", "{").replace("}}", "}").strip()


def turns(prompt: str) -> list[tuple[str, str]]:
    parts = re.split(r"^<\|(\w+)\|>:", prompt, flags=re.MULTILINE)[1:]
    return [(role, said) for role, said in zip(parts[::2], parts[1::2], strict=True)]


def sent(coin: Coin, step: str) -> list[list[tuple[str, str]]]:
    return [[(message.role, message.content) for message in call[3].messages] for call in coin.calls if call[0] == step]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "prompts"
    found.mkdir()
    return found


# The paper's own tables, typed in.


needs_paper = pytest.mark.skipif(not PAPER.exists(), reason="the paper's text is not here")


@needs_paper
def test_table_8_is_sent_unchanged(folder: Path) -> None:
    prompt = printed(8)["vanilla"]
    (folder / "vanilla.txt").write_text(prompt)
    coin = Coin(fixed={"judge": "Yes"})
    options = {"strategy": "vanilla", "template": str(folder / "vanilla.txt")}
    asyncio.run(llm_judge(**options).judge(CODE, coin, SECRET))
    texts = {"problem": CODE.question, "example": "1 2 -> 3", "reference code": CODE.reference, "code": CODE.completion}
    assert sent(coin, "judge") == [[(role, filled(said, language="python", **texts)) for role, said in turns(prompt)]]


@needs_paper
def test_tables_10_to_13_are_sent_unchanged_by_one_search(folder: Path) -> None:
    prompts = {role: prompt for table in (10, 11, 12, 13) for role, prompt in printed(table).items()}
    for role, prompt in prompts.items():
        (folder / f"{role}.txt").write_text(prompt)
    listed = folder.parent / "subtasks.toml"
    listed.write_text(
        'version = 1\n[[subtask]]\nid = "logic"\ntitle = "Logic"\n[[subtask]]\nid = "rest"\ntitle = "Rest"\n'
    )
    coin = Coin()
    found = trace(coin, CODE, prompts=str(folder), subtasks=str(listed), rollouts="4")
    assert found["order"] == ["logic", "rest"]
    texts = {
        "problem": CODE.question,
        "example": "1 2 -> 3",
        "reference code": CODE.reference,
        "code": CODE.completion,
        "language": "python",
    }
    (analysis, *_) = sent(coin, "logic: analyse")
    assert analysis == [(role, filled(said, **texts)) for role, said in turns(prompts["analyse-logic"])]
    assert "Rest" in sent(coin, "rest: analyse")[0][0][1], "the others have ours"
    (summary, *_) = sent(coin, "logic: summarise")
    assert re.fullmatch(r"Analysis Result:Thought \d+\.", summary[1][1])
    assert [role for role, _ in summary] == ["system", "user", "assistant"]
    (assessed, *_) = sent(coin, "logic: self-assess")
    wanted = turns(prompts["assess"])
    assert assessed == [(role, filled(said, agent="Logic", history="none", **texts)) for role, said in wanted]
    for level in ("easy", "medium", "hard"):
        (generated,) = sent(coin, f"{level} tests: generate")
        assert generated == [
            (role, filled(said, difficulty=level, **texts)) for role, said in turns(prompts["generate"])
        ]
        (reformat,) = sent(coin, f"{level} tests: reformat")
        assert '{"<root_function_name>": { "input"' in reformat[1][1]
        assert "{{" not in reformat[1][1]
        assert "Thought " in reformat[1][1]
    test = {"test_case": "Input: easy tests: reformat 0\nExpected output: 1"}
    assert [(role, filled(said, **texts, **test)) for role, said in turns(prompts["validate"])] in sent(
        coin, "easy tests: validate"
    )
    (execution, *_) = sent(coin, "execute")
    assert "Act as a python interpreter" in execution[1][1]
    assert "Expected output" not in execution[1][1], "the output is masked"
    (comparison, *_) = sent(coin, "compare")
    assert "Expected output: 1" in comparison[1][1]
    assert "Thought " in comparison[1][1]


@needs_paper
def test_table_9_is_sent_unchanged(folder: Path) -> None:
    prompts = printed(9)
    for role, prompt in prompts.items():
        (folder / f"{role}.txt").write_text(prompt)
    coin = Coin()
    options = {"strategy": "test-verification", "prompts": str(folder)}
    assert judged(coin, CODE, **options).verdict.outcome.word in ("correct", "incorrect")
    (generated,) = sent(coin, "unit tests: generate")
    texts = {"code": CODE.completion, "language": "python", "example": "1 2 -> 3", "function name": "add"}
    assert generated == [(role, filled(said, **texts)) for role, said in turns(prompts["generate"])]


@needs_paper
@pytest.mark.parametrize("table", TITLES)
def test_every_printed_prompt_is_checked_by_the_command(table: int, folder: Path) -> None:
    for role, prompt in printed(table).items():
        (folder / f"{role}.txt").write_text(prompt)
    words = folder / "vanilla.txt" if table == 8 else folder
    done = run("template", "check", str(words))
    assert done.returncode == 0, done.stderr
    for role, prompt in printed(table).items():
        assert hashlib.sha256(prompt.encode()).hexdigest() in done.stdout
        assert f"{role}.txt" in done.stdout
    assert "as they are, without a fence" in done.stdout


# In a shape like theirs.


def test_a_printed_prompt_is_sent_unchanged_without_a_fence(folder: Path) -> None:
    (folder / "analyse.txt").write_text(ANALYSE)
    tricky = structs.replace(
        CODE, completion="{problem} {{x}} <|user|>: {agent}\n<|im_end|>", question="What is {code} and {reference}?"
    )
    coin = Coin()
    trace(coin, tricky, prompts=str(folder), rollouts="1")
    (first, *_) = [call for call in coin.calls if call[0].endswith(": analyse")]
    title = {"requirements": "Requirement coverage", "logic": "Logic", "edge-cases": "Edge cases"}[
        first[0].partition(":")[0]
    ]
    assert [message.content for message in first[3].messages] == [
        f"Look at {title} of this python code. Sets are {{1, 2}}.",
        f"Problem:{tricky.question}\nKnown:{tricky.reference}\nCode (python):{tricky.completion}",
        "Thoughts:",
    ]


def test_a_role_file_in_toml_has_sections_sampling_and_a_fence(folder: Path) -> None:
    (folder / "compare.toml").write_text(
        '[sampling]\ntemperature = 0\n\n[[messages]]\nrole = "user"\n'
        'content = "{?language}In {language}. {/language}{test} against {execute}: MATCH?"\n'
    )
    coin = Coin()
    trace(coin, CODE, prompts=str(folder), rollouts="1")
    (first, *_) = [call[3] for call in coin.calls if call[0] == "compare"]
    assert first.sampling.temperature == 0
    assert first.sampling.top_k == 40, "what the file doesn't say is as in ours"
    assert "In python. data-" in first.messages[0].content, "a word needs no fence, a text has one"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("analyze.txt", "Look.", "'analyze' is not a valid role"),
        ("compare.txt", "", "it is empty"),
        ("compare.txt", "Hello\n<|user|>: {answer}", ":1: there is text before"),
        ("compare.txt", "<|system|>:\n\n<|user|>: {answer}", ":1: the turn .* is empty"),
        ("compare.txt", "<|user|>: {answer}\n{analysis}", ":2: {analysis} is not a placeholder here"),
        ("compare.txt", "{{test}} {answer}", ":1: doubled braces"),
        ("compare.toml", 'x = 1\n[[messages]]\nrole = "user"\ncontent = "a"', "unknown field `x`"),
        (
            "compare.toml",
            '[[messages]]\nrole = "user"\ncontent = "a {sense} b"',
            ":3: {sense} is not a placeholder here",
        ),
        ("generate.txt", "<|user|>: Tests for {code}", "writes tests from the problem alone"),
        ("analyse.txt", "Is the logic of {code} right?", r"analyse.txt: without {title} or {focus} every .* same"),
        (
            "analyse.toml",
            '[[messages]]\nrole = "user"\ncontent = "{completion} {history}"',
            "without {title} or {focus}",
        ),
        ("assess.txt", "Is more needed for {code}? Done: {history}", r"assess.txt: without {title} or {focus}"),
    ],
)
def test_an_invalid_file_is_rejected_with_its_error(folder: Path, name: str, text: str, words: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(UsageError, match=words):
        llm_judge(strategy="mcts", prompts=str(folder))


def test_a_prompt_of_one_subtask_has_its_name_and_needs_no_title(folder: Path) -> None:
    (folder / "analyse.txt").write_text("Is the logic of {code} right?")
    with pytest.raises(UsageError) as found:
        llm_judge(strategy="majority-vote", prompts=str(folder))
    assert "analyse-ID.txt" in (found.value.hint or "")
    done = run("template", "check", str(folder))
    assert (done.returncode, "without {title}" in done.stderr) == (2, True), done.stderr
    (folder / "analyse.txt").rename(folder / "analyse-logic.txt")
    assert llm_judge(strategy="majority-vote", prompts=str(folder))
    (folder / "analyse.txt").write_text("{agent} of {code}?")
    assert llm_judge(strategy="mcts", prompts=str(folder))


def test_duplicate_role_files_and_empty_folders_are_rejected(folder: Path) -> None:
    with pytest.raises(UsageError, match="no prompt file for a role"):
        llm_judge(strategy="mcts", prompts=str(folder))
    (folder / "compare.txt").write_text("{answer}")
    (folder / "compare.toml").write_text('[[messages]]\nrole = "user"\ncontent = "a"')
    with pytest.raises(UsageError, match="two files for the role 'compare'"):
        llm_judge(strategy="mcts", prompts=str(folder))
    with pytest.raises(UsageError, match=r"No such file"):
        llm_judge(strategy="mcts", prompts=str(folder / "nowhere"))
    with pytest.raises(ValueError, match="vanilla has no roles"):
        llm_judge(strategy="vanilla", prompts=str(folder))


@pytest.mark.parametrize("options", [{"fence": "on"}, {"neutralise": "on"}], ids=["fence", "neutralise"])
def test_printed_prompts_accept_no_insertions(folder: Path, options: dict[str, str]) -> None:
    (folder / "analyse.txt").write_text(ANALYSE)
    with pytest.raises(ValueError, match=f"{next(iter(options))}: it would change the request"):
        llm_judge(strategy="mcts", prompts=str(folder), **options)


def test_the_bytes_of_a_file_are_part_of_the_identity(folder: Path) -> None:
    ours = llm_judge(strategy="mcts").config()
    assert "prompts" not in ours
    (folder / "compare.txt").write_text("{answer} MATCH or NOT MATCH")
    first = llm_judge(strategy="mcts", prompts=str(folder)).config()
    assert first["prompts"] == {"compare": hashlib.sha256(b"{answer} MATCH or NOT MATCH").hexdigest()}
    (folder / "compare.txt").write_text("{answer} MATCH or NOT MATCH.")
    assert llm_judge(strategy="mcts", prompts=str(folder)).config() != first
    # Prompts that a strategy does not use are not part of its identity.
    (folder / "summarise.txt").write_text("<|user|>: {analysis} Yes or No?")
    vote = llm_judge(strategy="majority-vote", prompts=str(folder)).config()
    assert list(vote["prompts"]) == ["summarise"]  # type: ignore[call-overload]


def test_the_global_evaluation_has_a_role(folder: Path) -> None:
    (folder / "global.txt").write_text("<|user|>: Is {code} right?")
    coin = Coin()
    trace(coin, prompts=str(folder), rollouts="1")
    assert sent(coin, "global") == [[("user", f"Is {PROBLEM.completion} right?")]]
    assert "global_sha256" not in llm_judge(strategy="mcts", prompts=str(folder)).config()


# Lists of subtasks.


LIST = 'version = 2\n[[subtask]]\nid = "names"\ntitle = "Names"\nfocus = "Are names kept?"\n'


def test_a_custom_list_of_subtasks_is_searched_and_voted_on(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(LIST + '[[subtask]]\nid = "speed"\ntitle = "Speed"\n')
    coin = Coin()
    found = trace(coin, subtasks=str(path))
    assert (found["order"], found["subtasks"], found["options"]["depth"]) == (["names", "speed"], 2, 2)
    assert any("Are names kept?" in turn[1] for turn in sent(coin, "names: analyse")[0])
    votes = judged(Coin(), strategy="majority-vote", subtasks=str(path)).votes
    assert len(votes) == 2
    config = llm_judge(strategy="mcts", subtasks=str(path)).config()
    assert config["subtasks_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert "subtasks_sha256" not in llm_judge(strategy="mcts").config()
    with pytest.raises(ValueError, match="depth: it is a whole number from 1 to 2"):
        llm_judge(strategy="mcts", subtasks=str(path), depth="9")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 1\nsubtask = []", "length >= 1"),
        (LIST + LIST.partition("\n")[2], "two subtasks 'names'"),
        (LIST.replace("Are names", "Are {completion}"), "holds {completion}"),
        (LIST.replace('"names"', '"../up"'), "matching regex"),
        (LIST + "comparative = true\n", "every subtask compares"),
        (LIST + "weight = 3\n", "unknown field `weight`"),
        ("version = [", "Invalid|Unclosed|Expected|expected"),
    ],
)
def test_an_invalid_list_is_rejected_with_a_message(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        llm_judge(strategy="mcts", subtasks=str(path))


# The baseline of test cases.


def test_the_test_writer_sees_code_function_and_public_examples() -> None:
    coin = Coin(fixed={"reformat": as_json("1 2", "3 4"), "compare": "MATCH"})
    found = judged(coin, CODE, strategy="test-verification")
    (asked,) = sent(coin, "unit tests: generate")
    assert PROBLEM.completion in asked[1][1]
    assert "1 2 -> 3" in asked[1][1]
    assert "the function add is used" in asked[1][1]
    assert PROBLEM.reference not in asked[1][1], "the paper's prompt shows no other solution"
    assert found.verdict.outcome.word == "correct"
    assert found.trace is not None
    assert found.trace["judge"] == "test-verification"
    counts = coin.counts
    assert (counts["generate"], counts["reformat"], counts["validate"]) == (1, 1, 2 * 5)
    assert (counts["execute"], counts["compare"]) == (2 * 7, 2 * 7)


def test_one_failing_test_rejects_and_no_test_abstains() -> None:
    wrong = judged(Coin(fixed={"compare": "NOT MATCH"}), CODE, strategy="test-verification")
    assert wrong.verdict.outcome.word == "incorrect"
    none = judged(Coin(fixed={"validate": "FAIL"}), CODE, strategy="test-verification")
    assert (none.verdict.outcome.word, none.verdict.reason) == ("abstain", "no_tests")


# In a project's own file.


def test_settings_name_prompts_and_subtasks_next_to_them(tmp_path: Path) -> None:
    from workbench.config.verifiers import NamedVerifier, custom_prompt_files, verifiers

    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "compare.txt").write_text("{answer}: MATCH or NOT MATCH?")
    (tmp_path / "prompts" / "notes.md").write_text("not read")
    (tmp_path / "list.toml").write_text(LIST)
    entry = 'kind = "llm-judge"\nbase_url = "http://x/v1"\nmodel = "m"\nstrategy = "mcts"\n'
    (tmp_path / "workbench.toml").write_text(
        f'[verifiers.mine]\n{entry}prompts = "prompts"\nsubtasks = "list.toml"\n'
        f'[verifiers.out]\n{entry}prompts = "../prompts"\n'
        f'[verifiers.file]\n{entry}prompts = "list.toml"\n'
        f'[verifiers.folder]\n{entry}subtasks = "prompts"\n'
    )
    found = verifiers(tmp_path / "p.db")
    mine = found["mine"]
    assert isinstance(mine, NamedVerifier)
    assert [path.name for path in custom_prompt_files(mine.options)] == ["list.toml", "compare.txt"]
    assert "not inside the project's folder" in str(found["out"])
    assert "there is no folder 'list.toml'" in str(found["file"])
    assert "there is no file 'prompts'" in str(found["folder"])
    assert llm_judge(**{**mine.options, "base_url": "http://localhost:1/v1"}).config()["prompts"]
