"""Verifiers that are functions: the signature is the options, the docstring the description."""

from __future__ import annotations

from typing import Annotated

import pytest
from msgspec import Meta

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


def test_what_lists_show_is_said_once() -> None:
    assert (ends_with.description, ends_with.options, ends_with.isolation) == (
        "The reply ends with the reference",
        {"most": "longest reply", "fold": "ignore case"},
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
def test_options_are_text_and_read_by_the_annotations(
    options: dict[str, str], config: dict[str, object], outcome: Outcome
) -> None:
    one = ends_with(**options)
    assert one.config() == config
    assert one.verify(ITEM).outcome is outcome


def test_equal_options_are_one_configuration_however_they_are_written() -> None:
    assert identity(ends_with()) == identity(ends_with(most="100")) != identity(ends_with(most="99"))


@pytest.mark.parametrize("options", [{"most": "0"}, {"most": "many"}, {"fold": "perhaps"}])
def test_a_wrong_value_is_refused_with_its_name(options: dict[str, str]) -> None:
    (name,) = options
    with pytest.raises(ValueError, match=f"^{name}: "):
        ends_with(**options)
