"""Similarity verdicts: threshold, compared texts, abstentions, limits, and the missing extra."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest
from msgspec import structs

from tests.unit.verifiers.similarity.kinds import KINDS, item, needs_codebleu
from tests.workers import verdicts_in
from workbench.core.errors import UsageError, VerifierError
from workbench.core.verdict import Outcome
from workbench.verifiers.base import identity
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.registry import Registry


def test_the_threshold_is_the_lowest_correct_score() -> None:
    # One equal word is a METEOR of exactly one half.
    same = item("4", r"So it is $\boxed{4}$.")
    verdict = Registry().local("meteor-nosyn").verify(same)
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.CORRECT, 0.5, "similarity")
    stricter = Registry().local("meteor-nosyn", {"threshold": "0.51"}).verify(same)
    assert (stricter.outcome, stricter.score) == (Outcome.INCORRECT, 0.5)


def test_final_answers_are_compared_and_shown() -> None:
    completion = r"First \boxed{7}." + "\n" + r"But then \boxed{12}."
    verdict = Registry().local("bleu").verify(item("Six and six.\n#### 12", completion))
    assert (verdict.reference_final, verdict.candidate_final, verdict.score) == ("12", "12", 1)
    assert verdict.candidate_span is not None
    assert completion[slice(*verdict.candidate_span)] == "12"


def test_whole_texts_are_compared_as_stored() -> None:
    verdict = Registry().local("bleu", {"of": "whole"}).verify(item("#### 12", "A long way to\n#### 12"))
    assert verdict.score is not None
    assert 0 < verdict.score < 1
    assert (verdict.reference_final, verdict.candidate_final, verdict.candidate_span) == (None, None, None)


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_compared_as_a_whole_by_default(kind: str) -> None:
    program = "def double(x):\n    return 2 * x\n\nprint(double(21))\n"
    code = structs.replace(item(program, program.replace("double", "twice")), is_code=True)
    verdict = Registry().local(kind).verify(code)
    assert (verdict.reference_final, verdict.candidate_final) == (None, None)
    assert verdict == Registry().local(kind, {"of": "whole"}).verify(code)
    assert verdict.score is not None
    assert verdict.score > 0.2
    assert Registry().local(kind, {"of": "final"}).verify(code) != verdict


@pytest.mark.parametrize("of", ["auto", "final", "whole"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_side_abstains(kind: str, of: str) -> None:
    verifier = Registry().local(kind, {"of": of})
    no_reference = verifier.verify(item(" ", "4"))
    assert (no_reference.outcome, no_reference.reason) == (Outcome.ABSTAIN, "no_reference_answer")
    no_answer = verifier.verify(item("4", "\n"))
    assert (no_answer.outcome, no_answer.reason) == (Outcome.ABSTAIN, "no_answer_found")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("rouge-l", "w " * 2_000),
        ("meteor-nosyn", "w " * 20_000),
        pytest.param("codebleu", "w " * 40_000, marks=needs_codebleu),
    ],
)
def test_texts_too_long_for_a_metric_abstain(kind: str, words: str) -> None:
    verdict = Registry().local(kind, {"of": "whole"}).verify(item(words, words))
    assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.ABSTAIN, "too_complex", None)
    assert "too" in str(verdict.detail)


@pytest.mark.parametrize("threshold", ["high", "1.5", "-0.1", "nan", ""])
@pytest.mark.parametrize("kind", KINDS)
def test_a_threshold_is_a_number_from_0_to_1(kind: str, threshold: str) -> None:
    with pytest.raises(UsageError, match=r"threshold: .*(is not a number|from 0 to 1, not )"):
        Registry().local(kind, {"threshold": threshold})


@pytest.mark.parametrize("kind", KINDS)
def test_other_invalid_options_are_explained(kind: str) -> None:
    with pytest.raises(UsageError, match="of: it is auto or final or whole, not 'half'"):
        Registry().local(kind, {"of": "half"})


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_is_part_of_the_identity(kind: str) -> None:
    registry = Registry()
    described = next(found for found in registry.available() if found.name == kind)
    assert described.isolation == "process"
    assert described.broken is None
    assert described.options.keys() == registry.load(kind).config().keys()
    assert identity(registry.load(kind, {"threshold": "0.50"})) == identity(registry.load(kind))
    assert identity(registry.load(kind, {"threshold": "0.6"})) != identity(registry.load(kind))


@needs_codebleu
def test_codebleu_s_languages_and_their_grammars(monkeypatch: pytest.MonkeyPatch) -> None:
    from codebleu.utils import AVAILABLE_LANGS

    from workbench.verifiers.similarity import code

    assert set(code.LANGUAGES) == set(AVAILABLE_LANGS)
    with pytest.raises(UsageError, match=r"lang: it is c or c_sharp.*, not 'cobol'"):
        Registry().local("codebleu", {"lang": "cobol"})

    def missing(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(code, "version", missing)
    with pytest.raises(VerifierError, match=r"tree-sitter-c-sharp isn't installed.*tree-sitter-c-sharp>=0.21,<0.23"):
        Registry().local("codebleu", {"lang": "c_sharp"})
    monkeypatch.setattr(code, "version", lambda _: "0.25.0")
    with pytest.raises(VerifierError, match=r"tree-sitter-java 0\.25\.0 is too new"):
        Registry().local("codebleu", {"lang": "java"})


@pytest.mark.parametrize(
    ("kind", "module", "package"),
    [
        ("bleu", "sacre", "sacrebleu"),
        ("chrf", "sacre", "sacrebleu"),
        ("rouge-l", "rouge", "rouge-score"),
        ("meteor-nosyn", "meteor", "nltk"),
        ("codebleu", "code", "codebleu"),
    ],
)
def test_without_the_extra_the_list_shows_its_installation(
    kind: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.verifiers.similarity import verifier

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(verifier, "version", missing)
    monkeypatch.delitem(sys.modules, f"workbench.verifiers.similarity.{module}", raising=False)
    kinds = {found.name: found for found in Registry().available()}
    expected = f"The package {package} isn't installed. Run: pip install 'verifier-workbench[similarity]'"
    assert str(kinds[kind].broken).startswith(expected)
    assert kinds["exact"].broken is None
    with pytest.raises(VerifierError, match="isn't installed"):
        Registry().local(kind)


def test_listing_and_loading_import_no_library() -> None:
    code = (
        "import sys; from workbench.verifiers.registry import Registry; registry = Registry(); registry.available(); "
        "[registry.load(kind) for kind in ('bleu', 'chrf', 'rouge-l', 'meteor-nosyn', 'exact', 'rules')]; "
        "sys.exit(bool({'sacrebleu', 'rouge_score', 'nltk', 'codebleu', 'tree_sitter', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.few(5)
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_computed_in_a_worker_process(kind: str) -> None:
    with WorkerPool((kind, {"of": "whole"}), 1) as pool:
        (verdict,) = verdicts_in(pool, [item("x = 1\ny = x + 2", "x = 1\ny = x + 2")])
    assert (verdict.outcome, verdict.reason) == (Outcome.CORRECT, "similarity")
    assert verdict.score == pytest.approx(1, abs=0.01)
