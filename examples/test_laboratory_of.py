"""``laboratory_of`` a model of transformers against what PyTorch computes when the same is done by hand.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest
import torch

from examples.test_hugging_face import ENCODER_DECODERS, END, bert, gpt2, trained
from model import Intervention, from_transformers, laboratory_of
from model.analysis import (
    contrast_of_row,
    contribution,
    contribution_rows,
    head_effects,
    replaced_for_change,
    verified_explanation,
)
from model.analysis.attribution_methods import METHODS, added_vectors
from model.analysis.contrasts import Edit
from model.analysis.contributions import methods_of
from model.trace.interventions import Head, ZeroedValue

SOURCE, TARGET, ROW = "the cat 손님이", "a dog 손님이", 2
TOKENIZER = trained("pieces")
torch.set_num_threads(1)


def model_of(name: str):
    torch.manual_seed(0)
    model = ENCODER_DECODERS[name](len(TOKENIZER)).eval()
    for weights in model.parameters():
        weights.data *= 2 if name == "t5" else 6  # as they are made, every row looks at all tokens alike
    # In float32 the sums of T5, which scales nothing, differ by the order of its threads.
    return model.double()


@pytest.fixture(params=ENCODER_DECODERS)
def model(request):
    return model_of(request.param)


@pytest.fixture
def lab(model):
    return laboratory_of(model, TOKENIZER)


def ids(lab) -> tuple[list[int], list[int]]:
    return lab.tokenizer.encode_source(SOURCE), lab.tokenizer.encode_target(TARGET)


def logits(lab, intervention: Intervention) -> np.ndarray:
    source, target = ids(lab)
    return lab.laboratory.pass_over([source], [target], [intervention]).logits[0]


def plain_logits(model, lab, **given) -> np.ndarray:
    """Without the laboratory."""
    source, target = ids(lab)
    read = torch.tensor([[model.config.decoder_start_token_id, *target[:-1]]])
    with torch.no_grad():
        out = model(input_ids=torch.tensor([source]), decoder_input_ids=read, use_cache=False, **given)
    return out.logits[0].numpy()


def test_without_a_change_it_is_the_pass_that_from_transformers_shows(model, lab):
    one, other = lab.trace(SOURCE, TARGET), from_transformers(model, TOKENIZER, SOURCE, TARGET)
    for kind in other.kinds:
        np.testing.assert_allclose(one.attention(kind), other.attention(kind), atol=1e-6, rtol=1e-4)
    np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(logits(lab, Intervention()), plain_logits(model, lab), atol=1e-4, rtol=1e-4)


def test_a_head_that_is_off_is_a_part_of_the_output_projection_that_is_zero(model, lab):
    head = Head("cross_attention", 1, 1)
    found = logits(lab, Intervention(off={head}))
    attention = lab.laboratory.modules[head.kind][head.layer]
    projection = getattr(attention, "out_proj", getattr(attention, "o", None))
    width = projection.in_features // lab.laboratory.sizes[head.kind].heads
    projection.weight.data[:, head.head * width : (head.head + 1) * width] = 0
    np.testing.assert_allclose(found, plain_logits(model, lab), atol=1e-4, rtol=1e-4)


def test_a_token_left_out_of_the_source_is_padding(model, lab):
    mask = torch.ones(1, len(ids(lab)[0]), dtype=torch.long)
    mask[0, 2] = 0
    found = logits(lab, Intervention(without_source={2}))
    np.testing.assert_allclose(found, plain_logits(model, lab, attention_mask=mask), atol=1e-4, rtol=1e-4)
    trace = lab.trace_under(SOURCE, TARGET, Intervention(without_source={2}))
    assert not trace.cross_attention[..., 2].any()


def test_a_value_that_is_zeroed_keeps_the_weights(lab):
    plain = lab.trace(SOURCE, TARGET)
    # Where no head looks, a value changes nothing.
    looked_at = int(plain.cross_attention[-1].sum((0, 1)).argmax())
    found = lab.trace_under(
        SOURCE, TARGET, Intervention(zeroed={ZeroedValue("cross_attention", 2, looked_at)})
    )
    np.testing.assert_allclose(found.cross_attention, plain.cross_attention, atol=1e-6, rtol=1e-4)
    assert np.abs(found.log_probabilities - plain.log_probabilities).max() > 1e-4


def test_replaced_weights_are_used_and_shown(lab):
    source, target = ids(lab)
    rows = np.full((len(target), len(source)), np.nan, np.float32)
    rows[ROW] = np.eye(len(source))[1]
    head = Head("cross_attention", 0, 0)
    used = lab.attention_under(SOURCE, TARGET, head, [Intervention(), Intervention(weights={head: rows})])
    np.testing.assert_allclose(used[1, ROW], rows[ROW], atol=1e-6, rtol=1e-4)
    np.testing.assert_allclose(np.delete(used[1], ROW, 0), np.delete(used[0], ROW, 0), atol=1e-6, rtol=1e-4)


def test_several_changes_in_one_batch_are_what_each_is_alone(lab):
    changes = [
        Intervention(off={("decoder_attention", 0, 1)}),
        Intervention(without_target={1}),
        Intervention(),
    ]
    source, target = ids(lab)
    together = lab.laboratory.pass_over([source] * 3, [target] * 3, changes).logits
    for one, change in zip(together, changes, strict=True):
        np.testing.assert_allclose(one, logits(lab, change), atol=1e-4, rtol=1e-4)


def test_what_it_writes_is_what_the_model_generates():
    model = model_of("marian")
    model.generation_config.max_new_tokens = 12
    with torch.no_grad():
        model.final_logits_bias[0, END] += 5  # random weights would go on for ever
    lab = laboratory_of(model, TOKENIZER)
    written = from_transformers(model, TOKENIZER, SOURCE).target_text
    assert lab.written_under(SOURCE, [Intervention()]) == [written]
    assert lab.correct(SOURCE).text == written.strip()


@pytest.mark.parametrize("told", [{"max_new_tokens": 40}, {"max_length": 41}])
def test_a_text_without_an_end_is_cut_where_the_model_says_and_told(told):
    model = model_of("bart")
    for name, value in (told | {"forced_eos_token_id": None}).items():
        setattr(model.generation_config, name, value)
    with torch.no_grad():
        model.final_logits_bias[0, END] = -1e9
    lab, source = laboratory_of(model, TOKENIZER), "the cat"
    with pytest.warns(UserWarning, match="wrote no end mark in 40 tokens, so its text is cut there"):
        text = lab.correct(source).text
    assert text == from_transformers(model, TOKENIZER, source).target_text.strip() != source
    assert lab.written_under(source, [Intervention()]) == [None]


def test_claims_about_characters_are_refused_where_tokens_are_none():
    lab = laboratory_of(model_of("bart"), TOKENIZER)
    (change, *_) = lab.changes("the cat sat", "the dog sat")
    with pytest.raises(ValueError, match="each token should be one character, but the tokenizer makes"):
        verified_explanation(lab, Edit("the cat sat", "the dog sat", change))


def test_what_has_no_laboratory_is_told():
    without_end = trained("pieces")
    without_end.eos_token = None
    with pytest.raises(ValueError, match=r"should have an end mark: tokenizer.eos_token = …"):
        laboratory_of(gpt2(len(without_end)), without_end)
    with pytest.raises(ValueError, match="prompt should have at least one token"):
        laboratory_of(gpt2(300), trained("bytes")).written_under("", [Intervention()])


@pytest.mark.parametrize("make", [lambda: model_of("bart"), lambda: gpt2(len(TOKENIZER))])
def test_weights_that_are_no_numbers_are_refused(make):
    model = make()
    lab = laboratory_of(model, TOKENIZER)
    contrast = contrast_of_row(lab, SOURCE, TARGET, ROW)
    next(each for name, each in model.named_parameters() if "norm" in name or "ln" in name).data[0] = (
        torch.nan
    )
    for ask in (
        lambda: lab.correct(SOURCE),
        lambda: contribution(lab, Edit(SOURCE, TARGET, contrast), "gradient"),
        lambda: lab.logit_differences(SOURCE, TARGET, contrast, [Intervention()]),
    ):
        with pytest.raises(ValueError, match="the network computes NaN"):
            ask()


def gradients_by_hand(model, lab, row: int, written: int, instead: int) -> list[np.ndarray]:
    """Gradient × input of logit(written) - logit(instead), by the tokens of both sides (Shrikumar et al.
    2016).
    """
    source, target = ids(lab)
    read, embedded = [model.config.decoder_start_token_id, *target[:-1]], []

    def keep(module, given, output):
        if given[0].shape[-1] in (len(source), len(read)):
            output.retain_grad()
            embedded.append(output)

    tables = {
        id(table): table
        for table in (side.get_input_embeddings() for side in (model.get_encoder(), model.get_decoder()))
    }
    hooks = [table.register_forward_hook(keep) for table in tables.values()]
    out = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([read]), use_cache=False)
    (out.logits[0, row, written] - out.logits[0, row, instead]).backward()
    for hook in hooks:
        hook.remove()
    return [(each.grad * each).sum(-1)[0].detach().numpy() for each in embedded]


def test_gradients_are_those_of_pytorch(model, lab):
    contrast = contrast_of_row(lab, SOURCE, TARGET, ROW)
    found = contribution(lab, Edit(SOURCE, TARGET, contrast), "gradient")
    source, before = gradients_by_hand(model, lab, ROW, contrast.written, contrast.instead)
    np.testing.assert_allclose(found.source, source, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(found.before, before[: ROW + 1], atol=1e-4, rtol=1e-4)
    assert np.abs(source).max() > 1e-3


def test_what_the_keys_add_is_the_output_of_the_attention(model, lab):
    """Kobayashi et al. 2020, equation 3: the sum over all keys, and the bias."""
    source, target = ids(lab)
    insides, seen = lab.laboratory.insides(source, target), []
    module = lab.laboratory.modules["cross_attention"][1]
    hook = module.register_forward_hook(lambda _, __, output: seen.append(output[0][0].numpy()))
    plain_logits(model, lab)
    hook.remove()
    added = added_vectors(insides, "cross_attention", 1).sum(1) + insides.output_biases["cross_attention"][1]
    np.testing.assert_allclose(added, seen[0], atol=1e-4)
    assert (insides.norm_scales is None) == (model.config.model_type == "t5")


def test_every_question_of_a_corrector_is_answered(lab):
    (change,) = lab.changes(SOURCE, TARGET)
    effects = head_effects(lab, Edit(SOURCE, TARGET, change))
    assert len(effects.heads) == sum(size.layers * size.heads for size in lab.laboratory.sizes.values())
    assert methods_of(lab) == tuple(METHODS)
    for method in ("attention", "rollout", "norms", "alti", "value_zeroing"):
        found = contribution(lab, Edit(SOURCE, TARGET, contrast_of_row(lab, SOURCE, TARGET, ROW)), method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4)
    _, replaced = replaced_for_change(lab, Edit(SOURCE, TARGET, change), Head("cross_attention", 1, 0))
    assert [each.how for each in replaced] == ["observed", "uniform", "copy", "permuted"]


def test_all_produced_tokens_at_once(lab):
    source, before = contribution_rows(lab, SOURCE, TARGET, "gradient")
    contrast = contrast_of_row(lab, SOURCE, TARGET, ROW)
    one = contribution(lab, Edit(SOURCE, TARGET, contrast), "gradient")
    np.testing.assert_allclose(source[ROW], one.source, atol=1e-6, rtol=1e-4)
    np.testing.assert_allclose(before[ROW, : ROW + 1], one.before, atol=1e-6, rtol=1e-4)
    assert not np.triu(before, 1).any()


def test_everything_is_afterwards_as_it_was():
    model, softmax = model_of("bart").train(), torch.nn.functional.softmax
    model.set_attn_implementation("sdpa")
    logits(laboratory_of(model, TOKENIZER), Intervention(off={("cross_attention", 0, 0)}))
    assert torch.nn.functional.softmax is softmax
    assert model.training and model.config._attn_implementation == "sdpa"


def test_what_it_does_not_take_is_told():
    with pytest.raises(
        ValueError, match="should write, as encoder-decoders and decoders alone do, received Bert"
    ):
        laboratory_of(bert(len(TOKENIZER)), TOKENIZER)
    lab = laboratory_of(model_of("bart"), TOKENIZER)
    with pytest.raises(ValueError, match=r"a head should be one of .*cross_attention.*\(3, 2\)"):
        logits(lab, Intervention(off={("cross_attention", 3, 0)}))
    with pytest.raises(ValueError, match="what is left out should lie in"):
        logits(lab, Intervention(without_source={99}))
