"""Kinds of mistakes and pronunciation rules, by examples of the norm."""

import itertools
import random

import pytest

from model.analysis.kinds import (
    RULES,
    WAYS_TO_READ,
    carried_over,
    kind_of,
    kinds_of,
    reading,
    sound_alike,
    sound_rules,
)
from model.text.changes import Change, find_changes
from model.text.hangul import FINALS, INITIALS, MEDIALS, compose


@pytest.mark.parametrize(
    "spellings",
    [
        "꽃이 꼬치", "꽃 꼳 꼿", "꽃만 꼰만", "꽃도 꼳또 꼬또", "값도 갑또", "앉아 안자", "않아 아나",
        "잃어 이러",
        "놓는 논는", "뚫는 뚤른", "닳지 달치", "맞히다 마치다", "읽히다 일키다", "넓히다 널피다", "굳이 구지",
        "핥이다 할치다", "협력 혐녁", "칼날 칼랄", "종로 종노", "김밥 김빱", "주의 주이",
        "은행 으냉", "나의 나에",
    ],
)  # fmt: skip
def test_spellings_of_one_sound(spellings):
    for one, other in itertools.combinations(spellings.split(), 2):
        assert sound_alike(one, other), (one, other)


@pytest.mark.parametrize(
    "pair", ["밥 방", "곰 공", "가자 까자", "말 발", "손 선", "으사 의사", "이름 기름", "가 가가"]
)
def test_different_sounds_stay_apart(pair):
    assert not sound_alike(*pair.split())


def test_every_pair_of_syllables_can_be_read_by_every_ear():
    rng = random.Random(5)
    ways = [choices._replace(without=rule) for choices in WAYS_TO_READ for rule in ("", *RULES)]
    for final, initial in itertools.product(FINALS, INITIALS):
        text = compose("ㅁ", "ㅏ", final) + compose(initial, rng.choice(MEDIALS), rng.choice(FINALS))
        for choices in ways:
            assert len(reading(text, choices)) == 2


def test_a_reading_sounds_like_its_text():
    rng = random.Random(6)
    for _ in range(300):
        text = "".join(
            compose(rng.choice(INITIALS), rng.choice("ㅏㅓㅗㅜ"), rng.choice(FINALS)) for _ in range(3)
        )
        assert sound_alike(reading(text), text), text


def test_what_is_no_syllable_is_kept_and_parts_words():
    assert reading("국 3물ㅋ!") == "국 3물ㅋ!"
    assert reading("") == ""
    assert sound_alike("밤 먹다", "밥 먹다")  # in one breath
    assert not sound_alike("밤. 먹다", "밥. 먹다")


def test_what_a_coda_becomes_before_a_vowel():
    assert carried_over("ㅅ") == {"ㅅ", "ㄷ"}
    assert carried_over("ㅄ") == {"ㅆ", "ㅂ"}
    assert carried_over("ㅎ") == carried_over("ㅇ") == carried_over("") == set()


# typed, corrected, kinds of the changes between them, and their pronunciation rules ("-": none), where given
EXAMPLES = [
    ("집에갔다", "집에 갔다", "spacing", "-"),
    ("함께 하는모임", "함께하는 모임", "spacing spacing"),
    ("바비 식어요", "밥이 식어요", "liaison", "liaison"),
    ("고갱니믈 뵙고", "고객님을 뵙고", "liaison"),  # with a nasal coda
    ("이써요", "있어요", "liaison"),
    ("마니 안자요", "많이 앉아요", "liaison liaison"),  # ㅎ is lost on the way
    ("값씨 비싸요", "값이 비싸요", "sound"),  # no coda is missing
    ("갑씨 비싸요", "값이 비싸요", "liaison"),  # and ㅅ gets tense
    ("마덥는 밥", "맛없는 밥", "liaison"),  # the coda moves as it is heard
    ("설겆이를", "설거지를", "liaison"),  # written too carefully
    ("이를 이리 마나", "일을 일이 많아", "liaison liaison liaison liaison"),
    ("옷 한 벌, 아 놀래", "옷 한 벌, 안 올래", "liaison liaison"),
    ("궁물", "국물", "sound"),
    ("몬 나가", "못 나가", "sound"),  # over a space
    ("오 탄 벌", "옷 한 벌", "sound sound", "final aspiration+final"),  # 옷 is [옫], and its ㄷ melts with ㅎ
    ("국쑤", "국수", "sound", "tensification"),
    ("머꼬", "먹고", "sound"),
    ("조타", "좋다", "sound", "aspiration"),
    ("만코", "많고", "sound"),
    ("조씁니다", "좋습니다", "sound"),
    ("추카", "축하", "sound"),
    ("가치", "같이", "sound"),
    ("다쳐 있다", "닫혀 있다", "sound"),
    ("실라", "신라", "sound", "lateralisation"),
    ("동닙", "독립", "sound", "nasalisation"),
    ("생산냥", "생산량", "sound"),
    ("담뇨", "담요", "sound", "n_insertion"),
    ("밥꼬", "밟고", "sound"),
    ("말께", "맑게", "sound"),
    ("갈 꺼야", "갈 거야", "sound", "tensification"),
    ("나에 집", "나의 집", "sound", "vowel"),
    ("무니", "무늬", "sound"),
    ("다처서", "다쳐서", "sound"),
    ("시게", "시계", "sound"),
    ("왠만하면 되요", "웬만하면 돼요", "sound sound"),
    ("않 가요", "안 가요", "sound"),
    ("읻다", "있다", "sound", "final"),
    ("강기", "감기", "sound", "-"),
    ("날싸가", "날씨가", "jamo", "-"),
    ("안녀하세요", "안녕하세요", "jamo"),
    ("안녀ㅇ", "안녕", "jamo"),
    ("ㅇ안녕", "안녕", "jamo"),
    ("역활", "역할", "jamo"),
    ("깨끗히", "깨끗이", "jamo"),
    ("나늖", "나는", "jamo", "-"),  # sounds alike, but who would write that
    ("설레임", "설렘", "word"),
    ("밥 먹었니", "밥 먹었어", "word", "-"),
    ("갔다", "갔다.", "word"),
    ("프나도 좋아", "그래도 좋아", "word"),
    ("않되", "안 돼", "spacing+word"),  # a space, a jamo and a sound
    ("가치 가자", "같이 가자", "sound", "palatalisation"),
    ("해도지를 봤다", "해돋이를 봤다", "sound", "palatalisation"),
    ("문이 다쳐 있다", "문이 닫혀 있다", "sound", "palatalisation"),
    ("추카해", "축하해", "sound", "aspiration"),
    ("궁물이", "국물이", "sound", "nasalisation"),
    ("멍는다", "먹는다", "sound", "nasalisation"),
    ("칼랄", "칼날", "sound", "lateralisation"),
    ("조아", "좋아", "sound", "h_loss"),
    ("되요", "돼요", "sound", "vowel"),
    ("고갱니믈", "고객님을", "liaison", "nasalisation+liaison"),
    ("안되요", "안 돼요", "spacing+sound"),
    ("않나온다", "안 나온다", "spacing+sound"),
    ("강아지가 놀고잇다", "강아지가 놀고 있다", "spacing+sound"),
    ("나을꺼에요", "나을 거예요", "spacing+word"),
    ("가쑤 있다", "가 수있다", "spacing+word"),  # as many spaces as before, elsewhere
    ("정말 정말 좋다", "정말 좋다", "word"),  # a word that goes takes its space along
]


@pytest.mark.parametrize(("typed", "corrected", "kinds", "rules"), [(*each, None)[:4] for each in EXAMPLES])
def test_kinds_and_rules_by_example(typed, corrected, kinds, rules):
    about = [(change, typed, corrected) for change in find_changes(typed, corrected)]
    assert ["+".join(kinds_of(*each)) for each in about] == kinds.split()
    assert [kind_of(*each) for each in about] == [each.split("+")[-1] for each in kinds.split()]
    if rules:
        assert ["+".join(sound_rules(*each)) or "-" for each in about] == rules.split()
    if set(kinds.split()) <= {"sound", "liaison", "spacing"}:  # the same in the other direction
        back = {kind_of(each, corrected, typed) for each in find_changes(corrected, typed)}
        assert back == set(kinds.split())


def test_a_change_that_stands_elsewhere_is_refused():
    change = Change(1, 2, 1, 2, "가", "다")
    with pytest.raises(ValueError, match=r"received one of source\[1:2\] to target\[1:2\]") as refused:
        kind_of(change, "가나", "가다")
    assert not set("가나다") & set(str(refused.value))  # a log may hold it
