"""What is asked of one row of the decoder, and how interventions change the answer.

B interventions, S source and T target tokens. Probabilities are natural logarithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.plain.drafting import log_softmax
from model.text.changes import Change
from model.trace.interventions import Intervention

if TYPE_CHECKING:
    from model.correction.corrector import Corrector


@dataclass(frozen=True)
class Question:
    """Why does row ``row`` write one token and not another? For an edit: why the fix and not what was typed?"""

    row: int
    written: int  # token id
    instead: int  # token id
    written_token: str  # as traces label them
    instead_token: str


@dataclass(frozen=True)
class Odds:
    """The answers to a question under B interventions."""

    log_written: np.ndarray  # (B,) float32
    log_instead: np.ndarray  # (B,) float32

    @property
    def log_odds(self) -> np.ndarray:
        """(B,) float32: log p(written) - log p(instead), in nats."""
        return self.log_written - self.log_instead


def question_of_change(corrector: Corrector, source: str, target: str, change: Change) -> Question:
    """Where a change begins: the fix against keeping what was typed.

    That is the first row in which both would write different tokens: a deletion is decided by the token that
    follows, and where 가가 loses its first syllable, both begin with 가.

    Raises ValueError where both write the same tokens to the end.
    """
    written = corrector.tokenizer.encode_target(target)[change.target_start :]
    kept = corrector.tokenizer.encode_target(source)[change.source_start :]
    for ahead, (fix, keep) in enumerate(zip(written, kept, strict=False)):
        if fix != keep:
            return _question(corrector, change.target_start + ahead, fix, keep)
    raise ValueError(f"the change of {change.place} writes the tokens of the source")


def question_of_row(corrector: Corrector, source: str, target: str, row: int) -> Question:
    """Any produced token against the most probable other one.

    Raises ValueError for a row that the target does not have.
    """
    ids = corrector.tokenizer.encode_target(target)
    if not 0 <= row < len(ids):
        raise ValueError(f"the row should lie in 0..{len(ids) - 1}, received {row}")
    looked = corrector.laboratory.look(
        [corrector.tokenizer.encode_source(source)], [ids[: row + 1]], [Intervention()]
    )
    order = np.argsort(-looked.logits[0, row])[:2].tolist()
    return _question(corrector, row, ids[row], order[order[0] == ids[row]])


def questions_of_sentence(
    corrector: Corrector, source: str, target: str, changes: Sequence[Change], logits: np.ndarray
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


def _question(corrector: Corrector, row: int, written: int, instead: int) -> Question:
    return Question(row, written, instead, *corrector.tokenizer.labels([written, instead]))


def ask(
    corrector: Corrector,
    source: str,
    target: str,
    question: Question,
    interventions: Sequence[Intervention],
) -> Odds:
    """Put one question under B interventions, in one teacher-forced pass. ``Intervention()`` observes.

    Raises ValueError for a network that takes no interventions, and for one that it does not have.
    """
    source_ids = corrector.tokenizer.encode_source(source)
    # Rows behind the one that is asked about have no influence on it.
    target_ids = corrector.tokenizer.encode_target(target)[: question.row + 1]
    count = len(interventions)
    looked = corrector.laboratory.look([source_ids] * count, [target_ids] * count, interventions)
    logs = log_softmax(looked.logits[:, question.row].astype(np.float64))  # (B, V)
    return Odds(logs[:, question.written].astype(np.float32), logs[:, question.instead].astype(np.float32))


def written_under(
    corrector: Corrector, source: str, interventions: Sequence[Intervention]
) -> list[str | None]:
    """What the network writes of its own accord under each intervention; None where it finds no end.

    It is the network's own text: changes that a ``Corrector`` would leave undone because they are unsure or
    touch a protected character are in it.
    """
    if not interventions:
        return []
    ids = corrector.tokenizer.encode_source(source)
    produced = corrector.laboratory.write([ids] * len(interventions), interventions)
    return [one and corrector.tokenizer.decode(one.ids, source) for one in produced]
