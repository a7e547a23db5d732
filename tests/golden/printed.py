"""The output of commands, and the files they write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import click

from schemas import documents as schemas
from tests.commands import run
from tests.conftest import SHARED
from tests.documents import ROOT
from tests.golden.projections import Data, Help
from tests.golden.scenes import JUDGE, RULES, SAMPLE, Scenes
from tests.golden.settling import normalized, output_of
from workbench.app.cli import root
from workbench.core.project import open_project
from workbench.runs import configuring
from workbench.runs.previewing import parser_names

Pieces = Iterator[tuple[str, str]]

REAL = SHARED / "verifybench_hard_dev.jsonl"
REPLIES = SHARED / "judges"

_ITEM = "2d1d942636a3fb7d8e23997538e7cbef"
_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")

FIGURES = (
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
)
"""Commands on the sample's tuples, labels and four verifiers; the database follows the first word."""

_CODE_FIGURES = (
    "status",
    "accuracy",
    "verdicts print --verifier execution",
    "verdicts print --verifier base",
    "code results",
    "code metrics",
    "code passk",
    "code saturation",
    "code histograms",
)

_JUDGED_FIGURES = (f"verdicts print --verifier {JUDGE}", f"accuracy --verifier {JUDGE}")
_FROZEN_FIGURES = ("sets list", "sets show small")

_MISTAKES = (
    "",
    "statu DB",
    "nothing.db",
    "accuracy",
    "status nothing.db --json",
    "accuracy DB --by nothing --json",
    "accuracy DB --where type=Z --json",
    "accuracy DB --where",
    "accuracy DB --verifier nobody",
    "accuracy DB --format nothing",
    "verify DB nobody",
    "verify DB rules -o nothing=1",
    "verify DB llm-judge",
    "compare DB rules nobody --json",
    "runs DB show 77 --json",
    "import DB SAMPLE/README.md --json",
    "import DB SAMPLE/tuples.jsonl --map nothing=question",
    "labels DB import SAMPLE/questions.jsonl --json",
    "verdicts DB import SAMPLE/labels.jsonl --verifier mine --json",
    "export DB nowhere/out.csv",
    "export DB sample.db",
    "assign DB --annotators zoe --per-item 0",
    "publish DB nothing folder --json",
    "sets DB show nothing --json",
    "restore DB nothing.db",
    "parse nothing SAMPLE/labels.jsonl",
    "reopen DB",
    "curate DB draw --per-type 0",
)
"""Commands that are rejected: DB is the sample's database, SAMPLE its folder."""


def helps() -> Pieces:
    """Yield the ``--help`` of every command, by its words."""
    for words in [(), *_commands(root, ())]:
        text = run(*_placed(words), "--help").stdout
        yield " ".join(["help", *words]), Help(text.replace(str(ROOT), "<checkout>"))


def _placed(words: Iterable[str]) -> Iterator[str]:
    """Return a command's words with a value for each argument that its group takes first."""
    found: click.Command = root
    for word in words:
        if isinstance(found, click.Group):
            yield from ("p.db" for param in found.params if isinstance(param, click.Argument))
            found = found.get_command(click.Context(found), word) or found
        yield word


def tuples(scenes: Scenes) -> Pieces:
    """Yield metrics of the sample's tuples."""
    yield from _figures("sample", scenes.tuples, FIGURES)


def code(scenes: Scenes) -> Pieces:
    """Yield metrics of the sample's problems and solutions."""
    yield from _figures("code", scenes.code, _CODE_FIGURES)


def judged(scenes: Scenes) -> Pieces:
    """Yield the parsed replies of a judge."""
    yield from _figures("judged", scenes.judged, _JUDGED_FIGURES)


def _figures(name: str, database: Path, lines: Iterable[str]) -> Pieces:
    """Yield the output of commands in each of their forms."""
    for line in lines:
        words = line.split()
        at = 2 if words[0] == "code" else 1
        plain = ""
        for form in _forms(_command(words[:at])):
            ended = run(*words[:at], database, *words[at:], *form, cwd=database.parent)
            text = output_of(ended, database.parent)
            if form and text == plain:
                text = "the same without this option\n"
            plain = plain or text
            yield " ".join([name, line, *form]), Data(text) if "csv" in form else text


def files(scenes: Scenes) -> Pieces:
    """Yield every file that ``export`` and ``report`` write, as text, or as a digest if it is binary."""
    database, folder = scenes.tuples, scenes.folder
    # An archive contains random names: other tests restore it and compare.
    forms = [form for form in _choices(_command(["export"]), "format") if form != "workbench"]
    written = [("export", form, ["--format", form]) for form in forms]
    for name, form, options in [*written, ("report", "html", []), ("report", "md", [])]:
        out = folder / f"{name}.{form}"
        output = [out] if name == "export" else ["-o", out]
        yield f"{name} {form}", output_of(run(name, database, *output, *options, cwd=folder), folder)
        for file in _files(out):
            content = _content(file, folder)
            yield f"{name} {form} {file.relative_to(folder)}", Data(content) if name == "export" else content


def published(scenes: Scenes) -> Pieces:
    """Yield a frozen set and its published folder: data card, leaderboard, items, labels."""
    yield from _figures("frozen", scenes.frozen, _FROZEN_FIGURES)
    folder, out = scenes.folder, scenes.folder / "published"
    options = ("--title", "The sample", "--licence", "cc-by-4.0", "--language", "en")
    yield "publish", output_of(run("publish", scenes.frozen, "small", out, *options, cwd=folder), folder)
    for file in _files(out):
        # The card contains the time of freezing.
        content = _SHA256.sub("<digest>", _content(file, folder))
        yield f"published {file.relative_to(out)}", content if file.suffix == ".md" else Data(content)


def documents() -> Pieces:
    """Yield the schema of every JSON document."""
    shared: dict[str, set[str]] = {}
    for name in schemas.DOCUMENTS:
        schema = _undescribed(schemas.schema(name))
        for record, definition in schema.pop("$defs", {}).items():
            shared.setdefault(record, set()).add(json.dumps(definition))
        yield f"schema {name}", Data(json.dumps(schema))
    for record, definitions in sorted(shared.items()):
        yield f"record {record}", Data("\n".join(sorted(definitions)))


def settings(scenes: Scenes) -> Pieces:
    """Yield ``workbench.toml`` as the program writes it: a new one, and one edited by a user."""
    written = "# Mine.\n[verifiers.strict]\nkind = 'exact'  # as it stands\n"
    options = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "temperature": "0.5"}
    for name, before in (("new", None), ("added to", written)):
        place = scenes.folder / f"settings {name}"
        place.mkdir()
        file = place / "workbench.toml"
        if before is not None:
            file.write_text(before, encoding="utf-8")
        project = open_project(scenes.copy(scenes.tuples, f"{place.name}/p.db"))
        configuring.save(project, "my-judge", "llm-judge", options)
        project.close()
        yield f"workbench.toml {name}", Data(file.read_text(encoding="utf-8"))


def requests(scenes: Scenes) -> Pieces:
    """Yield the exact requests to a judge."""
    server = ("-o", "base_url=http://127.0.0.1:9/v1", "-o", "model=m")
    for verifier in ("llm-judge", "answer-type", "reward-model"):
        ended = run("preview", scenes.tuples, verifier, "--item", _ITEM, *server)
        yield f"preview {verifier}", output_of(ended, scenes.folder)


def mistakes(scenes: Scenes) -> Pieces:
    """Yield errors of commands: exit code, message, hint, and their JSON form."""
    database = scenes.copy(scenes.tuples, "mistaken.db")
    for line in _MISTAKES:
        words_of_line = (word.replace("SAMPLE", str(SAMPLE)) for word in line.split())
        words = [str(database) if word == "DB" else word for word in words_of_line]
        text = output_of(run(*words, cwd=scenes.folder), scenes.folder)
        yield f"mistake {line}", text.replace(str(SAMPLE), "SAMPLE")


def real_rows(scenes: Scenes) -> Pieces:
    """Yield the verdicts of every rule verifier on real rows, and the metrics."""
    database = scenes.rows(REAL)
    for verifier in RULES:
        ended = run("verdicts", database, "print", "--verifier", verifier)
        yield f"verdicts {verifier}", output_of(ended, scenes.folder)
    for line in ("accuracy --by subtype", "tables --paper", "validity"):
        name, *options = line.split()
        yield f"rows {line}", output_of(run(name, database, *options, "--json"), scenes.folder)


def real_replies(scenes: Scenes) -> Pieces:
    """Yield what every parser reads in judges' recorded outputs."""
    for parser in parser_names():
        for name in ("parser_cases", "ice_score_java"):
            # Only its own parser reads the thousands of outputs of one judge.
            if name == "parser_cases" or parser.startswith("ice"):
                ended = run("parse", parser, REPLIES / f"{name}.jsonl")
                yield f"parsed {name} {parser}", output_of(ended, REPLIES)


def _undescribed(value: Any) -> Any:
    """Return a schema without its descriptions: the folder ``schemas`` holds them."""
    if isinstance(value, list):
        return [_undescribed(held) for held in value]
    if not isinstance(value, dict):
        return value
    return {name: _undescribed(held) for name, held in value.items() if name != "description" or isinstance(held, dict)}


def _files(place: Path) -> list[Path]:
    return sorted(file for file in [place, *place.rglob("*")] if file.is_file())


def _content(file: Path, folder: Path) -> str:
    content = file.read_bytes()
    try:
        return normalized(content.decode(), folder)
    except UnicodeDecodeError:
        return f"{file.name}: {blake2b(content, digest_size=16).hexdigest()}\n"


def _commands(group: click.Group, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        yield (*above, name)
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from _commands(found, (*above, name))


def _command(words: Iterable[str]) -> click.Command:
    found: click.Command = root
    for word in words:
        if isinstance(found, click.Group):
            found = found.get_command(click.Context(found), word) or found
    return found


def _forms(command: click.Command) -> Iterator[tuple[str, ...]]:
    """Yield no option, then each option that changes the form of the output."""
    yield ()
    names = {option for param in command.params for option in param.opts}
    if "--json" in names:
        yield ("--json",)
    for form in _choices(command, "format"):
        if form != "text":
            yield "--format", form


def _choices(command: click.Command, name: str) -> tuple[str, ...]:
    kinds = [param.type for param in command.params if param.name == name]
    return tuple(map(str, kinds[0].choices)) if kinds and isinstance(kinds[0], click.Choice) else ()
