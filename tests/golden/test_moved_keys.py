"""Hints take keys from the keymap: with every key moved, no screen and no text of the code names a default."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import ROOT
from tests.golden import frozen, screens, walks
from tests.golden.scenes import Scenes
from tests.helpers import make_project, numbered
from tests.tui.stage import SIZES, opened
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.keymap import NO_KEY, key_names
from workbench.app.tui.registry import every_key, keymap_problems, labels_of_keys
from workbench.config import Settings

DEFAULTS = {str(one.id): key_names(one.key) for one in every_key(WorkbenchApp.EVERYWHERE) if one.key != NO_KEY}
MOVED = {name: f"f{number}" for number, name in enumerate(DEFAULTS, 100)}
SETTINGS = Settings(keymap=MOVED)

KEY = re.compile(
    r"""(?x) (?<![\w'’{}/.+^-]) (?:
    (?: f[1-9] | f1[0-2] | \^[a-z] | ctrl\+\w | shift\+tab | enter | esc(?:ape)? | tab
    | (?<!thin\ )space | ⏎ ) (?![\w│])
    | [b-zA-Z*\[\]]
        (?= \ (?: opens | shows | goes | lists | hides | chooses | picks | selects | leads | clears | counts | saves
            | copies | undoes | removes | sets | changes | adds | starts | stops | takes | looks | marks )\b )
    | (?<=:\ )[b-zA-Z] (?= $ | \ \w+s\b )
    | (?<=\bpress\ )\S | (?<=\bby\ )[b-z]\b | (?<=\bwith\ )[b-z]\b
    | (?<=\():\w(?=\)) | (?<=\()\w(?=:\ ) | (?<=`)\S(?=`)
    )"""
)
"""A key in a hint."""
FIXED = re.compile(
    r"""(?x) \(shift\+tab:\ back\)
    | \(enter\) | (?:^|\ )(?:enter|escape|space|\*|z|a)(?:\ or\ space)?:\s
    | enter\ (?:opens|runs\ it|takes\ it|looks|or) | escape\ closes | esc,\ then"""
)
"""Keys of Textual's own widgets and of menus, which keymaps do not move."""
NOT_REACHED = {"TemplateScreen"}
"""This walk presses Enter in a field, a key of the field itself."""
SHORT = ("labelling", "sets")
"""Walks with moved keys in each run; the texts of all others are checked in the code."""
WITHOUT_KEYMAP = {"start.py"}
"""Before a project is open there is no keymap."""


def literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Return the texts in a module with their lines, without placeholders and docstrings."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            bare.update(map(id, node.values))
            yield (
                node.lineno,
                "".join(str(getattr(part, "value", "{}")) for part in node.values if isinstance(part, ast.Constant)),
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.lineno, node.value


def test_no_text_of_the_code_names_a_key() -> None:
    typed = [
        f"{file.name}:{line}: {text}"
        for file in sorted((ROOT / "workbench" / "app" / "tui").rglob("*.py"))
        if file.name not in WITHOUT_KEYMAP
        for line, text in literals(ast.parse(file.read_text(encoding="utf-8")))
        if " " in text.strip() and KEY.search(FIXED.sub(" ", text))
    ]
    assert typed == []


def typed_keys(text: str) -> list[str]:
    """Return the keys that hints in a drawn text name."""
    return [
        f"{one[0]} in {text[max(one.start() - 30, 0) : one.end() + 30]!r}" for one in KEY.finditer(FIXED.sub(" ", text))
    ]


def test_keymap_of_these_tests_is_valid() -> None:
    assert keymap_problems(MOVED, WorkbenchApp.EVERYWHERE) == []


@pytest.mark.parametrize("person", [None, pytest.param("dana", marks=pytest.mark.soak)])
def test_screens_and_their_help_name_moved_keys(scenes: Scenes, person: str | None) -> None:
    wrong = []
    for name, text in screens.shown(scenes, SIZES[0], person, SETTINGS):
        wrong += [f"{name}: {key}" for key in typed_keys(text)]
        if name.startswith("help"):
            keys = re.sub(r"\nWords\n.*?\n\n", "\n", text, flags=re.DOTALL)
            wrong += [f"{name}: {line}" for line in re.findall(r"^  (?! |f\d{3} ).*", keys, re.MULTILINE)]
    assert wrong == []


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.soak) for name in walks.WALKS]
)
def test_dialogs_name_moved_keys(scenes: Scenes, name: str) -> None:
    wrong, seen = [], set[str]()
    for where, text in walks.shown(scenes, name, SETTINGS, pressed):
        wrong += [f"{where}: {key}" for key in typed_keys(text)]
        seen.add(where.partition(" ")[0])
    frozen_there = {where.partition(" ")[0] for where in frozen.read(f"walks-{name}", "wording")}
    assert frozen_there - seen <= NOT_REACHED
    assert wrong == []


def pressed(app: WorkbenchApp, key: str) -> str:
    """Return the key that now does what a key did by default; keys of Textual's own widgets stay."""
    active = app.screen.active_bindings
    by = [(found, one.node) for found, one in active.items() if key in DEFAULTS.get(one.binding.id or "", ())]
    if not by or (key in active and active[key].node is app.focused and by[0][1] is not app.focused):
        return key
    return by[0][0]


async def test_list_of_all_keys_names_moved_keys(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path, numbered(1)), settings=SETTINGS) as (app, _):
        keys = [key for equal in labels_of_keys(app.EVERYWHERE) for key in equal]
    assert [key for key in keys if not re.fullmatch(r"f\d{3}", key)] == []
