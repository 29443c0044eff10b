"""View *logit attribution*: direct logit attribution to parts of the decoder, in nats.

Each head also has a map of its contribution over queries and keys.
"""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

import viz
from engine import questions as declared
from model.analysis.residual_stream import KINDS, LogitAttribution, LogitLens, ResidualComponent
from model.trace.interventions import Contrast, Head
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address
from ui.shell.settings import Choice
from ui.views.drawings import sum_of_parts
from ui.views.sources import asked_about, choose_step
from ui.views.view import Click, Figures, View, needs_answer
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


def number_of(state: SentenceState, found: LogitAttribution | LogitLens) -> int:
    """The question of the change in focus or of the chosen step; of the first step where a fix
    writes the same as the typed text."""
    about = asked_about(state)
    if isinstance(about, int):
        return about
    number = None if about is None else found.changes[state.all_changes.index(about)]
    return state.asked_row if number is None and about else number or 0


def _selected(state: SentenceState, maps: np.ndarray) -> np.ndarray:
    """(T, K) of (L, H, T, K): the selected head's; nats add up, so where attention shows a mean this is a
    sum."""
    layers = slice(None) if state.layer is None else slice(state.layer, state.layer + 1)
    heads = slice(None) if state.head is None else slice(state.head, state.head + 1)
    return maps[layers, heads].sum(axis=(0, 1))


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


class Attribution(View):
    """The bars of one character, or the selected head's map in nats."""

    name, page, order = "wrote", "attention", 50
    settings = (AS, ORDER)
    drawn = (AS,)
    formulas = (FORMULA,)
    lacks = staticmethod(needs_answer(declared.direct_logit_attribution, "lacks_residual"))

    @cached_property
    def found(self) -> LogitAttribution:
        """The contribution of each of the decoder's parts to the scores, in nats. Raises EngineError without
        an answer."""
        return self.state.ask(declared.direct_logit_attribution, *self.state.texts, self.state.edits)

    @property
    def number(self) -> int:
        return number_of(self.state, self.found)

    @property
    def question(self) -> Contrast:
        return self.found.questions[self.number]

    @property
    def is_map(self) -> bool:
        return self.values[AS.name] == MAP

    @cached_property
    def maps(self) -> np.ndarray | None:
        """(L, H, T, K) nats; None for a kind of the encoder, which writes nothing itself."""
        return self.found.maps(self.state.kind) if self.state.kind in KINDS else None

    def choices(self) -> list[Choice | Callable[[], object]]:
        return [AS] if self.is_map else [AS, partial(choose_step, self.state, self.question.row)]

    @property
    def opened(self) -> tuple[str, ...]:
        if not self.is_map:
            return ("wrote",)
        return () if self.maps is None else ("wrote_map",)

    @cached_property
    def figures(self) -> Figures:
        """The bars, and the selected head's map where it is one of the decoder's."""
        maps = {} if self.maps is None else {"wrote_map": self._map(self.maps)}
        return {"wrote": self._parts()} | maps

    def _parts(self) -> tuple[Specification, str]:
        state, parts = self.state, self.found.parts(self.number)
        ranked = sorted(parts, key=lambda part: -abs(part.nats))
        shown, rest = ranked[:SHOWN], ranked[SHOWN:]
        if self.values[ORDER.name] == "network":
            shown = [part for part in parts if part in shown]
        chosen = state.kind, state.layer, state.head
        amounts = [
            viz.Amount(
                _name_of(part), part.nats, part[:3] if part.head is not None else None, part[:3] == chosen
            )
            for part in shown
        ]
        tokens = self.question.written_token, self.question.instead_token
        written, instead = (say("wrote_side", token=visible_token(token)) for token in tokens)
        others = [part.nats for part in rest]
        figure = sum_of_parts(state, amounts, others, say("wrote_nats"), (written, instead))
        return figure, say("wrote_label", token=visible_token(tokens[0]))

    def _map(self, maps: np.ndarray) -> tuple[Specification, str]:
        state, values = self.state, _selected(self.state, maps)
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
            colour_max=float(np.abs(values if state.single_head is None else maps).max()) or None,
            theme=state.theme,
        )
        return figure, f"{say(f'kind_{state.kind}')} · {_place(state)} · {say('wrote_nats')}"

    def tiles(self) -> np.ndarray | None:
        """(L, H, T, K) nats, as in ``maps``."""
        return self.maps

    def on_click(self, figure: str) -> Click | None:
        """A bar of a head shows its map; an unknown point changes nothing."""

        def open_part(point: dict) -> None:
            head = figures.known_head(self.state.trace, point)
            if head is not None and head.kind in KINDS:
                address.put_head(head.layer, head.head, head.kind)
                address.put(AS.name, MAP)

        return open_part if figure == "wrote" else None

    def reading(self) -> str:
        """The part that wrote most, or where the selected head looked while it did."""
        return self._map_in_words() if self.is_map else self._parts_in_words()

    def _parts_in_words(self) -> str:
        number, question, state = self.number, self.question, self.state
        most = max(self.found.parts(number), key=lambda part: part.nats)
        asked = {
            "token": visible_token(question.written_token),
            "other": visible_token(question.instead_token),
            "part": _name_of(most),
            "nats": nats(most.nats),
            "score": nats(self.found.score[number]),
        }
        if number >= len(state.trace.target_tokens) and state.asked_change:
            return say("wrote_reading", change=change_in_words(state.asked_change), **asked)
        return say("wrote_reading_step", step=question.row + 1, **asked)

    def _map_in_words(self) -> str:
        if self.maps is None:
            return say("wrote_encoder")
        state = self.state
        values, row = _selected(state, self.maps), state.asked_query
        key, looked = int(np.abs(values[row]).argmax()), int(state.weights[row].argmax())
        asked = {
            "query": visible_token(state.queries[row]),
            "key": visible_token(state.keys[key]),
            "nats": nats(values[row, key]),
            "place": _place(state),
        }
        if key == looked:
            return say("wrote_map_reading_same", **asked)
        looked_at = visible_token(state.keys[looked])
        return say("wrote_map_reading", **asked, looked=looked_at, looker=state.place)

    def notes(self) -> list[str]:
        told = [say("wrote_map_note" if self.is_map else "wrote_note"), say("wrote_given")]
        if self.state.can(declared.direct_logit_attribution):
            told.append(say("wrote_exact", remainder=f"{abs(self.found.remainder(self.number)):.0e}"))
        return told


def other_look(state: SentenceState, view: str) -> str | None:
    """The view to which the switch between attention and attribution leads: "wrote", "heatmap", or None
    without a switch."""
    if view == "heatmap" and state.kind in KINDS and state.can(declared.direct_logit_attribution):
        return Attribution.name
    return "heatmap" if view == Attribution.name and address.get(AS.name) == MAP else None


def switch_look(view: str) -> None:
    """From a callback: show the same head's map in ``view``."""
    address.put("view", view)
    if view == Attribution.name:
        address.put(AS.name, MAP)
