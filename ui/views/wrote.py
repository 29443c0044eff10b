"""The view *who wrote it*: what each part of the decoder added to a character's score, and where each head looked meanwhile."""

from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.residual_stream import KINDS, LogitAttribution, LogitLens, ResidualComponent
from model.trace.interventions import Head
from ui.asking import questions
from ui.components import figures
from ui.sentence.state import Lens
from ui.shell import address, controls
from ui.shell.settings import Choice
from ui.views.sources import asked_about, choose_step
from ui.views.view import Values, View, declare, file_name, idea, needs_answer, picture_title
from ui.wording import change_in_words, head_name, nats, say
from viz.figure import Specification
from viz.labels import visible_token

PARTS, MAP = "parts", "map"
SETTINGS = (Choice("wrote_as", (PARTS, MAP)), Choice("wrote_order", ("size", "network")))
SHOWN = 12  # bars that stand for one part each; all others are one bar together
FORMULA = (
    r"\log p(a) - \log p(b) = \sum_{\mathrm{part}} \frac{\gamma \odot (x_{\mathrm{part}} - \bar x_{\mathrm{part}})}"
    r"{\sigma} \cdot (e_a - e_b) + \mathrm{const}"
    r"\qquad x_h = \sum_j \alpha^h_{ij}\, v^h_j W^h_O"
)


def written(lens: Lens) -> LogitAttribution:
    return questions.direct_logit_attribution(lens.sentence, lens.corrector)


def number_of(lens: Lens, found: LogitAttribution | LogitLens) -> int:
    """The question that is looked at: that of the change in focus or of the chosen step; of the first step where a fix
    writes the same as what was typed."""
    about = asked_about(lens)
    if isinstance(about, int):
        return about
    number = None if about is None else found.changes[lens.all_changes.index(about)]
    return about.target_start if number is None and about else number or 0


def draw(lens: Lens, values: Values) -> None:
    """The bars of one character, or the selected head's map in nats."""
    found = written(lens)
    with st.container(key="wrote_choices", horizontal=True, vertical_alignment="center", gap="small"):
        controls.choose(
            "wrote_as", [PARTS, MAP], lambda how: say(f"wrote_as_{how}"), label_visibility="collapsed"
        )
        if values["wrote_as"] == PARTS:
            choose_step(lens, found.questions[number_of(lens, found)].row)
    if values["wrote_as"] == PARTS:
        figure, label = _parts(lens, values, found)
        figures.draw(figure, "wrote", file_name(lens, "wrote"), partial(open_part, lens), label=label)
    elif lens.kind in KINDS:
        figure, label = _map(lens, found)
        figures.draw(
            figure, "wrote_map", file_name(lens, "wrote-map"), label=label, title=picture_title(lens)
        )


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[go.Figure | Specification, str]]:
    """The bars, and the selected head's map where it is one of the decoder's."""
    found = written(lens)
    maps = {"wrote_map": _map(lens, found)} if lens.kind in KINDS else {}
    return {"wrote": _parts(lens, values, found)} | maps


def _parts(lens: Lens, values: Values, found: LogitAttribution) -> tuple[Specification, str]:
    number = number_of(lens, found)
    ranked = sorted(found.parts(number), key=lambda part: -abs(part.nats))
    shown, rest = ranked[:SHOWN], ranked[SHOWN:]
    if values["wrote_order"] == "network":
        shown = [part for part in found.parts(number) if part in shown]
    chosen = lens.kind, lens.layer, lens.head
    amounts = [
        viz.Amount(name_of(part), part.nats, part[:3] if part.head is not None else None, part[:3] == chosen)
        for part in shown
    ]
    amounts += (
        [viz.Amount(say("wrote_rest", count=len(rest)), sum(part.nats for part in rest))] if rest else []
    )
    figure = viz.waterfall.specification(
        amounts, total_name=say("wrote_sum"), value_title=say("wrote_nats"), theme=lens.theme
    )
    return figure, say("wrote_label", token=visible_token(found.questions[number].written_token))


def _map(lens: Lens, found: LogitAttribution) -> tuple[Specification, str]:
    maps = found.maps(lens.kind)
    values = selected(lens, maps)
    one = lens.layer is not None and lens.head is not None
    figure = viz.attention_heatmap.specification(
        values,
        lens.queries,
        lens.keys,
        texts=viz.MapTexts(
            query_axis=say(f"query_{lens.kind}"),
            key_axis=say(f"key_{lens.kind}"),
            query=say("hover_query"),
            key=say("hover_key"),
            weight=say("wrote_nats"),
            masked=say("masked"),
            faint=say("wrote_faint", floor=viz.FAINT),
            ringed=say("wrote_ringed"),
        ),
        masked=lens.masked,
        ringed=lens.weights.argmax(axis=1).tolist(),
        emphasis_rows=lens.rows,
        extent=lens.extent,
        difference=True,
        unbounded=True,
        # One scale for all heads of a kind, so that two of them can be compared.
        colour_max=float(np.abs(maps if one else values).max()) or None,
        theme=lens.theme,
    )
    return figure, f"{say(f'kind_{lens.kind}')} · {place(lens)} · {say('wrote_nats')}"


def selected(lens: Lens, maps: np.ndarray) -> np.ndarray:
    """(T, K) of (L, H, T, K): the selected head's; nats add up, so where attention shows a mean this is a sum."""
    layers = slice(None) if lens.layer is None else slice(lens.layer, lens.layer + 1)
    heads = slice(None) if lens.head is None else slice(lens.head, lens.head + 1)
    return maps[layers, heads].sum(axis=(0, 1))


def tiles(lens: Lens) -> np.ndarray | None:
    """(L, H, T, K) for the picture of all heads; None for the encoder's, whose parts are not told apart."""
    return written(lens).maps(lens.kind) if lens.kind in KINDS else None


def place(lens: Lens) -> str:
    """The words for layer and head, where several are a sum."""
    if lens.layer is not None and lens.head is not None:
        return lens.place
    numbers = {"layer": (lens.layer or 0) + 1, "head": (lens.head or 0) + 1}
    if lens.layer is None:
        return say("wrote_place_all" if lens.head is None else "wrote_place_head", **numbers)
    return say("wrote_place_layer", **numbers)


def name_of(part: ResidualComponent) -> str:
    """A head by its kind and numbers, as on the tiles; another part by its name."""
    if part.layer is not None and part.head is not None:
        return head_name(Head(part.name, part.layer, part.head))
    return say(f"wrote_{part.name}", layer=(part.layer or 0) + 1)


def open_part(lens: Lens, point: dict) -> None:
    """Show the map of a chosen bar's head; an unknown point changes nothing."""
    match point.get("custom"):
        case [str(kind), int(layer), int(head)] if kind in KINDS:
            layers, heads = lens.trace.shape(kind)
            if 0 <= layer < layers and 0 <= head < heads:
                address.put_head(layer, head, kind)
                address.put("wrote_as", MAP)


def describe(lens: Lens, values: Values) -> str:
    """The part that wrote most, or where the selected head looked while it did."""
    found = written(lens)
    return _describe_map(lens, found) if values["wrote_as"] == MAP else _describe_parts(lens, found)


def _describe_parts(lens: Lens, found: LogitAttribution) -> str:
    number = number_of(lens, found)
    question = found.questions[number]
    most = max(found.parts(number), key=lambda part: part.nats)
    of_change = number >= len(lens.trace.target_tokens) and lens.asked_change
    asked = {
        "token": visible_token(question.written_token),
        "other": visible_token(question.instead_token),
        "part": name_of(most),
        "nats": nats(most.nats),
        "score": nats(found.score[number]),
    }
    if of_change:
        return say("wrote_reading", change=change_in_words(of_change), **asked)
    return say("wrote_reading_step", step=question.row + 1, **asked)


def _describe_map(lens: Lens, found: LogitAttribution) -> str:
    if lens.kind not in KINDS:
        return say("wrote_encoder")
    rows = [row for row in lens.rows if row < len(lens.queries)] or [0]
    values = selected(lens, found.maps(lens.kind))
    row = rows[int(np.abs(values[rows]).max(axis=1).argmax())]
    key, looked = int(np.abs(values[row]).argmax()), int(lens.weights[row].argmax())
    asked = {
        "query": visible_token(lens.queries[row]),
        "key": visible_token(lens.keys[key]),
        "nats": nats(values[row, key]),
        "place": place(lens),
    }
    if key == looked:
        return say("wrote_map_reading_same", **asked)
    return say("wrote_map_reading", **asked, looked=visible_token(lens.keys[looked]))


def notes(lens: Lens, values: Values) -> list[str]:
    """What the numbers are, what is taken as given, and how exact the sum is."""
    told = [say("wrote_map_note" if values["wrote_as"] == MAP else "wrote_note"), say("wrote_given")]
    if lens.can(declared.direct_logit_attribution):
        found = written(lens)
        told.append(say("wrote_exact", remainder=f"{abs(found.remainder(number_of(lens, found))):.0e}"))
    return told


def other_look(lens: Lens, view: str) -> str | None:
    """What the switch between where a head looked and what it wrote leads to in ``view``: "wrote", "heatmap", or None where there is no switch."""
    if view == "heatmap" and lens.kind in KINDS and lens.can(declared.direct_logit_attribution):
        return VIEW.name
    return "heatmap" if view == VIEW.name and address.get("wrote_as") == MAP else None


def switch_look(view: str) -> None:
    """From a callback: show the same head's map in ``view``."""
    address.put("view", view)
    if view == VIEW.name:
        address.put("wrote_as", MAP)


VIEW = declare(
    View(
        "wrote",
        "attention",
        50,
        describe,
        draw,
        SETTINGS,
        notes,
        idea("wrote", FORMULA),
        figures=figures_of,
        tiles=tiles,
        drawn=SETTINGS[:1],
        lacks=needs_answer(declared.direct_logit_attribution, "lacks_residual"),
    )
)
