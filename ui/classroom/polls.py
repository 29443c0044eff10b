"""Predicting together: the teacher asks, everybody touches an answer, and at one press the class's answers stand beside the network's."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from classroom import ClassroomError, ClosedError, Poll, State
from ui.asking import loaders
from ui.classroom import scene, truth
from ui.classroom.membership import Membership
from ui.components import figures
from ui.look.lens import Lens
from ui.shell import address, markup
from ui.shell.runs import spinner
from ui.wording import say
from viz.labels import plain_text

PANEL = 120  # pixels of a row of bars, on a projector
FOOT = 60  # pixels, of the names of the options in one line
MOST_NAMED = 3  # options that were chosen equally often


def ask(mine: Membership, kind: str) -> str | None:
    """Ask the class about what the teacher shows now. Returns the text that says why it cannot be asked, or None."""
    lens = scene.lens()
    if lens is None:
        return "class_no_picture"
    found = truth.KINDS[kind]
    if problem := found.lacks(lens):
        return problem
    options = found.options(lens)
    most = min(found.most, len(options))
    loaders.classrooms().ask(mine.code, mine.key, kind, options, most, address.shared("sentence"))
    truth.prepare(kind, lens)
    return None


def show(mine: Membership, state: State, poll: Poll) -> None:
    """The question; then what can be touched, or what the class and the network answered."""
    with address.looking_at(poll.about):
        lens = scene.lens() if poll.kind in truth.KINDS else None
        if lens is None:
            st.info(say("class_no_picture"))
            return
        with spinner(say("working_laboratory")):
            asked = truth.question(poll.kind, lens)
        markup.corrected(lens.sentence.source, [])
        markup.paragraph(asked, "class-question")
        if poll.revealed:
            _reveal(state, poll, lens)
    if not poll.revealed:
        _board(mine, state, poll)


def _board(mine: Membership, state: State, poll: Poll) -> None:
    """The options, as large as a finger; what is touched is sent at once, and can be changed until the reveal."""
    key = f"class_answer_{poll.number}"
    several = poll.most > 1
    chosen = [place for place in state.mine if place < len(poll.options)]
    if key not in st.session_state and chosen:
        st.session_state[key] = chosen if several else chosen[0]
    with st.container(key="class_board"):
        st.pills(
            say("class_touch_several", most=poll.most) if several else say("class_touch"),
            range(len(poll.options)),
            selection_mode="multi" if several else "single",
            format_func=lambda place: truth.button_label(poll.kind, poll.options[place]),
            key=key,
            on_change=_answer,
            args=(mine, poll, key),
        )
    markup.paragraph(say("class_answered_mine") if chosen else say("class_answer_now"), "note")


def _answer(mine: Membership, poll: Poll, key: str) -> None:
    held = st.session_state[key]
    places = held if isinstance(held, list) else [] if held is None else [held]
    if len(places) > poll.most:  # the newest push out the oldest
        places = st.session_state[key] = places[-poll.most :]
    try:
        loaders.classrooms().answer(mine.code, mine.seat, poll.number, tuple(places))
    except ClosedError:  # the teacher revealed meanwhile, which the next beat shows
        return
    except ClassroomError:
        st.session_state.pop(key, None)


def _reveal(state: State, poll: Poll, lens: Lens) -> None:
    """One picture: the class, and below it what the network says."""
    with spinner(say("working_laboratory")):
        rows = truth.KINDS[poll.kind].rows(lens)
        after = truth.afterwards(poll.kind, lens)
    counts = np.array(state.counts, float)
    panels = [
        viz.MethodPanel(say("class_row_class", count=state.answered), counts, labels=_numbers(state.counts)),
        *(viz.MethodPanel(row.name, row.values, row.intervened) for row in rows),
    ]
    figure = viz.contribution_panels(
        panels,
        [truth.tick_label(poll.kind, option) for option in poll.options],
        outlined=state.mine,
        observed_name=say("sources_observed"),
        intervened_name=say("sources_intervened"),
        token_title=say(f"class_axis_{poll.kind}"),
        value_title=say("sources_share"),
        panel=PANEL,
        theme=lens.theme,
    )
    # All of it is on the screen, however little is left.
    figure.update_layout(meta={**figure.layout.meta, "low": True})
    if poll.kind != "where":
        _lay_flat(figure, poll, state.mine)
    markup.paragraph(told(state, poll, rows), "reading")
    markup.paragraph(after, "note")
    figures.draw(figure, "class_reveal", "class", label=say("class_reveal_label"))


def _lay_flat(figure: go.Figure, poll: Poll, mine: Sequence[int]) -> None:
    """Write the options in one line, those that this seat chose in bold: there are few, and their names are words, not tokens."""
    names = [plain_text(truth.tick_label(poll.kind, option)) for option in poll.options]
    bold = [f"<b>{name}</b>" if place in mine else name for place, name in enumerate(names)]
    figure.update_xaxes(tickangle=0, ticktext=bold)
    meta = {name: value for name, value in figure.layout.meta.items() if name != "tokens"}
    figure.update_layout(margin_b=FOOT, meta=meta)


def _numbers(counts: tuple[int, ...]) -> tuple[str, ...]:
    """How many chose each option; nothing where nobody did."""
    return tuple(str(count) if count else "" for count in counts)


def told(state: State, poll: Poll, rows: list[truth.PictureRow]) -> str:
    """What the class chose most, and what the network did, in one sentence."""
    labels = [truth.option_label(poll.kind, option) for option in poll.options]
    network = [labels[int(np.argmax(np.abs(row.values)))] for row in rows]
    class_ = say("class_nobody")
    if state.answered:
        most = max(state.counts)
        chosen = [label for label, count in zip(labels, state.counts, strict=True) if count == most]
        names = ", ".join(chosen[:MOST_NAMED]) + ("…" if len(chosen) > MOST_NAMED else "")
        text = "class_most" if len(chosen) == 1 else "class_most_each"
        class_ = say(text, option=names, count=most, answered=state.answered)
    named = {"first": network[0], "second": network[1] if len(network) > 1 else "–"}
    return say(f"class_told_{poll.kind}", most=class_, **named)
