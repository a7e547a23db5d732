"""The expected columns, computed row by row from the tables."""

from __future__ import annotations

from typing import Any, get_args

from workbench.core.project import Project
from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import GoldChoice
from workbench.measuring.columns import Columns
from workbench.statistics.records.report import NO_REASON

GOLDS: tuple[GoldChoice, ...] = get_args(GoldChoice)
FIELDS = ("dataset", "source", "domain", "type", "subtype", "model")

Row = dict[str, Any]


def plain(project: Project, runs: tuple[int, ...]) -> list[Row]:
    """Every visible item in order of row id."""
    read = project.database.reader().execute
    hidden = min(
        (first for (first,) in read("SELECT first_completion_id FROM imports WHERE state = 'running'")), default=1 << 62
    )
    states = {row[0]: row[1:] for row in read("SELECT completion_id, state, gold, gold_from, subtype FROM item_states")}
    checks = {item for (item,) in read("SELECT completion_id FROM check_items")}
    said = {
        run: {
            item: (outcome, reason or NO_REASON, score)
            for item, outcome, reason, score in read(
                "SELECT completion_id, outcome, reason, score FROM verdicts WHERE run_id = ? AND sample = 0", (run,)
            )
        }
        for run in runs
    }
    found = []
    for item, question, characters, imported, model, dataset, source, domain, kind, subtype in read(
        "SELECT c.id, c.question_id, c.characters, c.imported_gold, m.name, d.name, s.name, s.domain, q.type, "
        "q.subtype FROM completions c JOIN questions q ON q.id = c.question_id JOIN datasets d ON d.id = q.dataset_id "
        "LEFT JOIN sources s ON s.id = q.source_id LEFT JOIN models m ON m.id = c.model_id ORDER BY c.id"
    ):
        if item >= hidden:
            continue
        state, gold, gold_from, other = states.get(item, (None, None, None, None))
        by_people = gold_from is not None and state not in ("conflict", "excluded") and item not in checks
        final = gold if by_people else None if state in ("conflict", "excluded") or item in checks else imported
        if state in ("conflict", "excluded") or item in checks:
            origin = "conflict" if state == "conflict" else "none"
        else:
            origin = gold_from or ("none" if imported is None else "imported")
        row: Row = {
            "item": item,
            "question": question,
            "characters": -1 if characters is None else characters,
            "final": final,
            "people": gold if by_people else None,
            "imported": None if state == "excluded" or item in checks else imported,
            "origin": origin,
            "dataset": dataset,
            "source": source or "",
            "domain": domain or "",
            "type": (other[0] if other else kind) or UNTYPED,
            "subtype": other or subtype or UNTYPED,
            "model": model or "",
        }
        for run in runs:
            row[f"run {run}"] = said[run].get(item, (-1, NO_REASON, None))
        found.append(row)
    return found


def shown(found: Columns, runs: tuple[int, ...]) -> list[Row]:
    """The same, as the columns say it."""
    golds = {choice: found.gold(choice).tolist() for choice in GOLDS}
    groups = {field: found.groups(field) for field in FIELDS}
    reasons = {run: found.groups("reason", run) for run in runs}
    scores = {run: found.score(run) for run in runs}
    outcomes = {run: found.outcome(run).tolist() for run in runs}
    origins = {name: count for name, count in found.gold_counts("final").items() if count}
    rows = []
    for place, item in enumerate(found.item.tolist()):
        row: Row = {
            "item": item,
            "question": int(found.question[place]),
            "characters": int(found.characters[place]),
            **{choice: None if values[place] < 0 else values[place] for choice, values in golds.items()},
            **{field: group.names[group.code[place]] for field, group in groups.items()},
        }
        for run in runs:
            given = scores[run]
            score = None if given is None or given[place] != given[place] else float(given[place])
            row[f"run {run}"] = (outcomes[run][place], reasons[run].names[reasons[run].code[place]], score)
        rows.append(row)
    for row in rows:
        row["origin"] = origins
    return rows


def agree(found: Columns, project: Project, runs: tuple[int, ...]) -> None:
    """Assert that the columns say what the tables say."""
    expected = plain(project, runs)
    origins: dict[str, int] = {}
    for row in expected:
        origins[row["origin"]] = origins.get(row["origin"], 0) + 1
    for run in runs:
        assert (found.score(run) is None) == all(row[f"run {run}"][2] is None for row in expected)
    assert shown(found, runs) == [{**row, "origin": origins} for row in expected]
