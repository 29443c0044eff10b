"""The question about one row of the decoder: why the fix of an edit, or why this token and not that one?"""

from collections.abc import Sequence

import numpy as np

from model.correction.answers import Intervenes, Network
from model.text.changes import Change
from model.trace.interventions import Intervention
from model.trace.odds import Contrast


def contrast_of_change(corrector: Intervenes, source: str, target: str, change: Change) -> Contrast:
    """Where a change begins: the fix against keeping what was typed.

    That is the first row in which both would write different tokens: a deletion is decided by the token that
    follows, and where 가가 loses its first syllable, both begin with 가.

    Raises ValueError where both write the same tokens to the end.

    >>> from model.text.changes import find_changes
    >>> (change,) = find_changes("머거요", "먹어요")
    >>> contrast = contrast_of_change(corrector, "머거요", "먹어요", change)
    >>> contrast.row, contrast.written_token, contrast.instead_token
    (0, '먹', '머')
    """
    kept = target[: change.target_start] + source[change.source_start :]
    contrast = corrector.contrast(source, target, kept)
    if contrast is None:
        raise ValueError(f"the change of {change.place} writes the tokens of the source")
    return contrast


def contrast_of_row(corrector: Network, source: str, target: str, row: int) -> Contrast:
    """Any produced token against the most probable other one.

    Raises ValueError for a row that the target does not have.

    >>> contrast_of_row(corrector, "머거요", "먹어요", row=2).written_token
    '요'
    """
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_target(target)
    if not 0 <= row < len(ids):
        raise ValueError(f"the row should lie in 0..{len(ids) - 1}, received {row}")
    looked = corrector.laboratory.pass_over(
        [tokenizer.encode_source(source)], [ids[: row + 1]], [Intervention()]
    )
    order = np.argsort(-looked.logits[0, row])[:2].tolist()
    return _contrast(corrector, row, ids[row], order[order[0] == ids[row]])


def contrasts_of_sentence(
    corrector: Network, source: str, target: str, changes: Sequence[Change], logits: np.ndarray
) -> tuple[tuple[Contrast, ...], tuple[int | None, ...]]:
    """Those of all rows, the token that was written against the likeliest other one, then those of ``changes``; and of each
    change the number of its question, None where fix and source write the same.

    ``logits`` (T, V): of the pass over both sentences.
    """
    ids = corrector.tokenizer.encode_target(target)
    others = logits.copy()
    others[np.arange(len(ids)), ids] = -np.inf
    pairs = zip(ids, others.argmax(axis=-1).tolist(), strict=True)
    questions = [_contrast(corrector, row, *pair) for row, pair in enumerate(pairs)]
    numbers: list[int | None] = []
    for change in changes:
        try:
            questions.append(contrast_of_change(corrector, source, target, change))
        except ValueError:
            numbers.append(None)
        else:
            numbers.append(len(questions) - 1)
    return tuple(questions), tuple(numbers)


def _contrast(corrector: Network, row: int, written: int, instead: int) -> Contrast:
    return Contrast(row, written, instead, *corrector.tokenizer.labels([written, instead]))
