"""Experiment *switch heads off*: the effect of each head's ablation on a change.

A head that is off puts out zeros, or its means over the sentences of a survey.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

import viz
from engine import questions as declared
from model import ModelFolderError
from model.analysis.head_effects import HeadEffects
from model.survey.results import HeadSurvey
from model.text.changes import Change, find_changes
from model.trace.interventions import Head
from ui.asking import loaders, models
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.settings import Choice, Text
from ui.views.view import Click, Figures, Values, View, idea, needs_experiment
from ui.wording import change_in_words, head_name, say, short_head_name
from viz.browser.texts import kind_names
from viz.labels import decimal, probability

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


def _means_of(state: SentenceState, values: Values) -> declared.Means:
    """The ablation values; none: zero."""
    survey = _survey_of(state) if values[OFF.name] == MEAN else None
    return declared.means(survey.means) if survey is not None else ()


def _effects(state: SentenceState, values: Values) -> HeadEffects:
    return state.ask(declared.head_effects, state.edit, _means_of(state, values))


def _heads_off(state: SentenceState, values: Values) -> tuple[Head, ...]:
    """The heads that are off: those that the visitor chose, at first those that help the change most.

    Heads that speak against it would hide the effect of the others.
    """
    if address.get(HEADS.name) == NONE:
        return ()
    return switched_off(state) or _effects(state, values).supporters(STRONGEST)


def switched_off(state: SentenceState) -> tuple[Head, ...]:
    """The heads that the visitor switched off, of those that the network has."""
    named = re.findall(r"\b([a-z_]+)\.([1-9]\d?)\.([1-9]\d?)\b", address.get(HEADS.name), re.ASCII)
    points = ({"custom": [kind, int(layer) - 1, int(head) - 1]} for kind, layer, head in named)
    found = (figures.known_head(state.trace, point) for point in points)
    return tuple(dict.fromkeys(head for head in found if head is not None))


def _names_of(heads: Collection[Head]) -> str:
    if not heads:
        return say("without_all_heads")
    if len(heads) > MOST_NAMED:
        return say("without_all", count=len(heads))
    named = head_name if len(heads) == 1 else short_head_name  # in one line
    return say("without_heads", heads=", ".join(map(named, sorted(heads))))


def _on_click(state: SentenceState, figure: str) -> Click | None:
    """A square switches its head off, or on again; an unknown point changes nothing."""
    off = _heads_off(state, controls.values((OFF,)))

    def switch(point: dict) -> None:
        if head := figures.known_head(state.trace, point):
            _put([each for each in off if each != head] if head in off else [*off, head])

    return switch if figure == "without_mosaic" else None


def _put(heads: Iterable[Head]) -> None:
    told = ",".join(f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in heads)
    address.put(HEADS.name, told or NONE)


def _draw(state: SentenceState, values: Values) -> None:
    """The correction without the heads that are off, then a square for each head, and a point for each."""
    off = _heads_off(state, values)
    markup.before_and_after(_sides(state, values, off))
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
    for name, place in zip(("without_mosaic", "without_scatter"), st.columns(2), strict=True):
        with place:
            VIEW.draw_figures(state, values, name)
    markup.paragraph(_observed(state, values), "note")


def _sides(state: SentenceState, values: Values, off: Collection[Head]) -> list[tuple[str, str, str, str]]:
    """With all heads, and without those that are ``off``: a name, the text, its probability, its outcome."""
    return [
        (
            _names_of(heads),
            say("without_no_end") if each.text is None else each.text,
            say("without_probability", probability=probability(each.probability)),
            say(f"without_{each.outcome}"),
        )
        for heads, each in zip(((), off)[: 2 if off else 1], _verdict(state, values, off), strict=False)
    ]


def _paragraphs(state: SentenceState, values: Values) -> list[str]:
    sides = _sides(state, values, _heads_off(state, values))
    written = [f"{name}: {text} {number}, {verdict}" for name, text, number, verdict in sides]
    return [*written, _observed(state, values)]


@dataclass(frozen=True)
class Verdict:
    """The fate of one change: the text, the probability of the fix, and one of made, undone and other."""

    text: str | None
    probability: float
    outcome: str


def _verdict(state: SentenceState, values: Values, off: Collection[Head]) -> tuple[Verdict, Verdict]:
    """With all heads, and without those that are ``off``."""
    sets, means = ((), tuple(off)), _means_of(state, values)
    texts = state.ask(declared.ablate_heads, state.sentence.source, sets, means)
    shares = state.ask(declared.ablated_fix_probability, state.edit, sets, means)
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


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """The squares and the points of all heads."""
    found = _effects(state, values)
    shared: dict[str, Any] = {
        "names": kind_names(say, state.trace.kinds),
        "chosen": _heads_off(state, values),
        "theme": state.theme,
    }
    made = {
        "without_mosaic": viz.head_mosaic(
            {kind: found.grid(kind) for kind in state.trace.kinds},
            value_title=say("without_effect"),
            layer_title=say("layer_label"),
            key=say("without_key"),
            helps_below=True,
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
    change, off = state.explained, _heads_off(state, values)
    before, after = _verdict(state, values, off)
    shares = [probability(each.probability) for each in (before, after)]
    told = say(
        f"without_reading_{after.outcome if off else 'on'}",
        change=change_in_words(change),
        heads=_names_of(off),
        before=shares[0],
        after=shares[1],
    )
    return f"{told} {say('without_whose', **state.written_after)}"


def _observed(state: SentenceState, values: Values) -> str:
    """Whether the head that looked most is the one that mattered most."""
    found = _effects(state, values)
    looker, rank = found.rank_of_looker()
    return say(
        "without_reading_first" if rank == 1 else "without_reading",
        change=change_in_words(state.explained),
        looker=head_name(looker),
        rank=rank,
        count=len(found.heads),
        strongest=head_name(found.strongest(1)[0]),
        correlation=decimal(found.correlation()),
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    found = [say("without_note"), say("without_intervened")]
    if values["off"] == MEAN:
        survey = _survey_of(state)
        told = say("without_means", sentences=survey.effect_sentences) if survey else say("without_no_means")
        found.append(told)
    return found


VIEW = View(
    "without",
    "laboratory",
    10,
    _describe,
    (OFF, HEADS),
    _notes,
    idea("without"),
    _draw,
    _figures_of,
    _on_click,
    drawn=(OFF,),
    has_map=False,
    paragraphs=_paragraphs,
    intervenes=True,
    lacks=needs_experiment(declared.head_effects),
    unchanged="without_none",
).declare()
