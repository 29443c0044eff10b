"""View *when decided*: logit lens after each sub-layer, and jamo lens."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

import viz
from engine import questions as declared
from model.analysis.edits import asked_places
from model.analysis.residual_stream import JAMO, LogitLens
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Choice
from ui.views.logit_attribution import number_of
from ui.views.sources import choose_step
from ui.views.view import Click, Figures, Values, View, idea, needs_answer
from ui.wording import changed_rows, say
from viz.figure import Specification
from viz.labels import probability, visible_token

GRID, CURVE, READ_JAMO = "grid", "curve", "jamo"
AS = Choice("decided_as", (GRID, CURVE, READ_JAMO))
PART = Choice("decided_part", ("final", "medial", "initial"))
SIDE = Choice("decided_side", ("decoder", "encoder"))
FORMULA = r"p_n = \mathrm{softmax}\big(\mathrm{LayerNorm}(x_n)\, E^{\top} + b\big)"
NO_FINAL = "∅"


def _lens(state: SentenceState) -> LogitLens:
    """The lens behind the sub-layers that the network has: a decoder alone has no cross-attention."""
    found = state.ask(declared.logit_lens, *state.texts, state.edits)
    if _side(state) == "decoder":
        return found
    names = "likeliest", "probabilities", "written", "scores"
    own = np.arange(len(found.scores)) % 3 != 2
    return replace(found, **{name: getattr(found, name)[own] for name in names})


def _side(state: SentenceState) -> str:
    """The side of which the lens shows ``places``."""
    return "decoder" if "cross_attention" in state.trace.kinds else "alone"


def _draw(state: SentenceState, values: Values) -> None:
    """The grid of all characters, the curve of one, or the jamo of one part."""
    lens = _lens(state)
    how = _shown(values, lens)
    parts: list[Choice | Callable[[], object]] = []
    if how == READ_JAMO:
        parts += [PART, SIDE]
    elif how == CURVE:
        parts += [partial(choose_step, state, lens.questions[number_of(state, lens)].row)]
    options = [how for how in AS.options if lens.jamo or how != READ_JAMO]
    VIEW.draw_choices(partial(controls.choose_beside, AS, options), *parts)
    with figures.box("decided", len(state.trace.target_tokens) if how != CURVE else 0):
        VIEW.draw_figures(state, values, *_opened(state, values))


def _opened(state: SentenceState, values: Values) -> tuple[str, ...]:
    return (f"decided_{_shown(values, _lens(state))}",)


def _shown(values: Values, lens: LogitLens) -> str:
    how = values[AS.name]
    return GRID if how == READ_JAMO and not lens.jamo else how


def _pictures(state: SentenceState, values: Values) -> Figures:
    found, side, part = _lens(state), values[SIDE.name], values[PART.name]
    pictures = {
        "decided_grid": (_grid(state, found), say("decided_grid_label")),
        "decided_curve": (_curve(state, found), say("decided_curve_label")),
    }
    if found.jamo:
        named = say("decided_jamo_label", part=say(f"decided_part_{part}"), side=say(f"decided_side_{side}"))
        pictures["decided_jamo"] = _jamo_grid(state, found, side, part), named
    return pictures


def _on_click(state: SentenceState, figure: str) -> Click | None:
    """A cell of the grid asks about its step, and shows its curve; an unknown point changes nothing."""

    def choose_column(point: dict) -> None:
        cell = figures.cell_of(point)
        if cell is not None and 0 <= cell[1] < len(state.trace.target_tokens):
            address.put("sources_step", str(cell[1] + 1))
            address.put(AS.name, CURVE)

    return choose_column if figure == "decided_grid" else None


SUBLAYERS_OF = {
    "encoder": ("encoder", "feed"),
    "decoder": ("decoder", "cross", "feed"),
    "alone": ("decoder", "feed"),
}


def places(side: str, count: int, of: str = "place") -> list[str]:
    """The beginning of the stream, then each sub-layer by its name, or by the short one of a "tick"."""
    sublayers = SUBLAYERS_OF[side]
    named = [
        say(f"decided_{of}_{sublayers[n % len(sublayers)]}", layer=n // len(sublayers) + 1)
        for n in range(count - 1)
    ]
    return [say(f"decided_{of}_input"), *named]


def _grid(state: SentenceState, found: LogitLens) -> Specification:
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
        places(_side(state), len(found.likeliest), "tick"),
        state.trace.target_tokens,
        details=details,
        outlined=found.questions[number_of(state, found)].row,
        emphasis=side_of(state, "decoder")[1] if _side(state) == "decoder" else (),
        place_title=say("decided_place"),
        token_title=say("decided_step"),
        probability_title=say("decided_probability"),
        theme=state.theme,
    )


def _curve(state: SentenceState, found: LogitLens) -> Specification:
    number = number_of(state, found)
    question = found.questions[number]
    names = [visible_token(row[question.row]) for row in found.labels()]
    return viz.layer_curve.specification(
        found.scores[:, number].tolist(),
        places(_side(state), len(found.scores), "tick"),
        details=[say("decided_likeliest", token=name) for name in names],
        marked=found.settled(question.row),
        captions=viz.Captions(
            titles=(
                say(
                    "decided_score",
                    token=visible_token(question.written_token),
                    other=visible_token(question.instead_token),
                ),
            ),
            theme=state.theme,
        ),
    )


def _jamo_grid(state: SentenceState, found: LogitLens, side: str, part: str) -> Specification:
    read = found.jamo[f"{side} {part}"]
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


def side_of(state: SentenceState, side: str) -> tuple[tuple[str, ...], list[int]]:
    """The tokens that the "encoder" reads or the "decoder" writes, and the places of the changes in them."""
    of_encoder = side == "encoder"
    tokens = state.trace.source_tokens if of_encoder else state.trace.target_tokens
    kind = "encoder_attention" if of_encoder else "cross_attention"
    return tokens, changed_rows(state.changes, kind, len(tokens))


def _describe(state: SentenceState, values: Values) -> str:
    found = _lens(state)
    number = number_of(state, found)
    row = found.questions[number].row
    names = places(_side(state), len(found.likeliest))
    place = found.settled(row)
    token = visible_token(state.trace.target_tokens[row])
    if _shown(values, found) == READ_JAMO:
        part, side = values[PART.name], say(f"decided_side_{values[SIDE.name]}")
        told = say("decided_jamo_reading", part=say(f"decided_part_{part}"), side=side)
        return told + say("decided_jamo_reading_none") if part == "final" else told
    facts = {"token": token, "place": names[place], "before": ""}
    if place:
        facts["before"] = visible_token(found.labels()[place - 1][row])
    start = "_start" if place == 0 else ""
    if found.is_answer(row):
        return say(f"decided_reading{start}", **facts)
    answer = visible_token(found.labels()[-1][row])
    share = probability(float(found.written[-1, row]))
    return say(f"decided_other{start}", answer=answer, probability=share, **facts)


def _notes(state: SentenceState, values: Values) -> list[str]:
    found = _lens(state) if state.can(declared.logit_lens) else None
    how = _shown(values, found) if found else values[AS.name]
    told = [say(f"decided_{how}_note")]
    if how == READ_JAMO:
        told.append(say(f"decided_jamo_{values['decided_side']}"))
    if found and not found.jamo:
        told.append(say("decided_no_jamo"))
    return [*told, say("decided_limits")]


VIEW = View(
    "decided",
    "attention",
    60,
    _describe,
    (AS, PART, SIDE),
    _notes,
    idea("decided", FORMULA),
    _draw,
    _pictures,
    _on_click,
    drawn=(AS, PART, SIDE),
    opened=_opened,
    has_map=False,
    lacks=needs_answer(declared.logit_lens, "lacks_residual"),
).declare()
