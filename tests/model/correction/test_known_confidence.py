"""The confidence that knows words, and what happens where a model folder has it, lacks it, or holds a damaged one."""

import json
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest

from model import Corrector, ModelFolderError
from model.correction.candidates import Stretch
from model.correction.confidence import (
    ALONE,
    FIRST,
    LEAST_LOG,
    MONOTONE,
    SECOND,
    Chosen,
    Confidence,
    Features,
    features,
    second_features,
)
from model.correction.confidence_files import load_confidence, save_confidence
from model.correction.ngrams import NGrams
from model.correction.proposing import changes_of
from model.correction.trees import Trees
from model.correction.words import Words
from model.stored.folder import CONFIDENCE_FILE, NGRAMS_FILE, WORDS_FILE, fingerprint, of_weights
from model.text.changes import find_changes

WORDS = Words({"학교에": 30, "집에": 20, "갔다": 8})
NGRAMS = NGrams.count(["학교에 갔다", "집에 갔다"])
KNOWN, NETWORK = (Features._fields.index(name) for name in ("right_count", "network"))
TREES = ((KNOWN, 1.0, -2.0, 1.0), (NETWORK, 0.5, -1.0, (KNOWN, 3.0, 0.0, 0.5)))
CONFIDENCE = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.25, TREES))


def stretch(source, kept, **probabilities):
    """Where ``kept`` stands in ``source``, and the network's probability of each text, what it wrote first."""
    start = source.index(kept)
    logs = {text: math.log(probability) for text, probability in probabilities.items()}
    return Stretch(start, start + len(kept), kept, logs)


def rows_of(source, *stretches):
    return {(each.stretch, each.text): each.features for each in features(source, stretches, WORDS, NGRAMS)}


SOURCE = "하꾜에 갓다"
FIRST_STRETCH = stretch(SOURCE, "하꾜", 학교=0.7, 하꾜=0.1, 학꾜=0.05)
SECOND_STRETCH = stretch(SOURCE, "갓", 갔=0.9, 갓=0.05)


def test_the_features_of_candidates():
    rows = rows_of(SOURCE, FIRST_STRETCH, SECOND_STRETCH)
    assert set(rows) == {(0, "학교"), (0, "학꾜"), (1, "갔")}  # to keep the source is no change
    school, other, went = rows.values()
    assert school.fix == pytest.approx(math.log(0.7)) and school.keep == pytest.approx(math.log(0.1))
    assert school.other == pytest.approx(math.log(0.05)) and other.other == pytest.approx(math.log(0.7))
    assert school.network == pytest.approx(0.7 * 0.9)
    assert (school.written, other.written) == (1, 0) and school.candidates == 3
    assert (school.wrong_count, school.right_count, other.right_count) == (0.0, math.log(31), 0.0)
    assert went.right_count == math.log(9) and went.right_beginning == 1
    assert school.spaces == 0 and school.length == 2 and school.changes == 2
    assert went.jamo == 1  # ㅅ for ㅆ
    assert school.sentence == pytest.approx(math.log(0.9)) and went.sentence == pytest.approx(math.log(0.7))
    assert went.other == LEAST_LOG and went.phrase_other == ALONE


def test_a_phrase_is_compared_with_those_of_the_other_candidates():
    rows = rows_of(SOURCE, FIRST_STRETCH, SECOND_STRETCH)
    school, other = rows[0, "학교"], rows[0, "학꾜"]
    assert school.phrase_kept > 5 and school.phrase > other.phrase
    assert school.phrase_other == pytest.approx(-other.phrase_other)
    span, kept = (("학교에 갔다", 0, 6), ("하꾜에 갔다", 0, 6))  # all else as the network wrote it
    assert school.phrase_kept == pytest.approx(float(np.subtract(*NGRAMS.scores([span, kept]))))
    assert school.phrase == pytest.approx(float(NGRAMS.scores([span])[0]) / 6)


def test_the_words_that_would_stand_there_are_read_after_all_changes():
    # Two slips in one word are two stretches; neither alone gives the word.
    source = "확교헤"
    rows = rows_of(source, stretch(source, "확", 학=0.9, 확=0.05), stretch(source, "헤", 에=0.9, 헤=0.05))
    assert {row.right_count for row in rows.values()} == {math.log(31)}


def test_a_space_concerns_the_words_on_both_sides():
    rows = rows_of("집에갔다", Stretch(2, 2, "", {" ": -0.1, "": -3.0}))
    row = rows[0, " "]
    assert row.spaces == 1 and row.wrong_count == 0 and row.right_count == math.log(9)
    rows = rows_of("집에갓다", Stretch(2, 3, "갓", {" 갔": -0.1, "갓": -3.0}))
    assert rows[0, " 갔"].spaces == 2


def probability(odds):
    return 1 / (1 + math.exp(-odds))


def test_leaves_add_up_to_log_odds():
    ((_, text, confidence),) = CONFIDENCE.choose("하꾜에", [FIRST_STRETCH])
    assert (text, confidence) == ("학교", pytest.approx(probability(0.25 + 1.0 + 0.5)))
    unknown = replace(FIRST_STRETCH, candidates={"학꾜": math.log(0.9), "하꾜": math.log(0.1)})
    ((_, text, confidence),) = CONFIDENCE.choose("하꾜에", [unknown])
    assert (text, confidence) == ("학꾜", pytest.approx(probability(0.25 - 2.0 + 0.0)))
    assert CONFIDENCE.choose("하꾜에", ()) == []


def test_the_likeliest_candidate_is_chosen_whatever_the_network_put_first():
    second = replace(
        FIRST_STRETCH, candidates={"학꾜": math.log(0.6), "학교": math.log(0.3), "하꾜": math.log(0.05)}
    )
    ((found, text, _),) = CONFIDENCE.choose("하꾜에", [second])
    assert text == "학교" and found.written == "학꾜"


@pytest.mark.parametrize(("known", "expected"), [("학교", ["학교"]), ("학꾜", [])])
def test_what_the_network_would_have_left_alone_takes_better_odds_than_evens(known, expected):
    kept = replace(FIRST_STRETCH, candidates={"하꾜": math.log(0.6), known: math.log(0.3)})
    assert [text for _, text, _ in CONFIDENCE.choose("하꾜에", [kept])] == expected


@pytest.fixture
def asked(monkeypatch):
    """What Kiwi was asked. In its place: the more letters of 학교 a text has, the more usual it is; 하꾜 is unknown."""
    asked = []

    def analyse(texts):
        asked.extend(texts)
        rows = [(10.0 * sum(c in text for c in "학교") - 30, 3, "하꾜" in text) for text in texts]
        return np.array(rows).reshape(-1, 3)

    monkeypatch.setattr("model.correction.confidence.analyse", analyse)
    monkeypatch.setattr("model.correction.confidence.longest_known", lambda text, start, end: end - start)
    return asked


def test_morphemes_are_looked_at_with_the_words_around_them(asked):
    source = "우리 동네 하꾜에서 친구를 갓다"
    stretches = (
        stretch(source, "하꾜", 학교=0.7, 하꾜=0.1, 학꾜=0.05),
        stretch(source, "갓", 갔=0.9, 갓=0.05),
    )
    rated = features(source, stretches, WORDS, NGRAMS)
    school, other = second_features(source, stretches, rated[:2])
    assert asked == [
        f"동네 {text}에서 친구를" for text in ("학교", "하꾜", "학꾜")
    ]  # nothing of the other stretch
    assert school == (20, 10, -10 / 3, 1, 0, 2, 2, 0, 0) and other == (10, -10, -20 / 3, 1, 0, 2, 2, 0, 0)
    (went,) = second_features(source, stretches, rated[2:])
    assert went.morphemes_other == ALONE


@pytest.mark.parametrize(
    ("wrong", "right", "norm"),
    [("몇일", "며칠", 1), ("며칠", "몇일", -1), ("나무", "나비", 0)],
)
def test_a_change_that_the_norm_makes_is_known(asked, wrong, right, norm):
    source = f"저는 {wrong} 보았다"
    stretches = [stretch(source, wrong, **{right: 0.5, wrong: 0.4})]
    (found,) = second_features(source, stretches, features(source, stretches, WORDS, NGRAMS))
    assert found.norm == norm


def test_the_shape_of_a_particle_is_compared_with_that_of_the_source(asked):
    source = "언니이 왔다"
    stretches = [stretch(source, "이", 가=0.5, 이=0.4, 는=0.1)]
    mended = second_features(source, stretches, features(source, stretches, WORDS, NGRAMS))
    assert [each.misshapen for each in mended] == [-1, -1]


SURE, UNSURE, HOPELESS = (FIRST.index("fix"), -9.0, 0.0, 4.0), 0.5, -4.0  # log odds


@pytest.mark.parametrize(("first", "is_asked"), [(SURE, False), (UNSURE, True), (HOPELESS, False)])
def test_second_trees_are_asked_where_the_first_leave_doubt(first, is_asked, asked):
    second = Trees(SECOND, 0.0, ((SECOND.index("morphemes_kept"), 15.0, -1.5, 1.5),))
    confidence = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.0, (first,)), second)
    ((_, text, found),) = confidence.choose("하꾜에", [FIRST_STRETCH])
    assert bool(asked) == is_asked
    if is_asked:
        assert (text, found) == ("학교", pytest.approx(probability(1.5)))
    else:
        assert not 0.1 < found < 0.9
        without = replace(confidence, second=None)
        assert without.choose("하꾜에", [FIRST_STRETCH]) == confidence.choose("하꾜에", [FIRST_STRETCH])


@pytest.mark.parametrize(
    ("wrong", "right", "written", "more_usual", "is_believed"),
    [
        ("탁본", "반복", 0.6, 12.0, False),  # the trees alone
        ("탁본", "반복", 0.8, 12.0, True),  # the network, too
        ("탁본", "반복", 0.6, 15.0, True),  # the analyser, too
        ("몇일", "며칠", 0.6, 12.0, True),  # the norm, too
        ("하꾜", "학교", 0.6, 12.0, True),  # 하꾜 is no word
    ],
)
def test_a_word_is_replaced_by_a_word_if_not_the_trees_alone_are_sure(
    wrong, right, written, more_usual, is_believed, monkeypatch
):
    rows = {wrong: (-more_usual, 3, wrong == "하꾜"), right: (0, 3, 0)}
    monkeypatch.setattr(
        "model.correction.confidence.analyse",
        lambda texts: np.array([next(row for word, row in rows.items() if word in text) for text in texts]),
    )
    monkeypatch.setattr("model.correction.confidence.longest_known", lambda *_: 2)
    confidence = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.0, (UNSURE,)), Trees(SECOND, 3.0, ()))
    source = f"그는 {wrong} 보았다"
    ((_, text, found),) = confidence.choose(source, [stretch(source, wrong, **{right: written, wrong: 0.1})])
    assert (text, found) == (right, pytest.approx(probability(3.0 if is_believed else 0.0)))


def test_every_monotone_feature_exists():
    assert set(MONOTONE) <= set(SECOND)
    assert SECOND[: len(FIRST)] == FIRST == Features._fields


@pytest.fixture
def folder(tiny_folder, tmp_path):
    copy = tmp_path / "known"
    shutil.copytree(tiny_folder, copy)
    save_confidence(copy, CONFIDENCE)
    return copy


def test_a_folder_keeps_it(folder):
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


class Choosing:
    """In place of a Confidence: it takes the last candidate of every stretch, or the first."""

    words = Words({})  # none is known, so no word of Latin letters is taken for Hangul

    def __init__(self, last):
        self.last = last

    def choose(self, source, stretches):
        for each in stretches:
            texts = [text for text in each.candidates if text != each.kept]
            if texts:
                yield Chosen(each, texts[-1 if self.last else 0], 0.8)


def test_changes_beside_each_other_are_one_and_as_sure_as_the_least_sure():
    source = "저에요."
    left_alone = Stretch(0, 1, "저", {"저": -0.5, "거": -1.0})
    changed = Stretch(1, 2, "에", {"예": -0.1, "에": -3.0})
    end = Stretch(3, 4, ".", {"!": -0.5, ".": -1.0})

    def proposed(*chosen, accepts=lambda change: True):
        return changes_of(source, [Chosen(*each) for each in chosen], accepts)

    one, other = proposed((left_alone, "거", 0.9), (changed, "예", 0.8), (end, "!", 0.6))
    assert (one.wrong, one.right, one.confidence, one.instead_of) == ("저에", "거예", 0.8, "저예")
    assert (other.wrong, other.right, other.confidence, other.instead_of) == (".", "!", 0.6, None)
    # What the network would have left alone makes nothing beside it less sure.
    (one,) = proposed((left_alone, "거", 0.6), (changed, "예", 0.8))
    assert (one.wrong, one.right, one.confidence, one.instead_of) == ("에", "예", 0.8, None)
    assert proposed() == ()
    # What may not be proposed is not, though each part of it might.
    (one,) = proposed(
        (left_alone, "거", 0.9), (changed, "예", 0.8), (end, "!", 0.6), accepts=lambda c: c.right == "!"
    )
    assert (one.wrong, one.right, one.target_start) == (".", "!", 3)


def test_what_is_chosen_is_proposed_with_the_probabilities_of_its_own_pass(
    tiny_corrector, load_tiny, tiny_folder, monkeypatch
):
    # A network with random weights keeps no word and is sure of nothing; and nothing is made, so each sentence is read once.
    monkeypatch.setattr("model.correction.mending.spares_words", lambda change, source: True)
    monkeypatch.setattr("model.correction.proposing.PROBABILITY_OF_LOSS", 0.0)
    corrector = load_tiny(tiny_folder, minimum_confidence=0.9)
    texts = ["손니미 왔는데 방이 없으면", "전 오래 씂 수 깄는 겍 필요해요.", "방이 업쓰며 너떠캐요?"]
    first, last = [], []
    for found, judge in ((first, Choosing(last=False)), (last, Choosing(last=True))):
        corrector.confidence = judge
        found += [each.with_minimum_confidence(0.0) for each in corrector.correct_batch(texts)]
    others = [c for correction in last for c in correction.proposed if c.instead_of is not None]
    assert others  # else the network was too sure for this test
    for correction in (*first, *last):
        (sentence,) = correction.sentences
        trace = sentence.trace
        assert correction.proposed == find_changes(correction.source, correction.text)
        for change in correction.proposed:
            assert correction.text[change.target_start : change.target_end] == change.right
            rows = slice(change.target_start, max(change.target_end, change.target_start + 1))
            written = math.exp(trace.log_probabilities[rows].sum())
            assert change.fix_probability == pytest.approx(written, abs=1e-4)
            assert change.known_confidence == 0.8
    assert [one.text for one in first] != [other.text for other in last]


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
