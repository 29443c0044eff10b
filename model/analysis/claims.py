"""Verified explanation: claims about one correction, each tested by ablation or patching.

A claim comes from an observation (direct logit attribution, attention, logit lens) or from a search (the
circuit). Then the part that it names is changed in a pass, and the score, or the attention weight, is
measured again. It counts where the change is larger than those by random parts of the same kind in random
rows (``model.analysis.nulls``), a circuit where it keeps more than random sets of the same kinds: p < LEVEL,
where p is at least 1/(n + 1) after n draws. "cause" and "alone" have no null and hold by their sign, since
they tell which of two tokens is preferred. A claim that fails its test is kept and marked. "cause" is not
claimed where the clean run prefers the typed text, and "decided" not where the corrupted run does not lower
the score (``is_lowered``).

The score is that of the question: of a change log p(fix) - log p(keep) where it begins, in nats.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from model.analysis.ablation import corpus_means, known_pairs
from model.analysis.attention_scores import KEY, AttentionCell, decompose_attention_score
from model.analysis.circuits import find_circuit
from model.analysis.contrasts import CleanRun, Edit
from model.analysis.nulls import (
    Pairs,
    kind_of_part,
    null_losses,
    null_streams,
    null_weights,
    without_key,
)
from model.analysis.patching import CorruptedRun, exchanges, is_lowered
from model.analysis.residual_stream import (
    ATTRIBUTION_TAPS,
    KINDS,
    LogitAttribution,
    attribute_contrasts,
)
from model.analysis.saving import Result
from model.analysis.statistics import p_value, settled_from
from model.correction.answers import Network
from model.text.changes import Change
from model.trace.interventions import FEED_FORWARDS, Contrast, Head, Node, Patch, tap

SCORE, LOOK = "score", "look"
# The pair of numbers of a claim: before and after an ablation, or an exchange of a character; the corrupted
# run before and after a value of the clean run restores it; the whole, and the part that keeps the score.
ABLATED, EXCHANGED, RESTORED, KEPT = "ablated", "exchanged", "restored", "kept"
_INTERVENTIONS = {"cause": EXCHANGED, "decided": RESTORED, "circuit": KEPT, "alone": KEPT}
LEVEL = 0.01  # p-value below which a claim holds against the null of random parts


Fact = Node | str | int | float


@dataclass(frozen=True)
class Claim:
    """A claim, and the measurement before and after its intervention.

    >>> Claim("wrote", 8.5, 4.0, True).difference
    -4.5
    """

    name: str  # one of CLAIMS
    before: float  # observed, of "decided" in the corrupted run
    after: float  # intervened
    holds: bool
    facts: dict[str, Fact] = field(default_factory=dict)  # the nodes, characters and numbers of its sentence
    measured: str = SCORE  # the unit of both: SCORE in nats, or LOOK, a weight of attention

    @property
    def difference(self) -> float:
        """After minus before, in the unit of ``measured``."""
        return self.after - self.before

    @property
    def intervention(self) -> str:
        """The kind of intervention between both numbers: ABLATED, EXCHANGED, RESTORED or KEPT.

        >>> Claim("decided", -1.4, 5.9, True).intervention
        'restored'
        """
        return _INTERVENTIONS.get(self.name, ABLATED)

    def number(self, name: str) -> float:
        """A fact that is a number."""
        fact = self.facts[name]
        assert isinstance(fact, int | float)
        return fact


@dataclass(frozen=True)
class Explanation(Result):
    """All claims about one change, in the order in which they are read."""

    contrast: Contrast
    score: float  # nats
    claims: tuple[Claim, ...]
    reference: str  # of the ablation values, such as "mean of 32 sentences"


def verified_explanation(
    corrector: Network, edit: Edit, pairs: Sequence[tuple[str, str]] = (), texts: Sequence[str] = ()
) -> Explanation:
    """Explain one change, one contrast or one metric by claims, each tested by an intervention.

    Args:
        pairs: (source, target) of a corpus for means and null, by default ``known_pairs``. One pair has few
            rows to draw from, so that p stays large.
        texts: corrupted sources or prompts, as of ``exchanges``. Without corrupted texts "cause" and
            "decided" are not claimed.

    Raises:
        ValueError: as ``contrast_of_edit`` does, and for a network without a residual stream.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> [claim.name for claim in verified_explanation(corrector, edit).claims]
        ['cause', 'looked', 'why', 'wrote', 'fed', 'decided', 'circuit']
    """
    context = ClaimContext(corrector, edit, tuple(pairs), texts)
    claims = tuple(claim for test in CLAIMS.values() for claim in test(context))
    return Explanation(context.contrast, context.score, claims, context.means.reference)


class ClaimContext(CleanRun):
    """The clean run, its direct logit attribution, and the corrupted run, which the claims share."""

    def __init__(self, corrector: Network, edit: Edit, pairs: Pairs, texts: Sequence[str]):
        super().__init__(corrector, edit)
        self.source, self.target, self.texts = edit.source, edit.target, texts
        self.found = self.taps([*ATTRIBUTION_TAPS, *(tap(kind, "heads") for kind in KINDS)])
        self.row = len(self.found["decoder_embedding"]) - 1  # of the decoder, behind a prompt
        (self.score,) = self.scored(self.ended(self.found)).tolist()
        lengths = len(self.ids[0]), len(corrector.tokenizer.encode_target(self.target))
        # In our networks; labels of ids would not tell characters outside the vocabulary apart.
        has_source = self.network.has("cross_attention")  # the keys of a decoder alone begin with its prompt
        self.by_character = has_source and lengths == (len(self.source) + 1, len(self.target) + 1)
        pairs = pairs or known_pairs(corrector, edit.source, edit.target)
        self.corpus = self.network, corrector.tokenizer, pairs
        self.means = corpus_means(*self.corpus)

    @cached_property
    def written(self) -> LogitAttribution:
        """The direct logit attribution of the score."""
        weights = self.network.output_weights
        return attribute_contrasts(self.found, weights, [self.contrast], metric=self.edit.metric)

    @cached_property
    def writer(self) -> tuple[Head, Node, float]:
        """The head with the largest direct contribution in favour of the fix, as node, and its nats."""
        heads = [
            (Head(part.name, part.layer, part.head), Node(part.name, part.layer, part.head), part.nats)
            for part in self.written.parts(0)
            if part.layer is not None and part.head is not None
        ]
        return max(heads, key=lambda each: each[2])

    @cached_property
    def key(self) -> tuple[int, str, float]:
        """The key position through which the writer contributes most: its number, its token, and its nats."""
        _, node, _ = self.writer
        nats = self.written.by_key[node.kind][0, node.layer, node.head]
        key = int(nats.argmax())
        if self.by_character:
            keys = (*self.source, "</s>") if node.kind == "cross_attention" else ("<s>", *self.target)
            return key, keys[key], float(nats[key])
        read = self.network.inputs(*self.ids)[node.kind != "cross_attention"]
        (token,) = self.corrector.tokenizer.labels([read[key]])
        return key, token, float(nats[key])

    @cached_property
    def corrupted(self) -> CorruptedRun | None:
        """The corrupted run; None where no character is beside the mistake, and without ``texts``."""
        with suppress(ValueError):
            return exchanges(self.corrector, self.edit, self.texts).median
        return None

    def claim(self, name: str, after: float, holds: bool, **facts: Fact) -> Claim:
        """A claim about the score."""
        return Claim(name, self.score, after, holds, facts)

    def tested(self, name: str, after: float, node: Node, sign: float = 1.0, **facts: Fact) -> Claim:
        """A claim that the score falls without a part of ``node``, further than without other nodes' parts.

        With a negative ``sign``, that it rises.
        """
        drawn = null_losses(*self.corpus, self.edit.metric).items()
        others = [some for (of, at), some in drawn if (of, at.kind) == (name, node.kind) and at != node]
        null = np.abs(np.concatenate([[], *others]))
        p = p_value(null, (self.score - after) * sign)
        return self.claim(name, after, p < LEVEL, node=node, p=p, draws=len(null), **facts)


def _cause(context: ClaimContext) -> Iterator[Claim]:
    """A character beside the mistake causes the correction: with another one the fix is not preferred."""
    run = context.corrupted
    if run is None or context.edit.metric is not None or context.score <= 0:
        return
    tokenizer = context.corrector.tokenizer
    ids = run.ids(tokenizer)[0], context.ids[1]
    both = (
        (context.source, run.source)
        if context.by_character
        else map(tokenizer.labels, (context.ids[0], ids[0]))
    )
    differ = [pair for pair in zip(*both, strict=True) if pair[0] != pair[1]]
    before, instead = ("".join(some) for some in zip(*differ, strict=True))
    (after,) = context.scores([()], ids=ids).tolist()
    yield context.claim("cause", after, after < 0, character=before, other=instead)


def _looked(context: ClaimContext) -> Iterator[Claim]:
    """The writer contributes by attending to one character: without its value the score falls."""
    _, node, _ = context.writer
    key, token, nats = context.key
    weight = float(context.found[node.kind][node.place][context.row, key])
    (after,) = context.scores([(without_key(context.found, node, context.row, key),)]).tolist()
    yield context.tested("looked", after, node, key=token, position=key, weight=weight, nats=nats)


def _why(context: ClaimContext) -> Iterator[Claim]:
    """The writer attends there because of one part of the key, the one without which it attends least:

    with its mean in that part's place it attends less. The claim is not made where scores hold positions.
    """
    head, node, _ = context.writer
    key, token, _ = context.key
    if context.network.scores_hold_positions:
        return
    pair = context.source, context.target
    look = decompose_attention_score(
        context.corrector, *pair, AttentionCell(head, context.row, key), context.means
    )
    reasons = [each for each in look.ablations if each.of == KEY and each.nats > 0]
    if not reasons:
        return
    # Not the largest term of the score: softmax and the other parts may make up for its loss.
    reason = min(reasons, key=lambda each: each.weight)
    null = np.array(null_weights(*context.corpus, node.kind)[kind_of_part(reason.part)])
    p = p_value(null, look.weight - reason.weight)
    facts: dict[str, Fact] = {"node": node, "key": token, "part": reason.part, "nats": reason.nats}
    facts |= {"p": p, "draws": len(null)}
    yield Claim("why", look.weight, reason.weight, p < LEVEL, facts, LOOK)


def _wrote(context: ClaimContext) -> Iterator[Claim]:
    """The writer: with its mean in its place the score falls."""
    _, node, nats = context.writer
    (after,) = context.scores([context.means.patches([node])]).tolist()
    yield context.tested("wrote", after, node, nats=nats)


def _fed(context: ClaimContext) -> Iterator[Claim]:
    """The feed-forward network with the largest direct contribution:

    with its mean in its place the score moves the other way.
    """
    written = context.written.feed_forward[0]
    node = Node(FEED_FORWARDS["decoder"], int(np.abs(written).argmax()))
    nats = float(written[node.layer])
    (after,) = context.scores([context.means.patches([node])]).tolist()
    yield context.tested("fed", after, node, float(np.sign(nats)), nats=nats)


def _decided(context: ClaimContext) -> Iterator[Claim]:
    """From one place of the stream on, the logit lens reads the fix:

    patched into the corrupted run it restores more of the score than that place of random rows does.

    No claim is made where the network does not end on the fix, which it has then not decided for, or reads it
    after its last sub-layer alone, whose output is the score itself, or where the corrupted run does not
    lower the score.
    """
    weights, stream = context.network.output_weights, context.found["decoder_residual"][:, context.row]
    read = (weights.read("decoder", stream) @ weights.vocabulary.T + weights.bias).argmax(axis=-1)
    place, run = settled_from(read), context.corrupted
    if run is None or place in (0, len(stream) - 1) or read[-1] != context.contrast.written:
        return
    others = null_streams(*context.corpus)[:, place]
    patches = [(Patch("decoder_residual", place, each, context.row),) for each in (stream[place], *others)]
    ids = run.ids(context.corrector.tokenizer)[0], context.ids[1]
    before, after, *null = context.scores([(), *patches], ids=ids).tolist()
    if not is_lowered(context.score, before, context.edit.least):
        return
    p, share = p_value(np.array(null), after), (after - before) / (context.score - before)
    facts: dict[str, Fact] = {"place": place, "twin": run.source, "score": context.score, "share": share}
    facts |= {"p": p, "draws": len(null)}
    yield Claim("decided", before, after, p < LEVEL and before < after, facts)


def _circuit(context: ClaimContext) -> Iterator[Claim]:
    """Few nodes suffice with all others at their means, and random sets of as many of each kind do not."""
    found = find_circuit(context.corrector, context.edit, ablation=context.means)
    if not found.is_telling:
        return
    yield context.claim(
        "circuit",
        found.kept,
        found.p < LEVEL,
        members=len(found.members),
        parts=len(found.nodes),
        share=found.faithfulness,
        empty=found.empty,
        score=found.score,
        random=float(found.random.mean()),
        p=found.p,
        draws=len(found.random),
    )


def _alone(context: ClaimContext) -> Iterator[Claim]:
    """The word suffices: without all other words the fix is still preferred."""
    change, tokenizer = context.edit.about, context.corrector.tokenizer
    if context.edit.metric is not None or not isinstance(change, Change) or not context.by_character:
        return
    start, end = _word(context.source, change.source_start, change.source_end)
    begin, stop = _word(context.target, change.target_start, change.target_end)
    target = tokenizer.encode_target(context.target[begin:stop])
    row, word = context.contrast.row - begin, context.source[start:end]
    if word == context.source or not 0 <= row < len(target):
        return
    (after,) = context.scores([()], ids=(tokenizer.encode_source(word), target[: row + 1])).tolist()
    yield context.claim("alone", after, after > 0, word=word)


def _word(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the words that touch start..end."""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


CLAIMS: dict[str, Callable[[ClaimContext], Iterator[Claim]]] = {
    "cause": _cause,
    "looked": _looked,
    "why": _why,
    "wrote": _wrote,
    "fed": _fed,
    "decided": _decided,
    "circuit": _circuit,
    "alone": _alone,
}
