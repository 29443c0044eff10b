"""The heads that are off in the experiment *switch heads off*: which they are, what stands in for them, and how they are called.

The experiment *switch heads off*: what each head does for a change, found by asking the network again without it.
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
from ui.sentence.state import Lens
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
OFF = Choice("off", (ZERO, MEAN))  # what a head that is switched off puts out
# The heads that are off, such as cross_attention.2.3, counted from 1. NONE: no head. Empty: the strongest ones.
HEADS = Text("switched_off")


def survey_of(lens: Lens) -> HeadSurvey | None:
    """The survey with the means of this model's heads; None if there is none."""
    entry = models.chosen()
    try:
        return entry and loaders.head_survey(entry.path, lens.corrector)
    except ModelFolderError:  # the page of the heads says what is wrong with it
        return None


def means_of(lens: Lens, values: Values) -> dict[str, np.ndarray] | None:
    """What heads that are off put out: their means over the sentences of a survey; None for zero."""
    survey = survey_of(lens) if values["off"] == MEAN else None
    return survey.means if survey is not None else None


def heads_off(lens: Lens, values: Values) -> tuple[Head, ...]:
    """The heads that are off: those that the visitor chose, at first the strongest ones."""
    if address.get(HEADS.name) == NONE:
        return ()
    change = lens.asked_change
    return () if change is None else framed_heads(lens, change, means_of(lens, values))


def switched_off(lens: Lens) -> tuple[Head, ...]:
    """The heads that the visitor switched off, of those that the network has."""
    found = [
        Head(kind, int(layer) - 1, int(head) - 1)
        for kind, layer, head in re.findall(
            r"\b([a-z_]+)\.([1-9]\d?)\.([1-9]\d?)\b", address.get(HEADS.name), re.ASCII
        )
    ]
    return tuple(head for head in dict.fromkeys(found) if _has(lens, head))


def _has(lens: Lens, head: Head) -> bool:
    if head.kind not in lens.trace.kinds:
        return False
    layers, heads = lens.trace.shape(head.kind)
    return 0 <= head.layer < layers and 0 <= head.head < heads


def framed_heads(lens: Lens, change: Change, means: Mapping[str, np.ndarray] | None) -> tuple[Head, ...]:
    """The heads that the visitor switched off; before that the strongest ones."""
    found = questions.head_effects(lens.sentence, change, lens.corrector, means)
    return switched_off(lens) or found.strongest(STRONGEST)


def names_of(heads: Collection[Head]) -> str:
    """What is off: each head by its name where they are few."""
    if not heads:
        return say("without_all_heads")
    if len(heads) > MOST_NAMED:
        return say("without_all", count=len(heads))
    return say("without_heads", heads=", ".join(map(head_name, sorted(heads))))


def switch(lens: Lens, off: Sequence[Head], point: dict) -> None:
    """Switch the head of a chosen square off, or on again. A browser may send anything; an unknown point changes nothing."""
    match point.get("custom"):
        case [str(kind), int(layer), int(head)] if _has(lens, chosen := Head(kind, layer, head)):
            _put([each for each in off if each != chosen] if chosen in off else [*off, chosen])


def _put(heads: Iterable[Head]) -> None:
    told = ",".join(f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in heads)
    address.put(HEADS.name, told or NONE)


def draw(lens: Lens, values: Values) -> None:
    """What became of the correction, then a square for each head, and a point for each."""
    if lens.asked_change is None:
        return
    off = heads_off(lens, values)
    show_verdict(lens, values, off)
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
    for name, (figure, label) in figures_of(lens, values).items():
        on_click = partial(switch, lens, off) if name == "without_mosaic" else None
        with parts[name]:
            figures.draw(figure, name, file_name(lens, name.replace("_", "-")), on_click, label=label)
    markup.paragraph(observed(lens, values), "note")


def show_verdict(lens: Lens, values: Values, off: Collection[Head]) -> None:
    """Before and after, large: what the network writes of its own accord, how probable the fix is, and whether it is made."""
    found = verdict(lens, values, off)
    sides = ((), found[0]), (off, found[1])
    markup.before_and_after(
        [
            (
                names_of(heads),
                say("without_no_end") if each.text is None else each.text,
                say("without_probability", probability=probability(each.probability, digits=3)),
                say(f"without_{each.outcome}"),
            )
            for heads, each in sides
        ]
    )


@dataclass(frozen=True)
class Verdict:
    """What became of one change: the text, how probable the fix is, and one of made, undone and other."""

    text: str | None
    probability: float
    outcome: str


def verdict(lens: Lens, values: Values, off: Collection[Head]) -> tuple[Verdict, Verdict]:
    """With all heads, and without those that are ``off``."""
    change, means = lens.asked_change, means_of(lens, values)
    assert change is not None, "without a change this is not called"
    sets = ((), tuple(off))
    texts = questions.ablate_heads(lens.sentence, sets, lens.corrector, means)
    shares = questions.ablated_fix_probability(lens.sentence, change, sets, lens.corrector, means)
    before, after = (
        Verdict(one.text, share, outcome(lens.sentence.source, one.text, _typed(lens)))
        for one, share in zip(texts, shares, strict=True)
    )
    return before, after


def _typed(lens: Lens) -> Change:
    """The change that is asked about, with the offsets of the characters."""
    return lens.change or lens.sentence.changes[0]


def outcome(source: str, text: str | None, change: Change) -> str:
    """Whether ``text`` makes just this change of ``source``, leaves its place as typed, or writes something else there."""
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


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[go.Figure, str]]:
    """The squares and the points of all heads; nothing where nothing was changed."""
    change = lens.asked_change
    if change is None:
        return {}
    found = questions.head_effects(lens.sentence, change, lens.corrector, means_of(lens, values))
    shared: dict[str, Any] = {
        "names": {kind: say(f"kind_{kind}") for kind in lens.trace.kinds},
        "chosen": heads_off(lens, values),
        "layer_title": say("layer_label"),
        "head_title": say("head_label"),
        "theme": lens.theme,
    }
    made = {
        "without_mosaic": viz.head_mosaic(
            {kind: found.grid(kind) for kind in lens.trace.kinds}, value_title=say("without_effect"), **shared
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


def describe(lens: Lens, values: Values) -> str:
    """What became of the change without the heads that are off."""
    change = lens.asked_change
    if change is None:
        return say("without_none")
    with spinner(say("working_laboratory")):  # the first question of a kind waits for its graph
        off = heads_off(lens, values)
        before, after = verdict(lens, values, off)
    shares = [probability(each.probability, digits=3) for each in (before, after)]
    if not off:
        return say("without_reading_on", change=change_in_words(change), before=shares[0])
    return say(
        f"without_reading_{after.outcome}",
        change=change_in_words(change),
        heads=names_of(off),
        before=shares[0],
        after=shares[1],
    )


def observed(lens: Lens, values: Values) -> str:
    """Whether the head that looked most is the one that mattered most."""
    change = lens.asked_change
    assert change is not None, "without a change this is not called"
    found = questions.head_effects(lens.sentence, change, lens.corrector, means_of(lens, values))
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


def notes(lens: Lens, values: Values) -> list[str]:
    found = [say("without_note"), say("without_intervened")]
    if values["off"] == MEAN:
        survey = survey_of(lens)
        told = say("without_means", sentences=survey.effect_sentences) if survey else say("without_no_means")
        found.append(told)
    return found


VIEW = declare(
    View(
        "without",
        "laboratory",
        10,
        describe,
        draw,
        (OFF, HEADS),
        notes,
        idea("without"),
        has_map=False,
        figures=figures_of,
        drawn=(OFF,),
        intervenes=True,
        lacks=needs_experiment(declared.head_effects),
    )
)
