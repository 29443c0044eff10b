import random

from training.noise.lookalikes import drawn_out, make_right_lookalike, with_doubled_adverb

TEXT = "정말 빨리 끝났네요."


def drawn(text: str) -> set[str]:
    return {drawn_out(text, random.Random(seed)) for seed in range(300)}


def test_the_last_syllable_is_drawn_out():
    assert {"감사합니다아", "감사합니다아아", "감사합니다ㅏ", "감사합니다아~"} <= drawn("감사합니다")
    assert {"그래애?", "그래ㅐ?"} <= drawn("그래?")
    assert "안녕하세요오~" in drawn("안녕하세요")
    assert {"네에", "네ㅔㅔ"} <= drawn("네")
    assert {"정마알", "정마아알"} <= drawn("정말")
    assert drawn("OK?") == {"OK?"} and drawn("") == {""}


def test_adverbs_are_doubled_as_the_dictionary_has_them():
    found = {with_doubled_adverb(TEXT, random.Random(seed)) for seed in range(40)}
    assert found == {"정말 빨리빨리 끝났네요."}  # 정말 정말 빨리 would be doubled before another one
    assert with_doubled_adverb("정말 좋아", random.Random(0)) == "정말 정말 좋아"
    assert with_doubled_adverb("정말 정말 좋아", random.Random(0)) == "정말 정말 정말 좋아"
    assert with_doubled_adverb("학교에 가요", random.Random(0)) == "학교에 가요"


def test_both_sides_are_the_same_and_something_was_added():
    rng = random.Random(2)
    made = [make_right_lookalike(TEXT, rng) for _ in range(500)]
    assert all(wrong == right != TEXT for wrong, right in made)
    rights = {right for _, right in made}
    assert any("ㄱㅅ" in right for right in rights)
    assert any("ㅋㅋ" in right for right in rights)
    assert any(right.startswith("우와") for right in rights)
    assert any("네요오" in right for right in rights)
    assert len(rights) > 100
