"""The delimiter around untrusted text: deterministic and not predictable by its author."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.verifiers.judges.asking import ITEM, SECRET, requests
from workbench.verifiers.judges import template
from workbench.verifiers.judges.template import delimiter

TEXTS = st.lists(st.text(max_size=30), max_size=4)


@given(TEXTS, TEXTS, st.binary(min_size=1), st.binary(min_size=1))
def test_the_delimiter_depends_on_the_secret_and_the_texts(
    texts: list[str], others: list[str], secret: bytes, guess: bytes
) -> None:
    line = delimiter(secret, texts)
    assert line == delimiter(secret, list(texts))
    assert (line == delimiter(secret, others)) == (texts == others)
    # HMAC pads keys with zeros.
    assert (line == delimiter(guess, texts)) == (secret.rstrip(b"\0") == guess.rstrip(b"\0"))
    assert not any(line in text for text in texts)


def test_the_delimiter_depends_on_text_boundaries() -> None:
    assert delimiter(SECRET, ["ab", "c"]) != delimiter(SECRET, ["a", "bc"])


def test_a_delimiter_contained_in_a_text_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "_LENGTH", 1)
    all_but_one = " ".join(f"data-{letter}" for letter in "bcdfghjklmnpqrs")
    assert all(delimiter(bytes([n]), [all_but_one]) == "data-t" for n in range(50))


def test_items_and_databases_have_different_delimiters() -> None:
    def line(text: str) -> str:
        found = re.search(r"data-[a-z]{16}", text)
        assert found
        return found[0]

    other = structs.replace(ITEM, completion="Another.")
    lines = {
        line(requests()[0].text),
        line(requests(other)[0].text),
        line(requests(ITEM, b"o" * 32)[0].text),
    }
    assert len(lines) == 3
    assert requests() == requests()


def test_without_fences_the_request_equals_the_template() -> None:
    text = requests(fence="off")[0].text
    assert text.startswith("You grade the solution")
    assert "data-" not in text
