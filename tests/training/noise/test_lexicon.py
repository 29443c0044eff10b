"""Noun replacement by ``Lexicon``, and generated everyday sentences."""

import random
import re

import pytest

from model.text.hangul import is_syllable
from training.corpus.faults import find_fault
from training.noise import read_lines
from training.noise.everyday import everyday_sentence
from training.noise.lexicon import Lexicon
from training.run.examples import ExampleMaker, ExampleSettings

FEW = Lexicon(["= 연필 지우개 책상", "~ 고생물학자 과학자"])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("연필은 길다.", {"지우개는 길다.", "책상은 길다."}),
        ("연필이 길다.", {"지우개가 길다.", "책상이 길다."}),
        ("연필로 쓴다.", {"지우개로 쓴다.", "책상으로 쓴다."}),
        ("연필과 종이", {"지우개와 종이", "책상과 종이"}),
        ("지우개로는 못 지운다.", {"연필로는 못 지운다.", "책상으로는 못 지운다."}),
        ('"연필입니다."', {'"지우개입니다."', '"책상입니다."'}),
    ],
)
def test_the_particle_takes_the_form_that_follows_the_new_noun(text, right):
    assert {FEW.vary(text, random.Random(seed)) for seed in range(50)} - {text} == right


@pytest.mark.parametrize(
    "text",
    ["연필심이 길다.", "색연필을 샀다.", "연필이야", "A연필을 샀다.", "나무를 심는다.", "", "연필는 길다."],
)
def test_a_word_that_is_no_noun_of_the_list_with_its_particle_stays(text):
    assert all(FEW.vary(text, random.Random(seed)) == text for seed in range(20))


def test_one_or_two_nouns_are_replaced():
    text = "연필이 지우개를 책상에서 민다."
    changed = [
        sum(a != b for a, b in zip(text.split(), FEW.vary(text, random.Random(seed)).split(), strict=True))
        for seed in range(100)
    ]
    assert {1, 2} <= set(changed) and max(changed) <= 2


def test_no_noun_is_replaced_by_one_that_looks_like_a_slip():
    alike = Lexicon(["= 경우 풍우 경유"])
    assert all(
        alike.vary("그 경우에는 쉰다.", random.Random(seed)) == "그 경우에는 쉰다." for seed in range(50)
    )


def test_the_list_holds_tens_of_thousands_of_nouns_each_once_and_is_small():
    nouns = [noun for line in read_lines("nouns.txt") for noun in line.split(" ")[1:]]
    assert len(nouns) == len(set(nouns)) > 20_000
    assert all(2 <= len(noun) <= 6 and all(map(is_syllable, noun)) for noun in nouns)
    assert all(re.match("[=~] ", line) for line in read_lines("nouns.txt"))
    assert sum(len(line.encode()) for line in read_lines("nouns.txt")) < 300_000


@pytest.fixture(scope="module")
def sentences():
    rng = random.Random(0)
    return [everyday_sentence(rng) for _ in range(8000)]


def test_they_are_rightly_spelt_as_far_as_a_corpus_is_looked_at(sentences):
    assert [found for text in sentences[:3000] if (found := find_fault(text))] == []


def test_particles_agree_and_stems_conjugate(sentences):
    text = " ".join(sentences)
    for right in ("그리워", "방이 좁", "노래를 들", "짐을 실", "옷을 입", "길을 물"):
        assert right in text
    for wrong in ("방가", "노래을", "그립어", "듣어", "실는", "닫으니까는", "하을", "쓰을"):
        assert wrong not in text


def test_they_come_beside_the_sentences_of_the_corpus():
    settings = ExampleSettings(everyday_share=1.0, mix={"typing": 1.0}, join_share=0.0, outside_share=0.0)
    maker = ExampleMaker(["바다."], settings)
    pairs = [[*maker.pairs("바다.", random.Random(seed))] for seed in range(50)]
    assert all(len(each) == 2 and each[0][1] == "바다." for each in pairs)
    assert sum(wrong != right for _, (wrong, right) in pairs) > 40
