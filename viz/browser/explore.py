"""``explore``: interactive page with every head of a trace, for a notebook.

Every weight is sent once, compressed, as a whole number of ten-thousandths (of two-thousandths above a
million weights). The same functions as in the app make the figures, but without weights. ``explore.js`` fills
in the weights of the chosen head, so choosing another head needs no Python. In a notebook the page is a frame
that may run scripts and save files, but reaches neither the notebook nor the network.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from viz.browser.document import Component, component, document, read_script
from viz.browser.explore_data import difference_data, explorer_data
from viz.browser.lines import DIGITS, LINES, MASSES, MOST_HEADS, MOST_LINES, ROUNDING, USUAL_MASS
from viz.browser.plot import PLOT
from viz.browser.steps import STEPS
from viz.browser.texts import LANGUAGES, Say, Trace, table
from viz.head_grid import MIDDLE, NO_CELL, STRONGEST, WEAKEST
from viz.theme import FAINT

EXPLORE = read_script(
    "explore",
    "dom.js",
    "explore.js",
    "explore_weights.js",
    isolated=False,
    constants={
        "NO_CELL": NO_CELL,
        "WEAKEST": WEAKEST,
        "MIDDLE": MIDDLE,
        "STRONGEST": STRONGEST,
        "MASSES": [MASSES[0], MASSES[-1], MASSES.step],
        "USUAL_MASS": USUAL_MASS,
        "DIGITS": DIGITS,
        "ROUNDING": ROUNDING,
        "FAINT": FAINT,
        "MOST_HEADS": MOST_HEADS,
        "MOST_LINES": MOST_LINES,
    },
)
HEIGHT = 640  # pixels of the frame in a notebook


@dataclass(frozen=True)
class Exploration:
    """A page that shows itself as the output of a notebook's cell.

    Example:
        >>> Exploration(b"<!doctype html>", height=400)
        Exploration(height=400)
    """

    page: bytes = field(repr=False)  # HTML, UTF-8; not in repr, which a notebook would save besides the page
    height: int  # pixels

    def _repr_html_(self) -> str:
        """A frame as wide as the cell. Its scripts can reach neither the notebook nor the network."""
        # In single quotes, which the page uses least. In ASCII, because a notebook may be read in another
        # encoding, and the page's policy refuses a script of which one character differs.
        source = self.page.decode().replace("&", "&amp;").replace("'", "&#39;")
        source = source.encode("ascii", "xmlcharrefreplace").decode()
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f"<iframe sandbox='allow-scripts allow-downloads' style='{style}' srcdoc='{source}'></iframe>"

    def save(self, path: str | Path) -> None:
        """Write the page as a file that opens without a network. Raises OSError if it cannot be written."""
        Path(path).write_bytes(self.page)


def explore(
    traces: Trace | Sequence[Trace],
    *,
    names: Sequence[str] = (),
    language: str = "en",
    theme: str = "light",
    height: int = HEIGHT,
) -> Exploration:
    """The interactive explorer: all heads, one map as a heatmap or as lines, and the steps of a decoder.
    Several traces show the same layer and head. Of two that share their tokens the difference is shown, too.

    Weights are rounded to multiples of 1 / UNIT, or of 1 / COARSE_UNIT for many weights. The steps are shown
    if the trace has the probabilities of the produced tokens and at least two alternatives for each token.

    Args:
        traces: one trace, such as ``model.AttentionTrace``, or several, which are shown side by side.
        names: a name for each of them; by default their numbers.
        language: of the controls, one of ``viz.browser.texts.LANGUAGES`` ("en", "ko").
        theme: "light" or "dark".
        height: of the frame in a notebook, in pixels.

    Raises:
        ValueError: no trace, numbers in a trace that are no attention (``AttentionTrace.check``), another
            number of names than of traces, and an unknown language or theme.

    Example:
        >>> from model import AttentionTrace
        >>> tokens, weights = ("나", "는"), np.array([[[[0.75, 0.25], [0.5, 0.5]]]])  # one layer, one head
        >>> page = explore(AttentionTrace(source_tokens=tokens, encoder_attention=weights))
        >>> page.page.startswith(b"<!DOCTYPE html>")
        True
    """
    traces = tuple(traces) if isinstance(traces, Iterable) else (traces,)
    for each in traces:
        if not hasattr(each, "check"):
            raise ValueError(
                "traces should be such as AttentionTrace(…) or AttentionTrace.load(path), "
                f"received {type(each).__name__}"
            )
    if not traces:
        raise ValueError("explore needs a trace, received none")
    if len(names) not in (0, len(traces)):
        raise ValueError(
            f"{len(traces)} traces should have {len(traces)} names or none, received {len(names)}"
        )
    if language not in LANGUAGES:
        raise ValueError(f"language should be one of {tuple(LANGUAGES)}, received {language!r}")
    say = _say_in(language)
    numbers = [str(place) for place in range(1, len(traces) + 1)] if len(traces) > 1 else [""]
    shown = [name or number for name, number in zip(names or numbers, numbers, strict=True)]
    parts = []
    for place, (trace, name) in enumerate(zip(traces, shown, strict=True)):
        trace.check()
        data = explorer_data(say, trace, theme)
        parts.append(_part(place, {"name": name, "place": place} | data, linked=len(traces) > 1))
    difference = difference_data(say, traces, theme) if len(traces) == 2 else None
    if difference is not None:
        title = say("explore_difference", one=shown[0], other=shown[1])
        parts.append(_part(2, {"name": title} | difference, linked=True))
    page = document(
        language=language,
        theme=theme,
        title=" · ".join(filter(None, names)) or say("product"),
        body=f'<div class="explorers">{"".join(map(component, parts))}</div>',
        no_script=say("take_away_no_script"),
        components=parts,
        used=(PLOT, LINES, STEPS),
        font=False,
    )
    return Exploration(page, height)


def _part(place: int, data: dict, *, linked: bool) -> Component:
    return Component(f"explorer-{place}", EXPLORE, data | {"linked": linked})


def _say_in(language: str) -> Say:
    """The texts in words that fit any network, else the app's."""
    texts = table(language)

    def say(key: str, /, **values: object) -> str:
        own = f"explore_{key}"
        return texts[own if own in texts else key].format(**values)

    return say
