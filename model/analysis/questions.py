"""The question about one row of the decoder: why the fix of an edit, or why this token and not that one?"""

from collections.abc import Sequence

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

    >>> from model.text.changes import find_changes
    >>> (change,) = find_changes("머거요", "먹어요")
    >>> question = question_of_change(corrector, "머거요", "먹어요", change)
    >>> question.row, question.written_token, question.instead_token
    (0, '먹', '머')
    """
    kept = target[: change.target_start] + source[change.source_start :]
    question = corrector.question(source, target, kept)
    if question is None:
        raise ValueError(f"the change of {change.place} writes the tokens of the source")
    return question


def question_of_row(corrector: Network, source: str, target: str, row: int) -> Question:
    """Any produced token against the most probable other one.

    Raises ValueError for a row that the target does not have.

    >>> question_of_row(corrector, "머거요", "먹어요", row=2).written_token
    '요'
    """
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_target(target)
    if not 0 <= row < len(ids):
        raise ValueError(f"the row should lie in 0..{len(ids) - 1}, received {row}")
    looked = corrector.laboratory.look([tokenizer.encode_source(source)], [ids[: row + 1]], [Intervention()])
    order = np.argsort(-looked.logits[0, row])[:2].tolist()
    return _question(corrector, row, ids[row], order[order[0] == ids[row]])


def questions_of_sentence(
    corrector: Network, source: str, target: str, changes: Sequence[Change], logits: np.ndarray
) -> tuple[tuple[Question, ...], tuple[int | None, ...]]:
    """Those of all rows, the token that was written against the likeliest other one, then those of ``changes``; and of each
    change the number of its question, None where fix and source write the same.

    ``logits`` (T, V): of the pass over both sentences.
    """
    ids = corrector.tokenizer.encode_target(target)
    others = logits.copy()
    others[np.arange(len(ids)), ids] = -np.inf
    pairs = zip(ids, others.argmax(axis=-1).tolist(), strict=True)
    questions = [_question(corrector, row, *pair) for row, pair in enumerate(pairs)]
    numbers: list[int | None] = []
    for change in changes:
        try:
            questions.append(question_of_change(corrector, source, target, change))
        except ValueError:
            numbers.append(None)
        else:
            numbers.append(len(questions) - 1)
    return tuple(questions), tuple(numbers)


def _question(corrector: Network, row: int, written: int, instead: int) -> Question:
    return Question(row, written, instead, *corrector.tokenizer.labels([written, instead]))
