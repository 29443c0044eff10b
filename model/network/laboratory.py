"""Passes under interventions, gradients, and what a pass holds inside: tensors in, NumPy arrays out.

Switching each of 48 heads off in turn is one batch of 48 passes. Passes whose intervention does not reach the encoder share one
encoding, and a target is cut off behind the row that is asked about. No answer is kept; caches outside use
``Intervention.fingerprint`` in their keys.

B interventions (or sentences), L layers, H heads, S source and T target tokens, D d_model, V vocabulary.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import keras
import numpy as np
import tensorflow as tf

from model.activations.laboratory import AlteredPasses
from model.activations.replacements import Altered, AlteredAttention, every_head
from model.network.altered import KerasHalves
from model.network.passes import IDS, LateGraphs
from model.network.transformer import decoder_scopes, walk
from model.text.tokenizer import END_ID, START_ID, pad
from model.trace.interventions import Found, Intervention, Slopes, Zeroed

_BATCH_OF_SLOPES = 16  # points of a path at a time: the tape keeps all of a pass


class Laboratory(AlteredPasses):
    """Asks a network what it would do if something were changed. Safe to call from threads; it keeps no answer.

    Only the Transformer takes interventions: its ``encode`` and ``decode`` have ``altered``.
    Raises ValueError for another architecture. ``space_id``: see ``drafting.settle``. ``late`` makes its graphs; others may use it, too.
    """

    def __init__(self, network: keras.Model, space_id: int, late: LateGraphs | None = None):
        if network.config.architecture != "transformer":
            raise ValueError(f"interventions need a transformer, received a {network.config.architecture}")
        self.network, self._graphs = network, late or LateGraphs()
        super().__init__(KerasHalves(network, self._graphs), network.config, space_id)
        asked = [tf.TensorSpec([None]), tf.TensorSpec([3], tf.int32)]
        self._slopes = self._graphs.function(self._trace_slopes, [IDS, IDS, *asked])
        self._zeroed = self._graphs.function(self._trace_zeroed, [IDS, IDS])

    def warm_up(self) -> Iterator[None]:
        """Make the graphs that questions about one sentence need, one at each step, which takes seconds. A graph that is not made here
        is made when its kind of question has been asked ``passes.CALLS_OP_BY_OP`` times."""
        self._graphs.at_once = True
        source, target = [END_ID], [END_ID]
        heads = every_head(self.config)
        off = [Intervention(off=frozenset(heads))]  # a graph for all kinds, and one for each kind alone
        off += [
            Intervention(off=frozenset(head for head in heads if head.kind == kind))
            for kind in self.config.attention_kinds
        ]
        without = Intervention(without_target=frozenset([0]))
        for interventions in ([Intervention()], *([each] for each in off), [without]):
            self.pass_over([source], [target], interventions)
            yield
        self.slopes(source, target, (0, 0, 1), [1.0])
        yield
        self.insides(source, target)
        yield
        self.zeroed(source, target)

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """How logit(written) - logit(instead) changes with the embedding of each token.

        All embeddings, before positions are added, are multiplied by one of ``shares`` (N,). The derivative by
        a token's factor is the sum over D of gradient times embedding. ``contrast``: row, written, instead.
        """
        ids = pad([source]), pad([[START_ID, *target[:-1]]])
        factors = np.asarray(shares, np.float32)
        cuts = range(0, len(factors), _BATCH_OF_SLOPES)
        found = [
            self._slopes(*ids, factors[cut : cut + _BATCH_OF_SLOPES], np.asarray(contrast, np.int32))
            for cut in cuts
        ]
        return Slopes(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """The cosine distance between each decoder layer's output and its output without the values of one position.

        Only that layer is changed; it gets what the plain pass gives it. Source: Mohebbi, Zuidema, Chrupała
        & Alishahi (EACL 2023), section 3.
        """
        found = self._zeroed(pad([source]), pad([[START_ID, *target[:-1]]]))
        return Zeroed(*(np.asarray(part) for part in found))

    @cached_property
    def _output_projections(self) -> tuple[dict, dict, dict | None]:
        """``output_kernels``, ``output_biases`` and ``norm_scales`` of ``Insides``."""
        shape = (self.config.num_heads, -1, self.config.d_model)  # (D, D) -> (H, D/H, D)
        kernels, biases, scales = {}, {}, {}
        for kind in self.config.attention_kinds:
            in_encoder = kind == "encoder_attention"
            blocks = self.network.encoder_blocks if in_encoder else self.network.decoder_blocks
            projections = [block.attentions[kind].output_projection for block in blocks]
            kernels[kind] = np.stack([each.kernel.numpy().reshape(shape) for each in projections])
            biases[kind] = np.stack([each.bias.numpy() for each in projections])
            scales[kind] = np.stack([block.arounds[kind].norm.gamma.numpy() for block in blocks])
        return kernels, biases, None if self.network.config.norm_first else scales

    def _trace_slopes(self, source, inputs, shares, contrast):
        points = tf.shape(shares)[0]
        source, inputs = (tf.repeat(ids, points, axis=0) for ids in (source, inputs))
        embedding_scale = [shares[:, None] * tf.ones_like(ids, tf.float32) for ids in (source, inputs)]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(embedding_scale)
            memory, _ = self.network.encode(source, altered=Altered(embedding_scale=embedding_scale[0]))
            logits, _ = self.network.decode(
                inputs, memory, altered=Altered(embedding_scale=embedding_scale[1])
            )
            row, written, instead = tf.unstack(contrast)
            score = logits[:, row, written] - logits[:, row, instead]
        return score, *tape.gradient(score, embedding_scale)

    def _trace_zeroed(self, source, inputs):
        memory, _ = self.network.encode(source)
        _, found = self.network.decode(inputs, memory, taps=["decoder_residual"])
        stream = found["decoder_residual"]  # (1, 3L+1, T, D)
        length = tf.shape(inputs)[1]
        both = tf.shape(source)[1] + length
        gone = (1.0 - tf.eye(both))[:, None]  # (T + S, 1, T + S): first what was read, then the source
        altered = {
            "decoder_attention": AlteredAttention(values=gone[..., :length]),
            "cross_attention": AlteredAttention(values=gone[..., length:]),
        }
        scopes = decoder_scopes(length, tf.repeat(memory.states, both, axis=0), memory.mask)
        decoder, cross = [], []
        for layer, block in enumerate(self.network.decoder_blocks):
            before, plain = stream[:, 3 * layer], stream[:, 3 * layer + 3]
            varied = walk([block], tf.repeat(before, both, axis=0), scopes, Found(), altered=altered)
            distances = _distances(varied, plain)  # (T, T + S)
            decoder.append(distances[:, :length])
            cross.append(distances[:, length:])
        return tf.stack(decoder), tf.stack(cross)


def _distances(varied, plain):
    """(N, Q, D) variants of plain (1, Q, D) -> (Q, N) cosine distances."""
    unit = [tf.math.l2_normalize(x, axis=-1) for x in (varied, plain)]
    return tf.transpose(tf.maximum(1.0 - tf.reduce_sum(unit[0] * unit[1], axis=-1), 0.0))
