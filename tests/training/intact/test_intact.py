"""Sentences with something in them that must stay, and the command that counts how often it does."""

import json
import random
import re
from collections import Counter

import pytest
from click.testing import CliRunner

import training.intact.samples
from model.text import hangul
from model.text.hangul import particle
from model.text.tokenizer import normalise
from tests.replacing import Replacer, corrected
from training.__main__ import main
from training.intact.samples import (
    FILLERS,
    FRAMES,
    KINDS,
    LONG,
    LONGEST,
    SHORTEST_LONG,
    STORIES,
    TAIL,
    Sample,
    fill,
    make_samples,
    score_intact,
    score_kinds,
)
from training.intact.slots import MARKS, WORDS, draw_marks
from training.measure.evaluate import outcomes_of
from training.measure.metrics import Outcome


@pytest.fixture(scope="module")
def samples():
    return make_samples(660, seed=5)


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("누벼름", "은 이 을 과 으로"),
        ("바르케노", "는 가 를 와 로"),
        ("개놉골", "은 이 을 과 로"),  # ㄹ is a consonant, but not before 으로
        ("3", "은 이 을 과 으로"),  # 삼
        ("2", "는 가 를 와 로"),  # 이
        ("1", "은 이 을 과 로"),  # 일
        ("100", "은 이 을 과 으로"),  # 백
        ("AB-1200X", "는 가 를 와 로"),  # 엑스
        ("index.html", "은 이 을 과 로"),  # 엘
        ("ABM", "은 이 을 과 으로"),  # 엠
        ("get_user(7)", "은 이 을 과 로"),  # marks are silent, 칠
    ],
)
def test_particles_follow_the_last_sound(word, forms):
    pairs = "은/는 이/가 을/를 과/와 으로/로".split()
    assert [particle(pair, word) for pair in pairs] == forms.split()


@pytest.mark.parametrize("word", ["", "(…)", "學校", "👍"])
def test_what_has_no_korean_name_takes_no_particle(word):
    with pytest.raises(ValueError):
        particle("은/는", word)


@pytest.mark.parametrize("kind", list(FRAMES))
def test_every_frame_of_a_kind_can_be_filled(kind):
    rng = random.Random(1)
    for frame in FRAMES[kind]:
        text, spans = fill(frame, rng)
        assert spans, frame
        assert spans == sorted(spans)
        slots = [text[start:end] for start, end in spans]
        assert all(slot and slot == slot.strip() for slot in slots)
        assert ("}" not in text and "{" not in text) or "{" in slots
        assert sum(map(hangul.is_syllable, text)) >= 8, frame


def test_frames_agree_with_what_fills_them():
    rng = random.Random(2)
    for _ in range(50):
        text, [(_, end)] = fill("{acronym}{은/는} 길다.", rng)
        assert (text[end] == "은") == (text[end - 1] in "LMN")
    text, spans = fill("{《}{~title}{》}{을/를} 읽었다.", rng)
    title = text[1 : text.index("읽") - 3]
    assert title in FILLERS["title"]
    assert text.endswith(f"{particle('을/를', title)} 읽었다.")
    assert len(spans) == 2  # the marks; a filler is no slot
    word, sound = "meeting", WORDS["meeting"]
    assert particle("은/는", sound) == "은" != particle("은/는", word)  # its letters would mislead


def test_marks_come_in_pairs_of_every_sort():
    drawn = [draw_marks(random.Random(seed)) for seed in range(60)]
    for pair, sorts in MARKS.items():
        assert {marks[pair[0]] + marks[pair[1]] for marks in drawn} == set(sorts)
    text, spans = fill("{“}모두가 {‘}할 수 있다{’}고 믿었다{”}고 말했다.", random.Random(0))
    assert len(spans) == 4
    assert "{《}" not in text


def test_kinds_and_errors_alternate(samples):
    assert Counter(sample.kind for sample in samples) == dict.fromkeys(KINDS, 60)
    for kind in KINDS:
        assert sum(sample.clean for sample in samples if sample.kind == kind) == 30


def test_slots_stand_in_both_sides_and_errors_beside_them(samples):
    for sample in samples:
        assert sample.slots
        assert sample.lost(sample.wrong) is sample.lost(sample.right) is None
        assert len(sample.wrong) <= LONGEST
        assert normalise(sample.right) == sample.right
        assert "  " not in sample.right


def test_long_sentences_keep_their_end(samples):
    for sample in samples:
        if sample.kind == LONG:
            assert SHORTEST_LONG <= len(sample.right) <= LONGEST
            assert sample.slots == (sample.right[-TAIL:],)
            assert sample.wrong.endswith(sample.slots)
    ends = {story[-1] for story in STORIES}
    assert ends == {end for end in ends for sample in samples if sample.right.endswith(end)}


def test_samples_depend_on_the_seed_and_their_number_only(samples):
    assert make_samples(44, seed=5) == samples[:44]
    assert make_samples(44, seed=6) != samples[:44]


@pytest.mark.parametrize(
    ("slots", "wrong", "output", "lost"),
    [
        (("3", "7"), "3과 7이 업다", "3과 7이 없다", None),
        (("3", "7"), "3과 7이 업다", "7과 3이 없다", "7"),  # the order counts
        (("3",), "3이 업다", "13이 없다", "3 -> 13"),
        (("“", "”"), "“가자”고 햇다", "“가자”고 했다”", "“” -> “””"),
        (("“", "”"), "“가자”고 햇다", '“가자"고 했다', "”"),
        (("👍🏽",), "조아👍🏽", "좋아👍", "👍🏽"),
        (("누벼름",), "누벼름이 왓다", "누벼름이 왔다.", None),  # a full stop is no loss
    ],
)
def test_what_is_lost(slots, wrong, output, lost):
    assert Sample("digits", wrong, "", slots).lost(output) == lost


def test_a_long_sentence_that_goes_on_has_lost_its_end():
    sample = Sample(LONG, "집으로 돌아왔다.", "집으로 돌아왔다.", ("돌아왔다.",))
    assert sample.lost("집으로 돌아왔다.") is None
    assert sample.lost("집으로 돌아왔다.다") == "다"
    assert sample.lost("집으로") == "돌아왔다."


def test_doing_nothing_keeps_everything(samples):
    scores = score_intact(outcomes_of(Replacer({}), samples, batch=100))
    assert (scores["count"], scores["intact"]) == (660, 660)
    assert (scores["clean"], scores["clean_untouched"]) == (330, 1)
    assert scores["share_95"][1] == 1


def test_losses_are_counted_by_kind(samples):
    kept = outcomes_of(Replacer(lambda text: text.replace("@", "")), samples, batch=64)
    kinds = score_kinds(kept)
    assert list(kinds) == list(KINDS)
    assert kinds["email"]["intact"] == kinds["email"]["clean_untouched"] == 0
    assert all(scores["intact"] == scores["count"] for kind, scores in kinds.items() if kind != "email")


def test_a_correct_sentence_can_change_without_a_loss():
    sample = Sample("digits", "3이 많다", "3이 많다", ("3",))
    scores = score_intact([Outcome(sample, corrected(sample.wrong, "3이 만타"))])
    assert (scores["intact"], scores["clean_untouched"]) == (1, 0)
    assert score_intact([])["share"] is None


@pytest.fixture
def run(monkeypatch):
    def _run(*arguments, change=lambda text: text):
        monkeypatch.setattr(training.intact.samples, "load_corrector", lambda name, least: Replacer(change))
        return CliRunner().invoke(main, ["intact", *map(str, arguments)])

    return _run


def test_command_prints_each_kind_and_shows_failures(run):
    result = run("--count", 44, "--show", 2, change=lambda text: text.replace("@", "").replace("다.", "댜."))
    assert result.exit_code == 0
    rows = {line.split("|")[1].strip() for line in result.stdout.splitlines() if line.startswith("|")}
    assert set(KINDS) | {"all"} <= rows and "| email | 4 | 0% |" in result.stdout
    assert re.search(r"intact of all \(95%\): \d+\.\d%–9\d\.\d%", result.stdout)
    assert "fake 0f0f, minimum confidence 0.5" in result.stdout
    assert result.stdout.count("\n  got ") == 4
    assert result.stdout.count("] a correct sentence changed") == result.stdout.count("] lost: ") == 2


def test_json_holds_the_counts_and_every_failure(run, tmp_path):
    alone = json.loads(run("--count", 22, "--json", "-").stdout)
    assert alone["total"]["share"] == 1
    assert alone["failures"] == alone["changed"] == []
    path = tmp_path / "intact.json"
    assert run("--count", 22, "--json", path, change=lambda text: text.replace("@", "")).exit_code == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["model"], document["seed"], document["minimum_confidence"]) == ("fake", 0, 0.5)
    assert document["total"]["intact"] == 20
    assert document["kinds"]["email"]["share"] == 0
    assert [each["kind"] for each in document["failures"]] == ["email", "email"]
    assert all("@" in each["lost"] for each in document["failures"])
