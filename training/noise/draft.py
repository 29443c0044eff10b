"""``Draft``: a right sentence that is being made wrong. Every error rule reads it and writes into it."""

from dataclasses import dataclass, field

FAMILIES = ("pronunciation", "typing", "native", "spacing")


@dataclass(frozen=True)
class Edit:
    """One thing one rule did. ``start:end`` is a span of characters of the CORRECT sentence."""

    rule: str  # e.g. "liaison"
    family: str  # one of FAMILIES
    start: int
    end: int


@dataclass
class Draft:
    """The right text, what stands at each of its characters now, and which rule changed it.

    ``cells[i]`` is what has become of ``text[i]``: usually one character; ``""`` after it was dropped; several characters after
    something was added beside it. Cells never move, so a later rule still knows which characters of the right sentence it
    touches.

    >>> draft = Draft("먹어요")
    >>> draft.put("liaison", "pronunciation", 0, ["머", "거"])
    >>> "".join(draft.cells), draft.edits[0].rule
    ('머거요', 'liaison')
    """

    text: str
    weights: list[float] | None = None  # how likely a slip is at each character; None: at all alike
    cells: list[str] = field(init=False)
    edits: list[Edit] = field(default_factory=list)

    def __post_init__(self):
        self.cells = list(self.text)

    @property
    def wrong(self) -> str:
        return "".join(self.cells)

    def touched(self, start: int, end: int) -> bool:
        """Whether an earlier rule already changed any character of ``start:end``."""
        return any(edit.start < end and start < edit.end for edit in self.edits)

    def put(self, rule: str, family: str, start: int, cells: list[str]) -> None:
        """Overwrite the cells from ``start`` on and record the edit. Equal cells are not recorded."""
        end = start + len(cells)
        if end > len(self.cells) or start < 0:
            raise ValueError(f"cells {start}:{end} lie outside a sentence of {len(self.cells)}")
        if self.cells[start:end] != cells:
            self.cells[start:end] = cells
            self.edits.append(Edit(rule, family, start, end))
