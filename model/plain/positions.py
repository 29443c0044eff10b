"""Sinusoidal positional encoding, as plain NumPy (Vaswani et al. 2017, section 3.5)."""

import numpy as np


def angle_rates(d_model: int) -> np.ndarray:
    """(D,) float64: how many radians dimension i turns per position, ``10000^(-2*(i//2)/D)``.

    Dimensions 2i and 2i+1 share one rate: they are the sine and the cosine of the same angle.
    """
    dimension = np.arange(d_model)
    return np.power(10000.0, -2.0 * (dimension // 2) / d_model)


def positional_encoding(positions: int, d_model: int) -> np.ndarray:
    """(P, D) float32: sine in even dimensions, cosine in odd ones.

    Raises ValueError where either size is below 1.

    >>> positional_encoding(2, 4)[0].tolist()  # position 0: sines are 0, cosines 1
    [0.0, 1.0, 0.0, 1.0]
    """
    if positions < 1 or d_model < 1:
        raise ValueError(f"both sizes should be at least 1, received {positions} x {d_model}")
    angles = np.arange(positions)[:, None] * angle_rates(d_model)[None, :]  # (P, D)
    even = np.arange(d_model) % 2 == 0
    return np.where(even, np.sin(angles), np.cos(angles)).astype(np.float32)
