"""Similarity scores equal the libraries and papers, lie between 0 and 1, and do not measure correctness."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.verifiers.similarity.kinds import KINDS, TEXT_KINDS, item, needs_codebleu
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Verifier
from workbench.verifiers.registry import Registry

SAMPLE = Path(__file__).resolve().parents[4] / "sample_data" / "tuples.jsonl"

PAIRS = [
    ("the cat sat on the mat", "the cat on a mat"),
    ("it is a guide to action that ensures", "it is the guide to action which ensures"),
    (r"\frac{1}{2}", r"\frac{1}{3}"),
    ("4", "4"),
    ("丙", "丙"),
    ("yes", "no"),
]


@cache
def whole(kind: str) -> Verifier:
    return Registry().local(kind, {"of": "whole"})


def score(kind: str, reference: str, completion: str) -> float:
    verdict = whole(kind).verify(item(reference, completion))
    assert verdict.reason == "similarity"
    assert verdict.score is not None
    return verdict.score


@pytest.mark.parametrize(("reference", "completion"), PAIRS)
def test_bleu_and_chrf_equal_sacrebleu(reference: str, completion: str) -> None:
    import sacrebleu

    bleu = sacrebleu.sentence_bleu(completion, [reference]).score / 100
    assert score("bleu", reference, completion) == pytest.approx(bleu)
    chrf = sacrebleu.sentence_chrf(completion, [reference]).score / 100
    assert score("chrf", reference, completion) == pytest.approx(chrf)


def test_rouge_l_equals_a_manual_calculation() -> None:
    # "the cat on mat" is common: precision 4/5, recall 4/6
    assert score("rouge-l", "the cat sat on the mat", "the cat on a mat") == pytest.approx(8 / 11)
    assert score("rouge-l", "one two", "three four") == 0


def test_rouge_l_ignores_punctuation() -> None:
    assert score("rouge-l", "-4", "4") == 1
    assert score("rouge-l", "丙", "丙") == 0


def test_meteor_equals_a_manual_calculation() -> None:
    # "cats" matches by its stem: precision 1, recall 3/4, one fragment for three matches
    mean = 0.75 / (0.9 * 1 + 0.1 * 0.75)
    assert score("meteor-nosyn", "The cat sat down", "the cats sat") == pytest.approx(mean * (1 - 0.5 / 3**3))
    # the same words in two fragments
    swapped = score("meteor-nosyn", "red cat big dog", "big dog red cat")
    assert swapped == pytest.approx(1 - 0.5 * (2 / 4) ** 3)
    assert score("meteor-nosyn", "car", "automobile") == 0


@pytest.mark.parametrize(("reference", "completion"), PAIRS)
def test_meteor_equals_nltk_with_an_empty_wordnet(reference: str, completion: str) -> None:
    from unittest.mock import Mock

    from nltk.tokenize import wordpunct_tokenize
    from nltk.translate.meteor_score import meteor_score

    wordnet = Mock()
    wordnet.synsets.return_value = []
    words = [wordpunct_tokenize(text.replace("{", " { ").replace("}", " } ")) for text in (reference, completion)]
    oracle = meteor_score([words[0]], words[1], wordnet=wordnet)
    assert score("meteor-nosyn", reference, completion) == pytest.approx(oracle)


def test_meteor_needs_no_data_files(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nltk looks for data")

    monkeypatch.setattr(nltk.data, "find", refuse)
    monkeypatch.setattr(nltk, "download", refuse)
    assert score("meteor-nosyn", "running dogs", "runs a dog") > 0


@needs_codebleu
def test_codebleu_equals_the_package() -> None:
    from codebleu import calc_codebleu

    reference = "def f(x):\n    y = x + 1\n    return y\n"
    completion = "def f(a):\n    return a + 1\n"
    oracle = calc_codebleu([reference], [completion], "python")["codebleu"]
    assert score("codebleu", reference, completion) == pytest.approx(oracle)
    assert score("codebleu", reference, reference) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(st.text(min_size=1), st.text(min_size=1))
def test_scores_lie_between_0_and_1_for_any_text(kind: str, reference: str, completion: str) -> None:
    verdict = whole(kind).verify(item(reference, completion))
    assert isinstance(verdict, Verdict)
    if verdict.outcome is Outcome.ABSTAIN:
        assert verdict.score is None
    else:
        assert verdict.score is not None
        assert 0 <= verdict.score <= 1


@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_no_threshold_separates_near_misses_from_paraphrases(kind: str) -> None:
    """Every question of the sample has right and wrong completions; the wrong ones are near misses."""
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    verifier = Registry().local(kind)
    right: dict[str, list[float]] = {}
    wrong: dict[str, list[float]] = {}
    for row in rows:
        verdict = verifier.verify(
            VerifierInput(item=1, question=row["question"], reference=row["answer"], completion=row["completion"])
        )
        if verdict.score is not None:
            (right if row["gold_correct"] else wrong).setdefault(row["question_id"], []).append(verdict.score)
    above = [w > r for question in right for r in right[question] for w in wrong.get(question, [])]
    assert len(above) > 30
    assert sum(above) > 0.4 * len(above)

    pairs = [(r, w) for rights in right.values() for r in rights for wrongs in wrong.values() for w in wrongs]
    auroc = sum((r > w) + (r == w) / 2 for r, w in pairs) / len(pairs)
    assert auroc < 0.5
