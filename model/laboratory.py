"""Passes under interventions, slopes, and what a pass holds inside: tensors in, NumPy arrays out.

B interventions (or sentences), L layers, H heads, S source and T target tokens, D d_model, V vocabulary.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from model.altered import AlteredHalves, AlteredReading
from model.attention import Altered, look_ahead_mask
from model.drafting import Produced, settle
from model.interventions import Intervention, check, every_head
from model.laboratory_data import Insides, Slopes, Zeroed
from model.passes import IDS, LateGraphs, Pass
from model.tokenizer import END_ID, START_ID, pad

_BATCH_OF_SLOPES = 16  # points of a path at a time: the tape keeps all of a pass


class Laboratory:
    """Asks a network what would be if. Safe to call from threads; it keeps no answer.

    Only the Transformer takes interventions: its ``encode`` and ``decode`` have ``altered`` and ``kept``.
    Raises ValueError for another architecture. ``space_id``: see ``drafting.settle``.
    """

    def __init__(self, network: keras.Model, space_id: int):
        if network.config.architecture != "transformer":
            raise ValueError(f"interventions need a transformer, received a {network.config.architecture}")
        self.network, self.space_id, self.config = network, space_id, network.config
        self._graphs = LateGraphs()
        self._halves = AlteredHalves(network, self._graphs)
        asked = [tf.TensorSpec([None]), tf.TensorSpec([3], tf.int32)]
        self._slopes = self._graphs.function(self._trace_slopes, [IDS, IDS, *asked])
        self._insides = self._graphs.function(self._trace_insides, [IDS, IDS])
        self._zeroed = self._graphs.function(self._trace_zeroed, [IDS, IDS])

    def warm_up(self) -> Iterator[None]:
        """Make the graphs that questions about one sentence need, one at each step, which takes seconds; else each is
        made once its sort of question has been asked some times."""
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
            self.look([source], [target], interventions)
            yield
        self.slopes(source, target, (0, 0, 1), [1.0])
        yield
        self.insides(source, target)
        yield
        self.zeroed(source, target)

    def look(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        """One teacher-forced pass over B rows, each a source, T produced ids and an intervention.

        Row t of the logits (B, T, V) is what the network says after ``targets[b][:t]``, so a target may be cut
        off behind the last row that is asked about. Attention holds the weights that were used; where a token
        was left out, its own row says nothing. Raises ValueError for an intervention the network does not have.
        """
        return self._read(sources, interventions).look(targets)

    def write(
        self,
        sources: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        forced: Sequence[Sequence[int]] = (),
    ) -> list[Produced | None]:
        """What the network writes under each intervention, the end mark last; None where no end came.

        ``forced``: for each row the ids it has to begin with. It is what greedy decoding writes step by step,
        found by ``drafting.settle``.
        """
        return settle(self._read(sources, interventions), sources, self.space_id, forced=forced)

    def _read(self, sources, interventions) -> AlteredReading:
        for source, each in {(len(s), id(e)): (s, e) for s, e in zip(sources, interventions)}.values():
            check(each, self.config, len(source))
        return AlteredReading(self._halves, self.config, sources, interventions)

    def slopes(
        self, source: Sequence[int], target: Sequence[int], question: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """How logit(written) - logit(instead) changes with the embedding of each token.

        All embeddings, before positions are added, are multiplied by one of ``shares`` (N,). The derivative by
        a token's factor is the sum over D of gradient times embedding. ``question``: row, written, instead.
        """
        ids = pad([source]), pad([[START_ID, *target[:-1]]])
        points = np.asarray(shares, np.float32)
        cuts = range(0, len(points), _BATCH_OF_SLOPES)
        found = [
            self._slopes(*ids, points[cut : cut + _BATCH_OF_SLOPES], np.asarray(question, np.int32))
            for cut in cuts
        ]
        return Slopes(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """What one plain pass holds: weights, values, the residual stream, and the output projections."""
        found = self._insides(pad([source]), pad([[START_ID, *target[:-1]]]))
        attention, values, entering = tf.nest.map_structure(lambda array: array.numpy()[0], found)
        return Insides(attention, values, entering, *self._output_projections)

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """How each decoder layer's output turns without the values of each position, as cosine distance.

        Only that layer is changed; it gets what the plain pass gives it. Source: Mohebbi, Zuidema, Chrupała
        & Alishahi (EACL 2023), section 3.
        """
        found = self._zeroed(pad([source]), pad([[START_ID, *target[:-1]]]))
        return Zeroed(*(np.asarray(part) for part in found))

    @cached_property
    def _output_projections(self) -> tuple[dict, dict, dict | None]:
        """``output_kernels``, ``output_biases`` and ``norm_scales`` of ``Insides``."""
        reading, writing = self.network.encoder_blocks, self.network.decoder_blocks
        blocks = {
            "encoder_attention": [(block.attention, block.around_attention) for block in reading],
            "decoder_attention": [(block.self_attention, block.around_self) for block in writing],
            "cross_attention": [(block.cross_attention, block.around_cross) for block in writing],
        }
        shape = (self.config.num_heads, -1, self.config.d_model)  # (D, D) -> (H, D/H, D)
        kernels, biases, scales = {}, {}, {}
        for kind, found in blocks.items():
            projections = [attention.output_projection for attention, _ in found]
            kernels[kind] = np.stack([each.kernel.numpy().reshape(shape) for each in projections])
            biases[kind] = np.stack([each.bias.numpy() for each in projections])
            scales[kind] = np.stack([around.norm.gamma.numpy() for _, around in found])
        return kernels, biases, None if self.config.norm_first else scales

    def _trace_slopes(self, source, inputs, shares, question):
        points = tf.shape(shares)[0]
        source, inputs = (tf.repeat(ids, points, axis=0) for ids in (source, inputs))
        kept = [shares[:, None] * tf.ones_like(ids, tf.float32) for ids in (source, inputs)]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(kept)
            memory, _ = self.network.encode(source, kept=kept[0])
            logits, _ = self.network.decode(inputs, memory, kept=kept[1])
            row, written, instead = tf.unstack(question)
            score = logits[:, row, written] - logits[:, row, instead]
        return score, *tape.gradient(score, kept)

    def _trace_insides(self, source, inputs):
        entering: dict[str, list] = {kind: [] for kind in self.config.attention_kinds}
        memory, read = self.network.encode(source)
        x = self.network._embed(source, training=False)
        for block in self.network.encoder_blocks:
            entering["encoder_attention"].append(x)
            x, _ = block(x, memory.mask)
        mask = look_ahead_mask(ops.shape(inputs)[1])
        x = self.network._embed(inputs, training=False)
        for block in self.network.decoder_blocks:
            entering["decoder_attention"].append(x)
            entering["cross_attention"].append(block.before_cross(x, mask))
            x, *_ = block(x, memory.states, mask, memory.mask)
        _, written = self.network.decode(inputs, memory)
        values = {kind: found[2] for kind, found in self.network.projections(source, inputs).items()}
        stacked = {kind: ops.stack(layers, axis=1) for kind, layers in entering.items()}
        return {**read, **written}, values, stacked

    def _trace_zeroed(self, source, inputs):
        memory, _ = self.network.encode(source)
        decoder, cross = [], []
        mask = look_ahead_mask(ops.shape(inputs)[1])
        x = self.network._embed(inputs, training=False)
        length = tf.shape(inputs)[1]
        for block in self.network.decoder_blocks:
            plain, *_ = block(x, memory.states, mask, memory.mask)
            both = tf.shape(source)[1] + length
            gone = 1.0 - tf.eye(both)  # (T + S, T + S): first what was read, then the source
            altered = Altered(values=gone[:, :length]), Altered(values=gone[:, length:])
            states = tf.repeat(memory.states, both, axis=0)
            varied, *_ = block(tf.repeat(x, both, axis=0), states, mask, memory.mask, altered=altered)
            distances = _distances(varied, plain)  # (T, T + S)
            decoder.append(distances[:, :length])
            cross.append(distances[:, length:])
            x = plain
        return ops.stack(decoder), ops.stack(cross)


def _distances(varied, plain):
    """(N, Q, D) variants of plain (1, Q, D) -> (Q, N) cosine distances."""
    unit = [tf.math.l2_normalize(x, axis=-1) for x in (varied, plain)]
    return tf.transpose(tf.maximum(1.0 - tf.reduce_sum(unit[0] * unit[1], axis=-1), 0.0))
