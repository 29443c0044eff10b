"""Activation patching between a clean and a corrupted run.

The clean run is the typed sentence, whose mistake is corrected. A corrupted run is another sentence in which
the same character is not, or need not be, corrected, or another prompt. The question is the same in both: the
logit difference log p(fix) - log p(keep), in nats, where the change begins. Where an activation of the clean
run restores it in the corrupted run, this place carries the information that the correction needs.

Shapes: P places (of the stream, sub-layers or heads), N positions, S source tokens, L layers, H heads.

References:
    Vig et al., "Causal Mediation Analysis for Interpreting Neural NLP" (2020).
    Meng et al., "Locating and Editing Factual Associations in GPT" (2022).
    Heimersheim & Nanda, "How to use and interpret activation patching" (2024).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.contrasts import LEAST_SCORE, CleanRun, Edit, score_of
from model.analysis.edits import copy_positions
from model.analysis.saving import Result
from model.correction.answers import Network
from model.text.changes import find_changes
from model.text.tokenizer import Tokenizer
from model.trace.interventions import TAPS, Contrast, Patch, tap

# Frequent open syllables of different sounds, one of which replaces a character beside the mistake.
SUBSTITUTES = "가나다리마사자하고도이"
NO_PLACE = -1
PARTS = ("residual", "output", "heads")  # of a side, or of a kind of attention
HALF = 0.5  # of the clean score that a corrupted run has to lose, and of the difference that a value restores
_TIE = 0.01  # shares nearer to the largest than this are as large: the later place is named


@dataclass(frozen=True)
class CorruptedRun:
    """A corrupted sentence up to the row of the question, with the positions of the clean run's tokens in it.

    >>> run = corrupted_by_sentence(*edits_of("머거요", "먹어요"), "또 머거")
    >>> run.written, run.source_places
    ('또 ', (2, 3, -1, -1))
    """

    edit: Edit  # of the clean run
    source: str
    written: str | None  # the decoder's text before the row; None for the tokens of the clean run
    source_places: tuple[int, ...]  # (S,) the position of each typed token here; NO_PLACE for none
    target_places: tuple[int, ...]  # (row + 1,) the same for the tokens that the decoder has read

    def ids(self, tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
        """(S,) ids, and (row + 1,) ids of the target, the last of which is not read."""
        source = tokenizer.encode_source(self.source)
        if self.written is None:
            return source, tokenizer.encode_target(self.edit.target)[: len(self.target_places)]
        return source, tokenizer.encode_target(self.written)


def corrupted_by_text(corrector: Network, edit: Edit, other: str) -> CorruptedRun:
    """Take another source, or another prompt of a decoder alone, of as many tokens as the corrupted run.

    Raises:
        ValueError: for another number of tokens.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> corrupted_by_text(corrector, edit, "먹어요").source_places
        (0, 1, 2, 3)
    """
    clean = CleanRun(corrector, edit)
    lengths = len(clean.ids[0]), len(corrector.tokenizer.encode_source(other))
    if lengths[0] != lengths[1]:
        raise ValueError(f"both texts should have as many tokens, received {lengths[0]} and {lengths[1]}")
    return CorruptedRun(edit, other, None, tuple(range(lengths[0])), tuple(range(len(clean.ids[1]))))


def corrupted_by_correction(edit: Edit, row: int | None = None) -> CorruptedRun:
    """Take the right sentence as the corrupted run: nothing in it needs correction.

    Args:
        row: the row of the question, by default where the change begins, or that of the contrast.

    Example:
        >>> corrupted_by_correction(*edits_of("머거요", "먹어요")).source
        '먹어요'
    """
    source, target, about = edit.source, edit.target, edit.about
    if row is None:
        row = about.row if isinstance(about, Contrast) else about.target_start
    back = copy_positions(find_changes(target, source), len(target) + 1, len(source) + 1)
    places = tuple(back.tolist()), tuple(range(row + 1))
    return CorruptedRun(edit, target, target[:row], *places)


def corrupted_by_sentence(edit: Edit, other: str, row: int | None = None) -> CorruptedRun:
    """Take another sentence with the typed text of the change as the corrupted run.

    Args:
        other: the sentence; the two are aligned at the change.
        row: the row of the question, by default where the change begins.

    Raises:
        ValueError: where ``other`` does not contain the typed text.

    Example:
        >>> corrupted_by_sentence(*edits_of("머거요", "먹어요"), "머거라").target_places
        (0,)
    """
    source, target, change = edit.source, edit.target, edit.change
    row = change.target_start if row is None else row
    at = other.find(change.wrong) if change.wrong else -1
    if at < 0:
        raise ValueError("the other sentence should have what was typed at the change")
    shift = at - change.source_start
    places = tuple(
        place + shift if 0 <= place + shift < len(other) and place < len(source) else NO_PLACE
        for place in range(len(source) + 1)
    )
    moved = at - change.target_start  # from a row of the clean run to that of ``other``
    read = (place + moved if place + moved >= 1 else NO_PLACE for place in range(1, row + 1))
    written = other[:at] + target[change.target_start : row]
    return CorruptedRun(edit, other, written, places, (0, *read))


def is_lowered(score: float, corrupted: float, least: float = LEAST_SCORE) -> bool:
    """Whether a corrupted run loses at least HALF of the clean run's score, and ``least``.

    >>> is_lowered(12.5, -8.4), is_lowered(19.4, 18.8), is_lowered(-16.4, -14.1)
    (True, False, False)
    """
    return score - corrupted >= max(HALF * abs(score), least)


@dataclass(frozen=True)
class Exchanges(Result):
    """Corrupted runs, each with another substitute for one token, or over another text.

    ``others``: the scores of exchanges at other places, by place.
    """

    score: float  # of the clean run, in nats
    place: int  # in the source: where the median score is lowest; NO_PLACE of other texts
    runs: tuple[CorruptedRun, ...]  # (N,)
    scores: np.ndarray  # (N,) float64 nats
    others: dict[int, np.ndarray]
    least: float = LEAST_SCORE  # ``Edit.least``

    @property
    def median(self) -> CorruptedRun:
        """The run with the median score, the lower one of two."""
        return self.runs[int(np.argsort(self.scores, kind="stable")[(len(self.runs) - 1) // 2])]

    @property
    def lowers(self) -> bool:
        """Whether the median run lowers the score (``is_lowered``); else it says nothing of the mistake."""
        return is_lowered(self.score, float(self.scores[self.runs.index(self.median)]), self.least)


def exchanges(corrector: Network, edit: Edit, texts: Sequence[str] = ()) -> Exchanges:
    """Exchange each character beside the mistake, of a contrast each one, for each of SUBSTITUTES.

    The place is that of the lowest median score. No substitute is picked: a single one may lower the score
    for reasons of its own.

    Args:
        texts: sources, or prompts, of as many tokens to take instead; needed where tokens are not characters.

    Raises:
        ValueError: as ``contrast_of_edit`` and ``corrupted_by_text`` do, and where there is no character to
            exchange.

    Example:
        >>> found = exchanges(corrector, *edits_of("머거요", "먹어요"))
        >>> found.place, len(found.runs) == len(found.scores) > 8
        (1, True)
        >>> exchanges(corrector, *edits_of("머거요", "먹어요"), texts=["가거요", "먹어요"]).scores.shape
        (2,)
    """
    run, tokenizer, source = CleanRun(corrector, edit), corrector.tokenizer, edit.source
    row, ids = run.contrast.row, run.ids[0]
    (clean,) = run.scores([()]).tolist()
    if texts:
        given = tuple(corrupted_by_text(corrector, edit, each) for each in texts)
        each_score = [run.scores([()], ids=each.ids(tokenizer)) for each in given]
        return Exchanges(clean, NO_PLACE, given, np.concatenate(each_score), {}, edit.least)
    if not run.network.layers("encoder") or len(ids) != len(source) + 1:
        raise ValueError("a character can be exchanged where each token is one: give other texts of a length")
    places = [place for place in _exchangeable(edit, row) if not source[place].isspace()]
    usable = [other for other in SUBSTITUTES if not tokenizer.is_outside(other)]
    tried = [(place, other) for place in places for other in usable if other != source[place]]
    if not tried:
        raise ValueError("the sentence has no character beside the mistake")
    scores = run.scores([(_exchanged(corrector, ids, place, other),) for place, other in tried])
    at = [place for place, _ in tried]
    by_place = {place: scores[np.equal(at, place)] for place in dict.fromkeys(at)}
    chosen = min(by_place, key=lambda place: float(np.median(by_place[place])))
    same = tuple(range(len(source) + 1)), tuple(range(row + 1))
    runs = (
        CorruptedRun(edit, source[:chosen] + other + source[chosen + 1 :], edit.target[:row], *same)
        for place, other in tried
        if place == chosen
    )
    return Exchanges(clean, chosen, tuple(runs), by_place.pop(chosen), by_place, edit.least)


def _exchangeable(edit: Edit, row: int) -> list[int]:
    """The positions of the source beside a change, without the one that the fix is compared with; or all."""
    source, change = edit.source, edit.about
    if isinstance(change, Contrast):
        return list(range(len(source)))
    typed, fixed = change.mistake
    kept = change.source_start + typed + row - (change.target_start + fixed)
    beside = range(max(change.source_start - 1, 0), min(change.source_end + 1, len(source)))
    return [place for place in beside if place != kept]


def corrupted_by_exchange(corrector: Network, edit: Edit) -> CorruptedRun:
    """Exchange one character beside the mistake: the median run of ``exchanges``.

    Raises:
        ValueError: as ``exchanges`` does.

    Example:
        >>> run = corrupted_by_exchange(corrector, *edits_of("머거요", "먹어요"))
        >>> len(run.source), run.source[0]
        (3, '머')
    """
    return exchanges(corrector, edit).median


def _exchanged(corrector: Network, ids: Sequence[int], place: int, other: str) -> Patch:
    """The patch of the encoder's stream that replaces the token at ``place``."""
    new = corrector.tokenizer.encode_source(other)[0]
    moved = corrector.patched.stream_start([*ids[:place], new, *ids[place + 1 :]])[place]
    return Patch(tap("encoder", "residual"), 0, moved, place)


@dataclass(frozen=True)
class ActivationPatching(Result):
    """The corrupted run's scores, in nats, with single activations of the clean run patched in."""

    contrast: Contrast
    corrupted: str  # the corrupted sentence
    score: float  # of the clean run
    corrupted_score: float
    patched: np.ndarray  # (P, N) float32, scores; nan where the position has no counterpart
    least: float = LEAST_SCORE  # ``Edit.least``
    exchanged: tuple[int, ...] = ()  # positions (of N) whose token the corrupted run does not share
    of_stream: bool = False  # whether the places are those of the residual stream, the first before any layer

    @property
    def is_lowered(self) -> bool:
        """Whether the corrupted run lowers the score, see the function ``is_lowered``."""
        return is_lowered(self.score, self.corrupted_score, self.least)

    @property
    def is_telling(self) -> bool:
        """Whether the scores of the two runs differ enough that shares of the difference mean something."""
        return abs(self.score - self.corrupted_score) >= self.least

    @property
    def restored(self) -> np.ndarray:
        """(P, N) float32:

        the share of the logit difference that is restored: 0 the corrupted run, 1 the clean run.
        """
        difference = self.score - self.corrupted_score if self.is_telling else np.nan
        return ((self.patched - self.corrupted_score) / difference).astype(np.float32)

    def strongest(self) -> tuple[int, int]:
        """The place and the position that restore most, of equal ones the last place.

        The exchanged tokens themselves at the start of the stream, which restore the input, do not count.
        """
        found = np.where(np.isnan(self.restored), -np.inf, self.restored)
        if self.of_stream:
            found[0, list(self.exchanged)] = -np.inf
        place, position = np.argwhere(found >= found.max() - _TIE)[-1]
        return int(place), int(position)

    def stays(self) -> tuple[int, int] | None:
        """The last place at which an exchanged token's own position restores at least HALF; None for none."""
        found = [cell for cell in self._halves() if cell[1] in self.exchanged]
        return found[-1] if found else None

    def arrives(self) -> tuple[int, int] | None:
        """The first place at which another position restores at least HALF, and the most; None for none."""
        found = [cell for cell in self._halves() if cell[1] not in self.exchanged]
        first = [cell for cell in found if cell[0] == found[0][0]]
        return max(first, key=lambda cell: float(self.restored[cell]), default=None)

    def _halves(self) -> list[tuple[int, int]]:
        """The cells that restore at least HALF, in the order of the places."""
        return [(int(place), int(position)) for place, position in np.argwhere(self.restored >= HALF)]


def activation_patching(
    corrector: Network, run: CorruptedRun, part: str, of: str, noising: bool = False
) -> ActivationPatching:
    """Patch each place of one activation, position by position, from the clean into the corrupted run.

    This is denoising: it shows what suffices to restore the score.

    Args:
        part: "residual" (the stream), "output" (of the sub-layers) or "heads", one of PARTS.
        of: "encoder" or "decoder"; of "heads" a kind of attention.
        noising: patch from the corrupted into the clean run instead, which shows what is needed for the
            score: ``restored`` is the share that is left.

    Returns:
        Places in the order of the layers, positions of the clean run; the decoder's end at the row of the
        question.

    Raises:
        ValueError: as ``contrast_of_edit`` does, for another part, and for a network without a residual
            stream.

    Example:
        >>> run = corrupted_by_exchange(corrector, *edits_of("머거요", "먹어요"))
        >>> found = activation_patching(corrector, run, "residual", "encoder")
        >>> found.patched.shape, found.corrupted_score < found.score  # places by source tokens
        ((9, 4), True)
    """
    name = tap(of, part)
    if part not in PARTS or name not in TAPS:
        raise ValueError(
            f"the part should be one of {PARTS} of a side or an attention, received {part!r} of {of!r}"
        )
    clean = CleanRun(corrector, run.edit)
    other = run.ids(corrector.tokenizer)
    found = clean.taps([name, "logits"])
    values = clean.network.taps(*other, [name])[name] if noising else found[name]
    places: list[int | tuple[int, int]] = list(range(len(values)))
    if part == "heads":  # (L, H, N, D/H) -> (L·H, N, D/H)
        places = [(layer, head) for layer, head in np.ndindex(*values.shape[:2])]
        values = values.reshape(-1, *values.shape[2:])
    matched = run.source_places if of.startswith("encoder") else run.target_places
    if not clean.network.layers("encoder"):
        # A decoder alone reads the prompt and its continuation in one stream.
        shift = len(other[0]) - 1
        matched = *run.source_places, *(at if at == NO_PLACE else at + shift for at in run.target_places[1:])
    cells = [
        (row, column) for row in range(len(places)) for column, at in enumerate(matched) if at != NO_PLACE
    ]
    variations = [
        (Patch(name, places[row], values[row, matched[column]], column),)
        if noising
        else (Patch(name, places[row], values[row, column], matched[column]),)
        for row, column in cells
    ]
    corrupted, *scores = clean.scores([(), *([] if noising else variations)], ids=other)
    if noising:
        scores = clean.scores(variations).tolist()
    patched = np.full((len(places), len(matched)), np.nan, np.float32)
    patched[tuple(zip(*cells, strict=True))] = scores
    (score,) = score_of(found["logits"][-1:], clean.contrast, run.edit.metric).tolist()
    before, after = (clean.network.inputs(*each)[not of.startswith("encoder")] for each in (clean.ids, other))
    exchanged = (n for n, at in enumerate(matched) if at == NO_PLACE or before[n] != after[at])
    return ActivationPatching(
        clean.contrast,
        run.source,
        score,
        float(corrupted),
        patched,
        run.edit.least,
        tuple(exchanged),
        part == "residual",
    )
