"""What one full pass of a network leaves behind: NumPy arrays with a documented shape each."""

from dataclasses import dataclass

import numpy as np

ATTENTION_KINDS = ("encoder_attention", "decoder_attention", "cross_attention")


@dataclass(frozen=True)
class AttentionTrace:
    """Everything a picture of one correction needs, and nothing that needs TensorFlow.

    Rows of every attention map are queries, columns are keys, and each row sums to 1.
    ``target_tokens[t]`` is the token PRODUCED by row ``t``; that row has consumed
    ``decoder_input_tokens[: t + 1]``, so ``decoder_attention`` is exactly 0 right of its diagonal.

    Shapes: L layers, H heads, S source tokens, T target tokens, D d_model.
    """

    source_tokens: tuple[str, ...]  # (S,) what the encoder read, ending in the end mark
    target_tokens: tuple[str, ...]  # (T,) what each decoder row produced, ending in the end mark
    decoder_input_tokens: tuple[str, ...]  # (T,) the start mark, then target_tokens[:-1]
    encoder_attention: np.ndarray  # (L, H, S, S) float32
    decoder_attention: np.ndarray  # (L, H, T, T) float32
    cross_attention: np.ndarray  # (L, H, T, S) float32
    source_positional_encoding: np.ndarray  # (S, D) float32
    target_positional_encoding: np.ndarray  # (T, D) float32
    log_probabilities: np.ndarray  # (T,) float32, natural logarithm, of each produced token

    def __post_init__(self):
        source, target = len(self.source_tokens), len(self.target_tokens)
        layers_heads = self.encoder_attention.shape[:2]
        d_model = self.source_positional_encoding.shape[-1]
        expected = {
            "decoder_input_tokens": (target,),
            "encoder_attention": (*layers_heads, source, source),
            "decoder_attention": (*layers_heads, target, target),
            "cross_attention": (*layers_heads, target, source),
            "source_positional_encoding": (source, d_model),
            "target_positional_encoding": (target, d_model),
            "log_probabilities": (target,),
        }
        for name, shape in expected.items():
            received = np.shape(getattr(self, name))
            if received != shape:
                raise ValueError(f"{name} should have the shape {shape}, received {received}")

    @property
    def num_layers(self) -> int:
        return self.encoder_attention.shape[0]

    @property
    def num_heads(self) -> int:
        return self.encoder_attention.shape[1]

    @property
    def positional_encoding(self) -> np.ndarray:
        """(P, D): the matrix both sides read their positions from, as far as this sentence needs it."""
        source, target = self.source_positional_encoding, self.target_positional_encoding
        return source if len(source) >= len(target) else target

    def attention(self, kind: str) -> np.ndarray:
        """(L, H, Q, K) of one of ATTENTION_KINDS."""
        if kind not in ATTENTION_KINDS:
            raise ValueError(f"attention kind should be one of {ATTENTION_KINDS}, received {kind!r}")
        return getattr(self, kind)

    def axes(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(row tokens, column tokens) of one kind: who asks, and what is looked at."""
        if kind == "encoder_attention":
            return self.source_tokens, self.source_tokens
        if kind == "decoder_attention":
            return self.target_tokens, self.decoder_input_tokens
        if kind == "cross_attention":
            return self.target_tokens, self.source_tokens
        raise ValueError(f"attention kind should be one of {ATTENTION_KINDS}, received {kind!r}")
