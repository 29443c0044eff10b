"""Interventions in Hugging Face encoder-decoders and decoders: ablation, replaced weights.

B interventions (or rows), L layers, H heads, S source and T target tokens, N tokens of one sequence, Q query
and K key positions, D d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import numpy as np

from model.activations.drafting import longest_target
from model.adapters.capture import DECODER_KIND, LOCK, Capture, Parts
from model.adapters.own_network import OwnNetwork, opened
from model.adapters.own_passes import LONGEST, Declared, Ids, OwnPasses
from model.adapters.torch import captured, evaluating, torch_derivatives
from model.adapters.transformers import (
    DecoderTexts,
    TransformersTexts,
    check_texts,
    declared,
    eager_attention,
    has_sinks,
    start_mark,
)
from model.adapters.transformers_stream import stream_of

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PreTrainedModel
    from transformers import PreTrainedTokenizerBase as Tokenizer


def laboratory_of_transformers(model: PreTrainedModel, tokenizer: Tokenizer) -> OwnNetwork:
    """The laboratory of a model.

    Raises:
        ValueError: for a model that cannot write, and for attention that cannot be changed.
    """
    check_texts(model, tokenizer)
    if tokenizer.eos_token_id is None:
        raise ValueError("the tokenizer should have an end mark: tokenizer.eos_token = …")
    name = type(model).__name__
    if not model.can_generate():
        raise ValueError(
            f"the model should write, as encoder-decoders and decoders alone do, received {name}"
        )
    passes = TransformersPasses(model, tokenizer)
    return opened(name, passes, lambda: stream_of(model, passes))


class TransformersPasses(OwnPasses):
    """Passes of a model over ids; see ``OwnPasses``. A decoder-only network has no start mark."""

    rows_at_once = 32

    def __init__(self, model: PreTrainedModel, tokenizer: Tokenizer):
        import torch

        start = start_mark(model) if getattr(model.config, "is_encoder_decoder", False) else None
        texts = DecoderTexts(tokenizer) if start is None else TransformersTexts(tokenizer, start)
        super().__init__(texts, start, int(tokenizer.eos_token_id))
        self.model, self.sinks, self._parts = model, int(has_sinks(model)), Parts(model.modules())
        never = getattr(getattr(model, "generation_config", None), "bad_words_ids", None) or ()
        self.suppressed = [each[0] for each in never if len(each) == 1]
        with LOCK, torch.no_grad(), evaluating(model):
            own = model(**self._arguments(self.probe())).logits
            self.read_kinds(own, type(model).__name__)

    def longest(self, source: int) -> int:
        """T at most, by ``generation_config``, for S = ``source``."""
        config, read = self.model.generation_config, source if self.is_decoder else 1
        if (new := getattr(config, "max_new_tokens", None)) is not None:
            return max(1, new)
        if (whole := getattr(config, "max_length", None)) is not None:
            return max(1, whole - read)
        return LONGEST if self.is_decoder else longest_target(source)

    def declared(self, attention: np.ndarray) -> Declared:
        return declared(self.model, attention, DECODER_KIND)

    def forward(self, inputs: Sequence[Sequence[Ids]], factors: Sequence[Tensor], capture: Capture) -> Tensor:
        """Logits (B, T, V), of one sequence (B, N, V), with eager attention.

        They keep gradients where ``factors`` are tensors.
        """
        import torch

        arguments = self._arguments(inputs)
        with LOCK, eager_attention(self.model), ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(any(map(torch.is_tensor, factors))))
            stack.enter_context(captured(capture, self._parts))
            if len(factors):
                given = [arguments[name] for name in ("input_ids", "decoder_input_ids") if name in arguments]
                stack.enter_context(_scaled_embeddings(self.model, given, factors))
            return self.model(**arguments).logits

    def derivatives(
        self, score: Callable[..., Tensor], factors: Sequence[np.ndarray]
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """``OwnPasses.derivatives``, scores (B,) and slopes (B, N), on the device of the model."""
        return torch_derivatives(score, factors, self.model.device)

    def _arguments(self, inputs: Sequence[Sequence[Ids]]) -> dict[str, Tensor | bool]:
        import torch

        given = [torch.tensor(np.array(ids), device=self.model.device) for ids in inputs]
        read = {} if self.is_decoder else {"decoder_input_ids": given[1]}
        return {"input_ids": given[0], "attention_mask": torch.ones_like(given[0]), "use_cache": False} | read


@contextmanager
def _scaled_embeddings(
    model: PreTrainedModel, given: Sequence[Tensor], factors: Sequence[Tensor]
) -> Iterator[None]:
    """The embedding of each token times its factor; the encoder looks those of the source up first."""
    import torch

    waiting = list(zip(given, factors, strict=True))

    def scale(module: nn.Module, arguments: tuple[Tensor, ...], output: Tensor) -> Tensor:
        if waiting and torch.equal(arguments[0].reshape(waiting[0][0].shape), waiting[0][0]):
            return output * torch.as_tensor(waiting.pop(0)[1]).to(output)[..., None]
        return output

    sides = (model.get_encoder(), model.get_decoder()) if len(given) > 1 else (model,)
    # Sides of FSMT have no function that returns their table.
    of_sides = (getattr(side, "embed_tokens", None) or side.get_input_embeddings() for side in sides)
    tables = {id(each): each for each in of_sides}
    with ExitStack() as stack:
        for table in tables.values():
            stack.callback(table.register_forward_hook(scale).remove)
        yield
