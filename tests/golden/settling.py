"""Replace values that differ between machines, days and folders by placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from tests.documents import ROOT

_LIBRARIES = (
    "sympy|latex2sympy2_extended|python|sacrebleu|codebleu|tree-sitter-python|tree-sitter|nltk|rouge-score|"
    "transformers|torch"
)

_MEASURED = "ms|slowest_ms|seconds|duration_s|elapsed_s|bytes|database_bytes"
_FOUND = r"python|textual|math-verify|sympy|numpy|runner \w+"

_VOLATILE: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d| UTC)?"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "<date>"),
    (re.compile(r"-?\d+\.\d{9,}(?:e-?\d+)?"), lambda found: format(float(found[0]), ".9g")),
    (re.compile(r'("workers": ?)\d+'), r'\1"<measured>"'),
    # A runner lives on for a while after its last run.
    (re.compile(r'("alive": ?)(?:true|false)'), r'\1"<measured>"'),
    # The sandbox level of this machine, as a JSON string or as a cell of a table.
    (re.compile(r'"L[123]"'), '"<level>"'),
    (re.compile(r"\bL[123](?=\s{2,}|\s*$|\s+·)", re.MULTILINE), "L?"),
    (
        re.compile(r'("(?:ms|slowest_ms|seconds|duration_s|elapsed_s|bytes|database_bytes)": ?)[\d.]+'),
        r'\1"<measured>"',
    ),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r'("sha256": ")[0-9a-f]{64}'), r"\1<digest>"),
    (re.compile(r"(/enter#)[\w-]{43}"), r"\1<token>"),
    # A name derived from a configuration that holds a server's port.
    (re.compile(r"\b(\w+\+)[0-9a-f]{6}\b"), r"\1<hash>"),
    # Versions of libraries and interpreters that the doctor finds on this machine.
    (re.compile(rf"^(ok   (?:{_FOUND}): ).*", re.MULTILINE), r"\1<version>"),
    (re.compile(rf'("name": "(?:{_FOUND})",\s+"ok": true,\s+"message": ")[^"]*'), r"\1<version>"),
    (re.compile(r"\b\d+(?:\.\d+)? (ms|MB|kB)\b"), r"<measured> \1"),
    (re.compile(r" · fast: [\d.]+ s"), ""),
    # The app counts calls in the background while a form is filled in.
    (re.compile(r"^ \d+ calls? (?:an|per) item · .*", re.MULTILINE), ""),
    # Optional libraries may be missing; versions of others vary.
    (re.compile(rf"\b({_LIBRARIES})\d[\w.]*"), r"\1<version>"),
    (re.compile(r"^(reward-local|codebleu)  (\S*)  (?=\S)", re.MULTILINE), r"\1  <version>  "),
    (re.compile(r'("version": )(?:null|"[^"]*<version>[^"]*")'), r'\1"<version>"'),
    (re.compile(r'("package": )"verifier-workbench(-core)?"'), r'\1"<package>"'),
    # Progress is reported only if the work takes long.
    (re.compile(r"^(?:! )?\S[^\n]* s so far\n", re.MULTILINE), ""),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:<port>"),
)


def output_of(done: CompletedProcess[str], folder: Path) -> str:
    """Return exit code, stderr and stdout of a command."""
    stderr = "".join(f"! {line}\n" for line in normalized(done.stderr, folder).splitlines())
    return f"exit {done.returncode}\n{stderr}{normalized(done.stdout, folder)}"


def normalized(text: str, folder: Path) -> str:
    """Replace everything specific to this machine, day and folder."""
    text = text.replace(str(folder), "<folder>").replace(str(ROOT), "<checkout>")
    for pattern, plain in _VOLATILE:
        text = pattern.sub(plain, text)
    return text
