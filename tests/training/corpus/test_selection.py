"""Selection of corpus sentences: contents, weights by source, characters."""

import json
import random

import pytest
from click.testing import CliRunner

from model.text.hangul import KS_X_1001_SYLLABLES
from model.text.tokenizer import Tokenizer
from training.corpus.corpus import Sentence
from training.corpus.selection import (
    ASCII,
    COMPATIBILITY_JAMO,
    choose_characters,
    copies,
    hold_out_command,
    read_weights,
)


def test_a_line_ends_at_a_line_feed_alone(tmp_path):
    texts = [f"가\u2028나\x85다 {number}" for number in range(4)]
    lines = [json.dumps({"text": text, "source": "one"}, ensure_ascii=False) + "\n" for text in texts]
    (tmp_path / "corpus").write_text("".join(lines), encoding="utf-8", newline="")
    rest, held = tmp_path / "rest", tmp_path / "held"
    arguments = [tmp_path / "corpus", "--rest", rest, "--held", held, "--one-in", 2]
    done = CliRunner().invoke(hold_out_command, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert (rest.read_text("utf-8"), held.read_text("utf-8")) == ("".join(lines[:2]), "".join(lines[2:]))


@pytest.mark.parametrize("line", ["\n", "밥을 먹어요.\n", '["밥을 먹어요."]\n'])
def test_a_line_that_is_no_object_is_named(line, tmp_path):
    (tmp_path / "corpus").write_text(f'{{"text": "가"}}\n{line}', encoding="utf-8")
    arguments = [tmp_path / "corpus", "--rest", tmp_path / "rest", "--held", tmp_path / "held"]
    done = CliRunner().invoke(hold_out_command, list(map(str, arguments)))
    assert done.exit_code == 1 and "line 2 should be a JSON object" in done.output
    assert not (tmp_path / "rest").exists()
    (tmp_path / "corpus").write_bytes("밥을 먹어요.\n".encode("cp949"))
    done = CliRunner().invoke(hold_out_command, list(map(str, arguments)))
    assert done.exit_code == 1 and "texts should be in UTF-8" in done.output


@pytest.mark.parametrize("text", ["law", "=1", "law=-1", "law=nan", "law=many"])
def test_what_is_no_weight_is_refused(text):
    with pytest.raises(ValueError):
        read_weights((text,))


def test_sentences_come_as_often_as_their_weight_says():
    rng = random.Random(0)

    def mean(source, **weights):
        return sum(copies(Sentence("가", source), weights, rng) for _ in range(2000)) / 2000

    assert mean("law", law=0.25) == pytest.approx(0.25, abs=0.04)
    assert mean("news", news=2.0) == 2
    assert mean("news", news=1.5) == pytest.approx(1.5, abs=0.04)
    assert mean("law", law=0.0) == 0


BASE = choose_characters([])


def test_the_vocabulary_of_an_empty_corpus():
    assert set(BASE) == {*KS_X_1001_SYLLABLES, *ASCII, *COMPATIBILITY_JAMO}
    assert len(BASE) == 2350 + 95 + 51
    assert list(BASE) == sorted(BASE)
    assert {" ", "~", "ㄱ", "ㅣ", "ㅋ"} <= set(BASE)
    assert Tokenizer(BASE).vocab_size == len(BASE) + 4


def test_what_a_corpus_must_hold_often_enough():
    for extra in ("똠", "…", "“", "℃"):
        assert extra in choose_characters([extra] * 20)
        assert extra not in choose_characters([extra] * 19)
        assert extra in choose_characters([extra * 2], minimum_count=2)
