"""The question of an analysis: an edit, a contrast of two tokens or a metric, and its clean run.

An ``Edit`` holds two texts and the place that is explained: a change (why the fix and not the typed text?) or
a contrast (in this row, why this token and not that one?), so a translation or a completion has a question,
too. Its score is the logit difference log p(written) - log p(instead) in nats, or a metric of the logits.

Shapes: N passes, S source and T target tokens, V vocabulary.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from model.activations.walk import LastRows
from model.correction.answers import Intervenes, Network
from model.text.changes import Change, find_changes
from model.trace.interventions import Contrast, Intervention, Patches

Metric = Callable[[np.ndarray], np.ndarray]  # logits (N, V) of the row -> (N,) scores
Ids = tuple[list[int], list[int]]  # of the source, and of the target up to the row


@dataclass(frozen=True)
class Edit:
    """Two texts, and the question about them.

    Attributes:
        about: the change, or the contrast of two tokens in any row.
        metric: the score in place of the logit difference; logits (N, V) of the row -> (N,). Analyses by
            activations take it, those that ask a network for texts and probabilities do not.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> edit.change.right, Edit("cab", "bac", Contrast(0, 5, 7, "b", "c")).about.row
        ('먹어', 0)
    """

    source: str
    target: str
    about: Change | Contrast
    metric: Metric | None = None

    @property
    def change(self) -> Change:
        """The change. Raises ValueError for an edit about a contrast."""
        if isinstance(self.about, Change):
            return self.about
        raise ValueError(f"the question should be about a change, received one about row {self.about.row}")

    def measured(self, logits: np.ndarray, contrast: Contrast) -> np.ndarray:
        """(N, V) -> (N,) float64: the scores."""
        if self.metric is not None:
            return np.asarray(self.metric(logits), np.float64)
        logits = logits.astype(np.float64)
        return logits[:, contrast.written] - logits[:, contrast.instead]


def edits_of(source: str, target: str) -> tuple[Edit, ...]:
    """An edit for each change between two texts."""
    return tuple(Edit(source, target, change) for change in find_changes(source, target))


def contrast_of_edit(corrector: Intervenes, edit: Edit) -> Contrast:
    """The two tokens of an edit's question, and their row.

    Of a change: the fix against the typed text, at the character that carries the mistake. For 안되요 →
    안 돼요 that is 돼 against 되 behind the space; a space only where nothing else was changed
    (``Change.mistake``). A deletion is decided by the token that follows; where 가가 loses its first
    syllable, both begin with 가.

    Raises:
        ValueError: where both write the same tokens to the end, and for an edit with a metric.

    Example:
        >>> contrast = contrast_of_edit(corrector, *edits_of("머거요", "먹어요"))
        >>> contrast.row, contrast.written_token, contrast.instead_token
        (0, '먹', '머')
    """
    if edit.metric is not None:
        raise ValueError("this analysis compares the logits of two tokens, so it takes no metric")
    if isinstance(edit.about, Contrast):
        return edit.about
    source, target, change = edit.source, edit.target, edit.about
    typed, fixed = change.mistake
    kept = target[: change.target_start + fixed] + source[change.source_start + typed :]
    contrast = corrector.contrast(source, target, kept)
    if contrast is None:
        raise ValueError(f"the change of {change.place} writes the tokens of the source")
    return contrast


def contrast_of_row(corrector: Network, source: str, target: str, row: int) -> Contrast:
    """The contrast of any produced token with the most probable other one.

    Raises:
        ValueError: for a row that the target does not have.

    Example:
        >>> contrast_of_row(corrector, "머거요", "먹어요", row=2).written_token
        '요'
    """
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_target(target)
    check_row(row, len(ids))
    passed = corrector.laboratory.pass_over(
        [tokenizer.encode_source(source)], [ids[: row + 1]], [Intervention()]
    )
    order = np.argsort(-passed.logits[0, row])[:2].tolist()
    return _contrast(corrector, row, ids[row], order[order[0] == ids[row]])


def contrasts_of_sentence(
    corrector: Network, source: str, target: str, changes: Sequence[Change | Contrast], logits: np.ndarray
) -> tuple[tuple[Contrast, ...], tuple[int | None, ...]]:
    """The contrasts of all rows, the written token with the likeliest other one, then those of ``changes``.

    Args:
        logits: (T, V) of the pass over both sentences.

    Returns:
        The contrasts, and of each change the number of its contrast; None where fix and source write the
        same.
    """
    ids = corrector.tokenizer.encode_target(target)
    others = logits.copy()
    others[np.arange(len(ids)), ids] = -np.inf
    pairs = zip(ids, others.argmax(axis=-1).tolist(), strict=True)
    questions = [_contrast(corrector, row, *pair) for row, pair in enumerate(pairs)]
    numbers: list[int | None] = []
    for change in changes:
        try:
            questions.append(contrast_of_edit(corrector, Edit(source, target, change)))
        except ValueError:
            numbers.append(None)
        else:
            numbers.append(len(questions) - 1)
    return tuple(questions), tuple(numbers)


def _contrast(corrector: Network, row: int, written: int, instead: int) -> Contrast:
    return Contrast(row, written, instead, *corrector.tokenizer.labels([written, instead]))


def check_row(row: int, rows: int) -> None:
    if not 0 <= row < rows:
        raise ValueError(f"the row should lie in 0..{rows - 1}, received {row}")


class CleanRun:
    """One edit in a network with activations: its contrast, its token ids, and scores of patched passes."""

    def __init__(self, corrector: Network, edit: Edit):
        self.corrector, self.edit = corrector, edit
        self.network = corrector.patched
        self.contrast = contrast_of_edit(corrector, replace(edit, metric=None))
        tokenizer, read = corrector.tokenizer, self.contrast.row + 1
        self.ids = tokenizer.encode_source(edit.source), tokenizer.encode_target(edit.target)[:read]

    def taps(self, names: Iterable[str], base: Patches = ()) -> dict[str, np.ndarray]:
        """The stacked activations ``names`` of the pass with the patches ``base``."""
        return self.network.taps(*self.ids, names, base)

    def scores(self, variations: Sequence[Patches], base: Patches = (), ids: Ids | None = None) -> np.ndarray:
        """(N,) float64: the scores of patched passes, over other ``ids`` where they are given."""
        return self.scored(self.network.passes(*(ids or self.ids), variations, base))

    def scored(self, passed: LastRows) -> np.ndarray:
        """(N,) float64: the scores of passes."""
        if self.edit.metric is None:
            return passed.score(self.contrast.written, self.contrast.instead)
        return self.edit.measured(passed.logits, self.contrast)
