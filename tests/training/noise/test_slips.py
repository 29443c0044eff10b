"""Error rules of typing: number, places and kinds of slips, in jamo and in strokes."""

import csv
import random
import re
from pathlib import Path

import pytest

from model.text.changes import find_changes
from model.text.protected import protected, spares_outcries
from tests.training.noise.test_rules import outcomes
from training.noise import strokes, typing_slips
from training.noise.draft import Draft
from training.noise.strokes import has_loose_jamo, make_slipped, slip_of_strokes
from training.noise.typing_slips import slip
from training.noise.word_parts import known_words

INITIALS_ALONE = re.compile("(?<![ㄱ-ㅣ가-힣])[ㄱ-ㅎ]+(?![ㄱ-ㅣ가-힣])")  # ㄱㅅ, ㅇㅇ, but not ㄱㅅ in ㅓㄱㅅ
BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def composed_sentences(count: int) -> list[str]:
    """One or two of our own sentences, many with something between or behind them that is no spelling."""
    paths = sorted(BENCHMARKS.glob("everyday*.csv"))
    own = [row["tgt"] for path in paths for row in csv.DictReader(path.open(encoding="utf-8"))]
    rng = random.Random(41)
    behind = ("", "", "", " ㅋㅋ", "ㅠㅠ", " ㄱㅅ", " 3시", " OK!", "ㅎ", " 😀", " ㅇㅇ", " (A4)")
    return [
        " ".join(each + rng.choice(behind) for each in rng.sample(own, rng.choice((1, 1, 2))))
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("rule", "text", "made"),
    [
        ("typing jamo_added", "각", "갃"),
        ("strokes stroke_repeated", "네", "ㄴ네"),  # 네ㅔ is drawn out, not slipped
        ("strokes stroke_repeated", "흐르", "ㅎ흐르 흘르 흐ㅡ르"),
        ("strokes strokes_swapped", "나무", "ㅏㄴ무 남누ㅏ 낭ㅜㅁ ㄴㅁㅏㅜ ㄴ마ㅜ 나ㅜㅁ"),
        ("strokes stroke_dropped", "나무가", "ㄴ무가 나ㅜ가 나무ㅏ"),  # 남가 would hide the lost stroke
        ("strokes final_lost", "먹을", "머을"),
        ("strokes syllable_doubled", "먹었다", "먹먹었다 먹었다다"),  # 먹었었다 is another tense
        ("strokes syllable_doubled", "좋아", "좋좋아"),  # 좋아아 is drawn out
        ("strokes syllable_missing", "먹었습니다", "먹었니다 먹었습다"),
    ],
)
def test_a_rule_makes_nothing_else(rule, text, made):
    assert outcomes(rule, text) <= {text, *made.split(" ")}


@pytest.mark.parametrize("make", [slip, slip_of_strokes])
def test_slips_end_where_there_is_no_room_and_a_count_below_zero_is_refused(make):
    assert make(Draft("no Hangul"), random.Random(0), 2) == make(Draft(""), random.Random(0), 2) == 0
    assert make(Draft("밥"), random.Random(0), 3) <= 1
    with pytest.raises(ValueError, match="-1"):
        make(Draft("가"), random.Random(0), -1)
    draft = Draft("ab 가나 12 다.")
    assert slip(draft, random.Random(0), 9) == 3 and slip(draft, random.Random(0), 1) == 0


@pytest.mark.parametrize("make", [slip, slip_of_strokes])
def test_slips_follow_the_weights_of_the_draft(make):
    text = "어제 친구와 학교에서 만났다"
    weights = [1.0 if 3 <= i < 6 else 0.0 for i in range(len(text))]
    for seed in range(50):
        draft = Draft(text, weights)
        assert make(draft, random.Random(seed), 1) == 1
        assert 3 <= draft.edits[0].start < 6


@pytest.mark.parametrize(("make", "module"), [(slip, typing_slips), (slip_of_strokes, strokes)])
def test_every_kind_is_drawn(make, module):
    drawn = dict.fromkeys(module.WEIGHTS, 0)
    for seed in range(1000):
        draft = Draft("모든 여러분 어제 친구와 학교에서 노래를 꽤 불렀습니다")
        make(draft, random.Random(seed), 1)
        drawn[draft.edits[0].rule] += 1
    assert min(drawn.values()) > 0
    if module is typing_slips:
        assert max(drawn, key=drawn.get) == "jamo_replaced"  # the heaviest


def test_a_slip_does_not_undo_what_another_family_did():
    for seed in range(300):
        draft = Draft("게")
        draft.put("native_rule", "native", 0, ["께"])
        assert slip(draft, random.Random(seed), 1) == 1
        assert draft.wrong not in {"게", "께"}


def test_pairs_of_800_composed_sentences():
    rng, known = random.Random(5), known_words()
    loose = 0
    for text in composed_sentences(800):
        wrong, right = make_slipped(text, rng)
        assert wrong != right
        assert right.startswith(text)  # a laugh may follow
        assert protected(wrong) == protected(right)  # digits, Latin letters, brackets, emoji
        assert all(spares_outcries(change, wrong) for change in find_changes(wrong, right))
        assert INITIALS_ALONE.findall(wrong) == INITIALS_ALONE.findall(right)
        words = set(re.findall("[가-힣]+", wrong)) - set(re.findall("[가-힣]+", right))
        if not has_loose_jamo(wrong):  # else they may be halves of a word
            assert not any(word in known.real for word in words)
        loose += has_loose_jamo(wrong) and not has_loose_jamo(right)
    assert 120 < loose < 360
    assert make_slipped("OK? 3:00", random.Random(0)) == ("OK? 3:00", "OK? 3:00")
