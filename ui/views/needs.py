"""Checks whether a trace and its network have what a view needs. Each function returns the key of a text that says what is
missing, or None.
"""

from ui.look.lens import Lens


def probabilities(lens: Lens) -> str | None:
    """Of what was produced, and of what else might have been: at least two candidates a step."""
    rows = lens.trace.alternatives
    return (
        "lacks_probabilities"
        if lens.trace.log_probabilities is None or not rows or len(rows[0]) < 2
        else None
    )


def changes(lens: Lens) -> str | None:
    """A model that corrects, cross-attention, and where the changes stand among the tokens."""
    if not lens.corrects:
        return "lacks_corrections"
    if "cross_attention" not in lens.trace.kinds:
        return "lacks_cross_attention"
    return None if lens.places_known else "lacks_places"


def answers(question: str, text: str):
    """A network that answers one of the engine's questions; ``text`` says that it does not."""
    return lambda lens: None if lens.can(question) else text


def experiment(question: str):
    """A network that answers one of the laboratory's questions, and changes that can be found."""
    return lambda lens: answers(question, "lacks_interventions")(lens) or changes(lens)


def inside(question: str):
    """A network that answers a question about the inside of its passes, and changes that can be found. One that hands out its residual
    stream may still lack what our own have: a token for each character."""

    def lacks(lens: Lens) -> str | None:
        text = "lacks_characters" if lens.can("who_wrote") else "lacks_residual"
        return answers(question, text)(lens) or changes(lens)

    return lacks
