"""The LaTeX parser is chosen at run time: three releases of the ANTLR runtime work, and `rules` works without."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest
from msgspec import structs

from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, VerifierInput
from workbench.training.reward import Reward
from workbench.verifiers import latex
from workbench.verifiers.math_verify import MathVerify
from workbench.verifiers.rules.verifier import RULE_VERSION, Rules

USABLE = {"sympy": "1.14.0", "latex2sympy2-extended": "1.11.0", "antlr4-python3-runtime": "4.13.2"}


def install(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    there = USABLE | {name.replace("_", "-"): found for name, found in versions.items()}

    def version(package: str) -> str:
        if (found := there[package]) is None:
            raise PackageNotFoundError(package)
        return found

    monkeypatch.setattr(latex, "version", version)


@pytest.mark.parametrize("runtime", ["4.9.3", "4.11", "4.11.0", "4.11.1", "4.13.2"])
@pytest.mark.parametrize("reader", ["1.10.1", "1.11.0", "2.0"])
def test_latex_is_parsed_with_every_supported_release(
    monkeypatch: pytest.MonkeyPatch, runtime: str, reader: str
) -> None:
    install(monkeypatch, antlr4_python3_runtime=runtime, latex2sympy2_extended=reader)
    assert latex.lack() is None


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"antlr4_python3_runtime": "4.10"}, "antlr4-python3-runtime 4.10. Run: pip install antlr4-python3-runtime=="),
        ({"antlr4_python3_runtime": "4.13.1"}, "4.13.1"),
        ({"antlr4_python3_runtime": None}, "antlr4-python3-runtime isn't installed. Run: pip install antlr4-python3-r"),
        ({"latex2sympy2_extended": "1.0.6"}, "extended 1.0.6. Run: pip install 'latex2sympy2-extended>=1.10'"),
        ({"latex2sympy2_extended": None}, "latex2sympy2-extended isn't installed. Run: pip install 'latex2sympy2-ext"),
        ({"sympy": None}, "sympy isn't installed. Run: pip install sympy"),
    ],
)
def test_a_missing_package_is_reported_with_its_installation(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str | None], message: str
) -> None:
    install(monkeypatch, **versions)
    with pytest.raises(VerifierError) as refused:
        MathVerify()
    assert message in str(refused.value)
    assert (Rules().version, Rules().preload) == (RULE_VERSION, ())
    with pytest.warns(UserWarning, match="rules works without computer algebra"), Reward("rules") as reward:
        assert reward([""], [r"\boxed{2}"], answer=["2"]) == [1.0]


def test_without_algebra_rules_abstain_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, latex2sympy2_extended="1.0.6")
    item = VerifierInput(item=1, question="?", reference=r"\sum_{n=1}^3 n", completion=r"\boxed{\sum_{k=1}^3 k}")
    verdict = Rules().verify(item)
    assert (verdict.outcome, verdict.reason) == (Outcome.ABSTAIN, "too_complex")
    assert Rules().verify(structs.replace(item, completion=r"\boxed{\text{yes}}")).outcome is not Outcome.CORRECT


def test_math_verify_itself_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.verifiers.math_verify.version", version_of_nothing)
    with pytest.raises(VerifierError, match=r"math-verify isn't installed\. Run: pip install math-verify$"):
        MathVerify()


def version_of_nothing(package: str) -> str:
    raise PackageNotFoundError(package)
