"""Experiment *switch heads off*: the effect of each head's ablation on a change.

A head that is off puts out zeros, or its means over the sentences of a survey.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st

import viz
from engine import questions as declared
from engine.question import Means
from model import ModelFolderError
from model.analysis.head_effects import STRONGEST, HeadEffects
from model.survey.results import HeadSurvey
from model.text.changes import Change, find_changes
from model.trace.interventions import Head
from ui.asking import loaders, models
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.settings import Choice, Text
from ui.views.view import Click, Figures, View, needs_experiment
from ui.wording import change_in_words, head_name, say, short_head_name
from viz.browser.texts import kind_names
from viz.labels import decimal, probability

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


def _put(heads: Iterable[Head]) -> None:
    told = ",".join(f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in heads)
    address.put(HEADS.name, told or NONE)


@dataclass(frozen=True)
class Verdict:
    """The outcome of one change: the text, the probability of the fix, and one of made, undone and other."""

    text: str | None
    probability: float
    outcome: str


def typed(state: SentenceState) -> Change:
    """The change in focus, else the first one, counting characters. Raises IndexError without changes."""
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


class HeadsOff(View):
    """The correction without the heads that are off, then a square for each head, and a point for each."""

    name, page, order = "without", "laboratory", 10
    settings = (OFF, HEADS)
    drawn = (OFF,)
    has_map = False
    intervenes = True
    lacks = staticmethod(needs_experiment(declared.head_effects))
    unchanged = "without_none"

    @cached_property
    def means(self) -> Means:
        """The ablation values; none: zero."""
        survey = _survey_of(self.state) if self.values[OFF.name] == MEAN else None
        return declared.means(survey.means) if survey is not None else ()

    @cached_property
    def effects(self) -> HeadEffects:
        """The effect of each head's ablation on the change, in nats. Raises EngineError without an answer."""
        return self.state.ask(declared.head_effects, self.state.edit, self.means)

    @cached_property
    def off(self) -> tuple[Head, ...]:
        """The heads that are off: those that the visitor chose, at first those that help the change most.

        Heads that speak against it would hide the effect of the others.
        """
        if address.get(HEADS.name) == NONE:
            return ()
        return switched_off(self.state) or self.effects.supporters()

    @cached_property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        """With all heads, and without those that are ``off``."""
        source, sets = self.state.sentence.source, ((), tuple(self.off))
        texts = self.state.ask(declared.ablate_heads, source, sets, self.means)
        shares = self.state.ask(declared.ablated_fix_probability, self.state.edit, sets, self.means)
        before, after = (
            Verdict(one.text, share, outcome(source, one.text, typed(self.state)))
            for one, share in zip(texts, shares, strict=True)
        )
        return before, after

    def show(self) -> None:
        markup.before_and_after(self._sides())
        with controls.line():
            markup.paragraph(say("off_label"), "label")
            controls.choose_beside(OFF)
            all_on = address.put, HEADS.name, NONE
            controls.button(say("without_all_on"), "without_all_on", *all_on, disabled=not self.off)
            text, is_first = say("without_strongest", count=STRONGEST), not address.get(HEADS.name)
            controls.button(text, "without_strongest", address.reset, [HEADS.name], disabled=is_first)
        for name, place in zip(self.opened, st.columns(2), strict=True):
            with place:
                self.draw_figure(name)
        markup.paragraph(self._observed(), "note")

    def on_click(self, figure: str) -> Click | None:
        """A square switches its head off, or on again; an unknown point changes nothing."""
        off = self.off

        def switch(point: dict) -> None:
            if head := figures.known_head(self.state.trace, point):
                _put([each for each in off if each != head] if head in off else [*off, head])

        return switch if figure == "without_mosaic" else None

    def _sides(self) -> list[tuple[str, str, str, str]]:
        """With all heads, and without those that are off: a name, the text, its probability, its outcome."""
        return [
            (
                _names_of(heads),
                say("without_no_end") if each.text is None else each.text,
                say("without_probability", probability=probability(each.probability)),
                say(f"without_{each.outcome}"),
            )
            for heads, each in zip(((), self.off)[: 2 if self.off else 1], self.verdicts, strict=False)
        ]

    def paragraphs(self) -> list[str]:
        written = [f"{name}: {text} {number}, {verdict}" for name, text, number, verdict in self._sides()]
        return [*written, self._observed()]

    @cached_property
    def figures(self) -> Figures:
        """The squares and the points of all heads."""
        found, kinds = self.effects, self.state.trace.kinds
        names = kind_names(say, kinds)
        shared: dict[str, Any] = {"names": names, "chosen": self.off, "theme": self.state.theme}
        mosaic = viz.head_mosaic(
            {kind: found.grid(kind) for kind in kinds},
            value_title=say("without_effect"),
            layer_title=say("layer_label"),
            key=say("without_key"),
            helps_below=True,
            **shared,
        )
        scatter = viz.attention_effect_scatter(
            found.attention.tolist(),
            found.effect.tolist(),
            found.heads,
            attention_title=say("without_attention"),
            effect_title=say("without_effect"),
            **shared,
        )
        made = {"without_mosaic": mosaic, "without_scatter": scatter}
        return {name: (figure, say(f"{name}_label")) for name, figure in made.items()}

    def reading(self) -> str:
        before, after = self.verdicts
        told = say(
            f"without_reading_{after.outcome if self.off else 'on'}",
            change=change_in_words(self.state.explained),
            heads=_names_of(self.off),
            before=probability(before.probability),
            after=probability(after.probability),
        )
        return f"{told} {say('without_whose', **self.state.written_after)}"

    def probabilities(self) -> list[float]:
        return [each.probability for each in self.verdicts]

    def _observed(self) -> str:
        """Whether the head that looked most is the one that mattered most."""
        found = self.effects
        looker, rank = found.rank_of_looker()
        (strongest,) = found.strongest(1)
        helps = strongest in found.supporters(len(found.heads))
        return say(
            "without_reading_first" if rank == 1 else "without_reading",
            change=change_in_words(self.state.explained),
            looker=head_name(looker),
            rank=rank,
            count=len(found.heads),
            strongest=head_name(strongest),
            side=say("without_helps" if helps else "without_hinders"),
            correlation=decimal(found.correlation()),
        )

    def notes(self) -> list[str]:
        found = [say("without_note"), say("without_intervened")]
        if self.values[OFF.name] == MEAN:
            survey = _survey_of(self.state)
            told = say("without_means", sentences=survey.effect_sentences) if survey else None
            found.append(told or say("without_no_means"))
        return found
