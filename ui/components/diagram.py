"""Diagram of an encoder-decoder: layout of its parts, and the component that draws it.

There are two columns as in figure 1 of Vaswani et al. (2017), read from below, or on a phone one below the
other, read from above. For a lecture the two columns have low rows with one line each, so that the type is
large when the whole drawing is in the window. Lengths are in pixels at the drawing's own size. Parts can be
chosen by mouse, touch and keyboard.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ui.components.component import component, heard
from ui.wording import say
from viz.browser.document import SAVING, appearance, read_script
from viz.theme import palette

WIDE, NARROW, LECTURE = "wide", "narrow", "lecture"
FORMS = (WIDE, NARROW, LECTURE)

_FLOW = 0.4  # of a column's width: where the arrows between its parts run


@dataclass(frozen=True)
class _FormLengths:
    """The lengths of one of FORMS."""

    column: float = 440
    bus: float = 56  # left of the decoder, where the encoder's result goes to every layer
    chip: float = 92
    gap: float = 16
    box: float = 46
    row: float = 32
    strip: float = 22
    plus: float = 18
    heading: float = 34
    around: float = 30  # of an open layer, right of its parts: where the residual connections run
    inset: float = 14  # of an open layer, left of its parts
    foot: float = 8  # of an open layer, below its parts
    margin: float = 10


_SIZES = {
    WIDE: _FormLengths(),
    NARROW: _FormLengths(column=352, bus=22, chip=76),
    LECTURE: _FormLengths(
        column=470,
        bus=44,
        chip=132,
        gap=6,
        box=20,
        row=20,
        strip=20,
        plus=14,
        heading=20,
        around=22,
        inset=8,
        foot=3,
        margin=4,
    ),
}


@dataclass(frozen=True)
class DiagramPart:
    """A part of a network. ``style`` names its colours, ``leads_to`` the target of a click (empty: none)."""

    style: str  # text, embedding, attention, feed_forward, recurrence, norm, layer, output or mask
    title: str
    detail: str = ""
    leads_to: str = ""
    spoken: str = ""  # for a screen reader, of a part that leads somewhere
    asks_memory: bool = False  # whether the encoder's result arrives here
    chip: "DiagramPart | None" = None  # a part beside it, such as a mask


@dataclass(frozen=True)
class Sublayer:
    """One part with its residual connection and its normalisation, which comes first in newer networks."""

    core: DiagramPart
    norm: DiagramPart
    norm_first: bool


@dataclass(frozen=True)
class Layer:
    """A row that can be opened. Its ``sublayers`` are drawn if it is open."""

    row: DiagramPart
    sublayers: tuple[Sublayer, ...] = ()


@dataclass(frozen=True)
class Column:
    """A stack of parts in the order in which data passes them."""

    heading: str
    items: tuple[DiagramPart | Layer, ...]


@dataclass(frozen=True)
class PlacedPart:
    x: float
    y: float
    width: float
    height: float
    part: DiagramPart
    expanded: bool | None = None  # of a layer's row; None for all else


@dataclass(frozen=True)
class Line:
    points: tuple[tuple[float, float], ...]
    style: str = "flow"  # flow, residual or memory
    arrow: bool = True


@dataclass(frozen=True)
class Drawing:
    width: float
    height: float
    boxes: tuple[PlacedPart, ...]
    frames: tuple[PlacedPart, ...]  # around the parts of open layers
    lines: tuple[Line, ...]
    sums: tuple[tuple[float, float], ...]  # where a residual connection is added
    headings: tuple[tuple[float, float, str], ...]


def arrange(encoder: Column, decoder: Column, form: str) -> Drawing:
    """Both columns in one of FORMS. Raises ValueError for another form."""
    if form not in FORMS:
        raise ValueError(f"form should be one of {FORMS}, received {form!r}")
    sizes = _SIZES[form]
    width, bus, margin = sizes.column, sizes.bus, sizes.margin
    first = _Pen(margin, margin, width, sizes)
    first.column(encoder)
    if form == NARROW:
        second = _Pen(margin + bus, first.y + 2 * sizes.gap, width - bus, sizes)
    else:
        second = _Pen(margin + width + bus, margin, width, sizes)
    second.column(decoder)
    lines = (*first.lines, *second.lines, *_memory(first, second, form))
    drawing = Drawing(
        second.x + second.width + margin,
        max(first.y, second.y) + margin,
        (*first.boxes, *second.boxes),
        (*first.frames, *second.frames),
        lines,
        (*first.sums, *second.sums),
        (*first.headings, *second.headings),
    )
    return drawing if form == NARROW else _from_below(drawing)


def _memory(encoder: "_Pen", decoder: "_Pen", form: str) -> list[Line]:
    """From the encoder's last part along the decoder's left side into everything that asks for it."""
    last = encoder.boxes[-1]
    x = decoder.x - _SIZES[form].bus / 2
    start: tuple[tuple[float, float], ...]
    if form == NARROW:
        start = ((x, last.y + last.height),)
    else:
        start = ((last.x + last.width, last.y + last.height / 2), (x, last.y + last.height / 2))
    asking = [box for box in decoder.boxes if box.part.asks_memory]
    return [
        Line((*start, (x, box.y + box.height / 2), (box.x, box.y + box.height / 2)), "memory")
        for box in asking
    ]


def _from_below(drawing: Drawing) -> Drawing:
    height = drawing.height

    def turned(boxes: Sequence[PlacedPart]) -> tuple[PlacedPart, ...]:
        return tuple(replace(box, y=height - box.y - box.height) for box in boxes)

    return replace(
        drawing,
        boxes=turned(drawing.boxes),
        frames=turned(drawing.frames),
        lines=tuple(
            replace(line, points=tuple((x, height - y) for x, y in line.points)) for line in drawing.lines
        ),
        sums=tuple((x, height - y) for x, y in drawing.sums),
        headings=tuple((x, height - y, text) for x, y, text in drawing.headings),
    )


class _Pen:
    """Draws one column from the top; ``y`` is where the next part goes."""

    def __init__(self, x: float, y: float, width: float, sizes: _FormLengths):
        self.x, self.y, self.width, self.sizes = x, y, width, sizes
        self.flow = x + _FLOW * width
        self.boxes: list[PlacedPart] = []
        self.frames: list[PlacedPart] = []
        self.lines: list[Line] = []
        self.sums: list[tuple[float, float]] = []
        self.headings: list[tuple[float, float, str]] = []
        self.flow_end: float | None = None  # where the arrow from the last part begins

    def column(self, column: Column) -> None:
        self.headings.append((self.x, self.y + self.sizes.heading / 2, column.heading))
        self.y += self.sizes.heading
        for item in column.items:
            if isinstance(item, Layer):
                self.layer(item)
            else:
                self.part(item, self.x, self.width, self.sizes.box)

    def part(
        self, part: DiagramPart, x: float, width: float, height: float, expanded: bool | None = None
    ) -> PlacedPart:
        self.arrive()
        beside = [] if part.chip is None else [part.chip]
        width -= len(beside) * (self.sizes.chip + 6)
        box = PlacedPart(x, self.y, width, height, part, expanded)
        self.boxes.append(box)
        self.boxes += [PlacedPart(x + width + 6, self.y, self.sizes.chip, height, chip) for chip in beside]
        self.depart(height)
        return box

    def arrive(self) -> None:
        """The arrow from the last part to here."""
        if self.flow_end is not None:
            self.lines.append(Line(((self.flow, self.flow_end), (self.flow, self.y))))

    def depart(self, height: float) -> None:
        self.flow_end = self.y + height
        self.y = self.flow_end + self.sizes.gap

    def layer(self, layer: Layer) -> None:
        self.part(layer.row, self.x, self.width, self.sizes.row, bool(layer.sublayers))
        if not layer.sublayers:
            return
        # The row is the head of the frame: the parts below belong to it, so no arrow lies between them.
        assert self.flow_end is not None, "the row has just set it"
        top = self.flow_end
        self.y = top + self.sizes.gap
        for sublayer in layer.sublayers:
            self.sublayer(sublayer)
        bottom = self.flow_end + self.sizes.foot
        self.frames.append(PlacedPart(self.x, top, self.width, bottom - top, layer.row))
        self.y = bottom + self.sizes.gap

    def sublayer(self, sublayer: Sublayer) -> None:
        sizes = self.sizes
        x, width = self.x + sizes.inset, self.width - sizes.inset - sizes.around
        branch = self.y - sizes.gap / 2
        if sublayer.norm_first:
            self.part(sublayer.norm, x, width, sizes.strip)
        self.part(sublayer.core, x, width, sizes.box)
        middle = self.y + sizes.plus / 2
        self.arrive()
        self.sums.append((self.flow, middle))
        side = self.x + self.width - sizes.around / 2
        around = ((self.flow, branch), (side, branch), (side, middle), (self.flow + sizes.plus / 2, middle))
        self.lines.append(Line(around, "residual"))
        self.depart(sizes.plus)
        if not sublayer.norm_first:
            self.part(sublayer.norm, x, width, sizes.strip)


# A page that works without Streamlit needs these two, the data, and an element to draw in.
_FILES = ("dom.js", "type.js", "save.js", "diagram.js")
SCRIPT = read_script("diagram", *_FILES, folder=Path(__file__).parent, constants=SAVING)
_COMPONENT = component("diagram", html=SCRIPT.html, css=SCRIPT.css, js=SCRIPT.js)


def diagram(data: dict, key: str, on_go: Callable[[str], None]) -> None:
    """Show ``data`` of ``diagram_data``; ``on_go`` receives the part that was chosen, before the page runs
    again."""

    def answer() -> None:
        part = heard(key, "go")
        if isinstance(part, str):
            on_go(part)

    _COMPONENT(key=key, data=data, on_go_change=answer)


def diagram_data(encoder: Column, decoder: Column, *, label: str, theme: str = "light") -> dict:
    """Everything that ``diagram.js`` draws, as JSON; typed text stays as it is, the browser writes it as
    text.

    ``label`` describes the picture in words.
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
