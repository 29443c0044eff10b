"""What is unsure beside other mistakes is asked once more when these are mended."""

from dataclasses import replace
from types import SimpleNamespace

from model.correction.proposing import after_second_reading, made
from model.correction.words import Words
from model.text.changes import Change, apply_changes, find_changes

SOURCE = "배개가 너무 높아요 그래 서"


def proposed(source: str, target: str, *confidences: float) -> list[Change]:
    changes = find_changes(source, target)
    assert len(changes) == len(confidences)
    return [replace(c, known_confidence=sure) for c, sure in zip(changes, confidences, strict=True)]


def test_both_readings_become_changes_of_what_was_typed():
    first = proposed(SOURCE, "베개가 너무 높아요 그래서", 0.3, 0.99)
    once = apply_changes(SOURCE, made(first, 0.8))
    second = proposed(once, "베개가 너무 높아요 그래서", 0.97)
    changes = after_second_reading(SOURCE, first, second, 0.8)
    assert apply_changes(SOURCE, changes) == "베개가 너무 높아요 그래서"
    assert [c.confidence for c in changes] == [0.97, 0.99]
    target = apply_changes(SOURCE, changes)
    for change in changes:
        assert target[change.target_start : change.target_end] == change.right


def test_what_stays_unsure_stays_a_proposal():
    source = "배개가 높아 요 그래 서"
    first = proposed(source, "베개가 높아요 그래서", 0.3, 0.5, 0.99)
    once = apply_changes(source, made(first, 0.8))
    second = proposed(once, "베개가 높아 요 그래서", 0.97)
    changes = after_second_reading(source, first, second, 0.8)
    assert [(c.wrong, c.right, c.confidence) for c in changes] == [
        ("배", "베", 0.97),
        (" ", "", 0.5),
        (" ", "", 0.99),
    ]


def test_a_change_of_a_change_is_as_sure_as_the_least_sure_of_both():
    first = proposed("이바램 옷 을", "이바람 옷을", 0.9, 0.5)
    once = apply_changes("이바램 옷 을", made(first, 0.8))
    second = proposed(once, "이바름 옷 을", 0.85)
    changes = after_second_reading("이바램 옷 을", first, second, 0.8)
    assert [(c.wrong, c.right, c.confidence) for c in changes] == [("램", "름", 0.85), (" ", "", 0.5)]


def test_what_began_at_the_other_of_two_equal_syllables_has_a_confidence():
    source = "먹던지 말던지 알아라라."
    first = proposed(source, "먹든지 말든지 알아라라.", 0.98, 0.83)
    once = apply_changes(source, made(first, 0.8))
    second = proposed(once, "먹든지 말든지 알아라.", 0.96)
    assert second[0].source_start == 11
    *_, last = after_second_reading(source, first, second, 0.8)
    assert (last.source_start, last.confidence) == (10, 0.83)  # the least sure of all, since it touches none


def test_a_corrected_sentence_is_read_until_nothing_more_is_sure(tiny_corrector, monkeypatch):
    """A network that mends one letter at a time."""
    steps = {"가나다": "라나다", "라나다": "라마다", "라마다": "라마바", "라마바": "라마바"}
    read = []

    def one_reading(sentences, keep_passes):
        read.append([part.text for part in sentences])
        return [
            (tuple(proposed(part.text, steps[part.text], *[0.9] * (part.text != steps[part.text]))), None)
            for part in sentences
        ]

    monkeypatch.setattr(tiny_corrector, "_one_reading", one_reading)
    monkeypatch.setattr(
        tiny_corrector, "confidence", SimpleNamespace(words=Words({}))
    )  # so that its changes count as weighed
    monkeypatch.setattr(tiny_corrector, "config", replace(tiny_corrector.config, minimum_confidence=0.8))
    correction = tiny_corrector.correct("가나다")
    assert correction.text == "라마바" == tiny_corrector.correct(correction.text).text
    assert read == [["가나다"], ["라나다"], ["라마다"], ["라마바"], ["라마바"]]


def test_what_never_settles_stays_as_it_was_typed(tiny_corrector, monkeypatch):
    monkeypatch.setattr(
        tiny_corrector,
        "_one_reading",
        lambda sentences, keep_passes: [
            (tuple(proposed(part.text, "나가" if part.text == "가나" else "가나", 0.9, 0.9)), None)
            for part in sentences
        ],
    )
    monkeypatch.setattr(
        tiny_corrector, "confidence", SimpleNamespace(words=Words({}))
    )  # so that its changes count as weighed
    monkeypatch.setattr(tiny_corrector, "config", replace(tiny_corrector.config, minimum_confidence=0.8))
    assert tiny_corrector.correct("가나").text == "가나"
