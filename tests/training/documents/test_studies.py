"""What the study of attention counts, and how its tables say it."""

import numpy as np
import pytest

from benchmarks.does_attention_matter import methods_of, numbers_of
from model.survey.head_survey import HeadSurvey
from model.trace.interventions import Head
from training.documents.attention import tables
from training.documents.stories import heads_of_stories, heads_table, pruning_table


def edit(pair: int, kind: str, first: bool, **more) -> dict:
    """One line of the study: an edit of five characters, with one method and two layers."""
    return {
        "pair": pair,
        "kind": kind,
        "characters": 5,
        "first_at": 1,
        "attention_first_at": 0,
        "methods": {"attention": [0.5, first, 1.0], **more},
        "layers": [first, not first],
        "rank_of_looker": 2,
        "correlation_of_heads": 0.25,
        "heads": 4,
    }


EDITS = [edit(0, "liaison", True), edit(0, "spacing", False), edit(3, "spacing", True, alti=[1, True, 1])]


def test_what_is_counted():
    found = numbers_of(EDITS, "abc")
    assert (found["edits"], found["sentences"], found["fingerprint"]) == (3, 2, "abc")
    assert found["methods"]["attention"]["first"][0] == pytest.approx(2 / 3, abs=1e-4)
    assert [layer[0] for layer in found["layers"]] == [
        pytest.approx(each, abs=1e-4) for each in (2 / 3, 1 / 3)
    ]
    assert found["kinds"]["spacing"]["methods"]["attention"][0] == 0.5
    assert found["liaison"] == {"edits": 1, "next": 1, "own": 1}
    assert found["heads"]["count"] == 4 and found["heads"]["rank"] == (2.0, 0.0)


def test_a_method_that_came_later_is_left_out():
    assert methods_of(EDITS) == ["attention"]
    assert methods_of(EDITS[2:]) == ["attention", "alti"]


def test_the_tables_show_what_was_counted():
    text = tables(numbers_of([edit(pair, "spacing", True) for pair in range(4)], "abc"))
    assert text.startswith("4 edits in 4 sentences, weights `abc`.")
    assert "| attention | 1.00 ± 0.00 | 1.00 ± 0.00 | 0.50 ± 0.00 |" in text
    assert "| spacing | 4 | 1.00 ± 0.00 | 0.00 ± 0.00 |" in text


def measured(mean) -> dict:
    return {"mean": mean, "margin": np.zeros_like(mean).tolist(), "rows": 9}


SURVEY = HeadSurvey(
    {
        "fingerprint": "abc",
        "kinds": ["cross_attention"],
        "sentences": 9,
        "effect_sentences": 4,
        "pruning_sentences": 5,
        "pruning_right": 2,
        "pruning_overlap": 0,
        "roles": {"cross_attention": {"own": {"copied": measured([[0.5, 0.1], [0.2, 0.9]])}}},
        "effects": {
            "cross_attention": {
                "loss": measured([[0.1, 3.0], [0.4, 0.2]]),
                "edited": measured([[-2.0, 0.1], [0.3, 1.5]]),
                "copied": measured([[0.0, 0.0], [0.0, 0.0]]),
            }
        },
        "pruning": {"effect": [[0, 0.9, 1.0], [2, 0.5, 0.5]], "random 1": [[0, 0.9, 1.0], [2, 0.1, 0.2]]},
        "examples": {},
        "sentences_shown": [],
        "means": {},
    }
)


def test_the_three_heads_are_those_that_the_survey_singles_out():
    cross = "cross_attention"
    assert heads_of_stories(SURVEY) == {
        "loss": Head(cross, 0, 1),
        "for": Head(cross, 0, 0),
        "against": Head(cross, 1, 1),
    }
    text = heads_table(SURVEY, "en")
    assert (
        "| what the right sentence loses without it | 3.000 ± 0.000 | 0.100 ± 0.000 | 0.200 ± 0.000 |" in text
    )
    assert "| loss without the next head in this list (nats) | 0.40 |" in text
    assert "| looks where a coda had moved | – | – | – |" in text


def test_the_curve_of_removed_heads_is_beside_the_mean_of_the_random_orders():
    assert pruning_table(SURVEY, "en").splitlines()[3] == "| without 2 | 50.0% | 10.0% | 50.0% | 20.0% |"
    assert "| 2개를 뺌 |" in pruning_table(SURVEY, "ko")
