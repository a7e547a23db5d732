"""Bias and validity checks of verifiers: undesired dependencies of verdicts, and stability."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from workbench.core.database.selection import check_names
from workbench.core.final_answer import completion_answer
from workbench.core.project import Project, batches
from workbench.core.reasons import title
from workbench.core.run import IMPORTED
from workbench.core.selection import Selection
from workbench.core.text.figures import counted, percent, percent_interval, points_interval
from workbench.core.text.inert import inert
from workbench.core.verdict import GoldChoice, OutcomeCode, VerifierInput
from workbench.labelling.agreement.measuring import ceilings
from workbench.labelling.agreement.text import ceiling_in_words
from workbench.measuring import notes
from workbench.measuring.columns import Columns, columns
from workbench.measuring.judged import VerifierRun, judges_of, model_of, plain_name
from workbench.measuring.store import reviews
from workbench.runs.store import runs
from workbench.runs.store.verifier_inputs import inputs
from workbench.statistics.records.agreement import Ceiling
from workbench.verifiers.rules.choices import letters, options

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, IntArray
    from workbench.statistics.subgroups import Effect


Check = Literal[
    "length",
    "own-model",
    "first-option",
    "boxed",
    "thinking",
    "other-script",
    "flips-samples",
    "flips-runs",
    "undecided",
    "undecided-by-gold",
    "selection",
    "ceiling",
]


class ValidityFinding(Struct, frozen=True, kw_only=True):
    """The result of one check of one verifier.

    Attributes:
        verifier: The verifier's name; None for a finding about labels.
        n: Number of items behind the estimate.
        estimate: A share, or for checks in `COMPARING` a difference of shares (positive: more of the first kind is
            accepted, or left undecided); None with too little data.
        ci: Its 95 % interval, clustered by question; None without an interval.
        counts: Name of a number behind the estimate -> the number.
        sentence: The finding as a sentence.
        stands_out: Whether the interval excludes zero; for shares, whether the share is above zero.
    """

    check: Check
    verifier: str | None
    n: int
    estimate: float | None = None
    ci: tuple[float, float] | None = None
    counts: dict[str, int] = {}
    sentence: str
    stands_out: bool = False


class ValidityReport(Struct, frozen=True, kw_only=True):
    """All checks of all verifiers.

    Attributes:
        gold: Origin of gold -> items: adjudicated, agreed, imported, conflict (where any), none.
        texts: Number of completions whose texts were read for the checks of form.
        compared: Number of differences with an interval; about one in twenty is significant by chance.
        notes: Notes that apply to all findings.
    """

    gold: dict[str, int]
    gold_choice: GoldChoice
    texts: int
    compared: int
    findings: list[ValidityFinding]
    notes: tuple[str, ...] = ()


# -- Findings in plain words, one by one and as a whole report.


_KINDS: dict[Check, tuple[str, str, str]] = {
    "length": ("longer completions", "others", "gold and type"),
    "own-model": ("completions by its own model", "others", "gold and type"),
    "first-option": ("completions that choose the first option", "those that choose another", "gold"),
    "boxed": ("completions with a boxed answer", "those without", "gold and type"),
    "thinking": ("completions that show their thinking", "those that don't", "gold and type"),
    "other-script": ("completions with Chinese, Japanese or Korean characters", "those without", "gold and type"),
    "undecided-by-gold": ("correct completions", "incorrect ones", "type"),
}
"""Check -> the exposed kind, the other kind, and the matched properties."""
COMPARING: Final = tuple(_KINDS)
"""Checks whose estimate is a difference of shares; other checks estimate a share."""
_MEANING: dict[Check, str] = {
    "length": "its verdicts depend on length",
    "own-model": "its verdicts depend on the author of the completion",
    "first-option": "its verdicts depend on the option's position",
    "boxed": "its verdicts depend on the form of the answer",
    "thinking": "its verdicts depend on the text before the answer",
    "other-script": "its verdicts depend on the language",
    "undecided-by-gold": "accuracy on decided items alone would mislead",
}
_WIDTH = 100


def compared(check: Check, effect: Effect, exposed: int, others_in_all: int) -> str:
    """Describe the difference between the acceptance of two kinds of completions in a sentence.

    Args:
        exposed: Number of completions of the exposed kind, matched or not.
        others_in_all: Number of completions of the other kind, matched or not.
    """
    kind, others, equal = _KINDS[check]
    from workbench.statistics.subgroups import FEWEST

    if effect.difference is None or effect.ci is None:
        if min(effect.exposed, effect.others) >= FEWEST:
            return f"Too few questions to tell: most of {exposed:,} {kind} or of {others_in_all:,} {others} are of one."
        return (
            f"Too few to tell: {exposed:,} {kind} ({others}: {others_in_all:,}); ten of each are needed with equal "
            f"{equal}."
        )
    low, high = effect.ci
    done = "left undecided" if check == "undecided-by-gold" else "accepted"
    points = 100 * effect.difference
    often = (
        "as often as"
        if round(points, 1) == 0
        else f"{abs(points):.1f} points {'more' if points > 0 else 'less'} often than"
    )
    sentence = f"Of equal {equal}, {kind} are {done} {often} {others} {points_interval(effect.ci)}"
    if low <= 0 <= high:
        return f"{sentence}: not significant."
    return f"{sentence}: {_MEANING[check]}, or something that goes with it."


def _share_text(share: float, ci: tuple[float, float] | None) -> str:
    if ci is None:
        return f"{percent(share)} % (too few questions for an interval)"
    return f"{percent(share)} % {percent_interval(ci)}"


def validity_text(report: ValidityReport) -> str:
    sources = ", ".join(f"{number} {name}" for name, number in report.gold.items())
    lines = [f"gold {report.gold_choice} ({sources}); * a significant difference, or a share above zero"]
    for verifier, findings in groupby(report.findings, key=lambda finding: finding.verifier):
        lines += ["", inert(verifier or "labels")]
        for finding in findings:
            mark = "*" if finding.stands_out else " "
            lines.append(
                fill(
                    f"{finding.check}: {inert(finding.sentence)}",
                    _WIDTH,
                    initial_indent=f"{mark} ",
                    subsequent_indent="    ",
                    break_on_hyphens=False,
                )
            )
    return "\n".join([*lines, *(f"\n{fill(note, _WIDTH)}" for note in report.notes)]) + "\n"


# -- The form of completions' texts, for the checks of form.


MOST_TEXTS = 5_000
"""Most completions whose texts are read; of more, an evenly spaced sample."""
_BOXED = re.compile(r"\\f?boxed\s*\{")
_THINKING = re.compile(r"</?think(?:ing)?>")
_OTHER_SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MIX = 0x9E3779B97F4A7C15


class Forms(Struct, frozen=True, kw_only=True, eq=False):
    """The form of some completions, as masks with one value for each.

    Attributes:
        place: Positions of the items among the requested ones.
        boxed: Whether the completion has a boxed answer.
        thinking: Whether the completion shows its reasoning.
        other_script: Whether the completion has Chinese, Japanese or Korean characters.
        has_option: Whether the completion's final answer is one of the question's options.
        first_option: Whether that option is the first.
    """

    place: IntArray
    boxed: BoolArray
    thinking: BoolArray
    other_script: BoolArray
    has_option: BoolArray
    first_option: BoolArray


def forms(project: Project, items: IntArray) -> Forms:
    """Read the form of the items, or of a fixed, evenly spaced sample of `MOST_TEXTS` items."""
    import numpy as np

    place = np.arange(len(items))
    if len(items) > MOST_TEXTS:
        mixed = items.astype(np.uint64) * np.uint64(_MIX)
        place = np.sort(np.argpartition(mixed, MOST_TEXTS)[:MOST_TEXTS])
    wanted = items[place].tolist()
    seen = [_form_of_item(text) for some in batches(wanted) for text in inputs(project.database, list(some))]
    columns = np.array(seen, dtype=bool).reshape(len(seen), 5).T
    return Forms(place=place, **dict(zip(Forms.__struct_fields__[1:], columns, strict=True)))


def _form_of_item(item: VerifierInput) -> tuple[bool, bool, bool, bool, bool]:
    text = item.completion
    known = options(item.question) if (item.subtype or "").startswith("C") else {}
    chosen = letters(completion_answer(text).text, known) if known else None
    return (
        _BOXED.search(text) is not None,
        _THINKING.search(text) is not None,
        _OTHER_SCRIPT.search(text) is not None,
        bool(chosen),
        chosen == frozenset([next(iter(known), "")]),
    )


_MAX_REASONS = 3
_FORMS: dict[Check, Callable[[Forms], BoolArray]] = {
    "boxed": lambda seen: seen.boxed,
    "thinking": lambda seen: seen.thinking,
    "other-script": lambda seen: seen.other_script,
}


class _ChosenItems(Struct, frozen=True, kw_only=True, eq=False):
    """The selected items, as arrays with one value for each.

    Attributes:
        model: The model that wrote the completion, as a position in ``models``.
        type_and_gold: A code for each combination of type and gold, for items with gold.
    """

    item: IntArray
    question: IntArray
    gold: IntArray
    type: IntArray
    type_and_gold: IntArray
    model: IntArray
    models: tuple[str, ...]
    characters: IntArray
    kept: BoolArray | None


def validity(
    project: Project, verifiers: tuple[str, ...] = (), *, gold: GoldChoice = "final", selection: Selection | None = None
) -> ValidityReport:
    """Run every check of verifiers on each one's newest complete run, then the checks of labels.

    Args:
        verifiers: Names; empty for all verifiers with a complete run that judge completions.

    Raises:
        UsageError: A verifier is unknown, or the selection names something unknown.
    """
    reader = project.database.reader()
    wanted = check_names(reader, selection or Selection())
    everything = columns(project)
    rows = _select_items(everything, everything.chosen(wanted), gold)
    forms_seen = forms(project, rows.item)
    chosen = notes.chosen_with(project)
    findings = [
        finding
        for judge in judges_of(project, verifiers)
        for finding in (
            *_check_verifier(project, everything, rows, forms_seen, judge),
            *_selection_findings(judge, chosen),
        )
    ]
    compared = sum(finding.check in COMPARING and finding.ci is not None for finding in findings)
    return ValidityReport(
        gold=everything.gold_counts(gold, rows.kept),
        gold_choice=gold,
        texts=len(forms_seen.place),
        compared=compared,
        findings=[*findings, *map(_ceiling_finding, ceilings(project, wanted))],
        notes=_report_notes(compared, findings, len(rows.item), len(forms_seen.place)),
    )


def _select_items(everything: Columns, kept: BoolArray | None, gold: GoldChoice) -> _ChosenItems:
    import numpy as np

    chosen = slice(None) if kept is None else kept
    types, models = everything.groups("type"), everything.groups("model")
    judged, of_type = everything.gold(gold)[chosen], types.code[chosen]
    return _ChosenItems(
        item=everything.item[chosen],
        question=everything.question[chosen],
        gold=judged,
        type=of_type,
        type_and_gold=2 * of_type.astype(np.int64) + judged,
        model=models.code[chosen],
        models=models.names,
        characters=everything.characters[chosen],
        kept=kept,
    )


def _check_verifier(
    project: Project, everything: Columns, rows: _ChosenItems, seen: Forms, judge: VerifierRun
) -> list[ValidityFinding]:
    outcome = everything.outcome(judge.run)
    outcome = outcome if rows.kept is None else outcome[rows.kept]
    comparing = [
        _compare_kinds(check, judge.name, said, rows, chosen, exposed)
        for check, chosen, exposed in _exposed_items(project, rows, seen, judge, outcome)
        if (said := _counted_decisions(check, outcome[chosen])).any() and not said.all()
    ]
    others = [
        _unknown_model(project, rows, judge),
        _undecided_finding(everything, rows, judge, outcome),
        *_flip_findings(project, everything, rows, judge, outcome),
    ]
    return [*comparing, *(finding for finding in others if finding is not None)]


def _exposed_items(
    project: Project, rows: _ChosenItems, seen: Forms, judge: VerifierRun, outcome: IntArray
) -> list[tuple[Check, IntArray, BoolArray]]:
    import numpy as np

    usable = (rows.gold >= 0) & (outcome >= 0)
    places, measured = np.flatnonzero(usable), np.flatnonzero(usable & (rows.characters >= 0))
    own = _is_by_own_model(project, rows, judge)
    read = usable[seen.place]
    options = read & seen.has_option

    found: list[tuple[Check, IntArray, BoolArray]] = [("length", measured, _is_longer_than_median(rows, measured))]
    if own is not None:
        found.append(("own-model", places, own[places]))
    found.append(("first-option", seen.place[options], seen.first_option[options]))
    found += [(check, seen.place[read], mask(seen)[read]) for check, mask in _FORMS.items()]
    found.append(("undecided-by-gold", places, rows.gold[places] == 1))
    return found


def _is_longer_than_median(rows: _ChosenItems, measured: IntArray) -> BoolArray:
    import numpy as np

    from workbench.statistics.intervals import compact

    characters = rows.characters[measured]
    kind, known = compact(rows.type_and_gold[measured])
    # Sorting small integers takes a single pass.
    ordered = characters[np.argsort(kind.astype(np.int16), kind="stable")]
    ends = np.cumsum(np.bincount(kind, minlength=len(known)))[:-1]
    middle = np.array([np.median(of_kind) for of_kind in np.split(ordered, ends) if len(of_kind)])
    return np.asarray(characters > middle[kind] if len(middle) else np.zeros(0, dtype=bool))


def _is_by_own_model(project: Project, rows: _ChosenItems, judge: VerifierRun) -> BoolArray | None:
    import numpy as np

    verifier = runs.verifier_named(project.database.reader(), judge.name)
    model = None if verifier is None else model_of(verifier)
    if model is None or _has_no_known_model(project, rows, judge):
        return None
    same = [place for place, name in enumerate(rows.models) if plain_name(name) == plain_name(model)]
    return np.isin(rows.model, same)


def _has_no_known_model(project: Project, rows: _ChosenItems, judge: VerifierRun) -> bool:
    verifier = runs.verifier_named(project.database.reader(), judge.name)
    if verifier is None or verifier.kind != IMPORTED or verifier.config.get("model"):
        return False
    return plain_name(judge.name) not in map(plain_name, rows.models)


def _unknown_model(project: Project, rows: _ChosenItems, judge: VerifierRun) -> ValidityFinding | None:
    if not _has_no_known_model(project, rows, judge):
        return None
    sentence = (
        f"Its verdicts were imported, and no model that wrote completions is called {judge.name}: whether it judged "
        "completions of its own can't be known."
    )
    return ValidityFinding(check="own-model", verifier=judge.name, n=0, sentence=sentence, stands_out=False)


def _counted_decisions(check: Check, outcome: IntArray) -> BoolArray:
    return outcome >= OutcomeCode.ABSTAIN if check == "undecided-by-gold" else outcome == OutcomeCode.CORRECT


def _compare_kinds(
    check: Check, verifier: str, said: BoolArray, rows: _ChosenItems, chosen: IntArray, exposed: BoolArray
) -> ValidityFinding:
    import numpy as np

    from workbench.statistics.subgroups import stratified_difference

    held = {"undecided-by-gold": rows.type, "first-option": rows.gold}.get(check, rows.type_and_gold)
    stratum = held[chosen].astype(np.int64)
    effect = stratified_difference(said, exposed, stratum, rows.question[chosen])
    of_kind = int(exposed.sum())
    others = len(exposed) - of_kind
    return ValidityFinding(
        check=check,
        verifier=verifier,
        n=effect.exposed + effect.others,
        estimate=effect.difference,
        ci=effect.ci,
        counts={"of_the_kind": of_kind, "others": others, "strata": effect.strata},
        sentence=compared(check, effect, of_kind, others),
        stands_out=effect.ci is not None and not effect.ci[0] <= 0 <= effect.ci[1],
    )


def _undecided_finding(
    everything: Columns, rows: _ChosenItems, judge: VerifierRun, outcome: IntArray
) -> ValidityFinding | None:
    from collections import Counter

    from workbench.statistics.intervals import share_interval

    judged = outcome >= 0
    n = int(judged.sum())
    if not n:
        return None
    open_ = outcome >= OutcomeCode.ABSTAIN
    abstain, error = int((outcome == OutcomeCode.ABSTAIN).sum()), int((outcome == OutcomeCode.ERROR).sum())
    reasons = everything.reasons(judge.run)
    codes = reasons.code if rows.kept is None else reasons.code[rows.kept]
    often = Counter(codes[open_].tolist()).most_common(_MAX_REASONS)
    share, ci = (abstain + error) / n, share_interval(open_[judged], rows.question[judged])
    named = [f"{title(reasons.names[code]) or reasons.names[code]} ({count:,})" for code, count in often]
    why = f" Most often: {', '.join(named)}." if named else ""
    return ValidityFinding(
        check="undecided",
        verifier=judge.name,
        n=n,
        estimate=share,
        ci=ci,
        counts={"abstain": abstain, "error": error},
        sentence=f"{_share_text(share, ci)} of items are left undecided: {counted(abstain, 'abstention')} and "
        f"{counted(error, 'error')} of {n:,}.{why}",
        stands_out=bool(abstain + error),
    )


def _flip_findings(
    project: Project, everything: Columns, rows: _ChosenItems, judge: VerifierRun, outcome: IntArray
) -> list[ValidityFinding | None]:
    import numpy as np

    from workbench.statistics.confusion import align

    if judge.run is None:
        return []
    reader = project.database.reader()
    found = reviews.samples(reader, judge.run)
    flips: list[ValidityFinding | None] = []
    if len(found.item):
        yes, no = (align(rows.item, found.item, said, np.int64(0)) for said in (found.yes, found.no))
        between = "from sample to sample of one run"
        flips.append(_flip_finding("flips-samples", rows, judge.name, yes + no > 1, np.minimum(yes, no) > 0, between))
    before = reviews.run_before(reader, judge.run)
    if before is not None:
        older = everything.outcome(before)
        older = older if rows.kept is None else older[rows.kept]
        decided = (older >= 0) & (older < OutcomeCode.ABSTAIN) & (outcome >= 0) & (outcome < OutcomeCode.ABSTAIN)
        flips.append(_flip_finding("flips-runs", rows, judge.name, decided, older != outcome, f"than in run {before}"))
    return flips


def _flip_finding(
    check: Check, rows: _ChosenItems, verifier: str, twice: BoolArray, differ: BoolArray, between: str
) -> ValidityFinding | None:
    from workbench.statistics.intervals import share_interval

    if not twice.any():
        return None
    flags = differ[twice]
    share, ci = float(flags.mean()), share_interval(flags, rows.question[twice])
    return ValidityFinding(
        check=check,
        verifier=verifier,
        n=len(flags),
        estimate=share,
        ci=ci,
        counts={"differ": int(flags.sum())},
        sentence=f"{_share_text(share, ci)} of items get a different verdict {between}: {int(flags.sum()):,} of "
        f"{len(flags):,}.",
        stands_out=bool(flags.any()),
    )


def _selection_findings(judge: VerifierRun, chosen: Mapping[str, list[str]]) -> list[ValidityFinding]:
    datasets = chosen.get(judge.name)
    if not datasets:
        return []
    sentence = (
        f"Its verdicts helped to select the items of {' and '.join(datasets)}: items were kept where such judges "
        "differed, so its accuracy there says little about other data."
    )
    return [ValidityFinding(check="selection", verifier=judge.name, n=0, sentence=sentence, stands_out=True)]


def _ceiling_finding(found: Ceiling) -> ValidityFinding:
    return ValidityFinding(
        check="ceiling",
        verifier=None,
        n=0,
        estimate=found.highest_accuracy,
        ci=found.highest_ci,
        sentence=ceiling_in_words(found),
        stands_out=True,
    )


def _report_notes(compared: int, findings: list[ValidityFinding], items: int, texts: int) -> tuple[str, ...]:
    out = sum(finding.stands_out for finding in findings if finding.check in COMPARING)
    notes = []
    if compared:
        notes.append(
            f"{out} of {compared} differences are significant; about {0.05 * compared:.1f} would by chance alone. A "
            "correlated factor may explain a significant difference: these are not experiments."
        )
    if texts < items:
        notes.append(f"Form is read from an evenly spaced sample of {texts:,} of {items:,} completions.")
    return tuple(notes)
