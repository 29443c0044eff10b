"""Component of the corrected text: words as buttons, their changes and offers."""

import json
from dataclasses import replace

import pytest

from model import Correction, SentenceCorrection
from model.text.changes import find_changes
from ui.components.correction import Proposal, correction_data, offered_with

WORDS = {"label": "고친 글"}


def share(change) -> str:
    return f"{change.confidence:.1f}"


def corrected(*sentences: tuple[str, str, tuple[float, ...]], minimum: float = 0.5) -> Correction:
    """A text of (source, target, confidence of each change), with blanks between."""
    found, start = [], 0
    for source, target, confidences in sentences:
        changes = tuple(
            replace(change, fix_probability=confidence, keep_probability=0.0)
            for change, confidence in zip(find_changes(source, target), confidences, strict=True)
        )
        found.append(SentenceCorrection(start, source, changes, minimum, False, None))
        start += len(source) + 1
    return Correction(" ".join(source for source, *_ in sentences), tuple(found))


def proposed(correction: Correction) -> list[Proposal]:
    """As the page makes them, without the line that needs a session."""
    proposals, number = [], 0
    for sentence in correction.sentences:
        made = {(change.source_start, change.source_end) for change in sentence.changes}
        for change in sentence.proposed:
            is_made = (change.source_start, change.source_end) in made
            whole = change.moved(sentence.start, sentence.start)
            proposals.append(Proposal(number, whole, is_made, share(change), why=f"card {number}"))
            number += 1
    return proposals


def data_of(correction: Correction, *, chosen=None, opened=0, proposals=None) -> dict:
    proposals = proposed(correction) if proposals is None else proposals
    return correction_data(correction, proposals, chosen=chosen, opened=opened) | {"words": WORDS}


def pieces(*sentences, minimum: float = 0.5) -> list[dict]:
    return data_of(corrected(*sentences, minimum=minimum))["pieces"]


def typed(found: list[dict]) -> str:
    """The typed text, put together again."""
    return "".join(
        piece["text"] if "text" in piece else "".join(text for text, _ in piece["typed"])
        for piece in found
        if "sentence" not in piece
    )


def test_a_changed_word_is_one_piece_with_what_differs_marked():
    first, word, last = pieces(("또 고갱이 왔다", "또 고객이 왔다", (0.9,)))
    assert (first, last) == ({"text": "또 "}, {"text": " 왔다"})
    assert word == {
        "typed": [("고", False), ("갱", True), ("이", False)],
        "now": [("고", False), ("객", True), ("이", False)],
        "made": [0],
        "offer": None,
        "kinds": [],
    }


@pytest.mark.parametrize(
    ("source", "target", "made", "now"),
    [
        ("갱관왓다", "객관왔다", [0, 1], [("객", True), ("관", False), ("왔", True), ("다", False)]),
        ("천천 히", "천천히", [0], [("천천", False), ("", True), ("히", False)]),  # where the space was
        ("가 나 다", "가나다", [0, 1], None),
        ("할수", "할 수", [0], [("할", False), (" ", True), ("수", False)]),
        ("나느는", "나는", [0], None),
    ],
)
def test_all_changes_of_a_word_and_words_that_a_change_joins_are_one_button(source, target, made, now):
    (word,) = (piece for piece in pieces((source, target, (0.9,) * len(made))) if "made" in piece)
    assert word["made"] == made and word["now"] == (now or word["now"])
    assert "".join(text for text, _ in word["typed"]) == source
    assert "".join(text for text, _ in word["now"]) == target


def test_cards_of_one_word_tell_which_of_its_changes_they_are_about():
    cards = data_of(corrected(("또 할수있는만큼", "또 할 수 있는 만큼", (0.9,) * 3)))["proposals"].values()
    assert [(card["typed"], card["part"]) for card in cards] == [
        ("할수", "할␣수"),
        ("수있", "수␣있"),
        ("는만", "는␣만"),
    ]
    (card,) = data_of(corrected(("할수", "할 수", (0.9,))))["proposals"].values()
    assert "part" not in card


def test_what_the_network_was_unsure_of_is_offered_and_the_word_stays():
    (word,) = (piece for piece in pieces(("고갱이 왔다", "고객이 왔다", (0.4,))) if piece.get("offer"))
    assert word["made"] == []
    assert word["typed"] == word["now"] == [("고갱이", False)]
    offer = {"number": 0, "text": "고객이", "shown": "고객이", "share": "0.4", "accept": "accept"}
    assert word["offer"] == offer


def test_all_that_is_not_made_of_a_word_is_one_offer_as_sure_as_its_least_sure_change():
    correction = corrected(("갱관왓다 왓다", "객관왔다 왔다", (0.9, 0.4, 0.4))).with_decisions(rejected=[0])
    word, other = (piece["offer"] for piece in data_of(correction)["pieces"] if piece.get("offer"))
    assert (word["number"], word["text"], word["share"]) == (0, "객관왔다", "0.4")
    assert other["text"] == "왔다"
    found = proposed(correction)
    assert [offered_with(correction.source, found, number) for number in (0, 1, 2)] == [{0, 1}, {0, 1}, {2}]


def test_an_offer_joins_no_two_corrected_words():
    correction = corrected(("갱관 밭왓다", "객관밭왔다", (0.9, 0.4, 0.9)))
    assert [piece["made"] for piece in data_of(correction)["pieces"] if "made" in piece] == [[0], [2]]
    one = correction.with_decisions(rejected=[2])
    assert [piece["made"] for piece in data_of(one)["pieces"] if "made" in piece] == [[0]]


def test_one_sentence_has_no_number_and_several_have_one_each():
    one = ("고갱이 왔다.", "고객이 왔다.", (0.9,))
    same = ("비가 온다.", "비가 온다.", ())
    assert not [piece for piece in pieces(one) if "sentence" in piece]
    found = pieces(one, same, one)
    assert [piece["sentence"] for piece in found if "sentence" in piece] == [0, 1, 2]
    assert typed(found) == "고갱이 왔다. 비가 온다. 고갱이 왔다."
    places = [place for place, piece in enumerate(found) if "sentence" in piece]
    assert "made" in found[places[0] + 1]  # the number comes before the word, not after it
    assert "made" in found[places[2] + 1]
    assert [piece["made"] for piece in found if "made" in piece] == [[0], [1]]


def test_nothing_is_lost_and_nothing_is_html():
    source, target = "<b>갱</b> &amp; \n <왓>", "<b>객</b> &amp; \n <왔>"
    data = data_of(corrected((source, target, (0.9, 0.4))))
    assert typed(data["pieces"]) == source
    assert "&lt;" not in json.dumps(data)
    assert any(("객", True) in piece.get("now", ()) for piece in data["pieces"])
