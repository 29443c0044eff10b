"""Polls of a class: questions, options, the network's answers, and the chart of both.

All are made from the settings at the time of asking, so they are the same in every process.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from classroom.classroom import ClassroomError, ClosedError, Poll, State
from engine import questions as declared
from model.analysis.edits import attention_of_change
from model.analysis.head_effects import HeadEffects
from model.trace.interventions import Head
from model.trace.trace import ATTENTION_KINDS, Selection
from ui import wording
from ui.asking import loaders
from ui.classroom import follow
from ui.classroom.session import LAST_PAGE, Membership
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, markup
from ui.shell.runs import spinner
from ui.views.edits import KIND
from ui.views.heads_off import outcome, switched_off, typed
from ui.views.predict import window
from ui.views.view import needs_changes, needs_experiment, needs_probabilities
from ui.wording import change_in_words, head_name, nats, say
from viz.labels import plain_text, probability, visible_token

AROUND = "12"  # tokens that are offered on each side of a change
MOST_MARKS = 3
HEADS = 5  # the heads among which the class looks for the one that is needed
CANDIDATES = 4
YES, NO = "yes", "no"


@dataclass(frozen=True)
class PollKind:
    """A kind of poll. ``options`` and ``rows`` are made from a sentence state; ``lacks`` names the text that
    says why it cannot be asked."""

    name: str
    options: Callable[[SentenceState], tuple[str, ...]]
    rows: Callable[[SentenceState], list[viz.MethodPanel]]
    lacks: Callable[[SentenceState], str | None]
    most: int = 1


def _head_of(seen: SentenceState) -> Selection:
    return Selection(KIND, seen.layer, seen.head)


def _single_head(seen: SentenceState) -> Head:
    if seen.single_head is not None:
        return seen.single_head
    return effects(seen).rank_of_looker()[0]


def effects(seen: SentenceState) -> HeadEffects:
    """The effect of each head on the change of the open screen, in nats. Raises EngineError."""
    return seen.ask(declared.head_effects, seen.edit)


def left_out(seen: SentenceState) -> np.ndarray:
    """(S,) the effect of leaving out each source token, in nats of the change's logit difference."""
    return seen.ask(declared.left_out, seen.edit).source


def _row_of(seen: SentenceState) -> int:
    return min(seen.asked_row, len(seen.trace.target_tokens) - 1)


def _characters(seen: SentenceState) -> tuple[str, ...]:
    places = window(seen, seen.changes[0], AROUND)
    return tuple(f"{visible_token(seen.trace.source_tokens[place])} {place + 1}" for place in places)


def _looked_at(seen: SentenceState) -> list[viz.MethodPanel]:
    places, chosen = list(window(seen, seen.changes[0], AROUND)), _head_of(seen)
    weights = attention_of_change(seen.trace, seen.changes[0])
    for axis, part in ((1, chosen.head), (0, chosen.layer)):
        weights = weights.mean(axis=axis) if part is None else np.take(weights, part, axis=axis)
    rows = [viz.MethodPanel(say("class_row_attention", place=chosen.label(say, seen.trace)), weights[places])]
    if seen.can(declared.left_out):
        # Without this row if the laboratory is late or cannot answer: the class's own answers must be shown
        # in any case.
        with suppress(loaders.EngineError, ValueError):
            rows.append(viz.MethodPanel(say("class_row_left_out"), np.abs(left_out(seen)[places]), True))
    return rows


def _five(seen: SentenceState) -> tuple[Head, ...]:
    return tuple(sorted(effects(seen).strongest(HEADS)))


def _heads(seen: SentenceState) -> tuple[str, ...]:
    return tuple(f"{each.kind} {each.layer + 1}·{each.head + 1}" for each in _five(seen))


def _needs(seen: SentenceState) -> list[viz.MethodPanel]:
    found = effects(seen)
    places = [found.heads.index(head) for head in _five(seen)]
    loss = -found.effect[places]  # up: the head speaks for the correction
    looked = found.attention[places]
    return [
        viz.MethodPanel(say("class_row_edit"), looked, labels=tuple(f"{each:.2f}" for each in looked)),
        viz.MethodPanel(say("class_row_off"), loss, True, labels=tuple(map(nats, loss))),
    ]


def _yes_or_no(seen: SentenceState) -> tuple[str, ...]:
    return YES, NO


def _without(seen: SentenceState) -> tuple[str | None, bool]:
    (found,) = seen.ask(declared.ablate_heads, seen.sentence.source, ((_single_head(seen),),))
    return found.text, outcome(seen.sentence.source, found.text, typed(seen)) == "made"


def _still(seen: SentenceState) -> list[viz.MethodPanel]:
    made = _without(seen)[1]
    return [viz.MethodPanel(say("class_row_network"), np.array([made, not made], float), True)]


def _others(seen: SentenceState) -> dict[str, float]:
    """The likeliest candidates that were not written, as they are shown, with the share of each in the
    probability they have together."""
    row, trace = _row_of(seen), seen.trace
    assert trace.alternative_probabilities is not None, "the kind's ``lacks`` keeps other traces away"
    known = dict(zip(trace.alternatives[row], trace.alternative_probabilities[row].tolist(), strict=True))
    known.pop(trace.target_tokens[row], None)
    best = sorted(known, key=lambda token: -known[token])[:CANDIDATES]
    total = sum(known[token] for token in best) or 1.0
    return {visible_token(token): known[token] / total for token in sorted(best)}


def _candidates(seen: SentenceState) -> tuple[str, ...]:
    return tuple(_others(seen))


def _shares(seen: SentenceState) -> list[viz.MethodPanel]:
    return [viz.MethodPanel(say("class_row_candidates"), np.array(list(_others(seen).values())))]


def _lacks_change(seen: SentenceState) -> str | None:
    return needs_changes(seen) or (None if seen.all_changes else "predict_nothing")


def _lacks_experiment(seen: SentenceState) -> str | None:
    return _lacks_change(seen) or needs_experiment(declared.head_effects)(seen)


def _lacks_candidates(seen: SentenceState) -> str | None:
    if found := _lacks_change(seen) or needs_probabilities(seen):
        return found
    return None if len(_others(seen)) > 1 else "lacks_probabilities"


KINDS = {
    kind.name: kind
    for kind in (
        PollKind("where", _characters, _looked_at, _lacks_change, MOST_MARKS),
        PollKind("needed", _heads, _needs, _lacks_experiment),
        PollKind("still", _yes_or_no, _still, _lacks_experiment),
        PollKind("instead", _candidates, _shares, _lacks_candidates),
    )
}


def _question(kind: str, seen: SentenceState) -> str:
    """The question in words."""
    return say(
        f"class_ask_{kind}",
        change=change_in_words(seen.changes[0]),
        token=visible_token(seen.trace.target_tokens[_row_of(seen)]),
        place=_head_of(seen).label(say, seen.trace),
        head=head_name(_single_head(seen)) if kind == "still" else "",
    )


def option_label(kind: str, option: str) -> str:
    """An option in plain text; all but tokens of the sentence are words of the language.

    >>> with wording.spoken("en"):
    ...     option_label("needed", "cross_attention 1·3")
    'Decoder→encoder 1·3'
    """
    if kind == "still":
        return say(f"class_{option}") if option in (YES, NO) else option
    name, _, place = option.rpartition(" ")
    if kind == "where" and name:
        return say("lines_name", token=name, place=place)
    return f"{say(f'kind_{name}')} {place}" if kind == "needed" and name in ATTENTION_KINDS else option


def _button_label(kind: str, option: str) -> str:
    """An option in Markdown, as it is touched: the position of a character is small."""
    token, _, place = option.rpartition(" ")
    if kind == "where" and token:
        return f"{wording.plain_markdown(token)} :small[{wording.plain_markdown(place)}]"
    return wording.plain_markdown(option_label(kind, option))


def _tick_label(kind: str, option: str) -> str:
    """An option below its bars, short: a token with its position, and of a head the letter of its kind."""
    name, _, place = option.rpartition(" ")
    if kind == "where" and name:
        return name + place.translate(_SMALL)
    if kind == "needed" and name in ATTENTION_KINDS:
        return f"{say(f'class_letter_{name}')} {place}"
    return option_label(kind, option)


_SMALL = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _afterwards(kind: str, seen: SentenceState) -> str:
    if kind != "still":
        return say(f"class_after_{kind}")
    text, made = _without(seen)
    shares = seen.ask(declared.ablated_fix_probability, seen.edit, ((), (_single_head(seen),)))
    before, after = (probability(share) for share in shares)
    return say(
        "class_after_still",
        text=say("without_no_end") if text is None else text,
        made=say("without_made" if made else "without_undone"),
        before=before,
        after=after,
    )


def _prepare(kind: str, seen: SentenceState) -> None:
    if not seen.can(declared.head_effects) or kind not in ("where", "still"):
        return
    head = _single_head(seen) if kind == "still" else None

    def ask() -> None:
        with suppress(Exception):  # the reveal asks again, and shows the error
            if head is None:
                left_out(seen)
            else:
                seen.ask(declared.ablate_heads, seen.sentence.source, ((head,),))
                seen.ask(declared.ablated_fix_probability, seen.edit, ((), (head,)))

    Thread(target=ask, daemon=True).start()


PANEL = 120  # pixels of a row of bars, on a projector
FOOT = 60  # pixels, of the names of the options in one line
MOST_NAMED = 3  # options that were chosen equally often


def ask(mine: Membership, kind: str) -> str | None:
    """Start a poll about the teacher's present view. Returns the key of the text that says why it cannot
    start, or None. Raises EngineError and ClassroomError."""
    seen = follow.sentence_state()
    if seen is None:
        return "class_no_picture"
    found = KINDS[kind]
    if problem := found.lacks(seen):
        return problem
    about = address.shared("sentence")
    if kind == "still" and (head := _only_head_off(seen)) is not None:
        about = (*about, ("kind", head.kind), ("layer", str(head.layer + 1)), ("head", str(head.head + 1)))
        seen = replace(seen, selection=Selection(*head))
    options = tuple(found.options(seen))
    poll = Poll(kind, options, min(found.most, len(options)), about)
    loaders.classrooms().ask(mine.code, mine.key, poll)
    _prepare(kind, seen)
    return None


def _only_head_off(seen: SentenceState) -> Head | None:
    """The head that is switched off alone on the teacher's screen: there *this head* means it."""
    is_open = st.session_state.get(LAST_PAGE) == "laboratory" and address.get("experiment") == "without"
    off = switched_off(seen) if is_open else ()
    return off[0] if len(off) == 1 else None


def show(mine: Membership, state: State, poll: Poll) -> None:
    """The question; then its options, or the answers of the class and the network. Raises EngineError."""
    with address.settings_of(poll.about):
        seen = follow.sentence_state() if poll.kind in KINDS else None
        if seen is None:
            st.info(say("class_no_picture"))
            return
        with spinner(say("working_laboratory")):
            asked = _question(poll.kind, seen)
        markup.corrected(seen.sentence.source, [])
        markup.paragraph(asked, "class-question")
        if poll.revealed:
            _reveal(state, poll, seen)
    if not poll.revealed:
        _board(mine, state, poll)


def _board(mine: Membership, state: State, poll: Poll) -> None:
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
            format_func=lambda place: _button_label(poll.kind, poll.options[place]),
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


def _reveal(state: State, poll: Poll, seen: SentenceState) -> None:
    """One picture: the answers of the class, and below them the network's."""
    with spinner(say("working_laboratory")):
        rows = KINDS[poll.kind].rows(seen)
        after = _afterwards(poll.kind, seen)
    counts = np.array(state.counts, float)
    panels = [
        viz.MethodPanel(say("class_row_class", count=state.answered), counts, labels=_numbers(state.counts)),
        *rows,
    ]
    figure = viz.contribution_panels(
        panels,
        [_tick_label(poll.kind, option) for option in poll.options],
        outlined=state.mine,
        observed_name=say("sources_observed"),
        intervened_name=say("sources_intervened"),
        token_title=say(f"class_axis_{poll.kind}"),
        value_title=say("sources_share"),
        panel=PANEL,
        theme=seen.theme,
    )
    # All of it is on the screen, however little is left.
    figure.update_layout(meta={**figure.layout.meta, "low": True})
    if poll.kind != "where":
        _lay_flat(figure, poll, state.mine)
    markup.paragraph(_told(state, poll, rows), "reading")
    markup.paragraph(" ".join([after, *([say("class_answered_bold")] if state.mine else [])]), "note")
    figures.draw(figure, "class_reveal", "class", label=say("class_reveal_label"))


def _lay_flat(figure: go.Figure, poll: Poll, mine: Sequence[int]) -> None:
    names = [plain_text(_tick_label(poll.kind, option)) for option in poll.options]
    bold = [f"<b>{name}</b>" if place in mine else name for place, name in enumerate(names)]
    figure.update_xaxes(tickangle=0, ticktext=bold)
    meta = {name: value for name, value in figure.layout.meta.items() if name != "tokens"}
    figure.update_layout(margin_b=FOOT, meta=meta)


def _numbers(counts: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(str(count) if count else "" for count in counts)


def _told(state: State, poll: Poll, rows: list[viz.MethodPanel]) -> str:
    labels = [option_label(poll.kind, option) for option in poll.options]
    network = [labels[int(np.argmax(np.abs(np.asarray(row.values))))] for row in rows]
    class_ = say("class_nobody")
    if state.answered:
        most = max(state.counts)
        chosen = [label for label, count in zip(labels, state.counts, strict=True) if count == most]
        names = ", ".join(chosen[:MOST_NAMED]) + ("…" if len(chosen) > MOST_NAMED else "")
        text = "class_most" if len(chosen) == 1 else "class_most_each"
        class_ = say(text, option=names, count=most, answered=state.answered)
    head_name = {"first": network[0], "second": network[1] if len(network) > 1 else "–"}
    return say(f"class_told_{poll.kind}", most=class_, **head_name)
