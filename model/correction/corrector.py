"""``Corrector``: a loaded model that corrects texts and returns the attention of its passes.

A model folder holds a graph, which answers without TensorFlow, or the weights of a Keras network.
``GrowingNetwork`` corrects one sentence by each snapshot of a training.

Shapes: B interventions, Q query and K key positions, V vocabulary.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np

from model.activations.drafting import Pass, Produced, log_softmax, read_off
from model.activations.sublayers import positional_encoding
from model.activations.token_network import OpenedNetwork, Passes, TokenNetwork
from model.activations.walk import ActivationWalk
from model.correction.candidates import Answer, Stretch
from model.correction.confidence import Confidence, load_confidence
from model.correction.correction import Correction, SentenceCorrection
from model.correction.mending import Mending, Proposed
from model.correction.proposing import agreeing
from model.graph.files import can_answer
from model.stored.folder import (
    DEFAULT_MODEL,
    assign_weights,
    find_model_folder,
    model_name,
    read_description,
    snapshot_steps,
    weights_path,
)
from model.text.changes import Change, find_changes
from model.text.passages import Passage
from model.text.protected import kept_spans, own_words, verbatim_spans
from model.text.tokenizer import END, START, Span, Tokenizer, clipped, normalise, split_sentences, visible
from model.trace.interventions import (
    Contrast,
    Head,
    Intervention,
    LogitDifferences,
    OutputWeights,
    Projections,
)
from model.trace.trace import AttentionTrace, Grown


def _load_network(
    folder: Path, snapshot: int | None = None, beam_width: int = 1
) -> tuple[OpenedNetwork, Tokenizer, str]:
    """(network, tokenizer, fingerprint) of a folder.

    The network answers from the folder's graph if that can answer and ``beam_width`` is 1; else it is a
    keras.Model. Raises ModelFolderError with the reason, and ModuleNotFoundError if a library that it needs
    is not installed.
    """

    def in_keras() -> tuple[OpenedNetwork, Tokenizer, str]:
        if find_spec("keras") is None:
            raise ModuleNotFoundError(
                "this network is answered by its graph and ONNX Runtime, or by Keras; `pip install "
                "'.[app]'` brings both",
                name="keras",
            )
        from model.network.networks import load_model_folder

        return load_model_folder(folder, snapshot)

    if beam_width != 1 or not can_answer(folder):
        return in_keras()
    from model.graph.network import load_graph

    return load_graph(folder, snapshot, lambda: _in_keras(*in_keras()[:2]).keras)


def _in_keras(network: OpenedNetwork, tokenizer: Tokenizer, beam_width: int = 1) -> TokenNetwork:
    from model.network.keras_network import KerasNetwork  # loads TensorFlow

    return KerasNetwork(network, tokenizer.encode_target(" ")[0], beam_width)


class Intervening:
    """Logit differences, texts and attention under interventions: the methods of ``answers.Intervenes``.

    Its methods raise ValueError for a network that takes no interventions, for an intervention that it does
    not have, and for a source that is longer than it can read.
    """

    tokenizer: Tokenizer

    @property
    def laboratory(self) -> Passes:
        raise NotImplementedError

    def changes(self, source: str, target: str) -> tuple[Change, ...]:
        return find_changes(source, target)

    def contrast(self, source: str, target: str, other: str) -> Contrast | None:
        both = self.tokenizer.encode_target(target), self.tokenizer.encode_target(other)
        for row, (written, instead) in enumerate(zip(*both, strict=False)):
            if written != instead:
                labels = self.tokenizer.labels([written, instead])
                return Contrast(row, written, instead, labels[0], labels[1], other)
        return None

    def logit_differences(
        self, source: str, target: str, contrast: Contrast, interventions: Sequence[Intervention]
    ) -> LogitDifferences:
        """The logit difference under each intervention, from one batch of teacher-forced passes."""
        # Later rows have no influence on the row of the contrast.
        ids = self.tokenizer.encode_target(target)[: contrast.row + 1]
        looked = self._pass(source, ids, interventions)
        logs = log_softmax(looked.logits[:, contrast.row].astype(np.float64))  # (B, V)
        written, instead = logs[:, contrast.written], logs[:, contrast.instead]
        return LogitDifferences(written.astype(np.float32), instead.astype(np.float32))

    def written_under(self, source: str, interventions: Sequence[Intervention]) -> list[str | None]:
        """The network's own text: changes that ``correct`` would leave undone because they are unsure or
        touch a protected character are in it.
        """
        if not interventions:
            return []
        ids = self.tokenizer.encode_source(source)
        produced = self.laboratory.write([ids] * len(interventions), interventions)
        return [one and self.tokenizer.decode(one.ids, source) for one in produced]

    def attention_under(
        self, source: str, target: str, head: Head, interventions: Sequence[Intervention]
    ) -> np.ndarray:
        looked = self._pass(source, self.tokenizer.encode_target(target), interventions)
        return looked.attention[head.kind][:, head.layer, head.head]

    def _pass(self, source: str, ids: list[int], interventions: Sequence[Intervention]) -> Pass:
        count = len(interventions)
        return self.laboratory.pass_over(
            [self.tokenizer.encode_source(source)] * count, [ids] * count, interventions
        )


KEPT_CHARACTERS = 2_000  # in one call; the passes over more text are not kept


class Corrector(Mending, Intervening):
    """A loaded model. ``Corrector.load()`` opens the shipped one.

    ``Mending`` turns a sentence into its correction, ``Intervening`` runs passes under interventions.

    >>> corrector.correct("밥을 머거요.").text  # corrector = Corrector.load()
    '밥을 먹어요.'
    >>> trace = corrector.trace("머거요", "먹어요")
    >>> trace.cross_attention.shape  # (L, H, T, S), both with an end mark
    (4, 4, 4, 4)
    """

    def __init__(
        self,
        name: str,
        network: OpenedNetwork,
        tokenizer: Tokenizer,
        fingerprint: str,
        minimum_confidence: float | None = None,
        beam_width: int = 1,
        confidence: Confidence | None = None,
        folder: Path | None = None,
        words: Iterable[str] = (),
    ):
        self.name, self.fingerprint, self.folder = name, fingerprint, folder
        self.config = network.config
        if minimum_confidence is not None:
            self.config = replace(self.config, minimum_confidence=minimum_confidence)
        self.tokenizer, self.confidence, self.words = tokenizer, confidence, own_words(words)
        self.num_parameters: int = network.count_params()
        if not isinstance(network, TokenNetwork):  # a keras.Model
            network = _in_keras(network, tokenizer, beam_width)
        self._network = network

    @property
    def minimum_confidence(self) -> float:
        """Changes whose confidence is below it are left undone."""
        return self.config.minimum_confidence

    @classmethod
    def load(
        cls,
        model: str | Path = DEFAULT_MODEL,
        minimum_confidence: float | None = None,
        snapshot: int | None = None,
        beam_width: int = 1,
        words: Iterable[str] = (),
    ) -> Self:
        """Open a model by the name of its folder in ``assets/``, or by the path of any such folder or of
        the training run that holds it.

        ``minimum_confidence``: changes whose confidence is below it are left undone; None takes the
        value chosen for this model. Higher is more cautious: fewer, surer changes. ``snapshot``: the
        weights after that many training steps, where the folder keeps them (``snapshot_steps``).
        ``beam_width``: 1 writes the most probable token at each place; more keep that many beginnings of each
        sentence and are many times as slow (``decoding.beam_search``). ``words``: as of ``with_words``.

        A folder with a graph answers from it within a second (``model/graph/``), and loads Keras for a
        question that needs it. With the variable ATTENTION_BACKEND=keras, or more beams than one, Keras
        answers everything.

        Raises ValueError for a beam width that is not a whole number of 1 or more, ModelFolderError if the
        folder is missing, damaged or holds something else.
        """
        folder = find_model_folder(model)
        with ThreadPoolExecutor(1) as beside:  # confidence and network take a quarter of a second each
            # The confidence was fitted to the last weights. An earlier snapshot has other probabilities, so
            # its own are used.
            loading = beside.submit(load_confidence, folder) if snapshot is None else None
            network, tokenizer, fingerprint = _load_network(folder, snapshot, beam_width)
            confidence = None if loading is None else loading.result()
        return cls(
            model_name(folder),
            network,
            tokenizer,
            fingerprint,
            minimum_confidence,
            beam_width,
            confidence,
            folder,
            words,
        )

    def with_words(self, words: Iterable[str]) -> "Corrector":
        """The same model, which leaves a person's words alone, also with particles behind them.

        ``*`` in a word is any letters. Raises ValueError for words that ``protected.own_words`` refuses.

        >>> corrector.with_words(["머거*"]).correct("밥을 머거요").text
        '밥을 머거요'
        """
        other = copy(self)
        other.words = own_words(words)
        return other

    def correct(self, text: str) -> Correction:
        """Correct one text of any length, sentence by sentence."""
        return self.correct_batch([text])[0]

    def correct_batch(self, texts: Sequence[str]) -> list[Correction]:
        """Correct many texts at once; the result has their order.

        Raises TypeError for a single text.
        """
        sources, spans, sentences = self._cut(texts)
        # The passes over a long text would fill the memory. Its traces are computed on demand.
        keep_passes = sum(len(each.text) for each in sentences) <= KEPT_CHARACTERS
        answers = iter(self.propose(sentences, keep_passes))
        return [
            self._correction(source, cuts, [next(answers) for _ in cuts])
            for source, cuts in zip(sources, spans, strict=True)
        ]

    def stretches(self, texts: Sequence[str]) -> list[list[tuple[int, str, tuple[Stretch, ...]]]]:
        """The stretches with alternatives, by the parts of each text that the network read, mostly sentences.

        Returns:
            for each text a list of (start of a part, the part, its stretches).

        Raises TypeError for a single text.
        """
        _, spans, sentences = self._cut(texts)
        each = iter(self._network.spread(self._all_answers, sentences))
        return [
            [
                (start + answer.part.start, answer.source, self._stretches(answer))
                for start, _ in cuts
                for answer in next(each)
            ]
            for cuts in spans
        ]

    def _all_answers(self, sentences: list[Passage]) -> list[list[Answer]]:
        found: list[list[Answer]] = [[]] * len(sentences)
        for batch in self._answers(sentences):
            for i, answers in batch.items():
                found[i] = answers
        return found

    def _cut(self, texts: Sequence[str]) -> tuple[list[str], list[list[Span]], list[Passage]]:
        """The texts in NFC, the spans of the sentences of each, and all sentences in one list."""
        if isinstance(texts, str):  # a str is a sequence, too: each of its characters would be a text
            raise TypeError("texts should be a list of texts, received one str")
        sources = [normalise(text) for text in texts]
        spans = [split_sentences(source, self.config.max_length) for source in sources]
        sentences = []
        for source, cuts in zip(sources, spans, strict=True):
            copied = verbatim_spans(source), kept_spans(source, self.words)
            sentences += [Passage.of(source[a:b], *(clipped(each, a, b) for each in copied)) for a, b in cuts]
        return sources, spans, sentences

    def _correction(self, source: str, spans: list[Span], answers: list[Proposed]) -> Correction:
        changes = agreeing(source, spans, [proposed for proposed, _ in answers])
        sentences = (
            self._sentence(start, source[start:end], mine, produced)
            for (start, end), mine, (_, produced) in zip(spans, changes, answers, strict=True)
        )
        return Correction(source, tuple(sentences))

    def _sentence(
        self, start: int, source: str, proposed: tuple[Change, ...], produced: Produced | None
    ) -> SentenceCorrection:
        too_long = len(source) > self.config.max_length
        find_trace = partial(self._trace, produced)
        return SentenceCorrection(start, source, proposed, self.minimum_confidence, too_long, find_trace)

    def warm_up(self) -> None:
        """Get the network ready, so that the first question is answered as fast as later ones."""
        self._network.warm_up()

    def warm_up_doubts(self) -> None:
        """Load the morpheme analyser, which rates doubtful changes.

        It takes a second and 230 MB.
        """
        if self.confidence is not None:
            self.confidence.warm_up()

    def trace(self, source: str, target: str) -> AttentionTrace:
        """The attention of one pass that turns a sentence into ``target``.

        Raises ValueError for a source that is longer than the network can read.
        """
        return self._trace(None, source, target)

    def _trace(self, produced: Produced | None, source: str, target: str) -> AttentionTrace:
        """The trace from the pass ``produced`` where it wrote just this target; else from a further pass."""
        source_ids, target_ids = self._encode(source, target)
        if produced is not None and produced.ids == target_ids:
            found = read_off(produced)
        else:
            found = self._network.attend(source_ids, target_ids)
        fields: dict[str, Any] = dict(found)
        fields["alternatives"] = tuple(map(self.tokenizer.labels, fields.pop("alternative_ids").tolist()))
        if self.config.has_positions:
            matrix = positional_encoding(max(len(source_ids), len(target_ids)), self.config.d_model)
            fields["source_positional_encoding"] = matrix[: len(source_ids)]
            fields["target_positional_encoding"] = matrix[: len(target_ids)]
        return AttentionTrace(
            source_tokens=(*visible(source), END),
            target_tokens=(*visible(target), END),
            decoder_input_tokens=(START, *visible(target)),
            **fields,
        )

    def projections(self, source: str, target: str, padding: int = 0) -> dict[str, Projections]:
        """Of each kind of attention the queries, keys and values that its weights in ``trace`` are
        computed from; with ``padding`` for both sides that many padding tokens longer.

        Raises ValueError for a source that is longer than the network can read and for a negative
        ``padding``.
        """
        if padding < 0:
            raise ValueError(f"padding should be 0 or more, received {padding!r}")
        return self._network.project(*self._encode(source, target), padding)

    def taps(
        self, source: str, target: str, names: Iterable[str], intervention: Intervention | None = None
    ) -> dict[str, np.ndarray]:
        """The activations of the pass of ``trace`` by these names, with ``intervention`` applied, as float32
        arrays.

        ``model.trace.interventions`` defines them and lists their shapes, of which B is left out here;
        ``config.taps`` are those that this network has. With ``config.norm_first`` the decoder's residual
        stream is the sum of all that is added to it::

            found = corrector.taps("머거요", "먹어요", ["decoder_residual", "decoder_output"])
            stream, added = found["decoder_residual"], found["decoder_output"]  # (3L+1, T, D), (3L, T, D)
            np.allclose(stream[0] + added.sum(axis=0), stream[-1], atol=1e-4)  # True

        Raises ValueError for names that the network does not have, for a source that is longer than it can
        read, and for an ``intervention`` that it does not take.
        """
        return self._network.taps(*self._encode(source, target), names, intervention)

    def embeddings(self, text: str) -> np.ndarray:
        """(S, D) float32, a row for each character and the end mark: the token embeddings before they are
        multiplied by sqrt(D) and before positions are added."""
        return self._network.embeddings(self.tokenizer.encode_source(text))

    def output_weights(self) -> OutputWeights:
        """The unembedding: with ``taps`` it gives the direct logit attribution of each part of a pass.

        Raises ValueError for a network without a residual stream.
        """
        return self.patched.output_weights

    @property
    def patched(self) -> ActivationWalk:
        """Passes over ids in which values of heads, sub-layers or the residual stream are replaced.

        Raises ValueError for a network without a residual stream.
        """
        return self._network.patched

    @property
    def laboratory(self) -> Passes:
        """Passes over ids under interventions; ``Passes`` lists them.

        Raises ValueError for a network that takes no interventions.
        """
        return self._network.laboratory

    def weight_sizes(self) -> dict[str, int]:
        """How many parameters each of the network's arrays has, by its path, such as
        ``transformer/encoder_1/self_attention/query/kernel``."""
        return self._network.weight_sizes()

    def _encode(self, source: str, target: str) -> tuple[list[int], list[int]]:
        if len(source) > self.config.max_length:
            raise ValueError(
                f"a sentence may have {self.config.max_length} characters, received {len(source)}"
            )
        return self.tokenizer.encode_source(source), self.tokenizer.encode_target(target)


class GrowingNetwork:
    """The snapshots of a model folder. Safe to call from threads.

    Raises ModelFolderError where the folder is damaged or keeps no snapshot.
    """

    def __init__(self, folder: Path):
        self.steps = snapshot_steps(folder)
        weights_path(folder, self.steps[0] if self.steps else 0)  # raises ModelFolderError without snapshots
        self._snapshots: Iterable[tuple[int, Corrector]] = (
            _graphs(folder, self.steps) if can_answer(folder) else _OneNetwork(folder, self.steps)
        )
        self._one_at_a_time = Lock()

    def answers(self, text: str) -> tuple[Grown, ...]:
        """The first sentence of ``text`` as each snapshot corrects it, by training steps, fewest first.

        Empty if the text has no sentence, or its first one is too long.
        """
        with self._one_at_a_time:
            found = [_answer(step, corrector, text) for step, corrector in self._snapshots]
        return tuple(each for each in found if each)


def _answer(step: int, corrector: Corrector, text: str) -> Grown | None:
    sentences: Sequence = corrector.correct(text).sentences
    if not sentences or sentences[0].too_long:
        return None
    sentence = sentences[0]
    return Grown(step, sentence.source, sentence.text, sentence.trace)


def _graphs(folder: Path, steps: Iterable[int]) -> list[tuple[int, Corrector]]:
    """All snapshots, each opened with the graph that they share.

    Most of that time is spent outside of Python, so threads share the work.
    """

    def opened(step: int) -> tuple[int, Corrector]:
        return step, Corrector.load(folder, minimum_confidence=0.0, snapshot=step)

    # Read before the threads start: two that need it at once would each make their own.
    _, tokenizer = read_description(folder)
    tokenizer.features()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(opened, steps))


class _OneNetwork:
    """One Keras network that takes the weights of one snapshot after the other: its graph is made once, not
    for each of them.
    """

    def __init__(self, folder: Path, steps: Iterable[int]):
        from model.network.networks import load_model_folder

        self._paths = {step: weights_path(folder, step) for step in steps}
        self._network, tokenizer, found = load_model_folder(folder, min(self._paths))
        self._corrector = Corrector(folder.name, self._network, tokenizer, found, minimum_confidence=0.0)

    def __iter__(self) -> Iterator[tuple[int, Corrector]]:
        for step, path in self._paths.items():
            assign_weights(self._network, path)
            yield step, self._corrector


def growing_network(folder: Path) -> GrowingNetwork:
    """The network of a folder, kept for the next question as long as the folder's snapshots stay the same
    files.
    """
    paths = [weights_path(folder, step) for step in snapshot_steps(folder)]
    return _kept_network(folder, tuple((path.name, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=1)
def _kept_network(folder: Path, snapshots: tuple[tuple[str, int], ...]) -> GrowingNetwork:
    """The network of a folder, cached by ``snapshots``: the names and times of its files.

    They are part of the cache key alone, so that a network is loaded again when its files change.
    """
    return GrowingNetwork(folder)
