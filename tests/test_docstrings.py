"""Examples in the docstrings of the product's modules, run as doctests."""

import doctest
import importlib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import model
from model.analysis import edits_of

ROOT = Path(__file__).parents[1]
ROOMS = ("classroom", "model", "viz", "engine", "service", "training", "ui")


@pytest.fixture(scope="module")
def known():
    """Names that an example may use without importing them.

    The one trained network is loaded when the first example wants it.
    """

    def of(module) -> dict:
        names = {"np": np, "pd": pd, "edits_of": edits_of}
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
