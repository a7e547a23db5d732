"""Verifiers are found by name in this package and in plugins."""

from __future__ import annotations

import subprocess
import sys
from contextlib import redirect_stdout
from importlib.metadata import version
from io import StringIO
from threading import Event, Semaphore, Thread, current_thread
from typing import ClassVar, cast

import pytest

from tests.background import PATIENCE_S
from tests.unit.verifiers.conftest import Install
from tests.unit.verifiers.hostile_plugin import Hostile
from workbench.core.errors import UsageError, VerifierError
from workbench.core.verdict import Outcome, VerifierInput
from workbench.verifiers.base import Verifier, identity
from workbench.verifiers.math_verify import MathVerify
from workbench.verifiers.registry import Registry
from workbench.verifiers.text import always_incorrect

ITEM = VerifierInput(item=1, question="2+2?", reference="4", completion=r"\boxed{4}")


def test_the_built_in_verifiers_are_listed_and_usable() -> None:
    kinds = {kind.name: kind for kind in Registry().available()}
    assert MathVerify().version.startswith(version("math-verify"))
    for name in ("exact", "normalized-exact", "always-incorrect", "math-verify"):
        assert kinds[name].broken is None
        assert kinds[name].description
        verifier: Verifier = Registry().local(name)
        assert verifier.name == name
        assert verifier.version
    assert kinds["math-verify"].isolation == "process"


def test_the_baseline_says_incorrect() -> None:
    assert always_incorrect().verify(ITEM).outcome is Outcome.INCORRECT


@pytest.mark.usefixtures("hostile")
def test_a_plugin_is_listed_with_its_package_and_runs() -> None:
    kind = next(kind for kind in Registry().available() if kind.name == "hostile")
    assert (kind.package, kind.description) == ("hostile-plugin", Hostile.description)
    assert list(kind.options) == ["start", "spare"]
    assert Registry().local("hostile", {"start": "nothing"}).verify(ITEM).outcome is Outcome.CORRECT


def test_broken_plugins_are_listed_with_the_reason(install: Install) -> None:
    install("no-module", {"missing": "there_is_no_such_module:X"})
    install("no-class", {"function": "tests.unit.verifiers.hostile_plugin:_hang"})
    kinds = {kind.name: kind for kind in Registry().available()}
    assert "there_is_no_such_module" in str(kinds["missing"].broken)
    assert "lacks description, options" in str(kinds["function"].broken)
    assert kinds["exact"].broken is None
    with pytest.raises(VerifierError, match="no-module"):
        Registry().load("missing")


def test_two_packages_with_one_name_are_both_named(install: Install) -> None:
    install("one", {"twice": "tests.unit.verifiers.hostile_plugin:Hostile"})
    install("two", {"twice": "tests.unit.verifiers.hostile_plugin:Hostile"})
    with pytest.raises(VerifierError, match="one and two"):
        Registry().load("twice")
    kind = next(kind for kind in Registry().available() if kind.name == "twice")
    assert "one and two" in str(kind.broken)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no verifier named 'exakt'.*exact, .*last-number, llm-judge, math-verify"):
        Registry().load("exakt")


@pytest.mark.usefixtures("hostile")
def test_invalid_options_are_explained() -> None:
    with pytest.raises(UsageError, match=r"no option 'colour'.*spare, start"):
        Registry().load("hostile", {"colour": "red"})
    with pytest.raises(UsageError, match="start can't be early"):
        Registry().load("hostile", {"start": "early"})
    with pytest.raises(VerifierError, match="no licence found"):
        Registry().load("hostile", {"start": "raise"})


class Misnamed(Hostile):
    name = "someone-else"


class Unversioned(Hostile):
    name = "unversioned"
    version = cast("str", None)


class Unplain(Hostile):
    name = "unplain"

    def config(self) -> dict[str, object]:
        return {"start": object()}


class Quitter(Hostile):
    name = "quitter"

    def __init__(self) -> None:
        sys.exit(4)


class Chatty(Hostile):
    name = "chatty"

    def __init__(self) -> None:
        super().__init__()
        print("hello")


class Slow(Hostile):
    name = "slow"
    begun: ClassVar[Semaphore] = Semaphore(0)
    may_end: ClassVar[dict[str, Event]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.begun.release()
        self.may_end[current_thread().name].wait(PATIENCE_S)
        print("hello from", current_thread().name)


@pytest.mark.parametrize(
    ("name", "cls", "message"),
    [
        ("misnamed", Misnamed, "calls itself 'someone-else'"),
        ("unversioned", Unversioned, "no version"),
        ("unplain", Unplain, "not plain data"),
        ("quitter", Quitter, "SystemExit: 4"),
    ],
)
def test_an_invalid_plugin_is_rejected(install: Install, name: str, cls: type, message: str) -> None:
    install("odd", {name: f"{__name__}:{cls.__name__}"})
    with pytest.raises(VerifierError, match=message):
        Registry().local(name)


def test_output_of_a_plugin_constructor_stays_out_of_reports(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("odd", {"chatty": f"{__name__}:Chatty"})
    Registry().load("chatty")
    assert capsys.readouterr() == ("", "hello\n")


def test_output_of_other_threads_is_not_captured(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("odd", {"slow": f"{__name__}:Slow"})
    output = sys.stdout
    threads = [Thread(target=Registry().load, args=("slow",), name=name) for name in ("first", "second")]
    for thread in threads:
        Slow.may_end[thread.name] = Event()
        thread.start()
        assert Slow.begun.acquire(timeout=PATIENCE_S)
    print("a report's line")
    for thread in threads:
        Slow.may_end[thread.name].set()
        thread.join()
        print("another")
    assert sys.stdout is output
    said = "hello from first\nhello from second\n"
    assert capsys.readouterr() == ("a report's line\nanother\nanother\n", said)


def test_redirected_output_is_restored_after_loading_a_plugin(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("odd", {"slow": f"{__name__}:Slow", "chatty": f"{__name__}:Chatty"})
    thread = Thread(target=Registry().load, args=("slow",), name="third")
    Slow.may_end["third"] = Event()
    thread.start()
    assert Slow.begun.acquire(timeout=PATIENCE_S)
    with redirect_stdout(StringIO()) as elsewhere:
        Slow.may_end["third"].set()
        thread.join()
        print("narrated")
    print("a report's line")
    Registry().load("chatty")
    print("another")
    assert elsewhere.getvalue() == "hello from third\nnarrated\n"
    assert capsys.readouterr() == ("a report's line\nanother\n", "hello\n")


def test_identity_depends_only_on_kind_and_configuration() -> None:
    plain: Verifier = Hostile()
    other = Hostile(start="nothing")
    other.version = "2"
    assert identity(plain) == identity(other) != identity(always_incorrect())
    other.start = "exit"
    assert identity(plain) != identity(other)


def test_loading_math_verify_imports_neither_sympy_nor_the_library() -> None:
    code = (
        "import sys; from workbench.verifiers.registry import Registry; import workbench.verifiers.pool; "
        "Registry().load('math-verify'); Registry().available(); "
        "sys.exit(bool({'sympy', 'math_verify', 'numpy', 'sqlite3'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
