"""``workbench validity DB``."""

from __future__ import annotations

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Verifiers, Where
from workbench.core.project import Project


class ValidityOptions(Options, frozen=True, kw_only=True):
    verifiers: Verifiers = ()
    gold: Gold = "final"
    where: Where = ()


@verb
def command(project: Project, options: ValidityOptions) -> Output:
    """Check what verdicts follow besides correctness: length, authorship, form, chance.

    Differences are taken between completions of equal gold and answer type, with intervals clustered by question: gold
    itself goes with length and form, so that without this one would measure the data. Flip rates need several samples
    or runs; judges that chose the data are named (workbench selected-by).
    """
    from workbench.measuring.validity import validity
    from workbench.measuring.validity_words import validity_text

    report = validity(project, options.verifiers, gold=options.gold, selection=selection_of(options.where))
    return Output(report, validity_text)
