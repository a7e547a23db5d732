"""Programs in other languages, JavaScript among them."""

from __future__ import annotations

import gc
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from workbench.core.code import CodeTest, Execution, Form, Level, Program
from workbench.core.errors import VerifierError
from workbench.verifiers.execution import runners
from workbench.verifiers.execution.javascript import JAVASCRIPT
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.runners import (
    ExpressionTest,
    LanguageRunner,
    languages,
    require_runner,
    runner_of,
    version_of,
)
from workbench.verifiers.execution.settings import PoolSettings

SHOUTING = structs.replace(
    JAVASCRIPT,
    name="shouting",
    compile=(
        "node",
        "-e",
        "const fs = require('fs'); const text = fs.readFileSync('{source}', 'utf8').replaceAll('SHOUT', 'toUpperCase');"
        "if (text.includes('MUMBLE')) process.exit(1); fs.writeFileSync('{folder}/out.cjs', text)",
    ),
    run=("node", "{folder}/out.cjs"),
)
"""A language that is compiled: what it writes is what is run."""

ADD = "function add(a, b) {\n  return a + b\n}\nfunction pair(a, b) { return [a, { a: b }] }"


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    with SandboxPool("L3", 2) as pool:
        try:
            list(pool.run([(1, Program(source="", tests=()))]))
        except VerifierError as error:
            pytest.skip(f"L3 can't be used here: {error}")
        yield pool


def trusted(source: str) -> CodeTest:
    return CodeTest(form="expression", source=source)


def forgeable(source: str, form: Form = "statement") -> CodeTest:
    return CodeTest(form=form, source=source)


def stdio(given: str, expected: str) -> CodeTest:
    return CodeTest(form="stdio", source=given, expected=expected)


def program(source: str, *tests: CodeTest, seconds: float = 5, language: str = "javascript") -> Program:
    return Program(source=source, tests=tests, seconds=seconds, language=language)


def run_all(pool: SandboxPool, *programs: Program) -> list[Execution]:
    """Run programs and return their executions in order."""
    found = dict(pool.run(enumerate(programs)))
    return [found[place] for place in range(len(programs))]


@pytest.mark.parametrize("literal", ['{"__proto__": 1}', '[{"a": {"\\u005f_proto__": []}}]'])
def test_a_literal_that_differs_in_javascript_is_compared_inside(literal: str) -> None:
    test = trusted(f"assert.deepStrictEqual(add(1, 2), {literal})")
    assert JAVASCRIPT.outside(test, "add", "") is None
    assert JAVASCRIPT.outside(trusted(test.source.replace("proto", "other")), "add", "") is not None


def test_outcomes_equal_those_of_python(pool: SandboxPool) -> None:
    (found,) = run_all(
        pool,
        program(
            ADD,
            trusted("assert.deepStrictEqual(add(1, 2), 3)"),
            trusted("assert.strictEqual(add(1, 2), 4);"),
            trusted('assert.deepStrictEqual(pair(1, [true, null]), [1, {"a": [true, null]}])'),
            trusted("assert.deepStrictEqual(nope(1), 3)"),
            trusted("assert.deepStrictEqual(add(1, , 3)"),
            forgeable("assert.ok(add(1, 2) === 3)"),
            forgeable("assert(add(1, 1) === 3)"),
            forgeable("assert(add(1, 1) === 2)", "program"),
            forgeable("assert(add(1, 1) === 3)", "program"),
            forgeable("let x = ;", "program"),
        ),
    )
    assert found.outcomes == "pfpebpfpfs"
    assert (found.level, found.forgeable) == ("L3", 2)
    assert [(failure.position, failure.error or failure.got) for failure in found.failures] == [
        (1, "3"),
        (3, "ReferenceError"),
        (6, "AssertionError"),
        (8, "AssertionError"),
        (9, "SyntaxError"),
    ]


def test_a_killed_process_ends_no_other_test(pool: SandboxPool) -> None:
    source = "function f(x) { while (x === 1); if (x === 2) process.exit(0); if (x === 3) process.abort(); return x }"
    tests = [trusted(f"assert.deepStrictEqual(f({x}), {x})") for x in (0, 1, 2, 3, 4)]
    hanging, broken, raising, endless, echo = run_all(
        pool,
        program(source, *tests, seconds=2),
        program("function f( {", *tests[:2], stdio("1", "1")),
        program("throw new assert.AssertionError({message: 'no'})", *tests[:2]),
        program("while (true);", *tests[:2], seconds=0.1),
        program("process.stdin.on('data', d => console.log(d.length))", stdio("abc", "3 \n"), stdio("abc", "4")),
    )
    assert hanging.outcomes == "ptxxp"
    assert broken.outcomes == "sse"
    assert (raising.outcomes, raising.failures[0].line) == ("ff", 1)
    assert endless.outcomes == "tt"
    assert (echo.outcomes, echo.failures[0].got) == ("pf", "3\n")


def test_output_on_another_stream_fails_a_test(pool: SandboxPool) -> None:
    tests = [CodeTest(form="statement", source=f"console.assert(f(1) === {x}, 'no')") for x in (1, 2)]
    (execution,) = run_all(pool, program("function f(x) { return x }", *tests))
    assert (execution.outcomes, execution.failures[0].message) == ("pf", "no")


LIES = [
    "toJSON: () => 3",
    "valueOf: () => 3",
    "[Symbol.toPrimitive]: () => 3",
]


def test_a_value_that_only_looks_right_is_wrong(pool: SandboxPool) -> None:
    source = f"""
    const lies = [{", ".join(f"{{ {lie} }}" for lie in LIES)}];
    class Mine {{ constructor() {{ this.a = 1 }} }}
    JSON.stringify = () => "3"; Array.prototype.toJSON = () => 3; Object.is = () => true;
    assert.deepStrictEqual = assert.strictEqual = () => {{}};
    const sparse = [1,, 3], named = Object.assign([1], {{ x: 1 }}), odd = {{ get a() {{ return 1 }} }};
    """
    wrong = [
        *[(f"lies[{place}]", "3") for place in range(len(LIES))],
        ("new Mine()", '{"a": 1}'),
        ("sparse", "[1, null, 3]"),
        ("named", "[1]"),
        ("odd", '{"a": 1}'),
        ("[undefined]", "[null]"),
        ("undefined", "null"),
        ("true", "1"),
        ("'1'", "1"),
        ("-0", "0"),
        ("NaN", "null"),
        ("new Date(0)", '"1970-01-01T00:00:00.000Z"'),
        ("Object.create(null)", "{}"),
    ]
    values = f"function value(place) {{ return [{', '.join(got for got, _ in wrong)}][place] }}"
    tests = [trusted(f"assert.deepStrictEqual(value({place}), {want})") for place, (_, want) in enumerate(wrong)]
    (found,) = run_all(pool, program(f"{source}\n{values}", *tests))
    assert set(found.outcomes) <= set("fx")


def test_renamed_assertions_are_compared_outside(pool: SandboxPool) -> None:
    lies = "assert.deepStrictEqual = assert.strictEqual = () => {};\nfunction f(x) { return x }"
    asked = [forgeable(f"assert.{name}(f(1), 2)") for name in ("deepStrictEqual", "strictEqual", "equal")]
    (found,) = run_all(pool, program(lies, *asked[:2], forgeable("assert.deepStrictEqual(g(1), 2)")))
    assert (found.outcomes, found.forgeable) == ("ffe", 0)
    named = structs.replace(program(lies, *asked[:2]), entry_point="g", setup="const candidate = f;")
    (found,) = run_all(pool, named)
    assert (found.outcomes, found.forgeable) == ("pp", 2)


@pytest.mark.parametrize(
    ("called", "entry_point", "setup", "tested"),
    [
        ("f", "f", "", True),
        ("g", "f", "", False),
        ("candidate", "f", "const candidate = f;", True),
        ("candidate", "f", "const candidate = (x) => f(x) === 3;", False),
        ("candidate", "f", "let candidate = g", False),
        ("f", "f", "const assert = require('node:assert');", True),
        ("f", "f", "f = (x) => true", False),
        ("f", "f", "eval('f' + ' = 3')", False),
        ("f", None, "", True),
        ("Number", None, "", False),
        ("candidate", None, "candidate = f", True),
    ],
)
def test_the_tested_function_is_called_by_its_name(
    called: str, entry_point: str | None, setup: str, tested: bool
) -> None:
    assert JAVASCRIPT.is_tested(called, entry_point, setup) is tested


def test_a_test_that_is_broken_without_a_program_is_marked(pool: SandboxPool) -> None:
    claims = """
    const mark = require("fs").readFileSync("/job/main.cjs", "utf8").match(/"mark": "([0-9a-f]+)"/)[1];
    const say = (told) => require("fs").writeSync(1, mark + " " + JSON.stringify(told) + "\\n");
    say({ started: true }); say({ outcome: "s" }); say({ outcome: "s" });
    """
    asked = [forgeable("assert(f(1) === 2"), forgeable("assert(f(1) === 2)")]
    honest, liar = run_all(pool, program("function f(x) { return 2 }", *asked), program(claims, *asked))
    assert (honest.outcomes, honest.score) == ("bp", 1.0)
    assert (liar.outcomes, liar.score) == ("bs", 0.0)


ESCAPES = {
    "start a process": "require('child_process').execFileSync('/usr/bin/env'); return 'through'",
    "start a worker's process": "require('child_process').fork('/job/main.cjs'); return 'through'",
    "write": "require('fs').writeFileSync('/job/x', 'x'); return 'through'",
    "write to /tmp": "require('fs').writeFileSync('/tmp/x', 'x'); return 'through'",
    "read": "return require('fs').readFileSync('/etc/passwd', 'utf8') && 'through'",
    "list": "return require('fs').readdirSync('/') && 'through'",
    "listen": "const { TCP } = process.binding('tcp_wrap'); return new TCP(1).bind('127.0.0.1', 0) ? '' : 'through'",
    "environment": "return Object.keys(process.env).length ? 'through' : ''",
    "kill its parent": "process.kill(process.ppid, 'SIGKILL'); return 'through'",
    "memory": "return Buffer.alloc(2 ** 31 - 1, 1).length && 'through'",
}


def test_a_program_is_confined(pool: SandboxPool) -> None:
    tests = [trusted("assert.deepStrictEqual(f(), 'through')".replace("'", '"'))]
    found = run_all(pool, *[program(f"function f() {{ {escape} }}", *tests, seconds=3) for escape in ESCAPES.values()])
    assert [name for name, one in zip(ESCAPES, found, strict=True) if one.outcomes == "p"] == []


def test_forged_reports_and_outputs_gain_nothing(pool: SandboxPool) -> None:
    forged = """
    const mark = require("fs").readFileSync("/job/main.cjs", "utf8").match(/"mark": "([0-9a-f]+)"/)[1];
    for (const told of ['{"started": true}', '{"outcome": "p"}', '{"outcome": "q"}', "[", '{"value": [[[['])
      require("fs").writeSync(1, mark + " " + told + "\\n");
    process.exit(0);
    """
    flood = "for (;;) console.log('x'.repeat(1 << 16))"
    tests = [trusted(f"assert.deepStrictEqual(f({x}), {x})") for x in range(3)]
    first, second = run_all(pool, program(forged, *tests), program(flood, *tests[:1], stdio("", "x"), seconds=3))
    assert first.outcomes == "xxx"
    assert set(second.outcomes) <= set("tx")


def test_a_language_that_is_compiled(pool: SandboxPool, monkeypatch: pytest.MonkeyPatch) -> None:
    added(monkeypatch, "shouting", "SHOUTING")
    right, wrong = run_all(
        pool,
        program("const f = (x) => x.SHOUT()", trusted('assert.deepStrictEqual(f("a"), "A")'), language="shouting"),
        program("MUMBLE", trusted('assert.deepStrictEqual(f("a"), "A")'), language="shouting"),
    )
    assert (right.outcomes, wrong.outcomes) == ("p", "s")
    assert wrong.failures[0].message == "it doesn't compile"


def test_limits_and_settings_work_as_for_python(pool: SandboxPool) -> None:
    tests = [forgeable("globalThis.n = (globalThis.n ?? 0) + 1; assert(n === 1)") for _ in range(3)]
    with SandboxPool("L3", 1, settings=PoolSettings(fresh_per_test=True)) as fresh:
        assert run_all(fresh, program("", *tests))[0].outcomes == "ppp"
    with SandboxPool("L3", 1, settings=PoolSettings(stop_early=True)) as early:
        assert run_all(early, program("", *tests))[0].outcomes == "pfn"


HARNESS = """
import sys
from workbench.core.code import CodeTest, Program
from workbench.verifiers.execution.pool import SandboxPool
hang = Program(source="for (;;);", language="javascript", seconds=50, tests=(CodeTest(form="statement", source=""),))
with SandboxPool("L3", 1) as pool:
    list(pool.run([(1, hang)], raise_if_cancelled=lambda: print("runs", flush=True)))
"""


def test_a_program_ends_with_its_owner(pool: SandboxPool) -> None:
    with subprocess.Popen([sys.executable, "-c", HARNESS], stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        harness.stdout.readline()
        below = psutil.Process(harness.pid).children(recursive=True)
        harness.send_signal(signal.SIGKILL)
    assert below
    gone, alive = psutil.wait_procs(below, timeout=10)
    assert (len(gone), alive) == (len(below), [])


def test_an_abandoned_run_leaves_no_process(pool: SandboxPool) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    hang = program("for (;;);", forgeable(""), seconds=50)
    for key, _ in pool.run([("a", hang), ("b", program(ADD, forgeable("")))]):
        assert key == "b"
        break
    gc.collect()
    assert {process.pid for process in psutil.Process().children(recursive=True)} - before == set()


def added(monkeypatch: pytest.MonkeyPatch, name: str, *targets: str) -> None:
    """Have packages bring runners of this name, each an attribute of this module."""
    points = [EntryPoint(name, f"{__name__}:{target}", runners.GROUP) for target in targets]
    monkeypatch.setitem(sys.modules, __name__, sys.modules[test_outcomes_equal_those_of_python.__module__])
    monkeypatch.setattr(runners, "entry_points", lambda group: points)


def test_plugins_add_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    added(monkeypatch, "shouting", "SHOUTING")
    assert languages() == ["javascript", "shouting"]
    assert runner_of("shouting") == SHOUTING
    added(monkeypatch, "shouting", "SHOUTING", "SHOUTING")
    with pytest.raises(VerifierError, match="more than one runner"):
        runner_of("shouting")
    added(monkeypatch, "shouting", "ADD")
    with pytest.raises(VerifierError, match="is not a runner"):
        runner_of("shouting")


def test_an_unavailable_language_is_rejected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(
        VerifierError, match=r"no runner for the language 'cobol'\. Known languages: python, javascript"
    ):
        require_runner("cobol", "L3")
    levels: tuple[Level, ...] = ("L1", "L2")
    for level in levels:
        with pytest.raises(VerifierError, match=f"at isolation L3 only, not at {level}"):
            require_runner("javascript", level)
    monkeypatch.setenv("PATH", str(tmp_path))
    version_of.cache_clear()
    for asked in (lambda: require_runner("javascript", "L3"), lambda: version_of("javascript")):
        with pytest.raises(VerifierError, match="need 'node', which is not installed here"):
            asked()


def test_a_pool_at_l2_rejects_other_languages() -> None:
    with SandboxPool("L2", 1) as pool, pytest.raises(VerifierError, match="L3 only"):
        list(pool.run([(1, program(ADD, forgeable("")))]))


@pytest.mark.parametrize(
    ("source", "split"),
    [
        ("assert.deepStrictEqual(f(1), [1, 2])", ExpressionTest("f(1)", "[1, 2]", "f")),
        ('assert.deepStrictEqual(f(1, 2), {"a": 1});', ExpressionTest("f(1, 2)", '{"a": 1}', "f")),
        ("assert.deepStrictEqual(\n  f('a, 3'),\n  -2.5e3\n)", ExpressionTest("f('a, 3')", "-2.5e3", "f")),
        ("assert.strictEqual(f(1), true)", ExpressionTest("f(1)", "true", "f")),
        (
            "assert.deepStrictEqual(f({a: [1, -2.5]}, `b`, undefined), 1)",
            ExpressionTest("f({a: [1, -2.5]}, `b`, undefined)", "1", "f"),
        ),
        ("assert.strictEqual(f(1), [1])", None),
        ("assert.deepStrictEqual(f(3) === 4, true)", None),
        ("assert.deepStrictEqual([f(3)], [4])", None),
        ("assert.deepStrictEqual(f(f(3) === 4), true)", None),
        ("assert.deepStrictEqual(f(3).x, 4)", None),
        ("assert.deepStrictEqual(f(g), 4)", None),
        ("assert.deepStrictEqual(f(`${g}`), 4)", None),
        ("assert.deepStrictEqual(f({[g]: 1}), 4)", None),
        ("assert.deepStrictEqual(((x) => x)(1), 4)", None),
        ("assert.deepStrictEqual(f(1), NaN)", None),
        ("assert.deepStrictEqual(f(1), {a: 1})", None),
        ("assert.deepStrictEqual(f(1), 'a')", None),
        ("assert.deepStrictEqual(f(1))", None),
        ("assert.deepStrictEqual(f(1), 2); g()", None),
        ("assert.equal(f(1), 2)", None),
        ("assert(f(1) === 2)", None),
        ("", None),
        ("assert.deepStrictEqual(" + "[" * 100_000 + ", 1" + "]" * 100_000 + ")", None),
        ("assert.deepStrictEqual(f(" + "," * 100_000 + ")", None),
    ],
)
def test_tests_whose_value_can_be_compared_outside(source: str, split: ExpressionTest | None) -> None:
    assert JAVASCRIPT.split(trusted(source)) == split


def test_a_runner_reports_its_version() -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no node here")
    version_of.cache_clear()
    assert version_of("javascript").startswith("javascript v")
    assert isinstance(runner_of("javascript"), LanguageRunner)
