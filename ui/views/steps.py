"""View *step by step*: token, candidates and attention of each decoding step."""

from functools import partial

import numpy as np
import streamlit as st

from model.trace.trace import AttentionTrace
from ui import wording
from ui.components.figures import draw_steps
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup
from ui.shell.settings import Ordinal
from ui.views import fork
from ui.views.view import Values, View, file_name, needs_probabilities
from ui.wording import say
from viz.browser.steps import KEEP, NAMES, produced_place, revision, steps_data
from viz.labels import CERTAIN, IMPOSSIBLE, log_odds, probability

SURE = 0.99  # a sentence whose steps are all more probable than this was written without hesitation
# The one shown; empty: where the change in focus or the first one begins.
STEP = Ordinal("step", of="sentence")


def _draw(state: SentenceState, values: Values) -> None:
    """The player of the whole sentence."""
    data = data_of(state, first_step(state), may_part=fork.VIEW.lacks(state) is None)
    draw_steps(data, "steps", lambda step: address.put(STEP.name, str(step)), partial(_part, state.trace))


def data_of(state: SentenceState, step: int, may_part: bool = False) -> dict:
    """The data of the player at ``step``, from 1; with ``may_part`` it leads to the laboratory's *another
    token*."""
    return steps_data(
        say,
        state.trace,
        state.all_changes,
        weights=partial(state.selection.weights, state.trace),
        place=state.place,
        step=step,
        chosen=state.focus,
        may_part=may_part,
        file=file_name(state, "steps"),
        theme=state.theme,
    )


def _part(trace: AttentionTrace, step: int, place: int) -> None:
    """Turn to the laboratory's *another token* at ``step`` (from 1), with the candidate at ``place`` among
    those of the step, or with the typed token for KEEP. Without such a candidate, nothing happens."""
    if not 1 <= step <= len(trace.target_tokens):
        return
    considered = trace.alternatives[step - 1]
    if not KEEP <= place < len(considered):
        return
    address.put(fork.STEP.name, str(step))
    address.put(fork.TOKEN.name, "" if place == KEEP else considered[place])
    address.put("experiment", fork.VIEW.name)
    header.turn_to("laboratory")


def _describe(state: SentenceState, values: Values) -> str:
    """The step that was chosen or is in question; of a whole sentence, the one of which it was least sure."""
    step = first_step(state)
    if state.focus is not None or address.get("step") == str(step):
        return choice(state.trace, step - 1)
    return hesitation(state.trace)


def _notes(state: SentenceState, values: Values) -> list[str]:
    return [say("steps_keys")]


def first_step(state: SentenceState) -> int:
    """The step in the address, counted from 1. For another sentence or change than before, the step of the
    character in question.

    A link's step belongs to the link's sentence and change, not to later ones.
    """
    address.bind([STEP.name], "steps", revision(state.trace, state.focus))
    asked = controls.place(STEP, len(state.trace.target_tokens))
    if asked is not None:
        return asked + 1
    return state.asked_row + 1


def hesitation(trace: AttentionTrace) -> str:
    """The sentence about the least sure step and its other candidates.

    Raises AssertionError for a trace without probabilities, which ``needs.probabilities`` keeps away.
    """
    assert trace.log_probabilities is not None and trace.alternative_probabilities is not None, (
        "``needs.probabilities`` keeps other traces away"
    )
    logs = trace.log_probabilities
    row = min(range(len(trace.target_tokens)), key=lambda row: logs[row])
    values = _values(trace, row)
    if np.exp(logs[row]) > SURE:
        return say(f"steps_reading_sure{_certain(values)}", **values)
    return say("steps_reading_sentence", **values)


def choice(trace: AttentionTrace, row: int) -> str:
    """The probability of one step's token, and its other candidates."""
    values = _values(trace, row)
    return say(f"steps_reading_step{_certain(values)}", **values)


def _certain(values: dict[str, object]) -> str:
    """The end of the name of the text for a step where no number is worth saying."""
    ends = (values["probability"], CERTAIN[1]), (values["other_probability"], IMPOSSIBLE[1])
    nothing_else = all(str(text).startswith(end) for text, end in ends)
    return "_certain" if nothing_else else ""


def _values(trace: AttentionTrace, row: int) -> dict[str, object]:
    """The numbers of one step, for the sentences about it."""
    assert trace.log_probabilities is not None and trace.alternative_probabilities is not None, (
        "``needs.probabilities`` keeps other traces away"
    )
    other = 1 if produced_place(trace, row) == 0 else 0  # the most probable of the others
    chance = float(np.exp(np.float64(trace.log_probabilities[row])))
    return {
        "count": len(trace.target_tokens),
        "step": row + 1,
        "token": _name(trace.target_tokens[row]),
        "probability": share(chance),
        "odds": log_odds(chance),
        "other": _name(trace.alternatives[row][other]),
        "other_probability": share(float(trace.alternative_probabilities[row][other])),
    }


def share(value: float) -> str:
    return probability(value)


def _explain(state: SentenceState) -> None:
    """The idea, the formula with this sentence's number, and where both come from."""
    markup.paragraph(say("steps_idea"), "lead")
    st.latex(
        r"P(y \mid x) = \prod_{t=1}^{T} P(y_t \mid y_{<t},\, x), \qquad"
        r" y_t = \operatorname*{arg\,max}_{v}\, P(v \mid y_{<t},\, x)"
    )
    assert state.trace.log_probabilities is not None, "``needs.probabilities`` keeps other traces away"
    probability = share(float(np.exp(state.trace.log_probabilities.sum(dtype=np.float64))))
    markup.paragraph(say("steps_formula", probability=probability), "lead")
    markup.paragraph(say("steps_shown"), "lead")
    markup.paragraph(say("steps_sources"), "note")


def _name(token: str) -> str:
    return say(NAMES[token]) if token in NAMES else say("token", token=wording.visible(token))


VIEW = View(
    "steps", "attention", 30, _describe, (STEP,), _notes, _explain, _draw, lacks=needs_probabilities
).declare()
