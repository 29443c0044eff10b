"""``Edit``: the change, token contrast or metric that an analysis explains; ``CleanRun``.

An ``Edit`` holds two texts and the place that is explained: a change (why the fix and not the typed text?) or
a contrast (in this row, why this token and not that one?), so a translation or a completion has a question,
too. Its score is the logit difference log p(written) - log p(instead) in nats, or a metric of the logits.

Shapes: N passes, S source and T target tokens, V vocabulary.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from model.activations.drafting import log_softmax
from model.activations.gradients import embedding_slopes
from model.activations.walk import LastRows
from model.correction.answers import Intervenes, Network
from model.text.changes import Change, find_changes
from model.trace.interventions import Contrast, Intervention, LogitDifferences, OutputWeights, Patches, Slopes

Metric = Callable[[np.ndarray], np.ndarray]  # logits (N, V) of the row -> (N,) scores
LEAST_SCORE = 0.5  # nats between two scores, below which a share of their difference means nothing
_ROUNDING = 1e-5
_STEP = 1e-4  # of central differences
_WAYS = 64  # directions at a time, each of which needs all logits
Ids = tuple[list[int], list[int]]  # of the source, and of the target up to the row


@dataclass(frozen=True)
class Edit:
    """Two texts, and the question about them.

    Attributes:
        about: the change, or the contrast of two tokens in any row.
        metric: the score in place of the logit difference; logits (N, V) of the row -> (N,). Where a method
            needs a gradient, it is that of the metric at the end of the residual stream.

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
    def least(self) -> float:
        """The least difference of two scores of which shares mean something: of a metric any at all."""
        return LEAST_SCORE if self.metric is None else _ROUNDING

    @property
    def change(self) -> Change:
        """The change. Raises ValueError for an edit about a contrast."""
        if isinstance(self.about, Change):
            return self.about
        raise ValueError(f"the question should be about a change, received one about row {self.about.row}")


def score_of(logits: np.ndarray, contrast: Contrast, metric: Metric | None = None) -> np.ndarray:
    """(N, V) -> (N,) float64: the metric of the logits, or the logit difference in nats.

    >>> score_of(np.array([[0.0, 1.0, 3.0]]), Contrast(0, 2, 1, "b", "a")).tolist()
    [2.0]
    """
    logits = logits.astype(np.float64)
    if metric is None:
        return logits[:, contrast.written] - logits[:, contrast.instead]
    return np.asarray(metric(logits), np.float64)


def scores_of(passed: LastRows, contrast: Contrast, metric: Metric | None) -> np.ndarray:
    """``score_of`` the last rows of passes, without the logits of other tokens where no metric reads them."""
    if metric is None:
        return passed.score(contrast.written, contrast.instead)
    return score_of(passed.logits, contrast, metric)


def score_gradient(
    logits: np.ndarray, contrast: Contrast, metric: Metric | None, weights: OutputWeights
) -> tuple[np.ndarray, float]:
    """The gradient (D,) of a score at the end of the stream, and its derivative along the output bias.

    A metric's are central differences at ``logits`` (V,); the score is linear in a logit difference.

    >>> weights = corrector.output_weights()
    >>> margin = Contrast(0, 5, 7, "b", "c"), lambda logits: logits[:, 5] - logits[:, 7]
    >>> towards, _ = score_gradient(np.zeros(len(weights.bias)), *margin, weights)
    >>> bool(np.allclose(towards, weights.vocabulary[5] - weights.vocabulary[7], atol=1e-6))
    True
    """
    vocabulary, bias = weights.vocabulary, weights.bias
    if metric is None:
        written, instead = contrast.written, contrast.instead
        return (vocabulary[written] - vocabulary[instead]).astype(np.float64), bias[written] - bias[instead]
    ways = np.concatenate([vocabulary.T, bias[None]]).astype(np.float64)  # (D + 1, V)
    found = []
    for first in range(0, len(ways), _WAYS):
        step = _STEP * ways[first : first + _WAYS]
        found.append((metric(logits + step) - metric(logits - step)) / (2 * _STEP))
    *towards, along = np.concatenate(found).astype(np.float64)
    return np.array(towards), float(along)


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
        raise ValueError("this analysis tells the probabilities of two tokens, so it takes no metric")
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


class AskedRow:
    """An edit resolved in a network: its contrast, and its scores under interventions."""

    def __init__(self, corrector: Intervenes, edit: Edit):
        self.corrector, self.edit = corrector, edit
        self.contrast = contrast_of_edit(corrector, replace(edit, metric=None))

    def under(self, interventions: Sequence[Intervention]) -> tuple[np.ndarray, LogitDifferences]:
        """(B,) scores under each intervention, and the log probabilities of both tokens."""
        source, target, row = self.edit.source, self.edit.target, self.contrast.row
        if self.edit.metric is None:
            found = self.corrector.logit_differences(source, target, self.contrast, interventions)
            return found.differences, found
        network, count = cast(Network, self.corrector), len(interventions)
        ids = network.tokenizer.encode_source(source), network.tokenizer.encode_target(target)[: row + 1]
        passed = network.laboratory.pass_over([ids[0]] * count, [ids[1]] * count, interventions)
        logits = passed.logits[:, row].astype(np.float64)
        logs = log_softmax(logits)[:, [self.contrast.written, self.contrast.instead]].astype(np.float32)
        scores = score_of(logits, self.contrast, self.edit.metric).astype(np.float32)
        return scores, LogitDifferences(logs[:, 0], logs[:, 1])


class CleanRun(AskedRow):
    """The same in a network with activations: its token ids, and scores of patched passes."""

    corrector: Network

    def __init__(self, corrector: Network, edit: Edit):
        super().__init__(corrector, edit)
        self.network = corrector.patched
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
        return scores_of(passed, self.contrast, self.edit.metric)

    def ended(self, found: Mapping[str, np.ndarray]) -> LastRows:
        """The last row of a pass whose ``decoder_residual`` was read."""
        closed = self.network.close("decoder", found["decoder_residual"][-1:, -1:])
        return LastRows(self.network, closed[:, 0])

    def direction(self, passed: LastRows) -> np.ndarray:
        """(N, D), or (D,) of all: the gradient of the score at the end of the stream, normalised."""
        written, instead = self.contrast.written, self.contrast.instead
        if self.edit.metric is None:
            return self.network.difference(written, instead)
        asked = self.contrast, self.edit.metric, self.network.output_weights
        return np.array([score_gradient(each, *asked)[0] for each in passed.logits], np.float32)

    def slopes(self, shares: Sequence[float]) -> Slopes:
        """``Passes.slopes`` of the score, which may be a metric, by the walk."""
        return embedding_slopes(
            self.network, self.ids, shares, lambda passed: (self.scored(passed), self.direction(passed))
        )
