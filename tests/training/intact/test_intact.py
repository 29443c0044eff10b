"""Samples with parts that must stay intact, and the command that counts lost ones."""

import json
import random
import re
from collections import Counter

import pytest
from click.testing import CliRunner

from model import Corrector
from model.text import hangul
from model.text.hangul import particle
from model.text.tokenizer import normalise
from tests.replacing import Replacer
from training.__main__ import main
from training.intact.samples import (
    FRAMES,
    KINDS,
    LONGEST,
    Sample,
    fill,
    make_samples,
)


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


@pytest.fixture
def run(monkeypatch):
    def _run(*arguments, change=lambda text: text):
        monkeypatch.setattr(Corrector, "load", lambda name, least: Replacer(change))
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
