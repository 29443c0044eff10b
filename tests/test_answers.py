"""The implementations of a corrector's interfaces that no typed line of the product passes on.

Mypy checks that each function returns its type.
"""

from engine.own_model import TracedCorrector
from engine.question import Asked
from model import AttentionTrace
from model.correction.answers import Intervenes
from tests.ui.fake_corrector import FakeCorrector, random_trace
from ui.pages.trace import FromFile


def own(corrector: TracedCorrector) -> Intervenes:
    return corrector


def fake(corrector: FakeCorrector) -> Asked:
    return corrector


def test_a_trace_file_answers_with_its_one_pass() -> None:
    trace = random_trace("가", "나")
    seen: AttentionTrace = FromFile("a.npz", "0", trace).trace("가", "나")
    assert seen is trace
