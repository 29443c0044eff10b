"""The numbers that fix a network's shape: one frozen, self-validating dataclass."""

from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True)
class TransformerConfig:
    """Hyperparameters in the names of Vaswani et al. (2017), table 3.

    The defaults are the paper's base model; ``max_length`` is the number of characters of one
    sentence that the network was trained to read; ``minimum_confidence`` is chosen on development
    data once the weights are known. Raises ValueError for values that cannot work.
    """

    vocab_size: int
    d_model: int = 512
    num_layers: int = 6
    num_heads: int = 8
    dff: int = 2048
    dropout_rate: float = 0.1
    norm_first: bool = False  # True: normalise before each sublayer (Xiong et al., 2020)
    max_length: int = 128
    minimum_confidence: float = 0.0  # a change that is less probable than this is left undone

    def __post_init__(self):
        for name in ("vocab_size", "d_model", "num_layers", "num_heads", "dff", "max_length"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} should be a positive integer, received {value!r}")
        if self.d_model % self.num_heads:
            raise ValueError(
                f"d_model should be a multiple of num_heads, received {self.d_model} and {self.num_heads}"
            )
        if not 0.0 <= self.dropout_rate < 1.0:
            raise ValueError(f"dropout_rate should be in [0, 1), received {self.dropout_rate!r}")
        if not 0.0 <= self.minimum_confidence <= 1.0:
            raise ValueError(f"minimum_confidence should be in [0, 1], received {self.minimum_confidence!r}")
        if self.norm_first not in (True, False):
            raise ValueError(f"norm_first should be true or false, received {self.norm_first!r}")

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "TransformerConfig":
        """The config a ``config.json`` describes; unknown or missing names raise ValueError."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"unknown settings in the model's config: {unknown}")
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"incomplete model config: {error}") from error
