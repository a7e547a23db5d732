"""Values returned from the sandbox and their comparison with literals."""

from __future__ import annotations

import contextlib
import enum
import json
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.verifiers.execution.compare import MalformedOutputError, decoded, equal, format_value, same_output
from workbench.verifiers.execution.inside.encoding import encoded

ROOM = 1 << 16

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-3, max_value=3)
    | st.floats()
    | st.sampled_from([0.0, -0.0, 1.0, 2.0, 1e300, 10**300, 1 << 5000])
    | st.complex_numbers()
    | st.text(st.characters(codec=None), max_size=5)
    | st.binary(max_size=5)
    | st.just(...)
)
keys = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.sets(keys, max_size=3)
    ),
    max_leaves=10,
)


def out(value: object, most: int = ROOM) -> Any:
    return decoded(encoded(value, most))


@given(values, values)
def test_comparison_equals_python(expected: Any, got: Any) -> None:
    assert equal(expected, out(got)) == (expected == got)


@given(values)
def test_a_value_equals_itself_unless_it_has_a_nan(value: Any) -> None:
    # An identical NaN within a container is equal to Python, but a literal has none.
    if "nan" not in repr(value):
        assert equal(value, out(value))


class Liar(int):
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        raise SystemExit


class Disguised:
    __class__ = tuple  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Colour(enum.IntEnum):
    RED = 1


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        (Liar(1), 1, True),
        (Liar(1), 2, False),
        ([Liar(1)], [2], False),
        (Disguised(), (), False),
        ([Disguised()], [()], False),
        (object(), object(), False),
        (Colour.RED, 1, True),
        (Pair(1, [2]), (1, [2]), True),
        (Counter("aab"), {"a": 2, "b": 1}, True),
        (OrderedDict(a=1), {"a": 1}, True),
        (defaultdict(int, a=1), {"a": 1}, True),
        ({1: 2}.keys(), {1}, True),
        ({1: 2}.items(), {(1, 2)}, True),
        ({1: 2}.values(), [2], False),
        (range(3), [0, 1, 2], False),
        (deque([1]), [1], False),
        (frozenset([1]), {1}, True),
        (bytearray(b"a"), b"a", True),
        (Decimal("0.5"), 0.5, True),
        (Decimal("sNaN"), 0.5, False),
        (Fraction(1, 2), 0.5, True),
        ({Fraction(1)}, {1}, True),
        ((1, 2), [1, 2], False),
        ({}, set(), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_types(got: object, expected: object, same: bool) -> None:
    assert equal(expected, out(got)) is same


def test_endless_and_huge_values_equal_no_literal() -> None:
    endless: list[Any] = []
    endless.append(endless)
    doubled: list[Any] = [0]
    for _ in range(80):
        doubled = [doubled, doubled]
    for value in (endless, doubled, [0] * 10**6, "x" * 10**6, ["x" * 1000] * 1000, {n: n for n in range(10**5)}):
        (tag,) = out(value, 1000)
        assert tag == "other"


def test_hash_collisions_cost_no_time() -> None:
    alike = [n * (2**61 - 1) for n in range(20_000)]
    assert equal(set(range(20_000)), {"set": alike}) is False
    assert equal(dict.fromkeys(range(20_000)), {"dict": [[key, None] for key in alike]}) is False


def test_a_fraction_too_long_for_any_literal_costs_no_time() -> None:
    long = {"fraction": [{"int": hex(3**2_000_000)}, {"int": hex(2**3_000_000)}]}
    assert equal(1.5, long) is False
    assert format_value(long) == "a fraction that is too long to look at"
    assert equal(2.0**-1074, {"fraction": [1, {"int": hex(2**1074)}]}) is True


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1", "{}", '{"a":1,"b":2}', '{"tuple":1}', '{"set":null}', '{"dict":[1]}', '{"dict":[[1]]}',
        '{"int":"x"}', '{"int":1}', '{"bytes":"0"}', '{"complex":[1]}', '{"complex":["x",1]}', '{"fraction":[1,0]}',
        '{"decimal":"x"}', '{"unknown":1}', "[" * 100_000, "1" * 5000, "\xff",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_malformed_output_is_rejected(text: str) -> None:
    with pytest.raises(MalformedOutputError):
        _looked_at(text.encode("latin-1"))


def _looked_at(text: bytes) -> None:
    value = decoded(text)
    for expected in (1, (1,), {1}, {1: 1}, 0.5):
        equal(expected, value)
    format_value(value)


tags = st.sampled_from(["tuple", "set", "dict", "int", "bytes", "complex", "fraction", "decimal", "other"])
nonsense = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(tags, inner, max_size=2),
    max_leaves=8,
)


@given(nonsense)
def test_any_output_raises_only_malformed_output_error(value: Any) -> None:
    with contextlib.suppress(MalformedOutputError):
        _looked_at(json.dumps(value).encode())


@given(values)
def test_values_are_shown_as_python_writes_them(value: Any) -> None:
    written = repr(value)
    text = format_value(out(value))
    if not isinstance(value, complex) and len(written) < 40 and written.isascii() and "{" not in written:
        assert text == written


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("1\n2\n", "1\n2", True),
        ("1 \n2", "1\n2 \n\n", True),
        ("1\r\n2", "1\n2", True),
        ("1\n\n2", "1\n2", False),
        (" 1", "1", False),
        ("1 2", "1  2", False),
        ("", "\n", True),
        ("1.0", "1", False),
    ],
)
def test_output(expected: str, got: str, same: bool) -> None:
    assert same_output(expected, got) is same


def test_encoded_is_ascii_json() -> None:
    assert json.loads(encoded(["é\ud800", (1, 2.5)], ROOM)) == ["é\ud800", {"tuple": [1, 2.5]}]
    assert encoded("é", ROOM).isascii()
