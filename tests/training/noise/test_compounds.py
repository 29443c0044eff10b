"""Which spaces between two nouns are free."""

import random

import pytest

from training.noise.draft import Draft
from training.noise.spacing import drop_all_spaces, free_spaces, space_dropped


def with_marks(text: str) -> str:
    """The text with ␣ for each free space."""
    free = free_spaces(text)
    return "".join("␣" if index in free else character for index, character in enumerate(text))


@pytest.mark.parametrize(
    "marked",
    [
        "대기␣오염␣수준은 위험하다.",
        "신제품␣발표회 때문에 바빠.",
        "개발자␣회의␣자료를 보냈다.",
        "객체␣지향적인 코드를 쓴다.",
        "회의␣자료 준비해 줘.",  # 자료 준비하다: a noun and a verb
        "사흘 째 단식␣농성을 한다.",  # 째: a suffix alone
    ],
)
def test_two_common_nouns_may_be_joined(marked):
    assert with_marks(marked.replace("␣", " ")) == marked


@pytest.mark.parametrize(
    "text",
    [
        "오늘 아침 회의는 끝났다.",  # time
        "도로 주변 공사가 끝났다.",  # place
        "엄마 친구 아들이 왔다.",  # persons
        "김민수 학생이 왔다.",  # a name
        "책 값이 올랐다.",  # one syllable
        "학교 앞에서 만나자.",
        "밥을 먹고 학교에 갔다.",
        "할 수 있는 것은 다 했다.",
        "",
    ],
)
def test_everything_else_is_written_apart(text):
    assert not free_spaces(text)


def test_free_spaces_are_not_taken_for_mistakes():
    draft = Draft("대기 오염 수준은 위험하다.")
    space_dropped(draft, random.Random(1), rate=1.0)
    assert draft.wrong == "대기 오염 수준은위험하다."


def test_who_leaves_out_every_space_leaves_out_these_too():
    draft = Draft("대기 오염 수준은 위험하다.")
    drop_all_spaces(draft, random.Random(1), 1.0)
    assert draft.wrong == "대기오염수준은위험하다."
