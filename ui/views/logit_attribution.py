"""View *who wrote it*: direct logit attribution to parts of the decoder, in nats.

Each head also has a map of its contribution over queries and keys.
"""

from functools import partial

import numpy as np

import viz
from engine import questions as declared
from model.analysis.residual_stream import KINDS, LogitAttribution, LogitLens, ResidualComponent
from model.trace.interventions import Head
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address
from ui.shell.settings import Choice
from ui.views.drawings import sum_of_parts
from ui.views.sources import asked_about, choose_step
from ui.views.view import Click, Figures, Values, View, idea, needs_answer
from ui.wording import change_in_words, head_name, nats, say
from viz.figure import Specification
from viz.labels import visible_token

PARTS, MAP = "parts", "map"
AS, ORDER = Choice("wrote_as", (PARTS, MAP)), Choice("wrote_order", ("size", "network"))
SHOWN = 12  # bars of one part each; all others are one bar together
FORMULA = (
    r"\log p(a) - \log p(b) = \sum_{\mathrm{part}} "
    r"\frac{\gamma \odot (x_{\mathrm{part}} - \bar x_{\mathrm{part}})}"
    r"{\sigma} \cdot (e_a - e_b) + \mathrm{const}"
    r"\qquad x_h = \sum_j \alpha^h_{ij}\, v^h_j W^h_O"
)


def _attribution(state: SentenceState) -> LogitAttribution:
    return state.ask(declared.direct_logit_attribution, *state.texts, state.edits)


def number_of(state: SentenceState, found: LogitAttribution | LogitLens) -> int:
    """The question of the change in focus or of the chosen step; of the first step where a fix
    writes the same as the typed text."""
    about = asked_about(state)
    if isinstance(about, int):
        return about
    number = None if about is None else found.changes[state.all_changes.index(about)]
    return state.asked_row if number is None and about else number or 0


def _draw(state: SentenceState, values: Values) -> None:
    """The bars of one character, or the selected head's map in nats."""
    if values[AS.name] == PARTS:
        found = _attribution(state)
        VIEW.draw_choices(AS, partial(choose_step, state, found.questions[number_of(state, found)].row))
    else:
        VIEW.draw_choices(AS)
    if names := _opened(state, values):
        VIEW.draw_figures(state, values, *names)


def _opened(state: SentenceState, values: Values) -> tuple[str, ...]:
    if values[AS.name] == PARTS:
        return ("wrote",)
    return ("wrote_map",) if state.kind in KINDS else ()


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """The bars, and the selected head's map where it is one of the decoder's."""
    found = _attribution(state)
    maps = {"wrote_map": _map(state, found)} if state.kind in KINDS else {}
    return {"wrote": _parts(state, values, found)} | maps


def _parts(state: SentenceState, values: Values, found: LogitAttribution) -> tuple[Specification, str]:
    number = number_of(state, found)
    ranked = sorted(found.parts(number), key=lambda part: -abs(part.nats))
    shown, rest = ranked[:SHOWN], ranked[SHOWN:]
    if values[ORDER.name] == "network":
        shown = [part for part in found.parts(number) if part in shown]
    chosen = state.kind, state.layer, state.head
    amounts = [
        viz.Amount(_name_of(part), part.nats, part[:3] if part.head is not None else None, part[:3] == chosen)
        for part in shown
    ]
    question = found.questions[number]
    written, instead = map(visible_token, (question.written_token, question.instead_token))
    sides = say("wrote_side", token=written), say("wrote_side", token=instead)
    figure = sum_of_parts(state, amounts, [part.nats for part in rest], say("wrote_nats"), sides)
    return figure, say("wrote_label", token=written)


def _map(state: SentenceState, found: LogitAttribution) -> tuple[Specification, str]:
    maps = found.maps(state.kind)
    values = _selected(state, maps)
    one = state.layer is not None and state.head is not None
    figure = viz.attention_heatmap.specification(
        values,
        state.queries,
        state.keys,
        texts=viz.MapTexts(
            query_axis=say(f"query_{state.kind}"),
            key_axis=say(f"key_{state.kind}"),
            query=say("hover_query"),
            key=say("hover_key"),
            weight=say("wrote_nats"),
            masked=say("masked"),
            faint=say("wrote_faint", floor=viz.FAINT),
            ringed=say("wrote_ringed"),
        ),
        masked=state.masked,
        ringed=state.weights.argmax(axis=1).tolist(),
        emphasis_rows=state.rows,
        extent=state.extent,
        difference=True,
        unbounded=True,
        # One scale for all heads of a kind, so that two of them can be compared.
        colour_max=float(np.abs(maps if one else values).max()) or None,
        theme=state.theme,
    )
    return figure, f"{say(f'kind_{state.kind}')} · {_place(state)} · {say('wrote_nats')}"


def _selected(state: SentenceState, maps: np.ndarray) -> np.ndarray:
    """(T, K) of (L, H, T, K): the selected head's; nats add up, so where attention shows a mean this is a
    sum."""
    layers = slice(None) if state.layer is None else slice(state.layer, state.layer + 1)
    heads = slice(None) if state.head is None else slice(state.head, state.head + 1)
    return maps[layers, heads].sum(axis=(0, 1))


def _tiles(state: SentenceState) -> np.ndarray | None:
    return _attribution(state).maps(state.kind) if state.kind in KINDS else None


def _place(state: SentenceState) -> str:
    """The words for layer and head, where several are a sum."""
    if state.layer is not None and state.head is not None:
        return state.place
    numbers = {"layer": (state.layer or 0) + 1, "head": (state.head or 0) + 1}
    if state.layer is None:
        return say("wrote_place_all" if state.head is None else "wrote_place_head", **numbers)
    return say("wrote_place_layer", **numbers)


def _name_of(part: ResidualComponent) -> str:
    """A head by its kind and numbers, as on the tiles; another part by its name."""
    if part.layer is not None and part.head is not None:
        return head_name(Head(part.name, part.layer, part.head))
    return say(f"wrote_{part.name}", layer=(part.layer or 0) + 1)


def _on_click(state: SentenceState, figure: str) -> Click | None:
    """A bar of a head shows its map; an unknown point changes nothing."""

    def open_part(point: dict) -> None:
        head = figures.known_head(state.trace, point)
        if head is not None and head.kind in KINDS:
            address.put_head(head.layer, head.head, head.kind)
            address.put(AS.name, MAP)

    return open_part if figure == "wrote" else None


def _describe(state: SentenceState, values: Values) -> str:
    """The part that wrote most, or where the selected head looked while it did."""
    found = _attribution(state)
    return _describe_map(state, found) if values[AS.name] == MAP else _describe_parts(state, found)


def _describe_parts(state: SentenceState, found: LogitAttribution) -> str:
    number = number_of(state, found)
    question = found.questions[number]
    most = max(found.parts(number), key=lambda part: part.nats)
    of_change = number >= len(state.trace.target_tokens) and state.asked_change
    asked = {
        "token": visible_token(question.written_token),
        "other": visible_token(question.instead_token),
        "part": _name_of(most),
        "nats": nats(most.nats),
        "score": nats(found.score[number]),
    }
    if of_change:
        return say("wrote_reading", change=change_in_words(of_change), **asked)
    return say("wrote_reading_step", step=question.row + 1, **asked)


def _describe_map(state: SentenceState, found: LogitAttribution) -> str:
    if state.kind not in KINDS:
        return say("wrote_encoder")
    values, row = _selected(state, found.maps(state.kind)), state.asked_query
    key, looked = int(np.abs(values[row]).argmax()), int(state.weights[row].argmax())
    asked = {
        "query": visible_token(state.queries[row]),
        "key": visible_token(state.keys[key]),
        "nats": nats(values[row, key]),
        "place": _place(state),
    }
    if key == looked:
        return say("wrote_map_reading_same", **asked)
    return say("wrote_map_reading", **asked, looked=visible_token(state.keys[looked]), looker=state.place)


def _notes(state: SentenceState, values: Values) -> list[str]:
    told = [say("wrote_map_note" if values[AS.name] == MAP else "wrote_note"), say("wrote_given")]
    if state.can(declared.direct_logit_attribution):
        found = _attribution(state)
        told.append(say("wrote_exact", remainder=f"{abs(found.remainder(number_of(state, found))):.0e}"))
    return told


def other_look(state: SentenceState, view: str) -> str | None:
    """The view to which the switch between attention and attribution leads: "wrote", "heatmap", or None
    without a switch."""
    if view == "heatmap" and state.kind in KINDS and state.can(declared.direct_logit_attribution):
        return VIEW.name
    return "heatmap" if view == VIEW.name and address.get(AS.name) == MAP else None


def switch_look(view: str) -> None:
    """From a callback: show the same head's map in ``view``."""
    address.put("view", view)
    if view == VIEW.name:
        address.put(AS.name, MAP)


VIEW = View(
    "wrote",
    "attention",
    50,
    _describe,
    (AS, ORDER),
    _notes,
    idea("wrote", FORMULA),
    _draw,
    _figures_of,
    _on_click,
    drawn=(AS,),
    opened=_opened,
    tiles=_tiles,
    lacks=needs_answer(declared.direct_logit_attribution, "lacks_residual"),
).declare()
