"""docs/papers.md has a row for everything in the papers, and every command runs, against a scripted server."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import parsed, run
from tests.documents import ROOT
from tests.evolving_served import need_a_sandbox
from tests.servers.scripted import Numbers, Scripted, ScriptedServer, scripted
from tests.servers.wire import Received
from workbench.app.cli import root

TEXT = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
STATUS = ("same", "differs", "none")
"""The first words of the last cell of a row."""


class Paper(NamedTuple):
    """The content of a paper.

    Attributes:
        tables: The numbers of tables and figures.
        named: Prompts by their appendix, and hyperparameters, as rows call them.
    """

    tables: int
    figures: int
    named: tuple[str, ...]


PAPERS = {
    "VerifyBench": Paper(
        7,
        10,
        (
            *("C.1", "C.2", "C.3", "equation 2", "equations 3 and 4", "41 sources", "22 models", "2,000 questions"),
            *("1.45 million", "64 candidates", "temperature 0.7", "16 samples", "learning rate 1e-5", "batch 256"),
            *("context 4,096", "one epoch", "five judges", "two annotators"),
        ),
    ),
    "MCTS-Judge": Paper(
        13,
        7,
        (
            *("`depth`", "`rollouts`", "`alpha`", "`w_u`", "`w_l`", "`beta`", "`gamma`", "`delta`", "`epsilon`"),
            *("temperature 0.4", "top_p 0.95", "top_k 40", "2,048 tokens"),
        ),
    ),
    "Scoring Verifiers": Paper(5, 18, ("temperature 1.0", "10 tests", "3 seconds")),
    "EvolveCoder": Paper(
        3,
        6,
        (
            *("A.1", "A.2", "A.3", "group size 8", "learning rate 1e-6", "clipping 0.30 and 0.20"),
            *("temperature 0.6", "top_p 0.95", "top_k 20", "32,768 tokens"),
        ),
    ),
}


class Row(NamedTuple):
    """A row of the page."""

    there: str
    command: str
    differs: str


def section(paper: str) -> str:
    (found,) = (one for one in re.split(r"^## ", TEXT, flags=re.MULTILINE) if one.startswith(paper))
    return found


def rows(paper: str) -> list[Row]:
    first = section(paper).partition("\n|---|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.strip("| \n").split(" | ") for line in first.splitlines()]
    assert all(len(one) == 3 for one in cells), [one for one in cells if len(one) != 3]
    return [Row(*one) for one in cells]


def commands(paper: str) -> list[str]:
    """Return the commands in the order of the page, also those within a sentence; a bare name is not one."""
    found = re.findall(r"`workbench ([^`]+)`", section(paper))
    return [command for command in found if " " in command]


@pytest.mark.parametrize("paper", PAPERS)
def test_no_table_figure_prompt_or_parameter_is_missing(paper: str) -> None:
    """The counts are those of each paper; content that no command reproduces has a row with the reason."""
    text = section(paper)
    assert _numbers(r"Tables? ", text) >= set(range(1, PAPERS[paper].tables + 1))
    assert _numbers(r"Figures? ", text) >= set(range(1, PAPERS[paper].figures + 1))
    assert [name for name in PAPERS[paper].named if name not in text] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_has_a_command_or_says_why_not_and_a_status(paper: str) -> None:
    for row in rows(paper):
        assert row.differs.startswith(STATUS), row
        assert row.command.startswith("`workbench ") or (row.command == "–" and row.differs.startswith("none")), row


def _numbers(word: str, text: str) -> set[int]:
    """Return the numbers after a word: ``Tables 2, 4 and 8–13``."""
    found: set[int] = set()
    for listed in re.findall(rf"{word}(\d+(?:(?:–|, | and )\d+)*)", text):
        for part in re.split(r", | and ", listed):
            first, _, last = part.partition("–")
            found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("command", sorted({command for paper in PAPERS for command in commands(paper)}))
def test_every_command_exists(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "sample_data", "sample_data")
    (tmp_path / "FILE").write_text("")
    parsed(root, shlex.split(command))


# -- Run every command, in the order of the page.


TYPES = ("A1", "B2", "C1", "D1")
PROMPT = "{question}\n{instruction}\n{program1}\n{count}\n{completion}\n{answer}"
"""Has the fields of all papers' prompts; a prompt template that lacks a field treats its name as text."""
PROBLEMS = (ROOT / "sample_data" / "code_problems.jsonl").read_text(encoding="utf-8").splitlines()
ENTRY_POINTS = [str(found[1]) for line in PROBLEMS if (found := re.search(r'"entry_point": "(\w+)"', line))]
PROGRAM = "def f(x):\n    return x"
TESTS = [f"assert f({number}) == {number}" for number in range(30)]
PROBLEM = {"question": "Write f, which returns its argument.", "entry_point": "f", "solution": PROGRAM, "tests": TESTS}
REPLY = f"""```python
{PROGRAM}
```
```json
{json.dumps(PROBLEM)}
```
MATCH
PASS
Answer type: A1
Final Judgment: Yes"""


def reply(received: Received) -> str | Numbers | Scripted:
    """Return a reply that suits every request, or scores for reward models and embeddings."""
    if "prompt" in received.body and received.path.endswith("/completions"):
        likeliest = {" Yes": -0.2 - len(received.body["prompt"]) % 7 / 20, " No": -2.0}
        logprobs = {"tokens": [" Yes"], "token_logprobs": [likeliest[" Yes"]], "top_logprobs": [likeliest]}
        return Scripted(body={"choices": [{"index": 0, "text": " Yes", "logprobs": logprobs}]})
    if "messages" in received.body and received.path.endswith(("/completions", "/messages")):
        text = " ".join(str(message["content"]) for message in received.body["messages"])
        called = [name for name in ENTRY_POINTS if name in text]
        return REPLY + "".join(
            f"\n<assertion>assert {name}({n}) == {n}</assertion>" for name in called for n in range(30)
        )
    asked = next((received.body[name] for name in ("input", "documents", "text_2") if name in received.body), None)
    listed = asked if isinstance(asked, list) else [asked]
    if received.path.endswith("/embeddings"):
        return [[float(len(str(one))), 1.0] for one in listed]
    return [0.5 + len(str(one)) % 7 / 20 for one in listed]


def judged_tuples(folder: Path) -> None:
    """Create two correct and two incorrect completions of a question of each type, and split votes of five judges."""
    lines = []
    for number, subtype in enumerate(TYPES):
        for sample, answer in enumerate(("7", "7", "8", "9")):
            row = {
                "question_id": f"q{number}",
                "completion_id": f"q{number}/{sample}",
                "question": f"What is {number}?",
                "answer": "7",
                "completion": f"It is $\\boxed{{{answer}}}$.",
                "gold_correct": answer == "7",
                "subtype": subtype,
                "completion_model": "theirs",
                "source": "math_reasoning/own",
            }
            lines.append(f"{json.dumps(row)}\n")
    (folder / "own.jsonl").write_text("".join(lines))


def few_problems(folder: Path, problems: int, solutions: int) -> None:
    """Create the sample's first problems, each with so many solutions."""
    counts: dict[str, int] = {}
    with (folder / "problems.jsonl").open("w") as file:
        for line in PROBLEMS[:problems]:
            counts[json.loads(line)["task_id"]] = solutions
            file.write(f"{line}\n")
    with (folder / "solutions.jsonl").open("w") as file:
        for line in (ROOT / "sample_data" / "code_solutions.jsonl").read_text().splitlines():
            task = json.loads(line)["task_id"]
            if counts.get(task, 0) > 0:
                counts[task] -= 1
                file.write(f"{line}\n")


FEW = {"VerifyBench": (0, 0), "MCTS-Judge": (1, 2), "Scoring Verifiers": (3, 4), "EvolveCoder": (2, 8)}
"""Numbers of problems, and of solutions of each."""
RULES = ("rules", "exact", "math-verify", "last-number", "normalized-exact")
SETUP: dict[str, list[str]] = {
    "VerifyBench": [
        "import p.db some_tuples.jsonl --dataset sample",
        "import p.db own.jsonl --dataset own",
        "import p.db some_questions.jsonl --dataset pool",
        *(f"verify p.db {name}" for name in RULES),
    ],
    "MCTS-Judge": ["import p.db problems.jsonl solutions.jsonl"],
    "Scoring Verifiers": ["import p.db problems.jsonl solutions.jsonl", "verify p.db execution"],
    "EvolveCoder": [
        "import p.db problems.jsonl solutions.jsonl",
        "import p.db own.jsonl --dataset own",
        "verify p.db execution",
        *(f"verify p.db {name} --where dataset=own" for name in RULES[:3]),
    ],
}


MODEL = re.compile(r"\bNAME\b")
"""The model of a command; the page leaves out the server, which each such command must call."""


class Page:
    """The commands of a paper as a reader types them, with the reader's names filled in."""

    def __init__(self, paper: str, folder: Path, server: ScriptedServer) -> None:
        self.paper, self.folder, self.server = paper, folder, server
        self._numbers = count()
        self.judges: list[str] = []

    def prepare(self) -> None:
        shutil.copytree(ROOT / "sample_data", self.folder / "sample_data")
        for name, most in (("tuples", 12), ("questions", 6)):
            lines = (ROOT / "sample_data" / f"{name}.jsonl").read_text().splitlines(keepends=True)
            (self.folder / f"some_{name}.jsonl").write_text("".join(lines[:most]))
        judged_tuples(self.folder)
        few_problems(self.folder, *FEW[self.paper])
        prompts = self.folder / "FOLDER" / "prompt"
        prompts.mkdir(parents=True)
        (prompts / "w_ref.txt").write_text("{question}\n{answer}\n{completion}")
        (prompts / "wo_ref.txt").write_text("{question}\n{completion}")
        (self.folder / "FILE").write_text(PROMPT)
        (self.folder / "FILE.txt").write_text("<|user|>\n{question}\n{completion}\n")
        (self.folder / "ROLES").mkdir()
        (self.folder / "ROLES" / "compare.txt").write_text("{test}\n{execute}\n")
        (self.folder / "SHOWN").write_text(f"{PROMPT}\n{{solution}}")
        (self.folder / "models.jsonl").write_text('{"verifier": "rules", "model": "theirs"}\n')
        for words in SETUP[self.paper]:
            done = run(*words.split(), cwd=self.folder)
            assert done.returncode == 0, done.stderr

    def words(self, command: str) -> list[str]:
        """Return the command with the reader's names filled in."""
        if command.startswith("downstream p.db FILE"):
            command = command.replace("FILE", "models.jsonl")
        command = re.sub(r"(?<!out)\bwith-reference=FILE", "with-reference=SHOWN", command)
        command = command.replace("-o template=FILE", "-o template=FILE.txt").replace("prompts=FOLDER", "prompts=ROLES")
        if "--with-solution" in command:
            command = command.replace("--template FILE", "--template SHOWN")
        if "--local MODEL" in command and find_spec("sentence_transformers") is None:
            command = command.replace("--local MODEL", "--model NAME")
        # Fewer than exist: all of them are judged, several times over.
        command = command.replace("--samples 64", "--samples 2").replace("--samples 4", "--samples 2")
        # Replies are stored by model: each row has a different model, so it must call the server.
        if MODEL.search(command):
            command = f"{command} -o base_url={self.server.url}"
        command = MODEL.sub(f"model-{next(self._numbers)}", command)
        if command.startswith("verify p.db llm-judge") and "--name" not in command:
            command += f" --name row-{next(self._numbers)}"
        named = re.search(r"^verify p\.db llm-judge .*--name (\S+)", command)
        self.judges += [named[1]] if named else []
        own = RULES if self.paper == "VerifyBench" else tuple(self.judges)
        places = {letter: own[place] for place, letter in enumerate("ABCDE"[: len(own)])}
        return [places.get(word, word) for word in shlex.split(command)]


@pytest.fixture
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    need_a_sandbox()
    with scripted(reply) as server:
        made = Page(request.param, tmp_path, server)
        made.prepare()
        yield made


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "page",
    [paper if paper == "VerifyBench" else pytest.param(paper, marks=pytest.mark.soak) for paper in PAPERS],
    indirect=True,
)
def test_every_command_runs(page: Page) -> None:
    failed = {}
    for command in commands(page.paper):
        asked = len(page.server.received)
        done = run(*page.words(command), cwd=page.folder)
        if done.returncode or not (done.stdout or done.stderr):
            failed[command] = done.stderr or done.stdout
        elif MODEL.search(command) and len(page.server.received) == asked:
            failed[command] = "no request was sent"
    assert not failed, "\n".join(f"{command}: {text}" for command, text in failed.items())
