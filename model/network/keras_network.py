"""``KerasNetwork``: a ``TokenNetwork`` that computes a full Keras pass for every answer.

It is slow, and the reference for the graph. It answers where ``ATTENTION_BACKEND=keras`` or a folder has no
graph, searches with beams, and computes the activations of a recurrent network.

S source and T target tokens, W beams, V vocabulary.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import keras
import numpy as np
import tensorflow as tf

from model.activations.drafting import Pass, Produced, log_softmax, longest_target
from model.activations.token_network import Ids, TokenNetwork
from model.activations.walk import ActivationWalk
from model.text.tokenizer import END_ID, PAD_ID, START_ID, pad
from model.trace.trace import ATTENTION_KINDS

_IDS = tf.TensorSpec((None, None), tf.int32)


class KerasNetwork(TokenNetwork):
    """Answers of a built ``keras.Model`` that has ``config``, ``embedding`` and ``full_pass``.

    ``beam_width``: 1 decodes greedily; more is ``beam_search``.

    Raises:
        ValueError: for a beam width that is not a whole number of 1 or more.
    """

    def __init__(self, network: keras.Model, space_id: int, beam_width: int = 1):
        if not isinstance(beam_width, int) or beam_width < 1:
            raise ValueError(f"the beam width should be a whole number of 1 or more, received {beam_width!r}")
        super().__init__(network.config, space_id)
        self.network, self.beam_width = network, beam_width
        self._full_pass = tf.function(network.full_pass, input_signature=[_IDS, _IDS], autograph=False)

    def reading(self, source: Ids) -> "KerasReading":
        return KerasReading(self._full_pass, source)

    def produce(self, sources: Sequence[Ids]) -> list[Produced | None]:
        if self.beam_width == 1:
            return super().produce(sources)
        return [self._follow_beams(self.reading(source), source) for source in sources]

    def embeddings(self, ids: Ids) -> np.ndarray:
        scaled = np.asarray(self.network.embedding(np.array([ids], np.int32)))[0]
        return scaled / math.sqrt(scaled.shape[-1])

    def weight_shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {each.path: tuple(each.shape) for each in self.network.weights}

    def load_walk(self) -> ActivationWalk:
        arrays = {each.path.partition("/")[2]: np.asarray(each.value) for each in self.network.weights}
        return ActivationWalk(self.config, self.network.embedding.features, arrays)

    @cached_property
    def keras(self) -> "KerasNetwork":
        return self

    def recurrent_taps(self, source: Ids, target: Ids) -> dict[str, np.ndarray]:
        """All activations of a recurrent network's pass by their names, without B."""
        ids = (pad([row]) for row in (source, [START_ID, *target[:-1]]))
        return {name: np.asarray(array)[0] for name, array in self._full_pass(*ids)._asdict().items()}

    def _follow_beams(self, reading: "KerasReading", source: Ids) -> Produced | None:
        ids = beam_search(reading.next_logits, longest_target(len(source)), self.beam_width)
        return reading.pass_over([ids]).row(0, source, ids) if ids else None


class KerasReading:
    """Full passes over drafts of one source."""

    def __init__(self, full_pass: Callable, source: Ids):
        self._full_pass, self._source = full_pass, source

    def pass_over(self, drafts: Sequence[Ids]) -> Pass:
        targets = pad([[START_ID, *draft[:-1]] for draft in drafts])
        arrays = self._full_pass(pad([self._source] * len(drafts)), targets)._asdict()
        attention = {kind: np.asarray(arrays[kind]) for kind in ATTENTION_KINDS if kind in arrays}
        return Pass(np.asarray(arrays["logits"]), attention)

    def next_logits(self, beginnings: Sequence[Ids]) -> np.ndarray:
        """(W, V): the logits of the token after each of W equally long beginnings."""
        return self.pass_over([[*each, PAD_ID] for each in beginnings]).logits[:, -1]


def beam_search(
    next_logits: Callable[[list[list[int]]], np.ndarray], most_tokens: int, width: int
) -> list[int] | None:
    """Beam search for the most probable sentence (Sutskever et al. 2014, section 3.2).

    At each position the W most probable beginnings are kept. The search ends when the first of them has its
    end mark: a longer one only loses probability. Nothing is normalised by length, because corrections of one
    sentence are about equally long.

    Args:
        next_logits: W equally long beginnings -> (W, V) logits of their next tokens.
        most_tokens: after which the search is given up; width: W, at most V.

    Returns:
        Token ids, the end mark last; None where no end mark came in time.

    >>> beam_search(lambda beginnings: np.array([[2.0, 0.0, 0.0, 5.0]] * len(beginnings)), 5, 2)
    [3]
    """
    beams: list[list[int]] = [[]]
    scores = np.zeros(1)  # log-probabilities, in nats
    for _ in range(most_tokens):
        open_ = [number for number, beam in enumerate(beams) if beam[-1:] != [END_ID]]
        logs = log_softmax(next_logits([beams[number] for number in open_]).astype(np.float64))  # (open, V)
        total = np.full((len(beams), logs.shape[-1]), -np.inf)
        total[:, END_ID] = scores  # a finished beam stays as it is
        total[open_] = scores[open_, None] + logs
        best = np.argsort(-total, axis=None, kind="stable")[:width]
        parents, tokens = np.unravel_index(best, total.shape)
        scores = total[parents, tokens]
        beams = [
            beams[parent] if beams[parent][-1:] == [END_ID] else [*beams[parent], int(token)]
            for parent, token in zip(parents, tokens, strict=True)
        ]
        if beams[0][-1:] == [END_ID]:
            return beams[0]
    return None
