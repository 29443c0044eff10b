"""The edge between tensors and NumPy: a loaded network that corrects and shows its attention.

Inside the network there are TensorFlow's tensors; everything that ``CompiledNetwork`` returns is a NumPy array.

S source, T target, L layers, H heads, V vocabulary.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial

import keras
import numpy as np
import tensorflow as tf

from model.activations.drafting import Produced, longest_target, read_off, settle
from model.activations.laboratory import projected
from model.activations.replacements import checked_taps
from model.activations.sublayers import output_weights
from model.activations.token_network import Handed, Returned
from model.activations.walk import PatchedTransformer
from model.network.decoding import beam_search, greedy
from model.network.laboratory import Laboratory
from model.network.passes import IDS, Halves, KerasReading, LateGraphs, compile_halves
from model.text.tokenizer import END_ID, START_ID, pad
from model.trace.interventions import Intervention, OutputWeights, Projections

FEW = 4  # sentences that are quicker one by one than padded together


class CompiledNetwork:
    """Corrects sentences given as ids (``produce``); hands out the attention of a pass (``attend``) and the queries, keys and values
    behind it (``project``). Safe to call from threads.

    Any network will do that has, as the Transformer and the recurrent network do,

    * ``encode(source_ids)`` -> a memory and a dictionary of attention,
    * ``decode(decoder_input_ids, memory)`` -> logits (B, T, V) and such a dictionary,
    * ``start(source_ids, positions)`` -> the step and the cache of ``decoding.greedy``, and an ``embedding`` of ids.

    The dictionaries hold attention (B, L, H, Q, K) under its name in ATTENTION_KINDS, or the arrays that ``taps`` asks for.
    ``space_id``: see ``drafting.settle``. With ``beam_width`` 1 the search is greedy. More is ``decoding.beam_search``, which is many
    times as slow and, with few exceptions, finds sentences that are at least as probable. Raises ValueError for a beam width that is
    not a whole number of 1 or more.
    """

    def __init__(self, network: keras.Model, space_id: int, beam_width: int = 1):
        if not isinstance(beam_width, int) or beam_width < 1:
            raise ValueError(f"the beam width should be a whole number of 1 or more, received {beam_width!r}")
        self.network, self.space_id, self.beam_width = network, space_id, beam_width
        network.embedding.freeze()
        self._search = tf.function(self._search_greedily, input_signature=[IDS], autograph=False)
        self._search_widely = tf.function(self._search_beams, input_signature=[IDS], autograph=False)
        self._tapped: dict[tuple[str, ...], Callable] = {}  # a graph for each set of taps
        self._late = LateGraphs()  # makes these graphs; the first calls of each are computed without one

    def warm_up(self) -> None:
        """Make the graph of a pass, so that no question waits for it."""
        self._pass([[END_ID]], [[END_ID]])

    def spread(self, answer: Callable[[list[Handed]], list[Returned]], items: list[Handed]) -> list[Returned]:
        """``answer(items)``: a compiled pass over many sentences keeps all cores busy."""
        return answer(items)

    def produce(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        """For each sentence's ids the most probable token at each place, the end mark last. With more than one beam, the most probable
        sequence that was found. None if no end mark came within ``longest_target``: a sentence without its end is no answer."""
        if self.beam_width > 1:
            return self._follow_beams(sources)
        if len(sources) > FEW:
            return self._settle(sources)
        return [self._settle([source])[0] for source in sources]

    def step_by_step(self, sources: Sequence[Sequence[int]]) -> list[list[int] | None]:
        """The ids of ``produce``, decoded one token after the other."""
        return _ended(self._search(pad(sources)).numpy().tolist(), sources)

    def read(self, sources: Sequence[Sequence[int]], targets: Sequence[list[int]]) -> list[Produced]:
        """A teacher-forced pass over each source and the ids that stand for its correction, the end mark last."""
        if len(sources) > FEW:
            return self._pass(sources, targets)
        return [self._pass([source], [target])[0] for source, target in zip(sources, targets, strict=True)]

    def attend(self, source: Sequence[int], target: Sequence[int]) -> dict[str, np.ndarray]:
        """One teacher-forced pass over one sentence: what step-by-step decoding saw, at once.

        ``target`` are T produced ids, the end mark last. Returns what ``drafting.read_off`` describes.
        """
        return read_off(self._pass([source], [list(target)])[0])

    def project(
        self, source: Sequence[int], target: Sequence[int], padding: int = 0
    ) -> dict[str, Projections]:
        """By kind of attention, the queries, keys and values of the pass of ``attend``.

        With ``padding`` both sides are that many padding tokens longer, as in a batch with longer sentences.
        """
        return projected(partial(self.taps, padding=padding), self.network.config, source, target)

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
        padding: int = 0,
    ) -> dict[str, np.ndarray]:
        """The arrays ``names`` of a pass over one sentence; ``model.trace.interventions`` has their shapes, here without B. ``padding``: as for
        ``project``; it is ignored with an intervention.

        Raises ValueError for names that the network does not have, and for an ``intervention`` that it does not take.
        """
        if intervention is not None:
            return self.laboratory.taps(source, target, names, intervention)
        names = checked_taps(names, self.network.config)
        if names not in self._tapped:
            self._tapped[names] = self._tap(names)
        ids = (pad([row], len(row) + padding) for row in (source, [START_ID, *target[:-1]]))
        found = self._tapped[names](*ids)
        return {name: found[name][0].numpy() for name in names}

    def _tap(self, names: tuple[str, ...]) -> Callable:
        def run(source, inputs):
            memory, read = self.network.encode(source, taps=names)
            _, written = self.network.decode(inputs, memory, taps=names)
            return {**read, **written}

        return self._late.function(run, [IDS, IDS])

    def embeddings(self, ids: Sequence[int]) -> np.ndarray:
        """(S, D) float32 of S ids: the vectors before they are multiplied by sqrt(D)."""
        scaled = self.network.embedding(np.array([ids], np.int32)).numpy()[0]
        return scaled / math.sqrt(scaled.shape[-1])

    def weight_sizes(self) -> dict[str, int]:
        """How many parameters each of the network's arrays has, by its path."""
        return {w.path: math.prod(w.shape) for w in self.network.weights}

    @cached_property
    def output_weights(self) -> OutputWeights:
        """The weights by which each part of the decoder adds to the logits. Raises ValueError for a network without a residual stream."""
        config = self.network.config
        if config.architecture != "transformer":
            raise ValueError(f"a residual stream needs a transformer, received a {config.architecture}")
        weights = {each.path.partition("/")[2]: each.numpy() for each in self.network.weights}
        return output_weights(config, self.network.embedding.features, weights)

    @cached_property
    def patched(self) -> PatchedTransformer:
        """Passes with patches. Raises ValueError for a network without a residual stream."""
        arrays = {each.path.partition("/")[2]: each.numpy() for each in self.network.weights}
        return PatchedTransformer(self.network.config, self.network.embedding.features, arrays)

    @cached_property
    def _halves(self) -> Halves:
        return compile_halves(self.network)

    @cached_property
    def laboratory(self) -> Laboratory:
        """Passes under interventions. Raises ValueError for a network that takes none."""
        return Laboratory(self.network, self.space_id, self._late)

    def _settle(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        def finish(sources, _beginnings):
            return self.step_by_step(sources)

        return settle(KerasReading(self._halves, sources), sources, self.space_id, finish)

    def _follow_beams(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        targets = _ended(self._search_widely(pad(sources)).numpy().tolist(), sources)
        ended = [(source, target) for source, target in zip(sources, targets, strict=True) if target]
        produced = iter(self._pass(*zip(*ended, strict=True)) if ended else ())
        return [next(produced) if target else None for target in targets]

    def _pass(self, sources: Sequence[Sequence[int]], targets: Sequence[list[int]]) -> list[Produced]:
        looked = KerasReading(self._halves, sources).pass_over(targets)
        return [looked.row(i, *each) for i, each in enumerate(zip(sources, targets, strict=True))]

    def _search_greedily(self, source):
        positions = longest_target(tf.shape(source)[1])
        step, cache = self.network.start(source, positions)
        return greedy(step, cache, tf.shape(source)[0], positions)

    def _search_beams(self, source):
        positions = longest_target(tf.shape(source)[1])
        step, cache = self.network.start(tf.repeat(source, self.beam_width, axis=0), positions)
        tokens, _ = beam_search(step, cache, tf.shape(source)[0], positions, self.beam_width)
        return tokens


def _ended(rows: list[list[int]], sources: Sequence[Sequence[int]]) -> list[list[int] | None]:
    """Each row up to its end mark; None where that does not come within the sentence's own limit."""
    # A longer neighbour in the batch must not give a sentence more room than it has alone.
    rows = [row[: longest_target(len(source))] for row, source in zip(rows, sources, strict=True)]
    return [row[: row.index(END_ID) + 1] if END_ID in row else None for row in rows]
