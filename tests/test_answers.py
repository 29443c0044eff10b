"""The implementations of a corrector's interfaces that no typed line of the product passes on.

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
