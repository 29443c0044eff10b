"""Head ablation on a planted network: effects on a change, texts, rank correlation."""

import numpy as np
import pytest

from model.activations.replacements import every_head
from model.analysis.contrasts import Edit, contrast_of_edit, contrast_of_row
from model.analysis.head_effects import ablate_heads, ablated_fix_probability, head_effects
from model.analysis.statistics import rank_correlation, ranks, shared_top, top
from model.text.changes import find_changes
from model.trace.interventions import Head, Intervention
from tests.planted import CHANGE, CODA, COPY, DECOY, EDIT, RIGHT, ROW, WRONG


@pytest.fixture(scope="module")
def effects(planted):
    return head_effects(planted, EDIT)


def test_the_planted_heads_alone_have_an_effect(effects):
    found = dict(zip(effects.heads, effects.effect.tolist(), strict=True))
    assert found.pop(CODA) < -3  # it speaks for the fix
    assert found.pop(COPY) > 3  # it speaks for the typed character
    assert len(found) == 10
    assert max(map(abs, found.values())) < 1e-4
    assert set(effects.strongest(2)) == {CODA, COPY}
    assert effects.grid("cross_attention")[CODA.layer, CODA.head] == effects.effect[effects.heads.index(CODA)]


def test_a_head_that_looks_at_the_edit_and_does_nothing_is_seen_through(effects):
    attention = dict(zip(effects.heads, effects.attention.tolist(), strict=True))
    encoder = Head("encoder_attention", 0, 1)
    assert attention[COPY] > 0.95
    assert attention[encoder] > 0.3
    looker, rank = effects.rank_of_looker()
    assert attention[looker] == max(attention.values())
    assert 1 <= rank <= 12
    assert -1 <= effects.correlation() <= 1
    assert DECOY not in effects.strongest(2)


def test_what_is_written_without_the_planted_heads(planted):
    found = ablate_heads(planted, WRONG, [[CODA], [DECOY], [], [CODA, DECOY]])
    assert [each.text for each in found] == [WRONG, RIGHT, RIGHT, WRONG]
    assert found[3].heads == {CODA, DECOY}


def test_the_probability_without_one_head_is_that_of_its_effect_and_two_are_asked_together(planted, effects):
    shares = ablated_fix_probability(planted, EDIT, [[], [CODA], [CODA, COPY]])
    assert shares[0] == pytest.approx(effects.observed_fix, abs=1e-6)
    assert shares[1] == pytest.approx(effects.ablated_fix_probability[effects.heads.index(CODA)], abs=1e-6)
    assert shares[2] != pytest.approx(shares[1], abs=1e-6)


def test_nothing_is_written_of_a_sentence_that_the_network_cannot_read(planted):
    with pytest.raises(ValueError, match="a sentence may have .* characters, received 200"):
        ablate_heads(planted, "가" * 200, [[CODA]])


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (WRONG, RIGHT, (ROW, "먹", "머")),
        ("가다", "가나다", (1, "나", "다")),
        ("가나다", "가다", (1, "다", "나")),
        ("가가나", "가나", (1, "나", "가")),
        ("가나", "가", (1, "</s>", "나")),
    ],
)
def test_the_question_of_an_edit_is_fix_against_keep(planted, source, target, expected):
    contrast = contrast_of_edit(planted, Edit(source, target, find_changes(source, target)[0]))
    assert (contrast.row, contrast.written_token, contrast.instead_token) == expected


def test_the_question_of_any_row_is_against_the_next_best(planted):
    contrast = contrast_of_row(planted, WRONG, RIGHT, ROW)
    assert (contrast.row, contrast.written_token) == (ROW, "먹")
    scores = planted.logit_differences(WRONG, RIGHT, contrast, [Intervention()])
    trace = planted.trace(WRONG, RIGHT)
    assert contrast.instead_token == trace.alternatives[ROW][1]
    assert np.exp(scores.log_instead[0]) == pytest.approx(trace.alternative_probabilities[ROW, 1], rel=1e-3)
    with pytest.raises(ValueError, match=r"0\.\.5, received 6"):
        contrast_of_row(planted, WRONG, RIGHT, 6)


def test_a_change_of_another_sentence_is_refused(planted):
    with pytest.raises(ValueError, match="should be one of") as refused:
        head_effects(planted, Edit("가나다", "가라다", CHANGE))
    assert not set("가나다라" + CHANGE.wrong + CHANGE.right) & set(str(refused.value))  # a log may hold it


def test_a_change_that_writes_the_same_tokens_is_refused_without_its_words(planted):
    (change,) = find_changes("가🙂", "가🙃")
    with pytest.raises(ValueError, match=r"source\[1:2\] to target\[1:2\] writes the tokens") as refused:
        contrast_of_edit(planted, Edit("가🙂", "가🙃", change))
    assert "🙂" not in str(refused.value) and "🙃" not in str(refused.value)


def test_ranks_and_their_correlation_by_hand():
    assert ranks([3, 1, 2, 2]).tolist() == [3, 0, 1.5, 1.5]
    assert rank_correlation([1, 2, 3], [10, 20, 90]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [9, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    assert np.isnan(rank_correlation([1, 1, 1], [1, 2, 3]))
    assert top([1, 5, 5, 2], 3) == [1, 2, 3]
    assert shared_top([9, 8, 7, 0], [0, 8, 9, 7], 3) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="equally long"):
        rank_correlation([1], [1, 2])


@pytest.mark.parametrize("text", ["동생과 가치 학교에 안되요.", "나는 오늘 거러가요", "ㅋㅋ 조아요!", ""])
def test_all_heads_at_once_write_the_texts_that_each_writes_alone(shipped, text):
    """Together they begin with the network's own text, each alone with the typed one."""
    every = [(), *((head,) for head in [*every_head(shipped.config)][::5])]
    together = [each.text for each in ablate_heads(shipped, text, every)]
    assert together == [ablate_heads(shipped, text, [heads])[0].text for heads in every]
