"""When a head found its role."""

import numpy as np

from model.analysis.growth import copying_shares, found_at
from tests.planted import COPY, DECOY, RIGHT, WRONG


def test_the_planted_copy_looks_where_a_copy_would_and_the_decoy_does_not(planted):
    trace = planted.trace(WRONG, RIGHT)
    (shares,) = copying_shares("cross_attention", [WRONG], [RIGHT], [trace])
    assert shares[COPY.layer, COPY.head] > 0.99
    assert shares[DECOY.layer, DECOY.head] < 0.01


def test_a_role_is_found_when_it_is_kept_from_then_on():
    assert found_at(np.array([0.1, 0.6, 0.4, 0.7, 0.9])) == 3
    assert found_at(np.array([0.6, 0.7])) == 0
    assert found_at(np.array([0.6, 0.4])) is None
