"""A command is a record of options and a function."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Annotated, Literal

import click
import pytest
from click.testing import CliRunner

from workbench.app import cli
from workbench.app.cli.verb import Output, params_of, verb
from workbench.app.verbs import COMMANDS, GROUPS, REMOVED
from workbench.core.errors import UsageError
from workbench.core.options import (
    NONE_GIVEN,
    Options,
    Seed,
    Whole,
    argument,
    fields_of,
    option,
    require_one,
    restricted,
    split_pair,
)


def _numbers(text: str) -> tuple[int, ...]:
    if not text.replace(",", "").isdecimal():
        raise UsageError("Write numbers.")
    return tuple(map(int, text.split(",")))


class CakeOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, argument("NAME")]
    eggs: Annotated[Whole | None, option("How many.", "--egg")] = None
    share: Annotated[float, option("Of sugar.", gt=0, le=1)] = 0.5
    sort: Annotated[Literal["plain", "fruit"], option("Which.")] = "plain"
    with_: Annotated[tuple[str, ...], option("What else.", metavar="WORD")] = ()
    sizes: Annotated[tuple[int, ...], option("Sizes.", read=_numbers)] = (1, 2)
    spices: Annotated[dict[str, str], option("How much of each.", "-s", read=split_pair)] = NONE_GIVEN
    seed: Seed = 0
    dry: Annotated[bool, option("No butter.")] = False


@verb
def cake(options: CakeOptions) -> Output:
    """Bake."""
    return Output(
        options, lambda done: [f"{done.name}\x1b", f"{done.sizes}"], after=["hot"], code=3 if options.dry else 0
    )


def _call(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cake, words)
    return done.exit_code, done.stdout, done.stderr


def test_defaults_come_from_the_record_and_output_is_escaped() -> None:
    code, said, after = _call("lemon")
    assert (code, after) == (0, "hot\n")
    assert said.startswith("lemon")
    assert said.endswith("(1, 2)\n")
    assert "\x1b" not in said


def test_json_is_the_value_and_nothing_else() -> None:
    code, said, _ = _call("lemon", "--egg", "3", "--with", "a", "--with", "b", "--sizes", "4,5", "-s", "a=b", "--json")
    assert code == 0
    assert '"eggs": 3' in said
    assert '"sizes": [\n    4,\n    5\n  ]' in said
    assert '"spices": {\n    "a": "b"\n  }' in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Missing argument 'NAME'"),
        (("a", "--egg", "0"), "0 is not in the range"),
        (("a", "--share", "0"), "not in the range"),
        (("a", "--share", "nan"), "is not a number"),
        (("a", "--sort", "x"), "'plain', 'fruit'"),
        (("a", "--sizes", "x"), "Invalid value for --sizes: Write numbers."),
        (("a", "-s", "x"), "Invalid value for -s: It is not KEY=VALUE."),
    ],
)
def test_wrong_usage_ends_with_2(words: tuple[str, ...], message: str) -> None:
    code, _, said = _call(*words)
    assert code == 2
    assert message in said


def test_the_exit_code_is_that_of_the_output() -> None:
    assert _call("lemon", "--dry")[0] == 3


def test_help_shows_the_descriptions_of_the_record() -> None:
    said = CliRunner().invoke(cake, ["--help"]).stdout
    assert "--egg INTEGER RANGE" in said
    assert "[default: plain]" in said
    assert "[default: 1,2]" in said
    assert "--with WORD" in said


def test_names_of_parameters_are_fields() -> None:
    assert [param.name for param in params_of(CakeOptions)] == list(CakeOptions.__struct_fields__)
    assert all(isinstance(param, click.Argument | click.Option) for param in params_of(CakeOptions))


def test_every_command_is_in_one_group() -> None:
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names)) == len(COMMANDS)


def test_no_record_asks_for_two_things_by_one_name() -> None:
    for module in pkgutil.walk_packages(cli.__path__, f"{cli.__name__}."):
        import_module(module.name)
    records = [Options]
    for record in records:
        records += record.__subclasses__()
        names = [field.name for field in fields_of(record)]
        assert len(names) == len(set(names)), record
    assert len(records) > 60


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_command_names_its_replacement(name: str) -> None:
    done = CliRunner().invoke(cli.root, [name, "p.db"])
    assert done.exit_code == 2
    assert f"There is no command {name!r}. {REMOVED[name]}" in done.stderr


class GuestsOptions(Options, frozen=True, kw_only=True):
    verb: Annotated[Literal["list", "add", "swap"], argument()] = "list"
    names: Annotated[tuple[str, ...], argument(words={"add": "NAME…", "swap": "OLD [NEW]"})] = ()
    why: Annotated[str, option("Why.", only="add", required_by="add")] = ""
    table: Annotated[str, option("Where.")] = ""
    seat: Annotated[int, option("Which.", needs="table")] = 0
    seed: Annotated[Seed, restricted(only="list swap")] = 0


@verb
def guests_command(options: GuestsOptions) -> Output:
    """Seat."""
    require_one(options, "why", "table", optional=True)
    return Output(options.verb, lambda done: [done])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "ann", "--why", "x"), ""),
        (("swap", "ann", "--seed", "2"), ""),
        (("list", "--table", "a", "--seat", "2"), ""),
        (("list", "ann"), "Write: workbench guests DB list"),
        (("add", "--why", "x"), "Write: workbench guests DB add NAME…"),
        (("swap", "a", "b", "c"), "Write: workbench guests DB swap OLD [NEW]"),
        (("add", "ann"), "add requires --why."),
        (("list", "--why", "x"), "--why is only for add."),
        (("add", "ann", "--why", "x", "--seed", "2"), "--seed is only for list and swap."),
        (("list", "--seat", "2"), "--seat requires --table."),
        (("add", "ann", "--why", "x", "--table", "a"), "Give one of --why and --table."),
    ],
)
def test_options_are_for_the_actions_that_declare_them(words: tuple[str, ...], message: str) -> None:
    done = CliRunner().invoke(guests_command, words, prog_name="workbench guests")
    assert done.exit_code == (2 if message and not message.startswith("Give") else 1 if message else 0)
    assert message in (done.stderr or str(done.exception))
