"""What is asked about many texts at once."""

from engine.questions.declared import question
from model.analysis.head_effects import TextPair
from model.correction.answers import AnswersMany, Network
from model.stored.config import INSIDE
from model.survey.pairs import pairs_of
from model.survey.survey_sums import Sums, sums_of_effects, sums_of_roles
from model.tables import change_kinds


@question("table", is_long=True)
def _table(corrector: AnswersMany, texts: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(corrected text, kinds of its changes) of each text: what a file of many needs, without attention."""
    return tuple((each.text, change_kinds(each)) for each in corrector.correct_batch(texts))


@question("head_roles", INSIDE, is_long=True, in_numpy=True)
def _head_roles(
    corrector: Network, given: tuple[tuple[str, str | None], ...], first: int
) -> tuple[tuple[TextPair, ...], int, Sums]:
    """(pairs, how many were left out, sums of roles): some rows of a file; its pairs are numbered from ``first``."""
    pairs, left_out = pairs_of(given, corrector)
    return pairs, left_out, sums_of_roles(corrector, pairs, first) if pairs else Sums()


question("head_losses", INSIDE, is_long=True, in_numpy=True)(sums_of_effects)
