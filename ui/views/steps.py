"""View *step by step*: token, candidates and attention of each decoding step."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from model.trace.trace import AttentionTrace
from ui.components.figures import draw_steps
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup
from ui.shell.settings import Ordinal
from ui.views import fork
from ui.views.view import Part, View, file_name, needs_probabilities
from ui.wording import say
from viz.browser.steps import KEEP, NAMES, produced_place, revision, steps_data
from viz.browser.texts import visible
from viz.labels import CERTAIN, IMPOSSIBLE, log_odds, probability

SURE = 0.99  # a sentence whose steps are all more probable than this was written without hesitation
# The one shown; empty: where the change in focus or the first one begins.
STEP = Ordinal("step", of="sentence")


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
    address.put("experiment", fork.Fork.name)
    header.turn_to("laboratory")


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
    """The sentence about the least sure step and its other candidates."""
    row = _least_sure(trace)
    sure = f"steps_reading_sure{_certain(trace, row)}"
    return say(sure if _chances(trace, row)[0] > SURE else "steps_reading_sentence", **_values(trace, row))


def choice(trace: AttentionTrace, row: int) -> str:
    """The probability of one step's token, and its other candidates."""
    return say(f"steps_reading_step{_certain(trace, row)}", **_values(trace, row))


def _least_sure(trace: AttentionTrace) -> int:
    assert trace.log_probabilities is not None, "``needs_probabilities`` keeps other traces away"
    return int(trace.log_probabilities.argmin())


def _chances(trace: AttentionTrace, row: int) -> tuple[float, float]:
    """The probabilities of the produced token and of the likeliest other one."""
    assert trace.log_probabilities is not None and trace.alternative_probabilities is not None, (
        "``needs_probabilities`` keeps other traces away"
    )
    written = float(np.exp(np.float64(trace.log_probabilities[row])))
    return written, float(trace.alternative_probabilities[row][_other(trace, row)])


def _other(trace: AttentionTrace, row: int) -> int:
    """The place of the most probable of the others."""
    return 1 if produced_place(trace, row) == 0 else 0


def _certain(trace: AttentionTrace, row: int) -> str:
    """The end of the name of the text for a step where no number is worth saying."""
    written, other = _chances(trace, row)
    return "_certain" if written >= CERTAIN[0] and other < IMPOSSIBLE[0] else ""


def _values(trace: AttentionTrace, row: int) -> dict[str, object]:
    """The numbers of one step, for the sentences about it."""
    written, other = _chances(trace, row)
    return {
        "count": len(trace.target_tokens),
        "step": row + 1,
        "token": _name(trace.target_tokens[row]),
        "probability": probability(written),
        "odds": log_odds(written),
        "other": _name(trace.alternatives[row][_other(trace, row)]),
        "other_probability": probability(other),
    }


def _name(token: str) -> str:
    return say(NAMES[token]) if token in NAMES else say("token", token=visible(token))


class Steps(View):
    """The player of the whole sentence."""

    name, page, order = "steps", "attention", 30
    settings = (STEP,)
    noted = ("steps_keys",)
    lacks = staticmethod(needs_probabilities)

    def show(self) -> None:
        state = self.state
        data = data_of(state, first_step(state), may_part=fork.Fork.lacks(state) is None)
        part = partial(_part, state.trace)
        draw_steps(data, "steps", lambda step: address.put(STEP.name, str(step)), part)

    def parts(self) -> list[Part]:
        """The player at the teacher's step. Only another revision moves a player, so here the step is part of
        it."""
        data = data_of(self.state, first_step(self.state))
        return [("steps", data | {"revision": f"{data['revision']} {data['step']}"})]

    def reading(self) -> str:
        """The step that was chosen or is in question; of a whole sentence, the one of which it was least
        sure."""
        row = self._chosen_row()
        return hesitation(self.state.trace) if row is None else choice(self.state.trace, row)

    def probabilities(self) -> Sequence[float]:
        trace, row = self.state.trace, self._chosen_row()
        told = _least_sure(trace) if row is None else row
        both = _chances(trace, told)
        if _certain(trace, told):
            return ()
        return both[:1] if row is None and both[0] > SURE else both

    def _chosen_row(self) -> int | None:
        """The row of the step that was chosen or is in question; None for the whole sentence."""
        step = first_step(self.state)
        is_chosen = self.state.focus is not None or address.get(STEP.name) == str(step)
        return step - 1 if is_chosen else None

    def explain(self) -> None:
        """The idea, the formula with this sentence's number, and where both come from."""
        markup.paragraph(say("steps_idea"), "lead")
        st.latex(
            r"P(y \mid x) = \prod_{t=1}^{T} P(y_t \mid y_{<t},\, x), \qquad"
            r" y_t = \operatorname*{arg\,max}_{v}\, P(v \mid y_{<t},\, x)"
        )
        logs = self.state.trace.log_probabilities
        assert logs is not None, "``needs_probabilities`` keeps other traces away"
        markup.paragraph(
            say("steps_formula", probability=probability(float(np.exp(logs.sum(dtype=np.float64))))), "lead"
        )
        markup.paragraph(say("steps_shown"), "lead")
        markup.paragraph(say("steps_sources"), "note")
