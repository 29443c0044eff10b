"""Practice of the norm of Korean spelling, article by article. The words are in ``model/norm``, the sentences here."""

from training.noise.norm.pairs import NormPair, norm_counterexample, norm_in, norm_pair

__all__ = ["NormPair", "norm_counterexample", "norm_in", "norm_pair"]
