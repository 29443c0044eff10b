"""Training pairs at natural error rates, and right text that looks mistaken."""

import random
import tomllib
from collections import Counter

import pytest
from rapidfuzz.distance import Levenshtein

from model.text.changes import find_changes
from training.noise.hard_right import KINDS, hard_right, near_nouns
from training.noise.pairs import NORM, SHARES, SPACES, as_people_write
from training.options import options_of, read_options
from training.run.examples import ExampleMaker, ExampleSettings
from training.run.pack import RECIPE

SENTENCES = """
어제 학교에서 친구와 연필 두 개를 샀다.
내일 도서관에 갈 수 있을 것 같아요.
Docker를 설치하고 명령을 실행해야 합니다.
며칠 뒤에 그 사람에게 사과하려고 합니다.
회의를 시작하자마자 손님이 돌아왔다.
공부할 때마다 음악을 듣는 사람이 많다.
""".strip().splitlines()


@pytest.fixture(scope="module")
def made():
    rng = random.Random(0)
    return [pair for n in range(600) if (pair := as_people_write(SENTENCES[n % 6], rng, SENTENCES))]


def test_a_sentence_gets_one_mistake_of_a_kind_that_people_make(made):
    assert all(wrong != right and right in SENTENCES for wrong, right in made)
    assert sum(len(find_changes(*pair)) == 1 for pair in made) > 0.95 * len(made)


def test_most_mistakes_are_spaces_missing_or_too_many(made):
    counts = Counter(
        len(wrong) - len(right) if wrong.replace(" ", "") == right.replace(" ", "") else "letters"
        for wrong, right in made
    )
    spaces = sum(SHARES[kind] for kind in SPACES) / sum(SHARES.values())
    assert spaces == pytest.approx(0.62) and SHARES[NORM] == 14
    assert (counts[1] + counts[-1]) / counts.total() == pytest.approx(spaces, abs=0.06)
    assert min(counts[1], counts[-1]) / counts.total() > 0.2


def test_near_nouns_are_one_jamo_or_syllable_from_a_frequent_one():
    near = near_nouns(["= 증가 창문 이미지 마음", "~ 증파 차문 이미자 군마음 도토리 휴대기기"])
    assert near == ["증파", "차문", "이미자", "군마음", "휴대기기"]


@pytest.mark.parametrize("kind", KINDS)
def test_right_text_of_each_kind_differs_and_keeps_no_field(kind):
    rng = random.Random(1)
    made = {KINDS[kind]("어제 학교에서 친구와 연필을 샀다.", rng) for _ in range(20)}
    made -= {None, "어제 학교에서 친구와 연필을 샀다."}
    assert made and not any("{wrong}" in text or "{right}" in text for text in made)


def test_particles_of_placeholders_and_brands_fit():
    rng = random.Random(2)
    texts = [KINDS["placeholder"]("연필을 샀다.", rng) for _ in range(30)]
    assert all(text.endswith("을(를) 샀다.") for text in texts)
    assert "훼미리마트를 샀다." in {KINDS["brand"]("연필을 샀다.", rng) for _ in range(2000)}
    assert Levenshtein.distance(hard_right("연필을 샀다.", rng), "연필을 샀다.") > 0


def test_at_natural_rates_much_stays_right_and_half_of_it_is_hard(tmp_path):
    recipe = tomllib.loads(RECIPE.read_text("utf-8"))
    (stage,) = (stage for stage in recipe["stage"] if stage["name"] == "natural")
    given = {name.replace("-", "_"): value for name, value in (recipe["all"] | stage).items()}
    options = {each.name: given.get(each.name, each.default) for each in options_of(ExampleSettings)}
    settings = read_options(ExampleSettings, options)
    maker, rng = ExampleMaker(SENTENCES, settings), random.Random(0)
    counts: Counter[str] = Counter()
    for n in range(240):
        for wrong, right in maker.pairs(SENTENCES[n % 6], rng):
            counts["all"] += 1
            counts["right"] += wrong == right
    hard = settings.practice["hard_right"] * 240 / counts["right"]
    assert counts["right"] / counts["all"] >= 0.4
    assert 0.45 <= hard <= 0.7


def test_peoples_pairs_are_read_but_for_those_to_measure_on(tmp_path):
    from training.corpus.corpus import Pair, read_corpus
    from training.corpus.selection import weight_of

    path = tmp_path / "real_pairs.jsonl"
    path.write_text(
        '{"wrong": "둘다", "right": "둘 다", "source": "a/b", "split": "train"}\n'
        '{"wrong": "몇일", "right": "며칠", "source": "a/b", "split": "test"}\n',
        encoding="utf-8",
    )
    corpus = read_corpus(path)
    assert corpus.rows == [Pair("둘다", "둘 다", "a/b")]
    assert "split test" in corpus.problems[0].reason
    assert weight_of(corpus.rows[0], {"pairs": 12, "mt": 0.3}) == 12
    maker = ExampleMaker([("둘다", "둘 다")], ExampleSettings(right_side_share=1.0))
    assert list(maker.pairs(("둘다", "둘 다"), random.Random(0))) == [("둘다", "둘 다"), ("둘 다", "둘 다")]
