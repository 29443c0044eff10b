"""The development of roles over snapshots."""

import numpy as np
import pytest

from model.analysis.roles import BREADTH, OWN, ROLES, Growth, growth
from tests.planted import COPY, DECOY, RIGHT, WRONG

KIND = "cross_attention"


def test_the_planted_copy_looks_where_a_copy_would_and_the_decoy_does_not(planted):
    found = growth(KIND, [WRONG], [RIGHT], [planted.trace(WRONG, RIGHT)])
    assert found.shares[OWN][0, COPY.layer, COPY.head] > 0.99
    assert found.shares[OWN][0, DECOY.layer, DECOY.head] < 0.01
    assert found.settled(COPY.layer, COPY.head) == (OWN, 0)
    assert found.settled(DECOY.layer, DECOY.head)[0] != OWN


def test_a_decoder_has_no_role_ahead_and_shares_are_shares(planted):
    trace = planted.trace(WRONG, RIGHT)
    for kind in trace.kinds:
        found = growth(kind, [WRONG], [RIGHT], [trace])
        assert ("next" in found.shares) == (kind != "decoder_attention")
        for shares in found.shares.values():
            assert shares.shape == (1, *trace.shape(kind))
            assert ((shares >= 0) & (shares <= 1 + 1e-5)).all()
        assert set(found.leading.ravel()) <= set(ROLES)
    with pytest.raises(ValueError, match="received none"):
        growth(KIND, [], [], [])


def test_a_role_is_found_when_it_is_kept_from_then_on():
    def since(*roles: str) -> tuple[str, int]:
        return Growth({}, np.array(roles, object).reshape(-1, 1, 1)).settled(0, 0)

    assert since(BREADTH, OWN, BREADTH, OWN, OWN) == (OWN, 3)
    assert since(OWN, OWN) == (OWN, 0)
    assert since(OWN, BREADTH) == (BREADTH, 1)
