"""Type checks for mypy: classes that implement a corrector's protocols.

Mypy checks that each function returns its type.
"""

from engine.own_model import TracedCorrector
from engine.question import Asked
from model.correction.answers import Intervenes
from tests.ui.fake_corrector import FakeCorrector


def own(corrector: TracedCorrector) -> Intervenes:
    return corrector


def fake(corrector: FakeCorrector) -> Asked:
    return corrector
