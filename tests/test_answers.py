"""Everything that answers as a corrector does has one interface. mypy reads this file, too: it checks the
types, the tests the names.

The functions of the first part are checked by mypy alone: each returns what it was given as another type.
"""

import inspect

import pytest

from engine import Engine
from engine.client import EngineCorrector, OwnCorrector
from engine.own_model import TracedCorrector
from engine.questions import Asked
from model import AttentionTrace, Corrector
from model.activations.laboratory import Passes
from model.activations.token_network import AnswersInIds
from model.correction.answers import AnswersMany, Intervenes, Network
from model.graph.network import GraphNetwork
from model.network.compiled import CompiledNetwork
from model.network.laboratory import Laboratory
from model.stored.folder import ASSETS, DEFAULT_MODEL
from tests.own_model import Speller
from tests.ui.fake_corrector import FakeCorrector, random_trace
from ui.pages.trace import FromFile


def loaded(corrector: Corrector) -> Network:
    return corrector


def from_a_graph(network: GraphNetwork) -> AnswersInIds:
    return network


def in_keras(network: CompiledNetwork) -> AnswersInIds:
    return network


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


MISSING = object()
FOLDER = ASSETS / DEFAULT_MODEL
MADE = {
    "engine": lambda: (Engine([]).open(FOLDER), Asked),
    "remote": lambda: (Engine.connect("http://127.0.0.1:9").open(FOLDER), Asked),
    "own, in the engine": lambda: (Engine([]).open("tests.own_model:Speller"), Asked),
    "own": lambda: (TracedCorrector("own", Speller()), Intervenes),
    "file": lambda: (FromFile("a.npz", "0", random_trace("가", "가")), Asked),
    "fake": lambda: (FakeCorrector(), Asked),
}


@pytest.mark.parametrize("name", MADE)
def test_whoever_answers_has_every_member_with_its_parameters(name):
    check(*MADE[name]())


def test_a_loaded_network_has_them_all(planted):
    check(planted, Network)
    check(planted.laboratory, Passes)


def test_what_lacks_a_member_or_a_parameter_is_noticed():
    shorter = type("Shorter", (FakeCorrector,), {"correct": lambda self: None})
    with pytest.raises(AssertionError, match="Shorter.correct"):
        check(shorter(), Asked)
    with pytest.raises(AssertionError, match="correct_batch"):
        check(FakeCorrector(), AnswersMany)


def check(one: object, interface: type) -> None:
    """``one`` has what ``interface`` declares; a method takes the same parameters, and more only with
    defaults.
    """
    for name in members(interface):
        found = inspect.getattr_static(one, name, MISSING)
        assert found is not MISSING, f"{type(one).__name__} lacks {name}"
        declared = inspect.getattr_static(interface, name)
        if not isinstance(declared, property):
            wanted, taken = (list(inspect.signature(each).parameters.values()) for each in (declared, found))
            offset = inspect.isfunction(vars(one).get(name))  # a function of one object has no self
            named = [each.name for each in taken[: len(wanted) - offset]]
            assert named == [each.name for each in wanted][offset:], f"{type(one).__name__}.{name}"
            more = taken[len(named) :]
            assert all(each.default is not each.empty for each in more), f"{type(one).__name__}.{name}"


def members(interface: type) -> list[str]:
    """What a protocol and those before it declare."""
    declared = {name for each in interface.__mro__[:-1] for name in vars(each) if not name.startswith("_")}
    return sorted(declared)


def test_a_trace_file_answers_with_its_one_pass():
    trace = random_trace("가", "나")
    seen: AttentionTrace = FromFile("a.npz", "0", trace).trace("가", "나")
    assert seen is trace
