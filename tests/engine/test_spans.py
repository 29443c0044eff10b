import pytest

from engine.questions import nearest
from model.text.changes import find_changes

SOURCE = "이 쟈리릘 빌려 감사의 말말씀을 드드립니다."
CHANGES = find_changes(SOURCE, "이 자리를 빌려 감사의 말씀을 드립니다.")


def test_each_change_is_found_at_its_own_span():
    assert [nearest(CHANGES, (each.source_start, each.source_end)) for each in CHANGES] == [*CHANGES]


@pytest.mark.parametrize("syllable", ["말", "드"])
def test_a_deletion_is_found_at_either_of_two_equal_syllables(syllable):
    first = SOURCE.index(2 * syllable)
    for start in (first, first + 1):
        assert nearest(CHANGES, (start, start + 1)).wrong == syllable


def test_where_nothing_changes_the_error_holds_no_text():
    with pytest.raises(ValueError, match=r"^nothing changes at \(1, 2\)$"):
        nearest((), (1, 2))
