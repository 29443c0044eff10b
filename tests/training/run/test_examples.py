"""``ExampleMaker``: training pairs of a sentence, drills, further kinds of pairs."""

import itertools
import random
from collections import Counter

import pytest
from click.testing import CliRunner

from model.text.protected import protected
from training.__main__ import main
from training.noise.drill import MOST_WORDS_BESIDE, UNDRILLED, Drill
from training.noise.native import has_native_site, table
from training.run.examples import (
    OUTSIDE_EXAMPLES,
    PRACTICES,
    ExampleMaker,
    ExampleSettings,
    read_practice,
)

WORDS = "손님이 왔는데 방이 없으면 어떡해요 며칠 뒤에 다시 올게요 전화를 드렸어요".split()
SENTENCES = [" ".join(words) + "." for words in itertools.islice(itertools.permutations(WORDS, 4), 200)]
PLAIN = {"join_share": 0.0, "outside_share": 0.0}


def make(items=SENTENCES, **settings) -> list[tuple[str, str]]:
    maker = ExampleMaker(items, ExampleSettings(**{**PLAIN, **settings}))
    rng = random.Random(5)
    return [pair for item in items for pair in maker.pairs(item, rng)]


def test_a_sentence_becomes_one_pair_and_a_pair_stays_as_it_is():
    assert [right for _, right in make()] == SENTENCES
    own = [(f"{sentence}요", sentence) for sentence in SENTENCES]
    assert make(own, rare_copies=2, drill_share=1.0, name_share=1.0) == own


def test_some_sentences_get_a_second_one():
    for _, right in make(join_share=1.0):
        first, second = right[: right.index(".") + 1], right[right.index(".") + 2 :]
        assert first in SENTENCES and second in SENTENCES


def test_some_sentences_get_a_character_from_outside():
    for wrong, right in make(outside_share=1.0, mix={"typing": 1.0}):
        assert sum(character in OUTSIDE_EXAMPLES for character in right) == 1
        assert [c for c in wrong if c in OUTSIDE_EXAMPLES] == [c for c in right if c in OUTSIDE_EXAMPLES]


def test_a_name_stands_between_mistakes_and_is_always_right():
    places, alone = Counter(), 0
    for (wrong, right), sentence in zip(make(name_share=1.0, strength=2.0), SENTENCES, strict=True):
        words, old = right.split(" "), sentence.split(" ")
        if not set(words) & set(old):
            assert wrong == right
            alone += 1
            continue
        added = len(words) - len(old)  # 씨 is a separate word
        place = next(i for i in range(len(old) + 1) if words[:i] + words[i + added :] == old)
        name = " ".join(words[place : place + added])
        assert name and f" {name} " in f" {wrong} "
        places[0 if place == 0 else 2 if place == len(old) else 1] += 1
    assert all(places[side] > 10 for side in range(3))
    assert 5 < alone < 50


def test_a_phrase_is_drilled_beside_each_sentence():
    pairs = make(drill_share=1.0)
    assert [right for _, right in pairs[::2]] == SENTENCES
    drilled = pairs[1::2]
    assert all(has_native_site(right) for _, right in drilled)
    share = sum(wrong != right for wrong, right in drilled) / len(drilled)
    assert 0.7 < share < 0.95  # some stay right


def test_every_mistake_is_drilled_alike():
    drill, rng = Drill(SENTENCES), random.Random(0)
    phrases = [drill.phrase(rng) for _ in range(20_000)]  # half a dozen for each row
    assert all(has_native_site(phrase) for phrase in phrases)
    longest = max(len(row.right.split()) for row in table())
    assert max(len(phrase.split(" ")) for phrase in phrases) <= longest + 2 * MOST_WORDS_BESIDE
    for row in rng.sample(drill.rows, 25):
        assert any(row.right.strip() in phrase for phrase in phrases), row
    assert any("며칠 뒤에" in phrase for phrase in phrases)  # with its neighbour from a sentence
    assert not {row.name for row in drill.rows} & UNDRILLED  # what needs its sentence


def test_phrases_without_any_sentence_are_those_of_the_table():
    drill, rng = Drill([]), random.Random(0)
    rights = {row.right.strip() for row in table() if row.name not in UNDRILLED}
    assert {drill.phrase(rng).strip() for _ in range(500)} <= rights


def test_rare_native_mistakes_bring_further_pairs():
    rare = "며칠 뒤에 닦달했다."
    items = [*(f"{number}년에는 됐다." for number in range(1500)), rare]
    assert has_native_site(items[0])
    common = Drill(items).common
    assert not has_native_site(items[0], but_for=common)
    assert has_native_site(rare, but_for=common)
    rights = Counter(right for _, right in make(items, rare_copies=2))
    assert rights[rare] == 3
    assert sum(rights.values()) == len(items) + 2


GUESTS = [f"{number}번 손님이 왔어요." for number in range(300)]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Two practices: one always has something to do, one never."""
    monkeypatch.setitem(PRACTICES, "doubled", lambda maker, text, rng: (f"{text} {text}", text))
    monkeypatch.setitem(PRACTICES, "idle", lambda maker, text, rng: None)


def practised_pairs_of(**practice: float) -> list[tuple[str, str]]:
    maker, rng = ExampleMaker(GUESTS, ExampleSettings(practice=practice)), random.Random(5)
    return [pair for sentence in GUESTS for pair in maker.pairs(sentence, rng)]


def test_each_is_drawn_for_itself_and_none_has_to_be_found():
    assert len(practised_pairs_of(idle=1.0, doubled=1.0)) == 2 * len(GUESTS)
    assert len(practised_pairs_of(idle=1.0)) == len(GUESTS)


@pytest.mark.parametrize("text", ["flying=0.1", "doubled=1.5", "doubled=-1", "doubled", "doubled=often"])
def test_what_cannot_be_practised_is_a_message(text, tmp_path):
    with pytest.raises(ValueError):
        read_practice(text)
    (tmp_path / "a.txt").write_text("손님이 왔어요.", encoding="utf-8")
    arguments = ["train", f"--corpus={tmp_path / 'a.txt'}", f"--out={tmp_path / 'run'}", f"--practice={text}"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert text in result.output


VARIED = [
    "어제 친구와 함께 도서관에서 책을 읽었습니다.",
    "내일은 비가 올 것 같으니 우산을 가져가세요.",
    "동생이 만든 음식이 생각보다 훨씬 맛있었다.",
    "회의 때문에 늦을 수 있다고 선생님께 말씀드렸다.",
] * 50


@pytest.fixture(scope="module")
def maker():
    return ExampleMaker(VARIED, ExampleSettings(practice=dict.fromkeys(PRACTICES, 1.0)))


@pytest.mark.parametrize("name", PRACTICES)
def test_a_practice_makes_mistakes_and_leaves_some_right(maker, name):
    def made(seed: int) -> list[tuple[str, str]]:
        rng = random.Random(seed)
        found = (PRACTICES[name](maker, rng.choice(VARIED), rng) for _ in range(120))
        return [pair for pair in found if pair]

    pairs = made(1)
    assert pairs == made(1) != made(2)
    assert len(pairs) > 40
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    least, most = {"people": (0.99, 1.01), "hard_right": (-1, 0.01)}.get(name, (0.4, 1))
    assert least * len(pairs) < len(wrong) < most * len(pairs)
    for one, other in wrong:
        assert protected(one) == protected(other)  # practice never changes protected text
        assert max(len(one), len(other)) <= 200
