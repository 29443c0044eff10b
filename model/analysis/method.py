"""``AttributionMethod``: one way to say which tokens a produced token comes from, with what it is asked (``AttributedRow``) and what it says (``TokenScores``).

S source tokens, T target tokens. Each method is asked about one row of the decoder. It gives a number to each source token (S,) and
to each token that the decoder had read by then (row + 1,), the start mark first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from model.correction.answers import Intervenes, Network
from model.stored.config import GRADIENTS
from model.trace.laboratory_data import Insides
from model.trace.odds import Contrast
from model.trace.trace import AttentionTrace

# What a method costs: one pass over the sentence, one for each token, or many along a path. Cheap ones are shown first.
ONE_PASS, EACH_TOKEN, PATH = range(3)


@dataclass(frozen=True)
class AttributedRow:
    """One produced token, and the network to ask about it. What several methods need of the pass is computed once."""

    corrector: Intervenes
    source: str
    target: str
    contrast: Contrast

    @cached_property
    def trace(self) -> AttentionTrace:
        return self.corrector.trace(self.source, self.target)

    @property
    def network(self) -> Network:
        """The same corrector, for a method that asks its laboratory: ``Method.needs`` says that it has one."""
        return cast(Network, self.corrector)

    @cached_property
    def ids(self) -> tuple[list[int], list[int]]:
        """The ids of the source, and of the target up to this row. Tokens that are written later have no influence on it."""
        tokenizer = self.network.tokenizer
        return tokenizer.encode_source(self.source), tokenizer.encode_target(self.target)[
            : self.contrast.row + 1
        ]

    @cached_property
    def attention(self) -> dict[str, np.ndarray]:
        """(L, H, Q, K) of each kind, up to this row: a trace of the whole target has the same numbers there."""
        read, kinds = self.contrast.row + 1, self.trace.kinds
        cut: dict[str, tuple[slice, ...]] = {
            "encoder_attention": (),
            "decoder_attention": np.s_[:, :, :read, :read],
            "cross_attention": np.s_[:, :, :read],
        }
        return {kind: self.trace.attention(kind)[cut[kind]] for kind in kinds}

    @cached_property
    def insides(self) -> Insides:
        return self.network.laboratory.insides(*self.ids)


class TokenScores(NamedTuple):
    """What a method computes for a row."""

    source: np.ndarray  # (S,) the end mark last
    before: np.ndarray  # (row + 1,) the start mark first
    gap: float | None = None  # of integrated gradients: (sum - what it should be) / what it should be


@dataclass(frozen=True)
class AttributionMethod:
    """One way to say where a token comes from. A file of ``model/analysis/methods`` declares it as METHOD.

    ``signed`` values are in nats of log p(written) - log p(instead): positive ones speak for what was written. The
    others are shares: none is negative, and ``source`` and ``before`` together sum to 1.
    """

    name: str  # the app calls it by the text ``method_<name>``
    place: int  # among all methods, where they are listed
    say: Callable[[AttributedRow], TokenScores]
    cost: int = ONE_PASS  # or EACH_TOKEN, PATH
    signed: bool = False
    intervenes: bool = False  # whether the network is asked again with something changed
    by_gradients: bool = False  # whether it asks for gradients, which NumPy does not compute
    needs: str = GRADIENTS  # which of ``model.stored.config.ABILITIES`` a network should have


@dataclass(frozen=True)
class Contribution:
    """What one method says about one row."""

    method: str  # its name
    source: np.ndarray  # (S,) float32, the end mark last
    before: np.ndarray  # (row + 1,) float32, the start mark first
    signed: bool  # these two as in ``AttributionMethod``
    intervened: bool
    gap: float | None = None  # as in ``TokenScores``


def last_row(source: np.ndarray, before: np.ndarray) -> TokenScores:
    """The last row of shares (T, S) and (T, T), as what a method says.

    >>> last_row(np.eye(2, 3), np.eye(2)).before.tolist()
    [0.0, 1.0]
    """
    return TokenScores(source[-1], before[-1])


def of_one_sequence(weights: np.ndarray, prompt: int, row: int) -> TokenScores:
    """What each row of a decoder alone (N, N) says of the tokens before it, for the written token ``row``. No start mark was read.

    >>> said = of_one_sequence(np.tril(np.full((3, 3), 0.5)), prompt=2, row=1)
    >>> said.source.tolist(), said.before.tolist()
    ([0.5, 0.5], [0.0, 0.5])
    """
    asked = weights[prompt - 1 + row]
    return TokenScores(asked[:prompt], np.concatenate([[0.0], asked[prompt : prompt + row]]))
