"""``ClaimContext``: what the claims of ``receipts`` about one correction share, and ``Claim``, what testing one of them measured."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from model.analysis.contrasts import contrast_of_change
from model.analysis.stand_ins import corpus_means
from model.analysis.twin_runs import CorruptedRun, corrupted_by_exchange
from model.analysis.writing import KINDS, TAPS, LogitAttribution, attribute_contrasts
from model.correction.answers import Network
from model.text.changes import Change
from model.trace.patches import Node, Patch
from model.trace.taps import tap

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
        names = {*TAPS, *(tap(kind, "heads") for kind in KINDS)} - {"logits"}
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
