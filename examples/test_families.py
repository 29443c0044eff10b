"""Families of transformers: each opens, or one sentence says what is missing.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest
import torch
import transformers as hf

from examples.hugging_face_networks import END, GROUPED, MARK_IDS, NARROW, PAD, START, trained
from model import Intervention, from_transformers, laboratory_of
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING, STREAM

TOKENIZER = trained("bytes")
SIZE = {"vocab_size": len(TOKENIZER)}
SHORT = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}
SHORT |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 64}
T5_LIKE = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_heads": 4} | MARK_IDS
HEADS = NARROW | {"head_dim": 8, "num_key_value_heads": 2}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
LINEAR = {f"linear_{part}": n for part, n in (("num_value_heads", 2), ("num_key_heads", 2))}
LINEAR |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8}
AXES = {"axial_pos_shape": (8, 8), "axial_pos_embds_dim": (8, 8), "max_position_embeddings": 64}
BASIC = {INTERVENTIONS, GRADIENTS}
CAUSAL = "the network should write one token after the other, but a row of it looks ahead"
NO_SOFTMAX = r"a Transformer, but its pass has no \w+ that is computed by a softmax"
EAGER = "equal the own pass of FalconForCausalLM, .* load it with attn_implementation='eager'"


def of(name: str, head: str, **sizes):
    """A function that makes the model ``name`` with ``head``, untrained."""
    return lambda: getattr(hf, name + head)(getattr(hf, name + "Config")(**SIZE | sizes))


def bert2bert():
    sides = hf.BertConfig(**SIZE, **NARROW), hf.BertConfig(**SIZE, **NARROW, is_decoder=True)
    sides[1].add_cross_attention = True
    model = hf.EncoderDecoderModel(hf.EncoderDecoderConfig.from_encoder_decoder_configs(*sides))
    for config in (model.config, model.generation_config):
        config.decoder_start_token_id, config.pad_token_id = START, PAD
    return model


GPT = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 64}
LM, TO_TEXT = "ForCausalLM", "ForConditionalGeneration"
# By family: the model, the layers and heads of its trace or the reason for none, and the abilities of its
# laboratory or the reason for none.
FAMILIES = {
    "bloom": (of("Bloom", LM, hidden_size=16, n_layer=2, n_head=4), (2, 4), BASIC),
    "mpt": (of("Mpt", LM, d_model=16, n_layers=2, n_heads=4, max_seq_len=64), (2, 4), BASIC),
    "falcon": (of("Falcon", LM, **NARROW, num_kv_heads=2, new_decoder_architecture=True), EAGER, BASIC),
    "gpt-j": (of("GPTJ", LM, **GPT, rotary_dim=4), (2, 4), BASIC),
    "gpt-neo": (
        of(
            "GPTNeo",
            LM,
            hidden_size=16,
            num_layers=2,
            num_heads=4,
            attention_types=[[["global", "local"], 1]],
        ),
        (2, 4),
        BASIC | {MIXING, STREAM},
    ),
    "xglm": (
        of("XGLM", LM, d_model=16, num_layers=2, attention_heads=4, ffn_dim=32),
        (2, 4),
        BASIC | {MIXING, STREAM},
    ),
    "gemma": (of("Gemma", LM, **HEADS), (2, 4), BASIC | {MIXING, STREAM}),
    "qwen3": (of("Qwen3", LM, **HEADS), (2, 4), BASIC | {MIXING, STREAM}),
    "phi3": (of("Phi3", LM, **GROUPED, pad_token_id=PAD), (2, 4), BASIC | {MIXING, STREAM}),
    "mixtral": (of("Mixtral", LM, **GROUPED, num_local_experts=2), (2, 4), BASIC | {MIXING, STREAM}),
    "opt": (of("OPT", LM, **NARROW, ffn_dim=32, word_embed_proj_dim=16), (2, 4), BASIC | {MIXING, STREAM}),
    "neox": (of("GPTNeoX", LM, **NARROW), (2, 4), BASIC),
    "m2m": (of("M2M100", TO_TEXT, **SHORT, **MARK_IDS), (2, 2), BASIC | {MIXING, STREAM}),
    "mt5": (of("MT5", TO_TEXT, **T5_LIKE), (2, 4), BASIC | {MIXING, STREAM}),
    "switch": (
        of("SwitchTransformers", TO_TEXT, **T5_LIKE, num_decoder_layers=2, num_experts=2),
        (2, 4),
        BASIC | {MIXING, STREAM},
    ),
    "fsmt": (
        of("FSMT", TO_TEXT, langs=["en", "de"], src_vocab_size=300, tgt_vocab_size=300, **SHORT),
        (2, 2),
        BASIC,
    ),
    "bert2bert": (bert2bert, (2, 4), BASIC),
    "jamba": (
        of(
            "Jamba", LM, **GROUPED, mamba_d_state=4, mamba_dt_rank=4, attn_layer_period=2, attn_layer_offset=1
        ),
        r"the layers \[1\] of the 2 of Jamba\w* have attention",
        BASIC,
    ),
    "lfm2": (
        of("Lfm2", LM, **GROUPED, layer_types=["conv", "full_attention"], block_multiple_of=8),
        r"the layers \[1\] of the 2 of Lfm2\w* have attention",
        BASIC,
    ),
    "qwen3-next": (
        of("Qwen3Next", LM, **HEADS, **EXPERTS, **LINEAR, layer_types=["linear_attention", "full_attention"]),
        r"the layers \[1\] of the 2 of Qwen3Next\w* have attention",
        BASIC,
    ),
    "xlnet": (
        of("XLNet", "LMHeadModel", d_model=16, n_layer=2, n_head=4, d_inner=32),
        "has no target",
        CAUSAL,
    ),
    "reformer": (
        lambda: hf.ReformerModelWithLMHead(
            hf.ReformerConfig(**SIZE, hidden_size=16, attn_layers=["local", "lsh"], is_decoder=True, **AXES)
        ),
        None,
        NO_SOFTMAX,
    ),
    "mamba": (
        of("Mamba", LM, hidden_size=16, num_hidden_layers=2, state_size=4),
        "attentions should be returned by the model, received none",
        NO_SOFTMAX,
    ),
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    torch.manual_seed(0)
    make, trace, abilities = FAMILIES[request.param]
    return make().eval(), trace, abilities


def test_it_opens_or_says_what_is_missing(family):
    model, expected, _ = family
    texts = ("the cat", " a dog")
    if isinstance(expected, str) and expected.startswith("the layers"):
        with pytest.warns(UserWarning, match=expected):
            assert from_transformers(model, TOKENIZER, *texts).shape("decoder_attention")[0] == 1
    elif isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            from_transformers(model, TOKENIZER, *texts)
    elif expected is not None:
        trace = from_transformers(model, TOKENIZER, *texts)
        assert trace.shape("decoder_attention") == expected
        assert not np.triu(trace.decoder_attention, 1).any()


def test_it_has_a_laboratory_or_says_what_is_missing(family):
    model, _, expected = family
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            laboratory_of(model, TOKENIZER)
        return
    lab = laboratory_of(model, TOKENIZER)
    assert lab.config.abilities == expected
    source, target = lab.tokenizer.encode_source("the cat"), lab.tokenizer.encode_target(" a dog")
    size = lab.laboratory.sizes["decoder_attention"]
    off = Intervention(off={("decoder_attention", size.layers - 1, n) for n in range(size.heads)})
    found = lab.laboratory.pass_over([source] * 2, [target] * 2, [Intervention(), off]).logits
    read = [[*source, *target[:-1]]] if lab.laboratory.is_decoder else [source]
    given = {"input_ids": torch.tensor(read), "use_cache": False}
    if not lab.laboratory.is_decoder:
        given["decoder_input_ids"] = torch.tensor([[lab.laboratory.start, *target[:-1]]])
    with torch.no_grad():
        own = model(**given).logits[0, -len(target) :].numpy()
    np.testing.assert_allclose(found[0], own, atol=1e-4)
    assert np.abs(found[1] - own).max() > 1e-6


def test_a_start_mark_of_the_tokenizer_is_read_once():
    tokenizer, model = trained("pieces"), bert2bert().eval()
    lab = laboratory_of(model, tokenizer)
    one, other = lab.trace("the cat", "a dog"), from_transformers(model, tokenizer, "the cat", "a dog")
    assert one.decoder_input_tokens == other.decoder_input_tokens == ("<s>", "▁a", "▁dog")
    assert lab.tokenizer.encode_target("a dog")[-1] == END
    np.testing.assert_allclose(one.cross_attention, other.cross_attention, atol=1e-6)
