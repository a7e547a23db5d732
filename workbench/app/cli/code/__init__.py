"""``workbench code``: what tests and solutions are worth, and tests that grow harder.

results: outcomes, a line each. ranking: sets, metrics, saturation, pass@k. evolution: rounds, duplicates, refined
problems.
writing: tests and solutions that models write. common: what they share.
"""

from __future__ import annotations

import click

from workbench.app.cli import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "write-tests": ("writing", "Have a model write a suite of tests, of problems or of single solutions."),
    "write-solutions": ("writing", "Have models write solutions, until each problem has k different scores."),
    "results": ("results", "Print what came of every solution, one JSON line a solution and suite."),
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
}
"""Command name -> (module in this package, one line of help)."""


@click.group(name="code", cls=LazyGroup, package=__name__, commands=COMMANDS)
def code_command() -> None:
    """Code: outcomes of tests, selections, rankings, and tests that evolve.

    Problems and solutions come in with: workbench import DB problems.jsonl solutions.jsonl; they are run with:
    workbench verify DB execution.
    """
