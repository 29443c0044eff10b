"""The table and the rules of native writers' mistakes: right sentence in, wrong sentence out."""

import itertools
import random

import pytest

from tests.training.noise.cases import cases
from training.noise import native
from training.noise.draft import Draft, changed_cells


def outcomes(rule, text: str) -> set[str]:
    """Every wrong sentence that a rule at full rate makes of ``text`` over many seeds."""
    found = set()
    for seed in range(40):
        draft = Draft(text)
        rule(draft, random.Random(seed), 1.0)
        found.add(draft.wrong)
    return found


TABLE_EXAMPLES = [
    ("며칠 뒤에 봅시다.", "몇일 뒤에 봅시다."),
    ("오랜만이다.", "오랫만이다."),
    ("웬일로 왔나?", "왠일로 왔나?"),
    ("왠지 슬프다.", "웬지 슬프다."),
    ("금세 갔다.", "금새 갔다."),
    ("내 역할은 크다.", "내 역활은 크다."),
    ("굳이 묻자면", "구지 묻자면"),
    ("방을 깨끗이 쓴다.", "방을 깨끗히 쓴다."),
    ("솔직히 모른다.", "솔직이 모른다."),
    ("설거지를 한다.", "설겆이를 한다."),
    ("어이없다.", "어의없다."),
    ("육개장을 먹자.", "육계장을 먹자."),
    ("곱빼기로 주세요.", "곱배기로 주세요."),
    ("개수를 센다.", "갯수를 센다."),
    ("휴게실에서 쉰다.", "휴계실에서 쉰다."),
    ("김치를 담그다.", "김치를 담구다."),
    ("돌솥에 지은 밥", "돌솟에 지은 밥"),
    ("널찍한 방", "넓찍한 방"),
    ("부엌으로 간다.", "부억으로 간다."),
    ("메시지를 쓴다.", "메세지를 쓴다."),
    ("리더십을 기른다.", "리더쉽을 기른다."),
    ("주스를 마신다.", "쥬스를 마신다."),
    ("익숙지 않다.", "익숙치 않다."),
    ("그러므로 쉰다.", "그럼으로 쉰다."),
    ("가슴이 설레는 날", "가슴이 설레이는 날"),
    ("하늘을 나는 새", "하늘을 날으는 새"),
    ("이게 더 낫다.", "이게 더 낳다."),
    ("학생으로서 말한다.", "학생으로써 말한다."),
    ("염두에 두자.", "염두해 두자."),
    ("언제든지 와라.", "언제던지 와라."),
]

RULE_EXAMPLES = {
    "doe_to_dwae": "잘 되고 있다.→잘 돼고 있다., 저장된 값→저장됀 값",
    "dwae_to_doe": "그러면 안 돼요.→그러면 안 되요., 잘 됐다.→잘 됬다., 내일 봬요.→내일 뵈요.",
    "doeeo": "준비되었다.→준비되였다., 준비되어서→준비되여서",
    "anh_to_an": "하지 않고 갔다.→하지 안고 갔다., 그렇지는 않다.→그렇지는 안다.",
    "an_to_anh": "나는 안 갔다.→나는 않 갔다., 나는 안 갔다.→나는 않갔다., 말이 안 나온다.→말이 않나온다.",
    "promise_ge": "제가 할게요.→제가 할께요., 진작 살걸→진작 살껄",
    "future_geo": "갈 거야→갈꺼야, 갈 겁니다.→갈 껍니다., 집에 갈 거야.→집에 갈거야.",
    "question_kka": "갈까요?→갈가요?",
    "copula_ieyo": "책이에요.→책이예요.",
    "copula_yeyo": "저예요.→저에요.",
    "copula_past": "책이었다.→책이였다.",
    "seumnida": "집이 있습니다.→집이 있읍니다., 답이 없음→답이 없슴",
    "sibsio": "앉으십시오.→앉으십시요.",
    "past_ss": "잘 했다.→잘 햇다.",
    "past_deon": "내가 했던 일→내가 했든 일",
    "intent_ryeogo": "하려고 한다.→할려고 한다., 먹으려면→먹을려면",
    "maybe_neunji": "될는지 모른다.→될런지 모른다.",
    "but_neunde": "비가 오는데 간다.→비가 오는대 간다.",
    "hearsay_dae": "민수는 못 온대요.→민수는 못 온데요.",
    "wonder_ne": "시간이 있네요.→시간이 있내요., 참 좋네!→참 좋내!",
    "ui_to_e": "나의 집→나에 집",
    "e_to_ui": "집에 있다.→집의 있다.",
    "yul_ryul": "할인율과 성공률→할인률과 성공율",
    "means_rosseo": "일함으로써→일함으로서",
    "reason_meuro": "필요하므로 산다.→필요함으로 산다.",
    "irregular_wo": "고마워요.→고마와요.",
    "an_joined": "오늘은 안 가요.→오늘은 안가요.",
    "su_joined": "할 수 있다.→할수있다., 갈 수 없다.→갈수 없다.",
    "geot_joined": "비가 올 것 같다.→비가 올것 같다.",
    "sip_joined": "네가 보고 싶어.→네가 보고싶어.",
    "noun_joined": "집에 갈 때→집에 갈때, 가는 중이다.→가는중이다.",
    "particle_apart": (
        "집까지 걸었다.→집 까지 걸었다., 너만큼은 안다.→너 만큼은 안다., 할 수밖에 없다.→할 수 밖에 없다."
    ),
}

UNTOUCHED = [
    ("dwae_to_doe", "돼지가 잔다."),  # the pig
    ("doe_to_dwae", "된장과 되레"),
    ("anh_to_an", "강아지를 안고 간다."),
    ("an_to_anh", "집 안 구석에서 보안 점검"),  # the noun 안
    ("promise_ge", "길게 말했다."),  # an adverb of a stem in ㄹ
    ("promise_ge", "누나에게 준다."),
    ("copula_ieyo", "고양이에요"),  # a noun in 이: the wrong form would be the right one
    ("copula_yeyo", "아니예요"),
    ("past_ss", "병이 났다. 반지를 뺐다."),  # 낫다 and 뺏다 are words
    ("intent_ryeogo", "고려는 배려면 된다."),
    ("but_neunde", "그는 데이터를 본다."),
    ("hearsay_dae", "열대와 한대에서"),
    ("wonder_ne", "네 명이 동네에 있네만 그네"),
    ("ui_to_e", "학교의 문"),  # 학교에 문이 있다 is right, too
    ("means_rosseo", "학생으로써"),
    ("irregular_wo", "누워서 배워라."),
    ("an_joined", "집 안쪽 보안 점검"),
    ("su_joined", "마실 수정과"),
    ("noun_joined", "국 중에서"),
    ("particle_apart", "창밖에 눈이 온다. 먹을 만큼 그대로 둔다."),
    ("native_table", "상담가를 가치를 고치러"),  # 담가, 치를, 치러 inside other words
]


def test_table_is_large_and_each_pair_is_there_once():
    rows = native.table()
    assert len({(row.right, row.wrong) for row in rows}) == len(rows) > 2000
    assert len({row.name for row in rows}) >= 40


def test_no_wrong_spelling_is_another_rows_right_one():
    rights = {row.right for row in native.table()}
    assert [row for row in native.table() if row.wrong in rights] == []


def test_cells_of_each_row_spell_its_wrong_form_and_keep_what_is_equal():
    for row in native.table():
        start, cells = changed_cells(row.right, row.wrong)
        end = start + len(cells)
        assert cells and end <= len(row.right)
        assert row.right[:start] + "".join(cells) + row.right[end:] == row.wrong


@pytest.mark.parametrize(("right", "wrong"), TABLE_EXAMPLES)
def test_table_writes(right, wrong):
    assert wrong in outcomes(native.write_table_mistakes, right)


@pytest.mark.parametrize(("name", "right", "wrong"), cases(RULE_EXAMPLES))
def test_rule_writes(name, right, wrong):
    assert wrong in outcomes(native.NATIVE_RULES[name], right)


@pytest.mark.parametrize(("name", "right"), UNTOUCHED)
def test_rule_leaves_alone(name, right):
    assert outcomes(native.NATIVE_RULES[name], right) == {right}


def test_every_rule_has_an_example():
    assert set(native.NATIVE_RULES) == RULE_EXAMPLES.keys() | {"native_table"}


TEXT = "며칠 뒤에 하려고 했던 일이 안 되면 제가 도와드릴게요, 걱정하지 않아도 돼요."


def test_draft_keeps_one_cell_a_character_and_records_each_change():
    draft = Draft(TEXT)
    native.write_native_mistakes(draft, random.Random(3), 1.0)
    assert len(draft.cells) == len(TEXT)
    assert draft.edits and {edit.family for edit in draft.edits} == {"native"}
    spans = sorted((edit.start, edit.end) for edit in draft.edits)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    covered = {place for start, end in spans for place in range(start, end)}
    assert all(draft.cells[i] == TEXT[i] for i in range(len(TEXT)) if i not in covered)


def test_rate_zero_changes_nothing_and_seeds_repeat():
    untouched, one, other = Draft(TEXT), Draft(TEXT), Draft(TEXT)
    native.write_native_mistakes(untouched, random.Random(1), 0.0)
    native.write_native_mistakes(one, random.Random(5), 0.5)
    native.write_native_mistakes(other, random.Random(5), 0.5)
    assert untouched.wrong == TEXT and untouched.edits == []
    assert one.cells == other.cells and one.edits == other.edits


def test_spans_of_earlier_rules_are_kept():
    draft = Draft("며칠")
    draft.put("earlier", "typing", 0, ["면"])
    native.write_native_mistakes(draft, random.Random(0), 1.0)
    assert draft.wrong == "면칠"


@pytest.mark.parametrize("text", ["", " ", "하늘과 바다", "Hello, 42!", "🙂"])
def test_sentences_without_patterns_stay(text):
    draft = Draft(text)
    native.write_native_mistakes(draft, random.Random(0), 1.0)
    assert draft.wrong == text and not native.has_native_site(text)


@pytest.mark.parametrize("text", ["며칠", "제가 할게요.", "비율"])
def test_sentences_with_patterns_are_seen(text):
    assert native.has_native_site(text)
