"""Development sets: made of a corpus for one question each, and our own by kind."""

import csv
import json
import random
import unicodedata

import pytest
from click.testing import CliRunner
from rapidfuzz.distance import Levenshtein

from tests.replacing import corrected
from training.__main__ import main
from training.corpus.corpus import Sentence
from training.documents.render import content
from training.documents.tables import Sources
from training.measure.metrics import Outcome
from training.measure.sets import (
    OWN_SETS,
    SetRow,
    by_set_and_kind,
    count,
    make_sets,
    one_space,
    read_rows,
)

COMMON = "오늘은 친구들과 함께 학교에 갔다가 집에 돌아왔다."
SENTENCES = [
    Sentence(f"{place}에서 {thing}를 보고 친구들과 함께 이야기를 나누었다.", source)
    for source in ("someone/Chatbot_data", "someone/wikinews")
    for place in ("학교", "공원", "시장", "집 앞", "도서관")
    for thing in ("두루마기", "가야고", "너와", "도토리")
]


@pytest.fixture(scope="module")
def sets():
    known = [COMMON.replace("학교", place) for place in ("학교", "공원", "시장", "도서관")] * 30
    known += ["이야기를 나누었다.", "집 앞에서 보고 왔다."] * 30
    return make_sets(SENTENCES, known, count=12, seed=0)


def test_each_set_has_sentences_with_errors_and_others_without(sets):
    assert set(sets) == {"everyday", "general", "rare", "several", "spaces"}
    for pairs in sets.values():
        wrong, clean = pairs[:12], pairs[12:]
        assert all(source != target for source, target in wrong)
        assert len(clean) == 6 and all(source == target for source, target in clean)
        assert len({target for _, target in pairs}) == 18


def test_one_space_is_wrong_and_nothing_else(sets):
    for source, target in sets["spaces"][:12]:
        assert Levenshtein.distance(source, target) == 1
        assert source.replace(" ", "") == target.replace(" ", "")
    assert one_space("바다.", random.Random(0)) is None


def test_the_commands_divide_a_corpus_and_make_sets(tmp_path):
    corpus, rest, held = (tmp_path / f"{name}.jsonl" for name in ("corpus", "rest", "held"))
    rows = [json.dumps({"text": each.text, "source": each.source}, ensure_ascii=False) for each in SENTENCES]
    corpus.write_text("\n".join(rows) + "\n", encoding="utf-8")
    run = CliRunner().invoke
    done = run(main, ["hold-out", str(corpus), "--rest", str(rest), "--held", str(held), "--one-in", "2"])
    assert done.exit_code == 0, done.output
    assert len(rest.read_text("utf-8").splitlines()) == len(held.read_text("utf-8").splitlines()) == 20
    made = run(
        main, ["sets", str(held), "--known", str(rest), "--out", str(tmp_path / "sets"), "--count", "4"]
    )
    assert made.exit_code == 0, made.output
    for name in ("everyday", "general", "several", "spaces"):
        with open(tmp_path / "sets" / f"{name}.csv", newline="", encoding="utf-8") as file:
            assert len(list(csv.DictReader(file))) == 6


PATHS = sorted(OWN_SETS.glob("sets/*.csv"))
ROW = SetRow("slips", "doubled", "우리리는 밥을 먹었다", "우리는 밥을 먹었다")
RIGHT = SetRow("slips", "right", "산 책을 읽었다", "산 책을 읽었다")


def outcome(row, text):
    return Outcome(row, corrected(row.wrong, text))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_set_is_well_formed(path):
    with path.open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == ["src", "tgt", "kind", "note"]
    rows = list(read_rows([path]))
    assert len(rows) == len(set(rows))
    for row in rows:
        assert row.kind
        for text in (row.wrong, row.right):
            assert text == unicodedata.normalize("NFC", text.strip())


def test_no_text_is_wrong_here_and_right_there():
    rows = list(read_rows(PATHS))
    assert not {row.wrong for row in rows if row.wrong != row.right} & {row.right for row in rows}


def test_counts():
    results = [outcome(ROW, ROW.right), outcome(ROW, ROW.wrong), outcome(RIGHT, "산책을 읽었다")]
    assert count(results) == {"wrong": 2, "exact": 1, "left": 1, "right": 1, "untouched": 0, "harmed": 1}
    sets = by_set_and_kind(results)
    table = content(Sources(given={"development": {"sets": sets}}), "development").splitlines()
    assert table[2] == "| **slips** |  | 2 | 1 (50.0%) | 1 | 1 | 0 (0%) | 1 |"
    assert table[3].startswith("|  | doubled | 2 |")
