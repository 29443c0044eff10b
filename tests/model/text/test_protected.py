"""Characters, spans, anchors and words that no correction may touch."""

import re
import time
from pathlib import Path

import pytest

from model.correction.candidates import Answer
from model.text.changes import Change, apply_changes, find_changes
from model.text.passages import Passage, lost_anchors, passages_beside
from model.text.protected import (
    MOST_OWN,
    kept_spans,
    own_words,
    spares_gaps,
    spares_outcries,
    spares_verbatim,
    spares_words,
    verbatim_spans,
)
from tests.examples import examples


def keep_outcries(source: str, target: str) -> str:
    """``source`` with those changes towards ``target`` that may be proposed."""
    changes = find_changes(source, target)
    return apply_changes(source, [each for each in changes if spares_outcries(each, source)])


RULES = {"outcries": spares_outcries, "words": spares_words}


@pytest.mark.parametrize(
    ("section", "source", "target"), list(examples(Path(__file__).with_name("proposals.txt")))
)
def test_changes_of_laughter_and_of_whole_words_are_no_proposals_and_spelling_is(section, source, target):
    verdict, rule = section.split(" ")
    spared = [RULES[rule](each, source) for each in find_changes(source, target)]
    assert spared and (all(spared) if verdict == "proposed" else not all(spared))
    assert rule == "words" or keep_outcries(source, target) == (target if verdict == "proposed" else source)


@pytest.mark.parametrize(
    ("text", "place", "spared"),
    [
        ("합계\t3", 2, False),
        ("합계\t3", 3, False),
        ("(가나)", 1, False),
        ("(가나)", 3, False),
        ("(가나)", 2, True),
        ("", 0, True),
    ],
)
def test_no_space_comes_where_none_belongs(text, place, spared):
    assert spares_gaps(Change(place, place, place, place + 1, "", " "), text) is spared


class Written:
    """The output of a network that is sure of each token."""

    def __init__(self, ids):
        self.ids = ids

    def log_probability(self, place: int, token: int) -> float:
        return 0.0 if self.ids[place] == token else -9.0


def test_a_corrector_proposes_no_such_change(tiny_corrector):
    source, target = "마니 ㅋㅋ", "많이 금"
    answer = Answer(Passage.of(source), target, Written(tiny_corrector.tokenizer.encode_target(target)))
    ((changes, _),) = tiny_corrector._weigh([answer])
    assert [change.right for change in changes] == ["많이"]


CODE = ["⟦```\n할수있다\n```⟧ 끝", "그래.\n⟦if 할일 >= 3: 다했다 = True⟧"]
MARKED = [line for _, line, _ in examples(Path(__file__).with_name("verbatim.txt"))]


@pytest.mark.parametrize("marked", MARKED + CODE)
def test_where_they_stand(marked):
    text = re.sub("[⟦⟧]", "", marked)
    assert [text[a:b] for a, b in verbatim_spans(text)] == re.findall("⟦(.*?)⟧", marked, re.DOTALL)


def test_a_change_inside_or_of_the_spaces_at_the_ends_is_refused():
    text, target = "<b>안되요</b> 할수있다", "<b> 안 돼요 </b> 할 수 있다"
    kept = [each for each in find_changes(text, target) if spares_verbatim(each, verbatim_spans(text))]
    assert apply_changes(text, kept) == "<b>안 돼요</b> 할 수 있다"


@pytest.mark.parametrize(
    "piece", ["가", "a.", "가_", "\\", "/가", '"', "((", "<b ", '{"', "가.가(", "@a", "`", "SELECT "]
)
def test_long_texts_take_no_quadratic_time(piece):
    started = time.process_time()
    verbatim_spans(piece * (8000 // len(piece)))
    assert time.process_time() - started < 1


def part_of(text: str) -> Passage:
    return Passage.of(text, verbatim_spans(text))


def anchors(part: Passage) -> list[str]:
    return [part.text[a:b] for a, b in part.anchors]


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("* 않된다", "* 안 된다", []),
        ("* 않된다", "안 된다", ["*"]),
        ("| 민수 | 비고 |", "비닛문 수 비고 봐", ["|", "|", "|"]),
        ("결석 2회 @민수", "결석 2회 민주", ["@민수"]),
        ("* 역활 3회", "저녁 활 3회", ["*"]),
        ("<b>안되요</b>", "<b> 안 돼요 </b>", ["<b>", "</b>"]),  # an edit of its spaces touches a tag
        ("<b>ㅋㅋ</b>않되요", "<b>ㅋㅋ</b> 안 돼요", ["<b>ㅋㅋ</b>"]),  # tags beside a laugh make one anchor
        ("<br><br>않되요 3", "<br><br> 안 돼요 3", ["<br><br>"]),
        ("조아ㅋㅋ<b>", "좋아 ㅋㅋ<b>", []),  # the laugh's side of it is free
        ('{"할일": 1}', '1"할 일": 11', ['{"할일": 1}']),
        ("3회 결석", "3회 결석(2)", ["3"]),  # nothing is lost, but something protected came in
        ("조아ㅠㅠ", "좋아 ㅠㅠ", []),
    ],
)
def test_an_anchor_is_lost_where_the_target_does_not_copy_it(source, target, lost):
    part = part_of(source)
    assert [source[a:b] for a, b in lost_anchors(part, target)] == lost


def test_the_passages_beside_lost_anchors_keep_their_places_and_their_own_anchors():
    text = "  * 역활 3회 @민수 를 정하자 "
    part = part_of(text)
    star, _, mention = part.anchors
    parts = passages_beside(part, [star, mention])
    assert [each.text for each in parts] == ["역활 3회", "를 정하자"]
    for each in parts:
        assert text[each.start :].startswith(each.text)
        assert each.text == each.text.strip()
    assert anchors(parts[0]) == ["3"]


def test_what_is_no_prose_is_not_read():
    assert not part_of("www.쇼핑몰.한국/안되요").has_prose
    assert part_of("www.쇼핑몰.한국 에서 샀다").has_prose


def test_a_particle_that_is_joined_to_a_lost_anchor_is_too_little_to_read():
    part = part_of("신청서{두 쪽}를 내세요")
    assert [each.text for each in passages_beside(part, part.anchors)] == ["신청서", "두 쪽", "내세요"]


@pytest.mark.parametrize(
    ("words", "text", "kept"),
    [
        (["인박스"], "인박스를 비우고 새인박스", ["인박스를"]),
        (["갓*"], "갓돌과 갓풀만", ["갓돌과", "갓풀만"]),
        (["C++ 반"], "C++ 반에서", ["C++ 반에서"]),
        (["*", " "], "무엇이든", []),
    ],
)
def test_a_persons_words_are_kept_with_their_particles(words, text, kept):
    own = own_words(words)
    assert [text[start:end] for start, end in kept_spans(text, own) if own] == kept


@pytest.mark.parametrize("words", [[f"나{i}" for i in range(MOST_OWN + 1)], ["가" * 65], ["*가*나*"]])
def test_too_many_or_too_long_words_are_refused(words):
    with pytest.raises(ValueError, match="own words should be"):
        own_words(words)
