"""The verdict on an item: both final answers are read once, then compared by their types."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from workbench.core.final_answer import FinalAnswer, answer_after_cue, boxed_spans, last_match, reply_start
from workbench.verifiers.rules.answers import (
    Answers,
    answer_in_envelope,
    boxes_of,
    is_hedged,
    is_retracted,
    is_stated,
    labelled_answers,
    last_boxes,
    last_paragraph,
    list_items,
    stated_values,
    unpack_json,
)
from workbench.verifiers.rules.choices import (
    contradicts_letter,
    has_contrast,
    letters,
    options,
    resolve_all_but,
    without_rejected,
)
from workbench.verifiers.rules.comparing import Comparison
from workbench.verifiers.rules.conclusions import FIGURE, conclusion, conclusion_of, measured_numbers, sentences
from workbench.verifiers.rules.equations import is_bare, reorders_matrices
from workbench.verifiers.rules.named import NamedValues, named_answer
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import Quantity, restates_number
from workbench.verifiers.rules.reading import AnswerReader
from workbench.verifiers.rules.records import (
    DIFFERENT,
    ChosenOptions,
    Collection,
    ComparedAnswer,
    Doubt,
    Equality,
    Expression,
    Part,
    Region,
    State,
    Symbolic,
    Text,
    undecided,
)
from workbench.verifiers.rules.sense import (
    ROUGH,
    Around,
    computes_another,
    explained_by,
    has_denial,
    is_rough_before,
    marks_near,
    qualifiers_of_number,
    unknown_words,
    word_count,
    words,
)
from workbench.verifiers.rules.soundness import (
    has_no_value,
    has_open_unknown,
    is_unsound_chain,
    restates,
    rounded_wrongly,
)
from workbench.verifiers.rules.spelling import MAX_CHARACTERS, TooComplex, tidy
from workbench.verifiers.rules.states import affirms, last_clauses
from workbench.verifiers.rules.strings import (
    contains_any,
    enumerates,
    extends_name,
    may_differ_by_negation,
    other_case,
    same_text,
    same_wording,
)
from workbench.verifiers.rules.structure import MAX_PARTS
from workbench.verifiers.rules.surroundings import (
    Surroundings,
    is_about_another,
    is_denied,
    is_part_of_formula,
    surroundings,
    takes_back,
)
from workbench.verifiers.rules.units import unit_behind
from workbench.verifiers.rules.wordings import are_understood, is_in_another_language

_DATA = Lexicon("decision")
_BEGINS_AS_VALUE = re.compile(r"[\s$*({]*(?:\\[(\[]\s*)?[-+−]?[.\d]")
_WORKED_OUT = ("expression", "equation", "symbolic")
_CALCULATED = (*_WORKED_OUT, "number", "quantity", "list", "tuple")
_RELATED = (*_CALCULATED, "interval", "degrees", "percent")
_MEASURED = ("number", "quantity", "expression", "percent", "degrees")
_BY_FORM = ("text.differs", "list", "set", "choice.none")
_BY_NAME = ("text.differs", "choice.none", "date.other")
_BY_UNDERSTANDING = ("text.differs", "choice.none", "list", "set", "tuple", "interval", "date.other")
_MARKED = ("boxed", "cue", "math", "bold")
_FIRST_WORDS = re.compile(r"[\s$*\\)}\]~,]{0,8}(?P<sign>\\?[%€£¥₹¢]|\\\$)?\s?(?P<noun>[^\W\d_]+(?:\s[^\W\d_]+)?)?")
_SIGN_BEFORE = re.compile(r"(?:\\\$|[€£¥₹¢]|\b(?:EUR|USD|GBP|CHF)|US\$)[\s$]*\Z")
_ABBREVIATES = re.compile(r"\A\.(?=\*{0,2}\s[a-z])")
"""A full stop that ends no sentence: "3:20 a.m. or 4 p.m."."""
_IN_RELATIVE_CLAUSE = re.compile(r"\$,\s+which\b[^$\n]*\$\Z")
_PRIMED = re.compile(r"(?<![A-Za-z'])[A-HJ-Z]'")
_FEW, _SENTENCE = 3, 6
_MAX_KEPT, _MAX_KEPT_CHARACTERS = 64, 1_000
"""Maximum number of answers to a question that are cached, and maximum characters of each."""
_TYPESETTING = 40
"""Maximum characters that typesetting may add to a text."""
_LETTER = re.compile(r"[A-J]")
_WHOLE = re.compile(r"[-−]?\d+")
_CONCLUDES_BEHIND = re.compile(r"[\s$),.;*]{0,5}(?:so|hence|thus|therefore)\b([^\n]*)")
_CONTRARY = {"yes": False, "true": False, "no": True, "false": True}
_SAID_BEFORE = 300
"""Characters before a yes or no that may say the opposite."""
_REMARK = re.compile(r"[\s*$]*\(([^()]{2,80})\)")
_COMMENT = re.compile(r"(?:#|//|/\*|--|<!--|;)\s?(.*)")
_AND_SO_ON = re.compile(r"[\s,;]*(?:\.\.\.|…|\\[lc]?dots\b)")
_ROUNDED = 60
"""Maximum characters after a value in which it may be rounded."""
_PHRASE = 100
"""Maximum characters of a reference that is a phrase, all of whose words count."""


class Decision(NamedTuple):
    """The rules' decision.

    Attributes:
        equal: Whether the candidate is correct; None for an abstention.
        reason: The reason code.
        rule: The rule that fired; None for an abstention.
    """

    equal: bool | None
    reason: str
    rule: str | None = None


def decide(found: Answers, completion: str, reader: AnswerReader, symbolic: Symbolic) -> Decision:
    """Compare the final answers of an item.

    Args:
        found: Both final answers.
        completion: The whole completion, in which parts of an answer may be outside its last box.
        reader: Parses answers to the item's question.
        symbolic: See `comparing.Symbolic`.
    """
    if not found.reference.text:
        return Decision(None, "no_reference_answer")
    if not found.candidate.text:
        return Decision(None, "no_answer_found")
    text = unpack_json(completion, found.candidate) if found.candidate.how == "cue" else found.candidate.text
    if reader.question.options:
        text = resolve_all_but(text, tuple(reader.question.options), reader.question.text)
    if has_contrast(text) and "\\boxed" not in text and reader.question.options:
        text = without_rejected(text, tuple(reader.question.options))
    if text != found.candidate.text:
        found = found._replace(candidate=found.candidate._replace(text=text))
    try:
        decision = _Decider(found, completion, reader, symbolic).decide()
    except TooComplex:
        return Decision(None, "too_complex")
    except Doubt as doubt:
        return Decision(None, doubt.reason)
    if decision.equal is False or decision.reason == "unread":
        if decision.rule in _BY_NAME and is_in_another_language(found.sentence, reader.question.text):
            return Decision(None, "semantic")
        if found.candidate.how == "bold" and is_denied(surroundings(completion, found.candidate)):
            return Decision(None, "qualified")
        if reader.question.of_example or (
            found.candidate.how == "math"
            and _IN_RELATIVE_CLAUSE.search(completion[: found.candidate.start][-_SAID_BEFORE:])
        ):
            return Decision(None, "semantic")
        if not is_stated(found.candidate, completion):
            return Decision(None, "unmarked")
    return decision


def _same_text_rule(reference: str, answer: str) -> str | None:
    if rule := same_text(reference, answer):
        return rule
    shorter, longer = sorted((len(reference), len(answer)))
    alike = longer <= 2 * shorter + _TYPESETTING and same_wording(reference, answer)
    return "text.wording" if alike else None


class _Decider:
    def __init__(self, found: Answers, completion: str, reader: AnswerReader, symbolic: Symbolic) -> None:
        self._found, self._completion, self._reader = found, completion, reader
        self._how = found.candidate.how
        self._place = found.candidate
        self._is_value = True
        # If no mark identifies the answer, it is parsed but not passed to sympy, where any text may become 0.
        symbolic = symbolic if self._how in _MARKED else undecided
        self._comparison = Comparison(reader, symbolic, boxed=self._how == "boxed")

    def decide(self) -> Decision:
        decision = self._compared()
        if decision.equal:
            self._check_surroundings(decision.rule or "")
            if self._gives_another():
                return Decision(None, "hedged")
        return decision

    def _compared(self) -> Decision:
        if len(self._found.parts) > 1:
            return self._by_parts()
        if is_retracted(self._completion, self._found.candidate):
            return Decision(None, "hedged")
        try:
            decision = self._single()
        except Doubt as doubt:
            decision = Decision(None, doubt.reason)
        if not decision.equal and self._how in ("last_line", "last_sentence", "whole", "bold", "math", "cue"):
            return self._by_list() or decision
        return decision

    def _single(self) -> Decision:
        reference, answer = self._found.parts[0], self._one_box()
        question = self._reader.question
        if may_differ_by_negation(reference, answer):
            raise Doubt("alike")
        if (rule := _same_text_rule(reference, answer)) and not other_case(reference, answer, question):
            return Decision(True, "text_equal", rule)
        if len(answer) > MAX_CHARACTERS:
            return Decision(None, "too_complex")
        sentence = answer if self._how == "boxed" else self._found.sentence
        ours = self._reader.reference(reference)
        asked = ComparedAnswer(reference, answer, sentence, self._how, self._comparison.symbolic)
        if (known := self._reader.compared.get(asked)) is None:
            theirs = self._reader.candidate(answer, sentence, self._how, ours)
            is_picked = isinstance(theirs.value, (ChosenOptions, Text)) or theirs.text != tidy(answer)
            if self._how != "boxed" and is_picked and is_hedged(answer):
                return Decision(None, "hedged")
            known = theirs, self._comparison.compare(ours, theirs) or DIFFERENT
            self._keep(asked, known)
        theirs, found = known
        self._is_value = not isinstance(theirs.value, (ChosenOptions, State))
        if self._is_value:
            self._place = self._within(theirs.text)
        if found.equal:
            return self._checked(ours, theirs, answer, found)
        if self._how not in ("boxed", "hashes") and self._may_hold(reference, answer, ours, found.rule):
            return Decision(None, "semantic")
        if not question.text and _LETTER.fullmatch(theirs.text) and not _LETTER.fullmatch(ours.text):
            # It may be the letter of an option.
            return Decision(None, "unread")
        if theirs.sense and found.rule.partition(".")[0] in _MEASURED and computes_another(theirs.sense - ours.sense):
            # Its words may make the reference's value of it: "the square root of 2".
            return Decision(None, "unread")
        if found.rule in _BY_UNDERSTANDING and not are_understood(ours, theirs, self._reader):
            return Decision(None, "unread")
        return Decision(False, found.reason, found.rule)

    def _keep(self, asked: ComparedAnswer, known: tuple[Part[Any], Equality]) -> None:
        compared = self._reader.compared
        if len(asked.answer) + len(asked.sentence) <= _MAX_KEPT_CHARACTERS:
            if len(compared) >= _MAX_KEPT:
                compared.clear()
            compared[asked] = known

    def _within(self, value: str) -> FinalAnswer:
        answer = self._found.candidate
        if value == answer.text:
            value = self._found.parts[0].strip()
        at = self._completion.rfind(value, answer.start, answer.end) if value else -1
        return answer if at < 0 else answer._replace(text=value, start=at, end=at + len(value))

    def _may_hold(self, reference: str, answer: str, ours: Part[Any], rule: str) -> bool:
        """Return whether an answer in a sentence may be the reference's, next to values of other things."""
        if rule in _BY_FORM and contains_any(answer, self._expected_values(ours)):
            return True
        if FIGURE.fullmatch(reference) is None:
            return isinstance(ours.value, Quantity) and contains_any(answer, [reference])
        return re.search(rf"=\s*{re.escape(reference)}(?!\s*[\w.^+*/·×÷(\\-]*\w)", self._found.sentence) is not None

    def _expected_values(self, ours: Part[Any]) -> list[str]:
        options = self._reader.question.options
        if isinstance(ours.value, ChosenOptions):
            return [options[label] for label in ours.value.labels if label in options]
        return [self._found.parts[0]]

    def _checked(self, ours: Part[Any], theirs: Part[Any], answer: str, found: Equality) -> Decision:
        question, reference = self._reader.question, conclusion(self._found.parts[0]) or self._found.parts[0]
        if found.rule.startswith("text") and other_case(reference, theirs.text, question):
            raise Doubt("alike")
        kind = found.rule.partition(".")[0]
        if isinstance(theirs.value, (Quantity, Expression, Collection, Region)):
            answer = (isinstance(theirs.value, Expression) and theirs.value.measured) or theirs.text
        bounds = (isinstance(theirs.value, Region) or kind == "interval") and "|" not in answer
        is_order = isinstance(theirs.value, Collection) and theirs.value.joined == "then"
        if kind in _RELATED and not bounds:
            if (kind in _CALCULATED and has_no_value(reference, answer)) or (
                kind != "tuple" and not is_order and restates(reference, answer, question.text)
            ):
                raise Doubt("unsolved")
            if kind in _WORKED_OUT and reorders_matrices(reference, answer):
                raise Doubt("alike")
            if kind in _WORKED_OUT or isinstance(theirs.value, Expression):
                if has_open_unknown(reference, answer, question.text):
                    raise Doubt("unsolved")
                if found.rule == "expression" and question.restated_by(answer, reference):
                    return Decision(False, "expression", "expression.restated")
        if isinstance(theirs.value, (ChosenOptions, State)) and takes_back(self._found.candidate.text):
            raise Doubt("qualified")
        if isinstance(theirs.value, ChosenOptions) and self._left_open(answer):
            raise Doubt("qualified")
        if found.rule == "quantity.unit_dropped" and self._may_be_number_of_option(reference):
            raise Doubt("alike")
        whole = isinstance(ours.value, (ChosenOptions, State)) or ours.given
        if not whole and self._leaves_out(reference, ours.text):
            raise Doubt("alike")
        if isinstance(theirs.value, State):
            self._check_state(reference, answer)
        return Decision(True, found.reason, found.rule)

    def _denies_before(self, answer: str) -> bool:
        """Return whether the text before a yes or no says the opposite: "It isn't. Yes, that's surprising."."""
        start = self._found.candidate.start
        before = self._completion[max(reply_start(self._completion), start - _SAID_BEFORE) : start]
        *earlier, _ = sentences(before + self._found.candidate.text)
        said = [affirms(self._reader.question.text, clause) for text in earlier for clause in last_clauses(text)]
        return [one for one in said if one is not None][-1:] == [_CONTRARY[answer.casefold()]]

    def _may_be_number_of_option(self, reference: str) -> bool:
        known = {} if self._reader.question.options else options(self._reader.question.text, numbered=True)
        return reference in known.values() and known.get(reference, reference) != reference

    def _leaves_out(self, reference: str, value: str) -> bool:
        """Return whether a short reference states more than the extracted value, and the end of the completion doesn't
        state the rest.

        "15 cm, on the same side as the object" is more than 15 cm; a proof's last line is not.
        """
        said = tidy(reference)
        if len(said) > _PHRASE or "\n" in said or (at := said.rfind(value)) < 0:
            return False
        known = [*words(self._reader.question.text), *words(self._found.sentence), *words(self._found.candidate.text)]
        return bool(unknown_words(said[:at] + " " + said[at + len(value) :], known))

    def _check_state(self, reference: str, answer: str) -> None:
        opening = words(re.split(r"[,.;:!?，。；：]", sentences(answer)[-1], maxsplit=1)[0])
        if _DATA.or_another.search(answer) or _ALTERNATIVES.intersection(opening).difference(words(reference)):
            raise Doubt("qualified")
        if len(words(answer)) <= _FEW and extends_name(reference, answer, self._reader.question):
            raise Doubt("alike")
        if other_case(reference, answer, self._reader.question) and len(reference) <= _FEW:
            raise Doubt("alike")

    def _left_open(self, answer: str) -> bool:
        rest = answer.casefold()
        texts = [self._found.parts[0], *self._reader.question.options.values()]
        for text in sorted((text.casefold().strip(" .") for text in texts), key=len, reverse=True):
            rest = rest.replace(text, " ") if len(text) > _FEW else rest
        known = {word for text in texts for word in words(text)} if len(words(rest)) > _SENTENCE else ()
        return has_denial(rest, known) or (answer.count("'") % 2 == 1 and _PRIMED.search(answer) is not None)

    def _one_box(self) -> str:
        boxes = boxes_of(self._found.candidate)
        if 1 < len(boxes) <= MAX_PARTS and _DATA.corrects.search(self._between_boxes()):
            return boxes[-1]
        others = dict.fromkeys(boxes[1:])
        if len(others) <= MAX_PARTS and all(self._same(boxes[0], box) for box in others):
            return boxes[-1]
        return ", ".join(boxes)

    def _same(self, one: str, other: str) -> bool | None:
        try:
            return self._comparison.same(self._reader.part(one), self._reader.part(other))
        except Doubt:
            return None

    # -- References of several parts, and answers given as a list of lines.

    def _by_parts(self) -> Decision:
        wanted, found = self._found.parts, boxes_of(self._found.candidate)
        if same_text(" ".join(wanted), " ".join(found)):
            return Decision(True, "text_equal", "text.canonical")
        if len(wanted) > MAX_PARTS:
            return Decision(None, "too_complex")
        if len(found) != len(wanted):
            found = last_boxes(self._completion, len(wanted)) or found
        if len(found) != len(wanted) and len(found) == 1:
            value = self._reader.part(found[0]).value
            members = tuple(part.text for part in value.parts) if isinstance(value, Collection) else ()
            found = members if len(members) == len(wanted) else found
        if len(found) != len(wanted):
            if not self._all_stated(wanted, found):
                return Decision(None, "multi_part_reference")
            return Decision(True, "list", "list.stated")
        verdicts = [self._same(a, b) for a, b in zip(wanted, found, strict=True)]
        if all(verdicts):
            return Decision(True, "list", "list.parts")
        return Decision(False, "list", "list.parts") if False in verdicts else Decision(None, "multi_part_reference")

    def _all_stated(self, wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
        if len(found) != 1:
            return False
        missing = [part for part in wanted if not self._same(part, found[0])]
        if len(missing) != len(wanted) - 1:
            return False
        values = list(stated_values(self._completion))
        return all(any(self._same(part, value) for value in values) for part in missing)

    def _by_list(self) -> Decision | None:
        ours = self._reader.reference(self._found.parts[0])
        if isinstance(ours.value, (NamedValues, Collection)):
            theirs = named_answer(last_paragraph(self._completion), ours, self._reader)
            found = None if theirs is None else self._comparison.compare(ours, theirs)
            if found is not None or isinstance(ours.value, NamedValues):
                return Decision(found.equal, found.reason, found.rule) if found is not None else None
        if isinstance(ours.value, Collection) and (
            parts := labelled_answers(self._reader.question.text, self._completion)
        ):
            same = [self._same(part.text, answer) for part, answer in zip(ours.value.parts, parts, strict=False)]
            is_right = len(parts) == len(ours.value.parts) and all(same)
            return Decision(True, "list", "list.parts") if is_right else Decision(None, "semantic")
        items = ", ".join(list_items(self._completion))
        if "," not in items or not isinstance(ours.value, (Collection, Text)):
            return None
        return Decision(True, "list", "list.items") if self._same(self._found.parts[0], items) else None

    # -- The completion's text around the answer.

    def _check_surroundings(self, rule: str) -> None:
        candidate = self._found.candidate
        reference, answer = " ".join(self._found.parts), " ".join(boxes_of(candidate))
        around = surroundings(self._completion, candidate)
        picked = surroundings(self._completion, self._place) if self._place != candidate else around
        if is_denied(around) or (picked is not around and is_denied(picked)):
            raise Doubt("qualified")
        near = marks_near(Around(around.before, _ABBREVIATES.sub("", around.behind)), scaling_only=True)
        if "or" in near:
            raise Doubt("hedged")
        if self._is_value and is_about_another(
            Around(picked.before, picked.behind), self._place.text, self._reader.question
        ):
            raise Doubt("alike")
        if contradicts_letter(self._completion, candidate.start, candidate.end, self._reader.question.options):
            raise Doubt("qualified")
        if _AND_SO_ON.match(around.behind) and not _AND_SO_ON.search(reference):
            raise Doubt("qualified")
        if self._is_value and rounded_wrongly(self._place.text + picked.behind[:_ROUNDED], self._reader.part):
            raise Doubt("qualified")
        told = conclusion_of(answer)
        is_list = "=" not in told and enumerates(told) and word_count(told) > word_count(reference)
        lists_guesses = rule.startswith("text.") and is_list
        if (lists_guesses or is_unsound_chain(candidate.text, self._reader.part)) and not same_text(reference, answer):
            raise Doubt("hedged")
        remark = _REMARK.match(picked.behind)
        if remark and self._is_value and restates_number(self._place.text, remark[1]) is False:
            raise Doubt("qualified")
        if reference.casefold() in _CONTRARY and self._denies_before(reference):
            raise Doubt("hedged")
        if self._how == "math":
            self._check_rest_of_sentence(reference, answer, around)
        if self._how in ("boxed", "math", "bold"):
            if is_part_of_formula(around) or near - explained_by(reference) - self._reader.question.explained:
                raise Doubt("qualified")
            self._check_outside(reference, answer, around)
        is_exact = _WHOLE.fullmatch(reference.strip(" $")) and not self._reader.question.asks_roughly
        about = qualifiers_of_number(answer) - qualifiers_of_number(reference) if same_text(reference, answer) else ()
        if is_exact and (ROUGH in about or is_rough_before(around.left)):
            raise Doubt("qualified")
        if rule[:4] != "list" and self._is_annotated(reference, answer):
            raise Doubt("qualified")

    def _check_rest_of_sentence(self, reference: str, answer: str, around: Surroundings) -> None:
        """Doubt a formula after which its sentence gives another number, or the same one with another unit."""
        rest = sentences(around.behind)[0]
        concluded = _CONCLUDES_BEHIND.match(rest)
        if concluded and set(FIGURE.findall(concluded[1])).difference(
            FIGURE.findall(f"{answer} {self._reader.question.text}")
        ):
            raise Doubt("qualified")
        for told in measured_numbers(around.behind.partition("\n")[0]):
            if told.startswith(self._place.text) and self._same(reference, told) is False:
                raise Doubt("alike")

    def _is_annotated(self, reference: str, answer: str) -> bool:
        """Return whether the answer is one of several rows of a table, or text in or after its code changes it."""
        text, place = self._completion, self._found.candidate
        above = text[: place.start].rstrip("\n").rpartition("\n")[2]
        if place.text.startswith("| ") and above.startswith("| ") and above.strip("|-: "):
            return True
        begin, end = text.rfind("```", 0, place.start), text.find("```", place.start)
        if begin < 0 or text.count("```", 0, place.start) % 2 == 0:
            return False
        known = FIGURE.findall(f"{reference} {answer} {self._reader.question.text}")
        comments = _COMMENT.findall(text[begin : end if end >= 0 else len(text)])
        behind = text[end:] if _COMMENT.search(text, text.rfind("\n", 0, place.start) + 1, place.start) else ""
        return any(has_denial(said) or set(FIGURE.findall(said)).difference(known) for said in [*comments, behind])

    def _check_outside(self, reference: str, answer: str, around: Surroundings) -> None:
        r"""Doubt a value if a unit, currency or noun outside its box changes its meaning: ``€\boxed{5}``."""
        sign, found = _SIGN_BEFORE.search(around.left), _FIRST_WORDS.match(around.behind)
        behind, noun = (found["sign"] or "", (found["noun"] or "").split()[:1]) if found else ("", [])
        if measured := unit_behind(around.behind):
            behind, noun = "", [measured]
        if not (sign or behind or noun):
            return
        ours = self._reader.reference(self._found.parts[0])
        named = f"\\text{{ {noun[0]}}}" if noun else ""
        whole = self._reader.part(" ".join([sign[0].strip(" $") if sign else "", answer, behind]).strip() + named)
        if not isinstance(whole.value, (Quantity, Expression)) or is_bare(whole):
            return
        if (
            isinstance(ours.value, Quantity)
            and not whole.value.unit
            and not self._reader.question.counts_other(noun[0])
            and not (ours.value.unit and _DATA.counted.fullmatch(noun[0]))
        ):
            return
        try:
            same = self._comparison.same(ours, whole)
        except Doubt:
            same = False
        if same is False:
            raise Doubt("alike")

    def _between_boxes(self) -> str:
        text, spans = self._found.candidate.text, boxed_spans(self._found.candidate.text)
        begins, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
        return " ".join(text[begin:end] for begin, end in zip(begins, ends, strict=True))

    def _gives_another(self) -> bool:
        r"""Return whether the text after an answer names another: "``\boxed{2}`` … The answer is 3.", "2. So four"."""
        reference, behind = self._found.parts[0], self._completion[self._found.candidate.end :]
        in_words = last_match(_DATA.in_words, behind) if _WHOLE.fullmatch(reference.strip(" $")) else None
        told = last_match(_DATA.corrected, behind) or in_words
        if _DATA.disowned.search(behind) or (told and self._same(reference, told["number"]) is False):
            return True
        if self._how != "boxed" or len(self._found.parts) > 1:
            return False
        later = answer_in_envelope(behind, 0) or answer_after_cue(behind, 0)
        if later is None:
            return False
        ours, theirs = (letters(text, self._reader.question.options) for text in (reference, later.text))
        if ours and theirs:
            return ours != theirs
        return _BEGINS_AS_VALUE.match(later.text) is not None and self._same(reference, later.text) is False


_ALTERNATIVES = _DATA.words("alternatives")
