"""The look of every figure, light and dark: fonts, colours, colour scales, and the sizes of type and of saved pictures."""

from dataclasses import dataclass

FONT_FAMILY = (
    "Noto Sans KR Subset, Noto Sans KR, Noto Sans CJK KR, Apple SD Gothic Neo, Malgun Gothic, sans-serif"
)

TYPE_SIZE = 17  # pixels of the page's type, as .streamlit/config.toml has it
PNG_SCALE = 3  # a saved picture has this many pixels for each one on the screen
# So no line is told by colour alone.
LINE_DASHES = (
    "",
    "7 3",
    "2 2.5",
    "11 3 2 3",
    "16 4",
    "5 2 1 2 1 2",
    "1 4",
    "3 6",
)


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as CSS colours; scales run from the value 0 (or -1) upwards. The middle of
    ``diverging`` stands for 0 and is the colour of the page."""

    text: str
    quiet_text: str
    grid: str  # also the thin lines between heatmap cells
    gap: str  # what shows where there is no cell
    hatch: str
    hover_background: str
    accent: str
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]
    qualitative: tuple[str, ...]  # told apart also by the colour-blind


# The sequential scales keep one hue. Only their lightness changes, steadily, away from the background. So zero
# looks like nothing, and the order survives every kind of colour blindness and a grey printer.
# The diverging scale of the dark theme leaves its ground quickly: most of what a head adds is less than a sixth of the largest amount, and
# that would be black on black.
# Lines and categories have the palette of Okabe and Ito (2008), "Color Universal Design". On a dark ground its black turns pale.
# Its yellow goes last, because it is faint on a light ground.
_THEMES = {
    "light": Palette(
        text="#1b2430",
        quiet_text="#566273",
        grid="#e3e8ef",
        gap="#f3f5f8",
        hatch="#8a94a3",
        hover_background="#ffffff",
        accent="#b3400a",
        sequential=("#fbfcfe", "#d3e3f4", "#9cc4e6", "#569bd0", "#1f6bab", "#0a3f77", "#041f42"),
        diverging=("#0b3c7d", "#3f7fc1", "#a5cbe8", "#ffffff", "#f4b79c", "#d0533f", "#7d0c1f"),
        qualitative=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#C9BC1F"),
    ),
    "dark": Palette(
        text="#e8edf4",
        quiet_text="#a3aebd",
        grid="#2b3442",
        gap="#1c232e",
        hatch="#7d899a",
        hover_background="#1a212c",
        accent="#ffb37a",
        sequential=("#10161f", "#13304f", "#195083", "#2a76b5", "#5ba3da", "#a4d1f2", "#f3faff"),
        diverging=(
            *("#b3dcff", "#7dbcf3", "#4d97db", "#2c6cab"),
            "#11161d",
            *("#a44d40", "#e06f58", "#f79d87", "#ffcbba"),
        ),
        qualitative=("#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#F0E442", "#e8edf4", "#4A9BE0"),
    ),
}

THEMES = tuple(_THEMES)


def palette(theme: str) -> Palette:
    """The colours of ``"light"`` or ``"dark"``; another name raises ValueError."""
    if theme not in _THEMES:
        raise ValueError(f"theme should be one of {THEMES}, received {theme!r}")
    return _THEMES[theme]


def colour_scale(colours: tuple[str, ...]) -> list[list]:
    """Plotly's form of evenly spaced colours: ``[[0, first], …, [1, last]]``."""
    return [[index / (len(colours) - 1), colour] for index, colour in enumerate(colours)]
