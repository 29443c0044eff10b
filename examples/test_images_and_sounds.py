"""``from_transformers`` with what is no text, or looks elsewhere: images, sounds, attention sinks, windows, prompts.

Run by `pytest examples`; see requirements-examples.txt. All models are tiny and untrained.
"""

import numpy as np
import pytest
import torch
from transformers import (
    BatchFeature,
    CLIPVisionConfig,
    GptOssConfig,
    GptOssForCausalLM,
    LEDConfig,
    LEDForConditionalGeneration,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LongformerConfig,
    LongformerModel,
    LongT5Config,
    LongT5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
    Wav2Vec2Config,
    Wav2Vec2FeatureExtractor,
    Wav2Vec2Model,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
)

from examples.test_hugging_face import (
    END,
    MARK_IDS,
    TEXT,
    assert_equal,
    assert_travels,
    bert,
    gpt2,
    seeded,  # noqa: F401
    showing,
    trained,
)
from model import TraceError, from_transformers
from viz import explore

RATE = 16_000
SOUND = np.sin(np.arange(RATE // 2) / 9).astype(np.float32)  # half a second
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def pixels(images, return_tensors: str) -> BatchFeature:
    """What an image processor does, but for resizing."""
    return BatchFeature({"pixel_values": torch.tensor(np.moveaxis(images, -1, 0)[None], dtype=torch.float32)})


def test_an_image_is_read_patch_by_patch(tmp_path):
    model = ViTForImageClassification(ViTConfig(**SIZES, image_size=24, patch_size=8))
    image = np.random.default_rng(0).random((24, 24, 3))
    trace = from_transformers(model, pixels, image)
    with torch.no_grad():
        out = showing(model)(**pixels(image, "pt"), output_attentions=True)
    assert_equal(trace.encoder_attention, out.attentions)
    assert trace.source_grid == (3, 3) and trace.source_tokens[:3] == ("[CLS]", "1,1", "1,2")
    assert_travels(trace, tmp_path)
    assert b"data:image/png" in explore(trace, images=[image]).page


class Hearing:
    """A processor of sounds: what makes the spectrogram, and the tokenizer of what is written."""

    def __init__(self, extractor, tokenizer=None):
        self.feature_extractor, self.tokenizer = extractor, tokenizer

    def __call__(self, sound, **options):
        return self.feature_extractor(sound, **options)


def whisper(size: int) -> WhisperForConditionalGeneration:
    sides = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2}
    widths = {"d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "decoder_attention_heads": 2}
    positions = {"max_source_positions": 50, "max_target_positions": 32, "num_mel_bins": 8}
    return WhisperForConditionalGeneration(
        WhisperConfig(vocab_size=size, **sides, **widths, **positions, **MARK_IDS)
    )


@pytest.mark.parametrize("target", [None, "a dog"])
def test_a_sound_is_read_second_by_second(target, tmp_path):
    tokenizer = trained("bytes")
    processor = Hearing(WhisperFeatureExtractor(feature_size=8, chunk_length=1), tokenizer)
    model = whisper(len(tokenizer))
    generating = {} if target else {"max_new_tokens": 5}
    trace = from_transformers(model, processor, SOUND, target, **generating)
    features = processor(SOUND, sampling_rate=RATE, return_tensors="pt").input_features
    read = torch.tensor([tokenizer.convert_tokens_to_ids(list(trace.decoder_input_tokens))])
    with torch.no_grad():
        out = showing(model)(input_features=features, decoder_input_ids=read, output_attentions=True)
    assert_equal(trace.encoder_attention, out.encoder_attentions)
    assert_equal(trace.cross_attention, out.cross_attentions)
    assert trace.source_tokens[:2] == ("0.00s", "0.02s") and len(trace.source_tokens) == 50
    assert trace.source_padding == (False,) * 25 + (True,) * 25  # Whisper hears silence behind the end
    assert target is None or trace.target_text == target
    assert_travels(trace, tmp_path)
    few = from_transformers(model, processor, SOUND, target, most_frames=10, **generating)
    assert few.source_tokens[:2] == ("0.00s", "0.10s") and few.shape("cross_attention") == (2, 2)
    sums = trace.cross_attention.reshape(*trace.cross_attention.shape[:3], 10, 5).sum(-1)
    np.testing.assert_allclose(few.cross_attention, sums, atol=1e-6)
    few.check()


def hearing() -> Wav2Vec2Model:
    convolutions = {"conv_dim": (8, 8, 8), "conv_kernel": (10, 8, 8), "conv_stride": (8, 8, 5)}
    around = {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
    return Wav2Vec2Model(Wav2Vec2Config(**SIZES, **convolutions, **around))


def test_a_sound_without_a_target():
    trace = from_transformers(hearing(), Wav2Vec2FeatureExtractor(), SOUND)
    trace.check()
    assert trace.kinds == ("encoder_attention",) and len(trace.source_tokens) <= 100
    assert float(trace.source_tokens[-1][:-1]) < 0.5 and not any(trace.source_padding)


def test_an_attention_sink_takes_what_falls_on_no_token(tmp_path):
    tokenizer = trained("bytes")
    experts = {"num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 4, "head_dim": 8}
    model = GptOssForCausalLM(
        GptOssConfig(vocab_size=len(tokenizer), **SIZES, **experts, num_key_value_heads=1)
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


class Seeing:
    """What a processor of images and texts does: a token in the text for each patch of the image."""

    def __init__(self, tokenizer, patches: int):
        tokenizer.add_tokens(["<image>"], special_tokens=True)
        self.tokenizer, self.patches = tokenizer, patches

    def __call__(self, images, text: str, return_tensors: str) -> BatchFeature:
        words = self.tokenizer(text.replace("<image>", "<image>" * self.patches), return_tensors="pt")
        return BatchFeature({"input_ids": words.input_ids, **pixels(images, "pt")})


def llava(processor: Seeing) -> LlavaForConditionalGeneration:
    token = processor.tokenizer.convert_tokens_to_ids("<image>")
    reading = LlamaConfig(vocab_size=len(processor.tokenizer), **SIZES, max_position_embeddings=64)
    seeing = CLIPVisionConfig(**SIZES, image_size=24, patch_size=8)
    return LlavaForConditionalGeneration(
        LlavaConfig(vision_config=seeing, text_config=reading, image_token_index=token)
    )


def test_an_image_and_a_text_in_one_sequence(tmp_path):
    processor = Seeing(trained("bytes"), 9)
    model = llava(processor)
    image = np.random.default_rng(0).random((24, 24, 3))
    trace = from_transformers(model, processor, (image, f"the <image>{TEXT}"))
    first = trace.decoder_input_tokens.index("1,1")
    assert trace.read_grid == (first, 3, 3) and trace.decoder_input_tokens[first + 8] == "3,3"
    with torch.no_grad():
        out = showing(model)(**processor(image, f"the <image>{TEXT}", "pt"), output_attentions=True)
    assert_equal(trace.decoder_attention, out.attentions)
    assert_travels(trace, tmp_path)
    page = explore(trace, images=[image]).page
    assert b"data:image/png" in page and b'"kinds": ["decoder_attention"]' in page
    written = from_transformers(
        model, processor, (image, "<image>the cat"), max_new_tokens=3, eos_token_id=END + 999
    )
    assert written.prompt and written.read_grid and len(written.target_tokens) == written.prompt + 2


@pytest.mark.parametrize("seen", [0, 1])
def test_attention_within_windows_is_a_whole_map(seen, tmp_path):
    tokenizer = trained("words")
    model = LongformerModel(
        LongformerConfig(vocab_size=len(tokenizer), **SIZES, attention_window=4, max_position_embeddings=64)
    )
    if seen:  # the first token sees all others, and all see it
        plain = model.forward
        model.forward = lambda **given: plain(
            **given, global_attention_mask=torch.eye(given["input_ids"].shape[1], dtype=torch.long)[:1]
        )
    trace = from_transformers(model, tokenizer, TEXT * 2)
    trace.check()
    weights = trace.encoder_attention
    far = np.abs(np.subtract.outer(*[np.arange(weights.shape[-1])] * 2)) > 2
    far[:, :seen] = far[:seen] = False
    assert not weights[..., far].any() and (weights[..., ~far] > 0).all()
    assert trace.windows == (2, 2) and trace.global_tokens == seen
    np.testing.assert_array_equal(trace.masked("encoder_attention"), far)
    assert_travels(trace, tmp_path)


LONG = f"{TEXT * 2} a dog"  # no multiple of a window


def led(size: int) -> LEDForConditionalGeneration:
    """An encoder whose rows see two tokens to either side, and a decoder that sees everything (Beltagy, Peters & Cohan 2020, section 7)."""
    sizes = {
        "d_model": 16,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
    }
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 4, "attention_window": 4}
    lengths = {"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64}
    return LEDForConditionalGeneration(LEDConfig(vocab_size=size, **sizes, **heads, **lengths, **MARK_IDS))


@pytest.mark.parametrize("places", [(), (0,), (1, 4)])
def test_windows_in_an_encoder_decoder(places, tmp_path):
    tokenizer = trained("words")
    model, length = led(len(tokenizer)), len(tokenizer(LONG).input_ids)
    assert length % 4, "the model fills the text up to whole windows, which shows"
    mask = torch.tensor([[int(place in places) for place in range(length)]])
    trace = from_transformers(model, tokenizer, LONG, "a dog", global_attention_mask=mask)
    trace.check()
    assert [trace.shape(kind) for kind in trace.kinds] == [(2, 2), (3, 4), (3, 4)]
    far = np.abs(np.subtract.outer(np.arange(length), np.arange(length))) > 2
    far[:, places] = far[places, :] = False
    weights = trace.encoder_attention
    assert not weights[..., far].any() and (weights[..., ~far] > 0).all()
    np.testing.assert_array_equal(trace.masked("encoder_attention"), far)
    assert trace.masked("cross_attention") is None
    assert_travels(trace, tmp_path)
    written = from_transformers(model, tokenizer, LONG, global_attention_mask=mask, max_new_tokens=4)
    np.testing.assert_allclose(written.encoder_attention, weights, atol=1e-6)


def test_windows_that_are_whole_maps_mix_what_the_model_mixes():
    """The first layer's weights times its own values are what the layer adds."""
    tokenizer = trained("words")
    model, heard = led(len(tokenizer)).eval(), {}
    attention = model.led.encoder.layers[0].self_attn
    attention.longformer_self_attn.value.register_forward_hook(lambda _, __, out: heard.update(value=out))
    attention.output.register_forward_pre_hook(lambda _, given: heard.update(mixed=given[0]))
    trace = from_transformers(model, tokenizer, TEXT * 2, "a dog")
    length = len(trace.source_tokens)
    values = heard["value"].reshape(-1, 2, 8)[:length].detach().numpy()  # (S, H, D/H)
    mixed = np.einsum("hqk,khd->qhd", trace.encoder_attention[0], values).reshape(length, -1)
    np.testing.assert_allclose(mixed, heard["mixed"].reshape(-1, 16)[:length].detach().numpy(), atol=1e-5)


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


def test_what_a_model_does_not_read_is_told():
    tokenizer = trained("words")
    with pytest.raises(ValueError, match="BertModel reads a text, received ndarray"):
        from_transformers(bert(len(tokenizer)), tokenizer, SOUND)
    model = ViTForImageClassification(ViTConfig(**SIZES, image_size=24, patch_size=8))
    with pytest.raises(ValueError, match="reads an image, received str"):
        from_transformers(model, pixels, TEXT)


def test_each_part_gets_its_own_attention_back():
    processor = Seeing(trained("bytes"), 9)
    model = llava(processor)
    told = {"text_config": "sdpa", "vision_config": "eager"}
    model.set_attn_implementation(told)
    from_transformers(model, processor, (np.zeros((24, 24, 3)), "<image>the cat"))
    assert {name: getattr(model.config, name)._attn_implementation for name in told} == told


def test_a_batch_is_told():
    model = ViTForImageClassification(ViTConfig(**SIZES, image_size=24, patch_size=8))
    with pytest.raises(
        TraceError, match="should be of one text, one image .*, received a batch of 2. Give one"
    ):
        from_transformers(
            model,
            lambda images, **_: BatchFeature({"pixel_values": torch.zeros(2, 3, 24, 24)}),
            np.zeros((2, 24, 24, 3)),
        )
