"""Draws a number of questions of each type from the pool, and freezes them as a benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from workbench.benchmarks.building.freezing import encoded, freeze_with_report
from workbench.benchmarks.curating.pool import pool
from workbench.benchmarks.curating.types import current_type, why_untyped
from workbench.benchmarks.options import DrawOptions
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import NAMELESS
from workbench.core.sets import NewSet, QuestionMember, Shortfall, Stratum
from workbench.data.alike import in_drawn_order
from workbench.measuring.records.curation import DrawReport

# -- The draw of a number of questions of each type, which new questions change as little as possible.


class Drawable(NamedTuple):
    """A question that may be drawn.

    Attributes:
        dataset, key: The question's data set and id, which are the same in every database.
        type: The letter of its answer type.
    """

    question: int
    dataset: str
    key: str
    type: str
    source: str | None


class Drawn(NamedTuple):
    """The result of a draw.

    Attributes:
        taken: The drawn questions, in the order of the draw.
    """

    taken: list[Drawable]
    strata: tuple[Stratum, ...]
    shortfall: tuple[Shortfall, ...]


def draw_questions(
    questions: Sequence[Drawable], quotas: Mapping[str, int], seed: int, cap_source: int | None = None
) -> Drawn:
    """Draw questions up to each type's quota; a shortfall is never filled with other types.

    Args:
        quotas: Type -> number of questions requested.
        cap_source: Maximum number of questions of one source in the whole draw; None for no limit. Questions without a
            source are
            not limited.
    """
    taken: list[Drawable] = []
    types: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    capped: Counter[str] = Counter()
    for one in in_drawn_order(questions, seed, lambda one: (one.dataset, one.key)):
        if types[one.type] >= quotas.get(one.type, 0):
            continue
        if cap_source is not None and one.source is not None and sources[one.source] >= cap_source:
            capped[one.type] += 1
            continue
        types[one.type] += 1
        sources.update(() if one.source is None else (one.source,))
        taken.append(one)
    there = Counter(one.type for one in questions)
    return Drawn(
        taken=taken,
        strata=tuple(
            Stratum(name=name, population=there[name], quota=wanted, taken=types[name])
            for name, wanted in quotas.items()
        ),
        shortfall=tuple(
            Shortfall(
                stratum=name,
                of="questions",
                wanted=wanted,
                available=there[name],
                taken=types[name],
                why=_shortfall_reason(there[name], wanted, capped[name], cap_source),
            )
            for name, wanted in quotas.items()
            if types[name] < wanted
        ),
    )


def _shortfall_reason(available: int, wanted: int, capped: int, cap: int | None) -> str:
    if available < wanted and not capped:
        return f"the pool has no more than {available:,} of this type"
    return f"{capped:,} are of sources that have given {cap:,} already"


def draw(project: Project, options: DrawOptions) -> DrawReport:
    """Draw questions and freeze them; if the same draw exists already, nothing is frozen.

    Excluded questions are never drawn, and no type fills the shortfall of another.

    Raises:
        UsageError: No question is selected, the name is invalid or in use by another kind of benchmark, or a
            benchmark of this name differs and no new version was requested.
    """
    scope, letters = options.scope, options.letters
    questions = pool(project, scope)
    typed = {
        one.id: found for one in questions if (found := current_type(one, confirmed=options.confirmed)) is not None
    }
    inside = [one for one in questions if one.out is None]
    drawn = draw_questions(
        [Drawable(one.id, one.dataset, one.key, typed[one.id].letter, one.source) for one in inside if one.id in typed],
        dict.fromkeys(letters, options.per_type),
        options.seed,
        options.cap_source,
    )
    new = NewSet(
        name=options.name,
        kind="draw",
        seed=options.seed,
        config=encoded(
            {name: getattr(options, name) for name in ("name", "per_type", "seed", "cap_source", "confirmed")}
            | {"types": letters, "scope": structs.asdict(scope)}
        ),
        questions=tuple(
            QuestionMember(question=one.question, stratum=one.type, subtype=typed[one.question].code)
            for one in drawn.taken
        ),
    )
    untyped = Counter(why_untyped(one) for one in inside if one.id not in typed)
    wanted = sum(typed[one.id].letter in options.letters for one in inside if one.id in typed)
    by_id = {one.id: one for one in inside}
    taken = [by_id[one.question] for one in drawn.taken]
    report = record_from(
        DrawReport,
        new,
        version=None,
        questions=len(drawn.taken),
        tuples=0,
        strata=drawn.strata,
        shortfall=drawn.shortfall,
        excluded=_counts(one.out for one in questions if one.out is not None),
        stages={
            "in the pool": len(questions),
            "not out": len(inside),
            "typed": len(inside) - untyped.total(),
            "of these types": wanted,
            "drawn": len(drawn.taken),
        },
        types=_counts(typed[one.id].code for one in taken),
        domains=_counts(one.domain or NAMELESS for one in taken),
        sources=_counts(one.source or NAMELESS for one in taken),
        origins=_counts(typed[one.id].origin for one in taken),
        untyped=dict(sorted(untyped.items())),
    )
    return freeze_with_report(project, new, report, dry_run=options.dry_run, new_version=options.new_version)


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))
