"""Model editing of the shipped network: pairs are learned, and little else changes."""

import re

import numpy as np
import pytest

from model import Corrector
from model.analysis import edit_effects, model_editing
from model.analysis.edit_effects import (
    EditedText,
    ReadSentences,
    edit_outcome,
    same_mistake,
    written,
)
from model.analysis.model_editing import (
    MARGIN,
    MOST_PAIRS,
    Pair,
    edit_network,
    own_pairs,
)
from model.trace.interventions import Intervention

LEARNED = Pair("금새 비가 그쳤다.", "금세 비가 그쳤다.")  # the network writes 금세비가
OTHERS = 20


@pytest.fixture(scope="module")
def shipped():
    """The shipped network with fewer sentences of our own, so that they are read within a second."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (model_editing, edit_effects):
            patch.setattr(module, "KEY_PAIRS", 60)
            patch.setattr(module, "OTHER_PAIRS", OTHERS)
        yield Corrector.load()


@pytest.fixture(scope="module")
def edit(shipped):
    return edit_network(shipped, [LEARNED], layer=3)


def margin(corrector, pair: Pair, row: int, intervention: Intervention) -> float:
    """Of the wanted token in a row, in nats."""
    tokenizer = corrector.tokenizer
    source, target = tokenizer.encode_source(pair.wrong), tokenizer.encode_target(pair.wanted)
    logits = corrector.laboratory.pass_over([source], [target], [intervention]).logits[0, row]
    return float(logits[target[row]] - np.delete(logits, target[row]).max())


def test_a_pair_is_learned_with_the_margin_and_unlearned(shipped, edit):
    row = LEARNED.wanted.index(" ")
    assert margin(shipped, LEARNED, row, Intervention()) < 0
    assert MARGIN - 0.05 < margin(shipped, LEARNED, row, edit.intervention()) < MARGIN + 0.5
    found = edit_outcome(shipped, edit)
    assert [each.outcome for each in found.pairs] == ["mended"] and not found.refused
    assert found.num_others == OTHERS and len(found.others) <= 1
    assert found.size == edit.size and 0 < edit.size < 0.05
    # The taught sentence behind other words is counted apart from other sentences.
    assert all(each.pair.wrong.endswith(LEARNED.wrong) for each in found.behind)
    assert not any(each.pair.wrong.endswith(LEARNED.wrong) for each in found.elsewhere)
    unlearned = edit_outcome(shipped, edit, strength=0)
    assert [each.outcome for each in unlearned.pairs] == ["same"] and not unlearned.others
    assert unlearned.size == 0 and edit.intervention(0) == Intervention()


def test_only_heads_behind_an_edited_layer_attend_differently(shipped, edit):
    assert not edit_outcome(shipped, edit).heads  # no head is behind the last layer
    found = edit_outcome(shipped, edit_network(shipped, [LEARNED], layer=1))
    assert found.pairs[0].outcome == "mended"
    assert found.heads and all(each.head.layer > 1 for each in found.heads)
    assert {each.head.kind for each in found.heads} <= {"decoder_attention", "cross_attention"}
    changes = [each.change for each in found.heads]
    assert changes == sorted(changes, reverse=True)


def test_the_weights_stay_as_they_are(shipped):
    name = "decoder_4/feed_forward/output/kernel"
    before = shipped.patched.arrays[name].copy()
    edit_outcome(shipped, edit_network(shipped, [LEARNED], layer=3, whitening=0.0))
    np.testing.assert_array_equal(shipped.patched.arrays[name], before)
    assert written(shipped, [LEARNED])[0].text != LEARNED.wanted


REFUSED = [
    (Pair("비가 온다.", "비가 온다."), "same"),
    (Pair("", "비가 온다."), "same"),
    (Pair("밥을 머거요.", "밥을 먹어요."), "right"),
    (Pair("가" * 200, "나" * 200), "long"),
    (Pair("밥을 먹었다.", "어제 친구와 함께 산에 올라갔다."), "far"),
    (Pair("밥을 먹었다.", "밥을 뷁었다🙂."), "unknown"),
]


@pytest.mark.parametrize("refused", [REFUSED[:3], REFUSED[3:]])
def test_pairs_that_cannot_be_taught_are_named_and_the_others_are_learned(shipped, edit, refused):
    found = edit_network(shipped, [*(pair for pair, _ in refused), LEARNED], layer=3)
    assert [(each.pair, each.reason) for each in found.refused] == refused
    assert found.taught == (LEARNED,) and found.size == pytest.approx(edit.size, rel=1e-3)


def test_several_pairs_are_one_edit(shipped):
    pairs = [LEARNED, Pair("꼭둑각시 같다.", "꼭두각시 같다."), LEARNED]
    edit = edit_network(shipped, pairs, layer=3)
    assert [each.outcome for each in edit_outcome(shipped, edit).pairs] == ["mended"] * 3
    with pytest.raises(ValueError, match="at most 5 pairs, received 6"):
        edit_network(shipped, [LEARNED] * (MOST_PAIRS + 1), layer=3)
    with pytest.raises(ValueError, match=r"should lie in 0..3, received 4"):
        edit_network(shipped, [LEARNED], layer=4)


@pytest.mark.parametrize("layer", [3, 1])
def test_only_sentences_with_another_token_are_decoded_again(shipped, layer):
    """An edit that is far too strong, so that other texts change, too."""
    intervention = edit_network(shipped, [LEARNED], layer, whitening=0.0).intervention(30.0)
    pairs = [LEARNED, *(pair for _, pair in own_pairs()[:12])]
    found = ReadSentences(shipped, pairs).under(intervention)
    assert [each.after for each in found] == [each.text for each in written(shipped, pairs, intervention)]
    assert 0 < sum(each.before != each.after for each in found) < len(pairs)


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("금새", "금세", "mended"),
        ("금세", "금세", "right"),
        ("금세", None, "forgotten"),
        ("금새", "금새", "same"),
        ("금새", "금", "other"),
    ],
)
def test_outcomes(before, after, outcome):
    assert EditedText(Pair("금새", "금세"), before, after).outcome == outcome


@pytest.mark.parametrize(
    ("wrong", "wanted", "shared"),
    [
        ("무리없이 끝났다.", "무리 없이 끝났다.", " [없있]"),
        ("새가방을 샀다.", "새 가방을 샀다.", "새 "),  # not 헌 신발 of the same article
        ("곧 만날려고 한다.", "곧 만나려고 한다.", "려"),  # as 읽음 for 읽슴 by the same article
    ],
)
def test_the_same_mistake_has_the_same_letters_or_a_word_of_the_space(wrong, wanted, shared):
    own = same_mistake(Pair(wrong, wanted))
    assert own and all(re.search(shared, each.wanted) for each in own)
