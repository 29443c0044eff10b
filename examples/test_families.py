"""Adapters on families of transformers: trace, laboratory and residual stream.

Their numbers are those of the model, or one sentence names the missing part.

Run by `pytest examples`; see requirements-examples.txt.
"""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from examples import hugging_face_networks as small
from examples.hugging_face_networks import END, GROUPED, MARK_IDS, NARROW, PAD, START, trained
from model import Intervention, from_transformers, laboratory_of
from model.stored.config import GRADIENTS, INTERVENTIONS, STREAM

TOKENIZER = trained("bytes")
SIZE = {"vocab_size": len(TOKENIZER)}
SHORT: dict[str, Any] = {"d_model": 16, "max_position_embeddings": 64}
for side in ("encoder", "decoder"):
    SHORT |= {f"{side}_layers": 2, f"{side}_ffn_dim": 32, f"{side}_attention_heads": 2}
T5_LIKE = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4}
T5_LIKE |= MARK_IDS
HEADS = NARROW | {"head_dim": 8, "num_key_value_heads": 2}
LINEAR = {f"linear_{part}": n for part, n in (("num_value_heads", 2), ("num_key_heads", 2))}
LINEAR |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8}
LINEAR |= {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
FALCON = NARROW | {"num_kv_heads": 2, "new_decoder_architecture": True}
NEO = {"hidden_size": 16, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]}
GPT = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 4}
XGLM = {"d_model": 16, "num_layers": 2, "attention_heads": 4, "ffn_dim": 32}
MPT = {"d_model": 16, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}
FSMT = {"langs": ["en", "de"], "src_vocab_size": 300, "tgt_vocab_size": 300}
JAMBA = {"mamba_d_state": 4, "mamba_dt_rank": 4, "attn_layer_period": 2, "attn_layer_offset": 1}
LFM2 = {"layer_types": ["conv", "full_attention"], "block_multiple_of": 8}
NEXT = {"layer_types": ["linear_attention", "full_attention"]}
XLNET = {"d_model": 16, "n_layer": 2, "n_head": 4, "d_inner": 32}
MAMBA = {"hidden_size": 16, "num_hidden_layers": 2, "state_size": 4}
REFORMER = {"hidden_size": 16, "attn_layers": ["local", "lsh"], "is_decoder": True}
REFORMER |= {"axial_pos_shape": (8, 8), "axial_pos_embds_dim": (8, 8), "max_position_embeddings": 64}
PARTLY_ROTATED = {"num_attention_heads": 2, "num_key_value_heads": 1, "pad_token_id": PAD}  # a quarter
CAPPED = {"attn_logit_softcapping": 1.0, "final_logit_softcapping": 2.0, "sliding_window": 4}

LM, TO_TEXT, WITH_HEAD = "ForCausalLM", "ForConditionalGeneration", "LMHeadModel"
CAUSAL = "the network should write one token after the other, but a row of it looks ahead"
NO_SOFTMAX = r"a Transformer, but its pass has no \w+ that is computed by a softmax"
EAGER = "equal the own pass of FalconForCausalLM, .* load it with attn_implementation='eager'"
NO_MAPS = "attentions should be returned by the model, received none"
STREAMED, NOT_NAMED = (
    "",
    r"the parts of \w+ are not named as BART's, T5's, GPT-2's, Llama's or BLOOM's: \w+ has no",
)
OTHER_LOGITS = "does not give its own logits|the stream is walked in texts of at most 4 tokens"


def second_alone(name: str) -> str:
    return rf"the layers \[1\] of the 2 of {name}\w* have attention"


# By family: its class and sizes, the layers and heads of its decoder or the reason for no trace, and the
# reason for no laboratory, or for one without a residual stream, in the place of STREAMED.
FAMILIES: dict[str, tuple[str, dict[str, Any], Any, str]] = {
    "marian": ("marian", {}, (3, 2), STREAMED),
    "bart": ("bart", {}, (3, 2), STREAMED),
    "t5": ("t5", {}, (3, 4), STREAMED),
    "gpt2": ("gpt2", {}, (3, 4), STREAMED),
    "llama": ("llama", {}, (2, 4), STREAMED),
    "mistral": ("mistral", {}, (2, 4), OTHER_LOGITS),
    "bloom": ("Bloom" + LM, {"hidden_size": 16, "n_layer": 2, "n_head": 4}, (2, 4), STREAMED),
    "mpt": ("Mpt" + LM, MPT, (2, 4), STREAMED),
    "gpt-neo": ("GPTNeo" + LM, NEO, (2, 4), STREAMED),
    "xglm": ("XGLM" + LM, XGLM, (2, 4), STREAMED),
    "gemma": ("Gemma" + LM, HEADS, (2, 4), STREAMED),
    "qwen3": ("Qwen3" + LM, HEADS, (2, 4), STREAMED),
    "phi3": ("Phi3" + LM, GROUPED | {"pad_token_id": PAD}, (2, 4), STREAMED),
    "mixtral": ("Mixtral" + LM, GROUPED | {"num_local_experts": 2}, (2, 4), STREAMED),
    "opt": ("OPT" + LM, NARROW | {"ffn_dim": 32, "word_embed_proj_dim": 16}, (2, 4), STREAMED),
    "m2m": ("M2M100" + TO_TEXT, SHORT | MARK_IDS, (2, 2), STREAMED),
    "mt5": ("MT5" + TO_TEXT, T5_LIKE, (2, 4), STREAMED),
    "switch": ("SwitchTransformers" + TO_TEXT, T5_LIKE | {"num_experts": 2}, (2, 4), STREAMED),
    "gemma2": ("Gemma2" + LM, HEADS | CAPPED, (2, 4), OTHER_LOGITS),
    "stablelm": ("StableLm" + LM, GROUPED | PARTLY_ROTATED, (2, 2), STREAMED),
    "gemma3": ("Gemma3" + LM, HEADS | {"sliding_window": 4}, (2, 4), OTHER_LOGITS),
    "olmo2": ("Olmo2" + LM, GROUPED, (2, 4), NOT_NAMED),
    "gpt-j": ("GPTJ" + LM, GPT, (2, 4), NOT_NAMED),
    "neox": ("GPTNeoX" + LM, NARROW, (2, 4), NOT_NAMED),
    "falcon": ("Falcon" + LM, FALCON, EAGER, NOT_NAMED),
    "fsmt": ("FSMT" + TO_TEXT, SHORT | FSMT, (2, 2), NOT_NAMED),
    "bert2bert": ("EncoderDecoderModel", {}, (2, 4), NOT_NAMED),
    "jamba": ("Jamba" + LM, GROUPED | JAMBA, second_alone("Jamba"), NOT_NAMED),
    "lfm2": ("Lfm2" + LM, GROUPED | LFM2, second_alone("Lfm2"), NOT_NAMED),
    "qwen3-next": ("Qwen3Next" + LM, HEADS | LINEAR | NEXT, second_alone("Qwen3Next"), NOT_NAMED),
    "xlnet": ("XLNet" + WITH_HEAD, XLNET, "has no target", CAUSAL),
    "reformer": ("ReformerModelWithLMHead", REFORMER, None, NO_SOFTMAX),
    "mamba": ("Mamba" + LM, MAMBA, NO_MAPS, NO_SOFTMAX),
}


TEXTS = "the cat 손님이", " a dog"


def made(name: str, sizes: dict[str, Any]) -> hf.PreTrainedModel:
    """An untrained model by the name of its class, or of its function in ``hugging_face_networks``."""
    torch.manual_seed(0)
    if hasattr(small, name):
        return getattr(small, name)(SIZE["vocab_size"]).eval()
    if name == "EncoderDecoderModel":
        sides = hf.BertConfig(**SIZE, **NARROW), hf.BertConfig(**SIZE, **NARROW, is_decoder=True)
        sides[1].add_cross_attention = True
        model = hf.EncoderDecoderModel(hf.EncoderDecoderConfig.from_encoder_decoder_configs(*sides))
        for config in (model.config, model.generation_config):
            config.decoder_start_token_id, config.pad_token_id = START, PAD
        return model.eval()
    family = getattr(hf, name)
    return family(family.config_class(**SIZE | sizes)).eval()


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    name, sizes, trace, why = FAMILIES[request.param]
    return made(name, sizes), trace, why


def own_pass(model: hf.PreTrainedModel, read: list[int], **options: Any) -> Any:
    """The model's own answer where its decoder, or the model if it has no encoder, reads ``read``."""
    given = {"input_ids": torch.tensor([read])}
    if model.config.is_encoder_decoder:
        given = {
            "input_ids": torch.tensor([TOKENIZER(TEXTS[0]).input_ids]),
            "decoder_input_ids": given["input_ids"],
        }
    with torch.no_grad():
        return model(**given, use_cache=False, **options)


def test_its_trace_is_the_attention_that_it_returns_or_says_what_is_missing(family):
    model, expected, _ = family
    if expected is None:
        return
    if isinstance(expected, str) and not expected.startswith("the layers"):
        with pytest.raises(ValueError, match=expected):
            from_transformers(model, TOKENIZER, *TEXTS)
        return
    if isinstance(expected, str):
        with pytest.warns(UserWarning, match=expected):
            assert from_transformers(model, TOKENIZER, *TEXTS).shape("decoder_attention")[0] == 1
        return
    trace = from_transformers(model, TOKENIZER, *TEXTS)
    trace.check()
    assert trace.shape("decoder_attention") == expected
    read, produced = (
        TOKENIZER.convert_tokens_to_ids(list(tokens))
        for tokens in (trace.decoder_input_tokens, trace.target_tokens)
    )
    assert read[1:] == produced[:-1]
    model.set_attn_implementation("eager")
    own = own_pass(model, read, output_attentions=True)
    for kind in trace.kinds:
        returned = own.attentions if "attentions" in own else own[f"{kind}s"]
        np.testing.assert_allclose(trace.attention(kind), torch.cat(returned).numpy(), atol=1e-6, rtol=0)
    logs = own.logits[0].log_softmax(-1)[range(len(produced)), produced]
    np.testing.assert_allclose(trace.log_probabilities, logs.numpy(), atol=1e-5)
    for layer in range(expected[0]):
        hidden = trace.masked("decoder_attention", layer)
        assert not trace.decoder_attention[layer, :, hidden].any()
        assert trace.decoder_attention[layer, :, ~hidden].all()


def test_it_has_a_laboratory_or_says_what_is_missing(family):
    model, _, why = family
    if why in (CAUSAL, NO_SOFTMAX):
        with pytest.raises(ValueError, match=why):
            laboratory_of(model, TOKENIZER)
        return
    lab = laboratory_of(model, TOKENIZER)
    assert lab.config.abilities == {INTERVENTIONS, GRADIENTS} | ({STREAM} if why == STREAMED else set())
    source, target = lab.tokenizer.encode_source(TEXTS[0]), lab.tokenizer.encode_target(TEXTS[1])
    size = lab.laboratory.sizes["decoder_attention"]
    off = Intervention(off={("decoder_attention", size.layers - 1, n) for n in range(size.heads)})
    found = lab.laboratory.pass_over([source] * 2, [target] * 2, [Intervention(), off]).logits
    before = source if lab.laboratory.is_decoder else [lab.laboratory.start]
    own = own_pass(model, [*before, *target[:-1]]).logits[0, -len(target) :].numpy()
    np.testing.assert_allclose(found[0], own, atol=1e-4)
    assert np.abs(found[1] - own).max() > 1e-6
    if why == STREAMED:
        walked = lab.patched.taps(source, target, ["logits"])["logits"]
        centred = [logits - logits.mean(-1, keepdims=True) for logits in (walked, own)]
        np.testing.assert_allclose(*centred, atol=1e-4)
    else:
        with pytest.raises(ValueError, match=why):
            _ = lab.patched


def test_a_start_mark_of_the_tokenizer_is_read_once():
    tokenizer, model = trained("pieces"), made("EncoderDecoderModel", {})
    lab = laboratory_of(model, tokenizer)
    one, other = lab.trace("the cat", "a dog"), from_transformers(model, tokenizer, "the cat", "a dog")
    assert one.decoder_input_tokens == other.decoder_input_tokens == ("<s>", "▁a", "▁dog")
    assert lab.tokenizer.encode_target("a dog")[-1] == END
    np.testing.assert_allclose(one.cross_attention, other.cross_attention, atol=1e-6)
