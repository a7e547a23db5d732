"""The leaderboard as a table."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.benchmarks.publication import LeaderboardLine
from workbench.core.taxonomy import type_display
from workbench.core.text.marks import CHOSE
from workbench.measuring.report.common import decimals, interval, share
from workbench.tables.document import Table
from workbench.tables.figures import percentage
from workbench.tables.table import Column, Columns, count, ends, table, word

_PROTOCOLS = {
    "forced": "an abstention or an error counts as “incorrect”",
    "strict": "an abstention or an error counts as wrong",
    "decided": "abstentions and errors are left out",
}


def leaderboard_table(name: str, lines: Sequence[LeaderboardLine]) -> Table:
    """Verifiers by accuracy, the best first, then what looks at no completion."""

    def of_type(kind: str) -> Column[LeaderboardLine]:
        return share(type_display(kind), lambda line: line.types[kind].accuracy if kind in line.types else None)

    columns: Columns[LeaderboardLine] = (
        word("Verifier", lambda line: f"{line.verifier} {CHOSE}" if line.selection_judge else line.verifier),
        *map(of_type, dict.fromkeys(kind for line in lines for kind in line.types)),
        share("AVG", lambda line: line.accuracy),
        ends(lambda line: line.ci, interval),
        count("n", lambda line: line.n),
        share("Bal. acc.", lambda line: line.balanced_accuracy),
        decimals("MCC", lambda line: line.mcc),
        share("FPR", lambda line: line.fpr),
        share("FNR", lambda line: line.fnr),
        share("Coverage", lambda line: line.coverage),
    )
    first = lines[0]
    return table(
        f"Accuracy on {name} (%; MCC as it is). Protocol {first.protocol}: {_PROTOCOLS[first.protocol]}. "
        f"AVG is the mean over items (micro). Gold: {first.gold}.",
        columns,
        lines,
        notes=_notes(lines),
        kind=lambda line: "aside" if line.kind == "baseline" else "",
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
