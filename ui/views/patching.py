"""Experiment *transplant*: activation patching from the clean run into a corrupted run.

The clean run is the typed sentence.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

import viz
from engine import questions as declared
from model.analysis.patching import PARTS, ActivationPatching
from model.trace.interventions import ATTENTIONS, Head
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Choice
from ui.views import side_by_side
from ui.views.logit_lens import places, side_of
from ui.views.view import Click, Figures, Values, View, needs_activations, open_head
from ui.wording import change_in_words, head_name, nats, say, share_kept, short_head_name
from viz.labels import visible_token

RESIDUAL, OUTPUT, HEADS = PARTS
SIDE = Choice("patch_side", ("encoder", "decoder"))
PART = Choice("patch_part", PARTS)
CORRUPTED = Choice("patch_twin", ("changed", "right", "sentence"))  # the corrupted run
FAINT = 0.05  # of the score: heads next to each other that restore less share one row


class Patching(View):
    """The share of the score that each part restores."""

    name, page, order, idea = "patched", "laboratory", 60, "patch"
    settings = drawn = (SIDE, PART, CORRUPTED)
    has_map = False
    intervenes = True
    lacks = staticmethod(needs_activations(declared.activation_patching))
    unchanged = "without_none"

    def __init__(self, state: SentenceState, values: Values | None = None):
        super().__init__(state, values)
        self.side, self.part, self.how = (self.values[each.name] for each in self.drawn)

    @cached_property
    def found(self) -> ActivationPatching | None:
        """The kinds of attention of the decoder, one below the other, as one; scores are in nats. None
        without a corrupted run."""
        other = address.get(side_by_side.SENTENCE.name)[: side_by_side.LONGEST]
        of = ATTENTIONS[self.side] if self.part == HEADS else (self.side,)
        shared = self.how, other if self.how == "sentence" else ""
        asked = (declared.Patching(self.part, each, *shared) for each in of)
        answers = [self.state.ask(declared.activation_patching, self.state.edit, each) for each in asked]
        found = [each for each in answers if each is not None]
        return replace(found[0], patched=np.concatenate([each.patched for each in found])) if found else None

    @property
    def is_telling(self) -> bool:
        """Whether the two scores differ, and an exchanged character takes enough of this sentence's."""
        found = self.found
        return found is not None and found.is_telling and (self.how != "changed" or found.is_lowered)

    def choices(self) -> list[Choice | Callable[[], object]]:
        write = partial(controls.write, side_by_side.SENTENCE.name, side_by_side.LONGEST)
        return [SIDE, PART, CORRUPTED, *([write] if self.how == "sentence" else [])]

    @cached_property
    def figures(self) -> Figures:
        """The map; nothing without a corrupted run, or where it says nothing of the question."""
        found, side = self.found, self.side
        if found is None or not self.is_telling:
            return {}
        returned, groups = found.restored, self._groups(found)
        tokens, changed = side_of(self.state, side)
        tokens = tokens[: returned.shape[1]]
        strongest = [group[np.abs(np.nan_to_num(returned[group])).max(axis=1).argmax()] for group in groups]
        figure = viz.place_map.specification(
            returned[strongest],
            _names_of(self._rows(len(returned), short_head_name), groups),
            tokens,
            details=found.patched[strongest],
            emphasis=[row for row in changed if row < len(tokens)],
            place_title=say("decided_place"),
            token_title=say(f"patch_token_{side}"),
            value_title=say("patch_returned"),
            detail_title=say("patch_score"),
            # Parts restore little each: in the colours of the whole stream they would all look alike.
            most=1.0 if self.part == RESIDUAL else float(np.nanmax(np.abs(returned))) or 1.0,
            theme=self.state.theme,
        )
        return {"patched": (figure, say("patch_label", side=say(f"patch_side_{side}")))}

    def _groups(self, found: ActivationPatching) -> list[np.ndarray]:
        """The numbers of the rows that are drawn as one: neighbouring heads of which no value reaches FAINT,
        and any other row alone, as that of the value which the sentence names."""
        if self.part != HEADS:
            return list(np.arange(len(found.patched))[:, None])
        faint = np.abs(np.nan_to_num(found.restored)).max(axis=1, initial=0) < FAINT
        faint[found.strongest()[0]] = False
        starts = [row for row in range(1, len(faint)) if not (faint[row] and faint[row - 1])]
        return np.split(np.arange(len(faint)), starts)

    def _rows(self, count: int, named: Callable[[Head], str] = head_name) -> list[str]:
        """The names of the rows."""
        if self.part == HEADS:
            return list(map(named, self._heads()))
        return places(self.side, count) if self.part == RESIDUAL else places(self.side, count + 1)[1:]

    def _heads(self) -> list[Head]:
        trace = self.state.trace
        kinds = ATTENTIONS[self.side]
        return [Head(kind, *place) for kind in kinds for place in np.ndindex(*trace.shape(kind))]

    def on_click(self, figure: str) -> Click | None:
        """A row of heads shows the map of its head; an unknown point changes nothing."""

        def open_row(point: dict) -> None:
            groups = self._groups(self.found) if self.found else []
            y = point.get("y")
            if isinstance(y, int | float) and 0 <= y < len(groups) and len(groups[round(y)]) == 1:
                open_head(self.state, self._heads()[groups[round(y)][0]])

        return open_row if self.part == HEADS else None

    def reading(self) -> str:
        """Both scores, and the places at which the difference returns."""
        change, found = self.state.explained, self.found
        if found is None:
            return say(f"patch_no_twin_{self.how}", wrong=visible_token(change.wrong))
        if not self.is_telling and self.how != "changed":
            return say("patch_alike", twin=found.corrupted)
        told = self._places(found) if self.is_telling else ""
        right = "_right" if self.how == "right" else ""
        return say(
            f"patch_reading{right}" if told else "patch_not_lowered",
            change=change_in_words(change),
            told=told,
            score=nats(found.score),
            twin_score=nats(found.corrupted_score),
            twin=found.corrupted,
        )

    def _places(self, found: ActivationPatching) -> str:
        """Of the stream the last place of the exchanged character and the first of another one; else the part
        that restores most."""
        if self.part != RESIDUAL:
            return self._told("patch_most", found.strongest())
        stays, arrives = found.stays(), found.arrives()
        if stays is None and arrives is None:
            return self._told("patch_none", found.strongest())
        told = [self._told("patch_stays", stays)] if stays else []
        if arrives:
            told.append(self._told("patch_arrives" if stays else "patch_arrives_first", arrives))
        return " ".join([*told, *([] if arrives else [say("patch_stays_only")])])

    def _told(self, text: str, cell: tuple[int, int]) -> str:
        assert self.found is not None, "the cell is one of its cells"
        place = self._rows(len(self.found.patched))[cell[0]]
        token = visible_token(side_of(self.state, self.side)[0][cell[1]])
        return say(text, place=place, token=token, share=share_kept(float(self.found.restored[cell])))

    def notes(self) -> list[str]:
        texts = f"patch_note_{self.part}", "patch_colours", f"patch_twin_note_{self.how}"
        told = list(map(say, texts))
        if not self.message and self.found:
            ahead = "patch_twin_ahead" if self.found.corrupted_score > 0 else "patch_twin_behind"
            told += [say("patch_scores"), say(ahead)]
        return told


def _names_of(rows: list[str], groups: list[np.ndarray]) -> list[str]:
    """A group of several rows has the names of its ends and their number."""
    return [
        rows[group[0]]
        if len(group) == 1
        else say("patch_folded", first=rows[group[0]], last=rows[group[-1]], count=len(group))
        for group in groups
    ]
