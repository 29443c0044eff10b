"""Confidence of a correction: decision trees, their files, thresholds, natural rates."""

import itertools
import json
import math
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from model import Corrector, ModelFolderError
from model.correction.candidates import Stretch
from model.correction.confidence import (
    DOUBT,
    FEW,
    LETTERS_RARER,
    SPACES_COMMONER,
    SURER,
    Confidence,
    Trees,
    at_natural_rates,
    is_swap,
    load_confidence,
    save_confidence,
)
from model.correction.features import FIRST, SECOND, Features, OneStretch, Rated, SecondFeatures
from model.correction.proposing import with_probabilities
from model.stored.folder import CONFIDENCE_FILE, NGRAMS_FILE, WORDS_FILE, fingerprint, of_weights
from model.text.changes import apply_changes, find_changes
from tests.known_words import (
    CONFIDENCE,
    FIRST_STRETCH,
    NGRAMS,
    TREES,
    WORDS,
    probability,
    stretch,
)

TEXTS = [
    "전 오래 씂 수 깄는 겍 필요해요.",
    "손니미 왔는데 방이 없으면",
    "ok. 방이 업쓰며 너떠캐요? 전 오래 씂 수",
]


WRITTEN, KEPT = 7, 8


@pytest.mark.parametrize(
    ("source", "target", "written", "expected"),
    [
        ("감배", "담배", (0.8, 0.9, 1.0), 0.8),  # of the one token that was replaced
        ("손니미", "손님이", (1.0, 0.5, 0.4, 1.0), 0.2),  # of both
        ("할수", "할 수", (1.0, 0.7, 0.9, 1.0), 0.7),  # of the inserted space
        ("가 는", "가는", (1.0, 0.6, 1.0), 0.6),  # nothing was written: of the token that came instead
        ("가.", "가", (1.0, 0.3), 0.3),  # the end mark came instead
    ],
)
def test_the_probability_of_a_fix(source, target, written, expected):
    (change,) = find_changes(source, target)
    produced = SimpleNamespace(
        ids=[WRITTEN] * len(written),
        log_probability=lambda t, token_id: np.log(written[t] if token_id == WRITTEN else 0.25),
    )
    weighed = with_probabilities(change, produced, KEPT)
    assert weighed.fix_probability == pytest.approx(expected)
    assert weighed.keep_probability == pytest.approx(0.25)
    assert weighed.confidence == pytest.approx(expected * 0.75)


@pytest.fixture(scope="module")
def corrections(tiny_corrector):
    corrections = tiny_corrector.correct_batch(TEXTS)
    assert all(correction.proposed for correction in corrections)  # else the tests below would test nothing
    return corrections


def test_a_threshold_is_moved_without_asking_the_network_again(tiny_corrector, tiny_folder, corrections):
    for correction in corrections:
        least = [0.0, *sorted(change.confidence for change in correction.proposed), 1.0]
        between = (sum(pair) / 2 for pair in itertools.pairwise(least) if pair[1] - pair[0] > 1e-3)
        for minimum in (0.0, *between, 1.0):
            moved = correction.with_minimum_confidence(minimum)
            kept = [change for change in correction.proposed if change.confidence >= minimum]
            assert moved.text == apply_changes(correction.source, kept)
            assert [change.wrong for change in moved.changes] == [change.wrong for change in kept]
            for change in moved.changes:
                assert moved.text[change.target_start : change.target_end] == change.right
            assert moved.proposed == correction.proposed
    with pytest.raises(ValueError, match="received 1.5"):
        corrections[0].with_minimum_confidence(1.5)


def test_a_confidence_is_a_probability(tiny_folder):
    with pytest.raises(ValueError, match="received 1.5"):
        Corrector.load(tiny_folder, minimum_confidence=1.5)


class Answering:
    """In place of a network: it is certain of these ids for any source."""

    def __init__(self, ids):
        self.ids = ids

    def spread(self, answer, items):
        return answer(items)

    def produce(self, sources):
        return [SimpleNamespace(ids=self.ids, log_probability=self.log_probability) for _ in sources]

    def log_probability(self, position, token_id):
        return 0.0 if token_id == self.ids[position] else -np.inf


@pytest.mark.parametrize(
    ("source", "answer", "expected"),
    [
        ("가나（다）라", "가나 （다） 라", "가나（다）라"),  # it reads both brackets as <outside>
        ("가 👨‍👩‍👧 나라", "가 👨‍👩 ‍👧 나라", "가 👨‍👩‍👧 나라"),  # half an emoji
        ("가나（다）라마", "가 나（다）라 마", "가 나（다）라 마"),  # elsewhere it may judge
        ("가（다）씂", "가（라）쓸", "가（라）쓸"),  # and letters too
        ("a가 1b", "ab가 1b", "a가 1b"),
    ],
)
def test_what_is_no_proposal(tiny_folder, source, answer, expected):
    corrector = Corrector.load(tiny_folder)
    corrector._network = Answering(corrector.tokenizer.encode_target(answer))
    assert corrector.correct(source).text == expected


FIELDS = ("height", "width", "depth")
OF_ALL_SHAPES = ((0, 0.0, -1.0, (1, 0.5, (2, -0.5, 2.0, 3.0), 4.0)), 0.5, (1, 0.0, (0, 1.0, 7.0, 8.0), 9.0))


def walked(tree, row):
    while isinstance(tree, tuple):
        tree = tree[3] if row[tree[0]] >= tree[1] else tree[2]
    return tree


def test_trees_of_all_shapes_are_walked_at_once():
    rows = np.random.default_rng(0).normal(size=(60, len(FIELDS)))
    expected = [0.25 + sum(walked(tree, row) for tree in OF_ALL_SHAPES) for row in rows]
    np.testing.assert_allclose(Trees(FIELDS, 0.25, OF_ALL_SHAPES).log_odds(rows), expected)


def test_what_is_written_has_names_and_is_read_again():
    trees = Trees(FIELDS, 0.25, OF_ALL_SHAPES)
    values = json.loads(trees.to_json())
    assert values["trees"][2] == ["width", 0.0, ["height", 1.0, 7.0, 8.0], 9.0]
    assert Trees.parse(FIELDS, values) == trees
    with pytest.raises(ValueError, match="not a tree"):
        Trees.parse(("height", "width"), values)


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


@pytest.mark.parametrize(("known", "expected"), [("학교", ["학교"]), ("학꾜", [])])
def test_what_the_network_would_have_left_alone_takes_better_odds_than_evens(known, expected):
    kept = replace(FIRST_STRETCH, candidates={"하꾜": math.log(0.6), known: math.log(0.3)})
    surer = replace(CONFIDENCE, trees=replace(CONFIDENCE.trees, start=1.5))
    assert [text for _, text, _ in surer.choose("하꾜에", [kept])] == expected


SURE, UNSURE, HOPELESS = (FIRST.index("fix"), -9.0, 0.0, 4.0), 0.5, -4.0  # log odds


@pytest.mark.parametrize(("first", "is_asked"), [(SURE, False), (UNSURE, True), (HOPELESS, False)])
def test_second_trees_are_asked_where_the_first_leave_doubt(first, is_asked, asked):
    second = Trees(SECOND, 0.0, ((SECOND.index("morphemes_kept"), 15.0, -1.5, 1.5),))
    confidence = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.0, (first,)), second)
    ((_, text, found),) = confidence.choose("하꾜에", [FIRST_STRETCH])
    assert bool(asked) == is_asked
    if is_asked:
        assert (text, found) == ("학교", pytest.approx(probability(1.5 - LETTERS_RARER)))
    else:
        assert not 0.1 < found < 0.9
        without = replace(confidence, second=None)
        assert without.choose("하꾜에", [FIRST_STRETCH]) == confidence.choose("하꾜에", [FIRST_STRETCH])


@pytest.mark.parametrize(
    ("wrong", "right", "log_odds", "longest", "expected"),
    [
        ("탁본", "반복", 3.0, 2, 0.0),  # the trees alone
        ("탁본", "반복", 6.0, 2, 6.0 - LETTERS_RARER),  # and they are sure
        ("턴", "번", 2.9, 1, 0.0),  # no word of two syllables: a lower threshold
        ("턴", "번", 3.0, 1, 3.0 - LETTERS_RARER),
        ("몇일", "며칠", 1.0, 2, 1.0),  # the norm, too
        ("하꾜", "학교", 1.5, 2, 1.5 - LETTERS_RARER),  # 하꾜 is no word
        ("그집", "그 집", 1.0, 1, 1.0 + SPACES_COMMONER),  # spaces are the commonest mistake
    ],
)
def test_a_word_is_replaced_by_a_word_if_not_the_trees_alone_are_sure(
    wrong, right, log_odds, longest, expected, monkeypatch
):
    rows = {wrong: (-12.0, 3, wrong == "하꾜"), right: (0, 3, 0)}
    monkeypatch.setattr(
        "model.correction.features.analyse",
        lambda texts: np.array([next(row for word, row in rows.items() if word in text) for text in texts]),
    )
    monkeypatch.setattr("model.correction.features.longest_known", lambda *_: longest)
    confidence = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.0, (UNSURE,)), Trees(SECOND, log_odds, ()))
    source = f"그는 {wrong} 보았다"
    ((_, text, found),) = confidence.choose(source, [stretch(source, wrong, **{right: 0.8, wrong: 0.1})])
    assert (text, found) == (right, pytest.approx(probability(expected)))


@pytest.mark.parametrize("changes", [1, FEW, FEW + 1])
def test_letters_are_rarer_mistakes_in_a_sentence_with_few_changes(changes):
    source = "하꾜에" + " 하꾜에" * (changes - 1)
    starts = range(0, len(source), 4)
    stretches = [
        replace(FIRST_STRETCH, start=i, end=i + FIRST_STRETCH.end - FIRST_STRETCH.start) for i in starts
    ]
    lower = LETTERS_RARER if changes <= FEW else 0.0
    confidence = replace(CONFIDENCE, trees=Trees(FIRST, 1.5, ()))
    found = [each.confidence for each in confidence.choose(source, stretches)]
    assert found == pytest.approx([probability(1.5 - lower)] * changes)


OF_4, OF_3, OF_2 = ({"unknown_kept": 1, "whole": syllables} for syllables in (4, 3, 2))  # in no lexicon
KNOWN, TYPED = {"whole_kept": 4, "whole": 4}, {"unknown_kept": 1}
LIKELIER, LESS, FAR = ({"morphemes_kept": gain} for gain in (SURER, SURER - 1, 2 * SURER))
LOWER = 2.0 - LETTERS_RARER


@pytest.mark.parametrize(
    ("frame", "kept", "text", "second", "expected"),
    [
        ("그는 {} 보았다", "렉", "랙", OF_4, 2.0),  # 인터렉티브 → 인터랙티브: a long word
        ("그는 {} 보았다", "룽", "룹", OF_2, LOWER),  # 그룽 → 그룹: a short one
        ("그는 {} 보았다", "박", "덱", OF_3, 0.0),  # 인박스 → 인덱스: two letters of what may be a name
        ("그는 {} 보았다", "곬", "공", OF_2, 2.0),  # no name has this coda
        ("그는 {} 보았다", "머거", "먹어", OF_2, LOWER),  # as it is heard
        ("그는 {} 보았다", "러미", "머리", OF_2, LOWER),  # in another order
        ("그는 {} 보았다", "렉", "랙", KNOWN, 0.0),
        ("밥을 {} 나갔다", "머꼬", "먹고", LIKELIER, 2.0),  # a stem and an ending
        ("밥을 {} 나갔다", "머꼬", "먹고", LESS, 0.0),
        ("꽃이 펼쳐{}", "지다", "진다", LIKELIER, 0.0),  # typed was an ending, too
        ("꽃이 펼쳐{}", "지다", "진다", FAR, 2.0),
        ("동생{} 얼굴을 보았다", "에", "의", LIKELIER, 2.0),  # a particle for a particle
        ("물{} 마셨다", "얼", "을", LIKELIER, 0.0),  # a noun may end so
        ("밥을{} 먹었다", "로", "", TYPED, 0.0),  # 리스로를 → 리스를: a syllable of a name
        ("밥을{} 먹었다", "을", "", TYPED, LOWER),  # one that was typed twice
        ("밥을{} 먹었다", "로", "르", TYPED, LOWER),  # something else comes
    ],
)
def test_log_odds_at_natural_rates(frame, kept, text, second, expected):
    assert rated_at_natural_rates(frame, kept, text, 2.0, **second) == expected


def rated_at_natural_rates(frame, kept, text, log_odds, is_dense=False, **second):
    """The log odds at natural rates of ``text`` for ``kept`` in a sentence."""
    first = Features(**dict.fromkeys(FIRST, 0.0))._replace(jamo=1, changes=1)
    more = SecondFeatures(**dict.fromkeys(SecondFeatures._fields, 0.0))._replace(**second)
    source = frame.format(kept)
    sentence = OneStretch(source, [stretch(source, kept, **{text: 0.8})])
    return at_natural_rates(log_odds, sentence, Rated(0, text, first), more, is_dense)


@pytest.mark.parametrize(
    ("frame", "kept", "text", "log_odds", "expected"),
    [
        ("모든 관련{}을 들었다", "설", "성", 5.0, 0.0),  # a noun of the lexicon with a suffix
        ("모든 관련{}을 들었다", "설", "성", 6.0, 6.0 - LETTERS_RARER),
        ("그는 {}를 만났다", "친우", "친구", 5.0, 0.0),
    ],
)
def test_more_is_asked_of_a_word_for_a_noun_of_the_lexicon(frame, kept, text, log_odds, expected):
    assert rated_at_natural_rates(frame, kept, text, log_odds) == expected
    assert rated_at_natural_rates(frame, kept, text, log_odds, is_dense=True) == log_odds


def test_both_halves_of_a_swap_are_as_sure_as_the_less_sure_one():
    source = "컴터퓨를"
    come = Stretch(1, 1, "", {"퓨": -0.1, "": -3.0})
    gone = Stretch(2, 3, "퓨", {"": -0.1, "퓨": -3.0})
    trees = Trees(FIRST, 1.0, ((FIRST.index("jamo"), 2.5, 0.0, 1.0),))
    one, other = replace(CONFIDENCE, trees=trees).choose(source, [come, gone])
    assert one.confidence == other.confidence
    apart = replace(gone, start=4, end=5)
    assert is_swap(source, (come, "퓨"), (gone, ""))
    assert not is_swap("컴터 퓨", (come, "퓨"), (replace(gone, start=3, end=4), ""))
    assert not is_swap(source, (come, "퓨"), (apart, "터")) and not is_swap(source, (come, ""), (gone, "퓨"))


@pytest.mark.parametrize(("space", "lower"), [(" ", 0.0), ("", LETTERS_RARER)])
def test_a_sure_slip_in_another_word_makes_letters_likelier(space, lower):
    source = f"하꾜에{space}갓다"
    doubted = stretch(source, "갓", 각=0.9, 갓=0.05)
    trees = Trees(FIRST, 0.0, ((FIRST.index("length"), 1.5, 2.0, DOUBT),))
    slip, found = replace(CONFIDENCE, trees=trees).choose(source, [FIRST_STRETCH, doubted])
    assert slip.confidence == pytest.approx(probability(DOUBT))
    assert found.confidence == pytest.approx(probability(2.0 - lower))


@pytest.mark.parametrize(
    ("unknown_kept", "unknown", "more"), [(0, 0, SPACES_COMMONER), (1, 2, 0.0), (1, 0, SPACES_COMMONER)]
)
def test_spaces_beside_a_word_that_no_lexicon_has_are_no_commoner(unknown_kept, unknown, more):
    first = Features(**dict.fromkeys(FIRST, 0.0))._replace(spaces=1.0)
    second = SecondFeatures(**dict.fromkeys(SecondFeatures._fields, 0.0))
    second = second._replace(unknown_kept=unknown_kept, unknown=unknown)
    sentence = OneStretch("하꾜에", [FIRST_STRETCH])
    assert at_natural_rates(1.0, sentence, Rated(0, "학 교", first), second, False) == 1.0 + more
