"""The types of a typed text, from the page to the network and back. Only the engine, which carries questions and answers of
all sorts, passes ``Any`` on.

Each step of the walk is a function whose parameters and answer have types, and which calls the next one. Between processes a pickle
travels. What it holds is the answer that the question declares, and both sides name the same type.
"""

import ast
import inspect
import itertools
import textwrap
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from engine import answers
from engine.asked import EngineCorrector
from engine.questions import CORRECT, QUESTIONS
from model.activations import drafting
from model.correction import reading
from model.correction.corrector import Corrector
from model.correction.mending import Mending
from model.graph.network import GraphNetwork
from model.graph.sessions import GraphHalf, GraphReading
from ui.asking import questions
from ui.look import look

IN_THE_PAGE = (
    look.show,
    look.show_text,
    look.write_and_look,
    look.correct,
    questions.correct,
    EngineCorrector.correct,
    answers.unpack,
)
IN_THE_WORKER = (
    QUESTIONS[CORRECT].answer,
    Corrector.correct,
    Corrector.correct_batch,
    Mending._propose,
    Mending._with_offers,
    Mending._mended,
    Mending._one_reading,
    Mending._answers,
    reading.read,
)
# ``reading.read`` is given the way to the network as an argument.
IN_THE_NETWORK = (
    Mending._write,
    GraphNetwork.produce,
    GraphNetwork._settle,
    drafting.settle_ahead,
    GraphReading.pass_over,
    GraphReading._decoded,
    GraphHalf.__call__,
)
WALK = (*IN_THE_PAGE, *IN_THE_WORKER, *IN_THE_NETWORK)


def parts(annotation: object) -> Iterator[object]:
    yield annotation
    for inside in typing.get_args(annotation):
        yield from parts(inside)


@pytest.mark.parametrize("step", WALK, ids=lambda step: step.__qualname__)
def test_every_step_says_what_it_takes_and_gives(step):
    hints = typing.get_type_hints(step)
    named = [name for name in inspect.signature(step).parameters if name != "self"]
    assert hints.keys() == {*named, "return"}
    for name, annotation in hints.items():
        if np.ndarray not in parts(annotation):  # an array's own type has Any in it
            assert Any not in parts(annotation), name


def names_in(step: Callable) -> set[str]:
    """Every name that the source of a function mentions: what it calls, and what it hands over to be called."""
    tree = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(step))))
    return {getattr(node, "attr", getattr(node, "id", "")) for node in tree}


@pytest.mark.parametrize(
    ("step", "following"),
    [pair for walk in (IN_THE_PAGE, IN_THE_WORKER, IN_THE_NETWORK[:-1]) for pair in itertools.pairwise(walk)],
    ids=lambda step: step.__qualname__,
)
def test_every_step_leads_to_the_next(step, following):
    assert following.__name__ in names_in(step)


def test_the_walk_goes_on_where_a_function_is_handed_over():
    assert "_write" in names_in(Mending._answers)  # to ``reading.read``
    assert typing.get_type_hints(GraphReading.__init__)["decode"] is GraphHalf  # called as ``self._decode``
    assert "_decode" in names_in(GraphReading._decoded)


def test_what_travels_is_what_is_read_at_the_other_end():
    sent = typing.get_type_hints(QUESTIONS[CORRECT].answer)["return"]
    assert sent is answers.PackedCorrection
    assert typing.get_type_hints(answers.unpack)["packed"] is sent


@pytest.mark.parametrize("kind", QUESTIONS)
def test_every_question_declares_its_answer(kind):
    hints = typing.get_type_hints(QUESTIONS[kind].answer)
    assert hints.keys() == {*inspect.signature(QUESTIONS[kind].answer).parameters, "return"}


def asked_by(function: Callable) -> list[str]:
    """The questions that a function of ``ui.asking.questions`` asks by name."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(function))) if isinstance(node, ast.Call)]
    return [
        call.args[0].value
        for call in calls
        if getattr(call.func, "attr", "") == "ask" and isinstance(call.args[0], ast.Constant)
    ]


ASKING = [
    function
    for _, function in inspect.getmembers(questions, inspect.isfunction)
    if function.__module__ == questions.__name__ and len(asked_by(function)) == 1
]


@pytest.mark.parametrize("function", [each for each in ASKING if each is not questions.circuit])
def test_a_page_is_told_the_type_that_the_worker_declares(function):
    declared = {kind: typing.get_type_hints(each.answer)["return"] for kind, each in QUESTIONS.items()}
    known = {
        each.__name__: each for hint in declared.values() for each in parts(hint) if isinstance(each, type)
    }
    hints = typing.get_type_hints(function, {**known, **vars(questions)})
    assert hints["return"] == declared[asked_by(function)[0]]


@pytest.mark.parametrize(
    "kind", ["trace", "projections", "taps", "embeddings", "output_weights", "weight_sizes"]
)
def test_the_page_says_the_same_of_an_answer_as_the_worker(kind):
    there = typing.get_type_hints(QUESTIONS[kind].answer)["return"]
    assert typing.get_type_hints(getattr(EngineCorrector, kind))["return"] == there
