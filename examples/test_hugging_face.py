"""``from_transformers`` against the attention that transformers itself returns, with tiny untrained models.

Run by `pytest examples`; see requirements-examples.txt.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf
from transformers.modeling_outputs import BaseModelOutput

from examples.hugging_face_networks import (
    ENCODER_DECODERS,
    END,
    MARK_IDS,
    bart,
    bert,
    gpt2,
    gpt_oss,
    llama,
    marian,
    mistral,
    trained,
)
from model import AttentionTrace, TraceError, from_transformers, laboratory_of
from model.analysis.attention_maps import word_axes
from viz import explore

TEXT = "the cat 손님이 왔는데"
TOKENIZERS = {kind: trained(kind) for kind in ("bytes", "pieces", "words")}
BYTES, PIECES, WORDS = TOKENIZERS.values()


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def assert_equal(trace: AttentionTrace, model, **given) -> torch.Tensor:
    """Compare a trace with the attention that the model returns; its logits (N, V)."""
    model.eval().set_attn_implementation("eager")
    with torch.no_grad():
        out = model(**given, output_attentions=True)
    names = {"encoder_attention": "attentions", "decoder_attention": "attentions"}
    if hasattr(out, "cross_attentions") and trace.cross_attention is not None:
        names = {kind: f"{kind}s" for kind in trace.kinds}
    for kind in trace.kinds:
        expected = torch.cat(getattr(out, names[kind])).numpy()  # (L, H, Q, K)
        np.testing.assert_allclose(trace.attention(kind), expected, atol=1e-6, rtol=0)
    return out.logits[0] if hasattr(out, "logits") else None


def assert_travels(trace: AttentionTrace, tmp_path: Path) -> None:
    trace.save(tmp_path / "trace.npz")
    found = AttentionTrace.load(tmp_path / "trace.npz")
    for kind in trace.kinds:
        np.testing.assert_array_equal(found.attention(kind), trace.attention(kind))
        for axis in word_axes(found, kind):
            assert all(axis.labels)
    assert b"data-component" in explore(found).page


@pytest.mark.parametrize("kind", ["bytes", "pieces"])
@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_an_encoder_decoder(name, kind, tmp_path):
    tokenizer = TOKENIZERS[kind]
    model = ENCODER_DECODERS[name](len(tokenizer))
    trace = from_transformers(model, tokenizer, TEXT, max_new_tokens=9)
    read = torch.tensor([tokenizer.convert_tokens_to_ids(list(trace.decoder_input_tokens))])
    source = tokenizer(TEXT, return_tensors="pt").input_ids
    logits = assert_equal(trace, model, input_ids=source, decoder_input_ids=read)
    heads = (4, 4) if name == "t5" else (4, 2)
    assert [trace.shape(each) for each in trace.kinds] == [(2, heads[0]), (3, heads[1]), (3, heads[1])]
    produced = tokenizer.convert_tokens_to_ids(list(trace.target_tokens))
    assert produced[:-1] == read[0, 1:].tolist()
    logs = logits.log_softmax(-1)[range(len(produced)), produced]
    np.testing.assert_allclose(trace.log_probabilities, logs.numpy(), atol=1e-5)
    assert trace.source_text == (TEXT if kind == "bytes" else tokenizer.decode(source[0], True))
    assert_travels(trace, tmp_path)


def test_an_encoder(tmp_path):
    model = bert(len(WORDS))
    trace = from_transformers(model, WORDS, TEXT)
    assert_equal(trace, model, **WORDS(TEXT, return_tensors="pt"))
    assert trace.kinds == ("encoder_attention",)
    labels = word_axes(trace, "encoder_attention")[0].labels
    assert labels == ("<s>", "the", "cat", "손님이", "왔는데", "</s>")
    assert_travels(trace, tmp_path)


@pytest.mark.parametrize("make", [gpt2, llama, mistral])
def test_a_decoder(make, tmp_path):
    model = make(len(BYTES))
    trace = from_transformers(model, BYTES, TEXT)
    ids = BYTES(TEXT, return_tensors="pt").input_ids
    logits = assert_equal(trace, model, input_ids=ids)
    produced = BYTES.convert_tokens_to_ids(list(trace.target_tokens))
    assert produced == [*ids[0, 1:].tolist(), int(logits[-1].argmax())]
    assert trace.kinds == ("decoder_attention",)
    assert trace.windows == ((3, 3) if make is mistral else ())
    hidden = trace.masked("decoder_attention", 1)
    assert not trace.decoder_attention[:, :, hidden].any() and trace.decoder_attention[:, :, ~hidden].all()
    assert_travels(trace, tmp_path)


def test_a_given_target_is_not_generated():
    trace = from_transformers(marian(len(PIECES)), PIECES, "the cat", "a dog")
    assert trace.target_text == "a dog" and trace.decoder_input_tokens == ("<pad>", *trace.target_tokens[:-1])


def test_the_model_is_afterwards_as_it_was():
    model = gpt2(len(BYTES)).train()
    model.set_attn_implementation("sdpa")
    from_transformers(model, BYTES, TEXT)
    assert model.training and model.config._attn_implementation == "sdpa"


def test_a_model_that_keeps_its_attention_to_itself_is_refused(monkeypatch):
    model = bert(len(WORDS))
    monkeypatch.setattr(type(model), "forward", lambda *_, **__: BaseModelOutput(attentions=(None,)))
    with pytest.raises(TraceError, match="attentions should be returned by the model, received none"):
        from_transformers(model, WORDS, TEXT)


@pytest.mark.parametrize("make", [*ENCODER_DECODERS.values(), gpt2])
def test_ids_that_only_the_model_knows_are_called_by_their_number(make):
    size = len(BYTES)
    trace = from_transformers(make(size + 2_000), BYTES, "the cat", " a dog")
    unknown = [each for row in trace.alternatives for each in row if each.isdigit() and int(each) >= size]
    assert len(unknown) > len(trace.alternatives)  # most ids are such
    assert laboratory_of(make(size + 2_000), BYTES).trace("the cat", " a dog").alternatives is not None


def test_a_body_without_a_head_for_writing():
    whole = bart(len(PIECES))
    trace = from_transformers(whole.model, PIECES, "the cat", "a dog")
    expected = from_transformers(whole, PIECES, "the cat", "a dog")
    np.testing.assert_array_equal(trace.cross_attention, expected.cross_attention)
    assert trace.log_probabilities is None and expected.log_probabilities is not None
    with pytest.raises(ValueError, match="BartModel generates nothing: give a target"):
        from_transformers(whole.model, PIECES, "the cat")
    assert from_transformers(whole.get_encoder(), PIECES, "the cat").kinds == ("encoder_attention",)


def test_one_token_of_a_decoder_is_of_a_decoder():
    assert len(BYTES("a").input_ids) == 1
    assert from_transformers(gpt2(len(BYTES)), BYTES, "a").kinds == ("decoder_attention",)
    assert from_transformers(bert(len(BYTES)), BYTES, "a").kinds == ("encoder_attention",)


def whisper(size: int) -> hf.WhisperForConditionalGeneration:
    sides = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 16}
    sides |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    positions = {"max_source_positions": 50, "max_target_positions": 32, "num_mel_bins": 8}
    config = hf.WhisperConfig(vocab_size=size, **sides, **positions, **MARK_IDS)
    return hf.WhisperForConditionalGeneration(config)


def long_t5(size: int) -> hf.LongT5ForConditionalGeneration:
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_heads": 4, "local_radius": 3}
    return hf.LongT5ForConditionalGeneration(hf.LongT5Config(vocab_size=size, **sizes, **MARK_IDS))


REFUSED = [
    (bart, ("the cat",), {"num_beams": 3}, "without sampling or beams, received num_beams=3"),
    (bart, ("the cat", ""), {}, "target should have at least one token"),
    (gpt2, ("",), {}, "text should have at least one token"),
    (bert, ("the cat", " sat"), {}, "BertModel is an encoder, which has no target: give both texts as one"),
    (bert, ("the cat",), {"max_new_tokens": 3}, "an encoder generates nothing, received .'max_new_tokens'"),
    (whisper, ("the cat",), {}, "should read a text, but Whisper.* reads input_features"),
    (long_t5, (TEXT, "a dog"), {}, r"encoder_attention should have layers .* in layer 0.* in blocks"),
]


@pytest.mark.parametrize(("make", "texts", "options", "why"), REFUSED)
def test_what_cannot_be_traced_is_told(make, texts, options, why):
    with pytest.raises(ValueError, match=why):
        from_transformers(make(len(BYTES)), BYTES, *texts, **options)


def test_an_attention_sink_takes_what_falls_on_no_token(tmp_path):
    trace = from_transformers(gpt_oss(len(BYTES)), BYTES, TEXT)
    assert trace.sinks == ("decoder_attention",)
    assert trace.windows == (3, -1)  # every other layer looks at all that came before
    sink = trace.sink("decoder_attention")
    assert (sink > 0.01).all()
    np.testing.assert_allclose(sink + trace.decoder_attention.sum(-1), 1, atol=1e-5)
    assert_travels(trace, tmp_path)
    assert b'"sink": 1' in explore(trace).page


def test_a_decoder_alone_tells_its_prompt_from_what_it_wrote(tmp_path):
    model, given = gpt2(len(BYTES)), len(BYTES(TEXT).input_ids)
    trace = from_transformers(model, BYTES, TEXT, max_new_tokens=4, eos_token_id=END + 999)
    assert trace.prompt == given and len(trace.target_tokens) == given + 3
    likeliest = np.log(trace.alternative_probabilities[given - 1 :, 0])  # each, without sampling
    np.testing.assert_allclose(trace.log_probabilities[given - 1 :], likeliest, atol=1e-5)
    assert_travels(trace, tmp_path)
    assert from_transformers(model, BYTES, TEXT, " a dog").prompt == given
    assert from_transformers(model, BYTES, TEXT).prompt == 0
