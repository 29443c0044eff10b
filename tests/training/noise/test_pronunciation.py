"""Pronunciation rules: each by itself, and chained to the standard pronunciation."""

import random

import pytest

from model.text.hangul import is_syllable
from training.noise.draft import Draft
from training.noise.pronunciation import (
    PRESCRIBED,
    PRONUNCIATION_RULES,
    WEIGHTS,
    as_heard,
    letter_table,
    write_as_heard,
)

SENTENCES = (
    "안녕하세요, 예약하려고 전화를 드렸어요.",
    "다시는 여기에 안 올 거예요! 꽃잎이 값없이 흩어졌다…",
    "Intune 관리 콘솔에는 설정이 4가지 있습니다 🙂 ㅋㅋ ㅎ",
    "닭을 밟지 않고 넓은 앞마당의 희망을 읽는 것은 싫었습니다.",
    " 못 해  옷 안\n밖에 \t한여름 의의 ",
    "",
    "값",
)


def heard(text: str, **extra: float) -> str:
    draft = Draft(text)
    write_as_heard(draft, random.Random(0), 1.0, {**PRESCRIBED, **extra})
    return draft.wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("그룹에 고객님을 초대하고 싶습니다", "그루베 고갱니믈 초대하고 십씀니다"),
        ("손님이 왔는데 방이 없으면 어떡해요?", "손니미 완는데 방이 업쓰면 어떠캐요?"),
        ("예약하려고 전화를 드렸어요", "예야카려고 전화를 드려써요"),
        ("체크아웃하시면", "체크아우타시면"),
        ("올 거예요", "올 꺼예요"),
        ("할 것을", "할 꺼슬"),
        ("재판매 사업자", "재판매 사업짜"),
        ("닫혀 같이", "다처 가치"),
        ("국물 신라 독립 협력", "궁물 실라 동닙 혐녁"),
        ("값이 앉아 않는 앓는", "갑씨 안자 안는 알른"),
        ("좋아요 많이 싫어", "조아요 마니 시러"),
        ("축하합니다 좋습니다", "추카함니다 조씀니다"),
        ("넓다 밟다 없다 맑게 닭과", "널따 밥따 업따 말께 닥꽈"),
        ("밟는 읽는 없는 놓는", "밤는 잉는 엄는 논는"),
        ("꽃잎 한여름 색연필 서울역 십육", "꼰닙 한녀름 생년필 서울력 심뉵"),
        ("맛없다 헛웃음 넓죽하다 문의", "마덥따 허두슴 넙쭈카다 무니"),
    ],
)
def test_prescribed_rules_chain_to_the_standard_pronunciation(text, expected):
    assert heard(text) == "".join(as_heard(text)) == expected


def test_optional_rules_join_when_they_are_given_a_weight():
    assert heard("다시는 여기에 안 올 거예요", liaison_across_space=1.0) == "다시느 녀기에 아 놀 꺼예요"
    assert heard("못 일", n_insertion_across_space=1.0, nasalisation_across_space=1.0) == "몬 닐"
    assert heard("사람의 문의", ui_particle=1.0, ui_not_first=1.0) == "사라메 무니"
    assert heard("했습니다", coda_absorbed=1.0) == heard("했습니다").replace("핻", "해")


def test_every_rule_is_weighted():
    assert list(WEIGHTS) == list(PRONUNCIATION_RULES)
    assert all(0 < weight <= 1 for weight in WEIGHTS.values())


@pytest.mark.parametrize("text", SENTENCES)
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_what_holds_for_every_draft(text, rate):
    draft = Draft(text)
    write_as_heard(draft, random.Random(7), rate)
    assert len(draft.cells) == len(text)
    for index, (was, now) in enumerate(zip(text, draft.cells, strict=True)):
        assert is_syllable(now) if is_syllable(was) else now == was
        assert now == was or draft.touched(index, index + 1)
    assert all(edit.family == "pronunciation" and edit.rule in PRONUNCIATION_RULES for edit in draft.edits)


@pytest.mark.parametrize("rule", PRONUNCIATION_RULES)
def test_each_recorded_edit_changed_its_ends(rule):
    for text in SENTENCES:
        draft = Draft(text)
        PRONUNCIATION_RULES[rule](draft, random.Random(0), 1.0)
        for edit in draft.edits:
            assert 1 <= edit.end - edit.start <= 3
            assert draft.cells[edit.start] != text[edit.start]
            assert draft.cells[edit.end - 1] != text[edit.end - 1]


def test_rate_0_changes_nothing_and_the_seed_decides_the_rest():
    text = SENTENCES[3]
    untouched, first, again = Draft(text), Draft(text), Draft(text)
    write_as_heard(untouched, random.Random(1), 0.0)
    write_as_heard(first, random.Random(1), 0.5)
    write_as_heard(again, random.Random(1), 0.5)
    assert untouched.edits == []
    assert first.wrong != text
    assert (first.wrong, first.edits) == (again.wrong, again.edits)
    others = {write_with_seed(text, seed) for seed in range(20)}
    assert len(others) > 10


def write_with_seed(text: str, seed: int) -> str:
    draft = Draft(text)
    write_as_heard(draft, random.Random(seed), 0.5)
    return draft.wrong


def test_cells_that_other_rules_emptied_or_filled_are_left_alone():
    draft = Draft("옷이 옷이")
    draft.put("drop", "typing", 1, [""])
    draft.put("add", "typing", 4, ["이ㅣ"])
    write_as_heard(draft, random.Random(0), 1.0, {"liaison": 1.0})
    assert draft.cells == ["옷", "", " ", "옷", "이ㅣ"]


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_a_rate_outside_0_to_1_is_refused(rate):
    with pytest.raises(ValueError, match=str(rate)):
        write_as_heard(Draft("옷이"), random.Random(0), rate)


@pytest.mark.parametrize("line", ["ㄱ ㄴ ㅇ =", "ㄱ → ㅇ =", "ㄱ ㄴ → ㅇ"])
def test_a_change_of_letters_in_another_form_is_refused(line):
    with pytest.raises(ValueError, match=line):
        letter_table(line)


# rule: ("written→as this rule alone writes it, …", "what it must leave alone, …")
CASES = {
    "palatalisation": (
        "같이→가치, 굳이→구지, 닫혀→다쳐, 닫혔다→다쳤다, 붙이다→부치다, 밭이→바치, 핥이다→할치다, 붙여→부쳐",
        "잔디, 밭을, 느티, 맏형, 곧은, 밭 이랑",
    ),
    "aspiration": (
        (
            "축하→추카, 좋다→조타, 입학→이팍, 못하다→모타다, 좋고→조코, 많고→만코, 싫지→실치, "
            "어떡해→어떠캐, 맏형→마텽, 밝히다→발키다, 넓히다→널피다, 앉히다→안치다, 꽂히다→꼬치다, "
            "체크아웃하면→체크아우타면, 값하다→가파다"
        ),
        "닫히다, 전화, 좋아, 많네, 좋습니다, 같이, 못 해",
    ),
    "aspiration_across_space": (
        "옷 한 벌→오 탄 벌, 못 해→모 태, 책 한 권→채 칸 권, 밥 하고→바 파고",
        "못해, 안 해, 못  해, 못-해",
    ),
    "h_before_s": ("좋습니다→조씁니다, 많소→만쏘, 싫소→실쏘, 닿소→다쏘", "좋고, 좋아, 있습니다"),
    "h_loss": (
        "좋아→조아, 많이→만이, 싫어→실어, 않는→안는, 앓는→알는, 쌓이다→싸이다, 끓여→끌여",
        "좋고, 놓는, 많다, 전화",
    ),
    "h_weakening": (
        "전화→저나, 은행→으냉, 결혼→겨론, 고향→고양, 대화→대와, 감히→가미",
        "축하, 하늘, 입학, 안 해",
    ),
    "ui_not_first": (
        "주의→주이, 회의를→회이를, 무의식→무이식, 의의→의이, 거의→거이, 문의→문이",
        "의사, 나의, 우리의, 희망",
    ),
    "ui_particle": (
        "나의 집→나에 집, 우리의→우리에, 사람의→사람에, 세계의.→세계에.",
        "주의, 회의, 의사, 무의식, 거의, 그 의",
    ),
    "n_insertion": (
        "꽃잎→꽃닢, 한여름→한녀름, 색연필→색년필, 서울역→서울력, 솔잎→솔맆, 열여섯→열려섯, 가정용→가정뇽",
        "지역, 번역, 받아들일, 나이, 안 열",
    ),
    "n_insertion_across_space": (
        "안 열→안 녈, 할 일→할 릴, 못 일→못 닐, 옷 입다→옷 닙다, 방 열쇠→방 녈쇠",
        "안 올, 안열, 나 여기",
    ),
    "liaison_before_content": (
        "맛없다→마덦다, 겉옷→거돗, 첫인상→처딘상, 헛웃음→허둣음, 값없이→가벖이, 늪앞→느밮",
        "옷이, 맛있다, 첫여름, 앞에, 돈없다, 옷 안",
    ),
    "liaison": (
        (
            "옷이→오시, 값이→갑씨, 닭을→달글, 밖에→바께, 있어→이써, 앉아→안자, 삶은→살믄, 밟아→발바, "
            "핥아→할타, "
            "읊어→을퍼, 외곬으로→외골쓰로, 넋이→넉씨, 꽃을→꼬츨, 부엌에→부어케, 그룹에→그루베"
        ),
        "방이, 강아지, 좋아, 많이, 옷 안, 국밥",
    ),
    "liaison_across_space": (
        (
            "안 올→아 놀, 옷 안→오 단, 꽃 위→꼬 뒤, 다시는 여기에→다시느 녀기에, "
            "값 없이→가 벖이, 부엌 옆→부어 곂"
        ),
        "방 안, 너 안, 좋 아, 안  올, 안올, 안\n올",
    ),
    "ui_after_consonant": ("희망→히망, 무늬→무니, 띄어→띠어, 씌우다→씨우다, 흰색→힌색", "의사, 주의, 위"),
    "palatal_glide": ("가져→가저, 쪄서→쩌서, 다쳐→다처, 다쳤다→다첬다, 졌다→젔다", "여자, 체, 겨울"),
    "ye_as_e": ("시계→시게, 은혜→은헤, 폐차→페차, 계시다→게시다, 혜택→헤택", "예의, 차례, 세상"),
    "tensification_after_l": (
        (
            "할 것을→할 껏을, 올 거예요→올 꺼예요, 갈 데가→갈 떼가, 할 수는→할 쑤는, 할게요→할께요, "
            "할수록→할쑤록, 갈 곳→갈 꼿"
        ),
        "물을 거기, 오늘 수업, 길게, 알지, 물건을 건네, 말을",
    ),
    "tensification_sino": ("발전→발쩐, 결정→결쩡, 활동→활똥, 실수→실쑤, 설정→설쩡", "물건, 발견, 놀다, 결과"),
    "tensification_compound": (
        "길가→길까, 김밥→김빱, 성격→성껵, 사건→사껀, 맞춤법→맞춤뻡",
        "방법, 기술자, 가격",
    ),
    "tensification": (
        (
            "국밥→국빱, 입고→입꼬, 없다→없따, 앉고→앉꼬, 넓게→넓께, 있습니다→있씁니다, 사업자→사업짜, "
            "닮지→닮찌, "
            "핥다→핥따"
        ),
        "삶과, 여덟도, 옮기다, 좋고, 신고, 국물, 못 가",
    ),
    "tensification_across_space": (
        "못 가→못 까, 꼭 기억→꼭 끼억, 책 보다→책 뽀다, 옷 사다→옷 싸다",
        "안 가, 못가, 못 해",
    ),
    "cluster_simplification": (
        (
            "값→갑, 넓다→널다, 밟다→밥다, 닭→닥, 삶→삼, 맑게→말게, 맑다→막다, 닭과→닥과, 넓죽→넙죽, "
            "앉는→안는, "
            "여덟→여덜, 없는→업는"
        ),
        "값이, 밟아, 많고, 국, 밝히다",
    ),
    "coda_neutralisation": (
        "꽃→꼳, 부엌→부억, 있다→읻다, 앞→압, 싶다→십다, 밖→박, 옷과→옫과, 끝.→끋., 꽃 위→꼳 위",
        "옷이, 꽃을, 국, 있어, 좋다",
    ),
    "coda_as_siot": ("빛→빗, 있다→잇다, 곧→곳, 꽃과→꼿과, 끝→끗", "빛이, 부엌, 앞, 옷, 있어"),
    "coda_absorbed": ("있따→이따, 했씀→해씀, 옷쌈→오쌈, 뭍또→무또", "있다, 먹따, 있어, 옷 쌈"),
    "l_as_n": ("담력→담녁, 강릉→강능, 협력→협녁, 독립→독닙, 대통령→대통녕", "신라, 나라, 달력, 강 류"),
    "nasalisation": (
        "국물→궁물, 합니다→함니다, 고객님→고갱님, 왔는데→완는데, 앞문→암문, 놓는→논는, 부엌문→부엉문",
        "안녕, 국밥, 밥이, 물만, 밥 먹다",
    ),
    "nasalisation_across_space": (
        "밥 먹다→밤 먹다, 못 나가→몬 나가, 책 넣다→챙 넣다, 꽃 말고→꼰 말고",
        "국물, 안 먹다, 밥 사다",
    ),
    "liquidisation": (
        "신라→실라, 칼날→칼랄, 설날→설랄, 관리→괄리, 생산량→생산냥, 판단력→판단녁",
        "신나다, 달래, 안녕, 잘 나가",
    ),
    "place_assimilation": (
        "감기→강기, 신문→심문, 한국→항국, 옷감→옥감, 꽃바구니→꼽바구니",
        "강기, 산소, 감미, 옷만, 안 가",
    ),
}


def examples(rule: str) -> list[str]:
    return CASES[rule][0].split(", ")


def counter_examples(rule: str) -> list[str]:
    return CASES[rule][1].split(", ")


def applied(rule: str, text: str, rate: float = 1.0) -> Draft:
    draft = Draft(text)
    PRONUNCIATION_RULES[rule](draft, random.Random(0), rate)
    return draft


def test_every_rule_has_a_table():
    assert set(CASES) == set(PRONUNCIATION_RULES)
    assert all(len(examples(rule)) >= 4 and counter_examples(rule) for rule in CASES)


@pytest.mark.parametrize(
    ("rule", "example"), [(rule, example) for rule in CASES for example in examples(rule)]
)
def test_writes_what_is_heard(rule, example):
    written, heard = example.split("→")
    draft = applied(rule, written)
    assert draft.wrong == heard
    assert {(edit.rule, edit.family) for edit in draft.edits} == {(rule, "pronunciation")}
    assert applied(rule, written, rate=0.0).edits == []


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule in CASES for text in counter_examples(rule)]
)
def test_leaves_alone(rule, text):
    draft = applied(rule, text)
    assert draft.wrong == text
    assert draft.edits == []
