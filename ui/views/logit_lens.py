"""View *when decided*: logit lens after each sub-layer, and jamo lens."""

from collections.abc import Iterable
from functools import partial

import numpy as np
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.residual_stream import JAMO, LogitLens
from ui.asking import questions
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Choice
from ui.views.logit_attribution import number_of
from ui.views.sources import choose_step
from ui.views.view import Values, View, declare, file_name, idea, needs_answer
from ui.wording import changed_rows, say
from viz.figure import Specification
from viz.labels import probability, visible_token

GRID, CURVE, READ_JAMO = "grid", "curve", "jamo"
SETTINGS = (
    Choice("decided_as", (GRID, CURVE, READ_JAMO)),
    Choice("decided_part", ("final", "medial", "initial")),
    Choice("decided_side", ("decoder", "encoder")),
)
FORMULA = r"p_n = \mathrm{softmax}\big(\mathrm{LayerNorm}(x_n)\, E^{\top} + b\big)"
NO_FINAL = "∅"


def _decided(state: SentenceState) -> LogitLens:
    return questions.logit_lens(state.sentence, state.corrector)


def _draw(state: SentenceState, values: Values) -> None:
    """The grid of all characters, the curve of one, or the jamo of one part."""
    found = _decided(state)
    with st.container(key="decided_choices", horizontal=True, vertical_alignment="center", gap="small"):
        _choose("decided_as", [how for how in SETTINGS[0].options if found.jamo or how != READ_JAMO])
        how = _shown(values, found)
        if how == READ_JAMO:
            _choose("decided_part", SETTINGS[1].options)
            _choose("decided_side", SETTINGS[2].options)
        elif how == CURVE:
            choose_step(state, found.questions[number_of(state, found)].row)
    name = f"decided_{how}"
    figure, label = _pictures(state, values, found)[name]
    figures.draw(
        figure,
        name,
        file_name(state, name.replace("_", "-")),
        partial(_choose_column, state) if name == "decided_grid" else None,
        label=label,
    )


def _shown(values: Values, found: LogitLens) -> str:
    how = values["decided_as"]
    return GRID if how == READ_JAMO and not found.jamo else how


def _choose(name: str, options: Iterable[str]) -> None:
    controls.choose(name, list(options), lambda option: say(f"{name}_{option}"), label_visibility="collapsed")


def _figures_of(state: SentenceState, values: Values) -> dict[str, tuple[Specification, str]]:
    return _pictures(state, values, _decided(state))


def _pictures(state: SentenceState, values: Values, found: LogitLens) -> dict[str, tuple[Specification, str]]:
    side, part = values["decided_side"], values["decided_part"]
    pictures = {
        "decided_grid": (_grid(state, found), say("decided_grid_label")),
        "decided_curve": (_curve(state, found), say("decided_curve_label")),
    }
    if found.jamo:
        named = say("decided_jamo_label", part=say(f"decided_part_{part}"), side=say(f"decided_side_{side}"))
        pictures["decided_jamo"] = _jamo_grid(state, found, side, part), named
    return pictures


def _choose_column(state: SentenceState, point: dict) -> None:
    """Ask about the step of a chosen cell, and show its curve. A browser may send anything; an unknown point
    changes nothing."""
    cell = figures.cell_of(point)
    if cell is not None and 0 <= cell[1] < len(state.trace.target_tokens):
        address.put("sources_step", str(cell[1] + 1))
        address.put("decided_as", CURVE)


def places(side: str, count: int) -> list[str]:
    """The beginning of the stream, then each sub-layer by its name."""
    sublayers = ("encoder", "feed") if side == "encoder" else ("decoder", "cross", "feed")
    named = [
        say(f"decided_place_{sublayers[n % len(sublayers)]}", layer=n // len(sublayers) + 1)
        for n in range(count - 1)
    ]
    return [say("decided_place_input"), *named]


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
        places("decoder", len(found.likeliest)),
        state.trace.target_tokens,
        details=details,
        outlined=found.questions[number_of(state, found)].row,
        emphasis=_changed(state, "decoder"),
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
        places("decoder", len(found.scores)),
        details=[say("decided_likeliest", token=name) for name in names],
        marked=found.settled(question.row),
        value_title=say(
            "decided_score",
            token=visible_token(question.written_token),
            other=visible_token(question.instead_token),
        ),
        theme=state.theme,
    )


def _jamo_grid(state: SentenceState, found: LogitLens, side: str, part: str) -> Specification:
    read = found.jamo[f"{side} {part}"]
    texts = [[JAMO[part][jamo] or NO_FINAL for jamo in row] for row in read.likeliest.tolist()]
    tokens = state.trace.source_tokens if side == "encoder" else state.trace.target_tokens
    expected = [
        ["" if np.isnan(share) else say(f"decided_own_{side}", share=probability(share)) for share in row]
        for row in read.expected.tolist()
    ]
    return viz.layer_grid.specification(
        texts,
        read.probability,
        places(side, len(read.likeliest)),
        tokens,
        details=expected,
        emphasis=_changed(state, side),
        place_title=say("decided_place"),
        token_title=say(f"decided_step_{side}"),
        probability_title=say("decided_probability" if side == "decoder" else "decided_likeness"),
        theme=state.theme,
    )


def _changed(state: SentenceState, side: str) -> list[int]:
    kind, tokens = (
        ("encoder_attention", state.trace.source_tokens)
        if side == "encoder"
        else ("cross_attention", state.trace.target_tokens)
    )
    return changed_rows(state.changes, kind, len(tokens))


def _describe(state: SentenceState, values: Values) -> str:
    found = _decided(state)
    number = number_of(state, found)
    row = found.questions[number].row
    names = places("decoder", len(found.likeliest))
    place = found.settled(row)
    token = visible_token(state.trace.target_tokens[row])
    if _shown(values, found) == READ_JAMO:
        return say(
            "decided_jamo_reading",
            part=say(f"decided_part_{values['decided_part']}"),
            side=say(f"decided_side_{values['decided_side']}"),
        )
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
    found = _decided(state) if state.can(declared.logit_lens) else None
    how = _shown(values, found) if found else values["decided_as"]
    told = [say(f"decided_{how}_note")]
    if how == READ_JAMO:
        told.append(say(f"decided_jamo_{values['decided_side']}"))
    if found and not found.jamo:
        told.append(say("decided_no_jamo"))
    return [*told, say("decided_limits")]


VIEW = declare(
    View(
        "decided",
        "attention",
        60,
        _describe,
        _draw,
        SETTINGS,
        _notes,
        idea("decided", FORMULA),
        has_map=False,
        figures=_figures_of,
        drawn=SETTINGS,
        lacks=needs_answer(declared.logit_lens, "lacks_residual"),
    )
)
