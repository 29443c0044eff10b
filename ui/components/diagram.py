"""A drawing of an encoder-decoder. Its parts can be chosen by mouse, touch and keyboard."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from ui.components.diagram_layout import FORMS, Column, Drawing, PlacedPart, arrange
from ui.components.heard import heard
from ui.components.packed import component
from ui.wording.reading import Say
from viz.browser import document as script
from viz.browser.document import SAVING, appearance
from viz.theme import palette

# A page that works without Streamlit needs these two, the data, and an element to draw in.
_FOLDER = Path(__file__).parent
_FILES = script.FOLDER / "type.js", script.FOLDER / "save.js", _FOLDER / "diagram.js"
SCRIPT = "\n".join([script.declared(SAVING), *(path.read_text("utf-8") for path in _FILES)])
STYLE = (_FOLDER / "diagram.css").read_text("utf-8")
_COMPONENT = component("diagram", html='<div class="diagram"></div>', css=STYLE, js=SCRIPT)


def diagram(data: dict, key: str, on_go: Callable[[str], None]) -> None:
    """Show ``data`` of ``diagram_data``; ``on_go`` receives the part that was chosen, before the page runs
    again."""

    def answer() -> None:
        part = heard(key, "go")
        if isinstance(part, str):
            on_go(part)

    _COMPONENT(key=key, data=data, on_go_change=answer)


def diagram_data(say: Say, encoder: Column, decoder: Column, *, label: str, theme: str = "light") -> dict:
    """Everything that ``diagram.js`` draws, as JSON; typed text stays as it is, the browser writes it as text.

    ``label`` says in words what the picture shows.
    """
    return {
        "label": label,
        "forms": {form: _plain(arrange(encoder, decoder, form)) for form in FORMS},
        "words": {name: say("network_save", format=name.upper()) for name in ("png", "svg")},
        "looks": _looks_of_parts(theme),
        **appearance(theme, "network", "text", "quiet_text", "accent"),
    }


def _plain(drawing: Drawing) -> dict:
    return asdict(drawing) | {
        "boxes": list(map(_box, drawing.boxes)),
        "frames": list(map(_box, drawing.frames)),
    }


def _box(box: PlacedPart) -> dict:
    part = {name: getattr(box.part, name) for name in ("style", "title", "detail", "leads_to", "spoken")}
    return part | {name: getattr(box, name) for name in ("x", "y", "width", "height", "expanded")}


def _looks_of_parts(theme: str) -> dict[str, dict]:
    """How each style of a part looks; what differs in colour differs in its border, too."""
    colours = palette(theme)
    thin = {"fill": "none", "stroke": colours.quiet_text, "width": 1, "dash": ""}
    filled = thin | {"fill": colours.gap}
    return {
        "text": thin | {"dash": "4 3"},
        "embedding": filled,
        "feed_forward": filled,
        "recurrence": filled,
        "memory": filled | {"stroke": colours.qualitative[1], "width": 2},
        "norm": thin,
        "layer": filled,
        "frame": thin,
        "output": filled,
        "attention": thin | {"fill": colours.sequential[1], "stroke": colours.qualitative[0], "width": 3},
        "mask": thin | {"dash": "2 2"},
        "flow": thin | {"width": 1.5},
        "residual": thin | {"dash": "5 3"},
        "memory_line": thin | {"stroke": colours.qualitative[1], "width": 2.5},
    }
