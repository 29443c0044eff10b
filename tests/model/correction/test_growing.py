"""A network at each of its snapshots: the answers are those of the snapshots opened one by one."""

import shutil

import numpy as np
import pytest

from model import Corrector
from model.correction.corrector import GrowingNetwork, growing_network
from model.stored.folder import ASSETS, ModelFolderError, snapshot_steps, weights_path

FOLDER = ASSETS / "growing-up"
TEXT = "어제 친구를 만낫다."


def test_each_snapshot_answers_as_it_does_alone():
    steps = snapshot_steps(FOLDER)
    found = growing_network(FOLDER).answers(TEXT)
    assert tuple(each.step for each in found) == steps
    for number in (3, len(steps) - 1):
        (alone,) = Corrector.load(FOLDER, 0.0, steps[number]).correct(TEXT).sentences
        assert found[number].text == alone.text
        np.testing.assert_allclose(
            found[number].trace.cross_attention, alone.trace.cross_attention, atol=1e-4
        )
    assert len({each.text for each in found}) > 3  # it learned something on the way
    assert found[0].is_unfinished
    assert not found[-1].is_unfinished


def test_snapshots_open_what_they_share_once():
    # Each would otherwise read the vocabulary again and work out the jamo of 12,000 syllables: a fifth of the
    # time that the film waits for.
    readers = {id(corrector.tokenizer) for _, corrector in growing_network(FOLDER)._snapshots}
    assert len(readers) == 1


def test_nothing_has_no_answers():
    assert growing_network(FOLDER).answers(" ") == ()


def test_a_folder_without_snapshots_is_named():
    with pytest.raises(ModelFolderError, match="keeps snapshots of the steps"):
        growing_network(ASSETS / "seq2seq")


def test_other_snapshots_are_another_network(tmp_path):
    folder = tmp_path / "growing"
    shutil.copytree(FOLDER, folder)
    network = growing_network(folder)
    assert growing_network(folder) is network
    *_, last = snapshot_steps(folder)
    weights_path(folder, last).unlink()
    assert growing_network(folder).steps == network.steps[:-1]


def test_keras_and_graphs_grow_up_alike(monkeypatch):
    found = GrowingNetwork(FOLDER).answers(TEXT)
    monkeypatch.setenv("ATTENTION_BACKEND", "keras")
    expected = GrowingNetwork(FOLDER).answers(TEXT)
    assert [(each.step, each.text) for each in found] == [(each.step, each.text) for each in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.trace.cross_attention, other.trace.cross_attention, atol=1e-5)
