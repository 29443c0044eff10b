"""The tables of looked, wrote, mattered and of what is heard say what their data files hold."""

import numpy as np
import pytest

from model.analysis.tally import Tally
from model.survey.answer_file import AnswerSurvey, as_json
from training.documents import answers, heard
from training.documents.sources import Sources

# One layer and one head: embedding, position, decoder, cross, feed-forward, and two biases write.
WROTE = [0.1, 0.0, -1.0, 4.0, 2.5, 0.0, -0.2]
MATTERED = [
    0.5,
    6.0,
    -0.75,
    3.0,
    1.25,
]  # of the encoder's head and feed-forward network, then of the decoder's
DIRECT = [0.0, 0.0, -0.5, 2.0, 1.25]


def tally(value, edits: int = 12) -> Tally:
    """As many sentences with one edit each, alike."""
    found = Tally.empty(np.shape(value))
    for _ in range(edits):
        found.add(np.array([value], float))
    return found


@pytest.fixture(scope="module")
def sources():
    found = {
        **{f"answer/{group}/wrote": tally(WROTE) for group in ("all", "liaison", "rule:liaison", "coda:ㄱ")},
        "answer/spacing/wrote": tally(WROTE, 2),
        "answer/copied/wrote": tally([0.0] * 7, 40),
        "answer/all/looked": tally([0.2, 0.3, 0.9]),
        "answer/all/mattered": tally(MATTERED),
        "answer/all/direct": tally(DIRECT),
        "answer/all/first_looked": tally(0.25),
        "answer/all/first_wrote": tally(0.75),
        "answer/liaison/own_looked": tally(1.0),
        "answer/liaison/next_wrote": tally(0.875),
        "answer/all/rank_wrote": tally(4.0),
        "answer/all/circuit_found": tally(0.5),
        "answer/all/circuit_size": tally(16.0, 6),
        "somebody/else": tally(9.0),
    }
    kinds = ("encoder_attention", "decoder_attention", "cross_attention")
    made = Sources()
    made.__dict__["answers"] = AnswerSurvey(as_json(found, "abc", kinds, (1, 1), 7, 3))
    return made


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]


def test_the_size_is_counted_in_edits_and_sentences(sources):
    assert rows(answers.size(sources, "en"))[-1] == ["12", "7", "3", "`abc`"]


def test_looking_and_writing_stand_beside_each_other(sources):
    everything, *_ = rows(answers.characters(sources, "en"))[2:]
    assert everything[:4] == ["all", "12", "0.25 ± 0.00", "0.75 ± 0.00"]
    looked, wrote, mattered = rows(answers.liaison(sources, "ko"))[2:]
    assert (
        looked == ["본 글자", "1.00 ± 0.00", "–"] and wrote[2] == "0.88 ± 0.00" and mattered[1:] == ["–", "–"]
    )
    assert rows(answers.heads(sources, "en"))[-1] == ["writing", "4.0 ± 0.0", "–"]


def test_parts_stand_by_how_much_they_matter_and_the_encoder_writes_nothing(sources):
    first, second, *_ = rows(answers.parts(sources, "en"))[2:]
    assert first == ["encoder feed-forward 1", "–", "–", "–", "6.00 ± 0.00", "–"]
    assert second[0] == "decoder→encoder 1·1" and second[1:3] == ["0.90 ± 0.00", "4.00 ± 0.00"]
    assert second[5] == "2.00 ± 0.00"
    by_layer = {row[0]: row[1:] for row in rows(answers.layers(sources, "en"))[2:]}
    assert by_layer["decoder attention 1"] == ["-1.00", "0.00", "-0.75", "-0.50"]


def test_writers_are_named_for_what_has_enough_edits(sources):
    found = rows(answers.rules(sources, "ko"))[2:]
    assert [row[0] for row in found] == ["모두", "연음(머거 → 먹어)", "받침 ㄱ을 되찾음", "연음"]
    assert found[0][2] == "디코더→인코더 1·1 +4.0, 디코더 피드포워드 1 +2.5, 디코더 1·1 -1.0"


def test_circuits_are_told_where_they_were_looked_for(sources):
    assert rows(answers.circuits(sources, "en"))[2:] == [["all", "12", "50%", "16.0 ± 0.0", "–", "–"]]


def test_what_is_heard_is_told_by_place_and_beside_random_directions():
    measured = {
        "fingerprint": "abc",
        "sentences": {"fitted": 4, "asked": 5},
        "syllables": {"fitted": 90, "asked": 1234, "changed": 56},
        "places": [{"all": [0.5, 0.1], "changed": [0.25, None]}, {"all": [0.75, 0.0], "changed": [0.5, 0.0]}],
        "likeliest": {"all": [0.1, 0.0], "changed": [None, None]},
        "erased": {
            "liaison": {
                "edits": 9,
                "score": [12.0, 1.0],
                **{
                    of: {
                        place: {"kept": [kept, 0.0], "lost": [lost, 0.5]}
                        for place in ("0", "1", "everywhere")
                    }
                    for of, kept, lost in (("heard", 0.25, 8.0), ("random", 0.75, 2.0))
                },
            },
            "word": {"edits": 2, "score": [1.0, None]},
        },
    }

    class HeadMeans:
        def measured(self, name: str) -> dict:
            return {"heard": measured}[name]

    assert rows(heard.size(HeadMeans(), "en"))[-1][2:] == ["1,234", "56", "`abc`"]
    start, after, likeliest = rows(heard.places(HeadMeans(), "en"))[2:]
    assert start[1:] == ["0.50 ± 0.10", "0.25"] and after[0] == "after attention 1" and likeliest[2] == "–"
    (row,) = rows(heard.erased(HeadMeans(), "ko"))[2:]
    assert row[1:] == ["9", "12.00 ± 1.00", "0.25 ± 0.00", "0.75 ± 0.00", "8.00 ± 0.50", "2.00 ± 0.50"]
    assert len(rows(heard.erased_places(HeadMeans(), "en"))[2:]) == 2  # a place each, without all of them
