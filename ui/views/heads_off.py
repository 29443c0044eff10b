"""Experiment *switch heads off*: the effect of each head's ablation on a change.

A head that is off puts out zeros, or its means over the sentences of a survey.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from engine import questions as declared
from model import ModelFolderError
from model.survey.results import HeadSurvey
from model.text.changes import Change, find_changes
from model.trace.interventions import Head
from ui.asking import loaders, models, questions
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.runs import spinner
from ui.shell.settings import Choice, Text
from ui.views.view import Values, View, declare, file_name, idea, needs_experiment
from ui.wording import change_in_words, correlation, head_name, say
from viz.labels import probability

STRONGEST = 5  # heads that are off until the visitor chooses others
MOST_NAMED = STRONGEST - 1  # heads that a sentence calls by their names
ZERO, MEAN = "zero", "mean"
NONE = "none"  # in the address: the visitor switched every head on
OFF = Choice("off", (ZERO, MEAN))  # the ablation value
# The heads that are off, such as cross_attention.2.3, counted from 1. NONE: no head. Empty: the strongest
# ones.
HEADS = Text("switched_off")


def _survey_of(state: SentenceState) -> HeadSurvey | None:
    entry = models.chosen()
    try:
        return entry and loaders.head_survey(entry.path, state.corrector)
    except ModelFolderError:  # the page of the heads shows the error
        return None


def _means_of(state: SentenceState, values: Values) -> dict[str, np.ndarray] | None:
    survey = _survey_of(state) if values["off"] == MEAN else None
    return survey.means if survey is not None else None


def _heads_off(state: SentenceState, values: Values) -> tuple[Head, ...]:
    """The heads that are off: those that the visitor chose, at first the strongest ones."""
    if address.get(HEADS.name) == NONE:
        return ()
    change = state.asked_change
    return () if change is None else _framed_heads(state, change, _means_of(state, values))


def _switched_off(state: SentenceState) -> tuple[Head, ...]:
    """The heads that the visitor switched off, of those that the network has."""
    found = [
        Head(kind, int(layer) - 1, int(head) - 1)
        for kind, layer, head in re.findall(
            r"\b([a-z_]+)\.([1-9]\d?)\.([1-9]\d?)\b", address.get(HEADS.name), re.ASCII
        )
    ]
    return tuple(head for head in dict.fromkeys(found) if _has(state, head))


def _has(state: SentenceState, head: Head) -> bool:
    if head.kind not in state.trace.kinds:
        return False
    layers, heads = state.trace.shape(head.kind)
    return 0 <= head.layer < layers and 0 <= head.head < heads


def _framed_heads(
    state: SentenceState, change: Change, means: Mapping[str, np.ndarray] | None
) -> tuple[Head, ...]:
    """The heads that the visitor switched off; before that the strongest ones."""
    found = questions.head_effects(state.sentence, change, state.corrector, means)
    return _switched_off(state) or found.strongest(STRONGEST)


def _names_of(heads: Collection[Head]) -> str:
    if not heads:
        return say("without_all_heads")
    if len(heads) > MOST_NAMED:
        return say("without_all", count=len(heads))
    return say("without_heads", heads=", ".join(map(head_name, sorted(heads))))


def _switch(state: SentenceState, off: Sequence[Head], point: dict) -> None:
    """Switch the head of a chosen square off, or on again. A browser may send anything; an unknown point
    changes nothing."""
    match point.get("custom"):
        case [str(kind), int(layer), int(head)] if _has(state, chosen := Head(kind, layer, head)):
            _put([each for each in off if each != chosen] if chosen in off else [*off, chosen])


def _put(heads: Iterable[Head]) -> None:
    told = ",".join(f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in heads)
    address.put(HEADS.name, told or NONE)


def _draw(state: SentenceState, values: Values) -> None:
    """The correction without the heads that are off, then a square for each head, and a point for each."""
    if state.asked_change is None:
        return
    off = _heads_off(state, values)
    _show_verdict(state, values, off)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        markup.paragraph(say("off_label"), "label")
        controls.choose(OFF.name, [ZERO, MEAN], lambda how: say(f"off_{how}"), label_visibility="collapsed")
        st.button(
            say("without_all_on"),
            key="without_all_on",
            disabled=not off,
            on_click=address.put,
            args=(HEADS.name, NONE),
        )
        st.button(
            say("without_strongest", count=STRONGEST),
            key="without_strongest",
            disabled=not address.get(HEADS.name),
            on_click=address.reset,
            args=([HEADS.name],),
        )
    parts = dict(zip(("without_mosaic", "without_scatter"), st.columns(2), strict=True))
    for name, (figure, label) in _figures_of(state, values).items():
        on_click = partial(_switch, state, off) if name == "without_mosaic" else None
        with parts[name]:
            figures.draw(figure, name, file_name(state, name.replace("_", "-")), on_click, label=label)
    markup.paragraph(_observed(state, values), "note")


def _show_verdict(state: SentenceState, values: Values, off: Collection[Head]) -> None:
    found = _verdict(state, values, off)
    sides = ((), found[0]), (off, found[1])
    markup.before_and_after(
        [
            (
                _names_of(heads),
                say("without_no_end") if each.text is None else each.text,
                say("without_probability", probability=probability(each.probability, digits=3)),
                say(f"without_{each.outcome}"),
            )
            for heads, each in sides
        ]
    )


@dataclass(frozen=True)
class Verdict:
    """The fate of one change: the text, the probability of the fix, and one of made, undone and other."""

    text: str | None
    probability: float
    outcome: str


def _verdict(state: SentenceState, values: Values, off: Collection[Head]) -> tuple[Verdict, Verdict]:
    """With all heads, and without those that are ``off``."""
    change, means = state.asked_change, _means_of(state, values)
    assert change is not None, "without a change this is not called"
    sets = ((), tuple(off))
    texts = questions.ablate_heads(state.sentence, sets, state.corrector, means)
    shares = questions.ablated_fix_probability(state.sentence, change, sets, state.corrector, means)
    before, after = (
        Verdict(one.text, share, outcome(state.sentence.source, one.text, _typed(state)))
        for one, share in zip(texts, shares, strict=True)
    )
    return before, after


def _typed(state: SentenceState) -> Change:
    return state.change or state.sentence.changes[0]


def outcome(source: str, text: str | None, change: Change) -> str:
    """Whether ``text`` makes just this change of ``source``, leaves its place as typed, or writes something
    else there.

    >>> from model.text.changes import find_changes
    >>> outcome("가다", "가요", find_changes("가다", "가요")[0])
    'made'
    """
    if text is None:
        return "other"
    span = change.source_start, change.source_end
    here = [
        each
        for each in find_changes(source, text)
        if each.source_start <= span[1] and span[0] <= each.source_end
    ]
    if not here:
        return "undone"
    same = any((each.source_start, each.source_end, each.right) == (*span, change.right) for each in here)
    return "made" if same else "other"


def _figures_of(state: SentenceState, values: Values) -> dict[str, tuple[go.Figure, str]]:
    """The squares and the points of all heads; nothing where nothing was changed."""
    change = state.asked_change
    if change is None:
        return {}
    found = questions.head_effects(state.sentence, change, state.corrector, _means_of(state, values))
    shared: dict[str, Any] = {
        "names": {kind: say(f"kind_{kind}") for kind in state.trace.kinds},
        "chosen": _heads_off(state, values),
        "layer_title": say("layer_label"),
        "head_title": say("head_label"),
        "theme": state.theme,
    }
    made = {
        "without_mosaic": viz.head_mosaic(
            {kind: found.grid(kind) for kind in state.trace.kinds},
            value_title=say("without_effect"),
            **shared,
        ),
        "without_scatter": viz.attention_effect_scatter(
            found.attention.tolist(),
            found.effect.tolist(),
            found.heads,
            attention_title=say("without_attention"),
            effect_title=say("without_effect"),
            **shared,
        ),
    }
    return {name: (figure, say(f"{name}_label")) for name, figure in made.items()}


def _describe(state: SentenceState, values: Values) -> str:
    change = state.asked_change
    if change is None:
        return say("without_none")
    with spinner(say("working_laboratory")):  # the first question of a kind waits for its graph
        off = _heads_off(state, values)
        before, after = _verdict(state, values, off)
    shares = [probability(each.probability, digits=3) for each in (before, after)]
    if not off:
        return say("without_reading_on", change=change_in_words(change), before=shares[0])
    return say(
        f"without_reading_{after.outcome}",
        change=change_in_words(change),
        heads=_names_of(off),
        before=shares[0],
        after=shares[1],
    )


def _observed(state: SentenceState, values: Values) -> str:
    """Whether the head that looked most is the one that mattered most."""
    change = state.asked_change
    assert change is not None, "without a change this is not called"
    found = questions.head_effects(state.sentence, change, state.corrector, _means_of(state, values))
    looker, rank = found.rank_of_looker()
    return say(
        "without_reading",
        change=change_in_words(change),
        looker=head_name(looker),
        rank=rank,
        count=len(found.heads),
        strongest=head_name(found.strongest(1)[0]),
        correlation=correlation(found.correlation()),
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    found = [say("without_note"), say("without_intervened")]
    if values["off"] == MEAN:
        survey = _survey_of(state)
        told = say("without_means", sentences=survey.effect_sentences) if survey else say("without_no_means")
        found.append(told)
    return found


VIEW = declare(
    View(
        "without",
        "laboratory",
        10,
        _describe,
        _draw,
        (OFF, HEADS),
        _notes,
        idea("without"),
        has_map=False,
        figures=_figures_of,
        drawn=(OFF,),
        intervenes=True,
        lacks=needs_experiment(declared.head_effects),
    )
)
