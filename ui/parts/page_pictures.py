"""Figures and sentences of the pages of masks and positions, also for phones of a class.

Each function returns the sentence about its figures, and these with their descriptions by name.
"""

import math
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import plotly.graph_objects as go

import viz
from model.analysis.building_blocks import hidden_by_look_ahead
from ui.asking import loaders
from ui.shell import address, controls
from ui.shell.settings import DIMENSIONS, POSITIONS
from ui.wording import about, language, say
from viz.labels import visible_token

Pictures = tuple[str, dict[str, tuple[go.Figure, str]]]

PADDING = "∅"  # as narrow as a character, unlike <pad>
MOST_NAMED = 32  # positions
THIRD = 260  # pixels of a map beside two others


def encoding(theme: str) -> Pictures:
    """The positional encoding (P, D) in red and blue, and how fast its slowest pair of dimensions turns."""
    positions, dimensions = controls.values((POSITIONS, DIMENSIONS)).values()
    last = dimensions - 2  # the sine of the slowest pair
    period = 2 * math.pi * 10000 ** (last / dimensions)
    names = (say("dimension_axis"), say("position_axis"), say("value_axis"))
    matrix = loaders.positional_encoding(positions, dimensions)
    # More rows are too low for their tokens.
    tokens = address.get("sentence")[:positions] if positions <= MOST_NAMED else ""
    figure = viz.positional_encoding_heatmap(
        matrix, tokens=tokens, captions=viz.Captions(titles=names, hover=names, theme=theme)
    )
    told = say("matrix_reading", last=last, period=about(language(), period))
    return told, {"matrix": (figure, say("positions_page"))}


def batch() -> list[str]:
    """The sentences of the batch, one a line; blank lines do not count."""
    lines = unicodedata.normalize("NFC", address.get("batch")).splitlines()
    return [line.strip() for line in lines if line.strip()]


def shortest(sentences: Sequence[str]) -> int:
    """The number of the sentence with the most padding, from 0.

    >>> shortest(["이제 집에 가요.", "네."])
    1
    """
    return min(range(len(sentences)), key=lambda number: len(sentences[number]))


def masks(sentences: Sequence[str], number: int, theme: str) -> Pictures:
    """The masks (Q, K) of sentence ``number`` of a batch: of its padding, of later tokens, of both."""
    sentence = sentences[number]
    padding = max(map(len, sentences)) - len(sentence)
    rows, columns = axes("decoder_attention", sentence, padding)
    padded, later = padded_cells(len(rows), padding), hidden_by_look_ahead(len(rows))
    hide = named_hidden()
    hidden = {
        "padding": hide(padded=padded),
        "look_ahead": hide(masked=later),
        "both_map": hide(masked=later, padded=padded),
    }
    made = {
        name: (mask_map(each, rows, columns, THIRD, theme), say(f"masks_{name}_heading"))
        for name, each in hidden.items()
    }
    told = say(
        "masks_both_reading" if padding else "masks_both_reading_no_padding",
        cells=padded.size,
        later=int(later.sum()),
        added=int((padded & ~later).sum()),
    )
    return told, made


def mask_map(
    hidden: viz.Hidden,
    rows: Sequence[str],
    columns: Sequence[str],
    design_width: float | None,
    theme: str,
) -> go.Figure:
    """A mask (Q, K): 1 where a row may look, hatched or dotted where it may not."""
    shape = (len(rows), len(columns))
    return viz.number_heatmap(
        np.where(hidden.cells(shape), np.nan, 1.0),
        rows,
        columns,
        scale=viz.WEIGHT,
        largest=4.0,
        hidden=hidden,
        numbers=True,
        titles=("", ""),
        hover=(say("hover_query"), say("hover_key"), say("masks_allowed")),
        design_width=design_width,
        legend_lines=2 if design_width else 1,
        theme=theme,
    )


def named_hidden() -> Callable[..., viz.Hidden]:
    """``viz.Hidden`` with the words of the page's legend."""
    return partial(viz.Hidden, masked_name=say("masks_masked"), padded_name=say("masks_padded"))


def source_tokens(sentence: str, padding: int) -> tuple[str, ...]:
    """(K,) the characters of a sentence, its end mark and its ``padding``."""
    return (*map(visible_token, sentence), "</s>", *[PADDING] * padding)


def axes(kind: str, sentence: str, padding: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(row tokens, column tokens) of a sentence that is written as it was read, with its padding.

    >>> axes("decoder_attention", "네", padding=1)
    (('네', '</s>', '∅'), ('<s>', '네', '∅'))
    """
    read = source_tokens(sentence, padding)
    if kind != "decoder_attention":
        return read, read
    return read, ("<s>", *read[: len(sentence)], *read[len(sentence) + 1 :])


def padded_cells(length: int, padding: int) -> np.ndarray:
    """(Q, K) bool with Q = K = ``length``, True in the columns of the padding, which ends each row."""
    return np.broadcast_to(np.arange(length) >= length - padding, (length, length))
