"""Tokenizers of the library transformers as ``own_network.Texts``."""

from collections.abc import Sequence
from typing import Any


class TransformersTexts:
    """For an encoder-decoder."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer

    def encode_source(self, text: str) -> list[int]:
        return self._tokenizer(text).input_ids

    def encode_target(self, text: str) -> list[int]:
        return self._tokenizer(text_target=text).input_ids

    def decode(self, ids: Sequence[int], source: str = "") -> str:
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._tokenizer.convert_ids_to_tokens(list(ids)))


class DecoderTexts(TransformersTexts):
    """For a decoder alone: the source is a prompt, the target goes on behind it."""

    def encode_target(self, text: str) -> list[int]:
        return [*self._tokenizer(text, add_special_tokens=False).input_ids, self._tokenizer.eos_token_id]
