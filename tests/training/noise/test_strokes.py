"""Slips of strokes, syllables and particles: what each kind can make of a word, what none makes, what all
keep.
"""

import csv
import random
import re
from pathlib import Path

import pytest

from model.text.changes import find_changes
from model.text.protected import protected, spares_outcries
from tests.training.noise.cases import cases
from training.noise.draft import Draft
from training.noise.strokes import SLIPS, STROKE_RULES, WEIGHTS, has_loose_jamo, make_slipped, slip_of_strokes
from training.noise.word_parts import KnownWords, known_words

SENTENCE = "어제 친구와 학교에서 도서관까지 걸었어요. It's 3개, OK? 🙂 사람은 모두 시간이 없다고 했어요!"
INITIALS_ALONE = re.compile("(?<![ㄱ-ㅣ가-힣])[ㄱ-ㅎ]+(?![ㄱ-ㅣ가-힣])")  # ㄱㅅ, ㅇㅇ, but not ㄱㅅ in ㅓㄱㅅ
BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def right_sentences() -> list[str]:
    """The right sides of the project's own everyday sentences."""
    paths = sorted(BENCHMARKS.glob("everyday*.csv"))
    return [row["tgt"] for path in paths for row in csv.DictReader(path.open(encoding="utf-8"))]


def composed_sentences(count: int) -> list[str]:
    """One or two of these after another, many with something between or behind them that is no spelling."""
    rng, own = random.Random(41), right_sentences()
    behind = ("", "", "", " ㅋㅋ", "ㅠㅠ", " ㄱㅅ", " 3시", " OK!", "ㅎ", " 😀", " ㅇㅇ", " (A4)")
    return [
        " ".join(each + rng.choice(behind) for each in rng.sample(own, rng.choice((1, 1, 2))))
        for _ in range(count)
    ]


def results(kind: str, word: str, seeds: int = 600) -> set[str]:
    """What a rule makes of a text when it acts on every word, over many seeds."""
    found = set()
    for seed in range(seeds):
        draft = Draft(word)
        STROKE_RULES[kind](draft, random.Random(seed), 1.0)
        found.add(draft.wrong)
    return found


EXAMPLES = {
    "composition_broken": (
        "어제→ㅇㅓ제, 밥→바ㅂ, 버스→ㅂㅓㅅㅡ, 학교에서→학교ㅇㅔ서, 학교에서→학굥ㅔ서, 좋아요→조ㅎ아요"
    ),
    "strokes_swapped": "버스에→버스ㅔㅇ, 있는데→있ㄴ느데, 한국→학눅",
    "stroke_repeated": "하나→ㅎ하나, 했어요→했ㅅ어요, 사과→삭과, 학교에→학굥에",
    "stroke_dropped": "학교에서→학교ㅔ서, 안녕하세요→안녕ㅎ세요",
    "final_added": "사과→삭과, 학교에→학굑에, 노래→녹래",
    "final_lost": "전화→저화, 안경→아경, 사람을→사라을, 사과를→사과르, 먹었다→먹어다",
    "onset_early": "노래→놀애",
    "syllables_swapped": "선생님→생선님, 물고기→고물기, 도서관→도관서, 도서관→관서도",
    "jamo_exchanged": "물고기→굴모기, 도서관→더소관",
    "syllable_doubled": "우리는→우리리는, 학교에→학학교에",
    "syllable_missing": "시간이→시이, 도서관에→도관에, 안녕하세요→안하세요",
    "particle_misshaped": (
        "학교로→학교으로, 바다와→바다과, 친구를→친구을, 의자가→의자이, 책을→책를, 사람은→사람는, "
        "서울로→서울으로, 사람이나→사람나, 사과나→사과이나, 친구랑→친구이랑, 학생이에요→학생예요, "
        "학생이에요→학생이예요, 친구예요→친구에요, 친구야→친구아"
    ),
    "particle_doubled": "편지를→편지를를",
    "word_doubled": "친구는→친구는 친구는, 모든→모든 모든",
}


@pytest.mark.parametrize(("kind", "right", "wrong"), cases(EXAMPLES))
def test_a_rule_can_make(kind, right, wrong):
    assert wrong in results(kind, right)


LEFT_ALONE = {
    "stroke_repeated": "하하",
    "stroke_dropped": "다리",
    "final_added": "가, 학교",  # 학굔 might be 학교는
    "final_lost": "간다, 갔다",
    "syllables_swapped": "사과",
    "syllable_doubled": "꼭, 하하하하",
    "particle_misshaped": "고양이, 어린이, 고속도로, 그리는, 언제나, 피해야, 괜찮아, 참사랑, 제가",
    "particle_doubled": "학교도",
    "word_doubled": "정말로, 빨리",
}
COUNTER_EXAMPLES = [
    ("stroke_repeated", "네", {"네", "ㄴ네"}),  # 네ㅔ is drawn out, not slipped
    ("stroke_repeated", "흐르", {"흐르", "ㅎ흐르", "흘르", "흐ㅡ르"}),
    ("strokes_swapped", "나무", {"ㅏㄴ무", "남누ㅏ", "나무", "낭ㅜㅁ", "ㄴㅁㅏㅜ", "ㄴ마ㅜ", "나ㅜㅁ"}),
    ("stroke_dropped", "나무가", {"나무가", "ㄴ무가", "나ㅜ가", "나무ㅏ"}),  # 남가 would hide what was lost
    ("final_lost", "먹을", {"머을", "먹을"}),
    ("syllable_doubled", "먹었다", {"먹었다", "먹먹었다", "먹었다다"}),  # 먹었었다 is another tense
    ("syllable_doubled", "좋아", {"좋아", "좋좋아"}),  # 좋아아 is drawn out
    ("syllable_missing", "먹었습니다", {"먹었습니다", "먹었니다", "먹었습다"}),
    *((kind, text, {text}) for kind, text in cases(LEFT_ALONE)),
]


@pytest.mark.parametrize(("kind", "text", "allowed"), COUNTER_EXAMPLES)
def test_a_rule_makes_nothing_else(kind, text, allowed):
    assert results(kind, text, 200) <= allowed


@pytest.mark.parametrize("kind", STROKE_RULES)
@pytest.mark.parametrize("text", ["", "OK, 3:00 🙂 (A4)", "ㅋㅋㅋ ㅠㅠ ㄱㅅ ㅇㅇ", "ㄱㅅ해요ㅋ", "漢字 abc"])
def test_no_rule_touches_what_is_no_word_of_hangul(kind, text):
    draft = Draft(text)
    STROKE_RULES[kind](draft, random.Random(1), 1.0)
    assert draft.wrong == text and not draft.edits


@pytest.mark.parametrize("kind", STROKE_RULES)
def test_rate_zero_does_nothing_and_the_same_seed_does_the_same(kind):
    still, *same = Draft(SENTENCE), Draft(SENTENCE), Draft(SENTENCE)
    STROKE_RULES[kind](still, random.Random(1), 0.0)
    for draft in same:
        STROKE_RULES[kind](draft, random.Random(7), 0.5)
    assert still.wrong == SENTENCE and same[0] == same[1]


@pytest.mark.parametrize("kind", STROKE_RULES)
def test_the_record_names_the_cells_that_changed(kind):
    for seed in range(30):
        draft = Draft(SENTENCE)
        STROKE_RULES[kind](draft, random.Random(seed), 1.0)
        assert {edit.rule for edit in draft.edits} <= {kind}
        touched = [i for edit in draft.edits for i in range(edit.start, edit.end)]
        assert len(touched) == len(set(touched))
        changed = {i for i, cell in enumerate(draft.cells) if cell != SENTENCE[i]}
        assert changed <= set(touched)
        for edit in draft.edits:  # within one word, beginning and ending with what changed
            assert " " not in SENTENCE[edit.start : edit.end]
            assert {edit.start, edit.end - 1} & changed


def test_words_that_another_rule_touched_are_left():
    draft = Draft("학교에 갔다")
    draft.put("liaison", "pronunciation", 1, ["꾜"])
    for rule in STROKE_RULES.values():
        rule(draft, random.Random(1), 1.0)
    assert draft.wrong.startswith("학꾜에")


def test_every_kind_has_a_weight_and_is_drawn():
    assert WEIGHTS.keys() == STROKE_RULES.keys() == SLIPS.keys()
    drawn = dict.fromkeys(WEIGHTS, 0)
    for seed in range(3000):
        draft = Draft("모든 여러분 어제 친구와 학교에서 도서관까지 노래를 불렀습니다")
        slip_of_strokes(draft, random.Random(seed), 1)
        drawn[draft.edits[0].rule] += 1
    assert min(drawn.values()) > 0


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_as_many_slips_as_asked_for_each_in_a_word_of_its_own(count):
    for seed in range(60):
        draft = Draft(SENTENCE)
        assert slip_of_strokes(draft, random.Random(seed), count) == count == len(draft.edits)
        words = {SENTENCE.count(" ", 0, edit.start) for edit in draft.edits}
        assert len(words) == count


def test_slips_end_where_there_is_no_room_and_a_count_below_zero_is_refused():
    assert slip_of_strokes(Draft("no Hangul"), random.Random(0), 2) == 0
    assert slip_of_strokes(Draft("밥"), random.Random(0), 3) <= 1
    with pytest.raises(ValueError, match="-1"):
        slip_of_strokes(Draft("가"), random.Random(0), -1)


def test_slips_follow_the_weights_of_the_draft():
    text = "어제 친구와 학교에서 만났다"
    weights = [1.0 if 3 <= i < 6 else 0.0 for i in range(len(text))]
    for seed in range(50):
        draft = Draft(text, weights)
        assert slip_of_strokes(draft, random.Random(seed), 1) == 1
        assert 3 <= draft.edits[0].start < 6


def test_pairs_of_2000_composed_sentences():
    rng, known = random.Random(5), known_words()
    loose = 0
    for text in composed_sentences(2000):
        wrong, right = make_slipped(text, rng)
        assert wrong != right
        assert right.startswith(text)  # a laugh may follow
        assert protected(wrong) == protected(right)  # digits, Latin letters, brackets, emoji
        changes = find_changes(wrong, right)
        assert all(spares_outcries(change, wrong) for change in changes)
        assert INITIALS_ALONE.findall(wrong) == INITIALS_ALONE.findall(right)
        words = set(re.findall("[가-힣]+", wrong)) - set(re.findall("[가-힣]+", right))
        if not has_loose_jamo(wrong):  # else they may be halves of a word
            assert not any(word in known.real for word in words)
        loose += has_loose_jamo(wrong) and not has_loose_jamo(right)
    assert 300 < loose < 900


def test_a_text_without_hangul_stays():
    assert make_slipped("OK? 3:00", random.Random(0)) == ("OK? 3:00", "OK? 3:00")


def test_known_words_tell_nouns_with_particles_from_what_looks_like_them():
    known = known_words()
    assert isinstance(known, KnownWords)
    assert known.particle_of_noun("친구를") == 2
    assert known.particle_of_noun("고양이") == known.particle_of_noun("그리는") == 0
    assert known.is_real("바다에서") and not known.is_real("삭과") and not known.is_real("ㅇㅓ제")
    assert known.looks_right("회의자료", "회이자료") and not known.looks_right("학교으로", "학교로")
