"""Generated pairs of short notes and of repetitions: only their prose is misspelt."""

import random
from collections import Counter

import pytest

from model.text.protected import protected
from training.noise import read_lines
from training.noise.pairs import make_pair
from training.noise.pieces import Pieces, Prose, Verbatim
from training.noise.registers import GROUPS, LONGEST, make_note, make_repetition

SENTENCES = [
    "어제는 비가 많이 와서 밖에 나갈 수 없었어요.",
    "민수는 도서관에서 책을 두 권 빌렸다.",
    '선생님이 "내일 꼭 오세요."라고 말씀하셨다.',
    "안 돼!",
    "API 3.2에서는 새로운 설정을 사용할 수 있습니다.",
    "그 사람을 만난 지 오래됐지만 아직도 얼굴이 잘 기억난다.",
]


def misspell(text: str, rng: random.Random) -> str:
    return make_pair(text, rng).wrong


def unspaced(text: str, rng: random.Random) -> str:
    return text.replace(" ", "")


def test_signs_figures_and_names_are_the_same_on_both_sides():
    rng = random.Random(0)
    for _ in range(800):
        wrong, right = make_note(SENTENCES, rng, misspell)
        assert protected(wrong) == protected(right)
        assert right == right.strip() and "\n" not in wrong


def test_only_prose_is_misspelt():
    """With the misspelt prose blotted out, the rest is in the right side in the same order."""
    for seed in range(500):
        wrong, right = make_note(SENTENCES, random.Random(seed), lambda text, rng: "뷁")
        if "뷁" not in right:
            end = 0
            for left in wrong.split("뷁"):
                assert left in right[end:]
                end = right.index(left, end) + len(left)


def test_a_third_of_the_notes_is_right():
    rng = random.Random(2)
    pairs = [make_note(SENTENCES, rng, misspell) for _ in range(600)]
    assert 0.25 < sum(wrong == right for wrong, right in pairs) / len(pairs) < 0.5


def test_a_piece_of_few_syllables_is_seldom_misspelt():
    rng, (short, long) = random.Random(6), ("안 돼!", "그 사람을 만난 지 오래됐다.")
    typed = lambda text, rng: text.replace("돼", "되").replace("만난 지", "만난지")
    pairs = [make_note([short, long], rng, typed) for _ in range(3000)]
    both = [wrong for wrong, right in pairs if "안 돼" in right and "만난 지" in right and wrong != right]
    of_short, of_long = (sum(piece in wrong for wrong in both) for piece in ("안 되", "만난지"))
    assert 0 < 2 * of_short < of_long


@pytest.mark.parametrize("register", [register for group in GROUPS for register in group])
def test_each_register_is_short_and_has_words(register):
    for seed in range(50):
        parts = register(Pieces(SENTENCES, random.Random(seed)))
        text = "".join(parts)
        assert any("가" <= character <= "힣" for character in text)
        assert all(part for part in parts if isinstance(part, Prose | Verbatim))


def test_the_signs_that_people_write_all_come():
    rng = random.Random(4)
    seen = Counter("".join(make_note(SENTENCES, rng, unspaced)[1] for _ in range(3000)))
    assert all(seen[sign] for sign in "*#|={}@`[]<>/\\_^~;:()①•·&+ㅋㅠ")


def test_a_phrase_is_cut_where_words_belong_apart():
    phrases = {Pieces(["친구와 같이 갈 수 있다"], random.Random(seed)).phrase() for seed in range(200)} - {
        *read_lines("notes.txt")
    }
    assert "친구와 같이" in phrases
    assert not any(phrase.startswith(("수", "있다")) or phrase.endswith(("갈", "수")) for phrase in phrases)


@pytest.mark.parametrize("piece", ["괜찮아", "할 수 있다", "비가 안 와요.", "밥"])
def test_a_repetition_is_corrected_as_often_as_it_was_typed(piece):
    rng = random.Random(5)
    said = piece.rstrip(".")
    for _ in range(300):
        wrong, right = make_repetition(piece, rng, lambda text, rng: text[:-1] + "뷁")
        assert wrong.count("뷁") in (0, right.count(said))
        assert max(len(wrong), len(right)) <= LONGEST
        assert protected(wrong) == protected(right)


def test_repetitions_are_right_or_wrong_and_come_up_to_twenty_times():
    rng = random.Random(6)
    pairs = [make_repetition("괜찮아", rng, lambda text, rng: text.replace("찮", "찬")) for _ in range(1000)]
    assert 0.25 < sum(wrong == right for wrong, right in pairs) / len(pairs) < 0.5
    times = Counter(right.count("괜찮아") for _, right in pairs)
    assert {1, 2, 10, 20} <= set(times) and max(times) == 20


def test_what_is_too_long_to_be_repeated_is_said_once():
    piece = "가" * 100
    assert all(
        make_repetition(piece, random.Random(seed), unspaced)[1].count("가" * 100) == 1 for seed in range(50)
    )
