"""The implementations of each interface of a corrector: mypy checks that each function returns its type."""

from engine.client import EngineCorrector, OwnCorrector
from engine.own_model import TracedCorrector
from engine.question import Asked
from model import AttentionTrace, Corrector
from model.activations.token_network import Laboratory, Passes
from model.correction.answers import Intervenes, Network
from tests.ui.fake_corrector import FakeCorrector, random_trace
from ui.pages.trace import FromFile


def loaded(corrector: Corrector) -> Network:
    return corrector


def laboratory(of_a_network: Laboratory) -> Passes:
    return of_a_network


def in_the_engine(corrector: EngineCorrector) -> Asked:  # whether its workers are here or far away
    return corrector


def own_in_the_engine(corrector: OwnCorrector) -> Asked:
    return corrector


def own(corrector: TracedCorrector) -> Intervenes:
    return corrector


def from_file(corrector: FromFile) -> Asked:
    return corrector


def fake(corrector: FakeCorrector) -> Asked:
    return corrector


def test_a_trace_file_answers_with_its_one_pass() -> None:
    trace = random_trace("가", "나")
    seen: AttentionTrace = FromFile("a.npz", "0", trace).trace("가", "나")
    assert seen is trace
