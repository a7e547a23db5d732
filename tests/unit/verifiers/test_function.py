"""Function verifiers: the signature defines the options, the docstring the description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import identity
from workbench.verifiers.function import verifier

ITEM = VerifierInput(item=1, question="6 x 9?", reference="54", completion="It is FIFTY-four: 54")


@verifier("ends-with", version="2", isolation="inline")
def ends_with(
    item: VerifierInput,
    *,
    most: Annotated[int, Meta(description="longest reply", ge=1)] = 100,
    fold: Annotated[bool, Meta(description="ignore case")] = False,
) -> Verdict:
    """The reply ends with the reference.

    However long it is.
    """
    text = item.completion[:most]
    is_end = text.casefold().endswith(item.reference) if fold else text.endswith(item.reference)
    return Verdict(outcome=Outcome.CORRECT if is_end else Outcome.INCORRECT)


def test_description_and_options_come_from_the_function() -> None:
    assert (ends_with.description, ends_with.options, ends_with.isolation) == (
        "The reply ends with the reference",
        {"most": "longest reply (default 100)", "fold": "ignore case (default false)"},
        "inline",
    )
    assert (ends_with().name, ends_with().version, ends_with.preload) == ("ends-with", "2", ())


@pytest.mark.parametrize(
    ("options", "config", "outcome"),
    [
        ({}, {"most": 100, "fold": False}, Outcome.CORRECT),
        ({"most": "5"}, {"most": 5, "fold": False}, Outcome.INCORRECT),
        ({"fold": "true"}, {"most": 100, "fold": True}, Outcome.CORRECT),
    ],
)
def test_options_are_parsed_by_the_annotations(
    options: dict[str, str], config: dict[str, object], outcome: Outcome
) -> None:
    one = ends_with(**options)
    assert one.config() == config
    assert one.verify(ITEM).outcome is outcome


def test_equal_options_have_one_identity_however_written() -> None:
    assert identity(ends_with()) == identity(ends_with(most="100")) != identity(ends_with(most="99"))


@pytest.mark.parametrize("options", [{"most": "0"}, {"most": "many"}, {"fold": "perhaps"}])
def test_an_invalid_value_is_rejected_with_its_name(options: dict[str, str]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=f"^{name}: "):
        ends_with(**options)


def _positional(item: VerifierInput, fold: bool = False) -> Verdict:
    """An option that is no keyword's."""
    return Verdict(outcome=Outcome.CORRECT)


def _required(item: VerifierInput, *, wanted: str) -> Verdict:
    """An option without a default."""
    return Verdict(outcome=Outcome.CORRECT)


def _bare(item, *, fold=False):  # type: ignore[no-untyped-def]
    """An option without a type."""
    return Verdict(outcome=Outcome.CORRECT)


def _several(item: VerifierInput, *, words: tuple[str, ...] = ()) -> Verdict:
    """An option that one text can't be."""
    return Verdict(outcome=Outcome.CORRECT)


def _any(item: VerifierInput, **options: str) -> Verdict:
    """Accept everything."""
    return Verdict(outcome=Outcome.CORRECT)


def _nothing() -> Verdict:
    """No item."""
    return Verdict(outcome=Outcome.CORRECT)


async def _later(item: VerifierInput) -> Verdict:
    """Not at once."""
    return Verdict(outcome=Outcome.CORRECT)


def _silent(item: VerifierInput) -> Verdict:
    return Verdict(outcome=Outcome.CORRECT)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (_positional, "fold"),
        (_required, "wanted"),
        (_bare, "fold"),
        (_several, "words"),
        (_any, "options"),
        (_nothing, "item"),
        (_later, "async"),
        (_silent, "docstring"),
    ],
)
def test_an_invalid_function_is_rejected_at_its_declaration(function: Callable[..., Any], why: str) -> None:
    with pytest.raises(VerifierError, match=why) as error:
        verifier("mine", version="1")(function)
    assert "'mine'" in str(error.value)


@pytest.mark.parametrize("isolation", ["staged", "served", "sandbox"])
def test_features_beyond_a_function_are_rejected(isolation: Any) -> None:
    with pytest.raises(VerifierError, match=isolation):
        verifier("mine", version="1", isolation=isolation)(_positional)


def test_options_of_every_plain_type_and_name_are_read() -> None:
    @verifier("plain", version="1")
    def plain(
        item: VerifierInput,
        *,
        self: Literal["a", "b"] = "a",
        name: int | None = None,
        share: Annotated[float, Meta(le=1)] = 0.5,
    ) -> Verdict:
        """Plain."""
        return Verdict(outcome=Outcome.CORRECT, detail=f"{self} {name} {share}")

    assert plain(self="b", name="3", share="0.25").verify(ITEM).detail == "b 3 0.25"
    assert plain(name="null").config() == {"self": "a", "name": None, "share": 0.5}
    for name, text in {"self": "c", "name": "x", "share": "nan"}.items():
        with pytest.raises(ValueError, match=f"^{name}: "):
            plain(**{name: text})
    with pytest.raises(ValueError, match=r"^share: "):
        plain(share="-1e400")
