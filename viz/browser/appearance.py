"""The colours of a drawing made by our own JavaScript, and what a picture saved from it needs."""

from viz.browser.script import FONT, served
from viz.labels import NARROW_EM
from viz.theme import FONT_FAMILY, PNG_SCALE, TYPE_SIZE, palette

# What save.js and type.js are given; they stand before the scripts of drawings.
SAVING = {"PNG_SCALE": PNG_SCALE}
TYPE = {"USUAL_TYPE": TYPE_SIZE, "NARROW_EM": NARROW_EM}


def appearance(theme: str, file: str, *colours: str) -> dict:
    """``colours`` of the theme by their names, and the picture that is saved as ``file``, without ending.

    >>> sorted(appearance("light", "steps", "text", "grid")["colours"])
    ['grid', 'text']
    """
    of_theme = palette(theme)
    return {
        "colours": {name: getattr(of_theme, name) for name in colours},
        "picture": {
            "name": file,
            "ground": of_theme.sequential[0],
            "font": FONT_FAMILY,
            "font_file": served(FONT),
        },
    }


def without_font_file(data: dict) -> dict:
    """For a file, which fetches nothing: the pictures that it saves are drawn with the fonts of the system."""
    return data | {"picture": data["picture"] | {"font_file": None}}
