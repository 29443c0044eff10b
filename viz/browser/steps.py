"""JSON for ``steps.js``: a replay of decoding, step by step.

All steps are sent at once, so moving asks Python for nothing.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np

from viz.browser.document import SAVING, TYPE, appearance, read_script
from viz.browser.texts import DrawnChange, Say, Trace, change_label
from viz.labels import CERTAIN, IMPOSSIBLE, MOST_ODDS, OUTSIDE, SHARP_ODDS, visible_token

WEIGHT_UNIT = (
    10_000  # weights travel as whole numbers of 1 / 10,000, since no more than four digits are shown
)

KEEP = -1  # the number of the typed text among the candidates
SPACE = visible_token(" ")

STEPS = read_script(
    "steps",
    "dom.js",
    "type.js",
    "save.js",
    "steps_seen.js",
    "steps_image.js",
    "steps.js",
    constants={
        **SAVING,
        **TYPE,
        "KEEP": KEEP,
        "SPACE": SPACE,
        "OUTSIDE": OUTSIDE,
        "CERTAIN": CERTAIN,
        "IMPOSSIBLE": IMPOSSIBLE,
        "MOST_ODDS": MOST_ODDS,
        "SHARP_ODDS": SHARP_ODDS,
    },
)

# Texts that the browser fills in, with the names of their places.
_TEXTS = {
    "steps_play": (),
    "steps_pause": (),
    "steps_back": (),
    "steps_forward": (),
    "steps_last_change": (),
    "steps_next_change": (),
    "steps_range": (),
    "steps_position": ("step", "count"),
    "steps_position_spoken": ("step", "count", "token"),
    "steps_written": (),
    "steps_earlier": ("count",),
    "steps_candidates": (),
    "steps_produced": (),
    "steps_odds": (),
    "steps_less_probable": ("best", "best_probability", "token", "probability"),
    "steps_change": ("change",),
    "steps_fix": (),
    "steps_fix_product": ("count",),
    "steps_fix_elsewhere": (),
    "steps_keep": (),
    "steps_inside": ("change", "number", "count"),
    "steps_copying": (),
    "steps_ending": (),
    "steps_source": ("place",),
    "steps_self": ("place",),
    "steps_weight": ("token", "position", "weight"),
    "steps_folded": ("count", "weight"),
    "steps_not_written": (),
    "steps_scale": (),
    "steps_outside_short": (),
    "steps_legend": (),
    "steps_words": ("step", "token", "probability", "other", "other_probability"),
    "steps_words_source": ("token", "weight"),
    "steps_words_self": ("token", "weight"),
    "steps_save": ("format",),
    "steps_part": (),
    "steps_part_spoken": ("token",),
    "steps_part_kept": (),
    "token": ("token",),
}
# Tokens that are called by a name instead of by themselves.
NAMES = {
    SPACE: "token_space",
    "<s>": "token_start",
    "</s>": "token_end",
    OUTSIDE: "steps_outside",
}


def steps_data(
    say: Say,
    trace: Trace,
    changes: Sequence[DrawnChange],
    *,
    weights: Callable[[str], np.ndarray],
    place: str,
    step: int,
    chosen: object = None,
    may_part: bool = False,
    file: str = "steps",
    theme: str = "light",
) -> dict:
    """Everything that ``steps.js`` needs to replay one sentence, as JSON; it works without Streamlit, too.

    ``weights`` gives the (Q, K) map that is shown of a kind of attention: of both kinds of the decoder, as
    far as the trace has them. ``place`` names its layer and head. ``step`` counts from 1. ``changes`` are
    those of the text, with the attributes of ``model.text.changes.Change``. ``chosen`` is part of the
    ``revision``, so that choosing another change goes to ``step``. ``may_part``: whether other candidates can
    be chosen, which sends them to the page. ``file`` is the name of a saved picture, without ending.

    Raises:
        ValueError: a step outside 1..T.
    """
    logs, shares = trace.log_probabilities, trace.alternative_probabilities
    assert logs is not None and shares is not None, "a trace without probabilities has no steps"
    length = len(trace.target_tokens)
    if not 1 <= step <= length:
        raise ValueError(f"step should lie in 1..{length}, received {step}")
    cross, own = (
        weights(kind) if kind in trace.kinds else None for kind in ("cross_attention", "decoder_attention")
    )
    return {
        "revision": revision(trace, chosen),
        "step": step,
        "source": list(map(visible_token, trace.source_tokens)),
        "target": list(map(visible_token, trace.target_tokens)),
        "start": trace.decoder_input_tokens[0],
        "changes": [_change(say, change) for change in changes],
        "probabilities": _short(np.exp(logs.astype(np.float64))),
        "produced": [produced_place(trace, row) for row in range(length)],
        "alternatives": [list(map(visible_token, row)) for row in trace.alternatives],
        "alternative_probabilities": _short(shares),
        "may_part": may_part,
        "weight_unit": WEIGHT_UNIT,
        "cross": None if cross is None else packed(cross.ravel()),
        "self": None if own is None else packed(own[np.tril_indices(length)]),
        "place": place,
        **appearance(theme, file, "text", "quiet_text", "grid", "gap", "hatch", "accent", "sequential"),
        "texts": {key: say(key, **{name: f"{{{name}}}" for name in names}) for key, names in _TEXTS.items()},
        "names": {token: say(key) for token, key in NAMES.items()},
    }


def produced_place(trace: Trace, row: int) -> int:
    """Which of the row's alternatives is the token that it produced; -1 where it is none of them.

    A character outside the vocabulary is written as ``<outside>``, so there its probability tells.
    """
    logs, shares = trace.log_probabilities, trace.alternative_probabilities
    assert logs is not None and shares is not None, "a trace without probabilities has no steps"
    alternatives, token = trace.alternatives[row], trace.target_tokens[row]
    if token in alternatives:
        return alternatives.index(token)
    if OUTSIDE in alternatives:
        place = alternatives.index(OUTSIDE)
        probability = np.exp(logs[row])
        if np.isclose(shares[row][place], probability, rtol=1e-3):
            return place
    return -1


def revision(trace: Trace, chosen: object) -> str:
    """A key that is the same for the same sentence, correction and chosen change, independent of the view's
    other settings.
    """
    return sha256(repr((trace.source_tokens, trace.target_tokens, chosen)).encode()).hexdigest()[:16]


def packed(weights: np.ndarray) -> str:
    """Weights, clipped to 0..1, as base64 of little-endian uint16, in units of 1 / WEIGHT_UNIT.

    Example:
        >>> packed(np.array([1.0]))
        'ECc='
    """
    return b64encode(np.rint(np.clip(weights, 0, 1) * WEIGHT_UNIT).astype("<u2").tobytes()).decode()


def _change(say: Say, change: DrawnChange) -> dict:
    return {
        "label": change_label(say, change),
        "start": change.target_start,
        "stop": change.target_end,
        "end": max(change.target_end, change.target_start + 1),  # a deletion shows in the row that follows
        "source_start": change.source_start,
        "source_end": change.source_end,
        "fix": change.fix_probability,
        "keep": change.keep_probability,
    }


def _short(probabilities: np.ndarray) -> list:
    """The number in the digits that a float32 has. The page rounds; cut to 0.0065 here, 0.0065016 would
    become 0.006 there.
    """
    return np.round(probabilities.astype(np.float64), 10).tolist()
