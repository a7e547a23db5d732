"""Reads data of published judges: CompassVerifier (VerifierBench), xVerify (VAR), RewardBench.

CompassVerifier's fields: https://huggingface.co/datasets/opencompass/VerifierBench and the README of
open-compass/CompassVerifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workbench.core.taxonomy import SUBTYPES, TYPES, parse_type
from workbench.core.verdict import OutcomeWord
from workbench.data.formats.documents import Row, documents, json_rows
from workbench.data.formats.lines import RefusedError, Stream
from workbench.data.formats.logs.logged import (
    Format,
    Grade,
    Logged,
    Read,
    answer_text,
    constant_reader,
    maybe_text,
    messages,
    number,
    question_fields,
    reference_text,
    remaining_fields,
    unparsed_grade,
    verifier_name,
)
from workbench.data.formats.rows import with_domain
from workbench.data.formats.source import FileFormat
from workbench.data.formats.verdict_words import in_words

_GOLD: Final = {"A": True, "B": False}
_VERDICTS: Final[dict[str, OutcomeWord]] = {"A": "correct", "B": "incorrect", "C": "abstain"}
_INVALID: Final = "invalid"
_JUDGED: Final = ("processed_judgment", "ori_judgment", "judgment")
"""Keys under which the verifier's judgment (its letter, or the whole reply) is stored; the first
present one is used.
"""
_BOXED: Final = re.compile(r"boxed\{+([ABC])\}")
_LETTER: Final = re.compile(r"\b([ABC])\b")
_ALONE: Final = re.compile(r"\W*([ABC])\W*")
_TAKEN: Final = frozenset({"question", "gold_answer", "llm_response", "data_source", "domain", "model", "model_name"})


def _read(row: Mapping[str, Any]) -> Iterator[Logged]:
    gold = row.get("gold_judgment")
    source, domain = maybe_text(row, "data_source"), maybe_text(row, "domain")
    said = row.get("answer_type")
    code = parse_type(said) if isinstance(said, str) else None
    if code is not None and code.code not in TYPES | SUBTYPES:
        code = None
    yield Logged(
        item={
            "question": answer_text(row, "question"),
            "reference": reference_text(row, "gold_answer") or "",
            "completion": answer_text(row, "llm_response"),
            "model": maybe_text(row, "model", "model_name"),
            "source": with_domain(domain, source) if source and domain else source,
            **({} if code is None else {"subtype" if code.is_subtype else "type": code.code}),
            # The judgment "C" (question or response is invalid) is no gold; gold_judgment is stored with the item.
            "gold": _GOLD.get(gold.strip().upper()) if isinstance(gold, str) else None,
            **remaining_fields(row, _TAKEN.union(_JUDGED), "compassverifier"),
        },
        grades=tuple(_grade(row)),
    )


def _grade(row: Mapping[str, Any]) -> Iterator[Grade]:
    reply = next((row[key] for key in _JUDGED if isinstance(row.get(key), str)), None)
    if reply is None:
        return
    letter = _judged_letter(reply)
    name = verifier_name("compassverifier")
    if letter is None:
        yield unparsed_grade(name, reply)
    else:
        yield Grade(verifier=name, verdict=_VERDICTS[letter], reason=_INVALID if letter == "C" else None)


def _judged_letter(reply: str) -> str | None:
    if boxed := _BOXED.findall(reply):
        return str(boxed[-1])
    _, named, judgment = reply.rpartition("Final Judgment:")
    letter = _LETTER.search(judgment) if named else _ALONE.fullmatch(reply)
    return letter[1] if letter else None


KIND: Final = Format(
    name="compassverifier", keys=({"question", "gold_answer", "llm_response"},), begin=constant_reader(_read)
)


# -- xVerify's data (VAR) and the files of its evaluator.


_PEOPLE: Final = "human_judgment_result"
_XVERIFY_JUDGED: Final = re.compile(r"(.+)_judgment(?:_result)?")
_WORDS: Final = {"correct": True, "incorrect": False}
_SUBTYPES: Final = {"alphabet_option": "C1", "categorical_label": "C4"}
"""Subtypes by xVerify's answer type, for those that equal one subtype; ``math`` and ``short_text`` cover several."""
_REPORT: Final = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"llm"\s*:')
_XVERIFY_TAKEN: Final = frozenset(
    {"question", "correct_answer", "llm_output", "model_name", "dataset", "prompt", "judge_valid"}
)


def begins(head: bytes) -> bool:
    """Return whether a file begins like a report of xVerify's evaluator, which contains the rows."""
    return _REPORT.match(head) is not None


def rows(stream: Stream, kind: FileFormat, path: Path) -> Iterator[Row]:
    if kind != "json":
        return documents(stream, kind, path)
    return json_rows(stream, path, ("rows", "data", "results"))


def _read_xverify(row: Mapping[str, Any]) -> Iterator[Logged]:
    subtype = row.get("key_answer_type")
    yield Logged(
        item={
            "question": answer_text(row, "question"),
            "reference": reference_text(row, "correct_answer") or "",
            "completion": answer_text(row, "llm_output"),
            "model": maybe_text(row, "model_name"),
            "source": maybe_text(row, "dataset"),
            "subtype": _SUBTYPES.get(subtype) if isinstance(subtype, str) else None,
            "gold": _verdict_word(row.get(_PEOPLE)),
            **remaining_fields(row, _XVERIFY_TAKEN | _judge_columns(row).keys(), "xverify"),
        },
        grades=tuple(_grades(row)),
    )


def _grades(row: Mapping[str, Any]) -> Iterator[Grade]:
    for key, judge in _judge_columns(row).items():
        value = row[key]
        if not isinstance(value, str):
            continue
        name = verifier_name("xverify", judge)
        verdict = _verdict_word(value)
        if verdict is None:
            yield unparsed_grade(name, value)
        else:
            yield Grade(verifier=name, verdict="correct" if verdict else "incorrect")


def _judge_columns(row: Mapping[str, Any]) -> dict[str, str]:
    found = {key: _XVERIFY_JUDGED.fullmatch(key) for key in row if key != _PEOPLE}
    return {key: judge[1] for key, judge in found.items() if judge is not None}


def _verdict_word(value: object) -> bool | None:
    return _WORDS.get(in_words(value) or "")


XVERIFY_KIND: Final = Format(
    name="xverify",
    keys=({"question", "llm_output", "correct_answer"},),
    begin=constant_reader(_read_xverify),
    rows=rows,
    begins=begins,
)


# -- Pairs of preferred and other answers: RewardBench, RewardBench 2, and output of the ``rewardbench`` command.


_ENDINGS: Final = re.compile(r"(\.(jsonl?|parquet|csv|gz))+$")
_REWARDBENCH_TAKEN: Final = frozenset(
    {"prompt", "chosen", "rejected", "text_chosen", "text_rejected", "chosen_model", "rejected_model", "subset", "id"}
    # Scores belong to one reward model: another model's file has different scores for the same answers.
    | {"results", "scores", "scores_chosen", "scores_rejected", "text"}
)


def begin(path: Path) -> Read:
    judge = verifier_name("rewardbench", _ENDINGS.sub("", path.name).removesuffix("_outputs") or path.name)
    return lambda row: _read_rewardbench(row, judge)


def _read_rewardbench(row: Mapping[str, Any], judge: str) -> Iterator[Logged]:
    chosen, rejected = _answers(row, "chosen"), _answers(row, "rejected")
    if not chosen and not rejected:
        raise RefusedError("missing_field", "chosen", "chosen and rejected hold no answer. Add one.")
    number = maybe_text(row, "id")
    shared = {
        "question_id": "/".join(filter(None, (maybe_text(row, "subset"), number))) if number else None,
        **_question_fields(row),
        "reference": "",
        "source": maybe_text(row, "subset"),
        **remaining_fields(row, _REWARDBENCH_TAKEN, "rewardbench"),
    }
    golds = [True] * len(chosen) + [False] * len(rejected)
    grades = _rewardbench_grades(row, judge, len(chosen), len(rejected))
    for completion, gold, grade in zip([*chosen, *rejected], golds, grades, strict=True):
        model = maybe_text(row, "chosen_model" if gold else "rejected_model")
        yield Logged(
            item={**shared, "completion": completion, "model": model, "gold": gold},
            grades=() if grade is None else (grade,),
        )


def _answers(row: Mapping[str, Any], side: str) -> list[str]:
    value = row.get(side)
    if value is None and f"text_{side}" in row:
        # The cell holds the whole conversation in a chat template: the prompt, then the answer.
        return [answer_text(row, f"text_{side}").removeprefix(answer_text(row, "prompt"))]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return list(value)
    return [answer_text(row, side)]


def _question_fields(row: Mapping[str, Any]) -> dict[str, str]:
    if row.get("prompt") is not None:
        return question_fields(row, "prompt")
    value = row.get("chosen")
    if not isinstance(value, list) or len(list(messages(value, "chosen"))) < 2:
        raise RefusedError("missing_field", "prompt", "prompt is missing. Add it.")
    return question_fields({"chosen": value[:-1]}, "chosen")


def _rewardbench_grades(row: Mapping[str, Any], judge: str, chosen: int, rejected: int) -> Sequence[Grade | None]:
    scores = _scores(row, chosen, rejected)
    if scores is None:
        return [*_pick_grades(row, judge, chosen, rejected)]
    best = max((score for score in scores if score is not None), default=None)
    tied = scores.count(best) > 1
    return [None if score is None else _score_grade(judge, score, best, chosen == 1, tied) for score in scores]


def _score_grade(judge: str, score: float, best: float | None, single: bool, tied: bool) -> Grade:
    if not single:
        return Grade(verifier=judge, score=score)
    if score == best and tied:
        return Grade(verifier=judge, verdict="abstain", score=score, reason="no_preference")
    return Grade(verifier=judge, verdict="correct" if score == best else "incorrect", score=score)


def _pick_grades(row: Mapping[str, Any], judge: str, chosen: int, rejected: int) -> Iterator[Grade | None]:
    result = number(row.get("results"))
    told: dict[float, tuple[OutcomeWord, OutcomeWord]] = {
        1: ("correct", "incorrect"),
        # The file doesn't say which of several rejected answers was picked.
        0: ("incorrect", "correct" if rejected == 1 else "abstain"),
    }
    for side in (0,) * chosen + (1,) * rejected:
        if result is None or chosen != 1:
            yield None
            continue
        verdict = told[result][side] if result in told else "abstain"
        yield Grade(verifier=judge, verdict=verdict, reason="no_preference" if verdict == "abstain" else None)


def _scores(row: Mapping[str, Any], chosen: int, rejected: int) -> list[float | None] | None:
    if isinstance(row.get("scores"), list):
        found = row["scores"]
    elif "scores_chosen" in row and "scores_rejected" in row:
        sides = (row["scores_chosen"], row["scores_rejected"])
        found = [score for side in sides for score in (side if isinstance(side, list) else [side])]
    else:
        return None
    # A score may be a list with one number, as reward models return it.
    numbers = [number(one[0] if isinstance(one, list) and len(one) == 1 else one) for one in found]
    return numbers if len(numbers) == chosen + rejected else None


REWARDBENCH_KIND: Final = Format(
    name="rewardbench", keys=({"chosen", "rejected"}, {"prompt", "text_chosen", "text_rejected"}), begin=begin
)
