"""Verified explanation of one correction: claims, each tested by an ablation or by patching."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from model.analysis.attention_scores import KEY, decompose_attention_score
from model.analysis.circuits import Circuit, find_circuit
from model.analysis.counterfactuals import contrast_of_change
from model.analysis.patching import CorruptedRun, corpus_means, corrupted_by_exchange, corrupted_values
from model.analysis.residual_stream import ATTRIBUTION_TAPS, KINDS, LogitAttribution, attribute_contrasts
from model.correction.answers import Network
from model.text.changes import Change
from model.trace.interventions import FEED_FORWARDS, Contrast, Head, Node, Patch, tap

SCORE, LOOK = "score", "look"


@dataclass(frozen=True)
class Claim:
    """A claim, and what its intervention measured.

    >>> Claim("wrote", 8.5, 4.0, True).difference
    -4.5
    """

    name: str  # one of CLAIMS
    before: float  # observed
    after: float  # with something changed
    holds: bool
    facts: dict[str, Any] = field(default_factory=dict)  # what the claim names: nodes, characters, numbers
    measured: str = SCORE  # what both numbers are: the score in nats, or LOOK, a weight of attention

    @property
    def difference(self) -> float:
        return self.after - self.before


class ClaimContext:
    """What the claims share: the pass, its parts, and the twin, a sentence in which the same character is not corrected."""

    def __init__(self, corrector: Network, source: str, target: str, change: Change):
        self.corrector, self.source, self.target, self.change = corrector, source, target, change
        _expect_characters(corrector, source, target)
        self.contrast = contrast_of_change(corrector, source, target, change)
        self.network = corrector.patched
        self.ids = (
            corrector.tokenizer.encode_source(source),
            corrector.tokenizer.encode_target(target)[: self.row + 1],
        )
        names = {*ATTRIBUTION_TAPS, *(tap(kind, "heads") for kind in KINDS)} - {"logits"}
        self.found = self.network.taps(*self.ids, [*names, "logits"])
        logits = self.found["logits"][-1].astype(np.float64)
        self.score = float(logits[self.contrast.written] - logits[self.contrast.instead])
        self.means = corpus_means(self.network, corrector.tokenizer)

    @property
    def row(self) -> int:
        return self.contrast.row

    def scores(self, *variations: tuple[Patch, ...]) -> list[float]:
        answered = self.network.passes(*self.ids, variations)
        return answered.score(self.contrast.written, self.contrast.instead).tolist()

    @cached_property
    def written(self) -> LogitAttribution:
        return attribute_contrasts(self.found, self.network.output_weights, [self.contrast])

    @cached_property
    def writer(self) -> tuple[Node, float]:
        """The head that wrote most for the fix, and how much, in nats."""
        heads = [
            (Node(part.name, part.layer, part.head), part.nats)
            for part in self.written.parts(0)
            if part.layer is not None and part.head is not None
        ]
        return max(heads, key=lambda each: each[1])

    @cached_property
    def twin(self) -> CorruptedRun | None:
        try:
            return corrupted_by_exchange(self.corrector, self.source, self.target, self.change)
        except ValueError:  # there is no character beside the mistake
            return None

    def looked_at(self, node: Node) -> tuple[int, float]:
        """The position that a head wrote most for the fix by looking at, and how much, in nats."""
        looks = self.written.by_key[node.kind][0, node.layer, node.head]
        key = int(looks.argmax())
        return key, float(looks[key])

    def token(self, node: Node, key: int) -> str:
        """What stands at a position that a head looks at."""
        return ((*self.source, "</s>") if node.kind == "cross_attention" else ("<s>", *self.target))[key]

    def claim(self, name: str, after: float, holds: bool, **facts: Any) -> Claim:
        return Claim(name, self.score, after, holds, facts)


def _expect_characters(corrector: Network, source: str, target: str) -> None:
    """Raises ValueError where a token is not a character, because claims name characters by the places of tokens."""
    read, written = corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
    if len(read) - len(source) not in (0, 1) or len(written) - len(target) != 1:
        raise ValueError(
            "claims are about characters, so each token should be one character, but the tokenizer makes "
            f"{len(read)} and {len(written)} tokens of {len(source)} and {len(target)} characters"
        )


LEAST = 0.5  # nats by which the score has to move for a claim to hold
LEAST_LOOK = 0.1  # by how much a weight has to fall for "why" to hold
RETURNED = 0.9  # the share of the two scores' difference that has to return for "decided" to hold


@dataclass(frozen=True)
class Explanation:
    """All claims about one change, in the order in which they are read."""

    contrast: Contrast
    score: float
    claims: tuple[Claim, ...]


def verified_explanation(corrector: Network, source: str, target: str, change: Change) -> Explanation:
    """The explanation of one change.

    Raises ValueError as ``contrast_of_change`` does, for a network without a residual stream, and for one whose tokens are not characters.

    >>> from model.text.changes import find_changes
    >>> (change,) = find_changes("머거요", "먹어요")
    >>> found = verified_explanation(corrector, "머거요", "먹어요", change)
    >>> [claim.name for claim in found.claims]
    ['cause', 'looked', 'why', 'wrote', 'fed', 'decided', 'circuit']
    """
    case = ClaimContext(corrector, source, target, change)
    claims = tuple(claim for test in CLAIMS.values() for claim in test(case))
    return Explanation(case.contrast, case.score, claims)


def _cause(case: ClaimContext) -> Iterator[Claim]:
    """A character beside the mistake makes the network correct it: with another one it does not."""
    twin = case.twin
    if twin is None:
        return
    place = next(i for i, pair in enumerate(zip(case.source, twin.source, strict=True)) if pair[0] != pair[1])
    ids = case.corrector.tokenizer.encode_source(twin.source)
    after = case.network.passes(ids, case.ids[1], [()]).score(case.contrast.written, case.contrast.instead)[0]
    yield case.claim(
        "cause",
        float(after),
        bool(after < 0 < case.score),
        character=case.source[place],
        other=twin.source[place],
    )


def _looked(case: ClaimContext) -> Iterator[Claim]:
    """The head that wrote most for the fix did so by looking at one character: without that character's value the score falls."""
    node, _ = case.writer
    key, nats = case.looked_at(node)
    values, weights = case.found[tap(node.kind, "value")], case.found[node.kind]
    weight = float(weights[node.layer, node.head, case.row, key])
    lost = weight * values[node.layer, node.head, key]
    output = case.found[node.tap][node.place][case.row] - lost
    (after,) = case.scores((Patch.of(node, output, case.row),))
    yield case.claim(
        "looked",
        after,
        case.score - after >= LEAST,
        node=node,
        key=case.token(node, key),
        position=key,
        weight=weight,
        nats=nats,
    )


def _why(case: ClaimContext) -> Iterator[Claim]:
    """This head looked there because of one part of what stands there: with a mean in place of that part it looks less."""
    node, _ = case.writer
    assert node.head is not None, "a writer is a head"
    key, _ = case.looked_at(node)
    head = Head(node.kind, node.layer, node.head)
    look = decompose_attention_score(
        case.corrector, case.source, case.target, head, case.row, key, case.means
    )
    reasons = [each for each in look.ablations if each.of == KEY and each.nats > 0]
    if not reasons:
        return
    reason = reasons[0]  # of those that were tested the one that adds most
    holds = look.weight - reason.weight >= LEAST_LOOK
    facts = {"node": node, "key": case.token(node, key), "part": reason.part, "nats": reason.nats}
    yield Claim("why", look.weight, reason.weight, holds, facts, LOOK)


def _wrote(case: ClaimContext) -> Iterator[Claim]:
    """The head that wrote most: with its mean in its place the score falls."""
    node, nats = case.writer
    (after,) = case.scores(case.means.patches([node]))
    yield case.claim("wrote", after, case.score - after >= LEAST, node=node, nats=nats)


def _fed(case: ClaimContext) -> Iterator[Claim]:
    """The feed-forward network that wrote most, for or against the fix: with its mean in its place the score moves the other way."""
    written = case.written.feed_forward[0]
    node = Node(FEED_FORWARDS["decoder"], int(np.abs(written).argmax()))
    nats = float(written[node.layer])
    (after,) = case.scores(case.means.patches([node]))
    yield case.claim("fed", after, bool((case.score - after) * np.sign(nats) >= LEAST), node=node, nats=nats)


def _decided(case: ClaimContext) -> Iterator[Claim]:
    """From one place of the stream on, the logit lens reads the fix. The stream of that place, put into the twin, brings most of the score there.

    Nothing is claimed where the network does not end on the fix: then it has not decided for it.
    """
    weights, stream = case.network.output_weights, case.found["decoder_residual"][:, case.row]
    read = (weights.read("decoder", stream) @ weights.vocabulary.T + weights.bias).argmax(axis=-1)
    other = np.flatnonzero(read != read[-1])
    place = int(other[-1]) + 1 if other.size else 0
    twin = case.twin
    if twin is None or place == 0 or read[-1] != case.contrast.written:
        return
    ids = case.corrector.tokenizer.encode_source(twin.source)
    patches = [(), (Patch("decoder_residual", place, stream[place], case.row),)]
    before, after = case.network.passes(ids, case.ids[1], patches).score(
        case.contrast.written, case.contrast.instead
    )
    holds = bool((after - before) >= RETURNED * (case.score - before) > 0)
    yield case.claim(
        "decided",
        float(after),
        holds,
        place=place,
        twin=twin.source,
        twin_score=float(before),
        share=RETURNED,
    )


def _circuit(case: ClaimContext) -> Iterator[Claim]:
    """Few parts are enough: with all others as in the twin (or at their means, where there is no twin) most of the score stays."""
    twin = case.twin
    ablation = case.means if twin is None else corrupted_values(case.network, case.corrector.tokenizer, twin)
    found: Circuit = find_circuit(case.corrector, case.source, case.target, case.change, ablation=ablation)
    if not found.is_telling:
        return
    after = found.empty + found.faithfulness * (found.score - found.empty)
    usual = float(found.random.mean())
    yield case.claim(
        "circuit",
        after,
        found.faithfulness >= found.goal and usual < found.goal,
        members=len(found.members),
        parts=len(found.nodes),
        share=found.faithfulness,
        random=usual,
    )


def _alone(case: ClaimContext) -> Iterator[Claim]:
    """The rule needs no more than the word: with all other words taken away the fix is still preferred."""
    start, end = _word(case.source, case.change.source_start, case.change.source_end)
    begin, stop = _word(case.target, case.change.target_start, case.change.target_end)
    target = case.corrector.tokenizer.encode_target(case.target[begin:stop])
    row = case.row - begin
    if (start, end) == (0, len(case.source)) or not 0 <= row < len(target):
        return
    ids = case.corrector.tokenizer.encode_source(case.source[start:end])
    answered = case.network.passes(ids, target[: row + 1], [()])
    after = float(answered.score(case.contrast.written, case.contrast.instead)[0])
    yield case.claim("alone", after, after > 0, word=case.source[start:end])


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
