"""Every text is readable in every theme, and every colour has a sign or a word with the same meaning."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

import workbench
from tests.tui.stage import opened, press, settle
from tests.tui.test_accuracy import judged_project
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.matrix_table import Matrix
from workbench.app.tui.themes import AA, OWN_THEMES, contrast, drawn, legible
from workbench.config.settings import Settings
from workbench.core.text.figures import GLYPHS

THEMES = {theme.name: theme for theme in (*BUILTIN_THEMES.values(), *OWN_THEMES)}
COLOURED = sorted(name for name in THEMES if "ansi" not in name)
TEXTS = (
    "foreground",
    "foreground-muted",
    *(f"text-{name}" for name in ("muted", "primary", "secondary", "accent", "success", "warning", "error")),
)


@pytest.mark.parametrize("name", COLOURED)
def test_texts_are_readable_on_all_backgrounds_of_a_theme(name: str) -> None:
    theme = THEMES[name]
    variables = legible(theme.to_color_system().generate() | dict(theme.variables))
    for ground in ("background", "surface", "panel"):
        on = Color.parse(variables[ground])
        for text in TEXTS:
            assert contrast(drawn(variables[text], on), on) >= AA, (text, ground)
    for pair in ("block-cursor", "block-cursor-blurred", "footer"):
        on = Color.parse(variables["surface"]) + Color.parse(variables[f"{pair}-background"])
        assert contrast(drawn(variables[f"{pair}-foreground"], on), on) >= AA, pair


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ["textual-dark", "textual-light", "solarized-dark", "high-contrast", "colour-blind"])
async def test_matrix_numbers_are_readable_on_every_tint(tmp_path: Path, name: str) -> None:
    async with opened(judged_project(tmp_path)) as (app, pilot):
        app.theme = name
        await press(pilot, *":y", "enter")
        matrix = app.screen.query_one(Matrix)
        for step in range(-10, 11):
            style = matrix._tinted(step / 10)
            assert style.color is not None
            assert style.bgcolor is not None
            front, ground = (Color.from_rich_color(one) for one in (style.color, style.bgcolor))
            assert contrast(front, ground) >= AA, (step, style)


async def test_drawn_texts_are_readable(tmp_path: Path) -> None:
    """Texts on the screens, without lines and bars."""
    async with opened(judged_project(tmp_path), size=(80, 24)) as (app, pilot):
        faint = set()
        for name in ("home", "browse", "accuracy", "compare", "disagreements", "triage", "agreement", "runs"):
            app.open_screen(name)
            await settle(pilot)
            for strip in app.screen._compositor.render_strips():
                for text, style, _ in strip:
                    if style is None or style.color is None or style.bgcolor is None or not any(map(str.isalnum, text)):
                        continue
                    front, ground = (Color.from_rich_color(one) for one in (style.color, style.bgcolor))
                    if contrast(front, ground) < AA and not style.dim:
                        faint.add((name, text.strip(), front.hex, ground.hex, round(contrast(front, ground), 2)))
        assert faint == set()


def test_every_outcome_and_scale_step_has_a_unique_sign() -> None:
    signs = [sign for sign, _ in OUTCOME_MARKS.values()]
    assert len(set(signs)) == len(signs)
    assert len(set(GLYPHS)) == len(GLYPHS)


async def test_screens_without_colours_have_the_same_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = judged_project(tmp_path)

    async def texts_by_screen() -> dict[str, list[str]]:
        found = {}
        async with opened(project, size=(80, 24)) as (app, pilot):
            for name in ("browse", "accuracy", "compare", "disagreements", "triage", "runs"):
                app.open_screen(name)
                await settle(pilot)
                strips = app.screen._compositor.render_strips()
                found[name] = ["".join(part.text for part in strip) for strip in strips]
        return found

    coloured = await texts_by_screen()
    monkeypatch.setenv("NO_COLOR", "1")
    assert await texts_by_screen() == coloured


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_terminal_palette_is_readable_without_colours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(judged_project(tmp_path), size=(80, 24), settings=Settings(theme=theme)) as (app, pilot):
        await settle(pilot)
        styles = [style for strip in app.screen._compositor.render_strips() for _, style, _ in strip if style]
        colours = {(style.color, style.bgcolor) for style in styles}
    assert all(colour is None or colour.is_default for pair in colours for colour in pair)


@pytest.mark.soak
def test_tinted_cell_has_text_with_the_same_meaning() -> None:
    """No cell consists of a tint alone: a tinted cell always has text."""
    empty = []
    for path in Path(workbench.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Cell" and len(node.args) > 1:
                first = node.args[0]
                if isinstance(first, ast.Constant) and not str(first.value).strip():
                    empty.append(f"{path.name}:{node.lineno}")
    assert empty == []
