"""Every command of the command line in every form that may need disk space."""

from __future__ import annotations

from collections.abc import Iterator

import click

from workbench.app.cli import root
from workbench.app.cli.writing import OutputPath

DATABASES = {
    "DB": "p.db",
    "POOL": "pool.db",
    "CODE": "code.db",
    "JUDGED": "judged.db",
    "WORN": "worn.db",
    "HURT": "hurt.db",
    "NEW": "fresh.db",
}
"""Placeholders for databases, and the names of their files."""

COMMANDS: dict[str, str] = {
    "import": "import DB IN/more.jsonl --dataset more",
    "import new": "import NEW IN/more.jsonl --dataset more --keep-equal",
    "export": "export DB FILE.jsonl --format verifybench",
    "export workbench": "export DB FILE.db --format workbench",
    "export parquet": "export DB FILE.parquet --format parquet",
    "export stdout": "export DB - --format verifybench",
    "publish": "publish DB small FOLDER",
    "annotators add": "annotators DB add kim lee",
    "annotators pause": "annotators DB pause amira --why away",
    "annotators remove": "annotators DB add kim ; annotators DB remove kim",
    "annotators resume": "annotators DB pause amira --why away ; annotators DB resume amira",
    "assign": "assign DB --annotators amira,chidi --per-item 2",
    "assign final": "assign DB --annotators amira,chidi --per-item 2 --final-too",
    "checks add": "checks DB add --where dataset=spare --limit 5",
    "checks import": "checks DB import IN/checks.jsonl",
    "checks remove": "checks DB add --where dataset=spare --limit 5 ; checks DB remove --where dataset=spare",
    "serve link": "serve DB --link amira",
    "serve revoke": "serve DB --link amira ; serve DB --revoke amira",
    "reopen": "reopen DB --where subtype=A1 --reason anew",
    "exclude": "exclude DB --where subtype=A1 --reason proof",
    "exclude undo": "exclude DB --where subtype=A1 --reason proof ; exclude DB --where subtype=A1 --undo",
    "datasets rename": "datasets POOL rename pool anew",
    "datasets exclude": "datasets POOL exclude pool --reason wrong",
    "datasets restore": "datasets POOL exclude pool --reason wrong ; datasets POOL restore pool",
    "guidelines set": "guidelines DB set IN/guidelines.md",
    "guidelines note": "guidelines DB note case",
    "flags answer": "flags DB answer FLAGGED two",
    "labels export": "labels DB export FILE.jsonl --history",
    "labels import": "labels DB import IN/labels.jsonl",
    "labels import verdicts": "labels DB import --verdicts often",
    "conflicts settle": "conflicts DB settle --as chidi --class correct/incorrect --verdict correct",
    "conflicts undo": "conflicts DB settle --as chidi --class correct/incorrect --verdict correct ; "
    "conflicts DB undo --as chidi",
    "curate licence": "curate POOL licence math_reasoning/sample-arithmetic MIT",
    "curate licence as published": "import POOL IN/published.jsonl --dataset more ; curate POOL licence --as-published",
    "curate exclude": "curate POOL exclude sq-01 sq-02 --reason proof",
    "curate exclude accept": "curate POOL exclude --candidates --accept",
    "curate exclude undo": "curate POOL exclude sq-01 --reason proof ; curate POOL exclude --undo sq-01",
    "curate duplicates": "curate POOL duplicates",
    "curate duplicates undo": "curate POOL duplicates ; curate POOL duplicates --undo",
    "curate types set": "curate POOL types --set sq-01=A1 --set sq-02=B1 --by amira",
    "curate types accept": "curate POOL types --set sq-01=A1 --by amira ; curate POOL types --accept",
    "curate draw": "curate POOL types --set sq-01=A1 --set sq-02=A1 ; curate POOL draw --per-type 1 --name drawn",
    "runs pause": "runs DB pause 5",
    "runs cancel": "runs DB cancel 5",
    "runs delete": "runs DB delete 2 --yes",
    "verdicts import": "verdicts DB import IN/verdicts.jsonl",
    "report": "report DB --output FILE.html",
    "report figures": "report DB --figures FOLDER",
    "cost figures": "cost JUDGED --figures FOLDER",
    "build random": "build DB random --name new --n 2",
    "downstream figures": "downstream DB IN/steps.jsonl --figures FOLDER",
    "calibrate figures": "calibrate DB often --figures FOLDER",
    "build picks": "build DB picks --name new --judge often --each 1",
    "build balanced": "build DB balanced --name new --per-type 1",
    "build hard": "build DB hard --name new --judge often --judge seldom --judge thrice --minority 1",
    "selected-by add": "selected-by DB add often --dataset sample",
    "selected-by remove": "selected-by DB add often --dataset sample ; selected-by DB remove often --dataset sample",
    "review confirm": "review DB confirm ITEM",
    "review send-back": "review DB send-back ITEM --note again",
    "review error": "review DB error ITEM --verifier often --category equivalence",
    "review undo": "review DB confirm ITEM ; review DB undo UUID",
    "review export": "review DB confirm ITEM ; review DB export FILE.jsonl",
    "review import": "review DB import IN/reviews.jsonl",
    "bundle": "bundle DB FILE.db --for amira",
    "bundle recall": "bundle DB FILE.db --for amira ; bundle DB --for amira --recall",
    "merge": "merge DB IN/other.db --whole",
    "judge-file": "judge-file IN/more.jsonl FILE.jsonl --verifier exact",
    "backup": "backup DB FILE.db",
    "backup discard": "backup POOL FILE.db ; backup DB FILE.db --force --discard",
    "restore": "restore NEW IN/archive.db",
    "restore backup": "restore DB IN/pool.db",
    "doctor": "doctor DB",
    "doctor repair states": "doctor WORN --repair",
    "doctor repair index": "doctor HURT --repair",
    "rescue": "rescue DB FILE.db",
}
"""Case -> command lines separated by ";"; all but the last run with free space. DB, POOL, … are on the small disk, IN
is elsewhere, and output is new on the small disk."""

SERVED: dict[str, str] = {
    "complete": "complete POOL IN/plan.toml --trust",
    "curate types": "curate POOL types --model types -o base_url=URL",
    "curate types accept model": "curate POOL types --model types -o base_url=URL ; curate POOL types --accept model",
    "code write-tests": "code write-tests CODE --suite new --n 3 --dataset own --model tests -o base_url=URL",
    "code write-solutions": "code write-solutions CODE --name new --dataset own --k 1 --rounds 1 --model solutions "
    "-o base_url=URL",
    "code pool": "code pool CODE --samples 2 --dataset own --model solutions -o base_url=URL",
    "code refine": "code refine CODE --dataset taco --model refine --output FILE.jsonl -o base_url=URL",
    "code refine functions": "code refine CODE --dataset own --functions --model refine --output FILE.jsonl "
    "-o base_url=URL",
    "code scale": "verify CODE execution ; code scale CODE --name new --n 2,3 --dataset own --model tests "
    "-o base_url=URL",
    "code evolve": "code evolve CODE --name grown --dataset own --rounds 1 --model grow -o base_url=URL "
    "--export FILE.jsonl",
    "code duplicates": "code duplicates CODE --model embed -o base_url=URL --output FILE.jsonl",
    "code select": "verify CODE execution ; code select CODE --k 2 --write FILE.jsonl",
    "code exclude": "code exclude CODE own/10 1 --dataset own --reason odd",
    "code exclude undo": "code exclude CODE own/10 1 --dataset own --reason odd ; "
    "code exclude CODE own/10 1 --dataset own --undo",
    "demo": "demo NEW",
    "pairwise": "pairwise JUDGED -o base_url=URL -o model=pairs",
    "probe": "probe DB rules --limit 3",
    "runs resume": "runs DB pause 5 ; runs DB resume 5",
    "sweep": "sweep JUDGED llm-judge --vary temperature=0,1 -o base_url=URL -o model=judge",
    "sweep figures": "sweep JUDGED llm-judge --vary temperature=0,1 -o base_url=URL -o model=judge --figures FOLDER",
    "threshold save": "verify JUDGED reward-model --name scores -o base_url=URL -o model=scores -o dialect=classify ; "
    "threshold JUDGED scores --save fitted",
    "verify": "verify DB exact --name fresh",
    "what-if ask": "what-if JUDGED one -o base_url=URL -o model=judge -o temperature=1 --sample 1 --ask --trust",
    "verify judge": "verify JUDGED llm-judge --name third -o base_url=URL -o model=judge -o seed=9",
}
"""The same for commands that call a model server, run programs or start a runner: these may wait for space."""

READS: dict[str, str] = {
    "accuracy": "accuracy DB",
    "agreement": "agreement DB",
    "annotators list": "annotators DB list",
    "best-of": "best-of DB",
    "checks list": "checks DB list",
    "checks report": "checks DB report",
    "code duplicates from": "code duplicates --from IN/vectors.jsonl",
    "code histograms": "verify CODE execution ; code histograms CODE --k 2",
    "code metrics": "code metrics DB --verifier often",
    "code passk": "code passk DB --verifier often",
    "code passk by model": "code passk DB --verifier often --by-model",
    "code representatives": "code representatives --from IN/cases.jsonl --mode discriminative",
    "code results": "code results DB --verifier often",
    "code saturation": "code saturation DB",
    "code select from": "code select --from IN/candidates.jsonl",
    "code evolve show": "code evolve DB --name none --show",
    "code exclude list": "code exclude DB --list",
    "accuracy label noise": "accuracy DB --label-noise",
    "compare": "compare DB often seldom",
    "conflicts list": "conflicts DB list --as chidi",
    "correlate": "correlate DB often",
    "cost": "cost DB",
    "calibrate": "calibrate DB often",
    "curate exclude list": "curate POOL exclude --list",
    "curate exclude candidates": "curate POOL exclude --candidates",
    "curate duplicates dry": "curate POOL duplicates --dry-run",
    "curate draw dry": "curate POOL draw --per-type 4 --dry-run",
    "curate types show": "curate POOL types",
    "curate types list": "curate POOL types --list",
    "curate status": "curate POOL status",
    "datasets list": "datasets DB list",
    "disagreements": "disagreements DB",
    "downstream": "downstream DB IN/downstream.jsonl",
    "estimate": "estimate DB often",
    "exclude list": "exclude DB --list",
    "exclude candidates": "exclude DB --candidates",
    "flags list": "flags DB list",
    "guidelines show": "guidelines DB show",
    "guidelines versions": "guidelines DB versions",
    "help": "help",
    "history": "history DB",
    "import dry": "import DB IN/more.jsonl --dataset more --dry-run",
    "models": "models DB none -o base_url=http://127.0.0.1:9/v1",
    "pairs": "pairs DB often",
    "parse": "parse verdict IN/replies.jsonl",
    "plan": "plan DB",
    "preset": "preset verifybench-models",
    "preview": "preview DB llm-judge --item ITEM -o base_url=http://127.0.0.1:9/v1 -o model=m",
    "probe accepted": "probe DB often --accepted",
    "build picks dry": "build DB picks --judge often --dry-run",
    "review list": "review DB list",
    "review errors": "review DB errors",
    "runs list": "runs DB list",
    "runs show": "runs DB show 1",
    "selected-by list": "selected-by DB list",
    "sets list": "sets DB list",
    "sets show": "sets DB show small",
    "sets diff": "sets DB diff small other",
    "stack": "stack DB --stages often:correct,seldom",
    "status": "status DB",
    "tables": "tables DB --paper",
    "template check": "template check IN/prompt.toml",
    "template show": "template show",
    "threshold": "threshold DB often",
    "transcripts": "transcripts DB --verifier often",
    "validity": "validity DB",
    "verdicts print": "verdicts DB print --verifier often",
    "verifiers": "verifiers DB",
    "what-if": "what-if JUDGED one --parser verifybench@2",
}
"""Commands that only read, or only report an error: they must not write anything."""

ELSEWHERE = dict.fromkeys(
    ("open", "serve", "reward-server", "replay"), "goes on until it is ended; see the tests of each"
)
"""Commands that are not tried here, and why."""

HOW = {
    "--accepted", "--against", "--all", "--allow-unsafe-execution", "--ask-again", "--batch", "--checks", "--coarse",
    "--confirmed", "--detach", "--dry-run", "--errors", "--evidence", "--exact", "--force", "--grid",
    "--json", "--keep-unverified", "--long", "--names", "--new-version", "--no-baselines",
    "--own-score", "--pairs", "--paper", "--partial", "--per-question", "--questions", "--retry-errors",
    "--retry-timeouts", "--retry-unread", "--show", "--sighted", "--strip", "--trust", "--unreviewed",
    "--untyped", "--weighted", "--with-solution", "--without-calls",
}  # fmt: skip
"""Switches that only change how a command works, or on what."""


def every_command(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands with their names."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from every_command(found, (*path, name))
    else:
        yield " ".join(path), command


def forms(name: str, command: click.Command) -> Iterator[str]:
    """Yield the forms of a command: itself or each of its verbs, each option that writes a file, each switch."""
    (verbs,) = [
        [str(verb) for verb in param.type.choices]
        for param in command.params
        if param.name == "verb" and isinstance(param.type, click.Choice)
    ] or [[]]
    yield from [f"{name} {verb}" for verb in verbs] or [name]
    for param in command.params:
        if isinstance(param, click.Option) and (isinstance(param.type, OutputPath) or param.is_flag):
            option = max(param.opts, key=len)
            if option not in HOW:
                yield f"{name} {option}"


def untried() -> list[str]:
    """Return the forms of commands that no case covers."""
    tried = [
        line.split() for table in (COMMANDS, SERVED, READS) for text in table.values() for line in text.split(" ; ")
    ]
    plain = [[word for word in words if word not in DATABASES] for words in tried]
    return [
        form
        for name, command in every_command(root)
        if name not in ELSEWHERE
        for form in forms(name, command)
        if not any(_has(words, form.split()) for words in plain)
    ]


def _has(words: list[str], form: list[str]) -> bool:
    *names, last = form
    if last.startswith("--"):
        return words[: len(names)] == names and last in words
    return words[: len(form)] == form
