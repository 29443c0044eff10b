"""What is asked of one row of the decoder: of the fix of an edit, or of any token."""

import numpy as np

from model.correction.answers import Intervenes, Network
from model.text.changes import Change
from model.trace.interventions import Intervention
from model.trace.odds import Question


def question_of_change(corrector: Intervenes, source: str, target: str, change: Change) -> Question:
    """Where a change begins: the fix against keeping what was typed.

    That is the first row in which both would write different tokens: a deletion is decided by the token that
    follows, and where 가가 loses its first syllable, both begin with 가.

    Raises ValueError where both write the same tokens to the end.
    """
    kept = target[: change.target_start] + source[change.source_start :]
    question = corrector.question(source, target, kept)
    if question is None:
        raise ValueError(f"the change of {change.place} writes the tokens of the source")
    return question


def question_of_row(corrector: Network, source: str, target: str, row: int) -> Question:
    """Any produced token against the most probable other one.

    Raises ValueError for a row that the target does not have.
    """
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_target(target)
    if not 0 <= row < len(ids):
        raise ValueError(f"the row should lie in 0..{len(ids) - 1}, received {row}")
    looked = corrector.laboratory.look([tokenizer.encode_source(source)], [ids[: row + 1]], [Intervention()])
    order = np.argsort(-looked.logits[0, row])[:2].tolist()
    both = ids[row], order[order[0] == ids[row]]
    return Question(row, *both, *tokenizer.labels(both))
