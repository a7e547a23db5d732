"""The leaderboard as a table."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.model.publication import LeaderboardLine
from workbench.model.taxonomy import type_display
from workbench.render.marks import CHOSE
from workbench.reports.document import Cell, Head, Row, Table
from workbench.reports.figures import percentage
from workbench.reports.sections.common import decimal, interval

_PROTOCOLS = {
    "forced": "an abstention or an error counts as “incorrect”",
    "strict": "an abstention or an error counts as wrong",
    "decided": "abstentions and errors are left out",
}
_FIGURES = ("AVG", "95 % interval", "n", "Bal. acc.", "MCC", "FPR", "FNR", "Coverage")


def leaderboard_table(name: str, lines: Sequence[LeaderboardLine]) -> Table:
    """Verifiers by accuracy, the best first, then what looks at no completion."""
    types = list(dict.fromkeys(kind for line in lines for kind in line.types))
    first = lines[0]
    return Table(
        caption=f"Accuracy on {name} (%; MCC as it is). Protocol {first.protocol}: {_PROTOCOLS[first.protocol]}. "
        f"AVG is the mean over items (micro). Gold: {first.gold}.",
        head=((Head("Verifier"), *(Head(type_display(kind)) for kind in types), *map(Head, _FIGURES)),),
        rows=tuple(Row(_cells(line, types), "aside" if line.kind == "baseline" else "") for line in lines),
        notes=tuple(_notes(lines)),
    )


def _cells(line: LeaderboardLine, types: Sequence[str]) -> tuple[Cell, ...]:
    return (
        Cell(f"{line.verifier} {CHOSE}" if line.selection_judge else line.verifier),
        *(Cell(percentage(line.types[kind].accuracy if kind in line.types else None)) for kind in types),
        Cell(percentage(line.accuracy)),
        Cell(interval(line.ci)),
        Cell(f"{line.n:,}"),
        Cell(percentage(line.balanced_accuracy)),
        Cell(decimal(line.mcc)),
        *(Cell(percentage(share)) for share in (line.fpr, line.fnr, line.coverage)),
    )


def _notes(lines: Sequence[LeaderboardLine]) -> list[str]:
    said = [
        "Intervals: Wilson’s, with n divided by the design effect of clustering by question. Baselines, which look at "
        "no completion, stand last; majority-by-type knows the gold it is measured on."
    ]
    if any(line.selection_judge for line in lines):
        said.append(f"{CHOSE} It helped to choose the items, so they are harder for it than for others.")
    for line in lines:
        if line.chose_by_these:
            said.append(f"{line.verifier}: these very verdicts chose the items; they don’t measure it. Run it anew.")
        elif line.flip_rate is not None:
            said.append(f"{line.verifier}: {percentage(line.flip_rate)} % of verdicts differ from those that chose.")
    return said
