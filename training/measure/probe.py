"""A linear probe of vectors, and an eraser of everything that a linear probe could read.

Both are computed from the means of the classes and from covariances, without iterations, so no library is needed.

N vectors, D their width, C classes, R directions.
"""

from dataclasses import dataclass

import numpy as np

RIDGE = 1e-3  # of the mean variance, added to each: directions that never vary have no inverse
_FAINT = 1e-6  # of the largest singular value; a direction below it is rounding


@dataclass(frozen=True)
class Probe:
    """Linear discriminant analysis: the best linear classifier where all classes have one covariance (Fisher 1936; Hastie, Tibshirani &
    Friedman, "The Elements of Statistical Learning", section 4.3).
    """

    kernel: np.ndarray  # (D, C)
    bias: np.ndarray  # (C,)

    def says(self, vectors: np.ndarray) -> np.ndarray:
        """(N, D) -> (N,): the likeliest class of each."""
        return (vectors @ self.kernel + self.bias).argmax(axis=-1)


def fit_probe(vectors: np.ndarray, classes: np.ndarray, count: int) -> Probe:
    """A probe of (N, D) vectors and their classes (N,), numbers below ``count``. A class without a vector is never predicted.

    >>> probe = fit_probe(np.array([[0.0, 1], [0, 1.1], [1, 0], [1.1, 0]]), np.array([0, 0, 1, 1]), 2)
    >>> probe.says(np.array([[0.0, 2.0], [2.0, 0.0]])).tolist()
    [0, 1]
    """
    vectors = vectors.astype(np.float64)
    sizes = np.bincount(classes, minlength=count)
    sums = np.zeros((count, vectors.shape[1]))
    np.add.at(sums, classes, vectors)
    means = sums / np.maximum(sizes, 1)[:, None]
    within = vectors - means[classes]
    covariance = _ridged(within.T @ within / len(vectors), vectors)
    kernel = np.linalg.solve(covariance, means.T)  # (D, C)
    with np.errstate(divide="ignore"):
        priors = np.log(sizes / len(vectors))
    return Probe(kernel, priors - 0.5 * np.einsum("cd,dc->c", means, kernel))


@dataclass(frozen=True)
class Eraser:
    """Takes from vectors what lies in R directions, and changes as little else as can be.

    Source: Belrose et al., "LEACE: Perfect linear concept erasure in closed form" (2023).
    """

    mean: np.ndarray  # (D,)
    reading: np.ndarray  # (R, D): what is read of a vector
    writing: np.ndarray  # (D, R): what is subtracted for each of these readings

    @property
    def rank(self) -> int:
        return len(self.reading)

    def erased(self, vectors: np.ndarray) -> np.ndarray:
        """(..., D) without it."""
        found = (vectors - self.mean) @ self.reading.T @ self.writing.T
        return (vectors - found).astype(vectors.dtype)


def fit_eraser(vectors: np.ndarray, classes: np.ndarray, count: int) -> Eraser:
    """An eraser of what tells the classes (N,) of vectors (N, D) apart. Afterwards all classes have the same mean, and no linear probe
    does better than one that ignores the vectors.

    >>> vectors, classes = np.random.default_rng(0).normal(size=(90, 4)), np.arange(90) % 3
    >>> vectors[classes == 1, 0] += 5
    >>> erased = fit_eraser(vectors, classes, 3).erased(vectors)
    >>> bool(np.allclose(erased[classes == 1].mean(axis=0), erased[classes == 2].mean(axis=0), atol=1e-2))
    True
    """
    told = np.eye(count)[classes]
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    whitening, colouring = _roots(vectors)
    across = whitening @ (centred.T @ (told - told.mean(axis=0))) / len(vectors)  # (D, C)
    directions, sizes, _ = np.linalg.svd(across, full_matrices=False)
    return _of_directions(vectors, directions[:, sizes > _FAINT * sizes.max()], whitening, colouring)


def random_eraser(vectors: np.ndarray, rank: int, rng: np.random.Generator) -> Eraser:
    """An eraser of ``rank`` directions drawn at random, to compare with."""
    whitening, colouring = _roots(vectors)
    directions, _ = np.linalg.qr(rng.normal(size=(vectors.shape[1], rank)))
    return _of_directions(vectors, directions, whitening, colouring)


def _of_directions(
    vectors: np.ndarray, directions: np.ndarray, whitening: np.ndarray, colouring: np.ndarray
) -> Eraser:
    """An eraser of ``directions`` (D, R), which are orthonormal in the space of the whitened vectors."""
    return Eraser(vectors.mean(axis=0), directions.T @ whitening, colouring @ directions)


def _roots(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D, D) twice: what whitens the vectors, so that their covariance is the identity, and what undoes that."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    values, axes = np.linalg.eigh(_ridged(centred.T @ centred / len(vectors), vectors))
    return (axes / np.sqrt(values)) @ axes.T, (axes * np.sqrt(values)) @ axes.T


def _ridged(covariance: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """(D, D): of vectors, or of what is left of them, so that it has an inverse."""
    return covariance + RIDGE * max(vectors.var(axis=0).mean(), 1e-12) * np.eye(len(covariance))
