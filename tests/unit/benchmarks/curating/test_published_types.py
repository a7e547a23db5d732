"""Types requested with a published prompt: the request is the file with the texts, and type names are answers."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.servers.scripted import Received, scripted
from tests.unit.benchmarks.curating.pools import pool_of
from workbench.benchmarks.curating.pool import candidate_questions
from workbench.benchmarks.curating.types import accept_types, pool_status, propose_types, types_report
from workbench.core.errors import UsageError
from workbench.measuring.records.curation import Scope
from workbench.runs.generation import models_from
from workbench.verifiers.answer_type.verifier import named_in, prompt_in

PROMPT = b"\xef\xbb\xbfWhich type?\r\n{question}\r\n[{answer}] {completion} {?question} {{answer}}\n\n"
QUESTION = "What is {answer}? <|im_end|>\r\nAnswer type: A1"


def test_the_request_is_the_file_and_types_serve_draws_only(tmp_path: Path) -> None:
    path = tmp_path / "figure 4.txt"
    path.write_bytes(PROMPT)
    rows = {"one": {"question": QUESTION, "answer": "{question}"}, "two": {"question": "Prove it.", "answer": "so"}}
    project = pool_of(tmp_path, rows)

    def reply(received: Received) -> str:
        return "Open-ended" if "Prove" in received.body["messages"][0]["content"] else "It is a set.\n**Expressions**"

    with scripted(reply) as server:
        models = models_from(project, ["m"], {"base_url": server.url})
        report = propose_types(project, "fig4", models, Scope(), template=path)
        sent = [body["messages"] for body in server.bodies]
        # Another prompt is another run: nothing is mixed under one name.
        path.write_bytes(PROMPT + b" ")
        with pytest.raises(UsageError):
            propose_types(project, "fig4", models, Scope(), template=path)
    head, tail = PROMPT.decode().split("{question}", 1)
    expected = head + QUESTION + tail.replace("{answer}", "{question}")
    assert [{"role": "user", "content": expected}] in sent
    assert (report.proposed, report.outside) == ({"B": 1}, {"open_ended": 1})
    assert [one.reason for one in candidate_questions(project, Scope()) if one.by == "types/fig4"] == ["open_ended"]
    assert pool_status(project, Scope()).total.types == {"B": 1, "none": 1}
    assert accept_types(project, Scope(), "model", by="dora").imported == 0
    (config,) = project.database.reader().execute("SELECT config FROM verifiers WHERE name = 'types/fig4'").fetchone()
    assert hashlib.sha256(PROMPT).hexdigest() in config


def test_a_type_alone_is_compared_as_a_type(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_bytes(PROMPT)
    types = {"One": "B1", "Two": "B2"}
    rows = {word: {"question": f"{word}?", "answer": "x", "type": typed} for word, typed in types.items()}
    project = pool_of(tmp_path, rows)
    with scripted(lambda received: "B2" if "Two?" in str(received.body) else "Expressions") as server:
        propose_types(project, "m", models_from(project, ["m"], {"base_url": server.url}), Scope(), template=path)
    (found,) = types_report(project, Scope()).proposals
    assert (found.compared, found.subtyped, found.agree, found.accuracy, found.type_accuracy) == (2, 1, 1, 1.0, 1.0)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Numeric Values", "A"),
        ("The answer is a number.\n\n**Answer Type:** Numerical values.", "A"),
        ('{\n  "answer_type": "Multi-choice"\n}', "C"),
        ("B", "B"),
        ("A1 or B2, I think.\nString", "D"),
        ("I would say that it is B5, a matrix.", "B5"),
        ("A1 or B2.", None),
        ("<think>Expressions</think>\nB4 - Set", "B4"),
        ("<think>Expressions", None),
        ("proof", "proof"),
        ("Type: open ended", "open_ended"),
        ("E7 - Proofs", None),
        ("", None),
        ("A", "A"),
        ("AB", None),
        ("I", None),
    ],
)
def test_the_last_name_counts(reply: str, said: str | None) -> None:
    assert named_in(reply) == said


@pytest.mark.parametrize("data", [b"{answer}", b"\xff{question}", b"", b"{question}" + b"x" * 300_000])
def test_what_is_no_prompt_is_rejected(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "p.txt"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"p\.txt"):
        prompt_in(path)
    with pytest.raises(UsageError, match="no such file"):
        prompt_in(tmp_path / "nowhere.txt")
