"""Reading untrusted TOML."""

from __future__ import annotations

import tomllib

import pytest

from workbench.config.file import MAX_KEY_PARTS, loads

PARTS = 100_000
"""Parsing keys with so many parts needs tens of gigabytes."""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a." * PARTS + "b = 1", 1),
        ("x = 1\n[" + "a . " * PARTS + "b]", 2),
        ("\nx = { " + "a\t.\t" * PARTS + "b = 1 }", 2),
        ('"a".' * PARTS + "b = 1", 1),
        ('"\\"".' * PARTS + "b = 1", 1),
        ("'\\'." * PARTS + "b = 1", 1),
    ],
)
def test_a_key_with_very_many_parts_is_rejected_before_parsing(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"more than {MAX_KEY_PARTS} parts .at line {line}."):
        loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "a." * (MAX_KEY_PARTS - 1) + "b = 1",
        "x = '''" + "Several words. And more. " * 1000 + "'''",
        "x = 1.5\ny = [" + "1.5, " * 1000 + "]",
        'x = "' + "." * 10_000 + '"',
        "\n".join(f"x{n} = {n}.{n}" for n in range(1000)),
    ],
)
def test_everything_else_is_plain_toml(text: str) -> None:
    assert loads(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ["a" * 1_000_000, '"' * 1_000_000, "a " * 500_000, '"' + "\\" * 1_000_000])
def test_invalid_toml_is_rejected(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        loads(text)
