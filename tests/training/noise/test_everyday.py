"""Everyday sentences: rightly spelt, of all the words, and the same ones for the same seed."""

import random

from training.corpus.faults import find_fault
from training.noise.everyday import everyday_sentence, predicates
from training.run.examples import ExampleMaker, ExampleSettings


def sentences(count: int) -> list[str]:
    rng = random.Random(0)
    return [everyday_sentence(rng) for _ in range(count)]


def test_they_are_rightly_spelt_as_far_as_a_corpus_is_looked_at():
    assert [found for text in sentences(3000) if (found := find_fault(text))] == []


def test_particles_agree_and_stems_conjugate():
    text = " ".join(sentences(6000))
    for right in ("그리워", "방이 좁", "노래를 들", "짐을 실", "옷을 입", "길을 물"):
        assert right in text
    for wrong in ("방가", "노래을", "그립어", "듣어", "실는", "닫으니까는", "하을", "쓰을"):
        assert wrong not in text


def test_verbs_alone_take_the_endings_of_verbs():
    adjectives = [each.stem for each in predicates() if not each.is_verb]
    text = " ".join(sentences(6000))
    assert not any(f"{stem}자마자" in text or f"{stem}고 싶" in text for stem in adjectives if len(stem) > 1)


def test_every_predicate_comes():
    text = " ".join(sentences(8000))
    nouns = [noun for each in predicates() for noun in each.nouns]
    assert sum(noun in text for noun in nouns) > 0.98 * len(nouns)


def test_the_same_seed_gives_the_same_sentences():
    assert sentences(20) == sentences(20)
    assert len(set(sentences(200))) > 190


def test_they_come_beside_the_sentences_of_the_corpus():
    settings = ExampleSettings(everyday_share=1.0, mix={"typing": 1.0}, join_share=0.0, outside_share=0.0)
    maker = ExampleMaker(["바다."], settings)
    pairs = [[*maker.pairs("바다.", random.Random(seed))] for seed in range(50)]
    assert all(len(each) == 2 and each[0][1] == "바다." for each in pairs)
    assert sum(wrong != right for _, (wrong, right) in pairs) > 40
