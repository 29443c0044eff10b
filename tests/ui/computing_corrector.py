"""A corrector whose attention follows from its queries and keys, as a network's does."""

from dataclasses import replace

import numpy as np

from model.analysis.building_blocks import dot_product_attention, hidden_by_look_ahead
from model.trace.interventions import Projections
from model.trace.trace import AttentionTrace
from tests.ui.fake_corrector import FakeCorrector, random_projections, random_trace


def computed(found: Projections, kind: str) -> np.ndarray:
    """(L, H, Q, K) float32: the weights that the projections give."""
    layers, heads, queries, _ = found.query.shape
    allowed = ~hidden_by_look_ahead(queries) if kind == "decoder_attention" else None
    found_weights = np.empty((layers, heads, queries, found.key.shape[2]), np.float32)
    for place in np.ndindex(layers, heads):
        parts = (part[place] for part in (found.query, found.key, found.value))
        found_weights[place] = dot_product_attention(*parts, allowed).weights
    return found_weights


def computed_trace(source: str, target: str) -> AttentionTrace:
    trace = random_trace(source, target)
    found = random_projections(trace)
    return replace(trace, **{kind: computed(found[kind], kind) for kind in trace.kinds})


class ComputingCorrector(FakeCorrector):
    def __init__(self, fingerprint: str = "computing", trace=computed_trace):
        super().__init__(fingerprint, trace)
