"""View *when decided*: logit lens after each sub-layer, and jamo lens."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

import viz
from engine import questions as declared
from model.analysis.edits import asked_places
from model.analysis.residual_stream import JAMO, LogitLens
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Choice
from ui.views.fork import put_step
from ui.views.logit_attribution import number_of
from ui.views.sources import STEP, choose_step
from ui.views.view import Click, Figures, View, needs_answer
from ui.wording import changed_rows, say
from viz.figure import Specification
from viz.labels import probability, visible_token

GRID, CURVE, READ_JAMO = "grid", "curve", "jamo"
AS = Choice("decided_as", (GRID, CURVE, READ_JAMO))
PART = Choice("decided_part", ("final", "medial", "initial"))
SIDE = Choice("decided_side", ("decoder", "encoder"))
FORMULA = r"p_n = \mathrm{softmax}\big(\mathrm{LayerNorm}(x_n)\, E^{\top} + b\big)"
NO_FINAL = "∅"


SUBLAYERS_OF = {
    "encoder": ("encoder", "feed"),
    "decoder": ("decoder", "cross", "feed"),
    "alone": ("decoder", "feed"),
}


def places(side: str, count: int, of: str = "place") -> list[str]:
    """The beginning of the stream, then each sub-layer by its name, or by the short one of a "tick".

    >>> from ui.wording import spoken
    >>> with spoken("en"):
    ...     places("alone", 3, "tick")
    ['Start', 'L1 self', 'L1 feed']
    """
    sublayers = SUBLAYERS_OF[side]
    named = [
        say(f"decided_{of}_{sublayers[n % len(sublayers)]}", layer=n // len(sublayers) + 1)
        for n in range(count - 1)
    ]
    return [say(f"decided_{of}_input"), *named]


def side_of(state: SentenceState, side: str) -> tuple[tuple[str, ...], list[int]]:
    """The tokens that the "encoder" reads (S,) or the "decoder" writes (T,), and the places of the changes in
    them."""
    of_encoder = side == "encoder"
    tokens = state.trace.source_tokens if of_encoder else state.trace.target_tokens
    kind = "encoder_attention" if of_encoder else "cross_attention"
    return tokens, changed_rows(state.changes, kind, len(tokens))


class Lens(View):
    """The grid of all characters, the curve of one, or the jamo of one part."""

    name, page, order = "decided", "attention", 60
    settings = drawn = (AS, PART, SIDE)
    formulas = (FORMULA,)
    has_map = False
    lacks = staticmethod(needs_answer(declared.logit_lens, "lacks_residual"))

    @property
    def side(self) -> str:
        """The side of which the lens shows ``places``."""
        return "decoder" if "cross_attention" in self.state.trace.kinds else "alone"

    @cached_property
    def lens(self) -> LogitLens:
        """The lens behind the sub-layers that the network has: a decoder alone has no cross-attention."""
        found = self.state.ask(declared.logit_lens, *self.state.texts, self.state.edits)
        if self.side == "decoder":
            return found
        names = "likeliest", "probabilities", "written", "scores"
        own = np.arange(len(found.scores)) % 3 != 2
        return replace(found, **{name: getattr(found, name)[own] for name in names})

    @property
    def number(self) -> int:
        return number_of(self.state, self.lens)

    @property
    def row(self) -> int:
        return self.lens.questions[self.number].row

    @property
    def how(self) -> str:
        how = self.values[AS.name]
        return GRID if how == READ_JAMO and not self.lens.jamo else how

    def choices(self) -> list[Choice | Callable[[], object]]:
        options = [how for how in AS.options if self.lens.jamo or how != READ_JAMO]
        parts: list[Choice | Callable[[], object]] = [partial(controls.choose_beside, AS, options)]
        if self.how == READ_JAMO:
            parts += [PART, SIDE]
        elif self.how == CURVE:
            parts.append(partial(choose_step, self.state, self.row))
        return parts

    def draw_figures(self, *names: str) -> None:
        columns = len(self.state.trace.target_tokens) if self.how != CURVE else 0
        with figures.box("decided", columns):
            super().draw_figures(*names)

    @property
    def opened(self) -> tuple[str, ...]:
        return (f"decided_{self.how}",)

    @cached_property
    def figures(self) -> Figures:
        pictures = {
            "decided_grid": (self._grid(), say("decided_grid_label")),
            "decided_curve": (self._curve(), say("decided_curve_label")),
        }
        if self.lens.jamo:
            named = say("decided_jamo_label", **self._part_and_side())
            pictures["decided_jamo"] = self._jamo_grid(), named
        return pictures

    def _part_and_side(self) -> dict[str, str]:
        part, side = self.values[PART.name], self.values[SIDE.name]
        return {"part": say(f"decided_part_{part}"), "side": say(f"decided_side_{side}")}

    def on_click(self, figure: str) -> Click | None:
        """A cell of the grid asks about its step, and shows its curve; an unknown point changes nothing."""

        def choose_column(point: dict) -> None:
            if put_step(STEP, self.state, point):
                address.put(AS.name, CURVE)

        return choose_column if figure == "decided_grid" else None

    def _grid(self) -> Specification:
        found, side = self.lens, self.side
        details = [
            [
                " · ".join(
                    f"{visible_token(found.names[token])} {probability(share)}"
                    for token, share in zip(tokens, shares, strict=True)
                )
                for tokens, shares in zip(*row, strict=True)
            ]
            for row in zip(found.likeliest.tolist(), found.probabilities.tolist(), strict=True)
        ]
        return viz.layer_grid.specification(
            found.labels(),
            found.probabilities[..., 0],
            places(side, len(found.likeliest), "tick"),
            self.state.trace.target_tokens,
            details=details,
            outlined=self.row,
            emphasis=side_of(self.state, side)[1] if side == "decoder" else (),
            place_title=say("decided_place"),
            token_title=say("decided_step"),
            probability_title=say("decided_probability"),
            theme=self.state.theme,
        )

    def _curve(self) -> Specification:
        found, number = self.lens, self.number
        question = found.questions[number]
        tokens = {"token": question.written_token, "other": question.instead_token}
        title = say("decided_score", **{name: visible_token(token) for name, token in tokens.items()})
        names = [visible_token(row[question.row]) for row in found.labels()]
        return viz.layer_curve.specification(
            found.scores[:, number].tolist(),
            places(self.side, len(found.scores), "tick"),
            details=[say("decided_likeliest", token=name) for name in names],
            marked=found.settled(question.row),
            captions=viz.Captions(titles=(title,), theme=self.state.theme),
        )

    def _jamo_grid(self) -> Specification:
        part, side, state = self.values[PART.name], self.values[SIDE.name], self.state
        read = self.lens.jamo[f"{side} {part}"]
        texts = [[JAMO[part][jamo] or NO_FINAL for jamo in row] for row in read.likeliest.tolist()]
        tokens, changed = side_of(state, side)
        expected = [
            ["" if np.isnan(share) else say(f"decided_own_{side}", share=probability(share)) for share in row]
            for row in read.expected.tolist()
        ]
        return viz.layer_grid.specification(
            texts,
            read.probability,
            places(side, len(read.likeliest), "tick"),
            tokens,
            details=expected,
            outlined=asked_places(state.asked_change)[side == "decoder"] if state.asked_change else None,
            emphasis=changed,
            place_title=say("decided_place"),
            token_title=say(f"decided_step_{side}"),
            probability_title=say("decided_probability" if side == "decoder" else "decided_likeness"),
            theme=state.theme,
        )

    def probabilities(self) -> list[float]:
        other = self.how != READ_JAMO and not self.lens.is_answer(self.row)
        return [float(self.lens.written[-1, self.row])] if other else []

    def reading(self) -> str:
        found, row = self.lens, self.row
        if self.how == READ_JAMO:
            told = say("decided_jamo_reading", **self._part_and_side())
            return told + say("decided_jamo_reading_none") if self.values[PART.name] == "final" else told
        place, labels = found.settled(row), found.labels()
        facts = {
            "token": visible_token(self.state.trace.target_tokens[row]),
            "place": places(self.side, len(found.likeliest))[place],
            "before": visible_token(labels[place - 1][row]) if place else "",
        }
        start = "_start" if place == 0 else ""
        if found.is_answer(row):
            return say(f"decided_reading{start}", **facts)
        (share,) = map(probability, self.probabilities())
        answer = visible_token(labels[-1][row])
        return say(f"decided_other{start}", answer=answer, probability=share, **facts)

    def notes(self) -> list[str]:
        is_known = self.state.can(declared.logit_lens)
        how = self.how if is_known else self.values[AS.name]
        told = [say(f"decided_{how}_note")]
        if how == READ_JAMO:
            told.append(say(f"decided_jamo_{self.values[SIDE.name]}"))
        if is_known and not self.lens.jamo:
            told.append(say("decided_no_jamo"))
        return [*told, say("decided_limits")]
