"""The patterns of the data files are those that the modules use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.verifiers.rules import patterns as patterns_module
from workbench.verifiers.rules.patterns import Lexicon, entries
from workbench.verifiers.rules.quantities import RequiredForm
from workbench.verifiers.rules.question import TypedQuestion

DATA = Path(patterns_module.__file__).with_name("data")


@pytest.mark.parametrize("topic", sorted(path.stem for path in DATA.glob("*.toml")))
def test_a_topic_has_the_patterns_that_its_module_uses_and_no_others(topic: str) -> None:
    lexicon, module = next(
        (found, text)
        for text in (path.read_text(encoding="utf-8") for path in DATA.parent.glob("*.py"))
        for found in re.findall(rf'^(_[A-Z]+) = Lexicon\("{topic}"\)', text, re.MULTILINE)
    )
    patterns = entries(topic).get("patterns", {})
    attributes = set(re.findall(rf"\b{lexicon}\.(\w+)", module)) - vars(Lexicon).keys()
    assert attributes <= patterns.keys()
    everywhere = "".join(path.read_text(encoding="utf-8") for path in DATA.glob("*.toml"))
    named = {*re.findall(r'"(\w+)"', module), *re.findall(r"<<(?:\w+\.)?(\w+)>>", everywhere)}
    assert patterns.keys() <= attributes | named | (_flags() if topic == "question" else set())


EVERY = sorted((path.stem, name) for path in DATA.glob("*.toml") for name in entries(path.stem).get("patterns", ()))


@settings(max_examples=1)
@given(st.data())
@pytest.mark.parametrize(("topic", "name"), EVERY)
def test_a_text_holds_a_pattern_that_is_found_in_it(topic: str, name: str, data: st.DataObject) -> None:
    lexicon = Lexicon(topic)
    pattern: re.Pattern[str] = getattr(lexicon, name)
    text = data.draw(st.from_regex(pattern)).lower()
    assert lexicon.holds(name, text) == (pattern.search(text) is not None)


def test_what_is_asked_of_a_question_is_a_property_or_a_pattern() -> None:
    # Some functions call the question's text or its required form by the same name.
    known = {name for like in (TypedQuestion(""), RequiredForm(), "") for name in dir(like)}
    known |= entries("question")["patterns"].keys()
    assert _flags() <= known
    with pytest.raises(AttributeError):
        _ = TypedQuestion("").of_nothing


def _flags() -> set[str]:
    """Return the names that the package's modules ask a question for."""
    texts = [path.read_text(encoding="utf-8") for path in DATA.parent.glob("*.py")]
    asked = {name for text in texts for name in re.findall(r"\bquestion\.(?!toml)(\w+)", text)}
    own = (DATA.parent / "question.py").read_text(encoding="utf-8")
    return asked | {name for name in re.findall(r"\bself\._(\w+)", own) if name in entries("question")["patterns"]}
