"""What the positional encoding does to tokens: how alike positions are, and what moving a token changes.

S tokens, P positions, D d_model. The encoding is that of Vaswani et al. (2017), section 3.5; embeddings are
scaled by sqrt(D) before it is added (section 3.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


def similarity(encoding: np.ndarray) -> np.ndarray:
    """(P, D) -> (P, P) float32: the dot product of every two rows.

    For an even D it is the sum of cos(rate * (p - q)) over the D/2 rates: it depends on the distance of two
    positions alone, and is largest, D/2, where they are the same.
    """
    encoding = _ranked(encoding, 2, "encoding", "(P, D)")
    return (encoding @ encoding.T).astype(np.float32)


def by_distance(similarities: np.ndarray) -> np.ndarray:
    """(P, P) -> (P,) float32: the mean similarity of all pairs of positions that lie 0, 1, 2, … apart."""
    similarities = _ranked(similarities, 2, "similarities", "(P, P)")
    means = [np.diagonal(similarities, apart).mean() for apart in range(len(similarities))]
    return np.array(means, np.float32)


@dataclass(frozen=True)
class VectorLengths:
    """Euclidean lengths of what is added up for each token, (S,) float32 each."""

    embedding: np.ndarray  # as it lies in the table
    scaled: np.ndarray  # times sqrt(D), as the network uses it
    encoding: np.ndarray  # of the token's position; sqrt(D/2) everywhere for an even D


def sizes(embeddings: np.ndarray, encoding: np.ndarray) -> VectorLengths:
    """The sizes of unscaled ``embeddings`` (S, D) and the positions' ``encoding`` (P, D), with P >= S."""
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
    """How far ``sqrt(D) * embedding + encoding[position]`` goes when its position grows.

    ``embedding`` (D,) is unscaled. ``encoding`` (P, D) begins at position 0; shifts reach to its last row.
    Raises ValueError for other shapes and for a position that it does not have.
    """
    scaled = _ranked(embedding, 1, "embedding", "(D,)") * len(embedding) ** 0.5
    encoding = _ranked(encoding, 2, "encoding", "(P, D)")
    if not 0 <= position < len(encoding):
        raise ValueError(f"position should lie in 0..{len(encoding) - 1}, received {position}")
    sums = scaled + encoding[position:]  # (D,), (P, D) -> (P, D)
    return Move(_distances(sums, sums[0]), _cosines(sums, sums[0]))


@dataclass(frozen=True)
class OtherToken:
    """Another token in the place of one: how far that is, in the measures of ``Move``."""

    token: str
    distance: float
    cosine: float


def nearest_others(
    tokens: Sequence[str], embeddings: np.ndarray, encoding: np.ndarray, position: int, count: int = 3
) -> list[OtherToken]:
    """The ``count`` tokens of the sentence that are most like the one at ``position``, the nearest first.

    Each is put at that same ``position``, so only the tokens differ and not their places. Equal tokens count once, and
    tokens equal to the one at ``position`` are left out. ``embeddings`` (S, D) are unscaled.
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
