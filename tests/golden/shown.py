"""Everything that is frozen, made by the program of today."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from subprocess import CompletedProcess

import click

from tests.commands import run
from tests.conftest import SHARED
from tests.documents import ROOT
from tests.tui.stage import SIZES, opened, settle
from workbench.cli import root
from workbench.services.project import open_project
from workbench.tui.app import ANNOTATOR_SCREENS, SCREENS

FROZEN = Path(__file__).with_name("frozen.json")
SAMPLE = ROOT / "sample_data"
REAL = SHARED / "verifybench_hard_dev.jsonl"

_FIGURES = [
    "accuracy",
    "accuracy --by subtype",
    "accuracy --by type,domain --gold imported",
    "accuracy --by model --protocol strict --verifier rules",
    "accuracy --where type=A",
    "tables --paper",
    "compare rules exact",
    "compare rules math-verify --by type",
    "compare --all",
    "compare --errors",
    "ensemble --verifier rules --verifier exact --verifier math-verify",
    "best-of",
    "validity",
    "estimate rules",
    "plan",
    "disagreements",
    "disagreements --queue verifiers",
    "disagreements --queue suspect-gold",
    "agreement",
    "agreement --by type",
    "conflicts list",
    "status",
    "flags",
    "checks report",
    "checks list",
    "exclude --list",
    "guidelines",
    "annotators list",
    "sets list",
    "selected-by list",
    "verdicts print --verifier rules",
    "history",
    "verifiers",
    "runs list",
]
"""On the sample's tuples, their labels and four verifiers; the database follows the first word."""

_CODE_FIGURES = [
    "status",
    "accuracy",
    "code results",
    "code metrics",
    "code passk",
    "code saturation",
    "code histograms",
]

_VOLATILE: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d| UTC)?"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "<date>"),
    (re.compile(r"-?\d+\.\d{9,}(?:e-?\d+)?"), lambda found: format(float(found[0]), ".9g")),
    (re.compile(r'("workers": ?)\d+'), r"\1<measured>"),
    (re.compile(r'("isolation": ?)"L\d"'), r"\1<measured>"),
    (re.compile(r'("(?:ms|seconds|duration_s|elapsed_s|bytes|database_bytes)": ?)[\d.]+'), r"\1<measured>"),
)


def printed(folder: Path) -> dict[str, str]:
    """By name all that is printed or written; what is said of real rows only where they are."""
    sample, code = projects(folder)
    shown = {**dict(helps()), **dict(figures(sample, code)), **dict(files(sample))}
    return shown | (dict(verdicts(folder, REAL)) if REAL.is_file() else {})


async def seen(folder: Path) -> dict[str, str]:
    """By name what every screen shows."""
    sample, _ = projects(folder)
    return {name: text async for name, text in screens(sample)}


def digests(shown: Mapping[str, str]) -> dict[str, str]:
    """A digest of each text."""
    return {name: blake2b(text.encode(), digest_size=16).hexdigest() for name, text in shown.items()}


def projects(folder: Path) -> tuple[Path, Path]:
    """The sample's tuples with their labels and four verifiers, and its code with its solutions run."""
    sample, code = folder / "sample.db", folder / "code.db"
    _done("import", sample, SAMPLE / "tuples.jsonl", "--dataset", "sample")
    _done("labels", sample, "import", SAMPLE / "labels.jsonl")
    with closing(open_project(sample)) as project, project.database.write() as connection:
        # The order in which a conflict's labels stand follows from it.
        connection.execute("UPDATE secrets SET secret = zeroblob(32)")
    for verifier in ("rules", "exact", "normalized-exact", "math-verify"):
        _done("verify", sample, verifier)
    _done("import", code, SAMPLE / "code_problems.jsonl", SAMPLE / "code_solutions.jsonl")
    _done("assign", sample, "--annotators", "dana,eli", "--limit", "3")
    _done("verify", code, "execution")
    _done("verify", code, "execution", "--name", "base", "-o", "suite=base")
    return sample, code


def verdicts(folder: Path, rows: Path) -> Iterator[tuple[str, str]]:
    """What every rule verifier says of all rows of a file."""
    database = folder / "rows.db"
    _done("import", database, rows, "--dataset", "rows")
    for verifier in ("rules", "exact", "normalized-exact", "math-verify"):
        _done("verify", database, verifier)
        yield f"verdicts {verifier}", _told(run("verdicts", database, "print", "--verifier", verifier), folder)
    for line in ("accuracy --by subtype", "tables --paper", "validity"):
        name, *options = line.split()
        yield f"rows {line}", _told(run(name, database, *options, "--json"), folder)


def _done(*words: object) -> None:
    done = run(*words)
    assert done.returncode == 0, done.stderr


def helps() -> Iterator[tuple[str, str]]:
    """The ``--help`` of every command, by its words."""
    for words in [(), *_commands(root, ())]:
        yield " ".join(["help", *words]), run(*words, "--help").stdout


def figures(database: Path, code: Path) -> Iterator[tuple[str, str]]:
    """What every command that shows figures prints, in each of its forms."""
    for name, path, lines in (("sample", database, _FIGURES), ("code", code, _CODE_FIGURES)):
        for line in lines:
            words = line.split()
            at = 2 if words[0] == "code" else 1
            command = _command(words[:at])
            for form in _forms(command):
                done = run(*words[:at], path, *words[at:], *form, cwd=path.parent)
                yield " ".join([name, line, *form]), _told(done, path.parent)


def files(database: Path) -> Iterator[tuple[str, str]]:
    """Every file that ``export`` and ``report`` write, as text; of those that are none, their digest."""
    folder = database.parent
    # An archive has names of its own, drawn by chance: its tests bring it back and compare.
    forms = [form for form in _choices(_command(["export"]), "format_") if form != "workbench"]
    written = [("export", form, ["--format", form]) for form in forms]
    for name, form, options in [*written, ("report", "html", []), ("report", "md", [])]:
        out = folder / f"{name}.{form}"
        output = [out] if name == "export" else ["-o", out]
        told = _told(run(name, database, *output, *options, cwd=folder), folder)
        found = sorted(place for place in [out, *out.rglob("*")] if place.is_file())
        yield f"{name} {form}", told + "".join(_content(place, folder) for place in found)


def _content(file: Path, folder: Path) -> str:
    content = file.read_bytes()
    try:
        return _settled(content.decode(), folder)
    except UnicodeDecodeError:
        return f"{file.name}: {blake2b(content, digest_size=16).hexdigest()}\n"


async def screens(database: Path) -> AsyncIterator[tuple[str, str]]:
    """What every screen shows first, at both sizes, to a coordinator and to somebody who labels."""
    opened_by = [(None, name) for name in SCREENS] + [("dana", name) for name in ANNOTATOR_SCREENS]
    for size in SIZES:
        for person, name in opened_by:
            with closing(open_project(database)) as project:
                async with opened(project, size=size, annotator=person) as (app, pilot):
                    app.open_screen(name)
                    await settle(pilot)
                    lines = app.screen._compositor.render_strips()
                    text = "\n".join("".join(part.text for part in line).rstrip() for line in lines)
                    yield f"screen {name} {size[0]} {person or ''}".rstrip(), _settled(text, database.parent)


def _commands(group: click.Group, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        yield (*above, name)
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from _commands(found, (*above, name))


def _command(words: list[str]) -> click.Command:
    found: click.Command = root
    for word in words:
        if isinstance(found, click.Group):
            found = found.get_command(click.Context(found), word) or found
    return found


def _forms(command: click.Command) -> Iterator[tuple[str, ...]]:
    """No option, then each that changes the form of what is printed."""
    yield ()
    names = {option for param in command.params for option in param.opts}
    if "--json" in names:
        yield ("--json",)
    for form in _choices(command, "format_"):
        yield "--format", form


def _choices(command: click.Command, name: str) -> tuple[str, ...]:
    kinds = [param.type for param in command.params if param.name == name]
    return tuple(map(str, kinds[0].choices)) if kinds and isinstance(kinds[0], click.Choice) else ()


def _told(done: CompletedProcess[str], folder: Path) -> str:
    said = "".join(f"! {line}\n" for line in _settled(done.stderr, folder).splitlines())
    return f"{done.returncode}\n{said}{_settled(done.stdout, folder)}"


def _settled(text: str, folder: Path) -> str:
    """What differs from machine to machine and from day to day, named alike."""
    text = text.replace(str(folder), "<folder>")
    for pattern, settled in _VOLATILE:
        text = pattern.sub(settled, text)
    return text
