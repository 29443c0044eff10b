"""Transformer arithmetic: attention, masks, parameters; embeddings beside positions.

Shapes: B sentences, S source and T target tokens, Q query and K key positions, P positions, D d_model, d and
v widths of keys and values, F feed-forward width, H heads, L layers, V vocabulary.

Reference: Vaswani et al., "Attention Is All You Need" (2017), sections 3.2.1 (attention), 3.4 (embeddings are
scaled by sqrt(D)) and 3.5 (positional encoding).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from model.activations.sublayers import softmax
from model.stored.config import NetworkConfig, TransformerConfig
from model.text.tokenizer import PAD_ID


@dataclass(frozen=True)
class DotProduct:
    """Every intermediate result of ``softmax(query · keyᵀ / sqrt(d)) · value``, as float64.

    ``output`` and ``weights`` equal those of ``model.network.layers.scaled_dot_product_attention`` for the
    same arrays and mask.
    """

    query: np.ndarray  # (Q, d)
    key: np.ndarray  # (K, d)
    value: np.ndarray  # (K, v)
    products: np.ndarray  # (Q, K) query · keyᵀ
    scaled: np.ndarray  # (Q, K) products / sqrt(d); where scaling is left out, the products
    logits: np.ndarray  # (Q, K) scaled, and -inf where the mask forbids looking
    weights: np.ndarray  # (Q, K) softmax of each row; a row with nothing to look at is all 0
    output: np.ndarray  # (Q, v) weights · value

    def weighted_values(self, row: int) -> np.ndarray:
        """(K, v): each value times its weight in query ``row``; their sum is ``output[row]``."""
        return self.weights[row][:, None] * self.value


def dot_product_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    mask: np.ndarray | None = None,
    *,
    scaling: bool = True,
) -> DotProduct:
    """Compute all steps of one attention.

    Args:
        query: (Q, d); key: (K, d); value: (K, v).
        mask: (Q, K) bool, True where a query may attend, as in ``model.network.layers``; None for no mask.
        scaling: whether products are divided by sqrt(d).

    Raises:
        ValueError: for shapes that do not fit each other.

    Example:
        >>> dot_product_attention(np.eye(2), np.eye(2), np.eye(2)).weights.round(2).tolist()
        [[0.67, 0.33], [0.33, 0.67]]
    """
    query, key, value = (np.asarray(array, dtype=np.float64) for array in (query, key, value))
    _check(query, key, value, mask)
    products = query @ key.T  # (Q, d), (d, K) -> (Q, K)
    scaled = products / math.sqrt(max(key.shape[1], 1)) if scaling else products
    logits = scaled if mask is None else np.where(mask, scaled, -np.inf)
    weights = softmax(logits.copy())
    return DotProduct(query, key, value, products, scaled, logits, weights, weights @ value)


def _check(query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray | None) -> None:
    for name, array in (("query", query), ("key", key), ("value", value)):
        if array.ndim != 2:
            raise ValueError(f"{name} should have the shape (rows, width), received {array.shape}")
    if query.shape[1] != key.shape[1]:
        raise ValueError(f"query and key should be equally wide, received {query.shape} and {key.shape}")
    if len(key) != len(value):
        raise ValueError(f"each key needs a value, received keys {key.shape} and values {value.shape}")
    if mask is not None and np.shape(mask) != (len(query), len(key)):
        raise ValueError(f"mask should have the shape {(len(query), len(key))}, received {np.shape(mask)}")


def hidden_by_padding(ids: Sequence[Sequence[int]] | np.ndarray) -> np.ndarray:
    """(B, K) ids -> (B, K) bool, True at padding.

    It is the opposite of ``model.network.layers.padding_mask``.
    """
    return np.asarray(ids) == PAD_ID


def hidden_by_look_ahead(length: int) -> np.ndarray:
    """(Q, K) bool with Q = K = length, True where the key is later than the query.

    It is the opposite of ``model.network.layers.look_ahead_mask``.

    >>> hidden_by_look_ahead(2).tolist()
    [[False, True], [False, False]]
    """
    return np.triu(np.ones((length, length), dtype=bool), k=1)


def similarity(encoding: np.ndarray) -> np.ndarray:
    """(P, D) -> (P, P) float32: the dot product of every two rows of a positional encoding.

    For an even D it is the sum of cos(rate * (p - q)) over the D/2 rates: it depends on the distance of two
    positions alone, and is largest, D/2, where they are the same.
    """
    encoding = _ranked(encoding, 2, "encoding", "(P, D)")
    return (encoding @ encoding.T).astype(np.float32)


def by_distance(similarities: np.ndarray) -> np.ndarray:
    """(P, P) -> (P,) float32: the mean similarity of all pairs of positions 0, 1, 2, … apart."""
    similarities = _ranked(similarities, 2, "similarities", "(P, P)")
    means = [np.diagonal(similarities, apart).mean() for apart in range(len(similarities))]
    return np.array(means, np.float32)


@dataclass(frozen=True)
class VectorLengths:
    """Euclidean lengths of the vectors that are added up for each token, (S,) float32 each."""

    embedding: np.ndarray  # as it lies in the table
    scaled: np.ndarray  # times sqrt(D), as the network uses it
    encoding: np.ndarray  # of the token's position; sqrt(D/2) everywhere for an even D


def sizes(embeddings: np.ndarray, encoding: np.ndarray) -> VectorLengths:
    """The lengths of unscaled ``embeddings`` (S, D) and of the positional ``encoding`` (P, D), with P >= S.

    Raises:
        ValueError: for other shapes.
    """
    embeddings = _ranked(embeddings, 2, "embeddings", "(S, D)")
    tokens, width = embeddings.shape
    encoding = _ranked(encoding, 2, "encoding", "(P, D)")
    if encoding.shape[1] != width or len(encoding) < tokens:
        raise ValueError(f"encoding should have {tokens} rows of {width}, received {encoding.shape}")
    plain = np.linalg.norm(embeddings, axis=1).astype(np.float32)
    return VectorLengths(plain, plain * np.float32(width**0.5), np.linalg.norm(encoding[:tokens], axis=1))


@dataclass(frozen=True)
class Move:
    """One token at its position, compared with itself 0, 1, 2, … positions further on; (P,) float32 each."""

    distance: np.ndarray  # Euclidean; the same for every token, because the token's own part cancels out
    cosine: np.ndarray  # of the two sums, in which the token's own part stays


def move(embedding: np.ndarray, encoding: np.ndarray, position: int) -> Move:
    """The effect of a growing position on ``sqrt(D) * embedding + encoding[position]``.

    Args:
        embedding: (D,) unscaled. encoding: (P, D) from position 0; shifts reach to its last row.

    Raises:
        ValueError: for other shapes, and for a position that it does not have.
    """
    scaled = _ranked(embedding, 1, "embedding", "(D,)") * len(embedding) ** 0.5
    encoding = _ranked(encoding, 2, "encoding", "(P, D)")
    if not 0 <= position < len(encoding):
        raise ValueError(f"position should lie in 0..{len(encoding) - 1}, received {position}")
    sums = scaled + encoding[position:]  # (D,), (P, D) -> (P, D)
    return Move(_distances(sums, sums[0]), _cosines(sums, sums[0]))


@dataclass(frozen=True)
class OtherToken:
    """Another token in the place of one: its distance, in the measures of ``Move``."""

    token: str
    distance: float
    cosine: float


def nearest_others(
    tokens: Sequence[str], embeddings: np.ndarray, encoding: np.ndarray, position: int, count: int = 3
) -> list[OtherToken]:
    """The ``count`` tokens of the sentence that are most like the one at ``position``, the nearest first.

    Each is put at that same ``position``, so only the tokens differ. Equal tokens count once, and tokens
    equal to the one at ``position`` are left out.

    Args:
        embeddings: (S, D) unscaled.
    """
    embeddings = _ranked(embeddings, 2, "embeddings", "(S, D)")
    if len(tokens) != len(embeddings):
        raise ValueError(f"each token should have one row, received {len(tokens)} and {len(embeddings)}")
    # From the last to the first, so that of equal tokens the first one stays.
    first_of = {token: i for i, token in reversed(list(enumerate(tokens))) if token != tokens[position]}
    rows = sorted(first_of.values())
    sums = embeddings * embeddings.shape[1] ** 0.5 + encoding[position]  # (S, D)
    distances, cosines = _distances(sums, sums[position]), _cosines(sums, sums[position])
    nearest = sorted(rows, key=lambda row: distances[row])[:count]
    return [OtherToken(tokens[row], float(distances[row]), float(cosines[row])) for row in nearest]


def _distances(rows: np.ndarray, one: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows - one, axis=-1).astype(np.float32)


def _cosines(rows: np.ndarray, one: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=-1) * np.linalg.norm(one)
    return (rows @ one / np.maximum(lengths, 1e-12)).astype(np.float32)


def _ranked(values: ArrayLike, rank: int, name: str, shape: str) -> np.ndarray:
    values = np.asarray(values, np.float32)
    if values.ndim != rank:
        raise ValueError(f"{name} should have the shape {shape}, received {values.shape}")
    return values


# Stored with the embedding, because both share their vectors, but it belongs to the output layer.
OUTPUT_BIAS = "output_bias"

# Role -> pattern of the names of its parts, in the order in which data passes through them.
_ROLES = {
    "embedding": r"embedding",
    "encoder_self_attention": r"encoder_\d+/self_attention",
    "encoder_feed_forward": r"encoder_\d+/feed_forward",
    "encoder_norm": r"encoder_\d+/around_\w+|encoder_norm",
    "encoder_recurrence": r"encoder_\d+/(?:forward|backward)_gru",
    "bridge": r"bridge_\d+",
    "decoder_self_attention": r"decoder_\d+/self_attention",
    "decoder_cross_attention": r"decoder_\d+/cross_attention",
    "decoder_feed_forward": r"decoder_\d+/feed_forward",
    "decoder_norm": r"decoder_\d+/around_\w+|decoder_norm",
    "decoder_recurrence": r"decoder_\d+/gru_cell",
    "only_attention": r"query|key|value",
    "join": r"join",
    "output_bias": OUTPUT_BIAS,
}
ROLES = tuple(_ROLES)


def group_parameters(sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of arrays by path -> sizes of parts: ``encoder_1/self_attention``, ``embedding``, ``join`` …

    Paths are Keras's: network, layers from the outermost to the innermost, array. A part has at most two
    layers, so the four projections of one attention are one part. The sizes add up to the same total.

    Raises:
        ValueError: for a path without a layer.

    Example:
        >>> group_parameters({"net/encoder_1/self_attention/query/kernel": 8, "net/embedding/table": 9})
        {'encoder_1/self_attention': 8, 'embedding': 9}
    """
    parts: dict[str, int] = {}
    for path, size in sizes.items():
        _, *layers = path.split("/")
        if len(layers) < 2:
            raise ValueError(
                f"a weight's path should name a network, a layer and an array, received {path!r}"
            )
        part = OUTPUT_BIAS if layers[-1] == OUTPUT_BIAS else "/".join(layers[:-1][:2])
        parts[part] = parts.get(part, 0) + size
    return parts


def role_of(part: str) -> str:
    """The role of a part, one of ROLES.

    Raises:
        ValueError: for a part that no network has.

    Example:
        >>> role_of("encoder_1/self_attention")
        'encoder_self_attention'
    """
    for role, pattern in _ROLES.items():
        if re.fullmatch(pattern, part):
            return role
    raise ValueError(f"no network has a part {part!r}")


def by_role(parts: Mapping[str, int]) -> dict[str, int]:
    """Sizes of parts -> sizes of ROLES, all layers added. Roles without parts are left out."""
    found: dict[str, int] = {}
    for part, size in parts.items():
        role = role_of(part)
        found[role] = found.get(role, 0) + size
    return {role: found[role] for role in ROLES if role in found}


def attention_share(parts: Mapping[str, int]) -> float:
    """The share of all parameters, in 0..1, in the projections of queries, keys, values and outputs.

    >>> attention_share({"encoder_1/self_attention": 1, "embedding": 3})
    0.25
    """
    inside = sum(size for part, size in parts.items() if role_of(part).endswith("attention"))
    return inside / max(sum(parts.values()), 1)


def under(parts: Mapping[str, int], *places: str) -> int:
    """The number of parameters in the layers ``places``.

    >>> under({"encoder_1/self_attention": 4, "encoder_2/self_attention": 5}, "encoder_1")
    4
    """
    inside = tuple(f"{place}/" for place in places)
    return sum(size for part, size in parts.items() if part in places or part.startswith(inside))


MIXING = "mixing"  # query times key, and weight times value: what grows with the square of a sentence


def attention_weights(config: NetworkConfig, source: int, target: int) -> dict[str, int]:
    """The number of weights of one pass by kind of attention: L * H * Q * K, masked ones included."""
    maps = config.attention_layers * config.num_heads
    sizes = {
        "encoder_attention": source * source,
        "decoder_attention": target * target,
        "cross_attention": target * source,
    }
    return {kind: maps * sizes[kind] for kind in config.attention_kinds}


def multiplications(config: NetworkConfig, source: int, target: int) -> dict[str, int]:
    """Multiplications of numbers in one pass, by purpose.

    ``attention`` (its four projections), MIXING, ``feed_forward`` or ``recurrence``, ``output``. Only matrix
    products count; normalisation, softmax and the embedding's sums are small beside them.
    """
    if isinstance(config, TransformerConfig):
        return _transformer(config, source, target)
    return _recurrent(config, source, target)


def _transformer(config: TransformerConfig, s: int, t: int) -> dict[str, int]:
    d, layers = config.d_model, config.num_layers
    # Encoder, decoder: query, key, value and output of each token. Between them: query and output of the
    # target's tokens, key and value of the source's.
    projections = 4 * s + 4 * t + 2 * t + 2 * s
    return {
        "attention": layers * projections * d * d,
        MIXING: layers * 2 * (s * s + t * t + t * s) * d,
        "feed_forward": layers * 2 * (s + t) * d * config.dff,
        "output": t * d * config.vocab_size,
    }


def _recurrent(config: NetworkConfig, s: int, t: int) -> dict[str, int]:
    d, layers = config.d_model, config.num_layers
    one_way = 3 * (d * (d // 2) + (d // 2) ** 2)  # three gates, each of an input and of the state before
    return {
        "attention": (t + 2 * s) * d * d,
        MIXING: 2 * t * s * d,
        "recurrence": layers * (2 * s * one_way + d * d + t * 6 * d * d),
        "output": t * 2 * d * d
        + t * d * config.vocab_size,  # joining what was found to the state, then words
    }
