"""Tokenizers of the library transformers as ``own_network.Texts``."""

from collections.abc import Sequence
from typing import Any


def tokens_of(tokenizer: Any, ids: Any) -> tuple[str, ...]:
    """What ids are called. Some models know more ids than their tokenizer: such an id is called by its number."""
    return tuple(
        str(int(number)) if token is None else token
        for number, token in zip(ids, tokenizer.convert_ids_to_tokens(ids), strict=True)
    )


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
        return tokens_of(self._tokenizer, list(ids))


class DecoderTexts(TransformersTexts):
    """For a decoder alone: the source is a prompt, the target goes on behind it."""

    def encode_source(self, text: str) -> list[int]:
        """Raises ValueError for a prompt without any token: there is no start mark that could stand for it."""
        if not (ids := super().encode_source(text)):
            raise ValueError("the prompt should have at least one token, received none")
        return ids

    def encode_target(self, text: str) -> list[int]:
        return [*self._tokenizer(text, add_special_tokens=False).input_ids, self._tokenizer.eos_token_id]
