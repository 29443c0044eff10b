"""Which views have a map to choose: those that show something else where another kind, layer or head is
selected."""

import pytest
import streamlit as st

from model.trace.trace import Selection
from tests.planted import WRONG
from ui.sentence.state import SentenceState
from ui.shell import controls
from ui.shell.settings import defaults
from ui.views import EXPERIMENTS, VIEWS
from viz.figure import to_json

SELECTIONS = (
    Selection("encoder_attention", 0, 1),
    Selection("cross_attention", 0, 1),
    Selection("cross_attention", 1, None),
    Selection("decoder_attention", 1, 1),
)


def shown(view, state: SentenceState) -> tuple:
    """All that the view says of the planted sentence, and its figures."""
    values = controls.values(view.settings)
    figures = view.figures(state, values) if view.figures else {}
    drawn = [(name, to_json(figure), said) for name, (figure, said) in figures.items()]
    return (
        view.describe(state, values),
        *view.notes(state, values),
        *view.paragraphs(state, values),
        *drawn,
    )


@pytest.mark.parametrize("view", (*VIEWS, *EXPERIMENTS), ids=lambda view: view.name)
def test_only_where_kind_layer_and_head_decide_is_there_a_map_to_choose(view, planted_circuit, monkeypatch):
    monkeypatch.setattr(st, "session_state", {"view": dict(defaults())})
    sentence = planted_circuit.correct(WRONG).sentences[0]
    states = [
        SentenceState(planted_circuit, sentence, sentence.trace, selection, sentence.changes[0], "light")
        for selection in SELECTIONS
    ]
    assert not view.lacks(states[0])
    different = {shown(view, state) for state in states}
    if not view.has_map:
        assert len(different) == 1
    elif view.figures:  # without figures the map may decide only what the browser draws
        assert len(different) > 1
