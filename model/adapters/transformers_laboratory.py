"""The laboratory for an encoder-decoder of the library transformers: heads off, weights replaced, tokens left out, gradients.

A pass replaces functions of PyTorch and of that library, which the whole process shares (``transformers_pass``), so passes wait for each
other.

B interventions (or rows), L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.activations.drafting import Pass, longest_target
from model.adapters.altering import altering, embedding_factors
from model.adapters.decoder_laboratory import laboratory_of_decoder, longest_of
from model.adapters.own_network import AttentionSizes, OwnNetwork, WithoutTaps, check_one_length, without_nan
from model.adapters.own_stream import OwnStream, checked
from model.adapters.transformers import showing_attention, trace_of_pass
from model.adapters.transformers_insides import distances, has_insides, insides_of, layers_of
from model.adapters.transformers_pass import PASSES_LOCK, TorchPass, TorchTensors, to_array
from model.adapters.transformers_stream import stream_of
from model.adapters.transformers_texts import TransformersTexts
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING, STREAM
from model.trace.interventions import Intervention, ZeroedValue
from model.trace.laboratory_data import Insides, Slopes, Zeroed
from model.trace.trace import AttentionTrace

_BATCH = 32  # rows at a time
_PROBE = 3, 2  # S and T of the pass that shows which module is which kind of attention


def laboratory_of_transformers(model: Any, tokenizer: Any) -> OwnNetwork:
    """The laboratory of a model. Raises ValueError for one that writes nothing, such as BERT."""
    if not model.can_generate():
        raise ValueError(
            f"the model should write, as encoder-decoders and decoders alone do, received {type(model).__name__}"
        )
    if not getattr(model.config, "is_encoder_decoder", False):
        return laboratory_of_decoder(model, tokenizer)
    passes = TransformersPasses(model, tokenizer)
    abilities = [INTERVENTIONS, GRADIENTS]
    if has_insides(model, passes.modules):
        abilities.append(MIXING)
    texts, name = TransformersTexts(tokenizer), type(model).__name__
    try:
        stream = _stream(model, passes)
    except ValueError as reason:  # it is built otherwise, and still has all that needs no stream
        return OwnNetwork(name, texts, passes, abilities, why=reason)
    return OwnNetwork(name, texts, passes, [*abilities, STREAM], stream)


def _stream(model: Any, passes: "TransformersPasses") -> OwnStream:
    """The residual stream. Raises ValueError for a model that is not built like BART or T5."""
    source, target = ([passes.end] * length for length in _PROBE)
    logits = passes.pass_over([source], [target], [Intervention()]).logits[0]
    return checked(stream_of(model, passes.start), source, target, logits)


class TransformersPasses(WithoutTaps):
    """Passes over ids; see ``own_network.OwnPasses``."""

    def __init__(self, model: Any, tokenizer: Any):
        self.model, self.tokenizer = model, tokenizer
        config = getattr(model, "generation_config", model.config)
        start = getattr(config, "decoder_start_token_id", None)
        self.start = int(model.config.decoder_start_token_id if start is None else start)
        self.end = int(tokenizer.eos_token_id)
        self._never = [each[0] for each in getattr(config, "bad_words_ids", None) or () if len(each) == 1]
        self.modules: dict[str, list[Any]] = {}  # the attention modules of each kind, layer by layer
        source, read = ([self.end] * length for length in _PROBE)
        looked = self._pass([source], [read], [Intervention()])
        self.sizes: dict[str, AttentionSizes] = {
            kind: AttentionSizes(
                len(layers), layers[0].shape[1], layers[0].shape[1] * looked.calls[kind][0][2].shape[-1]
            )
            for kind, layers in looked.attention.items()
        }

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        """One teacher-forced pass over B rows, each a source, T produced ids and an intervention; sources have one length, and
        targets have one. Raises ValueError for others, and for an intervention that the network does not have."""
        check_one_length(sources, targets)
        found = []
        for first in range(0, len(sources), _BATCH):
            cut = slice(first, first + _BATCH)
            read = [[self.start, *ids[:-1]] for ids in targets[cut]]
            found.append(self._pass(sources[cut], read, interventions[cut]))
        attention = {
            kind: np.concatenate([np.stack([to_array(w) for w in one.attention[kind]], 1) for one in found])
            for kind in self.sizes
        }
        return Pass(without_nan(np.concatenate([to_array(one.logits) for one in found])), attention)

    def _next(self, source: Sequence[int], ids: Sequence[int], intervention: Intervention) -> int:
        logits = to_array(self._pass([source], [[self.start, *ids]], [intervention]).logits)[0, -1]
        logits[self._never] = -np.inf
        return int(logits.argmax())

    def _most(self, source: int) -> int:
        return longest_of(self.model, 1, longest_target(source))

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """As ``Laboratory.slopes`` says: the derivatives of logit(written) - logit(instead)."""
        import torch

        row, written, instead = contrast
        read, found = [self.start, *target[:-1]], []
        for first in range(0, len(shares), _BATCH):
            some = torch.tensor(list(shares[first : first + _BATCH]), device=self.model.device)[:, None]
            factors = [some.repeat(1, len(ids)).requires_grad_() for ids in (source, read)]
            rows = len(some)
            with torch.enable_grad():
                logits = self._pass(
                    [source] * rows, [read] * rows, [Intervention()] * rows, factors=factors
                ).logits
                score = logits[:, row, written] - logits[:, row, instead]
                slopes = torch.autograd.grad(score.sum(), factors)
            found.append([to_array(each) for each in (score, *slopes)])
        return Slopes(*(without_nan(np.concatenate(part)) for part in zip(*found, strict=True)))

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """What one plain pass holds. Raises ValueError for a network whose layers are not known by their names."""
        read = [self.start, *target[:-1]]
        return insides_of(self.model, self.modules, lambda: self._pass([source], [read], [Intervention()]))

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """As ``Laboratory.zeroed`` says. Layers below the one without a value compute what they always do."""
        read = [self.start, *target[:-1]]
        layers = layers_of(self.model, self.modules["decoder_attention"])
        sides: dict[str, list[np.ndarray]] = {"decoder_attention": [], "cross_attention": []}
        for number, layer in enumerate(layers):
            for kind, rows in sides.items():
                count = len(read) if kind == "decoder_attention" else len(source)
                gone = [Intervention(zeroed=frozenset([ZeroedValue(kind, number, n)])) for n in range(count)]
                rows.append(distances(layer, lambda some: self._rows(source, read, some), gone, _BATCH))
        return Zeroed(np.stack(sides["decoder_attention"]), np.stack(sides["cross_attention"]))

    def _rows(
        self, source: Sequence[int], read: Sequence[int], interventions: Sequence[Intervention]
    ) -> None:
        count = len(interventions)
        self._pass([source] * count, [read] * count, interventions)

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace:
        texts = TransformersTexts(self.tokenizer)
        ids, written = texts.encode_source(source), texts.encode_target(target)
        looked = self._pass(
            [ids], [[self.start, *written[:-1]]], [Intervention() if intervention is None else intervention]
        )
        import torch

        attention = {kind: torch.cat(layers) for kind, layers in looked.attention.items()}
        return trace_of_pass(self.tokenizer, ids, [self.start, *written], attention, looked.logits[0])

    def _pass(
        self,
        sources: Sequence[Sequence[int]],
        read: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        factors: Sequence[Any] = (),
    ) -> TorchTensors:
        """``read``: what the decoder reads, the start mark first. ``factors`` (B, S), (B, T): what the embeddings are multiplied by."""
        import torch

        given = [torch.tensor(np.array(ids), device=self.model.device) for ids in (sources, read)]
        length = len(sources[0]), len(read[0])
        changes = altering(interventions, self.sizes, *length) if self.modules else {}
        if not factors and (left := embedding_factors(interventions, length[1])) is not None:
            factors = [torch.ones(given[0].shape), torch.tensor(left)]
        pass_ = TorchPass(self.modules, changes, length)
        gradients = torch.enable_grad() if torch.is_grad_enabled() and factors else torch.no_grad()
        with PASSES_LOCK, gradients, showing_attention(self.model), pass_.running(self.model, given, factors):
            out = self.model(
                input_ids=given[0],
                attention_mask=torch.ones_like(given[0]),
                decoder_input_ids=given[1],
                use_cache=False,
            )
        if not self.modules:
            self.modules = pass_.found
        return TorchTensors(out.logits, pass_.used, pass_.calls)
