"""An evolution's figures as tables and plots: EvolveCoder's table 2 and figures 4 to 6, and what lies behind them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from workbench.model.code import Provenance
from workbench.model.evolution import MODES, REJECTIONS
from workbench.model.evolution_report import EvolutionReport, Shares
from workbench.render.bars import NONE
from workbench.reports.document import Document, Facts, Lines, Section, Series, Table, heads, row
from workbench.reports.figures import percentage
from workbench.reports.plot_text import lines_text
from workbench.reports.table_text import plain_table
from workbench.services.coding.evolution.evolving import SKIPPED

_TENTHS = tuple(f"{10 * tenth}–{10 * tenth + 10}" for tenth in range(10))
_LEFT_OUT = {"few_tests": "too few tests", "too_easy": "solved by nearly all"}


def evolution_text(report: EvolutionReport) -> str:
    """The report for a terminal."""
    blocks = list(map(plain_table, _tables(report)))
    # The distribution of scores stands in a table, too.
    plots = [f"{plot.caption}\n\n{lines_text(plot)}\n" for plot in _plots(report)[:-1]]
    return "\n".join([_lead(report) + "\n", *blocks, *plots])


def evolution_document(report: EvolutionReport, made: str) -> Document:
    """The report as a page.

    Args:
        made: When it is made, in words.
    """
    rounds, sources, distribution, steps, rejected, models = _tables(report)
    passing, generated, by_model, scores = _plots(report)
    settings = Facts(tuple((name, _word(value)) for name, value in structs.asdict(report.settings).items()))
    return Document(
        title=f"Evolution {report.name}",
        lead=_lead(report),
        generated_at=made,
        sections=(
            Section("rounds", "Rounds", (rounds, passing, distribution, scores)),
            Section("sources", "Sources", (sources,)),
            Section("steps", "New tests", (steps, generated, rejected)),
            Section("models", "Models", (models, by_model)),
            Section("settings", "Settings", (settings, *map(_provenance, report.provenance))),
        ),
    )


def _provenance(found: Provenance) -> Facts:
    return Facts(
        (
            ("interpreter", f"{found.interpreter} {' '.join(found.flags)}".strip()),
            ("isolation", found.level),
            ("PYTHONHASHSEED", str(found.hash_seed)),
            ("packages", found.packages or NONE),
            *((name, f"{value:g}") for name, value in found.limits.items()),
        )
    )


def _lead(report: EvolutionReport) -> str:
    words = [f"{report.name}: {report.finished:,} of {report.problems:,} problems of {report.dataset} are through."]
    if report.unverified:
        words.append(f"{report.unverified:,} have no reference solution by people: their new tests are unverified.")
    if report.wrong_from_start:
        words.append(f"{report.wrong_from_start:,} tests of round 0 fail their reference solution.")
    words += [f"{count:,} left out: {SKIPPED[code]}." for code, count in report.skipped.items()]
    return " ".join(words)


def _tables(report: EvolutionReport) -> list[Table]:
    return [
        _rounds(report),
        _sources(report),
        _distribution(report),
        _steps(report),
        _rejected(report),
        _models(report),
    ]


def _rounds(report: EvolutionReport) -> Table:
    ks = [f"pass@{k}" for k in report.ks]
    head = ("round", "problems", "tests", "a problem", "alike", "kept alike", "score", *ks, "pass@1 of the set")
    rows = [
        row(
            str(one.round),
            f"{one.problems:,}",
            f"{one.tests:,}",
            _mean(one.mean_tests),
            percentage(one.alike),
            percentage(one.kept_alike),
            percentage(one.mean_score),
            *_shares(one.pass_at),
            percentage(one.pass_at_set["1"]),
        )
        for one in report.rounds
    ]
    left_out = {code for one in report.rounds for code in one.left_out}
    notes = [
        f"Left out as {_LEFT_OUT[code]}, round by round: "
        + ", ".join(str(one.left_out.get(code, 0)) for one in report.rounds)
        for code in sorted(left_out)
    ]
    return Table(
        caption="The set after each round. pass@k is over the same problems in every round, in percent; alike: tests "
        "that the same solutions pass as another.",
        head=(heads(*head),),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _sources(report: EvolutionReport) -> Table:
    names = list(dict.fromkeys(one.source for one in report.sources))
    by = {(one.source, one.round): one for one in report.sources}
    rounds = range(len(report.rounds))
    head = ("source", *(f"problems {round}" for round in rounds), *(f"tests {round}" for round in rounds))
    rows = [
        row(
            name,
            *(f"{by[name, round].problems:,}" for round in rounds),
            *(_mean(by[name, round].mean_tests) for round in rounds),
        )
        for name in names
    ]
    return Table(
        caption="Problems and mean number of tests by source, after each round (table 2).",
        head=(heads(*head),),
        rows=tuple(rows),
    )


def _distribution(report: EvolutionReport) -> Table:
    rows = [row(tenth, *(f"{one.scores[place]:,}" for one in report.rounds)) for place, tenth in enumerate(_TENTHS)]
    return Table(
        caption="Solutions by the share of tests they pass, in percent, after each round.",
        head=(heads("tests passed", *(f"round {one.round}" for one in report.rounds)),),
        rows=tuple(rows),
    )


def _steps(report: EvolutionReport) -> Table:
    head = ("round", "step", "asked", "replies", "proposed", "taken", "retained", "retained %", "fewer than five")
    rows = [
        row(
            str(one.round),
            one.mode,
            *(f"{count:,}" for count in (one.asked, one.replied, one.proposed, one.taken, one.retained)),
            percentage(one.retained_share),
            f"{one.few_shown:,}",
        )
        for one in report.steps
    ]
    return Table(
        caption="What each step brought: tests proposed, taken after the filters and execution, and retained after the "
        "round.",
        head=(heads(*head),),
        rows=tuple(rows),
        left=2,
    )


def _rejected(report: EvolutionReport) -> Table:
    codes = [code for code in REJECTIONS if any(code in one.rejected for one in report.steps)]
    rows = [
        row(str(one.round), one.mode, *(f"{one.rejected.get(code, 0):,}" for code in codes)) for one in report.steps
    ]
    return Table(
        caption="Proposed tests that were not taken, by why.",
        head=(heads("round", "step", *codes),),
        rows=tuple(rows),
        left=2,
        notes=tuple(f"{code}: {REJECTIONS[code]}" for code in codes),
    )


def _models(report: EvolutionReport) -> Table:
    head = ("model", "problems", "solutions", *(f"pass@{k}" for k in report.ks))
    rows = [
        row(one.model or NONE, f"{one.problems:,}", f"{one.solutions:,}", *_shares(one.pass_at))
        for one in report.models
    ]
    return Table(
        caption="Who passes the final suites, over the problems in the set, in percent (figure 6).",
        head=(heads(*head),),
        rows=tuple(rows),
    )


def _plots(report: EvolutionReport) -> list[Lines]:
    rounds = tuple(str(one.round) for one in report.rounds)
    ks = tuple(str(k) for k in report.ks)
    return [
        Lines(
            caption="pass@k over rounds, in percent (figure 4).",
            x_label="round",
            ticks=rounds,
            series=tuple(Series(f"pass@{k}", tuple(one.pass_at[k] for one in report.rounds)) for k in ks),
        ),
        Lines(
            caption="Tests proposed and retained over rounds (figure 5).",
            x_label="round",
            ticks=rounds[1:],
            series=tuple(_generated(report)),
            shares=False,
        ),
        Lines(
            caption="pass@k of each model on the final suites, in percent (figure 6).",
            x_label="k",
            ticks=ks,
            series=tuple(Series(one.model or NONE, tuple(one.pass_at[k] for k in ks)) for one in report.models),
        ),
        Lines(
            caption="Share of solutions by the share of tests they pass, in tenths, after each round.",
            x_label="tests passed, in percent",
            ticks=_TENTHS,
            series=tuple(
                Series(f"round {one.round}", tuple(count / max(one.solutions, 1) for count in one.scores))
                for one in report.rounds
            ),
        ),
    ]


def _generated(report: EvolutionReport) -> Iterable[Series]:
    for mode in MODES:
        steps = [one for one in report.steps if one.mode == mode]
        yield Series(f"{mode}, proposed", tuple(float(one.proposed) for one in steps))
        yield Series(f"{mode}, retained", tuple(float(one.retained) for one in steps))


def _shares(found: Shares) -> list[str]:
    return [percentage(share) for share in found.values()]


def _mean(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _word(value: object) -> str:
    return NONE if value is None else str(value)
