"""A triage card as text: both final answers with their differences marked, the verdicts, the sentence around the
answer, the causes.

Differences are marked by a line of signs below, readable without colours: ``^`` below text that only this answer has,
``‸`` where the other one has more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from msgspec import structs
from rich.cells import cell_len
from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.kit.item_panes import verdict_mark
from workbench.app.tui.kit.queue_view import decided_words
from workbench.app.tui.kit.wrapping import wrap_line
from workbench.core.reasons import title
from workbench.core.text.figures import counted
from workbench.measuring.records.review import (
    CODE_ERROR_CATEGORIES,
    CODE_ERRORS_IN_SHORT,
    ERROR_CATEGORIES,
    ERRORS_IN_SHORT,
)
from workbench.measuring.reviewing.triage import KEYED, OpenCases, TriageCase, TriageTally, paragraph, triage_table
from workbench.tables.table_text import plain_table

_BAR = "  ┃ "
_NAME_CELLS = 11
"""Cells of the name before a line."""
_TALL_CARD = 32
"""Card height from which more of the texts and the meaning of each cause are shown."""
_CAUSE_CELLS = 40
"""Cells that a cause takes with its digit, count and meaning."""
_SHORT_CAUSE_CELLS = 22
"""Cells that a cause and its count take if each cause has a line of its own."""
_END_LINES = 3
"""Lines shown of the end of a reference without a recognised answer."""
_MAX_SIMILAR = 4
"""Maximum number of similar cases that are listed when picked."""


class CardState(NamedTuple):
    """The state shown with a case on its card.

    Attributes:
        alike: Open cases similar to this one, including this one.
        picked: Whether the next cause is given to all similar cases.
        said: The last message about storing or retracting.
    """

    tally: TriageTally
    alike: Sequence[TriageCase] = ()
    picked: bool = False
    said: str = ""


def card(case: TriageCase, state: CardState, width: int, height: int) -> Content:
    """Return the card, laid out for this many cells and lines."""
    tall = height >= _TALL_CARD
    places, decided = case.differences.places, decided_words(case.reviews)
    asking = printable(" ".join(case.question.split()))
    question = [asking[start:end] for start, end in wrap_line(asking, width - 4)]
    if case.is_code:
        compared, stands_in = [], []
    else:
        compared = [_field_line("differs", Content.styled(case.differences.words, "bold $text-warning"))]
        stands_in = list(_answer_context_lines(case, width, 4 if tall else 2))
    facts = [
        *compared,
        *_similar_cases_lines(case, state, width),
        _field_line("verdicts", _verdict_strip(case)),
        *_verifier_reading_lines(case, width),
        *stands_in,
        *([_field_line("decided", Content(fit(decided, width - _NAME_CELLS)))] if decided else ()),
    ]
    causes = [
        _divider(state.said, width),
        *_cause_lines(case, state.tally, width, told=tall),
    ]
    asked = min(len(question), 3 if tall else 2)
    room = max(height - asked - len(facts) - len(causes) - 2, 4)
    if case.is_code:
        first, second = (list(_program_lines(text, width)) for text in (case.reference, case.answer))
    else:
        first = list(_answer(case.reference, [place.reference for place in places], width)) or list(
            _reference_end_lines(case, width)
        )
        second = list(_answer(case.answer, [place.completion for place in places], width)) or [Content(f"{_BAR}–")]
    least = max(room - len(second), room // 2)
    reference = [_answer_heading("reference", case.reference_found), *_cut_around_difference(first, least)]
    answer = [
        _answer_heading("completion", case.answer_found),
        *_cut_around_difference(second, max(room - len(first), room - least)),
    ]
    others = [reference, answer, facts, causes]
    apart = asked + sum(map(len, others)) + len(others) <= height
    spare = height - sum(map(len, others)) - len(others) * apart
    parts = [_question_end(question, max(asked, spare)), *others]
    return Content("\n\n" if apart else "\n").join(Content("\n").join(part) for part in parts)


def _answer_heading(name: str, found: str) -> Content:
    return Content.assemble((f" {name}", "bold"), (f"  {printable(found)}", "$text-muted"))


def _field_line(name: str, said: Content) -> Content:
    return Content.assemble((f" {name:<{_NAME_CELLS - 1}}", "bold"), said)


def _question_end(lines: Sequence[str], most: int) -> list[Content]:
    leads = ["… " if len(lines) > most else "", *("" for _ in range(most))]
    return [Content.styled(f" {lead}{line}", "$text-muted") for lead, line in zip(leads, lines[-most:], strict=False)]


# -- The answers.


def _answer(text: str, places: Sequence[tuple[int, int]], width: int) -> Iterator[Content]:
    if not text:
        return
    shown, marks = marked_text(text, places)
    pieces = list(wrap_line(shown, max(width - cell_len(_BAR) - 1, 8)))
    if " " in shown.strip() and all(mark == "^" for sign, mark in zip(shown, marks, strict=True) if sign != " "):
        marks = " " * len(shown)
    for start, end in pieces:
        yield from _marked_row(shown[start:end], marks[start:end])


def _program_lines(text: str, width: int) -> Iterator[Content]:
    for line in text.expandtabs(4).strip("\n").split("\n") or ["–"]:
        yield Content.assemble((_BAR, "bold"), fit(line, width - cell_len(_BAR)).rstrip())


def _reference_end_lines(case: TriageCase, width: int) -> Iterator[Content]:
    shown = printable(" ".join(case.reference_end.split())) or "–"
    pieces = list(wrap_line(shown, width - cell_len(_BAR) - 1))[-_END_LINES:]
    return (Content.assemble((_BAR, "bold"), (shown[start:end], "$text-muted")) for start, end in pieces)


def _marked_row(text: str, signs: str) -> Iterator[Content]:
    pairs = list(zip(text, signs, strict=True))
    styled = ((sign, "bold underline $text-warning" if mark == "^" else "bold") for sign, mark in pairs)
    yield Content.assemble((_BAR, "bold"), *styled)
    if signs.strip():
        below = "".join(mark * cell_len(sign) if mark == "^" else mark.ljust(cell_len(sign)) for sign, mark in pairs)
        yield Content.assemble((_BAR, "bold"), (below.rstrip(), "bold $text-warning"))


def _cut_around_difference(lines: Sequence[Content], most: int) -> Sequence[Content]:
    if len(lines) <= most:
        return lines
    first = next((place for place, line in enumerate(lines) if {"^", "‸"} & set(line.plain[len(_BAR) :])), 0)
    begin = min(max(first - 2, 0), len(lines) - most + 1)
    more = Content.styled(f"{_BAR}… {key_of('triage.open')} shows the whole text", "$text-muted")
    return [*lines[begin : begin + most - 1], more]


def marked_text(text: str, places: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """Return the printable text, and a sign per character: ``^`` where it differs, ``‸`` where it lacks something, else
    " ".
    """
    signs = [" "] * (len(text) + 1)
    for start, end in places:
        for place in range(start, end):
            signs[place] = "^"
        if start == end and signs[start] == " ":
            signs[start] = "‸"
    shown = [printable(sign) for sign in text]
    marks = [mark * len(sign) for sign, mark in zip(shown, signs, strict=False)]
    return "".join(shown) + " ", "".join(marks) + signs[-1].replace("^", " ")


# -- Text around the answers.


def _similar_cases_lines(case: TriageCase, state: CardState, width: int) -> Iterator[Content]:
    many = len(state.alike)
    if many < 2:
        return
    if not state.picked:
        more = f"{counted(many - 1, 'more case')} like it: {key_of('triage.like')} picks all {many:,}"
        yield _field_line("alike", Content.styled(more, "$text-accent"))
        return
    said = (
        f"{many:,} cases: {case.differences.words}. All {many:,} get the cause; {key_of('triage.like')} deselects them."
    )
    yield Content.styled(fit(f" ● {said}", width), "bold $text-accent")
    half = (width - 8) // 2
    for one in state.alike[:_MAX_SIMILAR]:
        yield Content(f"   {fit(one.reference, half)} │ {fit(one.answer, half)}")
    if many > _MAX_SIMILAR:
        yield Content.styled(f"   … and {many - _MAX_SIMILAR:,} more", "$text-muted")


def _verdict_strip(case: TriageCase) -> Content:
    erring = {vote.verifier for vote in case.erring}
    parts = [Content.assemble(("gold ", "bold"), verdict_mark(case.gold)), Content("│")]
    for vote in sorted(case.votes, key=lambda vote: vote.verifier not in erring):
        said = Content.assemble(printable(vote.verifier), " ", verdict_mark(vote.verdict))
        parts.append(Content.assemble("‹", said, "›") if vote.verifier in erring else said)
    return Content(" ").join(parts)


def _verifier_reading_lines(case: TriageCase, width: int) -> Iterator[Content]:
    room = width - _NAME_CELLS
    said = title(case.reason) if case.reason else "it gives no reason"
    yield _field_line("why", Content(fit(f"{case.erring[0].verifier}: {said}", room)))
    if case.read is not None:
        half = (room - 3) // 2
        parts = [
            one if cell_len(one) <= half else fit(one, half) for one in (printable(read) or "–" for read in case.read)
        ]
        yield _field_line("it read", Content(" │ ".join(parts)))


def _answer_context_lines(case: TriageCase, width: int, most: int) -> Iterator[Content]:
    before, answer, after = (printable(" ".join(part.split())) for part in (case.before, case.answer, case.after))
    room = most * (width - _NAME_CELLS - 4)
    answer = answer if len(answer) <= room // 2 else f"{answer[: room // 2]}…"
    begins = max(len(before) - max(room - len(answer) - len(after[:40]), 0), 0)
    before = f"… {before[begins:].partition(' ')[2]}" if begins else before
    whole = f"{before} [{answer}] {after}".strip() if case.answer else before
    for number, (start, end) in enumerate(islice(wrap_line(whole, width - _NAME_CELLS - 1), most)):
        yield _field_line("" if number else "is in", Content.styled(whole[start:end], "$text-muted"))


# -- The causes, each with its digit and how often it was given.


def _divider(said: str, width: int) -> Content:
    told = fit(f" {said} ", min(cell_len(said) + 2, width - 2)) if said else ""
    line = "─" * (width - cell_len(told) - 2)
    return Content.assemble(("──", "$text-muted"), (told, "$text-success"), (line, "$text-muted"))


def _cause_lines(case: TriageCase, tally: TriageTally, width: int, *, told: bool) -> Iterator[Content]:
    whole, short = (ERROR_CATEGORIES, ERRORS_IN_SHORT)
    if case.is_code:
        whole, short = (CODE_ERROR_CATEGORIES, CODE_ERRORS_IN_SHORT)
    meanings = whole if told else short
    counts = Counter(mark.cause for mark in tally.marks)
    others = sum(n for cause, n in counts.items() if cause not in KEYED)
    means = {cause.name: meanings[cause.category] for cause in KEYED}
    means["another cause"] = "Another kind, or a custom one." if told else meanings["other"]
    given = [*(counts[cause] for cause in KEYED), others]
    across = 1 if told else max(width // _CAUSE_CELLS, 1)
    cells = [
        _cause_cell(str(number % 10), name, meaning, n, width // across)
        for number, ((name, meaning), n) in enumerate(zip(means.items(), given, strict=True), 1)
    ]
    return (Content("").join(cells[place : place + across]) for place in range(0, len(cells), across))


def _cause_cell(key: str, name: str, meaning: str, n: int, width: int) -> Content:
    times = f" {n:,}" if n else ""
    apart = " " * max(_SHORT_CAUSE_CELLS - cell_len(f"{name}{times}"), 0) if width > _CAUSE_CELLS else ": "
    room = width - cell_len(f" {key} {name}{times}{apart} ")
    return Content.assemble(
        (f" {key} ", "bold $text-accent"), name, (times, "bold"), apart, (fit(meaning, room), "$text-muted"), " "
    )


# -- The summary of the causes.


_MAX_ELSEWHERE: Final = 3
"""Maximum number of verifiers with open cases that are named."""


def summary(tally: TriageTally, said: str, elsewhere: Sequence[OpenCases] = ()) -> Content:
    """Return the summary and the table of causes so far; once every case has a cause, also which verifiers have open
    cases.
    """
    found = triage_table(tally)
    parts = [Content(printable(paragraph(tally))), Content(plain_table(structs.replace(found, notes=())))]
    back, export, undo = (key_of(f"triage.{verb}") for verb in ("summary", "export", "undo"))
    done = "Every case here is read." if not tally.left else f"{counted(tally.left, 'case')} left: {back} continues."
    if not tally.left and elsewhere:
        named = ", ".join(f"{one.verifier} {one.left:,} of {one.wrong:,}" for one in elsewhere[:_MAX_ELSEWHERE])
        more = f" and {counted(len(elsewhere) - _MAX_ELSEWHERE, 'verifier')} more" if elsewhere[_MAX_ELSEWHERE:] else ""
        there = f"Open on all items: {named}{more}. {key_of('triage.elsewhere')} goes to {elsewhere[0].verifier}."
        parts.append(Content.styled(printable(there), "bold"))
    parts.append(Content.styled(f"{done} {export} saves or copies this; {undo} undoes the last cause.", "$text-muted"))
    if said:
        parts.append(Content.styled(printable(said), "$text-success"))
    return Content("\n\n").join(parts)
