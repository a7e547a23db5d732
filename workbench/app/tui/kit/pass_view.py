"""A pass matrix in letters and words: the grid's rows, its caption and its legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from textual.content import Content

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.pass_grid import FORGEABLE, GridRow, PassHead, PassTest
from workbench.coding.matrix import Arrangement, Cluster
from workbench.core.code import BROKEN, NOT_RUN, OUTCOMES, PASS, Where
from workbench.core.code import counted as counted_tests
from workbench.core.text.figures import NONE, counted, percent
from workbench.data.records.pass_matrix import MatrixSolution, PassMatrix, SuiteRun
from workbench.tables.document import Cell

TRUTH: Final = "★"
"""Marks the ground truth."""

MARKED: Final = "◆"
"""Marks the solution selected for comparison."""

FOLDED: Final = "▸"
_OPEN: Final = {"first": "┌", "inner": "│", "last": "└"}

SHORT: Final[dict[str, str]] = {
    "p": "passed",
    "f": "assertion failed",
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
    found = (outcomes[test] if test < len(outcomes) else NOT_RUN for test in columns)
    return "".join(letter if letter in OUTCOMES else NOT_RUN for letter in found)


def heads(matrix: PassMatrix, *, verdicts: bool) -> list[PassHead]:
    """Return the titles of the columns left of the letters; verifiers are numbered, and the legend names them."""
    numbers = range(1, len(matrix.verifiers) + 1) if verdicts else ()
    return [
        PassHead("solution"),
        PassHead("pass", "right"),
        PassHead("G"),
        *(PassHead(str(number)) for number in numbers),
    ]


def columns(matrix: PassMatrix, laid: Arrangement) -> list[PassTest]:
    rounds = matrix.rounds or (None,) * matrix.width
    forgeable = {place for place, test in enumerate(matrix.shared) if matrix.where.get(test) in INSIDE}
    return [PassTest(test, laid.rates[test], test in forgeable, rounds[test]) for test in laid.columns]


def rows(
    matrix: PassMatrix, laid: Arrangement, folded: Collection[str], *, verdicts: bool, marked: int | None = None
) -> list[GridRow]:
    """Return one row per solution; a folded cluster has one row, its first solution, with the cluster's size.

    Args:
        verdicts: Include verifiers' verdicts, next to gold.
        marked: Row id of the solution that was marked for a comparison with another one.
    """
    found: list[GridRow] = []
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
            found.append(GridRow(solution.id, tuple(_lead_cells(matrix, solution, name, verdicts=verdicts)), letters))
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


def legend(matrix: PassMatrix, *, verdicts: bool, wide: bool) -> Content:
    """Explain the letters that occur, with counts if there is room; with `verdicts`, the verifiers' numbers instead."""
    if verdicts:
        named = " · ".join(f"{number} {printable(name)}" for number, name in enumerate(matrix.verifiers, 1))
        return Content(f"G gold · {named or 'no other verifier has a complete run'}")
    letters = Counter("".join(one.outcomes for one in matrix.solutions))
    parts: list[str | tuple[str, str]] = []
    for letter, word in _WORDS.items():
        if letters[letter]:
            said = f" {SHORT[letter]} {letters[letter]:,}  " if wide else f" {word} "
            parts += [(f" {letter} ", f"bold {_COLOURS[letter]}"), said]
    return Content.assemble(*parts, " G gold" if parts else "")


_WORDS: Final[dict[str, str]] = {
    "p": "passed",
    "f": "failed",
    "e": "error",
    "t": "time-out",
    "s": "syntax",
    "x": "killed",
    "n": "not run",
    "b": "excluded",
}


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
