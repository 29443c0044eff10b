"""The words of a text and the table of their counts."""

import gzip
import math
import random

import pytest

from model.correction.counts import Words, WordTable, touching

WORDS = Words({"학교": 9, "학교에": 4, "집": 3})


def test_words_that_touch_a_span():
    text = "학교에 갔다"
    assert touching(text, 1, 2) == ["학교에"]
    assert touching(text, 3, 4) == ["학교에", "갔다"]  # the space between them
    assert touching(text, 4, 4) == ["갔다"]
    assert touching("...", 0, 3) == []


def test_how_well_words_are_known():
    assert WORDS.known(["학교"]) == (math.log(10), 1.0, math.log(10))
    assert WORDS.known(["학교에서"]) == (0.0, 0.75, math.log(5))  # 학교에 is its longest known beginning
    assert WORDS.known(["하꾜"]) == WORDS.known([]) == (0.0, 0.0, 0.0)
    assert WORDS.known(["학교", "하꾜"]) == (0.0, 0.0, 0.0)  # the least of all


def test_words_are_counted_and_rare_ones_left_out():
    assert Words.count(["집에 가는 집", "집, 집에"]).counts == {"집": 2, "집에": 2}
    assert Words.count(["집에"], least=1).counts == {"집에": 1}


def test_a_table_is_written_and_read(tmp_path):
    path = tmp_path / "words.txt.gz"
    path.write_bytes(WORDS.to_bytes())
    assert Words.read(path).counts == WORDS.counts
    assert WORDS.to_bytes() == Words(dict(reversed(WORDS.counts.items()))).to_bytes()
    assert gzip.decompress(WORDS.to_bytes()).decode().splitlines()[0] == "집 3"


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip",
        gzip.compress(b"\xff 1\n", mtime=0),
        gzip.compress("집 a\n".encode(), mtime=0),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content):
    path = tmp_path / "words.txt.gz"
    path.write_bytes(content)
    with pytest.raises((OSError, ValueError)):
        Words.read(path)


def test_half_a_table_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "words.txt.gz"
    path.write_bytes(WORDS.to_bytes()[:-12])
    with pytest.raises(ValueError, match="not gzip"):
        Words.read(path)
    monkeypatch.setattr("model.correction.counts.LARGEST", 5)
    path.write_bytes(WORDS.to_bytes())
    with pytest.raises(ValueError, match="more than 5 bytes"):
        Words.read(path)


SYLLABLES = "가나다라마"


def table(counts: dict[str, int]) -> WordTable:
    return WordTable("".join(f"{word} {count}\n" for word, count in sorted(counts.items())))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 50])
def test_every_word_is_found_and_no_other(size):
    rng = random.Random(size)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(size)]
    counts = {word: rng.randint(0, 10**6) for word in words}
    found = table(counts)
    assert dict(found) == counts and len(found) == len(counts) and dict(found.items()) == counts
    assert {word: found[word] for word in counts} == counts
    others = {"", "힣", "가" * 9, *(word[:-1] for word in counts), *(f"{word}가" for word in counts)} - set(
        counts
    )
    assert not [word for word in others if word in found]


@pytest.mark.parametrize("text", ["집", "집\n", "집 \n", "집 a\n", "집 3", "집 3\n\n", "집 3 4\n", " 3\n"])
def test_a_text_of_another_form_is_refused(text):
    with pytest.raises(ValueError, match="no word and number"):
        WordTable(f"가 1\n{text}")
