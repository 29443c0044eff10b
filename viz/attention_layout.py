"""The layout of an attention heatmap: its axes, its frames, its legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from viz.attention_info import FOOT, SCALE_HEIGHT, AttentionInfo
from viz.cell_overlay import outlines
from viz.figure import TITLE_HEIGHT, base_axis, base_layout, figure_title
from viz.labels import plain_text, token_label
from viz.theme import palette
from viz.token_axis import row_ticks

if TYPE_CHECKING:
    from viz.attention import MapTexts


def attention_layout(info: AttentionInfo, texts: MapTexts, extent: int | None, theme: str) -> dict:
    """The layout of ``attention_heatmap``; the MapTexts are escaped here."""
    framed = info.selected and (info.selected[0] + 1, info.selected[1] + 1)
    return base_layout(theme) | {
        "title": figure_title(plain_text(texts.title), info.height),
        "xaxis": _key_axis(info, texts.key_axis, theme),
        "yaxis": _query_axis(info, texts.query_axis, theme),
        "xaxis2": _hover_axis("x", info.columns_span, info.origin[1], info.key_tokens),
        "yaxis2": _hover_axis("y", info.rows_span, info.origin[0], info.query_tokens),
        "shapes": outlines(framed, info.rows_span, info.columns_span, theme) if framed else [],
        "meta": _fit(info, texts, extent),
        "height": info.height,
        "margin": {"t": info.top, "l": info.left, "r": 16, "b": FOOT},
        "plot_bgcolor": palette(theme).grid if info.weights.size else "rgba(0,0,0,0)",
        "legend": _legend(info),
    }


def _fit(info: AttentionInfo, texts: MapTexts, extent: int | None) -> dict:
    """What a page needs to fit the figure to its window (``browser/plot_fit.js``) and to read cells out."""
    rows, columns = len(info.query_tokens), len(info.key_tokens)
    return {
        "fit": "cells",
        "rows": max(rows, 1),
        "columns": max(columns, 1),
        "extent": max(rows, columns, extent or 0, 1),
        "row_em": round(info.widest_row, 1),
        "column_em": round(info.widest_column, 1),
        "upright": info.columns.angle == 0,
        "names": [plain_text(name) for name in (texts.query, texts.key, texts.weight)],
    }


def _key_axis(info: AttentionInfo, title: str, theme: str) -> dict:
    columns = info.columns
    return base_axis(theme, plain_text(title)) | {
        "side": "top",
        "range": info.columns_span,
        "tickmode": "array",
        "tickvals": [column + info.origin[1] for column in columns.positions],
        "ticktext": columns.above(),
        "tickangle": columns.angle,
        "tickfont": {"size": info.cell.font},
        "showgrid": False,
        "constrain": "domain",
        "constraintoward": "left",
    }


def _query_axis(info: AttentionInfo, title: str, theme: str) -> dict:
    start, colour = info.origin[0], palette(theme).accent
    always = {row - info.first[0] for row in info.emphasis_rows}
    rows = row_ticks(info.query_tokens, info.cell, always)
    labels = (token_label(info.query_tokens[row]) for row in rows)
    return (
        base_axis(theme, plain_text(title))
        | {
            "range": info.rows_span,
            "tickmode": "array",
            "tickvals": [row + start for row in rows],
            "ticktext": [
                _emphasised(label, colour) if row in always else label
                for row, label in zip(rows, labels, strict=True)
            ],
            "tickfont": {"size": info.cell.font},
            "showgrid": False,
            "automargin": True,
            "constrain": "domain",
            "constraintoward": "top",
        }
        | ({"scaleanchor": "x", "scaleratio": 1} if info.cell.square else {})
    )


def _hover_axis(over: str, span: tuple[float, float], first: int, tokens: Sequence[str]) -> dict:
    """An invisible axis with a label for every place. The hover reads labels from it, also those that have no room on screen."""
    return {
        "overlaying": over,
        "matches": over,
        "range": span,
        "tickmode": "array",
        "tickvals": list(range(first, first + len(tokens))),
        "ticktext": [token_label(token) for token in tokens],
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _legend(info: AttentionInfo) -> dict:
    return {
        "orientation": "h",
        "x": 0,
        "yref": "container",
        "y": 1 - (TITLE_HEIGHT + SCALE_HEIGHT) / info.height,
        "yanchor": "top",
        "itemclick": False,
        "itemdoubleclick": False,
        "bgcolor": "rgba(0,0,0,0)",
    }


def _emphasised(label: str, colour: str) -> str:
    return f'<b><span style="color:{colour}">{label}</span></b>'
