"""View *predict*: mark the characters that should matter, then compare with the attention."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import streamlit as st

from model.analysis.edits import MARKS, Agreement, agreeing_head, agreement, attention_of_change, focus
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import LayerHead
from ui import wording
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.settings import Flag, Text, is_number
from ui.views.edits import KIND, bars
from ui.views.view import Figures, Part, View, ask_without, needs_changes, open_head
from ui.wording import change_in_words, percent, say
from viz.labels import visible_token

AROUND, ALL = (12, 24), "all"
MARKED = Text("marks")  # positions in the source that the visitor expects to matter, such as 3,4,5; from 0
REVEALED = Flag("revealed")  # the attention is shown beside the marks
OFFERED = Text("around", str(AROUND[0]))  # how many tokens left and right of a change can be marked, or all
FORMULA = (
    r"\mathrm{share} = \sum_{s \in M} a_s \qquad \mathrm{random} = \frac{|M|}{n} \sum_{s=1}^{n} a_s"
    r"\qquad \mathrm{best} = \max_{|B| = |M|} \sum_{s \in B} a_s"
)


def is_revealed(state: SentenceState) -> bool:
    return controls.is_on(REVEALED.name) and bool(marks(state))


def marks(state: SentenceState) -> list[int]:
    """The marked positions, in order; other numbers are left out. Positions are source tokens (S,), from
    0."""
    numbers = {int(part) for part in address.get(MARKED.name).split(",") if is_number(part)}
    return sorted(number for number in numbers if number < _markable(state))


def _markable(state: SentenceState) -> int:
    """How many source tokens can be marked: all but the end mark."""
    tokens = state.trace.source_tokens
    return len(tokens) - (tokens[-1] in MARKS)


def window(state: SentenceState, change: Change, around: str) -> range:
    """The positions that are offered: the source of ``change`` and ``around`` tokens on each side."""
    length = _markable(state)
    if around == ALL:
        return range(length)
    columns = focus(state.trace, KIND, change).columns
    return range(max(columns[0] - int(around), 0), min(columns[-1] + int(around) + 1, length))


def label(token: str, position: int, changed: bool) -> str:
    """A token in Markdown, with its position, by which repeated syllables differ; bold if changed.

    >>> label("밥", 0, changed=True)
    '**밥** :small[1]'
    """
    shown = wording.plain_markdown(visible_token(token))
    return f"{f'**{shown}**' if changed else shown} :small[{position + 1}]"


def offered(state: SentenceState, change: Change) -> range:
    """The positions that can be marked now."""
    options = _widths(state, change)
    return window(state, change, address.get_option(OFFERED.name, options) if options else ALL)


def _widths(state: SentenceState, change: Change) -> list[str]:
    everything = window(state, change, ALL)
    narrower = [str(count) for count in AROUND if window(state, change, str(count)) != everything]
    return [*narrower, ALL] if narrower else []


class Predict(View):
    """Characters to mark; once they are marked, the attention beside them."""

    name, page, order = "predict", "attention", 90
    settings = (MARKED, REVEALED, OFFERED)
    drawn = (REVEALED,)
    formulas = (FORMULA,)
    has_map = False
    lacks = staticmethod(needs_changes)
    unchanged = "predict_nothing"

    @cached_property
    def is_revealed(self) -> bool:
        return is_revealed(self.state)

    @cached_property
    def attention(self) -> np.ndarray:
        """(L, H, S): how the change looks at the source."""
        return attention_of_change(self.state.trace, self.state.explained)

    @cached_property
    def heads(self) -> Agreement:
        """The marks' agreement with each head; its arrays are (L, H)."""
        return agreement(self._markable, marks(self.state))

    @cached_property
    def mean(self) -> Agreement:
        """The marks' agreement with the mean."""
        return agreement(self._markable.mean(axis=(0, 1)), marks(self.state))

    @property
    def _markable(self) -> np.ndarray:
        return self.attention[..., : _markable(self.state)]  # the end mark cannot be marked

    @cached_property
    def head(self) -> LayerHead:
        return agreeing_head(self.heads)

    @property
    def has_several(self) -> bool:
        return self.heads.share.size > 1

    @property
    def _place(self) -> str:
        return self.state.place_of(self.head, KIND)

    def show(self) -> None:
        self._forget_another_question()
        if is_revealed(self.state):
            self._compare()
        else:
            self._ask()

    def _question(self) -> dict[str, str]:
        token = visible_token(self.state.trace.target_tokens[self.state.asked_row])
        return {"change": change_in_words(self.state.explained), "token": token}

    def reading(self) -> str:
        """The question; once it is answered, how the marks compare with the attention."""
        if not self.is_revealed:
            return say(
                "predict_question" if self.state.focus else "predict_question_first", **self._question()
            )
        mean = self.mean
        return say(
            "predict_reading" if self.has_several else "predict_reading_only",
            count=mean.marks,
            share=percent(float(mean.share)),
            best=percent(float(mean.best)),
            random=percent(float(mean.random)),
            hits=int(mean.hits),
            place=self._place,
            most=percent(float(self.heads.share[self.head])),
        )

    def reading_of_class(self) -> str:
        """A phone marks nothing, so it is not asked to."""
        if self.message is not None or self.is_revealed:
            return self.describe()
        return say("class_predict", **self._question())

    def parts(self) -> list[Part]:
        if self.is_revealed:
            return super().parts()
        state = self.state
        marked, places = marks(state), offered(state, state.changes[0])
        tokens = [(visible_token(state.trace.source_tokens[place]), place in marked) for place in places]
        return [("marks", {"tokens": tokens})]

    def _forget_another_question(self) -> None:
        sentence, change = self.state.sentence, self.state.explained
        question = (sentence.source, change.source_start, change.source_end, change.right)
        answer = (sentence.text, self.state.corrector.fingerprint)
        address.bind([MARKED.name], "question", question)
        address.bind([REVEALED.name], "answer", (question, answer))

    def _ask(self) -> None:
        """The characters to mark, and the button that ends the guessing."""
        state, change = self.state, self.state.explained
        if widths := _widths(state, change):
            named = lambda option: say("around_all") if option == ALL else f"±{option}"
            controls.choose(OFFERED.name, widths, named)
        places, marked = offered(state, change), marks(state)
        key, start = controls.seed("control_marks", [place for place in marked if place in places])
        tokens = state.trace.source_tokens
        changed = range(change.source_start, change.source_end)
        st.pills(
            say("predict_marks"),
            list(places),
            selection_mode="multi",
            default=start,
            format_func=lambda place: label(tokens[place], place, place in changed),
            key=key,
            on_change=_keep_marks,
            args=(marked, places),
        )
        if hidden := [place for place in marked if place not in places]:
            markup.paragraph(say("predict_hidden", count=len(hidden)), "note")
        # A button that cannot be pressed could not be reached by keyboard, either.
        if st.button(say("predict_reveal"), key="predict_reveal", on_click=_reveal) and not marked:
            st.warning(say("predict_no_marks"))

    def _compare(self) -> None:
        self.draw_figures(*self.opened)
        with st.container(horizontal=True, gap="small"):
            settings = [MARKED.name, REVEALED.name]
            controls.button(say("predict_again"), "predict_again", address.reset, settings)
            if self.has_several:
                chosen, text = Head(KIND, *self.head), say("predict_open", place=self._place)
                controls.button(text, "predict_open", open_head, self.state, chosen)
                ask_without(self.state, chosen, "predict_off")
        markup.paragraph(self._looked(), "note")
        rows = [_numbers(self.mean, ())] if self.has_several else []
        columns = [say(f"predict_column_{name}") for name in ("share", "random", "best", "hits")]
        cells = dict(zip(self._names(), [*rows, _numbers(self.heads, self.head)], strict=True))
        markup.table(columns, cells, say("predict_table"))
        markup.paragraph(say("predict_not_an_explanation"), "note")

    def _looked(self) -> str:
        """Where each character of the change looked most."""
        trace, told = self.state.trace, []
        weights = trace.attention(KIND).mean(axis=(0, 1))
        for row in focus(trace, KIND, self.state.explained).rows:
            key = int(weights[row].argmax())
            names = {"written": trace.target_tokens[row], "looked": trace.source_tokens[key]}
            tokens = {name: visible_token(token) for name, token in names.items()}
            told.append(say("predict_row", **tokens, position=key + 1, weight=f"{weights[row, key]:.3f}"))
        return say("predict_rows", of=self._names()[0], rows=" · ".join(told))

    @cached_property
    def figures(self) -> Figures:
        """The bars with the marks; none before the reveal, since they would give the answer away."""
        if not self.is_revealed:
            return {}
        state, change = self.state, self.state.explained
        rows = [self.attention.mean(axis=(0, 1))] if self.has_several else []
        outlined = (marks(state), say("predict_outlined"))
        figure = bars(state, change, [*rows, self.attention[self.head]], self._names(), outlined)
        return {"predict_bars": (figure, change_in_words(change))}

    def _names(self) -> list[str]:
        place = self._place
        return [say("predict_mean"), say("predict_head", place=place)] if self.has_several else [place]


def _keep_marks(marked: Sequence[int], offered: range) -> None:
    elsewhere = [position for position in marked if position not in offered]
    chosen = sorted({*elsewhere, *st.session_state["control_marks"]})
    address.put(MARKED.name, ",".join(map(str, chosen)))
    address.reset([REVEALED.name])  # a link may say that nothing was marked and yet revealed


def _reveal() -> None:
    if address.get(MARKED.name):
        address.put(REVEALED.name, "1")


def _numbers(found: Agreement, place: tuple[int, ...]) -> list[str]:
    shares = (found.share[place], found.random[place], found.best[place])
    return [*(percent(float(share)) for share in shares), f"{found.hits[place]} / {found.marks}"]
