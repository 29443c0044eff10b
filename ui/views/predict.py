"""View *predict*: mark the characters that should matter, then compare with the attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from model.analysis.edits import MARKS, Agreement, agreeing_head, agreement, attention_of_change, focus
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import Selection
from ui import wording
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.settings import Flag, Text, is_number
from ui.views.edits import KIND, bars
from ui.views.view import (
    Figures,
    Values,
    View,
    ask_without,
    idea,
    needs_changes,
    open_head,
)
from ui.wording import change_in_words, percent, say
from viz.labels import visible_token

if TYPE_CHECKING:
    import pandas as pd

AROUND, ALL = (12, 24), "all"
MARKED = Text("marks")  # positions in the source that the visitor expects to matter, such as 3,4,5; from 0
REVEALED = Flag("revealed")  # the attention is shown beside the marks
OFFERED = Text("around", str(AROUND[0]))  # how many tokens left and right of a change can be marked, or all
FORMULA = (
    r"\mathrm{share} = \sum_{s \in M} a_s \qquad \mathrm{random} = \frac{|M|}{n} \sum_{s=1}^{n} a_s"
    r"\qquad \mathrm{best} = \max_{|B| = |M|} \sum_{s \in B} a_s"
)


def _draw(state: SentenceState, values: Values) -> None:
    change = state.explained
    _forget_another_question(state, change)
    if is_revealed(state):
        _compare(state, change)
    else:
        _ask(state, change)


def is_revealed(state: SentenceState) -> bool:
    return controls.is_on(REVEALED.name) and bool(marks(state))


def _describe(state: SentenceState, values: Values) -> str:
    """The question; once it is answered, how the marks compare with the attention."""
    change = state.explained
    if is_revealed(state):
        return _comparison(state, *_agreements(state, change)[:3])
    return say(
        "predict_question" if state.focus else "predict_question_first",
        change=change_in_words(change),
        token=visible_token(state.trace.target_tokens[state.asked_row]),
    )


def marks(state: SentenceState) -> list[int]:
    """The marked positions, in order; other numbers are left out."""
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
    """A token in Markdown, with its position, by which repeated syllables differ; bold if changed."""
    shown = wording.plain_markdown(visible_token(token))
    return f"{f'**{shown}**' if changed else shown} :small[{position + 1}]"


def _forget_another_question(state: SentenceState, change: Change) -> None:
    question = (state.sentence.source, change.source_start, change.source_end, change.right)
    answer = (state.sentence.text, state.corrector.fingerprint)
    address.bind([MARKED.name], "question", question)
    address.bind([REVEALED.name], "answer", (question, answer))


def _ask(state: SentenceState, change: Change) -> None:
    """The characters to mark, and the button that ends the guessing."""
    offered, marked = _offer(state, change), marks(state)
    key, start = controls.seed("control_marks", [position for position in marked if position in offered])
    tokens = state.trace.source_tokens
    changed = range(change.source_start, change.source_end)
    st.pills(
        say("predict_marks"),
        list(offered),
        selection_mode="multi",
        default=start,
        format_func=lambda position: label(tokens[position], position, position in changed),
        key=key,
        on_change=_keep_marks,
        args=(marked, offered),
    )
    if hidden := [position for position in marked if position not in offered]:
        markup.paragraph(say("predict_hidden", count=len(hidden)), "note")
    # A button that cannot be pressed could not be reached by keyboard, either.
    if st.button(say("predict_reveal"), key="predict_reveal", on_click=_reveal) and not marked:
        st.warning(say("predict_no_marks"))


def _offer(state: SentenceState, change: Change) -> range:
    if options := _widths(state, change):
        controls.choose(
            OFFERED.name, options, lambda option: say("around_all") if option == ALL else f"±{option}"
        )
    return offered(state, change)


def offered(state: SentenceState, change: Change) -> range:
    """The positions that can be marked now."""
    options = _widths(state, change)
    return window(state, change, address.get_option(OFFERED.name, options) if options else ALL)


def _widths(state: SentenceState, change: Change) -> list[str]:
    everything = window(state, change, ALL)
    narrower = [str(count) for count in AROUND if window(state, change, str(count)) != everything]
    return [*narrower, ALL] if narrower else []


def _keep_marks(marked: Sequence[int], offered: range) -> None:
    elsewhere = [position for position in marked if position not in offered]
    chosen = sorted({*elsewhere, *st.session_state["control_marks"]})
    address.put(MARKED.name, ",".join(map(str, chosen)))
    address.reset([REVEALED.name])  # a link may say that nothing was marked and yet revealed


def _reveal() -> None:
    if address.get(MARKED.name):
        address.put(REVEALED.name, "1")


def _compare(state: SentenceState, change: Change) -> None:
    VIEW.draw_figures(state, {})
    mean, heads, head, _ = _agreements(state, change)
    several = heads.share.size > 1
    with st.container(horizontal=True, gap="small"):
        st.button(
            say("predict_again"),
            key="predict_again",
            on_click=address.reset,
            args=([MARKED.name, REVEALED.name],),
        )
        if several:
            chosen, place = Head(KIND, *head), _place(state, head)
            st.button(
                say("predict_open", place=place), key="predict_open", on_click=open_head, args=(state, chosen)
            )
            ask_without(state, chosen, "predict_off")
    for told in _paragraphs(state, {}):
        markup.paragraph(told, "note")
    compared = [_numbers(mean, ())] if several else []
    markup.table(_table([*compared, _numbers(heads, head)], _names(state, heads, head)), say("predict_table"))
    markup.paragraph(say("predict_not_an_explanation"), "note")


def _paragraphs(state: SentenceState, values: Values) -> list[str]:
    """Where the attention lies, once the marks are compared with it."""
    if not is_revealed(state):
        return []
    _, heads, head, _ = _agreements(state, state.explained)
    return [_rows_told(state, state.explained, _names(state, heads, head)[0])]


def _rows_told(state: SentenceState, change: Change, of: str) -> str:
    """Where each character of ``change`` looked most: the bars are of the one in question. ``of``: whose
    attention it is."""
    weights, told = state.trace.attention(KIND).mean(axis=(0, 1)), []
    for row in focus(state.trace, KIND, change).rows:
        key = int(weights[row].argmax())
        names = {"written": state.trace.target_tokens[row], "looked": state.trace.source_tokens[key]}
        told.append(
            say(
                "predict_row",
                **{name: visible_token(token) for name, token in names.items()},
                position=key + 1,
                weight=f"{weights[row, key]:.3f}",
            )
        )
    return say("predict_rows", of=of, rows=" · ".join(told))


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """The bars with the marks; none before the reveal, since they would give the answer away."""
    if not is_revealed(state):
        return {}
    change = state.explained
    _, heads, head, attention = _agreements(state, change)
    rows = [attention.mean(axis=(0, 1))] if heads.share.size > 1 else []
    outlined = (marks(state), say("predict_outlined"))
    figure = bars(state, change, [*rows, attention[head]], _names(state, heads, head), outlined)
    return {"predict_bars": (figure, change_in_words(change))}


def _names(state: SentenceState, heads: Agreement, head: tuple[int, int]) -> list[str]:
    place = _place(state, head)
    return [say("predict_mean"), say("predict_head", place=place)] if heads.share.size > 1 else [place]


def _place(state: SentenceState, head: tuple[int, int]) -> str:
    return Selection(KIND, *head).label(say, state.trace)


def _agreements(
    state: SentenceState, change: Change
) -> tuple[Agreement, Agreement, tuple[int, int], np.ndarray]:
    """The marks' agreement with the mean and with each head, the best head, and the attention (L, H, S)."""
    attention = attention_of_change(state.trace, change)
    characters = attention[..., : _markable(state)]  # the end mark cannot be marked
    marked = marks(state)
    mean, heads = agreement(characters.mean(axis=(0, 1)), marked), agreement(characters, marked)
    return mean, heads, agreeing_head(heads), attention


def _comparison(state: SentenceState, mean: Agreement, heads: Agreement, head: tuple[int, int]) -> str:
    several = heads.share.size > 1
    return say(
        "predict_reading" if several else "predict_reading_only",
        count=mean.marks,
        share=percent(float(mean.share)),
        best=percent(float(mean.best)),
        random=percent(float(mean.random)),
        hits=int(mean.hits),
        place=_place(state, head),
        most=percent(float(heads.share[head])),
    )


def _numbers(found: Agreement, place: tuple[int, ...]) -> list[str]:
    shares = (found.share[place], found.random[place], found.best[place])
    return [*(percent(float(share)) for share in shares), f"{found.hits[place]} / {found.marks}"]


def _table(rows: Sequence[Sequence[str]], names: Sequence[str]) -> pd.DataFrame:
    # here, because it would be a third of the first page's imports, and that page does not need it
    import pandas as pd

    columns = [say(f"predict_column_{name}") for name in ("share", "random", "best", "hits")]
    return pd.DataFrame(rows, index=names, columns=columns)


VIEW = View(
    "predict",
    "attention",
    90,
    _describe,
    (MARKED, REVEALED, OFFERED),
    explain=idea("predict", FORMULA),
    drawing=_draw,
    drawn=(REVEALED,),
    figures=_figures_of,
    has_map=False,
    lacks=needs_changes,
    unchanged="predict_nothing",
).declare()
