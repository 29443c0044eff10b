"""The two-set keyboard: its input method, and words typed in the English layout."""

import random
from functools import cache

import pytest

from model.correction.proposing import find_offers
from model.correction.words import Words
from model.stored.folder import ASSETS, DEFAULT_MODEL, WORDS_FILE
from model.text.changes import Change, apply_changes
from model.text.hangul import FINALS, INITIALS, MEDIALS, compose
from model.text.keyboard import (
    PAUSE,
    ROWS,
    SHIFTED,
    STROKES,
    UNSHIFTED,
    compose_strokes,
    find_in_english_layout,
    hangul_of,
    neighbours,
    spell,
)
from model.text.protected import Passage, verbatim_spans


@pytest.mark.parametrize(
    ("strokes", "written"),
    [
        ("ㅇㅓㅈㅔ", "어제"),  # the final goes to the next vowel
        ("ㅂㅏㅂㅇㅣ", "밥이"),
        ("ㄷㅏㄹㄱㅇㅣ", "닭이"),
        ("ㄷㅏㄹㄱㅣ", "달기"),  # of two, the second goes
        ("ㅇㅏㄴㅎㄷㅏ", "않다"),
        ("ㅇㅣㅆㅓ", "이써"),
        ("ㅗㅏ", "ㅘ"),
        ("ㄱㅏㅗ", "가ㅗ"),
        ("ㅡㅣㅅㅏ", "ㅢ사"),
        ("ㄱㅅ", "ㄱㅅ"),  # some systems make ㄳ of them; phones do not
        ("ㅋㅋㅋ", "ㅋㅋㅋ"),
        ("ㅂㅏㅃㅏ", "바빠"),  # ㅃ is no final
        ("ㄱㅏㅂㅅㄱ", "값ㄱ"),
        ("ㅎㅏㄱㄱㅛㄱㅇㅔ", "학굑에"),
        ("ㅎㅏㄱㄱㅛㅇ" + PAUSE + "ㅔ", "학굥ㅔ"),
        (PAUSE + "ㅂㅏ" + PAUSE + "ㅂ" + PAUSE, "바ㅂ"),
        ("", ""),
    ],
)
def test_the_input_method_writes(strokes, written):
    assert compose_strokes(strokes) == written


def any_word(rng: random.Random) -> str:
    syllables = ([rng.choice(part) for part in (INITIALS, MEDIALS, FINALS)] for _ in range(rng.randint(1, 5)))
    return "".join(compose(*jamo) for jamo in syllables)


def test_the_keys_of_a_word_write_the_word():
    rng = random.Random(0)
    for _ in range(3000):
        word = any_word(rng)
        assert compose_strokes(spell(word)) == word


# What was typed, and what was meant.
MEANT = """
    dkssudgktpdy/안녕하세요 rkatkgkqslek/감사합니다 gkrrydp/학교에 dhsmf/오늘 sodlf/내일 wlrma/지금
    wjdakf/정말 rmfotj/그래서 rmfjsep/그런데 clsrndhk/친구와 djajsl/어머니 dkqjwl/아버지
    tjstodsla/선생님 gkrtoddl/학생이 ghldml/회의 tlrksdl/시간이 djqtdjdy/없어요 dlTdjdy/있어요
    whgdkdy/좋아요 rhoscksgdkdy/괜찮아요 goTdjdy/했어요 rkTek/갔다 dhkTdjdy/왔어요 ajrdjTdjdy/먹었어요
    wlqdptj/집에서 qjtmfmf/버스를 zjvlfmf/커피를 tkfkadl/사람이 dnflsms/우리는 wjsms/저는 sksms/나는
    rmflrh/그리고 gkwlaks/하지만 Qkffl/빨리 whrma/조금 aksgdl/많이 ektl/다시 djwp/어제 dkcladp/아침에
    wjsurdp/저녁에 wjsghkfmf/전화를 answprk/문제가 todrkrdl/생각이 rkxdl/같이 ajswj/먼저 Eoansdp/때문에
    dlfdl/일이 dlTsms/있는 djqtsms/없는 gksms/하는 rjtdl/것이 gkqslek/합니다 dlqslek/입니다
    wntpdy/주세요 aldks/미안 cnrgkgo/축하해 anjdi/뭐야 wlsWk/진짜 rkrh/가고 dPQmek/예쁘다 RoRmtdl/깨끗이
""".split()

# English that Korean texts hold, most of it ordinary; the last lines are what comes closest to Hangul.
LATIN = """
    the be to of and in that have it for not on with he as you do at this but his by from they we say
    her she or an will my one all would there their what so up out if about who get which go me when
    make can like time no just him know take people into year your good some could them see other than
    then now look only come its over think also back after use two how our work first well way even new
    want because any these give day most us hello thanks sorry please yes ok wow lol bye love like happy
    birthday party music movie game coffee cake pizza menu sale best hot cool star sky rain snow spring
    summer winter school class team leader member meeting project report page file mail email app web
    site link blog chat phone samsung apple google kakao naver windows mac linux python java code data
    server cloud update version test check list title note home office hotel airport taxi bus train
    ticket tour map north south east west king queen girl boy baby kids world korea seoul busan english
    math science history art sport soccer tennis golf run walk sleep dream hope peace shelf cork goth
    dork togo ahem soso rory gowns thrown gotham sodium wish fish rich dish with sign when form fork
    worn spy
""".split()


@cache
def known() -> Words:
    """The words that the shipped model knows."""
    return Words.read(ASSETS / DEFAULT_MODEL / WORDS_FILE)


def offered(text: str) -> tuple[Change, ...]:
    return find_offers(Passage.of(text, verbatim_spans(text)), known())


@pytest.mark.parametrize("word", MEANT)
def test_words_that_are_offered(word):
    typed, meant = word.split("/")
    text = f"그때 {typed}, 하고 말했다"
    (change,) = offered(text)
    assert (change.wrong, change.right, change.is_english_layout) == (typed, meant, True)
    assert apply_changes(text, [change]) == f"그때 {meant}, 하고 말했다"
    assert not change.is_weighed  # no network has judged it


def test_there_are_enough_words_on_both_sides():
    assert len(set(MEANT)) >= 60 and len(set(LATIN)) >= 200


def test_words_that_are_never_offered():
    for word in LATIN:
        for form in (word, word.capitalize(), word.upper()):
            assert not offered(f"그때 {form}, 하고 말했다"), form
    assert not offered(" ".join(LATIN))


@pytest.mark.parametrize(
    "text",
    [
        "www.dhsmf.com 에서",
        "dhsmf@naver.com",
        "#dhsmf @dhsmf",
        "파일 dhsmf.hwp",
        "비밀번호 dhsmf1234!",
        "`dhsmf`",
        "print('dhsmf')",
        "<dhsmf>",
        "a-dhsmf dhsmf_wlrma dhsmf's",
        "DHSMF",  # an abbreviation
        "Dhsmf",  # the shift key writes no other jamo there
        "dhsmf를",  # no whole word
        "rk dlf",  # one syllable
        "dhsm",  # 오느: no known word
        "dhsmfs",  # 오늘ㄴ
    ],
)
def test_what_is_no_word_of_prose_is_not_offered(text):
    assert not offered(text)


def test_any_word_of_syllables_is_what_its_keys_write():
    rng = random.Random(0)
    letters = dict(zip("".join(row for row, _ in ROWS), "qwertyuiopasdfghjklzxcvbnm", strict=True))
    keys = letters | {upper: letters[lower].upper() for upper, lower in UNSHIFTED.items()}
    for _ in range(2000):
        word = any_word(rng)
        assert hangul_of("".join(keys[jamo] for jamo in spell(word))) == word


def test_several_words_have_their_places_in_the_text_with_all_of_them():
    text = "dhsmf, wlrma 그래"
    changes = find_in_english_layout(text, (), lambda word: True)
    target = apply_changes(text, changes)
    assert target == "오늘, 지금 그래"
    assert [target[c.target_start : c.target_end] for c in changes] == ["오늘", "지금"]
    assert [text[c.source_start : c.source_end] for c in changes] == ["dhsmf", "wlrma"]


def test_the_keyboard_has_every_jamo_once():
    base = "".join(row for row, _ in ROWS)
    assert len(base) == 26
    assert {*base, *SHIFTED.values(), *STROKES} == {*INITIALS, *MEDIALS, *FINALS[1:]}


def test_neighbours_lie_beside_each_other_on_the_keyboard():
    assert set(neighbours("ㅇ")) == set("ㄷㄱㄴㄹㅌㅊ")  # D: E R above, S F beside, X C below
    assert set(neighbours("ㅗ")) == set("ㅛㅕㅓㅠㅜ")  # H: Y U above, J beside, B N below
    assert set(neighbours("ㄲ")) == set("ㄸㅆㅇㄹ")
    assert set(neighbours("ㅘ")) == set("ㅙㅚ") and neighbours("ㅄ") == ()
    for jamo in "".join(row for row, _ in ROWS):
        assert all(jamo in neighbours(other) for other in neighbours(jamo))
    with pytest.raises(ValueError, match="'가'"):
        neighbours("가")
