"""Screen texts in the session's language, and formatting of numbers and formulas."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import AttentionTrace, Selection
from ui.shell import address
from viz import number_text
from viz.browser.texts import LANGUAGES, table, visible, what_happened
from viz.labels import IMPOSSIBLE, capital, decimal, visible_token, weight

_SPOKEN: ContextVar[str] = ContextVar("spoken", default="")


@contextmanager
def spoken(language: str) -> Iterator[None]:
    """Inside, all texts are in ``language``, and need no session.

    A file is made when it is asked for, outside of the session. ``spoken(language())(make)`` makes it in the
    session's present language.

    >>> spoken("ko")(lambda: say("layer_label"))()
    '층'
    """
    before = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def language() -> str:
    """The language that is ``spoken``, else that of this session."""
    return _SPOKEN.get() or address.get_option("lang", list(LANGUAGES))


def say(key: str, /, **values: object) -> str:
    """The text ``key`` in ``language``, its placeholders filled. Raises KeyError for an unknown key.

    >>> with spoken("en"):
    ...     say("layer_label")
    'Layer'
    """
    return table(language())[key].format(**values)


_SIGNS = re.compile(r"([!-/:-@\[-`{-~])")  # all punctuation of ASCII, the only signs Markdown gives a meaning
_JOINER = "\u2060"  # no width, no line break


def plain_markdown(text: str) -> str:
    """``text`` so that a label shows it character by character.

    A backslash takes the meaning from each sign. The joiner after it is for signs that Streamlit reads only
    once the backslashes are gone: ``:smile:``, ``:material_home:``, ``->`` and addresses of the web.

    >>> plain_markdown("a*b").replace("\u2060", "")
    'a\\\\*b'
    """
    return _SIGNS.sub(rf"\\\1{_JOINER}", text)


LONGEST_SIDE = 12  # characters of each side of a change in one line
_MARKS = {"␣": "token_space", "<s>": "token_start", "</s>": "token_end"}


def changed_rows(changes: Sequence[Change], kind: str, rows: int) -> list[int]:
    """The rows that a change concerns. Where it has no character on this side, the row that follows. The
    numbers of rows (Q,)."""
    found: set[int] = set()
    for change in changes:
        start, end = _side_of(change, kind)
        found.update(range(start, max(end, start + 1)))
    return sorted(row for row in found if row < rows)


def map_caption(kind: str, changes: Sequence[Change], *, difference: bool = False) -> str:
    """How to read a map of this kind; if something was corrected, also that bold labels mark it. Raises
    KeyError for an unknown kind."""
    read = say(f"heatmap_difference_{kind}" if difference else f"caption_{kind}")
    marked = bool(changes) and (kind != "decoder_attention")
    return f"{read} {say('bold_corrected')}" if marked else read


def describe_map(trace: AttentionTrace, selection: Selection, changes: Sequence[Change]) -> str:
    """The key with the most attention of the first changed row of the selected weights (Q, K); the first row
    where nothing changed."""
    kind, weights = selection.kind, selection.weights(trace)
    queries, keys = trace.axes(kind)
    start = _side_of(changes[0], kind)[0] + changes[0].mistake[kind != "encoder_attention"] if changes else 0
    row = min(start, len(queries) - 1)
    key = int(weights[row].argmax())
    sentence = say(
        f"reading_{kind}",
        change=_change_text(changes[0]) if changes else "",
        place=selection.label(say, trace),
        query=_token_text(queries[row]),
        key=_token_text(keys[key]),
        weight=weight(weights[row, key]),
    ).strip()
    return capital(sentence)


def head_name(head: Head) -> str:
    """Short, because a sentence names two of them: the kind, then layer and head as on the tiles.

    >>> with spoken("en"):
    ...     head_name(Head("cross_attention", 0, 2))
    'Decoder→encoder 1·3'
    """
    return f"{say(f'kind_{head.kind}')} {head.layer + 1}·{head.head + 1}"


def short_head_name(head: Head) -> str:
    """The same in a few letters, for an axis.

    >>> with spoken("en"):
    ...     short_head_name(Head("cross_attention", 0, 2))
    '→E 1·3'
    """
    return say(f"circuit_short_{head.kind}", number=f"{head.layer + 1}·{head.head + 1}")


def change_in_words(change: Change) -> str:
    """One change as plain text, blanks visible.

    >>> with spoken("en"):
    ...     change_in_words(Change(0, 2, 0, 2, "머거", "먹어"))
    '머거→먹어'
    """
    wrong, right = (visible_token(side, LONGEST_SIDE) for side in (change.wrong, change.right))
    return say(f"edits_{what_happened(change)}", wrong=wrong, right=right)


def _side_of(change: Change, kind: str) -> tuple[int, int]:
    if kind == "encoder_attention":
        return change.source_start, change.source_end
    return change.target_start, change.target_end


def _change_text(change: Change) -> str:
    return say(f"change_{what_happened(change)}", wrong=visible(change.wrong), right=visible(change.right))


def _token_text(token: str) -> str:
    return say(_MARKS[token]) if token in _MARKS else say("token", token=token)


def percent(share: float, digits: int = 0) -> str:
    """A share from 0 to 1 in per cent. A share that rounds to 0 is "less than", one that rounds to 100 "more
    than"; exactly 0 and 1 are exact.

    >>> percent(0.25)
    '25%'
    """
    least = 10.0**-digits / 100  # the smallest share that is written, 1% or 0.1%
    if 0 < share <= least / 2:
        return say("percent_below", share=_plain_percent(least, digits))
    if 1 - least / 2 <= share < 1:
        return say("percent_above", share=_plain_percent(1 - least, digits))
    return _plain_percent(share, digits)


def nats(value: float) -> str:
    """Nats with their sign: an addend of a score, or the score itself.

    >>> nats(-1.5)
    '−1.50'
    """
    return decimal(value, signed=True)


def share_kept(value: float) -> str:
    """A share of a score. It may be below 0 or above 1, because other parts can take away or add more than
    the whole score.

    >>> share_kept(-0.25)
    '−25%'
    """
    return percent(value) if 0 <= value <= 1 else f"{decimal(value * 100, 0)}%"


def _plain_percent(share: float, digits: int) -> str:
    return f"{share * 100:.{digits}f}%"


def about(language: str, number: float) -> str:
    """A number in words, to two or three digits: 54,410 is "5만 4천" in Korean, "54,000" elsewhere.

    Below 1,000 the number itself, with one decimal below 100. The text around it says "about".

    >>> about("ko", 54_410), about("en", 54_410)
    ('5만 4천', '54,000')
    """
    if number < 1_000:
        return f"{number:.1f}".removesuffix(".0") if number < 100 else f"{number:.0f}"
    if language == "ko":
        return _in_korean(number)
    if language == "en" and number >= 999_500:
        return f"{float(f'{number / 1e6:.3g}'):,g} million"
    return f"{float(f'{number:.{2 if number < 100_000 else 3}g}'):,.0f}"


def _in_korean(number: float) -> str:
    """Write a number in its largest Korean unit, below ten of it with the next unit.

    5만 4천, but 12만; below 만 in digits (5,400).
    """
    for unit, next_unit, value in (("억", "천만", 10**8), ("만", "천", 10**4)):
        rounded = round(number / (value // 10)) / 10  # to a tenth of the unit
        if rounded < 1:
            continue
        whole, tenths = divmod(round(rounded * 10), 10)
        if whole >= 10:
            whole, tenths = round(float(f"{rounded:.3g}")), 0
        if value == 10**4 and whole >= 10**4:
            return "1억"
        return f"{whole:,}{unit} {tenths}{next_unit}" if tenths else f"{whole:,}{unit}"
    return f"{round(number, -2):,.0f}"


def tex(number: float, digits: int = 2) -> str:
    """A rounded number; a negative one is in brackets, so that it can follow any sign.

    >>> tex(-1.5)
    '(-1.5)'
    """
    text = tex_alone(number, digits)
    return f"({text})" if text.startswith("-") else text


def tex_alone(number: float, digits: int = 2) -> str:
    """A rounded number that follows no sign: a result, or the whole of a fraction's part.

    >>> tex_alone(-1.5)
    '-1.5'
    """
    return number_text(number, digits).replace("−", "-").replace("∞", r"\infty")


def tex_softmax(logit: float) -> str:
    """The share of one logit s among all of them.

    >>> print(tex_softmax(2.0))
    \\frac{\\exp(2)}{\\sum_j \\exp(s_j)}
    """
    return rf"\frac{{\exp({tex_alone(logit)})}}{{\sum_j \exp(s_j)}}"


def tex_aligned(left: str, right: Sequence[str]) -> str:
    """``left`` = the parts of ``right`` below one another, so that a long sum fits on a phone."""
    # Without the space at its end, KaTeX measures such a formula two pixels too narrow, and it would scroll.
    return rf"\begin{{aligned}} {left} &= " + r" \\ &".join(right) + r" \end{aligned}\;"


def tex_dot(one: Sequence[float], other: Sequence[float], most: int, together: int = 1) -> list[str]:
    """The products that add up to ``one`` · ``other``, at most ``most`` of them, ``together`` on a line.

    >>> tex_dot([1, 2], [3, 4], most=1)
    ['1 \\\\cdot 3', '+ \\\\cdots']
    """
    terms = [rf"{tex(a)} \cdot {tex(b)}" for a, b in zip(one, other, strict=True)]
    return _sum(terms[:most], len(terms) > most, together)


def tex_weighted_sum(weights: np.ndarray, vectors: np.ndarray, most: int = 3) -> list[str]:
    """(K,), (K, v): the ``most`` heaviest terms of the sum, in the order of the keys, each on its line.

    A weight is 0 only where a mask makes it so.

    >>> tex_weighted_sum(np.array([0.75, 0.0002, 0.0]), np.ones((3, 1)))
    ['0.75 \\\\cdot 1', '+ {<}0.001 \\\\cdot 1', '+ 0 \\\\cdot 1']
    """
    heaviest = sorted(np.argsort(-weights, kind="stable")[:most])
    terms = [rf"{_tex_weight(weights[key])} \cdot {_tex_factor(vectors[key])}" for key in heaviest]
    return _sum(terms, len(weights) > most, together=1)


def _tex_weight(weight: float) -> str:
    little, written = IMPOSSIBLE
    return written.replace("<", "{<}") if 0 < weight < little else tex_alone(weight, 3)


def _tex_factor(numbers: Sequence[float]) -> str:
    return tex(numbers[0]) if len(numbers) == 1 else tex_vector(numbers)


def _sum(terms: list[str], more: bool, together: int) -> list[str]:
    terms = [*terms, r"\cdots"] if more else terms
    rows = [" + ".join(terms[i : i + together]) for i in range(0, len(terms), together)]
    return [rows[0], *(f"+ {row}" for row in rows[1:])] if rows else ["0"]


def tex_vector(numbers: Sequence[float]) -> str:
    """Numbers in square brackets; a single one without.

    >>> tex_vector([1.0])
    '1'
    """
    if len(numbers) == 1:
        return tex_alone(numbers[0])
    inside = ",\\ ".join(map(tex_alone, numbers))
    return rf"[{inside}]"
