import random

import pytest
from click.testing import CliRunner

from training.__main__ import main
from training.run.examples import PRACTICES, ExampleMaker, ExampleSettings, Practice, read_practice

SENTENCES = [f"{number}번 손님이 왔어요." for number in range(300)]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Two practices: one always has something to do, one never."""
    doubled = Practice("doubled", lambda maker, text, rng: (f"{text} {text}", text))
    idle = Practice("idle", lambda maker, text, rng: None)
    for practice in (doubled, idle):
        monkeypatch.setitem(PRACTICES, practice.name, practice)


def make(**practice: float) -> list[tuple[str, str]]:
    maker, rng = ExampleMaker(SENTENCES, ExampleSettings(practice=practice)), random.Random(5)
    return [pair for sentence in SENTENCES for pair in maker.pairs(sentence, rng)]


def test_a_practice_is_met_beside_its_share_of_the_sentences():
    practised = [pair for pair in make(doubled=0.3) if pair[0] == f"{pair[1]} {pair[1]}"]
    assert len(practised) == pytest.approx(0.3 * len(SENTENCES), abs=25)
    assert len(make(doubled=1.0)) == 2 * len(SENTENCES)


def test_each_is_drawn_for_itself_and_none_has_to_be_found():
    assert len(make(idle=1.0, doubled=1.0)) == 2 * len(SENTENCES)
    assert len(make(idle=1.0)) == len(SENTENCES)


def test_without_practice_nothing_is_drawn():
    drawn = []

    class Counting(random.Random):
        def random(self):
            drawn.append(1)
            return super().random()

    counts = []
    for practice in ({}, {"idle": 0.0}):
        maker = ExampleMaker(SENTENCES, ExampleSettings(practice=practice, mix={"clean": 1.0}))
        drawn.clear()
        list(maker.pairs(SENTENCES[0], Counting(1)))
        counts.append(len(drawn))
    assert counts[1] == counts[0] + 1


def test_shares_are_read_from_text():
    assert read_practice("doubled=0.2,idle=1") == {"doubled": 0.2, "idle": 1.0}
    assert read_practice("") == {}


@pytest.mark.parametrize("text", ["flying=0.1", "doubled=1.5", "doubled=-1", "doubled", "doubled=often"])
def test_what_cannot_be_practised_is_a_message(text, tmp_path):
    with pytest.raises(ValueError):
        read_practice(text)
    (tmp_path / "a.txt").write_text("손님이 왔어요.", encoding="utf-8")
    arguments = ["train", f"--corpus={tmp_path / 'a.txt'}", f"--out={tmp_path / 'run'}", f"--practice={text}"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert text in result.output
