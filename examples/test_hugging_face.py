"""The adapters against what transformers itself returns, with tiny untrained models and tokenizers trained
here.

Run by `pytest examples`; see requirements-examples.txt.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    GptOssConfig,
    GptOssForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    LongT5Config,
    LongT5ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    WhisperConfig,
    WhisperForConditionalGeneration,
)
from transformers.modeling_outputs import BaseModelOutput

from model import AttentionTrace, TraceError, from_transformers, laboratory_of
from model.analysis.attention_maps import word_axes
from viz import explore

CORPUS = [
    "the cat sat on the mat",
    "손님이 왔는데 방이 없으면 어떡해요?",
    "a dog and a cat",
    "방이 없어요",
] * 20
TEXT = "the cat 손님이 왔는데"
PAD, START, END, UNKNOWN = range(4)
MARKS = ["<pad>", "<s>", "</s>", "<unk>"]


def in_one_order(tokenizer: Tokenizer) -> models.Unigram:
    """Pieces of equal score have other ids after each training, so that seeded weights would make another
    model of each run.
    """
    pieces = json.loads(tokenizer.to_str())["model"]["vocab"]
    found = sorted(
        ((piece, round(score, 6)) for piece, score in pieces[len(MARKS) :]),
        key=lambda piece: (-piece[1], piece[0]),
    )
    return models.Unigram([*map(tuple, pieces[: len(MARKS)]), *found], UNKNOWN)


def trained(kind: str) -> PreTrainedTokenizerFast:
    """A tokenizer of one sort, of about 200 tokens."""
    if kind == "bytes":  # as GPT-2 and BART
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=MARKS, initial_alphabet=alphabet)
    elif kind == "pieces":  # as MarianMT and T5
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=80, special_tokens=MARKS, unk_token="<unk>")
    else:  # as BERT
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=MARKS)
    tokenizer.train_from_iterator(CORPUS, trainer)
    if kind == "pieces":
        tokenizer.model = in_one_order(tokenizer)
    if kind != "bytes":
        ends = [("<s>", START), ("</s>", END)]
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


MARK_IDS = {
    "pad_token_id": PAD,
    "bos_token_id": START,
    "eos_token_id": END,
    "decoder_start_token_id": PAD,
    "forced_eos_token_id": END,
}
SIZES = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 3}
WIDTHS = {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "dropout": 0.5, "attention_dropout": 0.5}
HEADS = {"encoder_attention_heads": 4, "decoder_attention_heads": 2}
ENCODER_DECODERS = {
    "marian": lambda size: MarianMTModel(
        MarianConfig(vocab_size=size, **SIZES, **WIDTHS, **HEADS, **MARK_IDS)
    ),
    "bart": lambda size: BartForConditionalGeneration(
        BartConfig(vocab_size=size, **SIZES, **WIDTHS, **HEADS, **MARK_IDS)
    ),
    "t5": lambda size: T5ForConditionalGeneration(
        T5Config(
            vocab_size=size,
            d_model=16,
            d_kv=4,
            d_ff=32,
            num_layers=2,
            num_decoder_layers=3,
            num_heads=4,
            use_cache=False,  # transformers 5.23 gives the decoder's cache as many layers as the encoder has
            **MARK_IDS,
        )
    ),
}


def bert(size: int) -> BertModel:
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 32}
    return BertModel(BertConfig(vocab_size=size, **sizes))


def gpt2(size: int) -> GPT2LMHeadModel:
    return GPT2LMHeadModel(GPT2Config(vocab_size=size, n_embd=16, n_layer=3, n_head=4, n_positions=64))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def showing(model):
    """Ready to return its attention itself, to compare with."""
    model.eval().set_attn_implementation("eager")
    return model


def assert_equal(weights: np.ndarray, attentions: tuple[torch.Tensor, ...]) -> None:
    """(L, H, Q, K) against the L tensors (1, H, Q, K) of ``output_attentions``."""
    assert len(weights) == len(attentions)
    for one, other in zip(weights, attentions, strict=True):
        np.testing.assert_allclose(one, other[0].numpy(), atol=1e-6, rtol=0)


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
    tokenizer = trained(kind)
    model = ENCODER_DECODERS[name](len(tokenizer))
    trace = from_transformers(model, tokenizer, TEXT, max_new_tokens=9)
    source = tokenizer(TEXT, return_tensors="pt").input_ids
    read = torch.tensor([tokenizer.convert_tokens_to_ids(list(trace.decoder_input_tokens))])
    with torch.no_grad():
        out = showing(model)(input_ids=source, decoder_input_ids=read, output_attentions=True)
    assert_equal(trace.encoder_attention, out.encoder_attentions)
    assert_equal(trace.decoder_attention, out.decoder_attentions)
    assert_equal(trace.cross_attention, out.cross_attentions)
    heads = (4, 4) if name == "t5" else (4, 2)
    assert [trace.shape(each) for each in trace.kinds] == [(2, heads[0]), (3, heads[1]), (3, heads[1])]
    produced = tokenizer.convert_tokens_to_ids(list(trace.target_tokens))
    assert produced[:-1] == read[0, 1:].tolist()
    logs = out.logits[0].log_softmax(-1)[range(len(produced)), produced]
    np.testing.assert_allclose(trace.log_probabilities, logs.numpy(), atol=1e-5)
    assert trace.source_text == TEXT
    assert_travels(trace, tmp_path)


def test_an_encoder(tmp_path):
    tokenizer = trained("words")
    model = bert(len(tokenizer))
    trace = from_transformers(model, tokenizer, TEXT)
    with torch.no_grad():
        out = showing(model)(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True)
    assert_equal(trace.encoder_attention, out.attentions)
    assert trace.kinds == ("encoder_attention",)
    assert word_axes(trace, "encoder_attention")[0].labels == (
        "<s>",
        "the",
        "cat",
        "손님이",
        "왔는데",
        "</s>",
    )
    assert_travels(trace, tmp_path)


def test_a_decoder(tmp_path):
    tokenizer = trained("bytes")
    model = gpt2(len(tokenizer))
    trace = from_transformers(model, tokenizer, TEXT)
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.no_grad():
        out = showing(model)(input_ids=ids, output_attentions=True)
    assert_equal(trace.decoder_attention, out.attentions)
    assert trace.kinds == ("decoder_attention",)
    produced = tokenizer.convert_tokens_to_ids(list(trace.target_tokens))
    assert produced == [*ids[0, 1:].tolist(), int(out.logits[0, -1].argmax())]
    assert_travels(trace, tmp_path)


def llama(size: int) -> LlamaForCausalLM:
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=size, **sizes, **heads, max_position_embeddings=64))


def mistral(size: int) -> MistralForCausalLM:
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    return MistralForCausalLM(MistralConfig(vocab_size=size, **sizes, **heads, sliding_window=4))


@pytest.mark.parametrize("make", [llama, mistral])
def test_grouped_queries_and_a_sliding_window(make, tmp_path):
    tokenizer = trained("bytes")
    trace = from_transformers(make(len(tokenizer)), tokenizer, TEXT)
    assert trace.kinds == ("decoder_attention",) and trace.shape("decoder_attention") == (2, 4)
    seen = (trace.decoder_attention > 0).sum(-1).max()
    assert seen == (4 if make is mistral else len(trace.target_tokens))
    assert trace.windows == ((3, 3) if make is mistral else ())
    hidden = trace.masked("decoder_attention", 1)
    assert not trace.decoder_attention[:, :, hidden].any() and trace.decoder_attention[:, :, ~hidden].all()
    assert_travels(trace, tmp_path)


def test_a_given_target_is_not_generated():
    tokenizer = trained("pieces")
    trace = from_transformers(ENCODER_DECODERS["marian"](len(tokenizer)), tokenizer, "the cat", "a dog")
    assert trace.target_text == "a dog" and trace.decoder_input_tokens == ("<pad>", *trace.target_tokens[:-1])
    with pytest.raises(ValueError, match="an encoder generates nothing, received .'max_new_tokens'"):
        from_transformers(bert(len(tokenizer)), tokenizer, "the cat", max_new_tokens=3)


def test_the_model_is_afterwards_as_it_was():
    tokenizer = trained("bytes")
    model = gpt2(len(tokenizer)).train()
    model.set_attn_implementation("sdpa")
    from_transformers(model, tokenizer, TEXT)
    assert model.training and model.config._attn_implementation == "sdpa"


def test_a_model_that_keeps_its_attention_to_itself_is_refused(monkeypatch):
    tokenizer = trained("words")
    model = bert(len(tokenizer))
    monkeypatch.setattr(type(model), "forward", lambda *_, **__: BaseModelOutput(attentions=(None,)))
    with pytest.raises(TraceError, match="attentions should be returned by the model, received none"):
        from_transformers(model, tokenizer, TEXT)


@pytest.mark.parametrize("make", [*ENCODER_DECODERS.values(), gpt2])
def test_ids_that_only_the_model_knows_are_called_by_their_number(make):
    tokenizer = trained("bytes")
    size = len(tokenizer)
    trace = from_transformers(make(size + 2_000), tokenizer, "the cat", " a dog")
    unknown = [each for row in trace.alternatives for each in row if each.isdigit() and int(each) >= size]
    assert len(unknown) > len(trace.alternatives)  # most ids are such
    assert laboratory_of(make(size + 2_000), tokenizer).trace("the cat", " a dog").alternatives is not None


def test_a_body_without_a_head_for_writing():
    tokenizer = trained("pieces")
    whole = ENCODER_DECODERS["bart"](len(tokenizer))
    trace = from_transformers(whole.model, tokenizer, "the cat", "a dog")
    expected = from_transformers(whole, tokenizer, "the cat", "a dog")
    np.testing.assert_array_equal(trace.cross_attention, expected.cross_attention)
    assert trace.log_probabilities is None and expected.log_probabilities is not None
    with pytest.raises(ValueError, match="BartModel generates nothing: give a target"):
        from_transformers(whole.model, tokenizer, "the cat")
    assert from_transformers(whole.get_encoder(), tokenizer, "the cat").kinds == ("encoder_attention",)


def test_one_token_of_a_decoder_is_of_a_decoder():
    tokenizer = trained("bytes")
    assert len(tokenizer("a").input_ids) == 1
    assert from_transformers(gpt2(len(tokenizer)), tokenizer, "a").kinds == ("decoder_attention",)
    assert from_transformers(bert(len(tokenizer)), tokenizer, "a").kinds == ("encoder_attention",)


def test_what_cannot_be_traced_so_is_told():
    tokenizer = trained("bytes")
    bart = ENCODER_DECODERS["bart"](len(tokenizer))
    with pytest.raises(ValueError, match="without sampling or beams, received num_beams=3"):
        from_transformers(bart, tokenizer, "the cat", num_beams=3)
    with pytest.raises(ValueError, match="target should have at least one token"):
        from_transformers(bart, tokenizer, "the cat", "")
    with pytest.raises(ValueError, match="text should have at least one token"):
        from_transformers(gpt2(len(tokenizer)), tokenizer, "")
    with pytest.raises(
        ValueError, match="BertModel is an encoder, which has no target: give both texts as one"
    ):
        from_transformers(bert(len(tokenizer)), tokenizer, "the cat", " sat")


NARROW = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def test_an_attention_sink_takes_what_falls_on_no_token(tmp_path):
    tokenizer = trained("bytes")
    experts = {"num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 4, "head_dim": 8}
    model = GptOssForCausalLM(
        GptOssConfig(vocab_size=len(tokenizer), **NARROW, **experts, num_key_value_heads=1)
    )
    trace = from_transformers(model, tokenizer, TEXT)
    assert trace.sinks == ("decoder_attention",)
    assert trace.windows == (3, -1)  # every other layer looks at all that came before
    assert (trace.sink("decoder_attention") > 0.01).all()
    np.testing.assert_allclose(
        trace.sink("decoder_attention") + trace.decoder_attention.sum(-1), 1, atol=1e-5
    )
    assert_travels(trace, tmp_path)
    assert b'"sink": 1' in explore(trace).page


def test_attention_in_blocks_is_refused_with_its_layer():
    tokenizer = trained("pieces")
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_heads": 4, "local_radius": 3}
    model = LongT5ForConditionalGeneration(LongT5Config(vocab_size=len(tokenizer), **sizes, **MARK_IDS))
    with pytest.raises(TraceError, match=r"encoder_attention should have layers .* in layer 0.* in blocks"):
        from_transformers(model, tokenizer, TEXT, "a dog")


def test_a_decoder_alone_tells_its_prompt_from_what_it_wrote(tmp_path):
    tokenizer = trained("bytes")
    model = gpt2(len(tokenizer))
    given = len(tokenizer(TEXT).input_ids)
    trace = from_transformers(model, tokenizer, TEXT, max_new_tokens=4, eos_token_id=END + 999)
    assert trace.prompt == given and len(trace.target_tokens) == given + 3
    np.testing.assert_allclose(  # without sampling each token is the likeliest
        trace.log_probabilities[given - 1 :],
        np.log(trace.alternative_probabilities[given - 1 :, 0]),
        atol=1e-5,
    )
    assert_travels(trace, tmp_path)
    assert from_transformers(model, tokenizer, TEXT, " a dog").prompt == given
    assert from_transformers(model, tokenizer, TEXT).prompt == 0


def whisper(size: int) -> WhisperForConditionalGeneration:
    sides = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2}
    widths = {"d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "decoder_attention_heads": 2}
    positions = {"max_source_positions": 50, "max_target_positions": 32, "num_mel_bins": 8}
    return WhisperForConditionalGeneration(
        WhisperConfig(vocab_size=size, **sides, **widths, **positions, **MARK_IDS)
    )


@pytest.mark.parametrize("open_model", [laboratory_of, lambda *given: from_transformers(*given, "the cat")])
def test_a_model_of_sounds_or_without_its_tokenizer_is_refused(open_model):
    tokenizer = trained("bytes")
    with pytest.raises(ValueError, match="should read a text, but Whisper.* reads input_features"):
        open_model(whisper(len(tokenizer)), tokenizer)
    with pytest.raises(ValueError, match="tokenizer should be the model's own one, received NoneType"):
        open_model(gpt2(len(tokenizer)), None)


# Each family either works or names the missing part in one sentence: (trace, laboratory).
FAMILIES = {
    "Falcon": ("equal the own pass of FalconForCausalLM", "does not call eager_attention_forward"),
    "Bloom": (None, "does not call eager_attention_forward"),
    "Mamba": ("be returned by the model, received none", "does not call eager_attention_forward"),
    "Qwen2": (None, None),
    "GPTNeoX": (None, None),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_works_or_says_the_missing_part(family):
    tokenizer = trained("bytes")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    config = getattr(transformers, f"{family}Config")(
        vocab_size=len(tokenizer), num_key_value_heads=2, **sizes
    )
    model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    for open_model, reason in zip(
        (lambda: from_transformers(model, tokenizer, TEXT), lambda: laboratory_of(model, tokenizer)),
        FAMILIES[family],
        strict=True,
    ):
        if reason is None:
            assert open_model() is not None
        else:
            with pytest.raises(ValueError, match=reason):
                open_model()
