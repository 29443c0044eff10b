"""Experiment *transplant*: activation patching from the clean run into a corrupted run.

The clean run is the typed sentence.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

import viz
from engine import questions as declared
from model.analysis.patching import ActivationPatching
from model.trace.interventions import ATTENTIONS, Head
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Choice
from ui.views import side_by_side
from ui.views.logit_lens import places, side_of
from ui.views.view import Click, Figures, Values, View, idea, needs_activations, open_head
from ui.wording import change_in_words, head_name, nats, say, share_kept, short_head_name
from viz.labels import visible_token

RESIDUAL, OUTPUT, HEADS = "residual", "output", "heads"
SIDE = Choice("patch_side", ("encoder", "decoder"))
PART = Choice("patch_part", (RESIDUAL, OUTPUT, HEADS))
CORRUPTED = Choice("patch_twin", ("changed", "right", "sentence"))  # the corrupted run
FAINT = 0.05  # of the score: heads next to each other that restore less share one row


def _patched(state: SentenceState, values: Values) -> list[ActivationPatching]:
    side, part, how = (values[each.name] for each in (SIDE, PART, CORRUPTED))
    other = address.get(side_by_side.SENTENCE.name)[: side_by_side.LONGEST] if how == "sentence" else ""
    asked = (declared.Patching(part, of, how, other) for of in _of(side, part))
    found = (state.ask(declared.activation_patching, state.edit, each) for each in asked)
    return [each for each in found if each is not None]


def _of(side: str, part: str) -> tuple[str, ...]:
    return ATTENTIONS[side] if part == HEADS else (side,)


def _draw(state: SentenceState, values: Values) -> None:
    write = partial(controls.write, side_by_side.SENTENCE.name, side_by_side.LONGEST)
    VIEW.draw_choices(SIDE, PART, CORRUPTED, *([write] if values[CORRUPTED.name] == "sentence" else []))
    VIEW.draw_figures(state, values)


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """The map; nothing without a corrupted run, or where it says nothing of the question."""
    found = _patched(state, values)
    if not found or not _tells(found[0], values):
        return {}
    side, whole = values[SIDE.name], _whole(found)
    returned, patched = whole.restored, whole.patched
    tokens, changed = side_of(state, side)
    tokens = tokens[: returned.shape[1]]
    groups = _groups(values, whole)
    strongest = [group[np.abs(np.nan_to_num(returned[group])).max(axis=1).argmax()] for group in groups]
    figure = viz.place_map.specification(
        returned[strongest],
        _names_of(_rows_of(state, values, len(returned), short_head_name), groups),
        tokens,
        details=patched[strongest],
        emphasis=[row for row in changed if row < len(tokens)],
        place_title=say("decided_place"),
        token_title=say(f"patch_token_{side}"),
        value_title=say("patch_returned"),
        detail_title=say("patch_score"),
        # Parts restore little each: in the colours of the whole stream they would all look alike.
        most=1.0 if values[PART.name] == RESIDUAL else float(np.nanmax(np.abs(returned))) or 1.0,
        theme=state.theme,
    )
    return {"patched": (figure, say("patch_label", side=say(f"patch_side_{side}")))}


def _tells(found: ActivationPatching, values: Values) -> bool:
    """Whether the two scores differ, and an exchanged character takes enough of this sentence's."""
    return found.is_telling and (values[CORRUPTED.name] != "changed" or found.is_lowered)


def _whole(found: list[ActivationPatching]) -> ActivationPatching:
    """The kinds of attention of the decoder, one below the other, as one."""
    return replace(found[0], patched=np.concatenate([each.patched for each in found]))


def _groups(values: Values, whole: ActivationPatching) -> list[np.ndarray]:
    """The numbers of the rows that are drawn as one: neighbouring heads of which no value reaches FAINT, and
    any other row alone, as that of the value which the sentence names."""
    if values[PART.name] != HEADS:
        return list(np.arange(len(whole.patched))[:, None])
    faint = np.abs(np.nan_to_num(whole.restored)).max(axis=1, initial=0) < FAINT
    faint[whole.strongest()[0]] = False
    starts = [row for row in range(1, len(faint)) if not (faint[row] and faint[row - 1])]
    return np.split(np.arange(len(faint)), starts)


def _names_of(rows: list[str], groups: list[np.ndarray]) -> list[str]:
    """A group of several rows has the names of its ends and their number."""
    return [
        rows[group[0]]
        if len(group) == 1
        else say("patch_folded", first=rows[group[0]], last=rows[group[-1]], count=len(group))
        for group in groups
    ]


def _rows_of(
    state: SentenceState, values: Values, count: int, named: Callable[[Head], str] = head_name
) -> list[str]:
    """The names of the rows."""
    side, part = values[SIDE.name], values[PART.name]
    if part == HEADS:
        return [named(head) for head in _heads(state, side)]
    return places(side, count) if part == RESIDUAL else places(side, count + 1)[1:]


def _heads(state: SentenceState, side: str) -> list[Head]:
    return [Head(kind, *place) for kind in ATTENTIONS[side] for place in np.ndindex(*state.trace.shape(kind))]


def _on_click(state: SentenceState, figure: str) -> Click | None:
    """A row of heads shows the map of its head; an unknown point changes nothing."""
    values = controls.values((SIDE, PART, CORRUPTED))

    def open_row(point: dict) -> None:
        found = _patched(state, values)
        groups = _groups(values, _whole(found)) if found else []
        y = point.get("y")
        if isinstance(y, int | float) and 0 <= y < len(groups) and len(groups[round(y)]) == 1:
            open_head(state, _heads(state, values[SIDE.name])[groups[round(y)][0]])

    return open_row if values[PART.name] == HEADS else None


def _describe(state: SentenceState, values: Values) -> str:
    """Both scores, and the places at which the difference returns."""
    change, found = state.explained, _patched(state, values)
    if not found:
        return say(f"patch_no_twin_{values[CORRUPTED.name]}", wrong=visible_token(change.wrong))
    if not _tells(found[0], values) and values[CORRUPTED.name] != "changed":
        return say("patch_alike", twin=found[0].corrupted)
    told = _places(state, values, found) if _tells(found[0], values) else ""
    right = "_right" if values[CORRUPTED.name] == "right" else ""
    reading = f"patch_reading{right}" if told else "patch_not_lowered"
    return say(reading, change=change_in_words(change), told=told, **_scores(found[0]))


def _scores(found: ActivationPatching) -> dict[str, str]:
    return {
        "score": nats(found.score),
        "twin_score": nats(found.corrupted_score),
        "twin": found.corrupted,
    }


def _places(state: SentenceState, values: Values, found: list[ActivationPatching]) -> str:
    """Of the stream the last place of the exchanged character and the first of another one; else the part
    that restores most."""
    whole = _whole(found)
    if values[PART.name] != RESIDUAL:
        return _told(state, values, whole, "patch_most", whole.strongest())
    stays, arrives = whole.stays(), whole.arrives()
    if stays is None and arrives is None:
        return _told(state, values, whole, "patch_none", whole.strongest())
    told = [_told(state, values, whole, "patch_stays", stays)] if stays else []
    if arrives:
        first = "patch_arrives" if stays else "patch_arrives_first"
        told.append(_told(state, values, whole, first, arrives))
    return " ".join([*told, *([] if arrives else [say("patch_stays_only")])])


def _told(
    state: SentenceState, values: Values, found: ActivationPatching, text: str, cell: tuple[int, int]
) -> str:
    tokens, _ = side_of(state, values[SIDE.name])
    return say(
        text,
        place=_rows_of(state, values, len(found.patched))[cell[0]],
        token=visible_token(tokens[cell[1]]),
        share=share_kept(float(found.restored[cell])),
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    told = [
        say(f"patch_note_{values[PART.name]}"),
        say("patch_colours"),
        say(f"patch_twin_note_{values[CORRUPTED.name]}"),
    ]
    if not VIEW.message(state) and (found := _patched(state, values)):
        told.append(say("patch_scores"))
        told.append(say("patch_twin_ahead" if found[0].corrupted_score > 0 else "patch_twin_behind"))
    return told


VIEW = View(
    "patched",
    "laboratory",
    60,
    _describe,
    (SIDE, PART, CORRUPTED),
    _notes,
    idea("patch"),
    _draw,
    _figures_of,
    _on_click,
    drawn=(SIDE, PART, CORRUPTED),
    has_map=False,
    intervenes=True,
    lacks=needs_activations(declared.activation_patching),
    unchanged="without_none",
).declare()
