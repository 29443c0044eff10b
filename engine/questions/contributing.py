"""How much each token did for a change, method by method."""

from engine.questions.declared import question
from engine.spans import ChangeSpan, change_at
from model.analysis.attribution_methods import EACH_TOKEN, METHODS, ONE_PASS, PATH
from model.analysis.contributions import REFERENCE, Contribution, contribution, contributions, methods_of
from model.analysis.counterfactuals import contrast_of_change, contrast_of_row
from model.correction.answers import Intervenes, Network
from model.stored.config import INSIDE, INTERVENTIONS
from model.trace.interventions import Contrast

# The methods are asked in several rounds, the quick ones first. Methods by gradients come last, because only these need Keras, which takes
# seconds to start. Each round is a tuple of names.
ROUNDS = tuple(
    names
    for by_gradients in (False, True)
    for cost in (ONE_PASS, EACH_TOKEN, PATH)
    if (names := tuple(n for n, m in METHODS.items() if (m.by_gradients, m.cost) == (by_gradients, cost)))
)
# (the row, the names of all methods, what the methods of one round say)
MethodRound = tuple[int, tuple[str, ...], tuple[Contribution, ...]]


def _without_gradients(source: str, target: str, about: object, number: int = 0) -> bool:
    return not any(METHODS[name].by_gradients for name in ROUNDS[number])


@question("contributions", INTERVENTIONS, is_long=True, in_numpy=_without_gradients)
def _contributions(
    corrector: Intervenes, source: str, target: str, span: ChangeSpan, number: int = 0
) -> MethodRound:
    """(row, the names of all methods, what those of ROUNDS[number] say) of the change at ``span``."""
    change = change_at(corrector, source, target, span)
    return _round(corrector, source, target, contrast_of_change(corrector, source, target, change), number)


@question("left_out", INTERVENTIONS, is_long=True, in_numpy=True)
def _left_out(corrector: Intervenes, source: str, target: str, span: ChangeSpan) -> Contribution:
    """What leaving out each token does to the change at ``span``: the method that the others are compared with, alone."""
    change = change_at(corrector, source, target, span)
    return contribution(
        corrector, source, target, contrast_of_change(corrector, source, target, change), REFERENCE
    )


@question("step_contributions", INSIDE, is_long=True, in_numpy=_without_gradients)
def _step_contributions(
    corrector: Network, source: str, target: str, row: int, number: int = 0
) -> MethodRound:
    """As ``contributions``, but about any produced token against the likeliest other one."""
    return _round(corrector, source, target, contrast_of_row(corrector, source, target, row), number)


def _round(corrector: Intervenes, source: str, target: str, about: Contrast, number: int) -> MethodRound:
    known = methods_of(corrector)
    asked = [name for name in ROUNDS[number] if name in known]
    return about.row, known, tuple(contributions(corrector, source, target, about, asked))
