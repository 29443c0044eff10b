import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from model import Corrector
from model.correction.proposing import with_probabilities
from model.text.changes import apply_changes, find_changes

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
        ("할수", "할 수", (1.0, 0.7, 0.9, 1.0), 0.7),  # of what was inserted
        ("가 는", "가는", (1.0, 0.6, 1.0), 0.6),  # nothing was written: of what came instead
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


def test_a_difference_between_two_texts_has_no_confidence():
    (change,) = find_changes("감배", "담배")
    with pytest.raises(ValueError, match=r"no network made the change of source\[0:1\]"):
        _ = change.confidence


@pytest.fixture(scope="module")
def corrections(tiny_corrector):
    corrections = tiny_corrector.correct_batch(TEXTS)
    assert all(correction.proposed for correction in corrections)  # else the tests below would test nothing
    return corrections


def test_every_change_carries_its_probabilities(corrections):
    for correction in corrections:
        for change in correction.proposed:
            assert 0 <= change.fix_probability <= 1
            assert 0 <= change.keep_probability <= 1
            assert 0 <= change.confidence <= 1
            # What was written was the most probable token, so keeping the source can be no likelier.
            assert change.keep_probability <= 0.5 + 1e-6 or change.confidence < 0.5


def test_the_probabilities_are_those_of_one_pass_over_the_raw_answer(tiny_corrector, tiny_folder):
    from model.network.loading import load_model_folder
    from model.text.tokenizer import START_ID

    (sentence,) = tiny_corrector.correct(TEXTS[0]).sentences
    network, tokenizer, *_ = load_model_folder(tiny_folder)
    raw = apply_changes(sentence.source, sentence.proposed)
    target = tokenizer.encode_target(raw)
    source = np.array([tokenizer.encode_source(sentence.source)], np.int32)
    logits = np.asarray(network((source, np.array([[START_ID, *target[:-1]]], np.int32))), np.float64)[0]
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    original = tokenizer.encode_target(sentence.source)
    for change in sentence.proposed:
        end = max(change.target_end, change.target_start + 1)
        rows = range(change.target_start, end)
        fix = np.prod([probabilities[row, target[row]] for row in rows])
        keep = probabilities[change.target_start, original[change.source_start]]
        assert change.fix_probability == pytest.approx(fix, abs=1e-4)
        assert change.keep_probability == pytest.approx(keep, abs=1e-4)


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


def test_a_corrector_that_must_be_certain_changes_nothing(
    tiny_folder, tiny_corrector, load_tiny, corrections
):
    certain = load_tiny(tiny_folder, minimum_confidence=1.0)
    assert [correction.text for correction in certain.correct_batch(TEXTS)] == TEXTS
    assert certain.minimum_confidence == 1.0
    assert any(correction.changes for correction in corrections)
    assert tiny_corrector.minimum_confidence == tiny_corrector.config.minimum_confidence == 0.0


def test_a_confidence_is_a_probability(tiny_folder):
    with pytest.raises(ValueError, match="received 1.5"):
        Corrector.load(tiny_folder, minimum_confidence=1.5)


def test_probabilities_do_not_make_changes_differ():
    (change,) = find_changes("감배", "담배")
    assert replace(change, fix_probability=0.5, keep_probability=0.1) == change


class Answering:
    """In place of a network: whatever it reads, it is certain of these ids."""

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
