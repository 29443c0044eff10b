"""Verified explanation: claims about one correction, each tested by ablation or patching.

A claim comes from an observation (direct logit attribution, attention, logit lens) or from a search (the
circuit). Then the part that it names is changed in a pass, and the score, or the attention weight, is
measured again. A loss counts where it is larger than those without random parts of the same kind
(``null_losses``), a circuit where it keeps more than random sets of the same kinds do: p < LEVEL, where p is
at least 1/(n + 1) after n draws. A claim that fails its test is kept and marked as failed.

The score is the logit difference log p(fix) - log p(keep) where the change begins, in nats.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from model.activations.walk import ActivationWalk
from model.analysis.ablation import corpus_means, everyday_pairs
from model.analysis.attention_scores import KEY, AttentionCell, decompose_attention_score
from model.analysis.circuits import find_circuit
from model.analysis.contrasts import CleanRun, Edit, contrast_of_edit
from model.analysis.patching import CorruptedRun, corrupted_by_exchange
from model.analysis.residual_stream import (
    ATTRIBUTION_TAPS,
    KINDS,
    LogitAttribution,
    attribute_contrasts,
    settled_from,
)
from model.analysis.saving import Result
from model.analysis.statistics import p_value
from model.correction.answers import Network
from model.text.tokenizer import Tokenizer
from model.trace.interventions import FEED_FORWARDS, Contrast, Head, Node, Patch, Patches, tap

SCORE, LOOK = "score", "look"
LEVEL = 0.01  # p-value below which a claim holds against the null of random parts
ATTENTION_TAPS = (*KINDS, *(tap(kind, part) for kind in KINDS for part in ("value", "heads")))
DRAWS = 200  # random parts of each kind in the null, so that p can be as low as 1/201
LEAST_LOOK = 0.1  # by how much a weight has to fall for "why" to hold
RETURNED = 0.9  # the share of the two runs' difference that has to be restored for "decided" to hold


Fact = Node | str | int | float


@dataclass(frozen=True)
class Claim:
    """A claim, and the measurement before and after its intervention.

    >>> Claim("wrote", 8.5, 4.0, True).difference
    -4.5
    """

    name: str  # one of CLAIMS
    before: float  # observed
    after: float  # intervened
    holds: bool
    facts: dict[str, Fact] = field(default_factory=dict)  # the nodes, characters and numbers of its sentence
    measured: str = SCORE  # the unit of both: SCORE in nats, or LOOK, a weight of attention

    @property
    def difference(self) -> float:
        """After minus before, in the unit of ``measured``."""
        return self.after - self.before

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


def verified_explanation(corrector: Network, edit: Edit) -> Explanation:
    """Explain one change by claims, each tested by an intervention.

    Raises:
        ValueError: as ``contrast_of_edit`` does, for a network without a residual stream, and for one whose
            tokens are not characters.

    Example:
        >>> (edit,) = edits_of("머거요", "먹어요")
        >>> [claim.name for claim in verified_explanation(corrector, edit).claims]
        ['cause', 'looked', 'why', 'wrote', 'fed', 'decided', 'circuit']
    """
    context = ClaimContext(corrector, edit)
    claims = tuple(claim for test in CLAIMS.values() for claim in test(context))
    return Explanation(context.contrast, context.score, claims, context.means.reference)


class ClaimContext(CleanRun):
    """The clean run, its direct logit attribution, and the corrupted run, which the claims share."""

    def __init__(self, corrector: Network, edit: Edit):
        source, target = self.source, self.target = edit.source, edit.target
        self.change, self.contrast = edit.change, contrast_of_edit(corrector, edit)
        read, written = corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
        if len(read) - len(source) not in (0, 1) or len(written) - len(target) != 1:
            raise ValueError(
                "claims are about characters, so each token should be one character, but the tokenizer makes "
                f"{len(read)} and {len(written)} tokens of {len(source)} and {len(target)} characters"
            )
        super().__init__(corrector, edit)
        if not self.network.has("cross_attention"):
            raise ValueError("claims are about a source, received a decoder alone, which has none")
        self.row = self.contrast.row
        self.found = self.taps([*ATTRIBUTION_TAPS, *(tap(kind, "heads") for kind in KINDS)])
        (self.score,) = edit.measured(self.found["logits"][-1:], self.contrast).tolist()
        self.means = corpus_means(self.network, corrector.tokenizer)

    def patched(self, *variations: Patches, source: str | None = None) -> list[float]:
        """The scores in nats of patched passes, of another ``source`` where one is given."""
        ids = self.ids[0] if source is None else self.corrector.tokenizer.encode_source(source)
        return self.scores(variations, ids=(ids, self.ids[1])).tolist()

    @cached_property
    def written(self) -> LogitAttribution:
        """The direct logit attribution of the score."""
        return attribute_contrasts(self.found, self.network.output_weights, [self.contrast])

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
        keys = (*self.source, "</s>") if node.kind == "cross_attention" else ("<s>", *self.target)
        return key, keys[key], float(nats[key])

    @cached_property
    def corrupted(self) -> CorruptedRun | None:
        """The corrupted run; None where no character is beside the mistake."""
        try:
            return corrupted_by_exchange(self.corrector, self.edit)
        except ValueError:
            return None

    def claim(self, name: str, after: float, holds: bool, **facts: Fact) -> Claim:
        """A claim about the score."""
        return Claim(name, self.score, after, holds, facts)

    def tested(self, name: str, after: float, node: Node, sign: float = 1.0, **facts: Fact) -> Claim:
        """A claim that the score falls without a part of ``node``, further than without other nodes' parts.

        With a negative ``sign``, that it rises.
        """
        drawn = null_losses(self.network, self.corrector.tokenizer).items()
        others = [some for (of, at), some in drawn if (of, at.kind) == (name, node.kind) and at != node]
        null = np.abs(np.concatenate(others))
        p = p_value(null, (self.score - after) * sign)
        return self.claim(name, after, p < LEVEL, node=node, p=p, draws=len(null), **facts)


@lru_cache(maxsize=4)
def null_losses(network: ActivationWalk, tokenizer: Tokenizer) -> dict[tuple[str, Node], list[float]]:
    """The losses in nats without random parts, by claim and node: what a part takes away by chance.

    Random rows of everyday sentences are drawn (seed 0), whose score is the written token's against the
    likeliest other. In each as many nodes of each kind are drawn as the decoder has layers, and are ablated
    ("wrote", "fed"), or the value at a head's key with the largest weight is taken from it ("looked").

    Example:
        >>> null = null_losses(corrector.patched, corrector.tokenizer)
        >>> sum(len(some) for (_, node), some in null.items() if node.head is None)  # 4 networks in 50 rows
        200
    """
    rng, losses = np.random.default_rng(0), defaultdict[tuple[str, Node], list[float]](list)
    means, kinds, layers = corpus_means(network, tokenizer), defaultdict[str, list[Node]](list), 0
    for node in network.nodes:
        if node.side == "decoder":
            kinds[node.kind].append(node)
            layers += node.head is None
    for wrong, right in rng.choice(everyday_pairs(), -(-DRAWS // layers)).tolist():
        drawn = [some[at] for some in kinds.values() for at in rng.permutation(len(some))[:layers]]
        heads = [node for node in drawn if node.head is not None]
        names = ["fed" if node.head is None else "wrote" for node in drawn] + ["looked"] * len(heads)
        source, target = tokenizer.encode_source(wrong), tokenizer.encode_target(right)
        row = int(rng.integers(len(target)))
        found = network.taps(source, target, ["logits", *ATTENTION_TAPS])
        others = found["logits"][row]
        others[target[row]] = -np.inf
        keys = [int(found[node.kind][node.place][row].argmax()) for node in heads]
        looks = [(without_key(found, node, row, key),) for node, key in zip(heads, keys, strict=True)]
        variations = [(), *(means.patches([node]) for node in drawn), *looks]
        passed = network.passes(source, target[: row + 1], variations)
        score, *less = passed.score(target[row], int(others.argmax())).tolist()
        for name, node, each in zip(names, [*drawn, *heads], less, strict=True):
            losses[name, node].append(score - each)
    return losses


def without_key(found: Mapping[str, np.ndarray], node: Node, row: int, key: int) -> Patch:
    """The patch of a head's output in one row of a pass without the value at one key."""
    lost = found[node.kind][node.place][row, key] * found[tap(node.kind, "value")][node.place][key]
    return Patch.of(node, found[node.tap][node.place][row] - lost, row)


def _cause(context: ClaimContext) -> Iterator[Claim]:
    """A character beside the mistake causes the correction: with another one the fix is not preferred."""
    run, source = context.corrupted, context.source
    if run is None:
        return
    place = next(i for i, pair in enumerate(zip(source, run.source, strict=True)) if pair[0] != pair[1])
    (after,) = context.patched((), source=run.source)
    holds = after < 0 < context.score
    yield context.claim("cause", after, holds, character=source[place], other=run.source[place])


def _looked(context: ClaimContext) -> Iterator[Claim]:
    """The writer contributes by attending to one character: without its value the score falls."""
    _, node, _ = context.writer
    key, token, nats = context.key
    weight = float(context.found[node.kind][node.place][context.row, key])
    (after,) = context.patched((without_key(context.found, node, context.row, key),))
    yield context.tested("looked", after, node, key=token, position=key, weight=weight, nats=nats)


def _why(context: ClaimContext) -> Iterator[Claim]:
    """The writer attends there because of one part of the key, the one without which it attends least:

    with its mean in that part's place it attends less.
    """
    head, node, _ = context.writer
    key, token, _ = context.key
    pair = context.source, context.target
    look = decompose_attention_score(
        context.corrector, *pair, AttentionCell(head, context.row, key), context.means
    )
    reasons = [each for each in look.ablations if each.of == KEY and each.nats > 0]
    if not reasons:
        return
    # Not the largest term of the score: softmax and the other parts may make up for its loss.
    reason = min(reasons, key=lambda each: each.weight)
    holds = look.weight - reason.weight >= LEAST_LOOK
    facts: dict[str, Fact] = {"node": node, "key": token, "part": reason.part, "nats": reason.nats}
    yield Claim("why", look.weight, reason.weight, holds, facts, LOOK)


def _wrote(context: ClaimContext) -> Iterator[Claim]:
    """The writer: with its mean in its place the score falls."""
    _, node, nats = context.writer
    (after,) = context.patched(context.means.patches([node]))
    yield context.tested("wrote", after, node, nats=nats)


def _fed(context: ClaimContext) -> Iterator[Claim]:
    """The feed-forward network with the largest direct contribution:

    with its mean in its place the score moves the other way.
    """
    written = context.written.feed_forward[0]
    node = Node(FEED_FORWARDS["decoder"], int(np.abs(written).argmax()))
    nats = float(written[node.layer])
    (after,) = context.patched(context.means.patches([node]))
    yield context.tested("fed", after, node, float(np.sign(nats)), nats=nats)


def _decided(context: ClaimContext) -> Iterator[Claim]:
    """From one place of the stream on, the logit lens reads the fix:

    patched into the corrupted run it restores most of the score.

    No claim is made where the network does not end on the fix, which it has then not decided for, or reads it
    after its last sub-layer alone, whose output is the score itself.
    """
    weights, stream = context.network.output_weights, context.found["decoder_residual"][:, context.row]
    read = (weights.read("decoder", stream) @ weights.vocabulary.T + weights.bias).argmax(axis=-1)
    place, run = settled_from(read), context.corrupted
    if run is None or place in (0, len(stream) - 1) or read[-1] != context.contrast.written:
        return
    patch = Patch("decoder_residual", place, stream[place], context.row)
    before, after = context.patched((), (patch,), source=run.source)
    holds = (after - before) >= RETURNED * (context.score - before) > 0
    facts: dict[str, Fact] = {"place": place, "twin": run.source, "twin_score": before, "share": RETURNED}
    yield context.claim("decided", after, holds, **facts)


def _circuit(context: ClaimContext) -> Iterator[Claim]:
    """Few nodes suffice with all others at their means, and random sets of as many of each kind do not."""
    found = find_circuit(context.corrector, context.edit, ablation=context.means)
    if not found.is_telling:
        return
    yield context.claim(
        "circuit",
        found.empty + found.faithfulness * (found.score - found.empty),
        found.p < LEVEL,
        members=len(found.members),
        parts=len(found.nodes),
        share=found.faithfulness,
        random=float(found.random.mean()),
        p=found.p,
        draws=len(found.random),
    )


def _alone(context: ClaimContext) -> Iterator[Claim]:
    """The word suffices: without all other words the fix is still preferred."""
    change, tokenizer = context.change, context.corrector.tokenizer
    start, end = _word(context.source, change.source_start, change.source_end)
    begin, stop = _word(context.target, change.target_start, change.target_end)
    target = tokenizer.encode_target(context.target[begin:stop])
    row, word = context.row - begin, context.source[start:end]
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
