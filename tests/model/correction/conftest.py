"""Fixture in place of the morphological analyser Kiwi."""

import numpy as np
import pytest


@pytest.fixture
def asked(monkeypatch):
    """Texts that Kiwi received. In its place: the more letters of 학교 a text has, the more usual it is; 하꾜
    is unknown.
    """
    asked = []

    def analyse(texts):
        asked.extend(texts)
        rows = [(10.0 * sum(c in text for c in "학교") - 30, 3, "하꾜" in text) for text in texts]
        return np.array(rows).reshape(-1, 3)

    monkeypatch.setattr("model.correction.features.analyse", analyse)
    monkeypatch.setattr("model.correction.features.longest_known", lambda text, start, end: end - start)
    return asked
