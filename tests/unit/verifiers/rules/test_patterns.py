"""A pattern that looks for its words first finds what it would have found without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.verifiers.rules import patterns as patterns_module
from workbench.verifiers.rules import question
from workbench.verifiers.rules.patterns import Lexicon, PrefilteredPattern, entries, required_literals
from workbench.verifiers.rules.quantities import RequiredForm
from workbench.verifiers.rules.question import TypedQuestion

DATA = Path(patterns_module.__file__).with_name("data")
PATTERNS = (
    (r"\b(?:find|give)\s+(?:the|its)+x[ab]?", 0),
    (r"order\s+(?:them|these)|\bsort(?:ed)?\b", 0),
    (r"\bdegrees?\b|\\circ|°", re.IGNORECASE),
    (r"化学|[∧∨]|\b[cd]nf\b", 0),
    (r"(?:one)?(?:two){2,3}", re.IGNORECASE),
    (r"(?i)a(?!b)c|x(?=yz)y", 0),
    (r"(?P<w>ab)-(?P=w)|(?>cd)ef", 0),
    (r"(?:|ab)(?-i:Cd)", re.IGNORECASE),
    (r"", 0),
)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\b(?:find|give)\s+x", {"find", "give"}),
        (r"order(?:them|the)", {"orderthe"}),
        (r"chemi|\bcompounds?\b|化学", {"chemi", "compound", "化学"}),
        (r"(?:ab)?\w", set()),
        (r"ab|", set()),
        (r"\bx\b|long", set()),
        (r"[∧∨]", {"∧", "∨"}),
        (r"(?:ab)+c?", {"ab"}),
    ],
)
def test_the_words_a_pattern_needs_are_read_off_it(pattern: str, words: set[str]) -> None:
    assert required_literals(pattern) == words


@pytest.mark.parametrize(("pattern", "flags"), PATTERNS)
@given(data=st.data())
def test_it_finds_what_the_pattern_finds(pattern: str, flags: int, data: st.DataObject) -> None:
    compiled = re.compile(pattern, flags)
    inside = data.draw(st.from_regex(compiled) | st.text(alphabet="abcdefxyzorders tweıſKİ°化∧-\\\n"))
    text = data.draw(st.sampled_from((inside, inside.upper(), inside.swapcase(), f"Kſ{inside}ß")))

    theirs, ours = compiled.search(text), PrefilteredPattern(pattern, flags).search(text)

    assert (ours and ours.span()) == (theirs and theirs.span())


def test_a_question_is_spared_the_patterns_whose_words_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    class Told:
        def __init__(self, pattern: re.Pattern[str]) -> None:
            self.pattern = pattern

        def search(self, text: str) -> re.Match[str] | None:
            searched.append(self.pattern.pattern)
            return self.pattern.search(text)

    names = sorted(_flags() & entries("question")["patterns"].keys())
    assert len(names) > 30
    for name in names:
        looked_for = question._pattern(name)
        monkeypatch.setattr(looked_for, "_pattern", Told(looked_for._pattern))
    asked = TypedQuestion("Determine the integral of x squared between zero and pi.")

    assert not any(getattr(asked, name) for name in names)
    assert len(searched) < len(names) / 3


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
