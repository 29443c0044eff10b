"""The laboratory for a model of transformers that is a decoder alone, such as GPT-2 or Llama.

Its source is the prompt, its target what is written behind it. Both stand in one sequence, so its one kind of attention,
``decoder_attention``, has a row and a column for each token of both. A pass replaces functions that the whole process shares, as that of
an encoder-decoder does (``transformers_laboratory``).

B interventions (or rows), L layers, H heads, S tokens of the prompt, T written ones, N = S + T - 1 tokens that are read, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.activations.drafting import Pass
from model.adapters.altering import altering, embedding_factors, in_sequence
from model.adapters.own_network import AttentionSizes, OwnNetwork, WithoutTaps, check_one_length, without_nan
from model.adapters.own_stream import without_memory
from model.adapters.transformers import showing_attention, trace_of_decoder
from model.adapters.transformers_insides import adds_up, distances, has_insides, insides_of, layers_of
from model.adapters.transformers_pass import PASSES_LOCK, TorchPass, TorchTensors, to_array
from model.adapters.transformers_texts import DecoderTexts
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING
from model.trace.interventions import Intervention, ZeroedValue
from model.trace.laboratory_data import Insides, Slopes, Zeroed
from model.trace.trace import AttentionTrace

_BATCH = 32  # rows at a time
_LONGEST = 20  # tokens that are written, where the model does not say how many
_PROBE = 3  # tokens of the pass that shows what layers add
_KIND = "decoder_attention"


def laboratory_of_decoder(model: Any, tokenizer: Any) -> OwnNetwork:
    """The laboratory of a model that is a decoder alone: heads off, weights replaced, tokens left out, gradients."""
    passes, texts = DecoderPasses(model, tokenizer), DecoderTexts(tokenizer)
    abilities = [INTERVENTIONS, GRADIENTS, *([MIXING] if passes.shows_insides() else [])]
    return OwnNetwork(type(model).__name__, texts, passes, abilities, why=without_memory())


def longest_of(model: Any, read: int, otherwise: int) -> int:
    """How many tokens a model writes at most behind the ``read`` ones that it begins with, as its ``generation_config`` says."""
    told = model.generation_config
    if (new := getattr(told, "max_new_tokens", None)) is not None:
        return max(1, new)
    whole = getattr(told, "max_length", None)
    return otherwise if whole is None else max(1, whole - read)


class DecoderPasses(WithoutTaps):
    """Passes over ids; see ``own_network.OwnPasses``. There is no start mark: what is said of it is 0. A text that goes on needs no end:
    it is cut where the model would stop generating."""

    needs_end = False

    def __init__(self, model: Any, tokenizer: Any):
        self.model, self.tokenizer = model, tokenizer
        self.end = int(tokenizer.eos_token_id)
        self.modules: dict[str, list[Any]] = {}  # the attention modules, layer by layer
        self.sizes: dict[str, AttentionSizes] = {}
        looked = self._passed([[self.end]], [[]], [Intervention()])
        layers, values = looked.attention[_KIND], looked.calls[_KIND][0][2]
        heads = layers[0].shape[1]
        self.sizes = {_KIND: AttentionSizes(len(layers), heads, heads * values.shape[-1])}

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        """One teacher-forced pass over B rows, each a prompt, T ids that were written and an intervention. Logits are (B, T, V), the
        attention (B, L, H, N, N). Raises ValueError for rows of several lengths, and for an intervention that the network does not have."""
        check_one_length(sources, targets)
        logits, attention = [], []
        for first in range(0, len(sources), _BATCH):
            cut = slice(first, first + _BATCH)
            read = [list(ids[:-1]) for ids in targets[cut]]
            found = self._passed(sources[cut], read, interventions[cut])
            logits.append(to_array(found.logits)[:, len(sources[0]) - 1 :])
            attention.append(np.stack([to_array(each) for each in found.attention[_KIND]], 1))
        return Pass(without_nan(np.concatenate(logits)), {_KIND: np.concatenate(attention)})

    def _next(self, source: Sequence[int], ids: Sequence[int], intervention: Intervention) -> int:
        return int(to_array(self._passed([source], [ids], [intervention]).logits)[0, -1].argmax())

    def _most(self, source: int) -> int:
        return longest_of(self.model, source, _LONGEST)

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """As ``Laboratory.slopes`` says: the derivatives of logit(written) - logit(instead)."""
        import torch

        row, written, instead = contrast
        read, length, found = list(target[:-1]), len(source), []
        for share in shares:
            factors = torch.full((1, length + len(read)), float(share), device=self.model.device)
            factors.requires_grad_()
            with torch.enable_grad():
                logits = self._passed([source], [read], [Intervention()], factors).logits[0, length - 1 + row]
                score = logits[written] - logits[instead]
                (slopes,) = torch.autograd.grad(score, [factors])
            found.append((float(score.detach()), to_array(slopes)[0]))
        by_token = np.stack([each for _, each in found])
        start = np.zeros((len(found), 1), np.float32)
        score_of = without_nan(np.array([score for score, _ in found], np.float32))
        return Slopes(score_of, by_token[:, :length], np.concatenate([start, by_token[:, length:]], axis=1))

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """What one plain pass holds. Raises ValueError for a network whose layers are not known by their names."""
        read = list(target[:-1])
        return insides_of(self.model, self.modules, lambda: self._passed([source], [read], [Intervention()]))

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """As ``Laboratory.zeroed`` says; all positions, (L, N, N), are those that the decoder has read, and none is of a source."""
        read, rows = list(target[:-1]), []
        count = len(source) + len(read)

        def run(some: Sequence[Intervention]) -> None:
            self._passed([source] * len(some), [read] * len(some), some)

        for number, layer in enumerate(layers_of(self.model, self.modules[_KIND])):
            gone = [Intervention(zeroed=frozenset([ZeroedValue(_KIND, number, n)])) for n in range(count)]
            rows.append(distances(layer, run, gone, _BATCH))
        return Zeroed(np.stack(rows), np.empty((len(rows), count, 0), np.float32))

    def shows_insides(self) -> bool:
        """Whether ``insides`` and ``zeroed`` say what such layers do."""
        if not has_insides(self.model, self.modules):
            return False
        return adds_up(
            self.model,
            self.modules[_KIND],
            lambda: self._passed([[self.end] * _PROBE], [[]], [Intervention()]),
        )

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace:
        """The pass over both texts; ``prompt`` says how many tokens the first one has."""
        texts = DecoderTexts(self.tokenizer)
        ids, written = texts.encode_source(source), texts.encode_target(target)
        looked = self._passed(
            [ids], [written[:-1]], [Intervention() if intervention is None else intervention]
        )
        attention, logits = (
            np.concatenate([to_array(each) for each in looked.attention[_KIND]]),
            looked.logits[0],
        )
        return trace_of_decoder(self.model, self.tokenizer, [*ids, *written], len(ids), attention, logits)

    def _passed(
        self,
        sources: Sequence[Sequence[int]],
        read: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        factors: Any = None,
    ) -> TorchTensors:
        """``read``: what was written before the row that is asked about. ``factors`` (B, N): what the embeddings are multiplied by."""
        import torch

        whole = [[*one, *other] for one, other in zip(sources, read, strict=True)]
        length, given = len(whole[0]), torch.tensor(whole, device=self.model.device)
        moved = [in_sequence(each, len(sources[0])) for each in interventions]
        changes = altering(moved, self.sizes, length, length) if self.modules else {}
        if factors is None and (left := embedding_factors(moved, length)) is not None:
            factors = torch.tensor(left)
        pass_ = TorchPass(self.modules, changes, (0, length))
        scaled = [] if factors is None else [factors]
        gradients = torch.enable_grad() if torch.is_grad_enabled() and scaled else torch.no_grad()
        with (
            PASSES_LOCK,
            gradients,
            showing_attention(self.model),
            pass_.running(self.model, [given], scaled),
        ):
            out = self.model(input_ids=given, attention_mask=torch.ones_like(given), use_cache=False)
        if not self.modules:
            self.modules = pass_.found
        return TorchTensors(out.logits, pass_.used, pass_.calls)
