"""What the laboratory computes, against an implementation in plain NumPy that shares no code with it."""

import numpy as np

from model.stored.folder import WEIGHTS_FILE
from tests.model.network.plain_transformer import PlainTransformer, differences


def test_both_implementations_agree(tiny_corrector, tiny_folder):
    with np.load(tiny_folder / WEIGHTS_FILE) as archive:
        weights = {name: archive[name] for name in archive.files}
    plain = PlainTransformer(weights, tiny_corrector.tokenizer.features(), tiny_corrector.config)
    found = differences(tiny_corrector, plain, "전 오래 씂", "전 오래 쓸")
    assert set(found) >= {"norms", "rollout", "gradient x input", "integrated gradients"}
    assert max(found.values()) < 1e-4, found
