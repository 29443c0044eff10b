"""``laboratory_of`` models of transformers against the numbers of PyTorch when the same is done by hand.

Run by `pytest examples`; see requirements-examples.txt.
"""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from transformers import GraniteConfig, GraniteForCausalLM

from examples.hugging_face_networks import (
    ENCODER_DECODERS,
    END,
    NARROW,
    bart,
    bert,
    gpt2,
    gpt_oss,
    llama,
    mistral,
    trained,
)
from model import Intervention, from_transformers, laboratory_of
from model.activations.token_network import insides_of, zero_values
from model.analysis import (
    Edit,
    contrast_of_row,
    contribution,
    contribution_rows,
    head_effects,
    replaced_for_change,
)
from model.analysis.attribution_methods import METHODS, added_vectors
from model.analysis.contributions import methods_of
from model.analysis.head_effects import mean_outputs
from model.stored.config import STREAM
from model.trace.interventions import Head, ZeroedValue

ROW = 2
PIECES, BYTES = trained("pieces"), trained("bytes")
DECODERS = {each.__name__: each for each in (gpt2, llama, mistral)}
CLOSE = {"atol": 1e-4, "rtol": 1e-4}
torch.set_num_threads(1)


class Opened(NamedTuple):
    """A model with its laboratory, and a source and a target to study."""

    model: Any
    lab: Any
    source: str
    target: str
    kind: str  # of the attention between both
    tokenizer: Any

    @property
    def texts(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def ids(self) -> tuple[list[int], list[int]]:
        return self.lab.tokenizer.encode_source(self.source), self.lab.tokenizer.encode_target(self.target)

    @property
    def first(self) -> int:
        """The column of the first token of the target that is read."""
        return 0 if self.kind == "cross_attention" else len(self.ids[0])

    def logits(self, intervention: Intervention = Intervention()) -> np.ndarray:  # noqa: B008  frozen
        source, target = self.ids
        return self.lab.laboratory.pass_over([source], [target], [intervention]).logits[0]

    def trace(self, **changed: Any) -> Any:
        return self.lab.trace_under(*self.texts, Intervention(**changed))

    def arguments(self) -> dict[str, Any]:
        source, target = self.ids
        if self.kind == "decoder_attention":
            return {"input_ids": torch.tensor([[*source, *target[:-1]]]), "use_cache": False}
        read = [self.model.config.decoder_start_token_id, *target[:-1]]
        given = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([read])}
        return given | {"use_cache": False}

    def plain_logits(self, model: Any = None, **given: Any) -> np.ndarray:
        """Without the laboratory."""
        with torch.no_grad():
            logits = (model or self.model)(**self.arguments(), **given).logits[0]
        return logits[-len(self.ids[1]) :].numpy()

    def attention(self, model: Any = None) -> Any:
        """The module of the second attention of the kind."""
        model = model or self.model
        if self.kind == "decoder_attention":
            layer = (model.model.layers if hasattr(model, "model") else model.transformer.h)[1]
            return getattr(layer, "self_attn", None) or layer.attn
        stack = model.get_decoder()
        return (
            stack.block[1].layer[1].EncDecAttention
            if hasattr(stack, "block")
            else stack.layers[1].encoder_attn
        )


def grown(model: Any, factor: float) -> Any:
    """A model in float64 whose rows differ: as weights are made, each looks at all tokens alike.

    In float32 the sums of T5, which scales nothing, differ by the order of its threads.
    """
    for weights in model.parameters():
        if weights.dim() > 1 or factor < 8:
            weights.data *= factor
    return model.eval().double()


def opened(name: str) -> Opened:
    torch.manual_seed(0)
    if name in DECODERS:
        model = grown(DECODERS[name](len(BYTES)), 8)
        texts = "the cat 손님이", " a dog 방이"
        return Opened(model, laboratory_of(model, BYTES), *texts, "decoder_attention", BYTES)
    model = grown(ENCODER_DECODERS[name](len(PIECES)), 2 if name == "t5" else 6)
    texts = "the cat 손님이", "a dog 손님이"
    return Opened(model, laboratory_of(model, PIECES), *texts, "cross_attention", PIECES)


@pytest.fixture(scope="module", params=[*ENCODER_DECODERS, *DECODERS])
def case(request):
    return opened(request.param)


def test_without_a_change_it_is_the_pass_that_from_transformers_shows(case):
    one = case.lab.trace(*case.texts)
    other = from_transformers(case.model, case.tokenizer, *case.texts)
    for kind in other.kinds:
        np.testing.assert_allclose(one.attention(kind), other.attention(kind), atol=1e-6, rtol=1e-4)
    np.testing.assert_allclose(one.log_probabilities[:-1], other.log_probabilities[:-1], **CLOSE)
    np.testing.assert_allclose(case.logits(), case.plain_logits(), **CLOSE)
    assert one.windows == other.windows and one.decoder_input_tokens == other.decoder_input_tokens
    assert one.prompt == case.first and one.target_tokens[-1] == "</s>"


def test_a_head_that_is_off_is_a_part_of_the_output_projection_that_is_zero(case):
    head, model = Head(case.kind, 1, 1), deepcopy(case.model)
    attention = case.attention(model)
    names = ("out_proj", "o_proj", "o", "c_proj")
    projection = next(getattr(attention, name) for name in names if hasattr(attention, name))
    # GPT-2 holds its kernels the other way round.
    weight = projection.weight.data if hasattr(projection, "nf") else projection.weight.data.T
    width = len(weight) // case.lab.laboratory.sizes[head.kind].heads
    weight[head.head * width : (head.head + 1) * width] = 0
    found = case.logits(Intervention(off={head}))
    np.testing.assert_allclose(found, case.plain_logits(model), **CLOSE)
    assert np.abs(found - case.logits()).max() > 1e-3


def test_a_head_that_is_off_may_put_out_its_mean(case):
    """All rows of the last layer's head then get the mean; the sum over rows stays."""
    head = Head(case.kind, 1, 0)
    if STREAM not in case.lab.config.abilities:
        with pytest.raises(ValueError, match="by zero, not by its mean"):
            case.logits(Intervention(off={head}, means={case.kind: np.ones((2, 4, 4), np.float32)}))
        return
    means = mean_outputs(case.lab, *case.texts)
    found = case.logits(Intervention(off={head}, means=means))
    assert np.abs(found - case.logits(Intervention(off={head}))).max() > 1e-3
    zeros = {kind: np.zeros_like(each) for kind, each in means.items()}
    np.testing.assert_allclose(
        case.logits(Intervention(off={head}, means=zeros)), case.logits(Intervention(off={head})), **CLOSE
    )


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_token_left_out_is_padding(case, side):
    if side == "target" and not case.first:
        return  # no mask of an encoder-decoder hides a token from its decoder alone
    place = 1 if side == "source" else case.first + 1
    mask = torch.ones(case.arguments()["input_ids"].shape, dtype=torch.long)
    mask[0, place] = 0
    given = {"attention_mask": mask}
    if case.first:  # a model that counts positions off the mask would move them
        given["position_ids"] = torch.arange(mask.shape[1])[None]
    asked = np.arange(len(case.ids[1])) + case.first - 1 != place  # its own row reads it no more than others
    gone = {"without_source": {1}} if side == "source" else {"without_target": {2}}
    found, expected = case.logits(Intervention(**gone)), case.plain_logits(**given)
    rows = asked if case.first else slice(None)
    np.testing.assert_allclose(found[rows], expected[rows], **CLOSE)
    assert not case.trace(**gone).attention(case.kind)[..., place].any()


def test_replaced_weights_are_used_and_a_zeroed_value_keeps_them(case):
    plain = case.lab.trace(*case.texts)
    maps = plain.attention(case.kind)
    rows = np.full(maps.shape[2:], np.nan, np.float32)
    rows[ROW] = np.eye(maps.shape[-1])[1]
    head = Head(case.kind, 0, 0)
    used = case.trace(weights={head: rows}).attention(case.kind)[0, 0]
    np.testing.assert_allclose(used[ROW], rows[ROW], atol=1e-6)
    np.testing.assert_allclose(np.delete(used, ROW, 0), np.delete(maps[0, 0], ROW, 0), **CLOSE)
    place = int(maps[1].sum((0, 1)).argmax())  # where no head looks, a value changes nothing
    found = case.trace(zeroed={ZeroedValue(case.kind, 1, place)})
    np.testing.assert_allclose(found.attention(case.kind)[:2], maps[:2], **CLOSE)  # later layers read others
    assert np.abs(found.log_probabilities - plain.log_probabilities).max() > 1e-4


def test_several_changes_in_one_batch_are_what_each_is_alone(case):
    changes = [
        Intervention(off={("decoder_attention", 0, 1)}),
        Intervention(without_source={1}),
        Intervention(without_target={1}),
        Intervention(),
    ]
    source, target = case.ids
    together = case.lab.laboratory.pass_over([source] * 4, [target] * 4, changes).logits
    for one, change in zip(together, changes, strict=True):
        np.testing.assert_allclose(one, case.logits(change), **CLOSE)


def test_gradients_are_those_of_pytorch(case):
    """Gradient × input of a logit difference, by the tokens of both sides (Shrikumar et al. 2016)."""
    contrast, embedded = contrast_of_row(case.lab, *case.texts, ROW), []

    def keep(module, given, output):
        output.retain_grad()
        embedded.append(output)

    sides = [case.model] if case.first else [case.model.get_encoder(), case.model.get_decoder()]
    tables = {id(table): table for table in (each.get_input_embeddings() for each in sides)}
    hooks = [table.register_forward_hook(keep) for table in tables.values()]
    row = case.model(**case.arguments()).logits[0, ROW - len(case.ids[1])]
    (row[contrast.written] - row[contrast.instead]).backward()
    for hook in hooks:
        hook.remove()
    by_hand = [(each.grad * each).sum(-1)[0].detach().numpy() for each in embedded]
    if case.first:  # it has no start mark
        by_hand = [by_hand[0][: case.first], np.append(0, by_hand[0][case.first :])]
    found = contribution(case.lab, Edit(*case.texts, contrast), "gradient")
    np.testing.assert_allclose(found.source, by_hand[0], **CLOSE)
    np.testing.assert_allclose(found.before, by_hand[1][: ROW + 1], **CLOSE)
    assert np.abs(by_hand[0]).max() > 1e-3
    source, before = contribution_rows(case.lab, *case.texts, "gradient")
    np.testing.assert_allclose(source[ROW], found.source, **CLOSE)
    np.testing.assert_allclose(before[ROW, : ROW + 1], found.before, **CLOSE)
    assert not np.triu(before, 1).any()


def test_what_the_keys_add_is_the_output_of_the_attention(case):
    """Kobayashi et al. 2020, equation 3: the sum over all keys, and the bias.

    Llama's heads share values in pairs.
    """
    if STREAM not in case.lab.config.abilities:
        return
    insides, seen = insides_of(case.lab.patched, *case.ids), []
    hook = case.attention().register_forward_hook(lambda *called: seen.append(called[-1][0][0].numpy()))
    case.plain_logits()
    hook.remove()
    added = added_vectors(insides, case.kind, 1).sum(1) + insides.output_biases[case.kind][1]
    np.testing.assert_allclose(added, seen[0], atol=1e-4, rtol=1e-3)
    assert (insides.norm_scales is None) == (case.model.config.model_type not in ("marian", "bart"))


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_zeroed_value_changes_what_its_layer_puts_out(name):
    """Against a hook that zeroes the projected value of one token."""
    case, place, outputs = opened(name), 1, []
    attention = case.attention()
    fused = hasattr(attention, "c_attn")  # GPT-2: query, key, value

    def zero(module, given, output):
        output[:, place, -output.shape[-1] // (3 if fused else 1) :] = 0
        return output

    layers = case.model.transformer.h if fused else case.model.model.layers
    layers[1].register_forward_hook(lambda *called: outputs.append(called[-1][0].reshape(-1, 16)))
    case.plain_logits()
    (attention.c_attn if fused else attention.v_proj).register_forward_hook(zero)
    case.plain_logits()
    expected = 1 - torch.nn.functional.cosine_similarity(*outputs, dim=-1)
    found = zero_values(opened(name).lab.patched, *case.ids).decoder[1, :, place]
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)
    assert found.max() > 1e-3


def test_all_questions_are_answered(case):
    refused = () if STREAM in case.lab.config.abilities else ("norms", "alti", "value_zeroing")
    assert methods_of(case.lab) == tuple(name for name in METHODS if name not in refused)
    contrast = contrast_of_row(case.lab, *case.texts, ROW)
    for method in {"attention", "rollout", "norms", "alti", "value_zeroing"} - {*refused}:
        found = contribution(case.lab, Edit(*case.texts, contrast), method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4)
    left_out = contribution(case.lab, Edit(*case.texts, contrast), "occlusion")
    asked = [Intervention(), Intervention(without_source={1})]
    gone = case.lab.logit_differences(*case.texts, contrast, asked).differences
    assert left_out.source[1] == pytest.approx(gone[0] - gone[1], abs=1e-4)
    if case.first:
        assert left_out.before[0] == 0
        return
    (change, *_) = case.lab.changes(*case.texts)
    effects = head_effects(case.lab, Edit(*case.texts, change))
    sizes = case.lab.laboratory.sizes.values()
    assert len(effects.heads) == sum(size.layers * size.heads for size in sizes)
    _, replaced = replaced_for_change(case.lab, Edit(*case.texts, change), Head("cross_attention", 1, 0))
    assert [each.how for each in replaced] == ["observed", "uniform", "copy", "permuted"]


@pytest.mark.parametrize("name", ["marian", *DECODERS])
def test_what_it_writes_is_what_the_model_generates(name):
    case = opened(name)
    case.model.generation_config.max_new_tokens = 12
    if not case.first:
        with torch.no_grad():
            case.model.final_logits_bias[0, END] += 5  # random weights would go on for ever
    ids = torch.tensor([case.ids[0]])
    with torch.no_grad():
        given = {"attention_mask": torch.ones_like(ids), "do_sample": False}
        whole = case.model.generate(ids, **given)[0, case.first :]
    written = case.tokenizer.decode(whole, skip_special_tokens=True)
    assert case.lab.written_under(case.source, [Intervention()]) == [written]
    assert case.first or case.lab.correct(case.source).text == written.strip()


@pytest.mark.parametrize("told", [{"max_new_tokens": 40}, {"max_length": 41}])
def test_a_text_without_an_end_is_cut_where_the_model_says_and_told(told):
    case = opened("bart")
    for name, value in (told | {"forced_eos_token_id": None}).items():
        setattr(case.model.generation_config, name, value)
    with torch.no_grad():
        case.model.final_logits_bias[0, END] = -1e9
    with pytest.warns(UserWarning, match="wrote no end mark in 40 tokens, so its text is cut there"):
        text = case.lab.correct("the cat").text
    assert text.strip() == from_transformers(case.model, PIECES, "the cat").target_text.strip() != "the cat"
    assert case.lab.written_under("the cat", [Intervention()]) == [None]


@pytest.mark.parametrize("name", ["bart", "gpt2"])
def test_weights_that_are_no_numbers_are_refused(name):
    case = opened(name)
    contrast = contrast_of_row(case.lab, *case.texts, ROW)
    norms = (each for name, each in case.model.named_parameters() if "norm" in name or "ln" in name)
    next(norms).data[0] = torch.nan
    for ask in (
        lambda: case.lab.correct(case.source),
        lambda: contribution(case.lab, Edit(*case.texts, contrast), "gradient"),
        lambda: case.lab.logit_differences(*case.texts, contrast, [Intervention()]),
    ):
        with pytest.raises(ValueError, match="the network computes NaN"):
            ask()


def test_everything_is_afterwards_as_it_was():
    model, softmax = bart(len(PIECES)).train(), torch.nn.functional.softmax
    model.set_attn_implementation("sdpa")
    lab = laboratory_of(model, PIECES)
    lab.trace_under("the cat", "a dog", Intervention(off={("cross_attention", 0, 0)}))
    assert torch.nn.functional.softmax is softmax
    assert model.training and model.config._attn_implementation == "sdpa"


def test_layers_that_scale_what_they_add_have_no_such_methods():
    """Granite scales the sum over the keys before the stream gets it."""
    for scale in (1.0, 0.5):
        config = GraniteConfig(vocab_size=len(BYTES), **NARROW, residual_multiplier=scale)
        abilities = laboratory_of(grown(GraniteForCausalLM(config), 8), BYTES).config.abilities
        assert (STREAM in abilities) == (scale == 1)


def test_the_weight_of_a_token_left_out_goes_to_the_others_and_to_the_sink():
    torch.manual_seed(0)
    model, texts = gpt_oss(len(BYTES)).eval(), ("the cat 손님이", " a dog 방이")
    lab = laboratory_of(model, BYTES)
    one, other = lab.trace(*texts), from_transformers(model, BYTES, *texts)
    assert one.sinks == other.sinks == ("decoder_attention",)
    np.testing.assert_allclose(one.decoder_attention, other.decoder_attention, atol=1e-6)
    one.check()
    plain = one.decoder_attention[0]  # the first layer reads the same in both passes
    found = lab.trace_under(*texts, Intervention(without_source={1})).decoder_attention[0]
    others = [0, *range(2, plain.shape[-1])]
    np.testing.assert_allclose(found[:, 2:, 1], 0, atol=1e-7)
    np.testing.assert_allclose(
        found[:, 2:, others], plain[:, 2:, others] / (1 - plain[:, 2:, 1:2]), atol=1e-6
    )


def test_what_it_does_not_take_is_told(case):
    for gone, why in (
        ({"off": {(case.kind, 3, 0)}}, r"a head should be one of .*_attention.*received"),
        ({"without_source": {99}}, "what is left out should lie in"),
    ):
        with pytest.raises(ValueError, match=why):
            case.logits(Intervention(**gone))
    if case.first:
        with pytest.raises(ValueError, match="prompt should have at least one token"):
            case.lab.written_under("", [Intervention()])


def test_a_model_that_cannot_write_is_refused():
    without_end = trained("pieces")
    without_end.eos_token = None
    for make, tokenizer, why in (
        (gpt2, without_end, r"should have an end mark: tokenizer.eos_token = …"),
        (gpt2, None, "the tokenizer should be the model's own one, received NoneType"),
        (bert, PIECES, "should write, as encoder-decoders and decoders alone do, received Bert"),
    ):
        with pytest.raises(ValueError, match=why):
            laboratory_of(make(len(PIECES)), tokenizer)
    with pytest.raises(ValueError, match="tokenizer should be the model's own one, received NoneType"):
        from_transformers(gpt2(len(BYTES)), None, "the cat")
