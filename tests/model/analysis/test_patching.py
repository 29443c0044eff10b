"""Activation patching along planted nodes; direct effects equal a pass patched at its end."""

from dataclasses import replace

import numpy as np
import pytest

from model.analysis.ablation import (
    REFERENCES,
    corrupted_values,
    node_effects,
    reference_values,
)
from model.analysis.contrasts import CleanRun, Edit, contrast_of_edit
from model.analysis.patching import (
    NO_PLACE,
    CorruptedRun,
    activation_patching,
    corrupted_by_exchange,
    corrupted_by_sentence,
    exchanges,
)
from tests.planted import CARRY, CAUSE, CODA, EDIT, MARK, RIGHT, ROW, WRITER, WRONG


def test_the_twin_exchanges_what_the_correction_comes_from(planted):
    twin = corrupted_by_exchange(planted, EDIT)
    assert twin.source != WRONG and [i for i in range(len(WRONG)) if twin.source[i] != WRONG[i]] == [CAUSE]
    assert twin.source_places == tuple(range(len(WRONG) + 1)) and twin.target_places == (0, 1)


def test_exchanges_that_leave_the_score_say_nothing_of_this_question(planted):
    """The median counts only where it takes half of the score of this very question."""
    found = exchanges(planted, EDIT)
    assert found.lowers and found.score > 0 > np.median(found.scores)
    assert not replace(found, scores=found.scores + 0.6 * found.score - found.scores.max()).lowers


@pytest.mark.parametrize(("part", "of"), [("stream", "encoder"), ("residual", "cross_attention")])
def test_an_unknown_part_is_named(planted, part, of):
    run = corrupted_by_exchange(planted, EDIT)
    with pytest.raises(ValueError, match=f"the part should be .* received '{part}' of '{of}'"):
        activation_patching(planted, run, part, of)


def test_noising_shows_what_is_needed(planted_circuit):
    """Along a single chain, each node that restores the score is also needed for it."""
    run = corrupted_by_exchange(planted_circuit, EDIT)
    denoised, noised = (
        activation_patching(planted_circuit, run, "output", "decoder", noising=noising)
        for noising in (False, True)
    )
    for place, column in ((CARRY.sublayer, ROW), (WRITER.sublayer, ROW)):
        assert denoised.restored[place, column] > 0.5 > noised.restored[place, column]
    np.testing.assert_allclose(noised.restored[0], 1, atol=0.1)


@pytest.mark.parametrize("reference", REFERENCES)
def test_each_reference_is_named_and_fits_the_edit(planted_circuit, reference):
    pairs = [(WRONG, RIGHT), ("나머어.", "나머어."), ("가", "가")]
    values = reference_values(planted_circuit, EDIT, reference, pairs)
    effects = node_effects(planted_circuit, EDIT, values)
    assert np.isfinite(effects.total).all() and values.reference
    read = planted_circuit.patched.taps(*CleanRun(planted_circuit, EDIT).ids, [MARK.tap])[MARK.tap][
        MARK.place
    ]
    if reference == "zero":
        assert not any(value.any() for value in (*values.nodes.values(), *values.embeddings.values()))
    elif reference == "mean by position":
        np.testing.assert_allclose(values.nodes[MARK][-1], read[-1], atol=1e-5)  # one pair is as long
        assert values.reference == "mean by position of 3 sentences"
    elif reference == "resample":
        assert values.nodes[MARK].shape == read.shape
    with pytest.raises(ValueError, match="should be one of"):
        reference_values(planted_circuit, EDIT, "median")


def test_means_over_several_corrupted_sentences_stand_between_them(planted_circuit):
    runs = exchanges(planted_circuit, EDIT).runs[:2]
    network, tokenizer = planted_circuit.patched, planted_circuit.tokenizer
    both, *each = (corrupted_values(network, tokenizer, *some) for some in (runs, runs[:1], runs[1:]))
    assert both.reference == "mean of 2 corrupted sentences" and each[0].reference == "corrupted sentence"
    for node in network.nodes:
        mean = (each[0].nodes[node] + each[1].nodes[node]) / 2
        np.testing.assert_allclose(both.nodes[node], mean, atol=1e-5)


@pytest.fixture
def map_of(planted_circuit):
    twin = corrupted_by_exchange(planted_circuit, EDIT)

    def found(part, of):
        return activation_patching(planted_circuit, twin, part, of)

    return found


def cells(found, least: float = 0.05) -> set[tuple[int, int]]:
    """(place, position) of all cells at which something returns."""
    return {tuple(map(int, cell)) for cell in np.argwhere(found.restored > least)}


def test_the_score_returns_along_what_was_planted(map_of):
    """거 is needed until MARK has attended to it, then the marked place, then the row that writes."""
    encoder = map_of("residual", "encoder")
    assert encoder.score > 0 > encoder.corrupted_score
    before, behind = range(MARK.sublayer + 1), range(MARK.sublayer + 1, 5)
    assert cells(encoder) == {(place, CAUSE) for place in before} | {(place, CAUSE - 1) for place in behind}
    decoder = map_of("residual", "decoder")
    assert cells(decoder) == {(place, ROW) for place in range(CARRY.sublayer + 1, 7)}
    np.testing.assert_allclose(encoder.restored[0, CAUSE], 1, atol=1e-3)
    np.testing.assert_allclose(decoder.restored[-1, ROW], 1, atol=1e-3)


def test_the_exchanged_token_itself_is_no_finding(map_of):
    """At the start of the stream it restores the input; named are its last place and the first other one."""
    encoder, decoder = map_of("residual", "encoder"), map_of("residual", "decoder")
    assert encoder.exchanged == (CAUSE,) and encoder.is_lowered and decoder.exchanged == ()
    assert encoder.strongest() != (0, CAUSE)
    assert encoder.stays() == (MARK.sublayer, CAUSE) and decoder.stays() is None
    assert encoder.arrives() == (MARK.sublayer + 1, CAUSE - 1)
    assert decoder.arrives() == (CARRY.sublayer + 1, ROW)


def test_the_parts_that_were_planted_return_it_alone(map_of):
    heads = {cell for cell in cells(map_of("heads", MARK.kind))}
    assert heads == {(2 * MARK.layer + MARK.head, CAUSE - 1)}
    assert cells(map_of("heads", CARRY.kind)) == {(2 * CARRY.layer + CARRY.head, ROW)}
    assert {(CARRY.sublayer, ROW), (WRITER.sublayer, ROW)} == cells(map_of("output", "decoder"))


def test_a_sentence_is_laid_over_the_typed_one_at_the_mistake():
    twin = corrupted_by_sentence(EDIT, "가나머거")
    assert WRONG[1:3] == "머거" and twin.written == "가나"
    assert twin.source_places == (1, 2, 3, NO_PLACE, NO_PLACE, NO_PLACE)
    assert twin.target_places == (0, 2)
    with pytest.raises(ValueError, match="should have what was typed"):
        corrupted_by_sentence(EDIT, "가나다")


def test_two_runs_that_hardly_differ_have_no_shares(planted):
    twin = CorruptedRun(EDIT, WRONG, RIGHT[:ROW], tuple(range(len(WRONG) + 1)), (0, 1))
    found = activation_patching(planted, twin, "heads", CODA.kind)
    assert not found.is_telling and np.isnan(found.restored).all()
    np.testing.assert_allclose(found.patched, found.score, atol=1e-3)


@pytest.fixture(scope="module")
def found(planted_circuit):
    contrast = contrast_of_edit(planted_circuit, EDIT)
    return node_effects(planted_circuit, Edit(WRONG, RIGHT, contrast))


def test_all_three_parts_of_a_chain_matter_and_the_last_alone_does_so_directly(found):
    total, direct = (dict(zip(found.nodes, each, strict=True)) for each in (found.total, found.direct))
    assert set(sorted(total, key=total.get)[-3:]) == {MARK, CARRY, WRITER}
    assert direct[WRITER] == pytest.approx(total[WRITER], abs=1e-3)
    assert direct[MARK] == 0 and abs(direct[CARRY]) < 0.1 * total[CARRY]
