"""Front matter is valid YAML with the intended values for any texts."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.card.document import front_matter
from workbench.core.text.inert import inert

TEXTS = st.text(max_size=30) | st.sampled_from(
    [
        "no",
        "---",
        "--- : {",
        "](http://x)",
        "1e3",
        "null",
        "2020-01-01",
        "'",
        '"',
        "a: b",
        "# x",
        "\ufffe",
        "\x85",
        "\U0001f600",
    ]
)


def card(text: str) -> dict[str, Any]:
    return {
        "pretty_name": text,
        "language": [text, "no"],
        "configs": [{"config_name": text, "default": True, "data_files": [{"split": text, "rows": 7}]}, {"k": "v"}],
        "none": [],
    }


def plain(values: Any) -> Any:
    """Return the expected values for a reader: texts without invisible characters."""
    if isinstance(values, dict):
        return {key: plain(value) for key, value in values.items()}
    return (
        [plain(value) for value in values]
        if isinstance(values, list)
        else inert(values)
        if isinstance(values, str)
        else values
    )


@given(TEXTS)
def test_each_value_is_json_on_its_line(text: str) -> None:
    lines = front_matter(card(text)).split("\n")
    assert (lines[0], lines[-2:], lines.count("---")) == ("---", ["---", ""], 2)
    pairs = (line.partition(": ") for line in lines[1:-2])
    assert {key: json.loads(value) for key, _, value in pairs} == plain(card(text))


@given(TEXTS)
def test_a_yaml_library_reads_it_back(text: str) -> None:
    header = front_matter(card(text)).removeprefix("---\n").removesuffix("---\n")
    assert yaml.safe_load(header) == plain(card(text))
