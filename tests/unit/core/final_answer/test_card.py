"""The card shows both final answers, marks guesses, and claims no more than an annotator could judge."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answers import ANYTHING
from workbench.core.final_answer import FinalAnswer
from workbench.core.final_answer.card import (
    COMPLETION_TAIL,
    SHOWN,
    Card,
    card,
    card_completion,
    card_reference,
    quirks,
    windows,
)

LONG = "The reasoning goes on without any end or result. " * 10
PLAIN = "A line of reasoning that ends like this.\n" * 9
"""Too long to be an answer, in lines that no rule recognises as one."""


BOTH = ("last_sentence", "So (B) and (J) are alike.")


@pytest.mark.parametrize(
    ("text", "subtype", "how", "answer"),
    [
        (LONG + r"\boxed{5}", None, "boxed", "5"),
        (LONG + "\nThe answer is 12.", "A1", "cue", "12"),
        ("alpha, beta, gamma, delta " * 6, None, "whole", ("alpha, beta, gamma, delta " * 6).strip()),
        (LONG + "\nIn all it is 7 boxes.", "A1", "number", "7"),
        (LONG + "\nIn all it is $x + 1$.", "B1", "math", "x + 1"),
        (LONG + "\nIt costs 2.50 / n.\nWithout n, nobody knows it.", "A3", "last_line", "Without n, nobody knows it"),
        (LONG + "\nNobody can tell the length.", "D1", "last_line", "Nobody can tell the length"),
        (LONG, "D1", "none", ""),
        ("", None, "none", ""),
    ],
)
def test_references(text: str, subtype: str | None, how: str, answer: str) -> None:
    found = card_reference(text, subtype)
    assert (found.how, found.text) == (how, answer)
    assert text[found.start : found.end] == answer


@pytest.mark.parametrize(
    ("text", "how", "answer"),
    [
        ("thought</think>" + "one, two, three; " * 15, "whole", ("one, two, three; " * 15).strip()),
        (PLAIN + "It must be **tapi**.", "bold", "tapi"),
        (PLAIN + "**Step 20**: Move on. We see a scarf.", "last_line", "**Step 20**: Move on. We see a scarf"),
        (PLAIN + "**Step 20:** Move on. We see a scarf.", "last_line", "**Step 20:** Move on. We see a scarf"),
        (PLAIN + "So it is $x = 3$.", "math", "x = 3"),
        (PLAIN + "So $x$ is divergent and grows for ever.", "last_line", "So $x$ is divergent and grows for ever"),
        (
            PLAIN + f"So $x$ is divergent and {'grows ' * 40}for ever.",
            "last_sentence",
            f"So $x$ is divergent and {'grows ' * 40}for ever.",
        ),
        (LONG + "It fits best, favouring (I) 1 and 3.", "last_sentence", "It fits best, favouring (I) 1 and 3."),
        (LONG + "So (B) and (J) are alike. They please a wide and thoughtful audience. " + "They do. " * 3, *BOTH),
        (PLAIN + "Therefore, the final value of x equals 5", "last_line", "Therefore, the final value of x equals 5"),
        (PLAIN + "Thus we take all of the 5 boxes and the", "none", ""),
        (PLAIN + "We then have 15 apples in the first", "none", ""),
        (LONG + "I would recommend asking for help with option (B).", "none", ""),
        (LONG + "Or is it (B)?", "none", ""),
        ("84\n\nHope this helps!", "whole", "84"),
        (PLAIN + "**84**\n\nLet me know if you have any questions! Good luck!", "bold", "84"),
        (PLAIN + "So it is $x = 3$. Hope this helps!", "math", "x = 3"),
        (PLAIN + "$$\nx = 3\n$$\n\n希望对你有帮助!", "math", "x = 3"),
        (PLAIN + "It must be Paris. If you need anything else, just ask.", "last_line", "It must be Paris"),
        ("Hope this helps!", "whole", "Hope this helps!"),
        (PLAIN + "#### 5 km at 53° south of east", "hashes", "5 km at 53° south of east"),
        (LONG + "A litre of ice is thus lighter.", "last_sentence", "A litre of ice is thus lighter."),
        (PLAIN + "Then we look at $y$ and go on to the next of these, which is", "none", ""),
        (PLAIN + "Then we look at the next of these, which", "none", ""),
        (PLAIN + "Probably Paris", "last_line", "Probably Paris"),
        ("Again the very same line.\n" * 20, "none", ""),
        (LONG, "none", ""),
        ("All of it is thought.</think>\n", "none", ""),
    ],
)
def test_completions(text: str, how: str, answer: str) -> None:
    found = card_completion(text)
    assert (found.how, found.text) == (how, answer)
    assert text[found.start : found.end] == answer


@pytest.mark.parametrize(
    ("completion", "absence", "usable"),
    [
        ("thought</think>\n", "no_reply", False),
        ("[THINK]It may be 3. Let me see: \\boxed{3}", "no_reply", False),
        ("", "empty", True),
        (" \n", "empty", True),
        (PLAIN + "Then we look at the next of these, which", "breaks_off", True),
        ("Again the very same line.\n" * 20, "goes_round", True),
        (PLAIN + "I would rather ask somebody who knows more about such things. " * 4, "unstated", True),
        (LONG * 4, "unstated", False),
    ],
)
def test_a_completion_without_an_answer_has_a_reason(completion: str, absence: str, usable: bool) -> None:
    seen = card("q", "42", completion)
    assert seen.absence == absence
    assert seen.usable is usable


@pytest.mark.parametrize(
    ("reference", "completion", "usable"),
    [
        ("42", LONG + r"\boxed{42}", True),
        ("42", r"\boxed{42}" + LONG, True),
        ("42", "The answer is 42. " + LONG, True),
        ("42", "The answer is 42. " + LONG * 3, False),
        ("42", PLAIN + "So it is $x = 3$.", True),
        (LONG, r"\boxed{42}", False),
        ("", r"\boxed{42}", False),
        (LONG + "\nIn all it is 7 boxes.", r"\boxed{42}", True),
        (LONG + "\nIn all it is 7 boxes, " + "and so on, " * 60, r"\boxed{42}", False),
        (rf"\boxed{{{'x' * SHOWN}}}", r"\boxed{42}", True),
        (rf"\boxed{{{'x' * SHOWN}y}}", r"\boxed{42}", False),
        ("42", "".join(rf"\boxed{{{'x' * (SHOWN // 4)}{number}}}" + "\n" for number in range(4)), False),
        ("\\boxed{1}\n\\boxed{2}", "\\boxed{1}\n\\boxed{2}", True),
        ("\\boxed{1}\n\\boxed{2}", r"\boxed{1} and \boxed{2}", True),
        ("\\boxed{1}\n\\boxed{2}", r"\boxed{2}", False),
    ],
)
def test_what_makes_a_card_usable(reference: str, completion: str, usable: bool) -> None:
    assert card("q", reference, completion, "A1").usable is usable


@pytest.mark.parametrize(
    ("reference", "completion", "shortcomings"),
    [
        ("42", "so it is 42 and then it goes on and never sto", ()),
        (LONG, r"\boxed{42}", ("no_reference_answer",)),
        (LONG + "\nIn all it is 7 boxes, " + "and so on, " * 60, r"\boxed{42}", ("no_reference_answer",)),
        (LONG + "\nIn all it is $7$, " + "and so on, " * 31, r"\boxed{42}", ("reference_unseen",)),
        (rf"\boxed{{{'x' * SHOWN}y}}", "All of it is thought.</think>", ("reference_crowded", "no_reply")),
        ("42", LONG * 4, ("ending_unseen",)),
        ("42", "The answer is 42. " + LONG * 3, ("early_answer",)),
        ("42", rf"\boxed{{{'x' * SHOWN}y}}", ("completion_crowded",)),
        ("\\boxed{1}\n\\boxed{2}", r"\boxed{2}", ("fewer_boxes",)),
    ],
)
def test_an_insufficient_card_has_a_reason(reference: str, completion: str, shortcomings: tuple[str, ...]) -> None:
    seen = card("q", reference, completion)
    assert seen.shortcomings == shortcomings
    assert seen.usable is (shortcomings == ())


def test_an_answer_at_the_end_is_shown_with_the_end() -> None:
    completion = "x" * 5000 + "\nThe answer is **42**."
    seen = card("q" * 3000, "42", completion, "A1")
    assert len(seen.question) == 800
    assert seen.reference == FinalAnswer("42", 0, 2, "whole")
    assert seen.passage is None
    assert seen.windows == ((len(completion) - COMPLETION_TAIL, len(completion)),)
    assert not seen.completion_guessed


def test_an_earlier_answer_is_shown_in_place_with_the_end() -> None:
    text = PLAIN + "So it is \\boxed{42}.\n" + PLAIN * 8
    (begin, behind), (end, length) = windows(text, card_completion(text))
    assert "\\boxed{42}" in text[begin:behind]
    assert (text[begin - 1], length) == ("\n", len(text))
    assert begin < behind < end
    near = PLAIN + "So it is \\boxed{42}.\n" + "and so on, " * 58
    assert len(windows(near, card_completion(near))) == 1


def test_guesses_are_marked() -> None:
    seen = card("q", LONG + "\nIn all it is 7 boxes.", PLAIN + "It must be **tapi**.", "A1")
    assert (seen.reference_guessed, seen.completion_guessed) == (True, True)
    assert seen.passage is not None
    early = card("q", "42", "The answer is 42. " + LONG * 3)
    assert (early.completion.how, early.completion_guessed) == ("cue", True)
    windy = card("q", "42", PLAIN + f"The answer is one of those that {'one sees and ' * 9}finds.")
    assert (windy.completion.how, windy.completion_guessed) == ("cue", True)
    missing = card("q", LONG, LONG)
    assert (missing.reference_guessed, missing.completion_guessed) == (False, False)


def test_other_boxes_are_listed_once_and_without_thoughts() -> None:
    completion = "\\boxed{9}</think>\\boxed{1}\n\\boxed{2}\n\\boxed{ 1 }\n\\boxed{2}\n\\boxed{3}"
    seen = card("q", "\\boxed{1}\n\\boxed{2}", completion)
    assert [box.text for box in seen.reference_others] == ["1"]
    assert [box.text for box in seen.completion_others] == ["2", "1"]
    assert card("q", "1", r"\boxed{1} or \boxed{2}").completion_others == ()


def test_quirks_of_a_completion() -> None:
    assert quirks("All is well.") == ()
    assert quirks("thought</think>It is \\boxed{1} or \\boxed{2}") == ("think_unopened", "several_boxed")
    assert quirks("the very same line\n" * 10 + "and then it sto") == ("repeated_line", "no_closing_punctuation")


def check(seen: Card, reference: str, completion: str) -> None:
    """All offsets lie inside, in order, and cut out what they say."""
    for text, found in ((reference, seen.reference), (completion, seen.completion)):
        assert text[found.start : found.end] == found.text == found.text.strip(" \t\r\n")
        assert found.found == bool(found.text)
    for text, others in ((reference, seen.reference_others), (completion, seen.completion_others)):
        assert all(text[box.start : box.end] == box.text for box in others)
    at = 0
    for begin, end in seen.windows:
        assert at <= begin <= end <= len(completion)
        at = end
    assert at == len(completion)
    if seen.completion.found:
        assert any(begin <= seen.completion.start and seen.completion.end <= end for begin, end in seen.windows)
    assert (seen.absence is None) is seen.completion.found
    assert 0 <= seen.closing[0] <= seen.closing[1] <= len(completion)
    if seen.usable:
        assert seen.reference.text
        assert seen.completion.text or seen.absence is not None


@given(ANYTHING, ANYTHING, st.integers(0, 60), st.sampled_from([None, "A1", "B2"]))
def test_offsets_lie_inside_and_windows_hold_the_answer(
    reference: str, completion: str, times: int, subtype: str | None
) -> None:
    long = completion + "\n" + "More of it, word by word. " * times
    check(card(completion, reference, long, subtype), reference, long)


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{" * 100_000,
        "{" * 1_000_000,
        "\\boxed{" + "{" * 300_000,
        "\\boxed{" * 50_000 + "1" + "}" * 50_000,
        "answer is " * 50_000,
        "answer " + " " * 200_000,
        "answer:" + "a:\n" * 50_000,
        "**" * 100_000,
        "$a" * 100_000,
        "####" * 50_000,
        "\n" * 200_000,
        "\\" * 200_000,
        "9," * 200_000,
        "so $x$ " + "a" * 400_000,
        "$x$ " + "ab, " * 100_000,
        "Thanks!\n" * 50_000,
        "Good luck. " * 50_000,
        "If you have " + "a " * 200_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    card(text, text, text, "A1")


@pytest.mark.real_data
@pytest.mark.parametrize("typed", [True, False], ids=["typed", "untyped"])
def test_nearly_all_real_cards_are_usable(real_rows: list[dict[str, Any]], typed: bool) -> None:
    cards = []
    for row in real_rows:
        seen = card(row["question"], row["answer"], row["completion"], row["answer_type"][:2] if typed else None)
        check(seen, row["answer"], row["completion"])
        cards.append(seen)
    assert sum(seen.usable for seen in cards) >= 0.95 * len(cards)
    assert sum(seen.completion.found for seen in cards) >= 0.95 * len(cards)
    assert sum(not seen.reference_guessed for seen in cards) >= 0.9 * len(cards)
