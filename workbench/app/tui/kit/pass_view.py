"""A pass matrix in letters and words: the grid's rows, its caption and its legend; and a solution's code and tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal

from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.matrix_table import MatrixRow
from workbench.app.tui.kit.pass_grid import FORGEABLE, PassTest, grid_row
from workbench.app.tui.kit.wrapping import split_spans
from workbench.coding.matrix import Arrangement, Cluster, failure_words
from workbench.core.code import BROKEN, NOT_RUN, OUTCOMES, PASS, CodeTest, Execution, Failure, Where
from workbench.core.code import counted as counted_tests
from workbench.core.text.code import code_lines
from workbench.core.text.document import RenderedLine, RenderedText, Span
from workbench.core.text.figures import NONE, counted, percent
from workbench.core.text.run_words import LEVELS
from workbench.data.records import MatrixSolution, PassMatrix, SolutionCode, SuiteRun
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, word

TRUTH: Final = "★"
"""Marks the ground truth."""

MARKED: Final = "◆"
"""Marks the solution selected for comparison."""

FOLDED: Final = "▸"
_OPEN: Final = {"first": "┌", "inner": "│", "last": "└"}

SHORT: Final[dict[str, str]] = {
    "p": "passed",
    "f": "failed",
    "e": "error",
    "t": "timed out",
    "s": "syntax error",
    "x": "killed",
    "n": "not run",
    "b": "excluded",
}
"""Short descriptions of the outcome letters; `OUTCOMES` has longer ones."""


INSIDE: Final[tuple[Where, ...]] = ("inside", "program")
"""Where tests are judged whose passes a program could forge: inside the sandbox."""


def letters_of(outcomes: str, columns: Sequence[int]) -> str:
    return "".join(letter_at(outcomes, test) for test in columns)


def heads(matrix: PassMatrix, *, verdicts: bool) -> list[str]:
    """Return the titles of the columns left of the letters; verifiers are numbered, and the legend names them."""
    numbers = range(1, len(matrix.verifiers) + 1) if verdicts else ()
    return ["solution", "pass", "G", *(f"v{number}" for number in numbers)]


def columns(matrix: PassMatrix, laid: Arrangement) -> list[PassTest]:
    rounds = matrix.rounds or (None,) * matrix.width
    forgeable = {place for place, test in enumerate(matrix.shared) if matrix.where.get(test) in INSIDE}
    return [PassTest(test, laid.rates[test], test in forgeable, rounds[test]) for test in laid.columns]


def rows(
    matrix: PassMatrix, laid: Arrangement, folded: Collection[str], *, verdicts: bool, marked: int | None = None
) -> list[MatrixRow]:
    """Return one row per solution; a folded cluster has one row, its first solution, with the cluster's size.

    Args:
        verdicts: Include verifiers' verdicts, next to gold.
        marked: Row id of the solution that was marked for a comparison with another one.
    """
    found: list[MatrixRow] = []
    for cluster in laid.clusters:
        letters = letters_of(cluster.outcomes, laid.columns)
        members = cluster.members[:1] if cluster.outcomes in folded else cluster.members
        for place, member in enumerate(members):
            solution = matrix.solutions[member]
            name = _cluster_sign(cluster, place, folded=len(members) < len(cluster.members))
            name += printable(solution.solution_id) + (TRUTH if solution.ground_truth else "")
            name += MARKED if solution.id == marked else ""
            if len(members) < len(cluster.members):
                name += f" ×{len(cluster.members)}"
            lead = tuple(_lead_cells(matrix, solution, name, verdicts=verdicts))
            found.append(grid_row(solution.id, lead, letters))
    return found


def _cluster_sign(cluster: Cluster, place: int, *, folded: bool) -> str:
    if folded:
        return FOLDED
    if len(cluster.members) == 1:
        return " "
    last = len(cluster.members) - 1
    return _OPEN["first" if place == 0 else "last" if place == last else "inner"]


def _lead_cells(matrix: PassMatrix, solution: MatrixSolution, name: str, *, verdicts: bool) -> Iterator[Cell]:
    yield Cell(name)
    letters = solution.outcomes
    yield Cell(f"{letters.count(PASS)}/{counted_tests(letters)}" if letters else NONE)
    yield Cell(*OUTCOME_MARKS[solution.gold])
    for verifier in matrix.verifiers if verdicts else ():
        yield Cell(*OUTCOME_MARKS[solution.verdicts.get(verifier, "none")])


# -- around the grid -------------------------------------------------------------------------------


def run_words(run: SuiteRun | None) -> str:
    """Return the verifier and the number of the run that the outcomes come from, and its state if it is incomplete."""
    if run is None:
        return "no run yet"
    state = "" if run.state == "complete" else f", {run.state}"
    return f"{printable(run.verifier)} (run {run.run}{state})"


def outcome_source(matrix: PassMatrix) -> str:
    if matrix.run is None and matrix.evolution is not None:
        return f"the evolution {printable(matrix.evolution)} itself"
    return run_words(matrix.run)


def caption(matrix: PassMatrix, laid: Arrangement) -> Content:
    run = [one for one in matrix.solutions if one.outcomes]
    judged = [one for one in run if counted_tests(one.outcomes)]
    passing = sum(set(one.outcomes) - {BROKEN} == {PASS} for one in judged)
    different = sum(bool(cluster.outcomes) for cluster in laid.clusters)
    done = (
        counted(len(run), "solution")
        if len(run) == len(matrix.solutions)
        else f"{len(run)} of {len(matrix.solutions)} solutions run"
    )
    share = f"{passing} pass all tests (pass@1 {percent(passing / len(judged))} %)" if judged else "no test counts"
    share = share if run else f"not run yet: {key_of('code-problem.start')} starts it"
    forgeable, broken = matrix.count(*INSIDE), matrix.count("broken")
    return Content.assemble(
        "suite ",
        (printable(matrix.suite) or NONE, "bold $text-accent"),
        f" · {counted(matrix.width, 'test')}",
        " of each solution's own" if matrix.own else "",
        f" ({FORGEABLE} {forgeable} forgeable)" if forgeable else "",
        f" ({broken} broken)" if broken else "",
        f" ({len(matrix.excluded)} excluded)" if matrix.excluded else "",
        " · by ",
        (outcome_source(matrix), "bold"),
        f"\n{done} · {share}",
        f" · {counted(different, 'pattern')}" if run else "",
    )


def legend(matrix: PassMatrix, *, verdicts: bool) -> Content:
    """Explain the letters that occur, with counts; with `verdicts`, the verifiers' numbers instead."""
    if verdicts:
        named = " · ".join(f"v{number} {printable(name)}" for number, name in enumerate(matrix.verifiers, 1))
        return Content(f"G gold · {named or 'no other verifier has a complete run'}")
    letters = Counter("".join(one.outcomes for one in matrix.solutions))
    parts: list[str | tuple[str, str]] = []
    for letter, colours in _COLOURS.items():
        if letters[letter]:
            parts += [(f" {letter} ", f"bold {colours}"), f" {SHORT[letter]} {letters[letter]:,} "]
    return Content.assemble(*parts, " G gold" if parts else "")


_COLOURS: Final = {
    "p": "$text-success on $success-muted",
    "f": "$text-error on $error-muted",
    "e": "$text-warning on $warning-muted",
    "t": "$text-accent on $accent-muted",
    "s": "$text-secondary on $secondary-muted",
    "x": "$background on $error",
    "n": "$text-muted",
    "b": "$text-muted",
}


# -- A test, a solution and its outcome, as lines of text.


Line = tuple[Span, ...]

PLACES: Final[dict[Where, str]] = {
    "outside": "compared outside the sandbox",
    "inside": "judged inside the sandbox: forgeable",
    "program": "one program, judged inside the sandbox: forgeable",
    "stdio": "standard output, compared outside the sandbox",
    "broken": "broken: it says nothing about any solution",
}
"""Descriptions of where a test is judged."""

WORDS: Final[dict[str, str]] = {
    "suite": "Tests that belong together: base is a problem's own, plus a harder one; a run covers one or more.",
    "pattern": "Solutions with the same outcome on every test, in one bracket.",
    "forgeable": "A pass that only the sandboxed process reports (~): a cheating solution could claim it. "
    "Direct calls (assert f(1) == 2) are compared outside, where it can't.",
    "L1 L2 L3": "How a solution was isolated: by limits alone; by Landlock and seccomp; also in separate namespaces.",
    "excluded": "A test that was excluded by hand, with a reason (x): it does not count. Broken: the reference fails.",
    "pass@1": "The share of solutions that pass every test that counts; – where no test counts.",
}
"""Explanations on the code screens."""

MOST: Final = 10_000
"""Maximum characters of a test's shown source."""

LETTER_TONES: Final[dict[str, Literal["success", "error", "dim"]]] = {
    PASS: "success",
    NOT_RUN: "dim",
    BROKEN: "dim",
    **dict.fromkeys(("f", "e", "s", "x"), "error"),
}
"""Tone of an outcome letter; others have that of a warning."""


def text_of(*lines: Line) -> RenderedText:
    return RenderedText(tuple(RenderedLine(line, (0, 0)) for line in lines), {})


def test_lines(matrix: PassMatrix, solution: MatrixSolution, position: int, rate: float | None) -> Iterator[Line]:
    test = matrix.test_of(solution, position)
    share = "not run" if rate is None else f"{percent(rate, 0)} % of solutions pass"
    share = "" if position in matrix.excluded else f"{share} · "
    share = "this solution's own · " if matrix.own else share
    came = f" · from round {matrix.rounds[position]}" if matrix.rounds else ""
    yield (
        Span(f"Test {position + 1}", "heading"),
        Span(f"  {share}{place_words(matrix, test, position)}{came}", "dim"),
    )
    yield from source_lines(test, matrix.problem.language)


def place_words(matrix: PassMatrix, test: CodeTest | None, position: int) -> str:
    """Return where a test is judged, or why it is excluded."""
    if test is None:
        return "no such test"
    if (reason := matrix.excluded.get(position)) is not None:
        return f"excluded: {reason.words}"
    fault = matrix.faults.get(test)
    return PLACES[matrix.where[test]] if fault is None else f"broken: the reference solution fails it too: {fault}"


def source_lines(test: CodeTest | None, language: str) -> Iterator[Line]:
    if test is None:
        return
    if test.form != "stdio":
        yield from _clipped_code(test.source.strip("\n"), language)
        return
    yield (Span("standard input", "dim"),)
    yield from _clipped_code(test.source, "")
    yield (Span("expected standard output", "dim"),)
    yield from _clipped_code(test.expected or "", "")


def _clipped_code(source: str, language: str) -> Iterator[Line]:
    yield from code_lines(source[:MOST], language)
    if len(source) > MOST:
        yield (Span(f"… and {len(source) - MOST:,} characters more", "dim"),)


def letter_at(outcomes: str, position: int) -> str:
    """Return the outcome letter of a test; that of "not run" if the letter is missing or unknown."""
    letter = outcomes[position] if position < len(outcomes) else NOT_RUN
    return letter if letter in OUTCOMES else NOT_RUN


def failure_of(execution: Execution | None, position: int) -> Failure | None:
    """Return why a test did not pass; None if that was not stored."""
    failures = () if execution is None else execution.failures
    return next((one for one in failures if one.position == position), None)


def evidence_lines(matrix: PassMatrix, solution: MatrixSolution, position: int) -> Iterator[Line]:
    """Yield the outcome of a test and why: the actual and the expected value, or the error and its line."""
    letter = letter_at(solution.outcomes, position)
    head = Span(f"{letter}  {OUTCOMES[letter]}", LETTER_TONES.get(letter, "bold"))
    yield head, Span(f"  test {position + 1}")
    failure = failure_of(solution.execution, position)
    if letter == BROKEN and (reason := matrix.excluded.get(position)) is not None:
        yield Span("because  ", "dim"), Span(reason.words)
    elif letter == BROKEN and (fault := fault_of(matrix, solution, position)):
        yield Span("error    ", "dim"), Span(fault, "error"), Span("  also the reference's", "dim")
    if failure is None:
        if letter not in (PASS, NOT_RUN, BROKEN):
            yield (Span("The reason was not stored: only each solution's first failures are.", "dim"),)
        return
    if failure.got is not None:
        yield Span("got      ", "dim"), Span(failure.got, "error")
    if failure.expected is not None:
        yield Span("expected ", "dim"), Span(failure.expected, "success")
    if failure.error or failure.message:
        where = "" if failure.line is None else f"  line {failure.line}"
        said = ": ".join(filter(None, (failure.error, failure.message)))
        yield Span("error    ", "dim"), Span(said, "error"), Span(where, "bold")


def fault_of(matrix: PassMatrix, solution: MatrixSolution, position: int) -> str:
    """Return the error that shows the test itself to be broken; "" if none is known."""
    test = matrix.test_of(solution, position)
    return "" if test is None else matrix.faults.get(test, "")


def solution_lines(solution: MatrixSolution) -> Iterator[Line]:
    mark = OUTCOME_MARKS[solution.gold][0]
    yield (
        Span(f"Solution {solution.solution_id}", "heading"),
        Span(f" {TRUTH} ground truth" if solution.ground_truth else "", "success"),
        Span(f"  {passed_words(solution.outcomes)} · gold {mark} {solution.gold}"),
        Span(f" · {solution.model}" if solution.model else "", "dim"),
    )
    if solution.execution is not None:
        yield (Span(isolation_text(solution.execution), "dim"),)


def passed_words(outcomes: str) -> str:
    if not outcomes:
        return "not run"
    passed, total = outcomes.count(PASS), counted_tests(outcomes)
    return f"{passed} of {total} passed ({passed / total:.3f})" if total else "no test counts"


def outcome_sentence(outcomes: str) -> str:
    if not outcomes:
        return "It has not been run."
    return (
        "It passes every test it was run on."
        if counted_tests(outcomes)
        else "No test counts: all are broken or excluded."
    )


def isolation_text(execution: Execution) -> str:
    """Return the isolation level of an execution, its number of forgeable passes, and the milliseconds per test."""
    forged = f" · {execution.forgeable} passes could be forged" if execution.forgeable else ""
    return f"{execution.level}: {LEVELS[execution.level]}{forged} · {execution.ms:.2g} ms a test"


def verdict_lines(solution: MatrixSolution) -> Iterator[Line]:
    if solution.verdicts:
        said = (f"{OUTCOME_MARKS[word][0]} {name}" for name, word in solution.verdicts.items())
        yield Span("verdicts ", "dim"), Span("  ".join(said) or NONE)


RAISED: Final = "raised"
"""The mark of the line where a test's error was raised."""

_HERE: Final = "▶"


def numbered(lines: Sequence[Line], width: int, marked: int | None = None) -> RenderedText:
    """Return code with line numbers, cut to `width` cells; the marked line (from 1) has an arrow before it."""
    digits = len(str(len(lines)))
    drawn: list[RenderedLine] = []
    marks: dict[str, list[int]] = {}
    for number, line in enumerate(lines, 1):
        here = number == marked
        if here:
            marks[RAISED] = [len(drawn)]
        for place, piece in enumerate(split_spans(line, max(width - digits - 2, 1))):
            gutter = f"{_HERE if here else ' '}{number if not place else '':>{digits}} "
            drawn.append(RenderedLine((Span(gutter, "error" if here else "dim"), *piece), (0, 0)))
    return RenderedText(tuple(drawn), marks)


def code_title(code: SolutionCode) -> str:
    """Return the title of the code, which says whether it is stored code or was put together or extracted."""
    if code.form == "continuation":
        return "Code: the prompt and its continuation"
    if code.form == "reply":
        return f"Code in the reply ({code.extractor}) · {key_of('code-solution.item')} shows the whole reply"
    return "Code"


def failing_tests(matrix: PassMatrix, solution: MatrixSolution) -> list[int]:
    letters = [letter_at(solution.outcomes, test) for test in range(matrix.width)]
    return [test for test, letter in enumerate(letters) if letter not in (PASS, NOT_RUN, BROKEN)]


def test_columns(matrix: PassMatrix, solution: MatrixSolution) -> Columns[int]:
    def number(position: int) -> str:
        test = matrix.test_of(solution, position)
        return f"{position + 1}{FORGEABLE if test is not None and matrix.where.get(test) in INSIDE else ''}"

    def why(position: int) -> str:
        failure = failure_of(solution.execution, position)
        if position in matrix.excluded:
            return matrix.excluded[position].words
        return fault_of(matrix, solution, position) if failure is None else failure_words(failure)

    return (
        word("test", number, room=5),
        column("outcome", lambda test: letter_at(solution.outcomes, test), outcome_cell, words=True, room=18),
        word("why", why, room=(12, 40)),
        word("source", lambda test: source_of(matrix.test_of(solution, test)), room=(12, 60), tone="dim"),
    )


def source_of(test: CodeTest | None) -> str:
    return "" if test is None else test.source


def outcome_cell(letter: str) -> Cell:
    return Cell(f"{letter} {SHORT[letter]}", LETTER_TONES.get(letter, "warning"))
