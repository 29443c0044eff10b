import random

from training.noise.lookalikes import ANSWERS, LAUGHS, TEARS, add_laughter, laughter


def many(wrong, right, count=2000):
    rng = random.Random(3)
    return [add_laughter(wrong, right, rng) for _ in range(count)]


def test_laughter_is_one_letter_again_and_again_or_an_answer():
    rng = random.Random(0)
    drawn = {laughter(rng) for _ in range(3000)}
    assert {"ㅋ", "ㅋㅋ", "ㅎㅎ", "ㅠㅠ", "ㅜㅜㅜ", "ㅇㅇ"} <= drawn
    assert all(text in ANSWERS or (len(set(text)) == 1 and text[0] in LAUGHS + TEARS) for text in drawn)


def test_both_sides_get_the_same_and_nothing_else_changes():
    for wrong, right in many("너무 조아요.", "너무 좋아요."):
        assert wrong.replace("조아", "좋아") == right
        assert "너무 좋아" in right


def test_laughter_stands_apart_attached_before_and_below_the_last_syllable():
    rights = {right for _, right in many("좋아요.", "좋아요.")}
    assert {
        "좋아요ㅋㅋ",
        "좋아요 ㅋㅋ",
        "좋아요.ㅋㅋ",
        "좋아욬ㅋㅋ",
        "ㅋㅋ 좋아요.",
        "ㅇㅇ 좋아요.",
    } <= rights


def test_a_last_syllable_that_is_wrong_is_not_closed():
    for wrong, right in many("좋아여", "좋아요", 500):
        assert "욬" not in right and "옄" not in wrong


def test_texts_without_hangul_are_no_trouble():
    assert all(wrong == right for wrong, right in many("", "", 100) + many("...", "...", 100))
