"""What happens where a model folder has the files of a confidence, lacks them, or holds damaged ones."""

import json
import shutil
from dataclasses import replace

import pytest

from model import Corrector, ModelFolderError
from model.correction.confidence import Trees, load_confidence, save_confidence
from model.correction.features import (
    FIRST,
    SECOND,
)
from model.stored.folder import CONFIDENCE_FILE, NGRAMS_FILE, WORDS_FILE, fingerprint, of_weights
from tests.known_words import (
    CONFIDENCE,
    NGRAMS,
    TREES,
    WORDS,
)


@pytest.fixture
def folder(tiny_folder, tmp_path):
    copy = tmp_path / "known"
    shutil.copytree(tiny_folder, copy)
    save_confidence(copy, CONFIDENCE)
    return copy


def test_a_folder_keeps_a_confidence(folder):
    assert load_confidence(folder).trees == CONFIDENCE.trees
    assert load_confidence(folder).second is None
    second = Trees(SECOND, -0.5, ((SECOND.index("morphemes"), -9.0, 0.5, -1.0),))
    save_confidence(folder, replace(CONFIDENCE, second=second))
    assert load_confidence(folder).trees == CONFIDENCE.trees and load_confidence(folder).second == second
    assert load_confidence(folder).words.counts == WORDS.counts
    assert len(load_confidence(folder).ngrams) == len(NGRAMS)


def test_a_corrector_weighs_with_it(folder, tiny_corrector, load_tiny):
    text = "손니미 왔는데 방이 없으면"
    alone, known = tiny_corrector.correct(text), load_tiny(folder).correct(text)
    assert alone.proposed and known.proposed
    assert all(each.known_confidence is None for each in alone.proposed)
    for each in known.proposed:
        assert each.confidence == each.known_confidence
        assert each.moved(3, 3).confidence == each.confidence
        assert each.network_confidence == pytest.approx(each.fix_probability * (1 - each.keep_probability))


def test_the_fingerprint_is_of_all_that_decides_and_tells_the_weights_apart(folder, tiny_folder):
    assert fingerprint(folder) != fingerprint(tiny_folder)
    before = fingerprint(folder)
    save_confidence(folder, replace(CONFIDENCE, trees=Trees(FIRST, 0.5, TREES)))
    assert fingerprint(folder) != before
    assert of_weights(fingerprint(folder)) == of_weights(before) == of_weights(fingerprint(tiny_folder))


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"start": 0}',
        '{"start": 0, "trees": [["colour", 0, 1, 2]]}',
        '{"start": 0, "trees": [["fix", 0, 1]]}',
        '{"start": NaN, "trees": []}',
        '{"start": true, "trees": []}',
        '{"start": 0, "trees": ["fix"]}',
        '{"start": 0, "trees": 1}',
        '{"start": 0, "trees": [], "second": []}',
        '{"start": 0, "trees": [["morphemes", 0, 1, 2]]}',
    ],
)
def test_damaged_trees_are_a_message(folder, content):
    (folder / CONFIDENCE_FILE).write_text(content, "utf-8")
    with pytest.raises(ModelFolderError, match=CONFIDENCE_FILE):
        Corrector.load(folder)


def test_trees_too_deep_are_refused(folder):
    tree: object = 1.0
    for _ in range(20):
        tree = ["fix", 0.0, 0.0, tree]
    (folder / CONFIDENCE_FILE).write_text(json.dumps({"start": 0, "trees": [tree]}), "utf-8")
    with pytest.raises(ModelFolderError, match="not a tree"):
        load_confidence(folder)


@pytest.mark.parametrize("name", [WORDS_FILE, NGRAMS_FILE])
def test_a_missing_or_damaged_table_is_a_message(folder, name):
    (folder / name).write_bytes(b"no table")
    with pytest.raises(ModelFolderError, match=name):
        load_confidence(folder)
    (folder / name).unlink()
    with pytest.raises(ModelFolderError):
        load_confidence(folder)
