"""Fixtures: an engine over the tiny model, and the corrector that asks it."""

import pytest

from engine.client import Engine


@pytest.fixture(scope="module")
def engine(tiny_folder):
    with Engine.start([tiny_folder], models_in_memory=2, ahead=False) as engine:
        yield engine


@pytest.fixture
def model(engine, tiny_folder):
    engine._caches.clear()
    return engine.open(tiny_folder)
