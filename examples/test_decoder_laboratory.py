"""``laboratory_of`` a decoder alone of transformers against what PyTorch computes when the same is done by
hand.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest
import torch
from transformers import GptOssConfig, GptOssForCausalLM, GraniteConfig, GraniteForCausalLM

from examples.test_hugging_face import gpt2, llama, mistral, trained
from model import Intervention, from_transformers, laboratory_of
from model.analysis import contrast_of_row, contribution, contribution_rows
from model.analysis.attribution_methods import METHODS, added_vectors
from model.analysis.contrasts import Edit
from model.analysis.contributions import methods_of
from model.stored.config import MIXING
from model.trace.interventions import Head, ZeroedValue

PROMPT, WRITTEN, ROW = "the cat 손님이", " a dog 방이", 2
TOKENIZER = trained("bytes")
torch.set_num_threads(1)


def model_of(make):
    torch.manual_seed(0)
    model = make(len(TOKENIZER)).eval()
    for weights in model.parameters():
        if weights.dim() > 1:
            weights.data *= 8  # as they are made, every row looks at all tokens alike
    return model.double()


@pytest.fixture(params=[gpt2, llama, mistral])
def model(request):
    return model_of(request.param)


@pytest.fixture
def lab(model):
    return laboratory_of(model, TOKENIZER)


def ids(lab) -> tuple[list[int], list[int]]:
    return lab.tokenizer.encode_source(PROMPT), lab.tokenizer.encode_target(WRITTEN)


def logits(lab, intervention: Intervention) -> np.ndarray:
    source, target = ids(lab)
    return lab.laboratory.pass_over([source], [target], [intervention]).logits[0]


def plain_logits(model, lab, **given) -> np.ndarray:
    """Without the laboratory."""
    source, target = ids(lab)
    with torch.no_grad():
        out = model(input_ids=torch.tensor([[*source, *target[:-1]]]), use_cache=False, **given)
    return out.logits[0, len(source) - 1 :].numpy()


def test_without_a_change_it_is_the_pass_that_from_transformers_shows(model, lab):
    source, _ = ids(lab)
    one = lab.trace(PROMPT, WRITTEN)
    other = from_transformers(model, TOKENIZER, PROMPT, WRITTEN)
    np.testing.assert_allclose(one.decoder_attention, other.decoder_attention, atol=1e-6)
    np.testing.assert_allclose(one.log_probabilities[:-1], other.log_probabilities[:-1], atol=1e-4)
    assert (one.prompt, one.windows) == (len(source), other.windows)
    assert one.target_tokens[-1] == "</s>" and one.decoder_input_tokens == other.decoder_input_tokens
    np.testing.assert_allclose(logits(lab, Intervention()), plain_logits(model, lab), atol=1e-4)


def test_a_head_that_is_off_is_a_part_of_the_output_projection_that_is_zero(model, lab):
    head = Head("decoder_attention", 1, 2)
    found = logits(lab, Intervention(off={head}))
    before = plain_logits(model, lab)
    attention = lab.laboratory.modules[head.kind][head.layer]
    of_head = slice(4 * head.head, 4 * (head.head + 1))  # four numbers wide
    if hasattr(attention, "o_proj"):
        attention.o_proj.weight.data[:, of_head] = 0
    else:  # of GPT-2, which holds its kernels the other way round
        attention.c_proj.weight.data[of_head] = 0
    np.testing.assert_allclose(found, plain_logits(model, lab), atol=1e-4)
    assert np.abs(found - before).max() > 1e-2


@pytest.mark.parametrize("side", ["prompt", "written"])
def test_a_token_left_out_is_padding(model, lab, side):
    source, target = ids(lab)
    place = 1 if side == "prompt" else len(source) + 1  # the second token of either
    mask = torch.ones(1, len(source) + len(target) - 1, dtype=torch.long)
    mask[0, place] = 0
    gone = Intervention(without_source={1}) if side == "prompt" else Intervention(without_target={2})
    places = torch.arange(mask.shape[1])[None]  # a model that counts positions off the mask would move them
    expected = plain_logits(model, lab, attention_mask=mask, position_ids=places)
    asked = np.arange(len(source) - 1, mask.shape[1]) != place  # its own row reads it no more than others do
    np.testing.assert_allclose(logits(lab, gone)[asked], expected[asked], atol=1e-4)
    assert not lab.trace_under(PROMPT, WRITTEN, gone).decoder_attention[..., place].any()


def test_replaced_weights_are_used_and_a_zeroed_value_keeps_them(lab):
    plain = lab.trace(PROMPT, WRITTEN)
    length = len(plain.target_tokens)
    rows = np.full((length, length), np.nan, np.float32)
    rows[ROW] = np.eye(length)[1]
    head = Head("decoder_attention", 0, 0)
    used = lab.trace_under(PROMPT, WRITTEN, Intervention(weights={head: rows})).decoder_attention
    np.testing.assert_allclose(used[0, 0, ROW], rows[ROW], atol=1e-6)
    zeroed = Intervention(zeroed={ZeroedValue("decoder_attention", 1, 1)})
    found = lab.trace_under(PROMPT, WRITTEN, zeroed)
    same = slice(2)  # layers behind that of the value read something else
    np.testing.assert_allclose(found.decoder_attention[same], plain.decoder_attention[same], atol=1e-6)
    assert np.abs(found.log_probabilities - plain.log_probabilities).max() > 1e-4


def test_several_changes_in_one_batch_are_what_each_is_alone(lab):
    changes = [
        Intervention(off={("decoder_attention", 0, 1)}),
        Intervention(without_source={1}),
        Intervention(without_target={2}),
        Intervention(),
    ]
    source, target = ids(lab)
    together = lab.laboratory.pass_over([source] * 4, [target] * 4, changes).logits
    for one, change in zip(together, changes, strict=True):
        np.testing.assert_allclose(one, logits(lab, change), atol=1e-4)


def test_gradients_are_those_of_pytorch(model, lab):
    source, target = ids(lab)
    contrast = contrast_of_row(lab, PROMPT, WRITTEN, ROW)
    found, embedded = contribution(lab, Edit(PROMPT, WRITTEN, contrast), "gradient"), []

    def keep(module, given, output):
        output.retain_grad()
        embedded.append(output)

    hook = model.get_input_embeddings().register_forward_hook(keep)
    row = model(torch.tensor([[*source, *target[:ROW]]])).logits[0, -1]
    hook.remove()
    (row[contrast.written] - row[contrast.instead]).backward()
    by_hand = (embedded[0].grad * embedded[0]).sum(-1)[0].detach().numpy()
    np.testing.assert_allclose(found.source, by_hand[: len(source)], atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(found.before[1:], by_hand[len(source) :], atol=1e-4, rtol=1e-4)
    assert found.before[0] == 0 and np.abs(by_hand).max() > 1e-3


def test_the_methods_that_are_defined(lab):
    contrast = contrast_of_row(lab, PROMPT, WRITTEN, ROW)
    assert methods_of(lab) == tuple(METHODS)
    for method in ("attention", "rollout", "norms", "alti", "value_zeroing"):
        found = contribution(lab, Edit(PROMPT, WRITTEN, contrast), method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4) and found.before[0] == 0
    left_out = contribution(lab, Edit(PROMPT, WRITTEN, contrast), "occlusion")
    gone = lab.logit_differences(
        PROMPT, WRITTEN, contrast, [Intervention(), Intervention(without_source={1})]
    ).differences
    assert left_out.source[1] == pytest.approx(gone[0] - gone[1], abs=1e-4) and left_out.before[0] == 0
    source, before = contribution_rows(lab, PROMPT, WRITTEN, "gradient")
    one = contribution(lab, Edit(PROMPT, WRITTEN, contrast), "gradient")
    np.testing.assert_allclose(source[ROW], one.source, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(before[ROW, : ROW + 1], one.before, atol=1e-4, rtol=1e-4)


def test_what_the_keys_add_is_the_output_of_the_attention(model, lab):
    """Kobayashi et al. 2020, equation 3: the sum over all keys, and the bias.

    Llama's heads share values in pairs.
    """
    insides, seen = lab.laboratory.insides(*ids(lab)), []
    module = lab.laboratory.modules["decoder_attention"][1]
    hook = module.register_forward_hook(lambda _, __, output: seen.append(output[0][0].numpy()))
    plain_logits(model, lab)
    hook.remove()
    added = added_vectors(insides, "decoder_attention", 1).sum(1)
    np.testing.assert_allclose(added + insides.output_biases["decoder_attention"][1], seen[0], atol=1e-4)


def test_a_zeroed_value_changes_what_its_layer_puts_out(model, lab):
    """Against a hook that zeroes what is projected to the value of one token."""
    (source, target), place = ids(lab), 1
    layer = (model.model.layers if hasattr(model, "model") else model.transformer.h)[1]
    outputs = []

    def zero(module, given, output):
        width = (
            output.shape[-1] // 3 if hasattr(layer, "attn") else output.shape[-1]
        )  # GPT-2: query, key, value
        output[:, place, -width:] = 0
        return output

    projection = layer.attn.c_attn if hasattr(layer, "attn") else layer.self_attn.v_proj
    kept = layer.register_forward_hook(
        lambda _, __, output: outputs.append(output[0] if isinstance(output, tuple) else output)
    )
    plain_logits(model, lab)
    hook = projection.register_forward_hook(zero)
    plain_logits(model, lab)
    hook.remove()
    kept.remove()
    plain, zeroed = (each[0] if each.dim() == 3 else each for each in outputs)
    expected = 1 - torch.nn.functional.cosine_similarity(plain, zeroed, dim=-1)
    found = lab.laboratory.zeroed(source, target).decoder[1, :, place]
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
    assert found.max() > 1e-3


def test_layers_that_scale_what_they_add_have_no_such_methods():
    """Granite multiplies it, so what the keys add is not what the stream gets."""
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    make = lambda scale: GraniteForCausalLM(
        GraniteConfig(vocab_size=len(TOKENIZER), **sizes, residual_multiplier=scale)
    )
    abilities = [
        laboratory_of(model_of(lambda _, s=scale: make(s)), TOKENIZER).config.abilities
        for scale in (1.0, 0.5)
    ]
    assert [MIXING in each for each in abilities] == [True, False]


def gpt_oss(size: int) -> GptOssForCausalLM:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    experts = {"num_local_experts": 2, "num_experts_per_tok": 1, "num_key_value_heads": 1, "head_dim": 8}
    ids = {"eos_token_id": TOKENIZER.eos_token_id, "pad_token_id": TOKENIZER.pad_token_id}
    return GptOssForCausalLM(GptOssConfig(vocab_size=size, sliding_window=4, **sizes, **experts, **ids))


def test_what_falls_on_an_attention_sink_is_on_no_token():
    torch.manual_seed(0)
    model = gpt_oss(len(TOKENIZER)).eval()
    lab = laboratory_of(model, TOKENIZER)
    one, other = lab.trace(PROMPT, WRITTEN), from_transformers(model, TOKENIZER, PROMPT, WRITTEN)
    assert one.sinks == other.sinks == ("decoder_attention",)
    np.testing.assert_allclose(one.decoder_attention, other.decoder_attention, atol=1e-6)
    one.check()


def test_a_token_left_out_leaves_its_weight_to_the_others_and_to_the_sink():
    torch.manual_seed(0)
    lab = laboratory_of(gpt_oss(len(TOKENIZER)).eval(), TOKENIZER)
    plain = lab.trace(PROMPT, WRITTEN).decoder_attention[0]  # the first layer reads the same in both passes
    left_out = Intervention(without_source={1})
    found = lab.trace_under(PROMPT, WRITTEN, left_out).decoder_attention[0]
    others = [0, *range(2, plain.shape[-1])]
    expected = plain[:, 2:, others] / (1 - plain[:, 2:, 1:2])
    np.testing.assert_allclose(found[:, 2:, 1], 0, atol=1e-7)
    np.testing.assert_allclose(found[:, 2:, others], expected, atol=1e-6)


def test_what_it_writes_is_what_the_model_generates(model, lab):
    source, _ = ids(lab)
    with torch.no_grad():
        given = torch.tensor([source])
        whole = model.generate(
            given, attention_mask=torch.ones_like(given), max_new_tokens=20, do_sample=False
        )
    written = TOKENIZER.decode(whole[0, len(source) :], skip_special_tokens=True)
    assert lab.written_under(PROMPT, [Intervention()]) == [written]


def test_what_it_does_not_take_is_told(lab):
    with pytest.raises(ValueError, match=r"a head should be one of .*decoder_attention.*received"):
        logits(lab, Intervention(off={("cross_attention", 0, 0)}))
    with pytest.raises(ValueError, match="what is left out should lie in"):
        logits(lab, Intervention(without_source={99}))
    with pytest.raises(ValueError, match="a decoder alone has no memory of a source"):
        _ = lab.patched
