"""What is carried to another machine says the same there."""

import json
import random

import pytest
from click.testing import CliRunner

import model.correction.morphemes
from model.correction.morphemes import MorphemeTable, words_of
from training.__main__ import main
from training.corpus.corpus import Pair, Sentence, read_corpus
from training.noise import everyday
from training.noise.spacing import free_spaces
from training.run.pack import packed_row

SENTENCES = [
    "대기 오염 문제가 심각하다고 한다.",
    "학교 운동장에서 축구 경기를 봤어요!",
    "겨울 방학 동안 책을 많이 읽었다.",
    "어제 산 책을 다 읽었습니다.",
]


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    rows = [{"text": text, "source": "news", "mt": number % 2} for number, text in enumerate(SENTENCES)]
    # A mistake by its letters, one by its morphemes, and one that is too long.
    rows += [{"text": "밥을 먹고싶다."}, {"text": "친구를 만나러왔어요."}, {"text": "가" * 200}]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    (folder / "dev.csv").write_text("src,tgt\n됬어요.,됐어요.\n", encoding="utf-8")
    arguments = [
        "pack",
        str(folder / "out"),
        f"--corpus={folder / 'corpus.jsonl'}",
        f"--dev={folder / 'dev.csv'}",
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return folder / "out"


@pytest.fixture
def without_kiwi(packed, monkeypatch):
    """The table answers instead of Kiwi."""
    monkeypatch.setenv(model.correction.morphemes.TABLE_VARIABLE, str(packed / "morphemes.json.xz"))
    for cached in (model.correction.morphemes._load, free_spaces):
        cached.cache_clear()
    yield
    for cached in (model.correction.morphemes._load, free_spaces):
        cached.cache_clear()


def test_a_packed_corpus_is_read_as_the_one_it_was_made_of(packed):
    corpus = read_corpus(packed / "corpus.jsonl.xz")
    assert corpus.rows == [Sentence(text, "news", bool(i % 2)) for i, text in enumerate(SENTENCES)]
    assert read_corpus(packed / "dev.jsonl.xz").rows == [Pair("됬어요.", "됐어요.")]


def test_what_is_checked_is_not_checked_again(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(packed_row(Sentence("밥을 먹고싶다.")), encoding="utf-8")
    assert len(read_corpus(path).rows) == 1


def test_everyday_sentences_are_the_same_without_kiwi(without_kiwi):
    def some() -> list[str]:
        rng = random.Random(3)
        return [everyday.everyday_sentence(rng) for _ in range(3000)]  # meets nearly every ending

    made = some()
    assert isinstance(model.correction.morphemes._load(), MorphemeTable)
    model.correction.morphemes._load.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(model.correction.morphemes.TABLE_VARIABLE)
        assert some() == made
        model.correction.morphemes._load.cache_clear()


def test_free_spaces_are_the_same_for_words_that_were_met(without_kiwi):
    found = [free_spaces(text) for text in SENTENCES]
    assert found[0] == {2, 5}  # 대기 오염, 오염 문제
    assert free_spaces("낱말 하나도 모름") == frozenset()  # words that were not: no space is free
    free_spaces.cache_clear()
    model.correction.morphemes._load.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(model.correction.morphemes.TABLE_VARIABLE)
        assert [free_spaces(text) for text in SENTENCES] == found


def test_the_words_of_a_text_have_their_own_morphemes():
    cuts = [("NNG", 0, 1), ("JKS", 1, 2), ("SF", 2, 3), ("VV", 4, 5)]
    assert list(words_of("책이. 와", cuts)) == [
        ("책이", (("NNG", 0, 1), ("JKS", 1, 2))),
        ("와", (("VV", 0, 1),)),
    ]
