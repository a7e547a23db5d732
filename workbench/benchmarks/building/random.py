"""Builds random benchmarks: a random sample of questions, each with all its completions, like the 100 APPS problems of
MCTS-Judge."""

from __future__ import annotations

from typing import Final

from workbench.benchmarks import store
from workbench.benchmarks.building.candidates import chosen, composition, type_code
from workbench.benchmarks.building.freezing import conditions, encoded, freeze_with_report
from workbench.benchmarks.options import RandomOptions
from workbench.core.errors import Command
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.sets import ItemMember, NewSet, SetReport, Shortfall, Stratum
from workbench.data.alike import first_drawn
from workbench.measuring.columns import columns

_ALL: Final = "all"


def build_random(project: Project, options: RandomOptions) -> SetReport:
    """Freeze a simple random sample of questions; a larger draw with the same seed begins with the same questions.

    Raises:
        UsageError: The selection names something unknown, nothing can be drawn, or a benchmark of this name exists and
            differs.
    """
    import numpy as np

    selection = selection_of(options.where)
    known = columns(project)
    among = chosen(project, known, selection)
    ids, first = np.unique(known.question[among.rows], return_index=True)
    heads = store.keys(project.database.reader(), known.item[among.rows[first]].tolist())
    questions = list(zip(ids.tolist(), heads, strict=True))
    taken = first_drawn(questions, options.n, options.seed, lambda one: (one[1].dataset, one[1].question))
    rows = among.rows[np.isin(known.question[among.rows], [question for question, _ in taken])]
    types, subtypes = known.groups("type"), known.groups("subtype")
    members = tuple(
        ItemMember(
            item=item, stratum=_ALL, subtype=type_code(subtypes.names[subtypes.code[row]], types.names[types.code[row]])
        )
        for row, item in zip(rows.tolist(), known.item[rows].tolist(), strict=True)
    )
    new = NewSet(
        name=options.name,
        kind="draw",
        seed=options.seed,
        config=encoded({"where": conditions(project, selection), "n": options.n}),
        items=members,
    )
    why = f"there are no more than {len(questions):,} such questions"
    short = Shortfall(
        stratum=_ALL, of="questions", wanted=options.n, available=len(questions), taken=len(taken), why=why
    )
    report = record_from(
        SetReport,
        new,
        version=None,
        strata=(Stratum(name=_ALL, population=len(questions), quota=options.n, taken=len(taken)),),
        shortfall=(short,) if len(taken) < options.n else (),
        excluded=among.out,
        stages={"questions": len(questions), "completions": len(among.rows), "drawn": len(taken)},
        next=Command("verify DB NAME", where=f"set={options.name}").shell(),
        **composition(known, members),
    )
    return freeze_with_report(project, new, report, dry_run=options.dry_run, new_version=options.new_version)
