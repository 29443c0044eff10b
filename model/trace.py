"""What one full pass of a network leaves behind: NumPy arrays with a documented shape each."""

from dataclasses import dataclass

import numpy as np

ATTENTION_KINDS = ("encoder_attention", "decoder_attention", "cross_attention")

# Fields that a network either fills both or leaves None both.
_TOGETHER = (
    ("encoder_attention", "decoder_attention"),
    ("source_positional_encoding", "target_positional_encoding"),
)


@dataclass(frozen=True, kw_only=True)
class AttentionTrace:
    """Everything a picture of one correction needs, and nothing that needs TensorFlow.

    Rows of every attention map are queries, columns are keys, and each row sums to 1.
    ``target_tokens[t]`` is the token PRODUCED by row ``t``; that row has consumed
    ``decoder_input_tokens[: t + 1]``, so ``decoder_attention`` is exactly 0 right of its diagonal.

    A recurrent network attends from target to source alone: it has no self-attention and reads no
    positional encoding, and these are None. ``kinds`` names what there is.

    Shapes: L layers, H heads, S source tokens, T target tokens, D d_model, A alternatives.
    """

    source_tokens: tuple[str, ...]  # (S,) what the encoder read, ending in the end mark
    target_tokens: tuple[str, ...]  # (T,) what each decoder row produced, ending in the end mark
    decoder_input_tokens: tuple[str, ...]  # (T,) the start mark, then target_tokens[:-1]
    encoder_attention: np.ndarray | None = None  # (L, H, S, S) float32
    decoder_attention: np.ndarray | None = None  # (L, H, T, T) float32
    cross_attention: np.ndarray  # (L, H, T, S) float32
    source_positional_encoding: np.ndarray | None = None  # (S, D) float32
    target_positional_encoding: np.ndarray | None = None  # (T, D) float32
    log_probabilities: np.ndarray  # (T,) float32, natural logarithm, of each produced token
    alternatives: tuple[tuple[str, ...], ...]  # (T, A) what else a row might have produced, likeliest first
    alternative_probabilities: np.ndarray  # (T, A) float32

    def __post_init__(self):
        for one, other in _TOGETHER:
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                raise ValueError(f"{one} and {other} come together, received one of them")
        source, target = len(self.source_tokens), len(self.target_tokens)
        layers_heads = np.shape(self.cross_attention)[:2]
        d_model = np.shape(self.source_positional_encoding)[-1:]
        expected = {
            "decoder_input_tokens": (target,),
            "encoder_attention": (*layers_heads, source, source),
            "decoder_attention": (*layers_heads, target, target),
            "cross_attention": (*layers_heads, target, source),
            "source_positional_encoding": (source, *d_model),
            "target_positional_encoding": (target, *d_model),
            "log_probabilities": (target,),
            "alternative_probabilities": (target, *np.shape(self.alternatives)[1:]),
            "alternatives": np.shape(self.alternative_probabilities),
        }
        for pair in _TOGETHER:
            if getattr(self, pair[0]) is None:
                expected = {name: shape for name, shape in expected.items() if name not in pair}
        for name, shape in expected.items():
            received = np.shape(getattr(self, name))
            if received != shape:
                raise ValueError(f"{name} should have the shape {shape}, received {received}")

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of ATTENTION_KINDS there are, in their order."""
        return tuple(kind for kind in ATTENTION_KINDS if getattr(self, kind) is not None)

    @property
    def num_layers(self) -> int:
        """L of every attention map; of a recurrent network 1, however many layers recur."""
        return self.cross_attention.shape[0]

    @property
    def num_heads(self) -> int:
        return self.cross_attention.shape[1]

    @property
    def positional_encoding(self) -> np.ndarray | None:
        """(P, D): the matrix both sides read their positions from, as far as this sentence needs it."""
        source, target = self.source_positional_encoding, self.target_positional_encoding
        if source is None:
            return None
        return source if len(source) >= len(target) else target

    def attention(self, kind: str) -> np.ndarray:
        """(L, H, Q, K) of one of ``kinds``; ValueError for a kind this trace lacks."""
        return getattr(self, self._known(kind))

    def axes(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(row tokens, column tokens) of one of ``kinds``: who asks, and what is looked at."""
        return {
            "encoder_attention": (self.source_tokens, self.source_tokens),
            "decoder_attention": (self.target_tokens, self.decoder_input_tokens),
            "cross_attention": (self.target_tokens, self.source_tokens),
        }[self._known(kind)]

    def _known(self, kind: str) -> str:
        if kind not in self.kinds:
            raise ValueError(f"attention kind should be one of {self.kinds}, received {kind!r}")
        return kind
