"""Places of wrong words in a document, and the result in the shape of py-hanspell."""

import unicodedata
from itertools import pairwise

import pytest

from model.text.tokenizer import normalise, typed_offsets
from service import CheckResult, check
from service.annotated import Annotated, Piece, utf16_length
from tests.hostile_texts import hostile_texts
from tests.service.conftest import WRONG

HOSTILE = list(hostile_texts(60, 16))
DECOMPOSED = unicodedata.normalize("NFD", WRONG)


def found(corrector, document: Annotated | str, offers: bool = False):
    document = Annotated.plain(document) if isinstance(document, str) else document
    return corrector.matches(document, offers)


@pytest.mark.parametrize("text", [WRONG, DECOMPOSED])
def test_each_wrong_word_is_one_match_in_the_text_as_it_was_typed(corrector, text):
    shown = [(normalise(each.wrong), each.right) for each in found(corrector, text)]
    assert shown == [("할수있는", "할 수 있는"), ("머거요", "먹어요"), ("몇일", "며칠")]
    for each in found(corrector, text):
        assert text[each.start : each.end] == each.wrong
        assert each.utf16_start == utf16_length(text[: each.start])
        assert each.utf16_length == utf16_length(each.wrong)


def test_a_replacement_never_touches_markup(corrector):
    document = "밥을 **머거**요. <b>조</b>아요. 할<br>수있는 일"
    starts = {part: document.index(part) for part in ("밥을 ", "머거", "요. ", "조", "아요. 할", "수있는 일")}
    pieces = [Piece(start, start + len(part), part) for part, start in starts.items()]
    marked = Annotated.of(document, pieces)
    assert marked.text == "밥을 머거요. 조아요. 할수있는 일"
    shown = [(each.wrong, each.right) for each in found(corrector, marked)]
    # 할 and 수 are parted by markup: nothing says on which side of it the space belongs.
    assert shown == [("머거", "먹어"), ("조", "좋"), ("수있는", "수 있는")]


@pytest.mark.parametrize("text", [*HOSTILE, DECOMPOSED, "ᄀ", "ᆨ", "각" * 3, "e\u0301\u0327", ""])
def test_typed_offsets_lead_to_the_same_letters(text):
    offsets, composed = typed_offsets(text), normalise(text)
    assert len(offsets) == len(composed) + 1 and offsets[-1] == len(text)
    assert list(offsets) == sorted(offsets)
    whole = "".join(normalise(text[a:b]) for a, b in pairwise(offsets))
    assert text == "" or offsets[0] == 0 and whole == composed


def test_a_sentence_is_answered_once(corrector, monkeypatch):
    corrector.kept.clear()
    asked = []
    answers = type(corrector).__mro__[1].propose
    monkeypatch.setattr(
        type(corrector).__mro__[1],
        "propose",
        lambda self, new, keep: asked.extend(each.text for each in new) or answers(self, new, keep),
    )
    first = corrector.correct("밥을 머거요. 집에 가요.").text
    assert corrector.correct("밥을 머거요. 집에 가요. 안되요.").text == f"{first} 안 돼요."
    assert asked == ["밥을 머거요.", "집에 가요.", "안되요."]


def test_the_result_has_the_shape_of_py_hanspell():
    found = check("할수 있는 만큼 머거요. 그럴리 없어.")
    assert (found.result, found.original) == (True, "할수 있는 만큼 머거요. 그럴리 없어.")
    assert found.checked == found.only_checked() == "할 수 있는 만큼 먹어요. 그럴 리 없어."
    assert found.errors == 3 and found.as_dict()["checked"] == found.checked
    assert found.words["먹어요."] is CheckResult.WRONG_SPELLING
    assert found.words["할"] is found.words["리"] is CheckResult.WRONG_SPACING
    assert found.words["만큼"] is CheckResult.PASSED
    assert [each.errors for each in check(["네.", "안되요."])] == [0, 1]
