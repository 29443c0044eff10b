"""Adapters on families of transformers: trace, laboratory and residual stream.

Their numbers are those of the model, or one sentence names the missing part.

Run by `pytest examples`; see requirements-examples.txt.
"""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from examples import hugging_face_networks as small
from examples.hugging_face_networks import END, arguments, trained
from model import Intervention, from_transformers, laboratory_of
from model.adapters.own_stream import checked
from model.stored.config import GRADIENTS, INTERVENTIONS, STREAM

TOKENIZER = trained("bytes")
FAMILIES = tomllib.loads(Path(__file__).with_name("families.toml").read_text("utf-8"))
REASONS = FAMILIES.pop("reasons")
SIZES = FAMILIES.pop("sizes") | {"narrow": small.NARROW, "grouped": small.GROUPED, "wide": small.WIDE}
SIZES["marks"] = small.MARK_IDS
TEXTS = "the cat 손님이", " a dog"


def made(name: str) -> hf.PreTrainedModel:
    """An untrained model of the family."""
    about, sizes = FAMILIES[name], {}
    torch.manual_seed(0)
    if make := getattr(small, about["class"], None):
        return make(len(TOKENIZER)).eval()
    for each in about.get("like", ()):
        sizes |= SIZES[each]
    return small.built(about["class"], len(TOKENIZER), **sizes | about.get("sizes", {})).eval()


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    """Its rows differ: as weights are made, each looks at all tokens alike."""
    model, about = made(request.param), FAMILIES[request.param]
    for weights in model.parameters():
        weights.data *= about.get("grown", 3) if weights.dim() > 1 else 1
    return model, {name: REASONS.get(str(each), each) for name, each in about.items()}


def own_pass(model: hf.PreTrainedModel, read: list[int], **options: Any) -> Any:
    """The model's own answer where its decoder, or the model if it has no encoder, reads ``read``."""
    with torch.no_grad():
        return model(**arguments(model, TOKENIZER(TEXTS[0]).input_ids, read), **options)


def test_its_trace_is_the_attention_that_it_returns_or_says_what_is_missing(family):
    model, about = family
    if "no_trace" in about:
        with pytest.raises(ValueError, match=about["no_trace"]):
            from_transformers(model, TOKENIZER, *TEXTS)
        return
    if "warning" in about:
        with pytest.warns(UserWarning, match=about["warning"]):
            assert from_transformers(model, TOKENIZER, *TEXTS).shape("decoder_attention")[0] == 1
        return
    trace = from_transformers(model, TOKENIZER, *TEXTS)
    trace.check()
    layers, heads = trace.shape("decoder_attention")
    assert [layers, heads] == about.get("shape", [2, 4])
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
    for layer in range(layers):
        hidden = trace.masked("decoder_attention", layer)
        assert not trace.decoder_attention[layer, :, hidden].any()
        assert trace.decoder_attention[layer, :, ~hidden].all() or not about.get("sees_itself", True)


def test_it_has_a_laboratory_or_says_what_is_missing(family):
    model, about = family
    if "no_laboratory" in about:
        with pytest.raises(ValueError, match=about["no_laboratory"]):
            laboratory_of(model, TOKENIZER)
        return
    lab, streamed = laboratory_of(model, TOKENIZER), "no_stream" not in about
    assert lab.config.abilities == {INTERVENTIONS, GRADIENTS} | ({STREAM} if streamed else set())
    source, target = lab.tokenizer.encode_source(TEXTS[0]), lab.tokenizer.encode_target(TEXTS[1])
    size = lab.laboratory.sizes["decoder_attention"]
    off = Intervention(off={("decoder_attention", size.layers - 1, n) for n in range(size.heads)})
    changes = [Intervention(), off, Intervention(without_target={1})]
    found = lab.laboratory.pass_over([source] * 3, [target] * 3, changes).logits
    before = source if lab.laboratory.is_decoder else [lab.laboratory.start]
    own = own_pass(model, [*before, *target[:-1]]).logits[0, -len(target) :].numpy()
    np.testing.assert_allclose(found[0], own, atol=1e-4)
    assert (np.abs(found[1:] - own).max((1, 2)) > 1e-6).all()
    one = lab.trace(*TEXTS)
    if "no_trace" not in about:
        other = from_transformers(model, TOKENIZER, *TEXTS)
        for kind in other.kinds:
            np.testing.assert_allclose(one.attention(kind), other.attention(kind), atol=1e-6)
        np.testing.assert_allclose(one.log_probabilities[:-1], other.log_probabilities[:-1], atol=1e-4)
        assert one.windows == other.windows and one.decoder_input_tokens == other.decoder_input_tokens
    assert one.prompt == (len(source) if lab.laboratory.is_decoder else 0)
    if not streamed:
        with pytest.raises(ValueError, match=about["no_stream"]):
            _ = lab.patched
        return
    walked = lab.patched.taps(source, target, ["logits", *one.kinds])
    centred = [logits - logits.mean(-1, keepdims=True) for logits in (walked["logits"], own)]
    np.testing.assert_allclose(*centred, atol=1e-4)
    for kind in one.kinds:
        np.testing.assert_allclose(walked[kind], one.attention(kind), atol=1e-5)
    with pytest.raises(ValueError, match="does not give its own logits"):
        checked(lab.patched, [(source, target, -own)])


def test_a_start_mark_of_the_tokenizer_is_read_once():
    tokenizer, model = trained("pieces"), made("bert2bert")
    lab = laboratory_of(model, tokenizer)
    one, other = lab.trace("the cat", "a dog"), from_transformers(model, tokenizer, "the cat", "a dog")
    assert one.decoder_input_tokens == other.decoder_input_tokens == ("<s>", "▁a", "▁dog")
    assert lab.tokenizer.encode_target("a dog")[-1] == END
    np.testing.assert_allclose(one.cross_attention, other.cross_attention, atol=1e-6)
