"""Corrected text as a control: changes accepted, rejected, in focus; their cards."""

from dataclasses import replace

import pytest

from model import SentenceCorrection
from model.norm import article_of
from model.text.changes import find_changes
from tests.ui.fake_corrector import FakeCorrector
from tests.ui.hostile import TEXTS
from tests.ui.screen import ask, chosen, component, html, messages, numbers, send, text_of, words
from ui.components.correction import WHAT
from ui.sentence import decisions
from ui.sentence.decisions import Decisions
from ui.wording import table

KO = table("ko")
# The proposals are 갱→객 (sure), 왓→왔 (not), and in the third sentence the same.
TEXT = "고갱이 왓다. 비가 온다. 또 고갱이 왓다."


@pytest.fixture
def found():
    return FakeCorrector().correct(TEXT)


def test_decisions_are_places_of_the_text_in_the_address_and_in_earlier_links_numbers_from_1(settings, found):
    settings.update(accepted="2,18-19", rejected="1", confidence="0.4")
    decisions = Decisions.read()
    assert decisions == Decisions(0.4, frozenset({1, (18, 19)}), frozenset({0}))
    assert decisions.numbers(found) == ({1, 2}, {0})
    decisions.placed(found).keep()
    assert (settings["accepted"], settings["rejected"]) == ("4-5,18-19", "1-2")


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("고갱이 왓다.", "고갱이 왓다. 또", {(1, 2)}),
        ("고갱이 왓다.", "또 고갱이 왓다.", {(3, 4)}),
        ("고갱이 왓다.", "고갱 왓다.", {(1, 2)}),
        ("고갱이 왓다.", "고객이 왓다.", set()),
        ("고갱이 왓다.", "비가 온다.", set()),
        ("고갱이 왓다.", "고갱이 왓다.", {(1, 2)}),
    ],
)
def test_a_decision_moves_with_its_word_and_ends_when_the_word_is_typed_anew(before, after, kept):
    decisions = Decisions(None, frozenset(), frozenset({(1, 2)}))
    assert decisions.moved(before, after).rejected == kept


def test_a_rejected_word_stays_rejected_while_the_text_goes_on(open_app):
    app = ask(open_app(sentence="또 고갱이 왔다."), "reject", 0)
    steps = []
    for text, rejected in (
        ("또 고갱이 왔다. 고갱이 온다.", "3-4"),  # the same word further on is another one
        ("그래서 또 고갱이 왔다. 고갱이 온다.", "7-8"),
    ):
        send(app, "live_text", "text", text)
        assert chosen(app, "sentence", "rejected") == (text, rejected)
        assert dict(component(app, "address_bar")["settings"])["rejected"] == rejected
        assert text_of(app) == text.replace("고갱이 온", "고객이 온")
        steps.append(component(app, "address_bar")["step"])
    assert steps[0] == steps[1]  # typing is no step back
    send(app, "live_text", "text", "그래서 또 고갱")  # a keystroke in between at which it is not proposed
    send(app, "live_text", "text", "")
    send(app, "live_text", "text", "고갱이 왔다.")
    assert text_of(app) == "고객이 왔다."


def test_no_and_hostile_decisions_decide_nothing_and_good_ones_beside_them_hold(settings, found):
    assert Decisions.read() == Decisions(None, frozenset(), frozenset())
    assert Decisions.read().applied(found, 0.75) is found
    for text in (*TEXTS, "0,9999,5", ",,0,,77"):
        settings.update(accepted=text, rejected=text, confidence=text)
        assert Decisions.read().applied(found, 0.75) == found, text
        settings.update(accepted=f"{text},2", rejected="", confidence="")
        assert Decisions.read().applied(found, 0.75) == found.with_decisions([1]), text


def test_choosing_puts_a_change_in_focus_with_its_sentence_and_choosing_it_again_lets_it_go(open_app):
    app = ask(open_app(sentence=TEXT, cell="1,1", step="2", part="1"), "choose", 0)
    assert chosen(app, "part", "edit", "cell") == ("1", "1", "1,1")  # the same sentence
    assert component(app, "correction")["chosen"] == 0
    ask(app, "choose", 0)
    assert chosen(app, "part", "edit") == ("1", "")
    assert component(app, "correction")["chosen"] is None
    ask(app, "choose", 2)
    assert chosen(app, "part", "edit", "cell", "step") == ("3", "1", "", "")
    assert component(app, "correction")["opened"] == 2
    assert numbers(app).shape == (len("또 고객이 왓다.") + 1,) * 2


def test_accepting_makes_the_change_and_focuses_it_in_its_sentence(open_app):
    app = open_app(sentence=TEXT)
    assert words(app) == [("고갱이", "고객이")] * 2
    ask(app, "accept", 1)
    assert text_of(app) == "고객이 왔다. 비가 온다. 또 고객이 왓다."
    assert chosen(app, "accepted", "rejected") == ("4-5", "")
    assert chosen(app, "part", "edit") == ("1", "2")
    assert component(app, "correction")["chosen"] == 1
    assert set(component(app, "correction")["proposals"]) == {"0", "1", "2"}
    ask(app, "accept", 3)
    assert chosen(app, "accepted", "part", "edit") == ("4-5,21-22", "3", "2")
    assert text_of(app).endswith("또 고객이 왔다.")


def test_rejecting_takes_it_back_and_lets_the_focus_go(open_app):
    app = ask(open_app(sentence=TEXT, part="1", edit="1"), "reject", 0)
    assert text_of(app).startswith("고갱이 왓다.")
    assert chosen(app, "accepted", "rejected") == ("", "1-2")
    assert chosen(app, "part", "edit") == ("1", "")
    assert component(app, "correction")["chosen"] is None
    # It is offered like a change the network was unsure of, and can be made again.
    ask(app, "accept", 0)
    assert chosen(app, "accepted", "rejected") == ("1-2", "")
    assert text_of(app).startswith("고객이 왓다.")
    assert component(app, "correction")["chosen"] == 0


def test_a_decision_is_part_of_the_link_and_a_link_makes_it_on_every_page(open_app):
    app = open_app(sentence="고갱이 왓다", accepted="2", rejected="1")
    assert text_of(app) == "고갱이 왔다"
    sent = dict(component(app, "address_bar")["settings"])
    assert (sent["accepted"], sent["rejected"]) == ("4-5", "1-2")
    app = open_app("calculation", sentence="고갱이 왓다", accepted="2", rejected="1")
    assert KO["sentence_about"].format(sentence="고갱이 왓다 → 고갱이 왔다") in html(app)


def test_hostile_settings_open_the_first_sentence_that_changed(open_app):
    for text in ("99", "<b>"):
        app = open_app(sentence=TEXT, part=text, edit=text, accepted=text, rejected=text)
        told = component(app, "correction")
        assert (told["opened"], told["chosen"]) == (0, None)
        assert text_of(app).startswith("고객이 왓다.")


def test_a_text_without_hangul_that_is_offered_some_is_not_said_to_have_none(open_app):
    for text, has_none in (("rkrh", False), ("hello", True)):
        assert (KO["no_hangul"] in messages(open_app(sentence=text))) == has_none


def test_hostile_requests_leave_the_page_as_it_was_and_the_network_runs_once_for_all(open_app, correctors):
    app = open_app(sentence=TEXT)
    for what, number in (("accept", 1), ("reject", 0), ("choose", 2), ("open", 1), ("accept", 0)):
        ask(app, what, number)
    before = component(app, "correction"), dict(app.session_state["view"])
    outside = ({"what": what, "number": number} for what in WHAT for number in (4,))
    for value in (None, {"what": ["choose"], "number": 0}, *outside):
        send(app, "correction", "asked", value)
    assert (component(app, "correction"), app.session_state["view"]) == before
    assert len(correctors["transformer"].asked) == 1


def test_a_card_names_the_words_the_kind_of_mistake_and_the_confidence(open_app):
    app = open_app(sentence="<b>고갱</b>", edit="1")
    card = component(app, "correction")["proposals"]["0"]
    assert "<b>고갱</b>" in words(app)[0][0]
    assert card["kinds"] == [KO["mistake_slip"]]
    assert card["why"] == KO["mistake_slip_why"]
    assert card["sure"] == KO["correction_sure"].format(words=KO["sure_sure"], confidence="0.960")


def test_undoing_all_changes_rejects_what_was_accepted_too(open_app):
    app = ask(open_app(sentence=TEXT, accepted="2"), "none", 0)
    assert chosen(app, "accepted", "rejected") == ("", "1-2,4-5,18-19")
    assert component(app, "correction")["words"]["all"] == KO["correction_all"]
    assert component(ask(app, "all", 0), "correction")["words"]["all"] == ""


def test_a_press_in_the_card_leads_to_the_tested_explanation_of_its_change(open_app):
    app = ask(open_app(sentence=TEXT), "test", 2)
    assert chosen(app, "part", "edit", "experiment") == ("3", "1", "receipts")


def test_an_own_word_goes_to_the_browser_without_its_particle_and_never_into_the_address(
    open_app, correctors
):
    app = ask(open_app(sentence="고갱님이 왓다"), "own", 0)
    kept = component(app, "own_words")
    assert (kept["words"], kept["changed"]) == (["고갱님"], True)
    assert correctors["transformer"].words == ("고갱님",)
    assert "고갱님" not in dict(component(app, "address_bar")["settings"]).values()


def test_of_too_long_a_text_the_beginning_is_corrected_and_the_rest_kept(open_app):
    text = "고갱이 온다. " * 300
    app = open_app(sentence=text)
    told = component(app, "correction")
    (rest,) = (piece["rest"] for piece in told["pieces"] if "rest" in piece)
    assert text.endswith(rest)
    assert 2000 - 10 < len(text) - len(rest) <= 2000
    assert told["text"].endswith(rest)
    assert told["words"]["copied"] == KO["copied_with_rest"].format(left=f"{len(rest):,}")
    assert any(KO["table_page"] in each for each in messages(app))


def test_the_hint_says_what_can_be_done(open_app):
    for sentence, hint in (
        ("고갱이", "correction_hint"),
        ("고갱이 왓다", "correction_hint_both"),
        ("왓다", "correction_hint_offered"),
        ("비가 온다", None),  # a message says that the text has no mistakes
    ):
        told = component(open_app(sentence=sentence), "correction")["words"]["hint"]
        assert told == (KO[hint] if hint else "")


def test_a_word_typed_in_the_english_layout_is_offered_whatever_the_threshold(open_app):
    for minimum in ("0", ""):
        app = open_app(sentence="고갱이 rkrh 있다", confidence=minimum)
        assert text_of(app) == "고객이 rkrh 있다"
        told = component(app, "correction")
        (word,) = (piece for piece in told["pieces"] if piece.get("offer"))
        offer = {"number": 1, "text": "가고", "shown": "가고"}
        assert word["offer"] == offer | {"share": KO["correction_layout"], "accept": "accept_layout"}
        assert "{text}" in told["words"]["accept_layout"]
    ask(app, "accept", 1)
    assert text_of(app) == "고객이 가고 있다"
    card = component(app, "correction")["proposals"]["1"]
    assert card["why"] == KO["mistake_layout_why"]
    # The pass over both texts that are shown.
    assert numbers(app).shape == (len("고객이 가고 있다") + 1, len("고갱이 rkrh 있다") + 1)


def card_of(source: str, target: str, **changed) -> dict:
    (change,) = find_changes(source, target)
    change = replace(change, **{"fix_probability": 0.99, "keep_probability": 0.0} | changed)
    return decisions._card(change, SentenceCorrection(0, source, (change,), 0.5, False, None), target)


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_a_card_tells_the_article_and_its_sentence(settings, lang):
    settings["lang"] = lang
    card = card_of("며칠 할수 있다", "며칠 할 수 있다")
    assert (card["article"], card["why"]) == article_of("", " ", "며칠 할", "수 있다").told(lang)
    assert card["article"] == {"ko": "한글 맞춤법 제42항", "en": "Hangul Orthography, Article 42"}[lang]
    assert card["kinds"] == ("spacing",)
    assert "article" not in card_of("나비", "나무")


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize(("first", "told"), [("각", "각"), (" ", "␣"), ("", "∅"), ("<b>", "<b>")])
def test_a_proposal_that_was_not_the_networks_first_choice_says_so(settings, language, first, told):
    settings["lang"] = language
    assert "note" not in card_of("고갱", "고객")
    note = card_of("고갱", "고객", instead_of=first)["note"]
    assert note == table(language)["correction_instead_of"].format(text=told)


@pytest.mark.parametrize(("language", "says"), [("ko", "신경망이 아니라"), ("en", "not the network")])
def test_a_card_says_that_the_list_decided_and_what_the_network_thought(settings, language, says):
    settings["lang"] = language
    note = card_of("우유값", "우윳값", fix_probability=0.0069, instead_of="우유값", from_list=True)["note"]
    assert says in note and "0.007" in note
