"""Dates, times of day, weekdays and months as answers write them; parsing is strict, without guesses."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, NamedTuple

from workbench.verifiers.rules.numbers import in_digits
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.records import AnswerText, Doubt, Equality, Part, Value, ValueType, rejection
from workbench.verifiers.rules.spelling import plain

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_DATA = Lexicon("calendar")
_MAX_MOMENT = 80


def _numbered(topic: str) -> dict[str, int]:
    """Return the number of each name, from 1 on."""
    return {name: at for at, names in enumerate(_DATA.table(topic), start=1) for name in names.split()}


_NAMES, _DAYS = _numbered("months"), _numbered("weekdays")
_ANY_NAMES = _NAMES | _numbered("foreign_months")
NAMES_OF_TIME = frozenset(names.split()[0] for topic in ("months", "weekdays") for names in _DATA.table(topic))
"""Months and weekdays in full."""
_DATES = tuple(re.compile(pattern, re.VERBOSE | re.IGNORECASE) for pattern in _DATA.table("dates"))
_CLOCK = re.compile(r"\b(?:[01]?[0-9]|2[0-3]):[0-5][0-9]\b")
_JOINT = re.compile(r"T|,? (?:at )?")


_PARTS = {"half": 30, "quarter": 15}
_SMALL_HOURS = (12, 1, 2, 3, 4, 5)


def _spoken_time_in_digits(found: re.Match[str]) -> str:
    """Rewrite "30 past 7 in the evening" as "7:30 pm"; an hour without minutes or time of day is unchanged."""
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    part = (found["part"] or "").lower().removeprefix("a ")
    if not (part in _PARTS or found["minutes"] or found["day"] or found["night"]) or hour > 12:
        return found[0]
    if part:
        past = _PARTS.get(part) or int(part)
        after = found["side"].lower() in ("past", "after")
        hour, minute = (hour, past) if after else ((hour - 2) % 12 + 1, 60 - past)
    if not (found["day"] or found["night"]):
        return f"{hour}:{minute:02}"
    small = found["night"] and hour in _SMALL_HOURS
    return f"{hour}:{minute:02} {'am' if small or (found['day'] or '').lower() == 'morning' else 'pm'}"


class Moment(NamedTuple):
    """A date and a time of day stated in a text; None if not stated."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    either: tuple[int, int, int] | None = None
    """A date whose day and month could be in either order, as written."""
    time: tuple[int, int, str] | None = None
    """Hour, minute, seconds as written without trailing zeros."""
    twelve: bool = False
    """Whether the hour says "am" or "pm"."""
    zone: str | None = None


def same_moment(first: Moment, second: Moment) -> tuple[bool, str] | None:
    """Return whether two moments are the same date, time, weekday or month, and the rule that decided.

    None if they state different kinds. ``05/01/2024`` has two readings: it equals only a date written with the same
    numbers in the same order.
    """
    dates, times = _same_date(first, second), _same_time(first, second)
    if first.time and second.time and _has_no_date(first) and _has_no_date(second):
        return None if times is None else (times, "time")
    if first.time is None and second.time is None:
        return None if dates is None else (dates, "date")
    if False in (dates, times):
        return False, "date.time"
    return (True, "date.time") if dates and times else None


def moment(text: str) -> Moment | None:
    """Parse the date, time or both that a whole text consists of; else return None."""
    if len(text) > _MAX_MOMENT or not _DATA.holds("hint", text.lower()):
        return None
    rest = _DATA.next_day.sub(" ", in_digits(plain(text.replace("{:}", ":")))).strip()
    rest = _DATA.spoken.sub(_spoken_time_in_digits, rest)
    found = Moment()
    if (weekday := _DATA.weekday.match(rest)) and (named := _DAYS.get(weekday["weekday"].lower())):
        found = found._replace(weekday=named)
        rest = rest[weekday.end() :]
        if not rest:
            return found
    dated = _parse_date(rest, found)
    if dated is not None:
        found, rest = dated
        if not rest:
            return found
        joint = _JOINT.match(rest)
        if joint is None:
            return None
        rest = rest[joint.end() :]
    return _parse_time(rest, found)


def _has_no_date(found: Moment) -> bool:
    return found[:5] == (None,) * 5


def _parse_date(text: str, found: Moment) -> tuple[Moment, str] | None:
    for pattern in _DATES:
        if date := pattern.match(text):
            groups = date.groupdict()
            year, day = (int(groups[name]) if groups.get(name) else None for name in ("year", "day"))
            if groups.get("one"):
                one, two, year = (int(groups[name]) for name in ("one", "two", "year"))
                known = _date_in_either_order(found, one, two, year, dotted="." in date[0])
            elif month := _number_of_month(groups):
                known = found._replace(year=year, month=month, day=day) if _is_date(year, month, day) else None
            else:
                continue
            return (known, text[date.end() :]) if known else None
    return None


def _number_of_month(groups: dict[str, str | None]) -> int | None:
    if groups.get("number"):
        return int(groups["number"] or 0)
    # Names of other languages are also other words: the planet Mars.
    return (_ANY_NAMES if groups.get("day") else _NAMES).get((groups["month"] or "").lower())


def _date_in_either_order(found: Moment, one: int, two: int, year: int, dotted: bool) -> Moment | None:
    """Return the date of two numbers and a year; between full stops the day is first, else either may be."""
    day_first, month_first = _is_date(year, two, one), not dotted and _is_date(year, one, two)
    if day_first and month_first and one != two:
        return found._replace(either=(one, two, year))
    if month_first:
        return found._replace(year=year, month=one, day=two)
    return found._replace(year=year, month=two, day=one) if day_first else None


def _is_date(year: int | None, month: int, day: int | None) -> bool:
    try:
        datetime.date(2024 if year is None else year, month, 1 if day is None else day)
    except ValueError:
        return False
    return True


def _parse_time(text: str, found: Moment) -> Moment | None:
    time = _DATA.time.fullmatch(text)
    if time is None:
        return None
    if time["named"]:
        return found._replace(time=(12 if time["named"].lower() == "noon" else 0, 0, ""), twelve=True)
    hour, minute = int(time["hour"]), int(time["minute"] or 0)
    half = (time["half"] or "").lower().replace("o'clock", "")
    if hour > 23 or minute > 59 or int(time["second"] or 0) > 59 or not (time["minute"] or time["half"]):
        return None
    if half:
        if not 1 <= hour <= 12 or (half[0] in "mn" and hour != 12):
            return None
        hour = hour % 12 + (12 if half[0] in "pn" else 0)
    seconds = (time["second"] or "").lstrip("0") + (time["fraction"] or "").rstrip("0.")
    return found._replace(time=(hour, minute, seconds), twelve=bool(half), zone=time["zone"])


def _same_date(a: Moment, b: Moment) -> bool | None:
    if a.either or b.either:
        return _same_ambiguous_date(a, b)
    if a.month is None and b.month is None:
        return a.weekday == b.weekday if a.weekday and b.weekday else None
    if (a.year is None, a.month is None, a.day is None) != (b.year is None, b.month is None, b.day is None):
        parts = zip(a[:3], b[:3], strict=True)
        return False if any(None not in (one, two) and one != two for one, two in parts) else None
    if a.weekday and b.weekday and a.weekday != b.weekday:
        return False
    return a[:3] == b[:3]


def _same_ambiguous_date(a: Moment, b: Moment) -> bool | None:
    if a.either and b.either:
        return a.either == b.either
    written, known = (a.either, b) if a.either else (b.either, a)
    if written is None or known.month is None:
        return None
    one, two, year = written
    matches = (known.year, known.month, known.day) in ((year, one, two), (year, two, one))
    return None if matches else False


def _same_time(a: Moment, b: Moment) -> bool | None:
    """Return whether two times of day are the same; None if "3:21" may be in the afternoon."""
    if a.time is None or b.time is None:
        return None
    if a.zone and b.zone and a.zone != b.zone:
        return None
    if a.time == b.time:
        return True
    if a.twelve != b.twelve and a.time[1:] == b.time[1:] and (a.time[0] - b.time[0]) % 12 == 0:
        plain_hour = b.time[0] if a.twelve else a.time[0]
        return None if plain_hour <= 12 else False
    return False


def _read_moment(source: AnswerText, reader: AnswerReader) -> Value | None:
    text = source.text
    if ":" in text and (reader.question.required.ratio or not ("-" in text or _CLOCK.search(text))):
        return None
    return moment(text)


def _compare_moments(one: Part[Moment], other: Part[Moment], with_: Comparison) -> Equality | None:
    found, zone = same_moment(one.value, other.value), other.value.zone
    if (
        found
        and found[0]
        and zone
        and not one.value.zone
        and not re.search(rf"\b{zone}\b(?![+−-])", with_.question.sentence)
    ):
        raise Doubt("alike")
    return None if found is None else Equality(*found)


MOMENT = ValueType(
    _read_moment, {(Moment, Moment): _compare_moments, (Moment, object): rejection("date.other")}, of_a_name=True
)
