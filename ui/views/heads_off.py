"""The heads that are off in the experiment *switch heads off*: which they are, what stands in for them, and how they are called."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from model import ModelFolderError
from model.survey.head_survey import HeadSurvey
from model.text.changes import Change
from model.trace.interventions import Head
from ui.asking import loaders, models, questions
from ui.look.lens import Lens
from ui.shell import address
from ui.shell.settings import Choice, Text
from ui.views.view import Values
from ui.wording import say

STRONGEST = 5  # heads that are off until the visitor chooses others
MOST_NAMED = STRONGEST - 1  # heads that a sentence calls by their names
ZERO, MEAN = "zero", "mean"
NONE = "none"  # in the address: the visitor switched every head on
OFF = Choice("off", (ZERO, MEAN))  # what a head that is switched off puts out
# The heads that are off, such as cross_attention.2.3, counted from 1. NONE: no head. Empty: the strongest ones.
HEADS = Text("switched_off")


def change_of(lens: Lens) -> Change | None:
    """The change in focus, else the first; None where there is none."""
    return lens.changes[0] if lens.changes else None


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
    change = change_of(lens)
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
    return say("without_heads", heads=", ".join(map(named, sorted(heads))))


def switch(lens: Lens, off: Sequence[Head], point: dict) -> None:
    """Switch the head of a chosen square off, or on again. A browser may send anything; an unknown point changes nothing."""
    match point.get("custom"):
        case [str(kind), int(layer), int(head)] if _has(lens, chosen := Head(kind, layer, head)):
            _put([each for each in off if each != chosen] if chosen in off else [*off, chosen])


def _put(heads: Iterable[Head]) -> None:
    told = ",".join(f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in heads)
    address.put(HEADS.name, told or NONE)


def named(head: Head) -> str:
    """Short, because a sentence names two of them: the kind, then layer and head as on the tiles."""
    return f"{say(f'kind_{head.kind}')} {head.layer + 1}·{head.head + 1}"
