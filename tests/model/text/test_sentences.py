import random
import time

import pytest

from model.text.tokenizer import split_sentences


def sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("안녕. 잘 가!", ["안녕.", "잘 가!"]),
        ("뭐? 정말… 그래요.", ["뭐?", "정말…", "그래요."]),
        ("원주율은 3.14 정도다. 끝", ["원주율은 3.14 정도다.", "끝"]),
        ("example.com 을 보라", ["example.com 을 보라"]),
        ('그는 "가자." 하고 말했다.', ['그는 "가자."', "하고 말했다."]),
        ("(그렇다.) 그리고 ‘아니.’ 또", ["(그렇다.)", "그리고 ‘아니.’", "또"]),
        ("한 줄\n두 줄\r\n\r\n석 줄", ["한 줄", "두 줄", "석 줄"]),
        ("앞  \n  뒤", ["앞", "뒤"]),
        ("가\u2028나\u2029다", ["가", "나", "다"]),
        ("정말?! 네", ["정말?!", "네"]),
        ("탭\t사이", ["탭\t사이"]),
        ("  앞뒤 빈칸.  ", ["앞뒤 빈칸."]),
        ("", []),
        (" \n\t\u3000", []),
        (".", ["."]),
    ],
)
def test_where_sentences_end(text, expected):
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
            )  # only white space and what separates repetitions
            assert text[start:end] == text[start:end].strip() != ""
            done = end
        assert not any(map(str.isalnum, text[done:]))


def test_a_long_sentence_is_cut_at_spaces_into_even_parts():
    text = "한 " + "둘셋 " * 40 + "끝. 짧은 말."
    *parts, last = [text[a:b] for a, b in split_sentences(text, 50)]
    assert last == "짧은 말."
    assert " ".join(parts) == text.removesuffix(" 짧은 말.")
    assert max(map(len, parts)) <= 50
    assert min(map(len, parts)) > 25
    assert split_sentences(text, len(text)) == split_sentences(text)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("할수있다 할수있다 할수있다", ["할수있다"] * 3),
        ("나는 할수있다! 나는 할수있다! 나는 할수있다!", ["나는 할수있다!"] * 3),
        ("좋아, 좋아, 좋아", ["좋아", "좋아", "좋아"]),
        ("사랑해사랑해사랑해", ["사랑해"] * 3),
        ("사랑해사랑해", ["사랑해사랑해"]),
        ("왜 그랬담 왜 그랬담", ["왜 그랬담", "왜 그랬담"]),
        ("왔다. 또 왔다, 왔다. 또 왔다", ["왔다.", "또 왔다", "왔다.", "또 왔다"]),  # of several sentences
        ("좋아 좋아", ["좋아", "좋아"]),
        ("좋아좋아", ["좋아좋아"]),  # joined twice it may be one word, as 깡충깡충
        ("좋아 좋아 좋아요", ["좋아 좋아 좋아요"]),
        ("나는 나는 나는 간다", ["나는 나는 나는 간다"]),
    ],
)
def test_what_is_said_three_times_is_three_sentences(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("안녕! 😀", ["안녕! 😀"]),
        ("안녕.\n😀\n또 봐.", ["안녕.", "😀", "또 봐."]),
        ("😀 안녕.", ["😀 안녕."]),
    ],
)
def test_an_emoji_after_a_sentence_is_no_second_one(text, expected):
    assert sentences(text) == expected
