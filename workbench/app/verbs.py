"""The verbs of the command line: the CLI makes commands of them, and the app makes forms.

A verb's module is imported only when it is used, so that ``workbench --help`` stays fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from workbench.core.options import Options

GROUPS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "data": {
        "demo": ("opening", "Load the sample data, run the rule verifiers, show the result."),
        "open": ("opening", "Open the app on a database."),
        "import": ("data", "Read questions, references and completions from files."),
        "export": ("data", "Write items, labels or verdicts to a file."),
        "status": ("data", "Count items, questions, states and runs."),
        "datasets": ("datasets", "List data sets; rename, remove or bring one back."),
        "exclude": ("data", "Take items out of every table, list them, find candidates."),
        "curate": ("curate", "Curate a pool of questions: duplicates, types, a draw."),
        "complete": ("completions", "Have models write completions of a set's questions."),
        "selected-by": ("data", "Name the judges whose verdicts chose a data set's items."),
        "types": ("data", "Answer types that a model suggests, beside those in force."),
    },
    "people": {
        "annotators": ("people", "Add, list, pause, resume and remove the people who label."),
        "assign": ("people", "Open label slots for annotators."),
        "checks": ("people", "Mix in items whose answer is known, and what came of them."),
        "plan": ("people", "Show how many more labels give ± x points of accuracy."),
        "serve": ("servers", "Serve the app to annotators in a browser."),
        "reopen": ("people", "Have items labelled anew, with a reason."),
        "guidelines": ("people", "Show what annotators are asked to do, or change it."),
        "flags": ("people", "Show what annotators have flagged, and answer them."),
        "history": ("people", "Show who did what when, by item or by person."),
        "labels": ("labels", "Read and write labels as JSON lines."),
        "conflicts": ("labels", "List conflicts by kind, and settle many alike."),
        "agreement": ("labels", "Show how far the people who label agree."),
        "bundle": ("labels", "Write a person's items into a database, to label offline."),
        "merge": ("labels", "Take labels of other databases, such as bundles; or runs."),
    },
    "verifiers": {
        "verifiers": ("verifiers", "List the verifiers that can be run."),
        "verify": ("verifiers", "Run a verifier over the items, in the background or in front."),
        "judge-file": ("files", "Judge the rows of files, without a database."),
        "runs": ("verifiers", "List, show, pause, cancel and resume runs."),
        "verdicts": ("verdicts", "Print a verifier's verdicts, one JSON line an item."),
        "models": ("judges", "Check the model servers of a verifier."),
        "transcripts": ("verdicts", "Print the requests and responses that verdicts rest on."),
        "template": ("templates", "Show and check what judges are told."),
        "preview": ("judges", "Show the exact requests a judge would send about an item."),
        "replay": ("servers", "Serve recorded replies, like the sample's, as a model server."),
        "parse": ("judges", "Read recorded judge outputs again, under any parser."),
        "threshold": ("judges", "Fit the threshold that makes verdicts of a verifier's scores."),
        "sweep": ("judges", "Run a judge under many settings: accuracy and tokens."),
        "pairwise": ("judges", "Ask which of two completions is better, in both orders."),
        "duel": ("judges", "Compare the reasoning of two judges, blind and in both orders."),
        "probe": ("judges", "Try to hack a verifier: what does it accept wrongly?"),
    },
    "figures": {
        "accuracy": ("figures", "Show how accurate verifiers are, by answer type and more."),
        "tables": ("figures", "Show the tables of the VerifyBench paper."),
        "report": ("figures", "Write a page with tables, plots and examples; figures, too."),
        "compare": ("figures", "Compare two verifiers on the items both have judged."),
        "what-if": ("what_if", "Show which verdicts other options of a verifier would change."),
        "cost": ("combined", "Show accuracy beside tokens, seconds and dollars: who leads?"),
        "stack": ("stacks", "Find the best stack of verifiers; what one is worth and takes."),
        "best-of": ("combined", "Let verifiers pick one of n completions."),
        "validity": ("combined", "Check what verdicts follow besides correctness."),
        "estimate": ("combined", "Estimate accuracy from few labels and other verdicts."),
        "disagreements": ("disagreements", "List items on which verifiers, gold or people disagree."),
        "review": ("disagreements", "Decide who was wrong: gold, or the verifier, and why."),
        "correlate": ("combined", "Show how far a verifier's scores follow the gold labels."),
        "pairs": ("combined", "Show how often the correct of two completions scores higher."),
        "calibrate": ("combined", "Show how far scores are chances of being correct; calibrate."),
    },
    "benchmarks": {
        "build": ("sets", "Build sets: picks, balanced, hard as in VerifyBench; random."),
        "sets": ("sets", "List, show and compare frozen sets."),
        "preset": ("sets", "Print the sources, models or judges of a paper, to begin with."),
        "publish": ("sets", "Write frozen sets for others to load, with a data card."),
    },
    "code": {
        "code": ("code", "Outcomes of tests, rankings, and tests that evolve."),
    },
    "training": {
        "training": ("trainings", "Watch trainings: accepted, right, what rises, by step."),
        "reward-server": ("servers", "Serve verdicts as rewards over HTTP, for training."),
        "downstream": ("combined", "Set accuracy against scores of models trained with it."),
    },
    "care": {
        "backup": ("care", "Write a checked copy of the database."),
        "restore": ("care", "Go back to a backup, or make a database of an archive."),
        "doctor": ("care", "Check a database and this machine."),
        "rescue": ("care", "Write what can be read of a hurt database into a new one."),
        "help": ("helping", "Show every command in a line, or one group's, or its own."),
    },
}
"""What commands are about -> command name -> (module in ``app/cli``, one line of help)."""

COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.items()}

FIRST: Final = ("demo", "import", "verify", "accuracy", "open")
"""What a person does first, in this order."""

WITHIN: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "build": {
        "random": ("sets", "So many questions that chance draws, each with all its completions."),
        "picks": ("sets", "Of each question 2 + 2 completions by a judge's verdicts, for people to label."),
        "balanced": ("sets", "So many questions of each type, each with one correct and one incorrect completion."),
        "hard": ("sets", "What judges are split on, labelled by people."),
    },
    "curate": {
        "status": ("curate", "Count the pool by source: licences, what is out, types, what was drawn."),
        "licence": ("curate", "Give a source a licence, where its files don't know it or are wrong."),
        "exclude": ("curate", "Take questions out, each for a reason; list them, find candidates."),
        "duplicates": ("curate", "Find questions that say what another one says, and take them out."),
        "types": ("curate", "Have a model propose answer types, compare them, say types yourself."),
        "draw": ("curate", "Draw so many questions of each type, and freeze them as a set."),
    },
    "template": {
        "check": ("templates", "Check a prompt: placeholders, what is sent, which parser reads the reply."),
        "show": ("templates", "Print the template that a judge asks by."),
    },
    "code": {
        "write-tests": ("writing", "Have a model write a suite of tests, of problems or of single solutions."),
        "scale": ("scaling", "Have models write 5, 10, … 25 tests, run them all: how well does each suite rank?"),
        "write-solutions": ("writing", "Have models write solutions, until each problem has k different scores."),
        "results": ("results", "Print what came of every solution, one JSON line a solution and suite."),
        "exclude": ("results", "Set a suspect test apart: it counts for nobody; list those that are, or undo it."),
        "select": ("ranking", "Select solutions spread from best to worst: a set for scoring and ranking."),
        "metrics": ("ranking", "Show how well verifiers rank and score solutions: Top-1, Spearman, MAE and more."),
        "saturation": ("ranking", "Show how many tests are enough to rank solutions."),
        "passk": ("ranking", "Show pass@k: how often at least one of k solutions passes."),
        "histograms": ("ranking", "Show scores, score gaps and sizes of a selection, and what came of tests."),
        "duplicates": ("evolution", "Find problems that say the same, by embeddings, and keep one of each."),
        "refine": ("evolution", "Have a model write problems of standard input anew, as functions with tests."),
        "pool": ("writing", "Have every model write so many solutions of each problem."),
        "evolve": ("evolution", "Grow suites of tests harder by rounds against the solutions they let through."),
        "representatives": ("evolution", "Choose the solutions that a model is shown when tests evolve."),
    },
}
"""A command that has commands of its own -> those, likewise."""

REMOVED: Final[dict[str, str]] = {
    "ensemble": "verify DB judge-panel -o members=A,B,C -o reducer=majority (a vote), or workbench stack DB",
}
"""A command that is no more -> what to use instead, behind ``workbench``."""

NOT_IN_APP: Final[dict[str, str]] = {
    "open": "the app is open; lists lead to their items",
    "demo": "it makes a database of its own; it is offered where none is open",
    "help": "? shows the keys, and the palette finds every verb",
    "serve": "it serves until it is stopped, in a terminal of its own",
    "reward-server": "it serves until it is stopped, in a terminal of its own",
    "judge-file": "it is for files, and needs no database",
    "restore": "it puts another database in the place of the one that is open",
    "rescue": "it is for a database that can't be opened",
}
"""Verbs that are the command line's alone -> why."""

_PACKAGES: Final = {"code": "workbench.app.cli.code"}


class Declared(NamedTuple):
    """A verb as its module declares it.

    Attributes:
        record: Its options.
        takes_database: Whether the database is named before everything else.
    """

    record: type[Options]
    takes_database: bool


class Verb(NamedTuple):
    """One verb.

    Attributes:
        words: What it is called on the command line, such as ``("build", "balanced")``.
        about: One line of help.
    """

    words: tuple[str, ...]
    about: str

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def title(self) -> str:
        return self.name.replace("-", " ").capitalize()

    @property
    def why_not_in_app(self) -> str | None:
        """Return why the verb exists on the command line only; None if the app has it too."""
        return NOT_IN_APP.get(self.name)

    def declared(self) -> Declared:
        module = COMMANDS[self.words[0]][0] if len(self.words) == 1 else WITHIN[self.words[0]][self.words[1]][0]
        package = _PACKAGES.get(self.words[0], "workbench.app.cli") if len(self.words) > 1 else "workbench.app.cli"
        command: Any = getattr(import_module(f"{package}.{module}"), f"{self.words[-1].replace('-', '_')}_command")
        return Declared(command.record, command.takes_database)

    def line(self, database: str, declared: Declared, words: list[str]) -> list[str]:
        """Return the words of a command line that begins with ``workbench``.

        Args:
            words: What is said after the database.
        """
        first = [database] if declared.takes_database else []
        if self.words[0] == "code":
            return [*self.words, *first, *words]
        return [self.words[0], *first, *self.words[1:], *words]


def every_verb() -> Iterator[Verb]:
    """Yield all verbs in the order of a day's work."""
    for name, (_, about) in COMMANDS.items():
        if name in WITHIN:
            yield from (Verb((name, inner), text) for inner, (_, text) in WITHIN[name].items())
        else:
            yield Verb((name,), about)


def verb_named(name: str) -> Verb:
    return next(verb for verb in every_verb() if verb.name == name)


def verb_of(command: str) -> str:
    """Return the name of the verb that a command line runs, such as ``workbench curate DB status``."""
    words = [word for word in command.split()[1:] if word != "DB"]
    return " ".join(words[: 2 if words[0] in WITHIN else 1])
