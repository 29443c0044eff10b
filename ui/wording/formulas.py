"""Numbers inside formulas: sums as a person would write them out, in TeX."""

from collections.abc import Sequence

import numpy as np

from viz import number_text


def tex(number: float, digits: int = 2) -> str:
    """A rounded number; a negative one stands in brackets, so that it can follow any sign."""
    text = number_text(number, digits).replace("−", "-").replace("∞", r"\infty")
    return f"({text})" if text.startswith("-") else text


def softmax_of(logit: float) -> str:
    """The share of one logit s among all of them."""
    return rf"\frac{{\exp({tex(logit).strip('()')})}}{{\sum_j \exp(s_j)}}"


def aligned(left: str, right: Sequence[str]) -> str:
    """``left`` = the parts of ``right`` below one another, so that a long sum fits on a phone."""
    # Without the space at its end, KaTeX measures such a formula two pixels too narrow, and it would scroll.
    return rf"\begin{{aligned}} {left} &= " + r" \\ &".join(right) + r" \end{aligned}\;"


def dot(one: Sequence[float], other: Sequence[float], most: int, together: int = 1) -> list[str]:
    """The products that add up to ``one`` · ``other``, at most ``most`` of them, ``together`` on a line."""
    terms = [rf"{tex(a)} \cdot {tex(b)}" for a, b in zip(one, other, strict=True)]
    return _sum(terms[:most], len(terms) > most, together)


def weighted_sum(weights: np.ndarray, vectors: np.ndarray, most: int = 3) -> list[str]:
    """(K,), (K, v): the ``most`` heaviest terms of the sum, in the order of the keys, each on its line."""
    heaviest = sorted(np.argsort(-weights, kind="stable")[:most])
    terms = [rf"{tex(weights[key])} \cdot {vector(vectors[key])}" for key in heaviest]
    return _sum(terms, len(weights) > most, together=1)


def _sum(terms: list[str], more: bool, together: int) -> list[str]:
    terms = [*terms, r"\cdots"] if more else terms
    rows = [" + ".join(terms[i : i + together]) for i in range(0, len(terms), together)]
    return [rows[0], *(f"+ {row}" for row in rows[1:])] if rows else ["0"]


def vector(numbers: Sequence[float]) -> str:
    """Numbers in square brackets; a single one without."""
    if len(numbers) == 1:
        return tex(numbers[0])
    inside = ",\\ ".join(number_text(number).replace("−", "-") for number in numbers)
    return rf"[{inside}]"
