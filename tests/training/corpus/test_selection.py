"""Sentences that are held out, left out for a misplaced space, or read less often; and the characters of a
network.
"""

import json
import random

import pytest
from click.testing import CliRunner

from model.text import hangul
from model.text.tokenizer import Tokenizer
from training.corpus.corpus import Sentence
from training.corpus.selection import (
    ASCII,
    COMPATIBILITY_JAMO,
    KS_X_1001_SYLLABLES,
    choose_characters,
    copies,
    find_spacing_faults,
    hold_out_command,
    read_weights,
    weight_of,
)


def test_a_line_ends_at_a_line_feed_alone(tmp_path):
    texts = [f"가\u2028나\x85다 {number}" for number in range(4)]
    lines = [json.dumps({"text": text, "source": "one"}, ensure_ascii=False) + "\n" for text in texts]
    (tmp_path / "corpus").write_text("".join(lines), encoding="utf-8", newline="")
    rest, held = tmp_path / "rest", tmp_path / "held"
    arguments = [tmp_path / "corpus", "--rest", rest, "--held", held, "--one-in", 2]
    done = CliRunner().invoke(hold_out_command, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert (rest.read_text("utf-8"), held.read_text("utf-8")) == ("".join(lines[:2]), "".join(lines[2:]))


@pytest.mark.parametrize("line", ["\n", "밥을 먹어요.\n", '["밥을 먹어요."]\n'])
def test_a_line_that_is_no_object_is_named(line, tmp_path):
    (tmp_path / "corpus").write_text(f'{{"text": "가"}}\n{line}', encoding="utf-8")
    arguments = [tmp_path / "corpus", "--rest", tmp_path / "rest", "--held", tmp_path / "held"]
    done = CliRunner().invoke(hold_out_command, list(map(str, arguments)))
    assert done.exit_code == 1 and "line 2 should be a JSON object" in done.output
    assert not (tmp_path / "rest").exists()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("이 책상위에 메모가 있다.", "이 책상 위에 메모가 있다."),
        ("예산의 범위안에서 쓴다.", "예산의 범위 안에서 쓴다."),
        ("어제 친구를 만나러왔어요.", "어제 친구를 만나러 왔어요."),
        ("밖에 계시는분들은 오세요.", "밖에 계시는 분들은 오세요."),
        ("전화가 끊어질때 울었다.", "전화가 끊어질 때 울었다."),
        ("약속을 기억하는것 같다.", "약속을 기억하는 것 같다."),
        ("아이가 학교에다니고 있다.", "아이가 학교에 다니고 있다."),
        ("내일 영화보기로 한 장소", "내일 영화 보기로 한 장소"),
        ("정당한 사유없이 늦었다.", "정당한 사유 없이 늦었다."),
        ("오늘 날씨좀 알려 줘.", "오늘 날씨 좀 알려 줘."),
        ("배우 김민지씨가 왔다.", "배우 김민지 씨가 왔다."),
    ],
)
def test_a_missing_space_is_found_and_the_right_sentence_left_alone(wrong, right):
    (found,), (none,) = find_spacing_faults([wrong]), find_spacing_faults([right])
    assert [wrong[: joint.position] + " " + wrong[joint.position :] for joint in found] == [right]
    assert none == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("자주 쓰 잖아요.", "자주 쓰잖아요."),
        ("도서관 에서는 조용히 하자.", "도서관에서는 조용히 하자."),
        ("고기를 숙성 시킨다.", "고기를 숙성시킨다."),
    ],
)
def test_a_space_too_many_is_found_and_the_right_sentence_left_alone(wrong, right):
    (found,), (none,) = find_spacing_faults([wrong]), find_spacing_faults([right])
    assert [wrong[: joint.position - 1] + wrong[joint.position :] for joint in found] == [right]
    assert none == []


@pytest.mark.parametrize(
    "text",
    [
        "내가 먼저 할게요.",
        "제도 개편안을 냈다.",
        "마음속에 두었다.",
        "날씨에 상관없이 간다.",
        "돈이 없을뿐더러 시간도 없다.",
        "공정거래위가 조사했다.",
        "남은 건 택시밖에 없다.",
        "이것은 딸기속에 속한다.",
        "지난번 일은 잊었다.",
        "객체 로더를 쓴다.",
        "누나 나 배고파.",
        "커밋 해시를 고른다.",
        "꿈같은 일이다.",
        "책이 재미있는지 물었다.",
        "밥을 먹는데 전화가 왔다.",
        "그는 지난날을 잊었다.",
        "몇 개 먹으래",  # Kiwi ends it with a morpheme of no letters
        "",
        "API",
    ],
)
def test_what_looks_alike_and_is_right(text):
    assert next(find_spacing_faults([text])) == []


def test_texts_are_answered_in_order():
    assert [
        bool(found) for found in find_spacing_faults(["책상위에 있다.", "책상 위에 있다.", "책상위에 있다."])
    ] == [True, False, True]


WEIGHTS = {"law": 0.25, "mt": 0.5, "news": 2.0}


def test_weights_are_read_from_names_and_numbers():
    assert read_weights(("law=0.25", "a=b=2")) == {"law": 0.25, "a=b": 2.0}
    assert read_weights(()) == {}


@pytest.mark.parametrize("text", ["law", "=1", "law=-1", "law=nan", "law=many"])
def test_what_is_no_weight_is_refused(text):
    with pytest.raises(ValueError):
        read_weights((text,))


def test_the_weights_that_name_a_sentence_are_multiplied():
    assert weight_of(Sentence("가", "someone/law-kr"), WEIGHTS) == 0.25
    assert weight_of(Sentence("가", "someone/law-kr", True), WEIGHTS) == 0.125
    assert weight_of(Sentence("가", "mt-news"), WEIGHTS) == 2.0  # mt is no part of a name
    assert weight_of(Sentence("가", "other"), WEIGHTS) == 1.0


def test_sentences_come_as_often_as_their_weight_says():
    rng = random.Random(0)

    def mean(source, **weights):
        return sum(copies(Sentence("가", source), weights, rng) for _ in range(2000)) / 2000

    assert mean("law", law=0.25) == pytest.approx(0.25, abs=0.04)
    assert mean("news", news=2.0) == 2
    assert mean("news", news=1.5) == pytest.approx(1.5, abs=0.04)
    assert mean("law", law=0.0) == 0


BASE = choose_characters([])


def test_ks_x_1001_has_2350_syllables():
    assert len(set(KS_X_1001_SYLLABLES)) == 2350
    assert all(map(hangul.is_syllable, KS_X_1001_SYLLABLES))
    assert (KS_X_1001_SYLLABLES[0], KS_X_1001_SYLLABLES[-1]) == ("가", "힝")
    assert not {"씂", "깄", "똠", "펲", "힣"} & set(KS_X_1001_SYLLABLES)  # well-known absentees


def test_the_vocabulary_of_an_empty_corpus():
    assert set(BASE) == {*KS_X_1001_SYLLABLES, *ASCII, *COMPATIBILITY_JAMO}
    assert len(BASE) == 2350 + 95 + 51
    assert list(BASE) == sorted(BASE)
    assert {" ", "~", "ㄱ", "ㅣ", "ㅋ"} <= set(BASE)
    assert Tokenizer(BASE).vocab_size == len(BASE) + 4


def test_what_a_corpus_must_hold_often_enough():
    for extra in ("똠", "…", "“", "℃"):
        assert extra in choose_characters([extra] * 20)
        assert extra not in choose_characters([extra] * 19)
        assert extra in choose_characters([extra * 2], minimum_count=2)


def test_letters_of_other_scripts_and_invisible_characters_stay_outside():
    text = "漢字абвéñα\u200b\u3000\n\t\xa0" * 50
    assert choose_characters([text]) == BASE
