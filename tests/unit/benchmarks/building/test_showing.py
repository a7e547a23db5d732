"""Lists of benchmarks: labelling progress, shortages, and changes."""

from __future__ import annotations

from pathlib import Path

from tests.pools import PoolQuestion, make_pool
from tests.unit.measuring.reviewing.desk import add_run
from workbench.benchmarks.building.balanced import build_balanced
from workbench.benchmarks.building.comparing import every_set, set_detail
from workbench.benchmarks.building.picks import build_picks
from workbench.benchmarks.options import BalancedOptions, PicksOptions
from workbench.core.label import LabelLine
from workbench.labelling.labels import put_lines


def test_states_are_todays_and_shortfalls_those_of_freezing(tmp_path: Path) -> None:
    project = make_pool(
        tmp_path, [PoolQuestion("q0", "A1", "++--"), PoolQuestion("q1", "A1", "+xlu"), PoolQuestion("q2", "A1", "+-..")]
    )
    add_run(project, "a", "++--" * 3)
    build_picks(project, PicksOptions(judge="a"))
    build_balanced(project, BalancedOptions(per_type=2))
    line = LabelLine(completion_id="q2-1", annotator="amira", verdict="incorrect", role="adjudicator")
    assert put_lines(project, [line]).refused == 0

    picks, balanced = every_set(project)
    assert (picks.states, picks.progress) == (
        {"conflict": 1, "excluded": 1, "final": 7, "labelled": 1, "unlabelled": 2},
        (8, 3, 1),
    )
    assert (balanced.progress, balanced.changed["gold"], picks.changed["gold"]) == ((4, 0, 0), 1, 0)
    assert [one.short for one in (picks, balanced)] == [0, len(set_detail(project, "balanced").report.shortfall)]
    assert set_detail(project, "picks").set == picks
