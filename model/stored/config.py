"""``NetworkConfig`` and its subclasses: the sizes of each architecture; paths of arrays."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Self

from model.trace.interventions import TAPS, kind_side
from model.trace.trace import ATTENTION_KINDS, Described

# Abilities of a network besides correcting and showing its attention. Each question of the engine, each
# method of ``model.analysis`` and each view names the one that it needs.
PROJECTIONS = "projections"  # queries, keys and values
TAPPED = "taps"  # those arrays of ``model.trace.interventions`` that the config's ``taps`` names
INTERVENTIONS = "interventions"  # ``model.correction.answers.Intervenes``
GRADIENTS = "gradients"  # a Transformer whose ``laboratory`` has passes over ids and ``slopes``
STREAM = "stream"  # a residual stream: ``patched`` of ``model.correction.answers.Network``
INSIDE = "inside"  # all of ``model.correction.answers.Network``
ABILITIES = (PROJECTIONS, TAPPED, INTERVENTIONS, GRADIENTS, STREAM, INSIDE)
# The same in all of our networks and their graphs.
POSITIONS = 1024  # rows of the sinusoid that is kept; sentences are far shorter
MASKED_LOGIT = -1e9  # exp(MASKED_LOGIT - any real logit) underflows to exactly 0 in float32


class NetworkConfig:
    """The common part of the configs of all networks: dictionary form, checks, kinds of attention.

    Subclasses are frozen dataclasses that name their ``architecture``.
    """

    architecture: ClassVar[str]
    attention_kinds: ClassVar[tuple[str, ...]]  # which of ATTENTION_KINDS a trace of the network has
    abilities: ClassVar[frozenset[str]]  # some of ABILITIES
    taps: ClassVar[tuple[str, ...]]  # the names in TAPS that its passes have
    has_positions: ClassVar[bool]  # whether positional encodings are added to its embeddings
    __dataclass_fields__: ClassVar[dict[str, Any]]  # its subclasses are dataclasses

    vocab_size: int
    d_model: int
    num_layers: int
    dropout_rate: float
    max_length: int
    minimum_confidence: float

    @property
    def num_heads(self) -> int:
        """H of every attention map (L, H, Q, K)."""
        raise NotImplementedError

    @property
    def attention_layers(self) -> int:
        """L of every attention map (L, H, Q, K)."""
        raise NotImplementedError

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> Self:
        """The config a ``config.json`` describes; unknown or missing names raise ValueError."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"unknown settings in the model's config: {unknown}")
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"incomplete model config: {error}") from error

    def _check(self, *counts: str) -> None:
        for name in ("vocab_size", "d_model", "num_layers", "max_length", *counts):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} should be a positive integer, received {value!r}")
        if not 0.0 <= self.dropout_rate < 1.0:
            raise ValueError(f"dropout_rate should be in [0, 1), received {self.dropout_rate!r}")
        if not 0.0 <= self.minimum_confidence <= 1.0:
            raise ValueError(f"minimum_confidence should be in [0, 1], received {self.minimum_confidence!r}")


@dataclass(frozen=True)
class TransformerConfig(NetworkConfig):
    """The hyperparameters of Vaswani et al. (2017), table 3.

    The defaults are the paper's base model; ``max_length`` is the number of characters of one
    sentence that the network was trained to read; ``minimum_confidence`` is chosen on development
    data once the weights are known. Raises ValueError for values that cannot work.
    """

    architecture: ClassVar[str] = "transformer"
    attention_kinds: ClassVar[tuple[str, ...]] = ATTENTION_KINDS
    abilities: ClassVar[frozenset[str]] = frozenset(ABILITIES)
    taps: ClassVar[tuple[str, ...]] = tuple(TAPS)
    has_positions: ClassVar[bool] = True

    vocab_size: int
    d_model: int = 512
    num_layers: int = 6
    num_heads: int = 8
    dff: int = 2048
    dropout_rate: float = 0.1
    norm_first: bool = False  # True: normalise before each sublayer (Xiong et al., 2020)
    max_length: int = 128
    minimum_confidence: float = 0.0  # a change that is less probable than this is left undone

    def __post_init__(self) -> None:
        self._check("num_heads", "dff")
        if self.d_model % self.num_heads:
            raise ValueError(
                f"d_model should be a multiple of num_heads, received {self.d_model} and {self.num_heads}"
            )
        if self.norm_first not in (True, False):
            raise ValueError(f"norm_first should be true or false, received {self.norm_first!r}")

    @property
    def attention_layers(self) -> int:
        """L of every attention map (L, H, Q, K)."""
        return self.num_layers


@dataclass(frozen=True)
class Seq2SeqConfig(NetworkConfig):
    """The recurrent encoder-decoder with attention; common names as in TransformerConfig.

    ``d_model`` is the width of the embedding and of every state: half of an encoder's state reads
    forwards, half backwards, so it is even. ``num_layers`` are the recurrent layers of each side;
    attention stands once, above the last. Raises ValueError for values that cannot work.
    """

    architecture: ClassVar[str] = "seq2seq"
    attention_kinds: ClassVar[tuple[str, ...]] = ("cross_attention",)
    abilities: ClassVar[frozenset[str]] = frozenset((PROJECTIONS, TAPPED))
    taps: ClassVar[tuple[str, ...]] = (
        "cross_attention",
        "cross_query",
        "cross_key",
        "cross_value",
        "cross_heads",
        "logits",
    )
    has_positions: ClassVar[bool] = False

    vocab_size: int
    d_model: int = 256
    num_layers: int = 1
    dropout_rate: float = 0.1
    max_length: int = 128
    minimum_confidence: float = 0.0

    def __post_init__(self) -> None:
        self._check()
        if self.d_model % 2:
            raise ValueError(f"d_model should be even, received {self.d_model}")

    @property
    def num_heads(self) -> int:
        return 1

    @property
    def attention_layers(self) -> int:
        """L of its one attention map (L, H, T, S), however many recurrent layers there are."""
        return 1


@dataclass(frozen=True)
class TracedConfig:
    """The properties of another library's network, or of a ``TracedModel``, that pages and analyses read."""

    architecture: ClassVar[str] = "traced"
    has_positions: ClassVar[bool] = False
    max_length: ClassVar[int] = 2_000  # characters; as many as a page takes
    minimum_confidence: ClassVar[float] = 0.0

    abilities: frozenset[str] = frozenset()
    described: Described = field(default_factory=Described)
    why_no_stream: str = ""  # the part that is missing for a residual stream, in English
    no_stream: str = ""  # why pages cannot show it, as one of ``model.adapters.own_stream.NO_STREAM``


CONFIGS = {config.architecture: config for config in (TransformerConfig, Seq2SeqConfig)}


# Of each kind of attention, in a block: its layer, and the residual connection around it.
ATTENTION_PATHS = {
    "encoder_attention": ("self_attention", "around_attention"),
    "decoder_attention": ("self_attention", "around_self_attention"),
    "cross_attention": ("cross_attention", "around_cross_attention"),
}
_FEED_FORWARD = "feed_forward", "around_feed_forward"


def sublayer_path(kind: str, layer: int) -> str:
    """The path of the arrays of a sub-layer, without the network's name.

    >>> sublayer_path("cross_attention", 2), sublayer_path("encoder_feed_forward", 0)
    ('decoder_3/cross_attention', 'encoder_1/feed_forward')
    """
    return f"{kind_side(kind)}_{layer + 1}/{ATTENTION_PATHS.get(kind, _FEED_FORWARD)[0]}"


def norm_path(kind: str, layer: int) -> str:
    """The same of the normalisation around a sub-layer."""
    return f"{kind_side(kind)}_{layer + 1}/{ATTENTION_PATHS.get(kind, _FEED_FORWARD)[1]}/norm"
