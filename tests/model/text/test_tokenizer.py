"""Tokenizer: encoding, decoding, its vocabulary; splitting of a text into sentences."""

import random
import time
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from model.text.tokenizer import (
    END_ID,
    OUTSIDE_ID,
    Tokenizer,
    normalise,
    split_sentences,
)
from tests.examples import examples

CHARACTERS = "가각값좋조아요저는갑니다을를 .,!?aB9ㅋㅠ"
TOKENIZER = Tokenizer(CHARACTERS)
FAMILY = "👨‍👩‍👧"  # three emoji and two zero-width joiners


def back(target: str, source: str) -> str:
    """The text where the network produces ``target`` perfectly."""
    return TOKENIZER.decode(TOKENIZER.encode_target(target), source)


def test_texts_of_the_vocabulary_survive_whatever_the_source_was():
    rng = random.Random(0)
    for _ in range(300):
        text = "".join(rng.choices(CHARACTERS, k=rng.randrange(0, 30)))
        other = "".join(rng.choices(CHARACTERS + "🙂漢씂", k=rng.randrange(0, 30)))
        assert back(text, text) == text
        assert back(text, other) == text
        assert TOKENIZER.encode_source(text) == TOKENIZER.encode_target(
            text
        )  # each known character has one id


@pytest.mark.parametrize("outside", f"🙂 {FAMILY} 👍🏽 漢字 e\u0301 ß 씂쐼 \u200b \ufffc ♥️ ꥠ".split())
def test_what_is_outside_the_vocabulary_survives(outside):
    for text in (outside, f"{outside}가", f"가 {outside} 요.", f"{outside}{outside} 가{outside}"):
        assert back(text, text) == text


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("저는🙂 조아요 漢 갑니다", "저는 🙂 좋아요 漢 갑니다."),
        ("조아🙂漢요", "좋아🙂漢요"),
        ("조아🙂요漢", "좋아🙂요漢."),
    ],
)
def test_outside_characters_keep_their_place_and_order_where_neighbours_change(source, target):
    assert back(target, source) == target


def test_a_produced_outside_without_an_origin_is_dropped():
    ids = [*TOKENIZER.encode_target("가")[:-1], OUTSIDE_ID, OUTSIDE_ID, END_ID]
    assert TOKENIZER.decode(ids, "가") == "가"
    assert TOKENIZER.decode(ids, "가🙂") == "가🙂"


def test_decoding_stops_at_the_end_mark_and_skips_other_special_tokens():
    ids = [0, 2, *TOKENIZER.encode_target("가요"), *TOKENIZER.encode_target("값")]
    assert TOKENIZER.decode(ids, "가요") == "가요"
    assert TOKENIZER.decode(TOKENIZER.encode_target("가요")[:-1], "") == "가요"  # no end mark at all


def test_features_of_every_id():
    features = TOKENIZER.features()
    assert features.shape == (TOKENIZER.vocab_size + 11172, 4)
    assert features.dtype == np.int32
    ids = {c: TOKENIZER.encode_source(c)[0] for c in "값a씂힣"}
    assert features[ids["값"]].tolist() == [ids["값"], 1, 1, 18 + 1]  # ㄱ, ㅏ, ㅄ counted from 1
    assert features[ids["a"]].tolist() == [ids["a"], 0, 0, 0]
    assert features[ids["힣"]].tolist() == [OUTSIDE_ID, 19, 21, 28]
    jamo = [ord(c) for c in unicodedata.normalize("NFD", "씂")]
    expected = [OUTSIDE_ID, jamo[0] - 0x1100 + 1, jamo[1] - 0x1161 + 1, jamo[2] - 0x11A7 + 1]
    assert features[ids["씂"]].tolist() == expected
    assert TOKENIZER.features() is features  # worked out once
    outside = features[TOKENIZER.vocab_size :, 1:]
    assert len({tuple(row) for row in outside.tolist()}) == 11172
    assert outside.min() == 1


@pytest.mark.parametrize("characters", [["가", "가"], ["가나"], [""], ["\ufffc"]])
def test_a_vocabulary_of_anything_but_distinct_characters_is_refused(characters):
    with pytest.raises(ValueError, match=f"received {characters[-1]!r}"):
        Tokenizer(characters)


def test_ideographs_with_two_code_points_stay_as_typed():
    assert normalise("樂\uf914 \uf95c") == "樂\uf914 \uf95c"
    assert normalise(f"\uf914{unicodedata.normalize('NFD', '낙')}") == "\uf914낙"


def sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in split_sentences(text)]


MARKED = [line for _, line, _ in examples(Path(__file__).with_name("sentences.txt"))]


@pytest.mark.parametrize("marked", MARKED)
def test_a_text_is_cut_where_a_sentence_ends_or_is_said_again(marked):
    assert sentences(marked.replace("|", "")) == [part.strip(" ,") for part in marked.split("|")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("한 줄\n두 줄\r\n\r\n석 줄", ["한 줄", "두 줄", "석 줄"]),
        ("앞  \n  뒤", ["앞", "뒤"]),
        ('"가자." \n 하고 말했다.', ['"가자."', "하고 말했다."]),
        ("가\u2028나\u2029다", ["가", "나", "다"]),
        ("탭\t사이", ["탭\t사이"]),
        ("  앞뒤 빈칸.  ", ["앞뒤 빈칸."]),
        ("", []),
        (" \n\t\u3000", []),
        ("안녕.\n😀\n또 봐.", ["안녕.", "😀", "또 봐."]),
    ],
)
def test_white_space_around_sentences_belongs_to_none(text, expected):
    assert sentences(text) == expected


def test_nothing_is_lost():
    rng = random.Random(3)
    for _ in range(1000):
        text = "".join(rng.choices('가나.!?… \n\r\t\u2028"”)1', k=rng.randrange(0, 25)))
        done = 0
        for start, end in split_sentences(text, rng.choice((None, 1, 4))):
            assert start >= done
            assert not any(
                map(str.isalnum, text[done:start])
            )  # only white space and separators of repetitions
            assert text[start:end] == text[start:end].strip() != ""
            done = end
        assert not any(map(str.isalnum, text[done:]))


def test_what_has_no_space_is_not_cut():
    endless = "가" * 30
    text = f"앞의 말 {endless} 뒤의 말"
    assert [text[a:b] for a, b in split_sentences(text, 10)] == ["앞의 말", endless, "뒤의 말"]
    assert [endless[a:b] for a, b in split_sentences(endless, 10)] == [endless]


def test_long_white_space_takes_no_quadratic_time():
    started = time.process_time()
    assert len(split_sentences("가" + " " * 100_000 + "나")) == 1
    assert len(split_sentences("가" + " \n" * 50_000 + "나")) == 2
    assert len(split_sentences("가 나" * 50_000, 2)) == 50_001
    assert time.process_time() - started < 2
