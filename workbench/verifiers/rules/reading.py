"""Parse an answer once, into a typed value with its qualifiers.

`READERS` are tried in order; the first that recognises the text gives the value. Any other text is a `Text`.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.verifiers.rules.calendar import Moment, moment
from workbench.verifiers.rules.changes import ChangeValue, change
from workbench.verifiers.rules.chemistry import Chemical
from workbench.verifiers.rules.choices import VALUE, choice_of, has_label, letters, option_of, text_behind
from workbench.verifiers.rules.comparing import READERS, Comparison
from workbench.verifiers.rules.conclusions import (
    beginnings,
    conclusion,
    conclusion_of,
    gives_another_name,
    gives_another_number,
    last_step,
    main_clause,
    sentences,
    text_after,
    values_in,
    without_means,
)
from workbench.verifiers.rules.equations import same_expression
from workbench.verifiers.rules.logic import Formula, concluded_formula, formula
from workbench.verifiers.rules.named import NamedValues, named_answer, named_reference
from workbench.verifiers.rules.numbers import NUMBER_WORDS, ORDINALS, PARTS, SCALES
from workbench.verifiers.rules.parameters import narrows, without_condition
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.quantities import (
    Based,
    Quantity,
    Ratio,
    names_same_quantity,
    quantity,
    restates_number,
)
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.records import (
    AS_IT_IS,
    Alternatives,
    AnswerText,
    Brackets,
    ChosenOptions,
    Collection,
    ComparedAnswer,
    DigitCode,
    Doubt,
    Equality,
    Expression,
    Huge,
    Leniency,
    Part,
    Region,
    State,
    Term,
    Text,
    Value,
)
from workbench.verifiers.rules.regions import bound_as_inequality, interval_by_ends
from workbench.verifiers.rules.sense import (
    DIGIT,
    NOTHING,
    ROUGH,
    change_marks,
    directions,
    explained_by,
    has_change_word,
    has_denial,
    is_prose,
    qualifiers_after,
    qualifiers_of_noun,
    qualifiers_of_number,
    qualifiers_of_phrase,
    word_count,
    words,
)
from workbench.verifiers.rules.soundness import EQUALS, has_unknown
from workbench.verifiers.rules.spelling import (
    MAX_CHARACTERS,
    MAX_DIGITS,
    TooComplex,
    tidy,
    with_any_base,
    with_decimal_points,
)
from workbench.verifiers.rules.states import Vocabulary, find_stated_state, is_qualified, term, vocabulary_of
from workbench.verifiers.rules.strings import same_wording, same_words_of
from workbench.verifiers.rules.structure import (
    alternatives_of,
    count_hyphenated,
    is_name,
    names_and_value,
    split_list,
    split_steps,
)
from workbench.verifiers.rules.units import unit, without_math_delimiters
from workbench.verifiers.rules.wordings import closing_of

_DATA = Lexicon("reading")
_IMAGINARY = re.compile(r"(?<![A-Za-z\\])[ij](?![A-Za-z])(?:\s?(\d+(?:\.\d+)?|\\sqrt\{\d+\}))?")
_SYMBOL, _FEW_WORDS, _PAIR = 3, 2, 2
_FIGURED = re.compile(r"[\d\\^=+*/<>-]|[^\x00-\x7f]")
_WORDS_OF_FIGURES = NUMBER_WORDS | {*ORDINALS, *PARTS, *SCALES, "infinity", "pi"}
_MORE_WORDS = 3
"""Maximum words that TeX and generic nouns add to the reference's words."""
_ASIDE = re.compile(r"\s+\((?=[^()]*(?:[A-Za-z]{3}|≈|\d\s?[A-Za-z%]))([^()]{2,80})\)\Z")
_A_LABEL = re.compile(r"(?!.*\b(?:since|because|as|not)\b).*\b[A-HJ-Z]\b")
_LOWER_LABELS = re.compile(r"[\s(]*[a-h][\s).]*(?:(?:,|and|&)\s*\(?[a-h]\)?\s*)*")
_ONLY_LABELS = re.compile(r"[\s$({\[*]*(?:\\(?:text|mathrm|textbf)\{)?\(?[A-Z](?:\s*(?:,|and|&)\s*[A-Z])*[\s$.)}\]*]*")
_MAX_ALTERNATIVES = 12
_ASSIGNED = re.compile(r"(?<![\w+*/^)-])([a-z])\s*=\s*[-−]?[\d√\\]")
_LEADING_WORDS = re.compile(r"\A(?:[A-Za-z]{2,}\s+)+(?=[A-Za-z](?:\(\w\))?\s*=|\\(?!text|math)|\d[\d\s!+*/×·^().-]*=)")
_APPLIED = re.compile(r"[A-Za-zΑ-Ωα-ω∘()⁻¹']{1,12}(?:\^\{?-1\}?)?\s?\([^()=]{1,20}\)|\\?d\w?/d\w|\\frac\{d\w?\}\{d\w\}")
_IN_BRACKETS = re.compile(r"\([A-J]\)")
_RESULTS = (Quantity, Expression, Ratio, Moment, Based)
_NUMERIC = {Quantity, Expression, Ratio, Based}
_MAX_CACHED = 512


class AnswerReader:
    """Parses the answers to one question.

    Args:
        question: The question, which resolves ambiguous texts.
        leniency: The strictness of comparisons.
    """

    def __init__(self, question: TypedQuestion, leniency: Leniency = AS_IT_IS) -> None:
        self.question = question
        self.leniency = leniency
        self.vocabulary: Vocabulary | None = None
        # Plain dictionaries: a cache of a bound method would keep the reader alive until a garbage collection.
        self._parts: dict[tuple[str, int], Part[Any]] = {}
        self._references: dict[str, tuple[Part[Any], Vocabulary | None]] = {}
        self.compared: dict[ComparedAnswer, tuple[Part[Any], Equality]] = {}
        """Parsed answers and their comparisons with the reference: many completions give the same answer."""

    def reference(self, text: str) -> Part[Any]:
        if (known := self._references.get(text)) is None:
            self.vocabulary = None if _is_whole(text) else vocabulary_of(text, self.question.text)
            known = self._read_reference(text), self.vocabulary
            _keep(self._references, text, known)
        part, self.vocabulary = known
        return part

    def part(self, text: str, depth: int = 0) -> Part[Any]:
        """Parse an answer that is not a sentence, or a member of such an answer."""
        if (known := self._parts.get((text, depth))) is None:
            known = self._read_part(text, depth)
            _keep(self._parts, (text, depth), known)
        return known

    def _read_reference(self, text: str) -> Part[Any]:
        question = self.question
        if _is_whole(text) and question.type != "C" and not question.options:
            return self.part(text)
        is_word = _is_word(text)
        if not is_word and (composed := self._read_composed(text)) is not None:
            return composed
        if (question.type == "C" or self._is_option(text) or has_label(text) or _LOWER_LABELS.fullmatch(text)) and (
            chosen := self.chosen(text)
        ) is not None:
            return Part(tidy(text), chosen)
        is_symbol = len(text) <= _SYMBOL and not (text.islower() or question.asks_whether)
        told = None if is_word else self._read_concluded_formula(text) or named_reference(text, self)
        if told is not None:
            return told
        if self.vocabulary is not None and not (is_symbol and question.symbols):
            expected = find_stated_state(text, self.vocabulary, question.text, whole=True)
            return Part(tidy(text), _make_state(expected or "", self.vocabulary))
        if (sequence := closing_of(text, question.text)) is not None:
            return Part(tidy(text), Brackets(sequence))
        if question.arranges and (chain := self._read_order(text)) is not None:
            return chain
        if (valueless := term(text)) is not None:
            return Part(tidy(text), Term(valueless))
        if is_prose(text) and moment(text) is None:
            values = values_in(sentences(text)[-1], question.counted) if question.type in (None, "A") else ()
            value = next((value for value in values if VALUE.search(value) and value != text), None)
            found = self.typed(value) if value else None
            return found or Part(tidy(text), Text(prose=True))
        found = self.part(text)
        picked = self.picked(text) if isinstance(found.value, Text) else None
        known = explained_by(question.text) | directions(question.text)
        return picked if picked and picked.sense <= known else found

    def _read_composed(self, text: str) -> Part[Any] | None:
        """Parse several answers of which one counts, an order of numbers, or a change."""
        if (several := self._read_alternatives(text)) is not None:
            return several
        joined = count_hyphenated(tidy(text))
        if (joined > _PAIR or (joined == _PAIR and self.question.of_pairs)) and moment(text) is None:
            return self._read_order(text) or self.part(text)
        changed = change(text, self.question)
        return None if changed is None else Part(tidy(text), changed)

    def _read_concluded_formula(self, text: str) -> Part[Any] | None:
        """Return the formula that a worked solution concludes with: "The slope is 3, so y = 3x - 1."."""
        if self.question.type in ("C", "D") or self.vocabulary is not None or self.question.options:
            return None
        told = conclusion(text)
        found = self.part(told) if told else None
        if told is None or found is None or not isinstance(found.value, (Expression, Quantity, Region)):
            return None
        others = {name for name in _ASSIGNED.findall(text) if name not in told}
        return None if others and not has_unknown(told.rpartition("=")[2]) else found

    def _read_alternatives(self, text: str) -> Part[Any] | None:
        listed = alternatives_of(text.strip())
        pieces = listed or (text.split("||") if "||" in text else [])
        if len(pieces) < 2 and " or " in text and (pieces := text.split(" or ")):
            parts = [self.part(piece) for piece in pieces]
            if not all(isinstance(part.value, _RESULTS) and self._are_same_parts(parts[0], part) for part in parts):
                return None
        if not 1 < len(pieces) <= _MAX_ALTERNATIVES or (not listed and formula(tidy(text), lambda: False)):
            return None
        parts = [self._read_reference(piece.strip(" \"'")) for piece in pieces if piece.strip(" \"'")]
        return Part(tidy(text), Alternatives(tuple(parts))) if len(parts) > 1 else None

    def _are_same_parts(self, one: Part[Any], other: Part[Any]) -> bool:
        try:
            return Comparison(self).same(one, other) is True
        except Doubt:
            return False

    def chosen(self, text: str) -> ChosenOptions | None:
        """Return the options that an answer names by letter, or the option whose text it is; None for any other
        answer."""
        question = self.question
        expected = self._option_letters(text)
        if expected is not None and (question.options or question.type == "C" or _ONLY_LABELS.fullmatch(text)):
            return ChosenOptions(expected, by_letter=True)
        if question.options and (named := option_of(text, question.options, self._is_same)) is not None:
            return ChosenOptions(named, by_letter=False)
        return None

    def _is_option(self, text: str) -> bool:
        return option_of(text, self.question.options, lambda one, other: False) is not None

    def _option_letters(self, text: str) -> frozenset[str] | None:
        known = self.question.options
        found = letters(text, known)
        return None if found and len(found) > 1 and found >= known.keys() and self.question.ordered else found

    def _is_same(self, one: str, other: str) -> bool:
        return self._are_same_parts(self.part(one), self.part(other))

    def candidate(self, text: str, sentence: str, how: str, wanted: Part[Any]) -> Part[Any]:
        """Parse the completion's answer, first as the reference's type; ``sentence`` is the answer's line."""
        if _is_whole(text) and isinstance(wanted.value, _RESULTS):
            return self.part(text)
        text = _text_of_answer(text, how, wanted)
        if "a" in self.question.options:
            text = _IN_BRACKETS.sub(lambda label: label[0].lower(), text)
        of_options = isinstance(wanted.value, ChosenOptions)
        if of_options or (has_label(text) and self.question.options):
            if (given := self._option_letters(text)) is not None:
                given |= text_behind(text, self.question.options, self._is_same)
                return Part(tidy(text), ChosenOptions(given, by_letter=True))
            if of_options:
                return self._read_choice(text, how, wanted.value.labels)
        if self.vocabulary is not None and isinstance(wanted.value, State):
            return Part(tidy(text), self._read_state(text, sentence, how) or Text(is_prose(text)))
        found = self._read_as_wanted(text, wanted)
        return self._read_any_value(text, wanted) if found is None else found

    def _read_choice(self, text: str, how: str, wanted: frozenset[str]) -> Part[ChosenOptions]:
        if (either := _DATA.either_label.search(tidy(text))) is not None:
            if not wanted.isdisjoint(either.groups()):
                raise Doubt("hedged")
            return Part(tidy(text), ChosenOptions(frozenset(either.groups()), by_letter=True))
        if len(set(_DATA.for_each.findall(text))) > 1 and len(wanted) == 1:
            raise Doubt("hedged")
        # "Only B is prime" limits nothing.
        left_open = how != "boxed" and is_qualified(text, f"{self.question.text} only")
        chosen = None if left_open else choice_of(text, self.question.options, self._is_same)
        return Part(tidy(text), ChosenOptions(chosen or frozenset(), by_letter=False))

    def _read_as_wanted(self, text: str, wanted: Part[Any]) -> Part[Any] | None:
        """Parse an answer of the reference's type, if that type has a notation of its own."""
        if isinstance(wanted.value, Term) and (valueless := term(text)) is not None:
            return Part(tidy(text), Term(valueless))
        if isinstance(wanted.value, Text) and self._same_words(wanted.text, text):
            return Part(tidy(text), Text(is_prose(text)))
        if isinstance(wanted.value, Formula) and (told := concluded_formula(text)) is not None:
            return Part(tidy(text), told)
        if isinstance(wanted.value, (NamedValues, Collection)):
            named = named_answer(text, wanted, self)
            if named is not None:
                return named
        signed = isinstance(wanted.value, Quantity) and wanted.text[:1] in "+-−"
        is_change = signed or isinstance(wanted.value, ChangeValue)
        if is_change and (changed := change(text, self.question)) is not None:
            return Part(tidy(text), changed)
        if isinstance(wanted.value, Brackets):
            return Part(tidy(text), Brackets(closing_of(text, self.question.text, whole=True) or ""))
        return None

    def _read_any_value(self, text: str, wanted: Part[Any]) -> Part[Any]:
        if self.question.of_interval and isinstance(wanted.value, (Region, Collection)):
            text = interval_by_ends(text)
        if isinstance(wanted.value, Region) or (self.question.of_interval and isinstance(wanted.value, Collection)):
            text = bound_as_inequality(conclusion_of(text), getattr(wanted.value, "name", ""))
        elif (steps := self._read_steps(text, wanted)) is not None:
            return steps
        if not isinstance(wanted.value, Text):
            text = without_means(text)
        if not _is_word(text) and (result := self._read_result(text, wanted)) is not None:
            return result
        if isinstance(wanted.value, Text) and (picked := self.picked(text, wanted)) is not None:
            return picked
        in_sentence = is_prose(without_condition(text)[0])
        if not in_sentence or isinstance(wanted.value, (Chemical, Moment, Ratio)):
            found = self.typed(text)
            if in_sentence and found is not None and not _is_same_kind(found, wanted):
                found = None
            if found is not None and isinstance(found.value, Collection) and isinstance(wanted.value, Quantity):
                found = self._read_compound(found.value) or found
            if found is not None and not (isinstance(found.value, Text) or _is_unparsed_phrase(found)):
                return Part(tidy(text), Text(prose=True)) if _describes_members(text, found) else found
        return self.picked(text, wanted) or Part(tidy(text), Text(is_prose(text)))

    def _read_compound(self, several: Collection) -> Part[Any] | None:
        """Return the quantity of two units that a list consists of: "2 hours and 30 minutes"."""
        whole = self.typed(" ".join(part.text for part in several.parts))
        return whole if whole is not None and isinstance(whole.value, Quantity) and whole.value.unit else None

    def _read_result(self, text: str, wanted: Part[Any]) -> Part[Any] | None:
        """Return the result of a chain of equations or an argument: 6 kWh of ``E = 2 kW · 3 h = 6 kWh``.

        An equation with an unknown has no result, except for one that holds for any value.
        """
        told = conclusion_of(tidy(text)).strip(" .,:`$")
        pieces = [piece.strip(" .") for piece in EQUALS.split(told)]
        concludes = told != tidy(text).strip(" .,:`")
        if len(pieces) > 1 and isinstance(wanted.value, _RESULTS) and "=" not in wanted.text:
            if not all(pieces) or ":" in pieces[0] or len(split_list(told)) > 1 or not _is_equal_chain(pieces):
                return None
            told = pieces[-1]
        elif not concludes or isinstance(wanted.value, (Text, Formula)):
            return None
        found = None if is_prose(without_condition(told)[0]) else self.typed(told)
        if found is None or isinstance(found.value, (Text, Huge)) or _is_unparsed_phrase(found):
            return self.picked(told, wanted) if concludes else None
        return found

    def _read_steps(self, text: str, wanted: Part[Any]) -> Part[Any] | None:
        if not isinstance(wanted.value, Collection) or wanted.value.kind != "list":
            return None
        if wanted.value.joined == "then" and self.question.arranges and len(text) == len(wanted.value.parts):
            text = " → ".join(text)
        found = self._read_order(text)
        return found if found is not None and len(found.value.parts) == len(wanted.value.parts) else None

    def _read_order(self, text: str) -> Part[Collection] | None:
        signs = {sign for sign in "<>" if sign in text}
        text = (with_decimal_points(tidy(text)) if signs or self.question.decimal_commas else tidy(text)).rstrip(" .")
        steps = split_steps(text)
        if len(steps) < 2 or len(signs) > 1 or (signs and "," in text):
            return None
        if signs == ({">"} if self.question.rising else {"<"} if self.question.falling else {""}):
            steps.reverse()
        return Part(text, Collection("list", tuple(map(self._read_step, steps)), joined="then"))

    def _read_step(self, text: str) -> Part[Any]:
        """Parse a member of an order, where digits such as 0123 are not numbers."""
        coded = len(text) > 1 and text[0] == "0" and text.isdigit()
        return Part(text, DigitCode(text)) if coded else self.part(text, 1)

    def _read_state(self, text: str, sentence: str, how: str) -> State | None:
        vocabulary, asked = self.vocabulary or {}, self.question.text
        # The "f" of "$f$ is injective" is no "false".
        text = sentence if how == "math" and len(text) == 1 else text
        if is_qualified(text, asked):
            return None
        given = find_stated_state(
            text, vocabulary, asked, whole=how in ("boxed", "cue", "bold") or "yes" not in vocabulary
        )
        if given is None and how not in ("cue", "bold"):
            given = find_stated_state(sentence, vocabulary, asked)
        return None if given is None else _make_state(given, vocabulary)

    def picked(self, text: str, wanted: Part[Any] | None = None) -> Part[Any] | None:
        """Return the value a phrase gives, with its qualifiers; if the reference's answer is known, words are a value
        only if it consists of such words."""
        text = tidy(text)
        if _is_word(text) or (text.isascii() and not word_count(text)):
            return None
        meant = None
        for value in values_in(text, self.question.counted, self.question.text):
            found = self._pick_value(text, value, wanted)
            if found is not None and (wanted is None or _is_same_kind(found, wanted)):
                return found
            meant = meant or found
            if wanted is not None and (cut := self._pick_beginning(text, value, wanted)) is not None:
                return cut
        return meant

    def _pick_beginning(self, text: str, value: str, wanted: Part[Any]) -> Part[Any] | None:
        cuts = (self._pick_value(text, cut, wanted) for cut in beginnings(value) if _may_have_kind_of(cut, wanted))
        return next((cut for cut in cuts if cut is not None and _is_same_kind(cut, wanted)), None)

    def _pick_value(self, text: str, value: str, wanted: Part[Any] | None) -> Part[Any] | None:
        value = _LEADING_WORDS.sub("", value)
        if wanted is not None and isinstance(wanted.value, Text) and not self._is_same_wording(value, wanted.text):
            return None
        steps = None if wanted is None or value == text else self._read_steps(value, wanted)
        found = None if value == text else steps or self.typed(value)
        if found is None or not (
            self._is_meant_value(found, value, wanted) and self._is_whole_statement(text, value, found)
        ):
            return None
        sense = found.sense | qualifiers_of_phrase(text, tidy(value)) | qualifiers_after(text_after(text, value))
        if text.count(value) > 1:
            sense |= qualifiers_of_phrase(main_clause(text), value)
        return found._replace(sense=sense - {"¤"} if isinstance(found.value, Quantity) and found.value.unit else sense)

    def _is_whole_statement(self, text: str, value: str, found: Part[Any]) -> bool:
        if isinstance(found.value, (Text, Moment)) and not DIGIT.search(value):
            return not gives_another_name(text, value)
        if _describes_members(value, found):
            return False
        return not gives_another_number(text, value, self.question.text)

    def _is_meant_value(self, found: Part[Any], value: str, wanted: Part[Any] | None) -> bool:
        of_collection = wanted is not None and isinstance(wanted.value, Collection)
        if isinstance(found.value, Text) or (wanted is not None and isinstance(wanted.value, Text)):
            return wanted is not None and isinstance(found.value, Text) and isinstance(wanted.value, Text)
        return bool(VALUE.search(value)) or of_collection or not isinstance(found.value, (Expression, Collection))

    def _is_same_wording(self, value: str, wanted: str) -> bool:
        source = self._make_source(value, 0) if len(value) <= MAX_CHARACTERS else None
        same = same_wording if self.question.asks_who else self._same_words
        return source is not None and same(wanted, source.text)

    def _same_words(self, one: str, other: str) -> bool:
        return same_words_of(one, other, self.question) is not None

    def _read_part(self, raw: str, depth: int) -> Part[Any]:
        found = self.typed(raw, depth)
        if found is not None and not isinstance(found.value, Text):
            return found
        if depth and (picked := self.picked(raw)) is not None:
            return picked
        return found or Part(tidy(raw), Text(is_prose(raw)))

    def typed(self, raw: str, depth: int = 0) -> Part[Any] | None:
        if len(raw) > MAX_CHARACTERS:
            return Part(raw, Huge())
        if _is_whole(raw) and raw[0] != "0" and len(raw) <= MAX_DIGITS and not self.question.of_bits:
            return Part(raw, quantity(raw))
        if (source := self._make_source(raw, depth)) is None:
            return None
        raw, text = source.raw, source.text
        try:
            value, name = self._read_value(source)
        except TooComplex:
            value, name = Huge(), ""
        sense = NOTHING
        if isinstance(value, (Quantity, Text)) and not text.isdigit():
            sense = qualifiers_of_number(raw if "~" in raw else text) | directions(text)
            if isinstance(value, Quantity) and value.word and not self.question.asks_for(value.word):
                sense |= qualifiers_of_noun(value.word)
        elif isinstance(value, Alternatives) and len(value.parts) == 1:
            sense = frozenset({ROUGH})
        elif isinstance(value, Collection):
            sense = NOTHING.union(*(part.sense for part in value.parts))
        if source.given:
            condition = source.whole[len(text) :]
            sense |= change_marks(condition) - {"any"}
            if narrows(condition, self.question.text):
                sense |= {f"?{word}" for word in words(condition)}
        return Part(text, value, name, source.given, sense)

    def _make_source(self, raw: str, depth: int) -> AnswerText | None:
        raw, text = without_math_delimiters(raw), tidy(raw)
        if "$" in text:
            text = tidy(raw)
        if self.question.imaginary and not depth:
            raw = text = _IMAGINARY.sub(r"\1i", text)
        if not depth and ("," in text or "." in text) and self.question.may_have_decimal_comma(text):
            raw, text = with_decimal_points(raw), with_decimal_points(text)
        bare, given = without_condition(with_any_base(text))
        return AnswerText(bare if given else raw, bare, depth, given, whole=text) if bare else None

    def _read_value(self, source: AnswerText) -> tuple[Value, str]:
        named = names_and_value(source.text)
        written = named if source.raw == source.text else names_and_value(source.raw)
        is_word = _is_word(source.raw)
        for known in READERS:
            if known.read is None or (is_word and not known.of_a_word):
                continue
            value = known.read(source, self)
            if value is not None:
                return value, ""
            if named and known.of_a_name:
                behind = source._replace(raw=written[1] if written else named[1], text=named[1])
                if (value := known.read(behind, self)) is not None:
                    return value, named[0].replace(" ", "")
        return Text(is_prose(source.text)), ""


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _is_word(text: str) -> bool:
    return text.isascii() and text.isalpha()


def _keep(known: dict[Any, Any], key: Any, value: Any) -> None:
    if len(known) >= _MAX_CACHED:
        known.clear()
    known[key] = value


def _text_of_answer(text: str, how: str, wanted: Part[Any]) -> str:
    """Return an answer without what surrounds it: its working, its label, code marks, a remark in brackets."""
    if how == "math":
        text = last_step(text).removeprefix("=").rstrip(" ,;")
    elif how not in ("boxed", "hashes") and not isinstance(wanted.value, (State, ChosenOptions)):
        text = sentences(text)[-1]
    text = _DATA.not_but.sub("", _DATA.label.sub("", text)).strip()
    if not isinstance(wanted.value, (ChosenOptions, Text)):
        text = _DATA.roughly_again.sub("", _DATA.contrast.sub("", text))
        if (told := _DATA.explained.fullmatch(text)) and not has_change_word(told[2], NUMBER_WORDS):
            text = told[1]
    if text.count("`") == 2 and text[0] == text[-1] == "`":
        text = text.strip("`")
    text = _without_aside(text, wanted)
    return conclusion_of(text) if isinstance(wanted.value, ChosenOptions) else text


def _without_aside(text: str, wanted: Part[Any]) -> str:
    aside = _ASIDE.search(text) if text.endswith(")") else None
    if aside is None or has_denial(aside[1]) or "or" in (said := words(aside[1])):
        return text
    restated = restates_number(text[: aside.start()], aside[1]) if isinstance(wanted.value, Quantity) else None
    if restated is False:
        raise Doubt("qualified")
    if restated or _DATA.checked_aside.fullmatch(aside[1]) or names_same_quantity(text[: aside.start()], aside[1]):
        return text[: aside.start()]
    if isinstance(wanted.value, Text):
        return text
    if isinstance(wanted.value, ChosenOptions) and _A_LABEL.match(aside[1]):
        return text
    if not isinstance(wanted.value, (Chemical, ChosenOptions, State)):
        changed = ROUGH in qualifiers_of_number(text) or qualifiers_of_noun(aside[1]) or directions(aside[1])
        if changed or DIGIT.search(aside[1]) or "base" in said or any(unit(word) for word in said):
            return text
    return text[: aside.start()]


def _is_equal_chain(pieces: list[str]) -> bool:
    first = _LEADING_WORDS.sub("", pieces[0])
    if is_name(first) or _APPLIED.fullmatch(first) or not first:
        return True
    if not has_unknown(first):
        return True
    try:
        return same_expression(first, pieces[-1]) is True
    except TooComplex:
        return False


def _is_same_kind(found: Part[Any], wanted: Part[Any]) -> bool:
    kinds = {type(found.value), type(wanted.value)}
    return not _is_unparsed_phrase(found) and (len(kinds) == 1 or kinds <= _NUMERIC)


def _may_have_kind_of(phrase: str, wanted: Part[Any]) -> bool:
    if isinstance(wanted.value, Text):
        return word_count(phrase) <= word_count(wanted.text) + _MORE_WORDS
    if type(wanted.value) not in _NUMERIC or word_count(phrase) < _FEW_WORDS:
        return True
    return _FIGURED.search(phrase) is not None or not _WORDS_OF_FIGURES.isdisjoint(words(phrase))


def _describes_members(text: str, found: Part[Any]) -> bool:
    """Return whether a list has a description with a member, whose meaning matters: "3 km/h and the wind blows at
    5"."""
    parts = found.value.parts if isinstance(found.value, Collection) else ()
    pieces = split_list(tidy(text)) if len(parts) > 1 else []
    pairs = zip(pieces[1:], parts[1:], strict=False)
    return len(pieces) == len(parts) and any(word_count(piece) > word_count(part.text) + 1 for piece, part in pairs)


def _is_unparsed_phrase(part: Part[Any]) -> bool:
    is_phrase = " is " in part.text or word_count(part.text) > 1
    return isinstance(part.value, Expression) and part.value.said is None and is_phrase


def _make_state(found: str, vocabulary: Vocabulary) -> State:
    return State(found, tuple(dict.fromkeys(vocabulary.values())))
