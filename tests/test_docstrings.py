"""The examples in docstrings: every public class and plotting function has one, and all of them run."""

import doctest
import importlib
import inspect
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import engine
import model
import model.analysis
import viz

ROOT = Path(__file__).parents[1]
ROOMS = ("classroom", "model", "viz", "engine", "training", "ui")
PUBLIC = [(room, name) for room in (model, model.analysis, viz, engine) for name in room.__all__]


@pytest.fixture(scope="module")
def known():
    """What an example may use without importing it.

    The one trained network is loaded when the first example wants it.
    """

    def of(module) -> dict:
        names = {"np": np, "pd": pd}
        if "corrector" in "".join(example.source for example in examples(module)):
            names["corrector"] = shipped()
        return {name: value for name, value in names.items() if not hasattr(module, name)}

    return of


@cache
def shipped() -> model.Corrector:
    return model.Corrector.load()


def examples(module) -> list[doctest.Example]:
    return [each for test in doctest.DocTestFinder().find(module) for each in test.examples]


def with_examples() -> list[str]:
    """The modules in which a docstring has an example."""
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    named = [path.relative_to(ROOT).with_suffix("") for path in files if ">>> " in path.read_text("utf-8")]
    return [".".join(path.parts).removesuffix(".__init__") for path in named]


@pytest.mark.parametrize("name", with_examples())
def test_examples_run(name, known):
    module = importlib.import_module(name)
    assert examples(module)
    assert doctest.testmod(module, extraglobs=known(module)).failed == 0


def has_example(thing) -> bool:
    """Of a class, also where one of its own methods has one."""
    documented = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
    return any(">>> " in (getattr(each, "__doc__", None) or "") for each in documented)


def is_result(room, thing) -> bool:
    """Whether a public function of the room returns it: then the function's example shows it."""
    functions = (getattr(room, name) for name in room.__all__ if inspect.isfunction(getattr(room, name)))
    return any(thing.__name__ in str(inspect.signature(each).return_annotation) for each in functions)


@pytest.mark.parametrize(("room", "name"), PUBLIC, ids=[f"{room.__name__}.{name}" for room, name in PUBLIC])
def test_every_public_class_and_function_has_an_example(room, name):
    thing = getattr(room, name)
    is_class = inspect.isclass(thing) and not issubclass(thing, Exception) and not is_result(room, thing)
    if inspect.isfunction(thing) or is_class:
        assert has_example(thing)
