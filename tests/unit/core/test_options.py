"""Option records as front ends read them."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from msgspec import NODEFAULT

from workbench.core.errors import UsageError
from workbench.core.options import (
    NONE_GIVEN,
    Basis,
    Options,
    Whole,
    argument,
    build_record,
    fields_of,
    option,
    run_job,
    split_pair,
)
from workbench.core.selection import Selection, selection_of


class ExampleOptions(Options, frozen=True, kw_only=True):
    """One option of each form."""

    file: Annotated[str, argument("FILE")]
    most: Annotated[Whole | None, option("At most so many.", "--limit", le=9)] = None
    shares: Annotated[tuple[Annotated[float, option(ge=0)], ...], option("Shares.")] = ()
    how: Literal["a", "b"] = "a"
    settings: Annotated[dict[str, str], option(read=split_pair)] = NONE_GIVEN


def test_a_field_has_everything_a_front_end_needs() -> None:
    file, most, shares, how, settings = fields_of(ExampleOptions)

    assert (file.is_required, file.default, file.written.metavar) == (True, NODEFAULT, "FILE")
    assert (most.type, most.flags, most.description) == (int, ("--limit",), "At most so many.")
    assert (most.default, most.bounds) == (None, {"ge": 1, "le": 9})
    assert (shares.type, shares.is_several, shares.bounds) == (float, True, {"ge": 0})
    assert (how.type, how.flags, how.default) == (Literal["a", "b"], ("--how",), "a")
    assert (settings.is_several, settings.default) == (True, {})


class Cake(Options, frozen=True, kw_only=True):
    """A record that is held."""

    eggs: int = 1
    sugar: int = 1


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("temperature", "It is not KEY=VALUE"),
        ("=1", "It is not KEY=VALUE"),
        ("a=\udc80", "a: it is not valid UTF-8 text"),
    ],
)
def test_a_pair_has_a_key_and_is_text(text: str, wrong: str) -> None:
    assert split_pair("a=b=c") == ("a", "b=c")
    with pytest.raises(UsageError, match=wrong):
        split_pair(text)


def test_possible_secrets_are_not_echoed() -> None:
    with pytest.raises(UsageError) as refused:
        split_pair("sk-secret")
    assert "sk-secret" not in str(refused.value)


class Baked(Options, frozen=True, kw_only=True):
    """A record that holds another one."""

    name: str
    cake: Cake = Cake()
    last: int = 3


def test_nested_records_are_flattened_and_built_from_values() -> None:
    assert [field.name for field in fields_of(Baked)] == ["name", "eggs", "sugar", "last"]
    assert build_record(Baked, {"name": "a", "sugar": 2, "other": 1}) == Baked(name="a", cake=Cake(sugar=2))
    assert build_record(Baked, {"name": "a"}) == Baked(name="a")


class Measured(Options, frozen=True, kw_only=True):
    """Options of a command on metrics."""

    verifiers: tuple[str, ...] = ("rules",)
    basis: Basis = Basis(gold="people", where=("type=A",))
    force: bool = True


def measure(at: str, verifiers: tuple[str, ...], *, gold: str, selection: Selection, seed: int = 0) -> list[object]:
    return [at, verifiers, gold, selection, seed]


def test_a_job_gets_the_options_it_accepts() -> None:
    chosen = selection_of(("type=A",))
    assert run_job(measure, Measured(), "p") == ["p", ("rules",), "people", chosen, 0]
    assert run_job(measure, Measured(), "p", ("other",), gold="final", seed=2) == ["p", ("other",), "final", chosen, 2]
    with pytest.raises(TypeError):
        run_job(measure, Measured(), "p", unknown=1)


def test_a_job_with_arbitrary_options_gets_none() -> None:
    def measure(project: str, **more: object) -> dict[str, object]:
        return more

    with pytest.raises(TypeError, match="has to name the options"):
        run_job(measure, Measured(), "p")


def test_a_value_of_several_types_keeps_them() -> None:
    class Capped(Options, frozen=True, kw_only=True):
        caps: dict[str, int] | int | None = None

    (field,) = fields_of(Capped)
    assert (field.type, field.is_several, field.default) == (dict[str, int] | int, False, None)
