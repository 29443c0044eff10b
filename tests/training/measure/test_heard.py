"""Linear probe of the next onset: its labels, its accuracy, erasure of its classes."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from model import Corrector
from model.text.changes import find_changes
from model.text.hangul import INITIALS
from tests.planted import RIGHT, WRONG
from training.__main__ import main
from training.measure.heard import (
    HEARD,
    RANDOM,
    Heard,
    beside,
    erasing,
    fit_eraser,
    fit_probe,
    measured,
    onsets,
    stream,
)

CLASSES = 4


@pytest.fixture(scope="module")
def drawn():
    """Vectors whose first two dimensions tell their class, one other varies most."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, CLASSES, 800)
    vectors = rng.normal(size=(800, 12))
    vectors[:, 11] *= 30
    vectors[:, :2] += 6 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[classes]
    return vectors, classes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("먹어요", "ㄱㅇ"),
        ("머거요", "ㄱㅇ"),
        ("밥 먹자", "ㅉ"),
        ("좋고", "ㅋ"),
        ("가!나", ""),
        ("값이", "ㅆ"),
    ],
)
def test_what_is_heard_next_is_the_standard_pronunciation_inside_a_word(text, expected):
    assert "".join(INITIALS[each.heard] for each in onsets(text)) == expected


def test_a_probe_reads_what_tells_the_classes(drawn):
    vectors, classes = drawn
    probe = fit_probe(vectors[:400], classes[:400], CLASSES + 1)  # the last class has no vectors
    said = probe.says(vectors[400:])
    assert np.mean(said == classes[400:]) > 0.95 and said.max() < CLASSES


def test_what_is_erased_cannot_be_read_any_more_and_the_rest_stays(drawn):
    vectors, classes = drawn
    eraser = fit_eraser(vectors, classes, CLASSES)
    erased = eraser.erased(vectors)
    said = fit_probe(erased, classes, CLASSES).says(erased)
    assert eraser.rank == CLASSES - 1
    assert np.mean(said == classes) < 0.4  # a quarter is chance
    assert np.abs(erased - vectors)[:, 2:].mean() < 0.2 * np.abs(erased - vectors)[:, :2].mean()
    np.testing.assert_allclose(eraser.erased(erased), erased, atol=0.05)  # twice is once
    far = np.full(vectors.shape[1], 50.0)  # where the origin is does not matter
    moved = fit_eraser(vectors + far, classes, CLASSES).erased(vectors + far)
    np.testing.assert_allclose(moved - far, erased, atol=0.05)


def test_a_mistake_stands_in_its_characters_or_between_two():
    (replaced,), (added,) = find_changes("나머거요", "나먹거요"), find_changes("할수", "할 수")
    assert beside(replaced) == slice(1, 2) and beside(added) == slice(0, 2)


def test_erasing_everywhere_erases_each_place_of_what_came_before(planted):
    texts = [WRONG, RIGHT, "머거머거나가.", "가나다라머거"]
    found = Heard(planted, texts)
    erasers = [fit_eraser(each, found.sounds, len(INITIALS)) for each in found.vectors]
    here = slice(1, 3)
    *alone, everywhere = erasing(planted, WRONG, erasers, here)
    assert len(alone) == len(erasers) == len(everywhere)
    plain = stream(planted, WRONG)
    for place, patches in enumerate(alone):
        walked = stream(planted, WRONG, patches)
        np.testing.assert_allclose(walked[:place], plain[:place], atol=1e-5)
        np.testing.assert_allclose(walked[place, here], erasers[place].erased(plain[place, here]), atol=1e-4)
        np.testing.assert_allclose(walked[place, 3:], plain[place, 3:], atol=1e-4)
    walked = stream(planted, WRONG, everywhere)
    for place in range(len(erasers)):
        np.testing.assert_allclose(walked[place, here], everywhere[place].value, atol=1e-4)


def test_all_is_measured_and_told(planted, tmp_path, monkeypatch):
    pairs = [(WRONG, RIGHT), ("머거어요가나.", "먹거어요가나.")] * 4
    found = measured(planted, pairs, edits=3, seed=0)
    assert found["sentences"] == {"fitted": 4, "asked": 4} and len(found["places"]) == len(found["rank"])
    edits = found["erased"]["jamo"]
    assert edits["edits"] >= 3 and edits["score"][0] > 0
    assert set(edits[HEARD]) == set(edits[RANDOM]) and "everywhere" in edits[HEARD]
    file, out = tmp_path / "sentences.txt", tmp_path / "heard.json"
    file.write_text("\n".join(["나먹거요.", "가나먹거어요.", "다라먹거."] * 4), encoding="utf-8")
    monkeypatch.setattr(Corrector, "load", lambda _: planted)
    done = CliRunner().invoke(main, ["heard", str(file), "--sentences", "8", "--json", str(out)])
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text("utf-8"))["fingerprint"]
