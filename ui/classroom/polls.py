"""What a poll asks about, and what the network says to it: made from the settings at the time of asking, the same in every process.

Predicting together: the teacher asks, everybody touches an answer, and at one press the class's answers stand beside the network's.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from classroom import ClassroomError, ClosedError, Poll, State
from engine import questions as declared
from model.analysis.edits import attention_of_change, focus
from model.analysis.head_effects import HeadEffects
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import Selection
from ui import wording
from ui.asking import loaders, questions
from ui.classroom import follow
from ui.classroom.session import Membership
from ui.components import figures
from ui.sentence.state import Lens
from ui.shell import address, markup
from ui.shell.runs import spinner
from ui.views.edits import KIND
from ui.views.predict import window
from ui.views.view import needs_changes, needs_experiment, needs_probabilities
from ui.views.without import outcome
from ui.wording import change_in_words, head_name, say
from viz.labels import plain_text, probability, visible_token

AROUND = "12"  # tokens that are offered on each side of a change
MOST_MARKS = 3
HEADS = 5  # the heads among which the class looks for the one that is needed
CANDIDATES = 4
YES, NO = "yes", "no"


@dataclass(frozen=True)
class PictureRow:
    """One row of the picture: its name, a value for each option, and whether the network was asked again with something changed."""

    name: str
    values: np.ndarray
    intervened: bool = False


@dataclass(frozen=True)
class PollKind:
    """A kind of poll. ``options`` and ``rows`` are made from a lens; ``lacks`` names the text that says why it cannot be asked."""

    name: str
    options: Callable[[Lens], tuple[str, ...]]
    rows: Callable[[Lens], list[PictureRow]]
    lacks: Callable[[Lens], str | None]
    most: int = 1


def typed(lens: Lens) -> Change:
    """``change_of``, but counting characters."""
    return lens.change or lens.sentence.changes[0]


def head_of(lens: Lens) -> Selection:
    """The head of cross-attention at the layer and head that are looked at; a mean where the page shows one."""
    return Selection(KIND, lens.layer, lens.head)


def single_head(lens: Lens) -> Head:
    """The head that is asked about: the one that is looked at, else the one that looks most at the change."""
    if lens.single_head is not None:
        return lens.single_head
    return effects(lens).rank_of_looker()[0]


def effects(lens: Lens) -> HeadEffects:
    return questions.head_effects(lens.sentence, typed(lens), lens.corrector, None)


def left_out(lens: Lens) -> np.ndarray:
    """(S,) what leaving out each source token does to the decision for the change."""
    return questions.left_out(lens.sentence, typed(lens), lens.corrector).source


def row_of(lens: Lens) -> int:
    return focus(lens.trace, KIND, lens.changes[0]).rows[0]


def _characters(lens: Lens) -> tuple[str, ...]:
    places = window(lens, lens.changes[0], AROUND)
    return tuple(f"{visible_token(lens.trace.source_tokens[place])} {place + 1}" for place in places)


def _looked_at(lens: Lens) -> list[PictureRow]:
    """The attention of the head, and what leaving out each character does."""
    places, chosen = list(window(lens, lens.changes[0], AROUND)), head_of(lens)
    weights = attention_of_change(lens.trace, lens.changes[0])
    for axis, part in ((1, chosen.head), (0, chosen.layer)):
        weights = weights.mean(axis=axis) if part is None else np.take(weights, part, axis=axis)
    rows = [PictureRow(say("class_row_attention", place=chosen.label(say, lens.trace)), weights[places])]
    if lens.can(declared.left_out):
        # Without this row if the laboratory is late or cannot answer: the class's own answers must be shown in any case.
        with suppress(loaders.EngineError, ValueError):
            rows.append(PictureRow(say("class_row_left_out"), left_out(lens)[places], True))
    return rows


def _five(lens: Lens) -> tuple[Head, ...]:
    return tuple(sorted(effects(lens).strongest(HEADS)))


def _heads(lens: Lens) -> tuple[str, ...]:
    return tuple(f"{each.kind} {each.layer + 1}·{each.head + 1}" for each in _five(lens))


def _needs(lens: Lens) -> list[PictureRow]:
    found = effects(lens)
    places = [found.heads.index(head) for head in _five(lens)]
    return [
        PictureRow(say("class_row_edit"), found.attention[places]),
        PictureRow(
            say("class_row_off"), -found.effect[places], True
        ),  # up: the head speaks for the correction
    ]


def _yes_or_no(lens: Lens) -> tuple[str, ...]:
    return YES, NO


def without(lens: Lens) -> tuple[str | None, bool]:
    """What is written without the head that is asked about, and whether the change is made."""
    (found,) = questions.ablate_heads(lens.sentence, [[single_head(lens)]], lens.corrector, None)
    return found.text, outcome(lens.sentence.source, found.text, typed(lens)) == "made"


def _still(lens: Lens) -> list[PictureRow]:
    made = without(lens)[1]
    return [PictureRow(say("class_row_network"), np.array([made, not made], float), True)]


def _others(lens: Lens) -> dict[str, float]:
    """The likeliest candidates that were not written, as they are shown, with the share of each in the probability they have together."""
    row, trace = row_of(lens), lens.trace
    assert trace.alternative_probabilities is not None, "the kind's ``lacks`` keeps other traces away"
    known = dict(zip(trace.alternatives[row], trace.alternative_probabilities[row].tolist(), strict=True))
    known.pop(trace.target_tokens[row], None)
    best = sorted(known, key=lambda token: -known[token])[:CANDIDATES]
    total = sum(known[token] for token in best) or 1.0
    return {visible_token(token): known[token] / total for token in sorted(best)}


def _candidates(lens: Lens) -> tuple[str, ...]:
    return tuple(_others(lens))


def _shares(lens: Lens) -> list[PictureRow]:
    return [PictureRow(say("class_row_candidates"), np.array(list(_others(lens).values())))]


def _lacks_change(lens: Lens) -> str | None:
    return needs_changes(lens) or (None if lens.all_changes else "predict_nothing")


def _lacks_experiment(lens: Lens) -> str | None:
    return _lacks_change(lens) or needs_experiment(declared.head_effects)(lens)


def _lacks_candidates(lens: Lens) -> str | None:
    if found := _lacks_change(lens) or needs_probabilities(lens):
        return found
    return None if len(_others(lens)) > 1 else "lacks_probabilities"


KINDS = {
    kind.name: kind
    for kind in (
        PollKind("where", _characters, _looked_at, _lacks_change, MOST_MARKS),
        PollKind("needed", _heads, _needs, _lacks_experiment),
        PollKind("still", _yes_or_no, _still, _lacks_experiment),
        PollKind("instead", _candidates, _shares, _lacks_candidates),
    )
}


def question(kind: str, lens: Lens) -> str:
    """The question in words."""
    return say(
        f"class_ask_{kind}",
        change=change_in_words(lens.changes[0]),
        token=visible_token(lens.trace.target_tokens[row_of(lens)]),
        place=head_of(lens).label(say, lens.trace),
        head=head_name(single_head(lens)) if kind == "still" else "",
    )


def option_label(kind: str, option: str) -> str:
    """An option in plain text: what is no token of the sentence has words in every language."""
    if kind == "still":
        return say(f"class_{option}") if option in (YES, NO) else option
    name, _, place = option.rpartition(" ")
    if kind == "where" and name:
        return say("lines_name", token=name, place=place)
    return f"{say(f'kind_{name}')} {place}" if kind == "needed" and name in KIND_NAMES else option


def button_label(kind: str, option: str) -> str:
    """An option in Markdown, as it is touched: the position of a character is small."""
    token, _, place = option.rpartition(" ")
    if kind == "where" and token:
        return f"{wording.plain_markdown(token)} :small[{wording.plain_markdown(place)}]"
    return wording.plain_markdown(option_label(kind, option))


def tick_label(kind: str, option: str) -> str:
    """An option below its bars, short: a token alone, and of a head the letter of its kind."""
    name, _, place = option.rpartition(" ")
    if kind == "where" and name:
        return name
    if kind == "needed" and name in KIND_NAMES:
        return f"{say(f'class_letter_{name}')} {place}"
    return option_label(kind, option)


KIND_NAMES = ("encoder_attention", "decoder_attention", "cross_attention")


def afterwards(kind: str, lens: Lens) -> str:
    """What else is told with the picture."""
    if kind != "still":
        return say(f"class_after_{kind}")
    text, made = without(lens)
    shares = questions.ablated_fix_probability(
        lens.sentence, typed(lens), [[], [single_head(lens)]], lens.corrector, None
    )
    before, after = (probability(share, digits=3) for share in shares)
    return say(
        "class_after_still",
        text=say("without_no_end") if text is None else text,
        made=say("without_made" if made else "without_undone"),
        before=before,
        after=after,
    )


def prepare(kind: str, lens: Lens) -> None:
    """Begin to ask the network for what will be revealed, so that nobody waits for it then."""
    if not lens.can(declared.head_effects) or kind not in ("where", "still"):
        return
    head = single_head(lens) if kind == "still" else None
    corrector, sentence, change = lens.corrector, lens.sentence, typed(lens)

    def ask() -> None:
        with suppress(Exception):  # the reveal asks again, and tells what is wrong
            if head is None:
                left_out(lens)
            else:
                questions.ablate_heads(sentence, [[head]], corrector, None)
                questions.ablated_fix_probability(sentence, change, [[], [head]], corrector, None)

    Thread(target=ask, daemon=True).start()


PANEL = 120  # pixels of a row of bars, on a projector
FOOT = 60  # pixels, of the names of the options in one line
MOST_NAMED = 3  # options that were chosen equally often


def ask(mine: Membership, kind: str) -> str | None:
    """Ask the class about what the teacher shows now. Returns the text that says why it cannot be asked, or None."""
    lens = follow.lens()
    if lens is None:
        return "class_no_picture"
    found = KINDS[kind]
    if problem := found.lacks(lens):
        return problem
    options = found.options(lens)
    most = min(found.most, len(options))
    loaders.classrooms().ask(mine.code, mine.key, kind, options, most, address.shared("sentence"))
    prepare(kind, lens)
    return None


def show(mine: Membership, state: State, poll: Poll) -> None:
    """The question; then what can be touched, or what the class and the network answered."""
    with address.looking_at(poll.about):
        lens = follow.lens() if poll.kind in KINDS else None
        if lens is None:
            st.info(say("class_no_picture"))
            return
        with spinner(say("working_laboratory")):
            asked = question(poll.kind, lens)
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
            format_func=lambda place: button_label(poll.kind, poll.options[place]),
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
        rows = KINDS[poll.kind].rows(lens)
        after = afterwards(poll.kind, lens)
    counts = np.array(state.counts, float)
    panels = [
        viz.MethodPanel(say("class_row_class", count=state.answered), counts, labels=_numbers(state.counts)),
        *(viz.MethodPanel(row.name, row.values, row.intervened) for row in rows),
    ]
    figure = viz.contribution_panels(
        panels,
        [tick_label(poll.kind, option) for option in poll.options],
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
    names = [plain_text(tick_label(poll.kind, option)) for option in poll.options]
    bold = [f"<b>{name}</b>" if place in mine else name for place, name in enumerate(names)]
    figure.update_xaxes(tickangle=0, ticktext=bold)
    meta = {name: value for name, value in figure.layout.meta.items() if name != "tokens"}
    figure.update_layout(margin_b=FOOT, meta=meta)


def _numbers(counts: tuple[int, ...]) -> tuple[str, ...]:
    """How many chose each option; nothing where nobody did."""
    return tuple(str(count) if count else "" for count in counts)


def told(state: State, poll: Poll, rows: list[PictureRow]) -> str:
    """What the class chose most, and what the network did, in one sentence."""
    labels = [option_label(poll.kind, option) for option in poll.options]
    network = [labels[int(np.argmax(np.abs(row.values)))] for row in rows]
    class_ = say("class_nobody")
    if state.answered:
        most = max(state.counts)
        chosen = [label for label, count in zip(labels, state.counts, strict=True) if count == most]
        names = ", ".join(chosen[:MOST_NAMED]) + ("…" if len(chosen) > MOST_NAMED else "")
        text = "class_most" if len(chosen) == 1 else "class_most_each"
        class_ = say(text, option=names, count=most, answered=state.answered)
    head_name = {"first": network[0], "second": network[1] if len(network) > 1 else "–"}
    return say(f"class_told_{poll.kind}", most=class_, **head_name)
