"""Checks whether a trace and its network have what a view needs. Each function returns the key of a text that says what is
missing, or None.
"""

from collections.abc import Callable

from ui.look.lens import Lens
from ui.wording import say

_RESIDUAL = "lacks_residual"

Need = Callable[[Lens], str | None]


def probabilities(lens: Lens) -> str | None:
    """Needs the probabilities of what was produced, and of at least two candidates at each step."""
    rows = lens.trace.alternatives
    return (
        "lacks_probabilities"
        if lens.trace.log_probabilities is None or not rows or len(rows[0]) < 2
        else None
    )


def changes(lens: Lens) -> str | None:
    """Needs a model that corrects, cross-attention, and the places of the changes among the tokens."""
    if not lens.corrects:
        return "lacks_corrections"
    if "cross_attention" not in lens.trace.kinds:
        return "lacks_cross_attention"
    return None if lens.places_known else "lacks_places"


def answers(question: str, text: str) -> Need:
    """Needs a network that answers this question of the engine; ``text`` is the key of the text that says it does not."""
    return lambda lens: None if lens.can(question) else text


def experiment(question: str) -> Need:
    """Needs a network that answers this question of the laboratory, and what ``changes`` needs."""
    return lambda lens: answers(question, "lacks_interventions")(lens) or changes(lens)


def inside(question: str) -> Need:
    """Needs a network that answers this question about the inside of its passes, and what ``changes`` needs. A network may hand out its
    residual stream and still not answer, if its tokens are not single characters."""

    def lacks(lens: Lens) -> str | None:
        text = "lacks_characters" if lens.can("direct_logit_attribution") else _RESIDUAL
        return answers(question, text)(lens) or changes(lens)

    return lacks


def told(lens: Lens, missing: str) -> str:
    """The text that says what is ``missing``; for a visitor's own network also why it has no residual stream."""
    why = getattr(lens.corrector.config, "no_stream", "") if missing == _RESIDUAL else ""
    return " ".join([say(missing), *([say(f"no_stream_{why}")] if why else [])])
