"""The verbs (commands) that the front ends share: the CLI makes a command of each, and the app a form.

A verb's module is imported only when it is used, so that ``workbench --help`` stays fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workbench.core.errors import Command, FrontEnd

if TYPE_CHECKING:
    from workbench.core.options import Options

GROUPS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "data": {
        "demo": ("opening", "Load the sample data, run the rule verifiers, show the result."),
        "open": ("opening", "Open the app on a database."),
        "import": ("data", "Read questions, references and completions from files."),
        "export": ("data", "Write items, labels or verdicts to a file."),
        "status": ("opening", "Count items, questions, states and runs."),
        "datasets": ("data", "List data sets; rename, remove or restore one."),
        "exclude": ("data", "Exclude items from every table, list them, find candidates."),
        "curate": ("curate", "Curate a pool of questions: duplicates, types, a draw."),
        "complete": ("completions", "Have models write completions of a set's questions."),
        "selected-by": ("data", "Name the judges whose verdicts selected a data set's items."),
    },
    "people": {
        "annotators": ("people", "Add, list, pause, resume and remove the people who label."),
        "assign": ("people", "Open label slots for annotators."),
        "checks": ("people", "Add items with a known answer, and report the results."),
        "plan": ("people", "Show how many more labels an accuracy of ± x points needs."),
        "serve": ("servers", "Serve the app to annotators in a browser."),
        "reopen": ("people", "Have items labelled again, with a reason."),
        "guidelines": ("people", "Show or change the annotation guidelines."),
        "flags": ("people", "Show what annotators have flagged, and answer the flags."),
        "history": ("people", "Show who did what when, by item or by person."),
        "labels": ("labels", "Read and write labels as JSON lines."),
        "conflicts": ("labels", "List conflicts by kind, and resolve many similar ones."),
        "agreement": ("labels", "Show how well annotators agree (kappa, alpha …)."),
        "bundle": ("labels", "Write an annotator's items to a file, to label offline."),
        "merge": ("labels", "Merge labels, or runs, of other databases, such as bundles."),
    },
    "verifiers": {
        "verifiers": ("verifiers", "List the verifiers that can be run."),
        "verify": ("verifiers", "Run a verifier over the items, in the background or in front."),
        "judge-file": ("verifiers", "Judge the rows of files, without a database."),
        "runs": ("verifiers", "List, show, pause, cancel and resume runs."),
        "verdicts": ("verdicts", "Print a verifier's verdicts, one JSON line per item."),
        "models": ("judges", "Check the model servers of a verifier."),
        "transcripts": ("verdicts", "Print the requests and responses behind verdicts."),
        "template": ("judges", "Show and check judges' prompts."),
        "preview": ("judges", "Show the exact requests a judge would send about an item."),
        "replay": ("servers", "Serve recorded replies, like the sample's, as a model server."),
        "parse": ("judges", "Parse recorded judge outputs again, with any parser."),
        "threshold": ("judges", "Fit the threshold that turns scores into verdicts."),
        "sweep": ("judges", "Run a judge with many settings; show accuracy and tokens."),
        "pairwise": ("judges", "Have a model compare pairs of completions, in both orders."),
        "probe": ("judges", "Attack a verifier: which bad completions does it accept?"),
    },
    "figures": {
        "accuracy": ("figures", "Show how accurate verifiers are, by answer type and more."),
        "tables": ("figures", "Show the tables of the VerifyBench paper."),
        "report": ("figures", "Write a page with tables, plots and examples; or the plots."),
        "compare": ("figures", "Compare two verifiers on the items both have judged."),
        "what-if": ("judges", "Show which verdicts other options of a verifier would change."),
        "cost": ("combined", "Compare accuracy with tokens, seconds and dollars."),
        "stack": ("combined", "Show accuracy and cost of a stack of verifiers."),
        "best-of": ("combined", "Show how often a verifier's pick from n is correct."),
        "validity": ("combined", "Check what verdicts depend on besides correctness."),
        "estimate": ("combined", "Estimate accuracy from few labels and other verdicts."),
        "disagreements": ("disagreements", "List items on which verifiers, gold or annotators disagree."),
        "review": ("disagreements", "Decide who was wrong: gold, or the verifier, and why."),
        "correlate": ("combined", "Show how well a verifier's scores correlate with gold."),
        "pairs": ("combined", "Show how often the correct completion of a pair scores higher."),
        "calibrate": ("combined", "Show how well scores predict correctness; calibrate them."),
    },
    "benchmarks": {
        "build": ("sets", "Build sets as in VerifyBench: random, picks, balanced, hard."),
        "sets": ("sets", "List, show and compare frozen sets."),
        "preset": ("sets", "Print the sources, models or judges of a paper to start from."),
        "publish": ("sets", "Write frozen sets for others to load, with a data card."),
    },
    "code": {"code": ("code", "Code problems: test outcomes, rankings, evolving tests.")},
    "training": {
        "reward-server": ("servers", "Serve verdicts as rewards over HTTP, for training."),
        "downstream": ("combined", "Relate accuracy to scores of models trained with the verifier."),
    },
    "care": {
        "backup": ("care", "Write a checked copy of the database."),
        "restore": ("care", "Restore a backup or an archive."),
        "doctor": ("care", "Check a database and this machine."),
        "rescue": ("care", "Recover what can be read of a damaged database."),
        "help": ("opening", "List every command, one group, or show one command's help."),
    },
}
"""Topic -> command name -> (module in ``app/cli``, one line of help)."""

COMMANDS: Final = {name: command for group in GROUPS.values() for name, command in group.items()}

REMOVED: Final = {
    "duel": "Use: pairwise, or compare",
    "ensemble": "Use: stack, or verify DB judge-panel -o reducer=majority",
    "training": "Import the log of completions that the trainer writes, then use: disagreements, review",
    "types": "Use: curate DB types",
}
"""Former commands -> what to use instead."""

FIRST: Final = ("demo", "import", "verify", "accuracy", "open")
"""The first commands of a new user, in order."""

WITHIN: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "build": {
        "random": ("sets", "Draw questions at random, each with all its completions."),
        "picks": ("sets", "Pick 2 + 2 completions per question by a judge's verdicts, to be labelled."),
        "balanced": (
            "sets",
            "Build a set with equal questions per type, each with 1 correct and 1 incorrect completion.",
        ),
        "hard": ("sets", "Build a set of items on which judges are split, labelled by annotators."),
    },
    "curate": {
        "status": ("curate", "Count the pool by source: licences, exclusions, types, draws."),
        "licence": ("curate", "Set a source's licence if its files name none, or a wrong one."),
        "exclude": ("curate", "Exclude questions, each for a reason; list them, find candidates."),
        "duplicates": ("curate", "Find duplicate questions, and exclude them."),
        "types": ("curate", "Have a model propose answer types, compare them, set types yourself."),
        "draw": ("curate", "Draw a number of questions per type, and freeze them as a set."),
    },
    "template": {
        "check": ("judges", "Check a prompt: placeholders, the request, and the parser of the reply."),
        "show": ("judges", "Print a judge's template."),
    },
    "code": {
        "write-tests": ("writing", "Have a model write a test suite, for problems or for single solutions."),
        "scale": ("writing", "Have models write 5, 10, … 25 tests, and show how well each suite ranks."),
        "write-solutions": ("writing", "Have models write solutions until each problem has k different scores."),
        "results": ("results", "Print every solution's outcomes, one JSON line per solution and suite."),
        "exclude": ("results", "Exclude a suspect test so that it never counts; list such tests, or undo it."),
        "select": ("ranking", "Select solutions spread from best to worst: a set for scoring and ranking."),
        "metrics": ("ranking", "Show how well verifiers rank and score solutions: Top-1, Spearman, MAE and more."),
        "saturation": ("ranking", "Show how many tests are enough to rank solutions."),
        "passk": ("ranking", "Show pass@k: how often at least one of k solutions passes."),
        "histograms": ("ranking", "Show scores, score gaps and sizes of a selection, and test results."),
        "duplicates": ("evolution", "Find duplicate problems by embeddings, and keep one of each."),
        "refine": ("evolution", "Have a model rewrite problems that read standard input as functions with tests."),
        "pool": ("writing", "Have each model write the same number of solutions per problem."),
        "evolve": ("evolution", "Make test suites harder, round by round, against solutions that pass them."),
        "representatives": ("evolution", "Choose the solutions that the model sees in code evolve."),
    },
}
"""Command with subcommands -> its subcommands, in the same form."""

NOT_IN_APP: Final[dict[str, str]] = {
    "open": "the app is open; lists lead to their items",
    "demo": "it creates its own database; the start screen offers it",
    "help": "? shows the keys, and the palette finds every command",
    "serve": "it runs until it is stopped, in a separate terminal",
    "reward-server": "it runs until it is stopped, in a separate terminal",
    "judge-file": "it is for files, and needs no database",
    "restore": "it replaces the open database",
    "rescue": "it is for a database that can't be opened",
}
"""Verbs available on the command line only -> the reason."""

_PACKAGES: Final = {"code": "workbench.app.cli.code"}


FORM_VARIABLE: Final = "WORKBENCH_FORM"
"""Environment variable for commands run by a form of the app; its value is the key that opens the palette."""


class Refused(NamedTuple):
    """The error of a command that was run by a form.

    Attributes:
        text: The message.
        option: The option whose field has the error; None if unknown.
    """

    text: str
    option: str | None


class Declared(NamedTuple):
    """The declaration of a verb in its module.

    Attributes:
        record: The record of the verb's options.
        takes_database: Whether the database is the verb's first argument.
        command: The command of the command line.
    """

    record: type[Options]
    takes_database: bool
    command: Any


class Verb(NamedTuple):
    """One verb.

    Attributes:
        words: The verb's name on the command line, such as ``("build", "balanced")``.
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
        return NOT_IN_APP.get(self.name)

    def declared(self) -> Declared:
        module = COMMANDS[self.words[0]][0] if len(self.words) == 1 else WITHIN[self.words[0]][self.words[1]][0]
        package = _PACKAGES.get(self.words[0], "workbench.app.cli") if len(self.words) > 1 else "workbench.app.cli"
        command: Any = getattr(import_module(f"{package}.{module}"), f"{self.words[-1].replace('-', '_')}_command")
        return Declared(command.record, command.takes_database, command)

    def line(self, database: str, declared: Declared, words: list[str]) -> list[str]:
        """Return the words of a command line that begins with ``workbench``.

        Args:
            words: The words after the database.
        """
        first = [database] if declared.takes_database else []
        if self.words[0] == "code":
            return [*self.words, *first, *words]
        return [self.words[0], *first, *self.words[1:], *words]


def every_verb() -> Iterator[Verb]:
    for name, (_, about) in COMMANDS.items():
        if name in WITHIN:
            yield from (Verb((name, inner), text) for inner, (_, text) in WITHIN[name].items())
        else:
            yield Verb((name,), about)


def verb_named(name: str) -> Verb:
    return next(verb for verb in every_verb() if verb.name == name)


def in_app(palette: str) -> FrontEnd:
    """Return the app's way to name things in messages: options by the labels of its forms, commands by their entries
    in the command palette.

    Args:
        palette: The key that opens the command palette.
    """

    def command(one: Command) -> str:
        verb = verb_named(verb_of(one.shell()))
        return one.shell() if verb.why_not_in_app else f"{verb.title} ({palette})"

    return FrontEnd(lambda one: f"“{one.name}” {'' if one.value.isupper() else one.value}".rstrip(), command)


def verb_of(command: str) -> str:
    """Return the name of the verb that a command line runs, such as ``workbench curate DB status``."""
    words = [word for word in command.split()[1:] if word != "DB"]
    return " ".join(words[: 2 if words[0] in WITHIN else 1])
