"""``from_transformers`` against the attention that transformers returns, on tiny models.

Run by `pytest examples`; see requirements-examples.txt.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from examples.hugging_face_networks import (
    ENCODER_DECODERS,
    END,
    MARK_IDS,
    bart,
    bert,
    built,
    gpt2,
    gpt_oss,
    marian,
    trained,
)
from model import AttentionTrace, Intervention, from_transformers, laboratory_of
from model.analysis.attention_maps import word_axes
from viz import explore

TEXT = "the cat 손님이 왔는데"
TOKENIZERS = {kind: trained(kind) for kind in ("bytes", "pieces", "words")}
BYTES, PIECES, WORDS = TOKENIZERS.values()


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def assert_travels(trace: AttentionTrace, tmp_path: Path) -> None:
    trace.save(tmp_path / "trace.npz")
    found = AttentionTrace.load(tmp_path / "trace.npz")
    for kind in trace.kinds:
        np.testing.assert_array_equal(found.attention(kind), trace.attention(kind))
        for axis in word_axes(found, kind):
            assert all(axis.labels)
    assert b"data-component" in explore(found).page


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_an_encoder_decoder_writes_its_target(name, tmp_path):
    model = ENCODER_DECODERS[name](len(PIECES))
    trace = from_transformers(model, PIECES, TEXT, max_new_tokens=9)
    source = PIECES(TEXT, return_tensors="pt").input_ids
    with torch.no_grad():
        written = model.eval().generate(input_ids=source, max_new_tokens=9, do_sample=False)[0]
    read = PIECES.convert_tokens_to_ids(list(trace.decoder_input_tokens))
    assert written.tolist() == [*read, *PIECES.convert_tokens_to_ids(list(trace.target_tokens[-1:]))]
    assert trace.source_text == PIECES.decode(source[0], True)
    assert_travels(trace, tmp_path)


def test_an_encoder(tmp_path):
    model, given = bert(len(WORDS)).eval(), WORDS(TEXT, return_tensors="pt")
    trace = from_transformers(model, WORDS, TEXT)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = torch.cat(model(**given, output_attentions=True).attentions).numpy()  # (L, H, Q, K)
    np.testing.assert_allclose(trace.encoder_attention, expected, atol=1e-6, rtol=0)
    assert trace.kinds == ("encoder_attention",)
    labels = word_axes(trace, "encoder_attention")[0].labels
    assert labels == ("<s>", "the", "cat", "손님이", "왔는데", "</s>")
    assert_travels(trace, tmp_path)


def test_a_given_target_is_not_generated():
    trace = from_transformers(marian(len(PIECES)), PIECES, "the cat", "a dog")
    assert trace.target_text == "a dog" and trace.decoder_input_tokens == ("<pad>", *trace.target_tokens[:-1])


def test_the_model_is_afterwards_as_it_was():
    model, softmax = bart(len(PIECES)).train(), torch.nn.functional.softmax
    model.set_attn_implementation("sdpa")
    from_transformers(model, PIECES, "the cat", "a dog")
    off = Intervention(off={("cross_attention", 0, 0)})
    laboratory_of(model, PIECES).trace_under("the cat", "a dog", off)
    assert torch.nn.functional.softmax is softmax
    assert model.training and model.config._attn_implementation == "sdpa"


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


def test_one_token_alone_is_of_the_side_of_its_model():
    for make, kind in ((gpt2, "decoder_attention"), (bert, "encoder_attention")):
        assert from_transformers(make(len(BYTES)), BYTES, "a").kinds == (kind,)


WHISPER = {"d_model": 24, "max_source_positions": 50, "max_target_positions": 32, "num_mel_bins": 8}
whisper = partial(built, "WhisperForConditionalGeneration", **WHISPER, **MARK_IDS)
BLOCKS = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_heads": 4, "local_radius": 3}
long_t5 = partial(built, "LongT5ForConditionalGeneration", **BLOCKS, **MARK_IDS)
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
