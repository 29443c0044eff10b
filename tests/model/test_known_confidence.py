"""The confidence that knows words, and what happens where a model folder has it, lacks it, or holds a damaged one."""

import json
import math
import shutil
from dataclasses import replace

import pytest

from model import Corrector, ModelFolderError
from model.changes import find_changes
from model.confidence import CONFIDENCE_FILE, MONOTONE, Confidence, Features, features
from model.folder import fingerprint, load_confidence, save_confidence
from model.words import WORDS_FILE, Words

WORDS = Words({"학교에": 30, "집에": 20, "갔다": 8})
KNOWN, NETWORK = (Features._fields.index(name) for name in ("right_count", "network"))
TREES = ((KNOWN, 1.0, -2.0, 1.0), (NETWORK, 0.5, -1.0, (KNOWN, 3.0, 0.0, 0.5)))
CONFIDENCE = Confidence(WORDS, 0.25, TREES)


def proposed(source, target, fix=0.9, keep=0.1):
    return tuple(
        replace(change, fix_probability=fix, keep_probability=keep) for change in find_changes(source, target)
    )


def test_the_features_of_changes():
    changes = proposed("하꾜에 갓다", "학교에 갔다")
    first, second = features("하꾜에 갓다", changes, WORDS)
    assert first.fix == pytest.approx(math.log(0.9)) and first.keep == pytest.approx(math.log(0.1))
    assert first.network == pytest.approx(0.81)
    assert (first.wrong_count, first.right_count) == (0.0, math.log(31))
    assert second.right_count == math.log(9) and second.right_beginning == 1
    assert first.spaces == 0 and first.length == 2 and first.changes == 2
    assert second.jamo == 1  # ㅅ for ㅆ
    assert first.sentence == pytest.approx(2 * math.log(0.81))


def test_the_words_that_would_stand_there_are_read_after_all_changes():
    # Two slips in one word are two changes; neither alone gives the word.
    source, target = "확교헤", "학교에"
    changes = proposed(source, target)
    assert len(changes) == 2
    assert {row.right_count for row in features(source, changes, WORDS)} == {math.log(31)}


def test_a_space_concerns_the_words_on_both_sides():
    (row,) = features("집에갔다", proposed("집에갔다", "집에 갔다"), WORDS)
    assert row.spaces == 1 and row.wrong_count == 0 and row.right_count == math.log(9)
    (row,) = features("집에갓다", proposed("집에갓다", "집에 갔다"), WORDS)
    assert row.spaces == 2


def test_leaves_add_up_to_log_odds():
    (known,) = CONFIDENCE.weigh("하꾜에", proposed("하꾜에", "학교에"))
    assert known.known_confidence == pytest.approx(1 / (1 + math.exp(-(0.25 + 1.0 + 0.5))))
    assert known.confidence == known.known_confidence
    assert known.network_confidence == pytest.approx(0.81)
    (unknown,) = CONFIDENCE.weigh("하꾜에", proposed("하꾜에", "학꾜에"))
    assert unknown.confidence == pytest.approx(1 / (1 + math.exp(-(0.25 - 2.0 + 0.0))))
    assert CONFIDENCE.weigh("하꾜에", ()) == ()


def test_a_moved_change_keeps_its_confidence():
    (known,) = CONFIDENCE.weigh("하꾜에", proposed("하꾜에", "학교에"))
    assert known.moved(3, 3).confidence == known.confidence


def test_every_monotone_feature_exists():
    assert set(MONOTONE) <= set(Features._fields)


@pytest.fixture
def folder(tiny_folder, tmp_path):
    copy = tmp_path / "known"
    shutil.copytree(tiny_folder, copy)
    save_confidence(copy, CONFIDENCE)
    return copy


def test_a_folder_keeps_it(folder):
    assert load_confidence(folder).trees == TREES
    assert load_confidence(folder).start == 0.25
    assert load_confidence(folder).words.counts == WORDS.counts


def test_a_corrector_weighs_with_it(folder, tiny_corrector, load_tiny):
    text = "손니미 왔는데 방이 없으면"
    alone, known = tiny_corrector.correct(text), load_tiny(folder).correct(text)
    assert alone.proposed == known.proposed != ()
    for one, other in zip(alone.proposed, known.proposed, strict=True):
        assert one.known_confidence is None and one.confidence == one.network_confidence
        assert other.network_confidence == pytest.approx(one.confidence, abs=1e-6)
        assert other.known_confidence is not None


def test_the_fingerprint_is_of_all_that_decides(folder, tiny_folder):
    assert fingerprint(folder) != fingerprint(tiny_folder)
    before = fingerprint(folder)
    save_confidence(folder, replace(CONFIDENCE, start=0.5))
    assert fingerprint(folder) != before


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


def test_a_missing_or_damaged_table_is_a_message(folder):
    (folder / WORDS_FILE).write_bytes(b"no table")
    with pytest.raises(ModelFolderError, match=WORDS_FILE):
        load_confidence(folder)
    (folder / WORDS_FILE).unlink()
    with pytest.raises(ModelFolderError):
        load_confidence(folder)
