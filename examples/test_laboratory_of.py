"""``laboratory_of`` models of transformers: interventions and residual stream.

Their numbers are compared with those of PyTorch when the same is done by hand.

Run by `pytest examples`; see requirements-examples.txt.
"""

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from examples import hugging_face_networks as small
from examples.hugging_face_networks import ENCODER_DECODERS, END, trained
from model import Intervention, analysis, from_transformers, laboratory_of
from model.activations.token_network import insides_of
from model.analysis import Edit, contribution
from model.analysis.attribution_methods import METHODS, added_vectors
from model.analysis.contributions import methods_of
from model.analysis.head_effects import mean_outputs
from model.stored.config import STREAM
from model.trace.interventions import Head, ZeroedValue
from tests.silent_heads import silent_and_off

ROW = 2
PIECES, BYTES = trained("pieces"), trained("bytes")
DECODERS = {name: getattr(small, name) for name in ("gpt2", "llama", "mistral")}
CLOSE = {"atol": 1e-4, "rtol": 1e-4}
WALKED = {"atol": 2e-3, "rtol": 1e-4}  # the models are float64, the walk is float32
torch.set_num_threads(1)


@dataclass(frozen=True)
class Opened:
    """A model with its laboratory, and a source and a target to study."""

    model: Any
    lab: Any
    texts: tuple[str, str]
    tokenizer: Any

    @property
    def kind(self) -> str:
        """The attention between source and target."""
        return "decoder_attention" if self.lab.laboratory.is_decoder else "cross_attention"

    @property
    def has_stream(self) -> bool:
        return STREAM in self.lab.config.abilities

    @property
    def ids(self) -> tuple[list[int], list[int]]:
        tokenizer, (source, target) = self.lab.tokenizer, self.texts
        return tokenizer.encode_source(source), tokenizer.encode_target(target)

    @property
    def first(self) -> int:
        """The column of the first token of the target that is read."""
        return len(self.ids[0]) if self.lab.laboratory.is_decoder else 0

    def logits(self, **changed: Any) -> np.ndarray:
        """(T, V) under an intervention, in a batch with a pass without one."""
        source, target = self.ids
        both = [Intervention(), Intervention(**changed)]
        return self.lab.laboratory.pass_over([source] * 2, [target] * 2, both).logits[1]

    def trace(self, **changed: Any) -> Any:
        return self.lab.trace_under(*self.texts, Intervention(**changed))

    def arguments(self) -> dict[str, Any]:
        """Those of the model itself."""
        source, target = self.ids
        before = source if self.first else [self.model.config.decoder_start_token_id]
        return small.arguments(self.model, source, [*before, *target[:-1]])

    def own_logits(self, model: Any = None, **given: Any) -> np.ndarray:
        """(T, V) without the laboratory."""
        with torch.no_grad():
            logits = (model or self.model)(**self.arguments(), **given).logits[0]
        return logits[-len(self.ids[1]) :].numpy()

    def attention(self, model: Any = None) -> Any:
        """The module of the second attention of the kind."""
        names = (".self_attn", ".attn") if self.first else ("encoder_attn", "EncDecAttention")
        modules = (model or self.model).named_modules()
        return [module for name, module in modules if name.endswith(names)][1]


def grown(model: Any, factor: float) -> Any:
    """A model in float64 whose rows differ: as weights are made, each looks at all tokens alike.

    In float32 the sums of T5, which scales nothing, differ by the order of its threads.
    """
    for weights in model.parameters():
        if weights.dim() > 1 or factor < 8:
            weights.data *= factor
    return model.eval().double()


def made(name: str) -> Opened:
    torch.manual_seed(0)
    if name in DECODERS:
        model, tokenizer = grown(DECODERS[name](len(BYTES)), 8), BYTES
        texts = "the cat 손님이", " a dog 방이"
    else:
        model, tokenizer = grown(ENCODER_DECODERS[name](len(PIECES)), 2 if name == "t5" else 6), PIECES
        texts = "the cat 손님이", "a dog 손님이"
    return Opened(model, laboratory_of(model, tokenizer), texts, tokenizer)


opened = cache(made)  # once for all tests that change nothing in it


@pytest.fixture(params=[*ENCODER_DECODERS, *DECODERS])
def case(request):
    return opened(request.param)


def test_a_head_that_is_off_is_a_part_of_the_output_projection_that_is_zero(case):
    head, model = Head(case.kind, 1, 1), deepcopy(case.model)
    attention = case.attention(model)
    names = ("out_proj", "o_proj", "o", "c_proj")
    projection = next(getattr(attention, name) for name in names if hasattr(attention, name))
    # GPT-2 holds its kernels the other way round.
    weight = projection.weight.data if hasattr(projection, "nf") else projection.weight.data.T
    width = len(weight) // case.lab.laboratory.sizes[head.kind].heads
    weight[head.head * width : (head.head + 1) * width] = 0
    found = case.logits(off={head})
    np.testing.assert_allclose(found, case.own_logits(model), **CLOSE)
    assert np.abs(found - case.logits()).max() > 1e-3


def test_a_head_that_is_off_may_put_out_its_mean(case):
    head = Head(case.kind, 1, 0)
    if not case.has_stream:
        with pytest.raises(ValueError, match="by zero, not by its mean"):
            case.logits(off={head}, means={case.kind: np.ones((2, 4, 4), np.float32)})
        return
    means, off = mean_outputs(case.lab, *case.texts), case.logits(off={head})
    assert np.abs(case.logits(off={head}, means=means) - off).max() > 1e-3
    zeros = {kind: np.zeros_like(each) for kind, each in means.items()}
    np.testing.assert_allclose(case.logits(off={head}, means=zeros), off, **CLOSE)


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
    rows = asked if case.first else slice(None)
    np.testing.assert_allclose(case.logits(**gone)[rows], case.own_logits(**given)[rows], **CLOSE)
    assert not case.trace(**gone).attention(case.kind)[..., place].any()


def test_replaced_weights_are_used_and_a_zeroed_value_keeps_them(case):
    plain = case.lab.trace(*case.texts)
    maps = plain.attention(case.kind)
    rows = np.full(maps.shape[2:], np.nan, np.float32)
    rows[ROW] = np.eye(maps.shape[-1])[1]
    used = case.trace(weights={Head(case.kind, 0, 0): rows}).attention(case.kind)[0, 0]
    np.testing.assert_allclose(used[ROW], rows[ROW], atol=1e-6)
    np.testing.assert_allclose(np.delete(used, ROW, 0), np.delete(maps[0, 0], ROW, 0), **CLOSE)
    place = int(maps[1].sum((0, 1)).argmax())  # where no head looks, a value changes nothing
    found = case.trace(zeroed={ZeroedValue(case.kind, 1, place)})
    np.testing.assert_allclose(found.attention(case.kind)[:2], maps[:2], **CLOSE)  # later layers read others
    assert np.abs(found.log_probabilities - plain.log_probabilities).max() > 1e-4


def test_gradients_are_those_of_pytorch(case):
    """Gradient × input of a logit difference, by the tokens of both sides (Shrikumar et al. 2016)."""
    contrast, embedded = analysis.contrast_of_row(case.lab, *case.texts, ROW), []

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
    source, before = analysis.contribution_rows(case.lab, *case.texts, "gradient")
    np.testing.assert_allclose(source[ROW], found.source, **CLOSE)
    np.testing.assert_allclose(before[ROW, : ROW + 1], found.before, **CLOSE)
    assert not np.triu(before, 1).any()


def test_what_the_keys_add_is_the_output_of_the_attention(case):
    """Kobayashi et al. 2020, equation 3: the sum over all keys, and the bias. Llama's heads share values."""
    refused = () if case.has_stream else [name for name, each in METHODS.items() if each.needs == STREAM]
    assert methods_of(case.lab) == tuple(name for name in METHODS if name not in refused)
    if refused:
        return
    insides, seen = insides_of(case.lab.patched, *case.ids), []
    hook = case.attention().register_forward_hook(lambda *called: seen.append(called[-1][0][0].numpy()))
    case.own_logits()
    hook.remove()
    added = added_vectors(insides, case.kind, 1).sum(1) + insides.output_biases[case.kind][1]
    np.testing.assert_allclose(added, seen[0], atol=1e-4, rtol=1e-3)
    assert (insides.norm_scales is None) == (case.model.config.model_type not in ("marian", "bart"))
    edit = Edit(*case.texts, analysis.contrast_of_row(case.lab, *case.texts, ROW))
    for method in ("attention", "rollout", "norms", "alti", "value_zeroing"):
        found = contribution(case.lab, edit, method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", ENCODER_DECODERS)
def test_questions_about_the_stream_of_an_encoder_decoder(name):
    case = opened(name)
    lab, texts, contrast = case.lab, case.texts, analysis.contrast_of_row(case.lab, *case.texts, ROW)
    # The numbers of heads that are off come from the laboratory, which replaces functions of PyTorch.
    np.testing.assert_allclose(*silent_and_off(lab, texts, case.ids, contrast), **WALKED)
    written = analysis.direct_logit_attribution(lab, *texts, [contrast])
    (number,) = written.changes
    asked = lab.logit_differences(*texts, contrast, [Intervention()])
    np.testing.assert_allclose(written.score[number], asked.differences[0], **WALKED)
    assert abs(written.remainder(number)) < 2e-3
    with pytest.raises(ValueError, match="give other texts of a length"):
        analysis.corrupted_by_exchange(lab, Edit(*texts, contrast))  # it needs a token for each character
    cell = analysis.AttentionCell(Head("cross_attention", 1, 1), 2, 1)
    if lab.patched.scores_hold_positions:
        with pytest.raises(ValueError, match="hold positions"):
            analysis.decompose_attention_score(lab, *texts, cell)
        return
    look = analysis.decompose_attention_score(lab, *texts, cell)
    for parts in (look.of_query, look.of_key):
        np.testing.assert_allclose(sum(part.nats for part in parts), look.score, atol=1e-2)
    weight = lab.trace(*texts).cross_attention[1, 1, 2, 1]
    assert look.ablations and look.weight == pytest.approx(weight, abs=1e-4)


@pytest.mark.parametrize("name", ["marian", *DECODERS])
def test_its_text_is_the_one_that_the_model_generates(name):
    case = made(name)
    case.model.generation_config.max_new_tokens = 12
    if not case.first:
        with torch.no_grad():
            case.model.final_logits_bias[0, END] += 5  # random weights would go on for ever
    ids = torch.tensor([case.ids[0]])
    with torch.no_grad():
        given = {"attention_mask": torch.ones_like(ids), "do_sample": False}
        whole = case.model.generate(ids, **given)[0, case.first :]
    written = case.tokenizer.decode(whole, skip_special_tokens=True)
    assert case.lab.written_under(case.texts[0], [Intervention()]) == [written]
    assert case.first or case.lab.correct(case.texts[0]).text == written.strip()


@pytest.mark.parametrize("told", [{"max_new_tokens": 40}, {"max_length": 41}])
def test_a_text_without_an_end_is_cut_where_the_model_says_and_told(told):
    case = made("bart")
    for name, value in (told | {"forced_eos_token_id": None}).items():
        setattr(case.model.generation_config, name, value)
    with torch.no_grad():
        case.model.final_logits_bias[0, END] = -1e9
    with pytest.warns(UserWarning, match="wrote no end mark in 40 tokens, so its text is cut there"):
        text = case.lab.correct("the cat").text
    assert text.strip() == from_transformers(case.model, PIECES, "the cat").target_text.strip() != "the cat"
    assert case.lab.written_under("the cat", [Intervention()]) == [None]


def test_a_text_longer_than_the_window_is_refused():
    model, texts = grown(small.mistral(len(BYTES), sliding_window=24), 8), ("the cat sat on", " a cat")
    lab = laboratory_of(model, BYTES)
    own = lab.trace(*texts).log_probabilities[-len(lab.tokenizer.encode_target(texts[1])) :]
    assert max(abs(analysis.logit_lens(lab, *texts).written[-1] - np.exp(own))) < 1e-4
    with pytest.raises(ValueError, match="at most 24 tokens, received"):
        analysis.logit_lens(lab, texts[0] * 9, texts[1])


def test_the_weight_of_a_token_left_out_goes_to_the_others_and_to_the_sink():
    torch.manual_seed(0)
    model, texts = small.gpt_oss(len(BYTES)).eval(), ("the cat 손님이", " a dog 방이")
    lab = laboratory_of(model, BYTES)
    one, other = lab.trace(*texts), from_transformers(model, BYTES, *texts)
    assert one.sinks == other.sinks == ("decoder_attention",)
    np.testing.assert_allclose(one.decoder_attention, other.decoder_attention, atol=1e-6)
    one.check()
    plain = one.decoder_attention[0]  # the first layer reads the same in both passes
    found = lab.trace_under(*texts, Intervention(without_source={1})).decoder_attention[0]
    others = [0, *range(2, plain.shape[-1])]
    np.testing.assert_allclose(found[:, 2:, 1], 0, atol=1e-7)
    expected = plain[:, 2:, others] / (1 - plain[:, 2:, 1:2])
    np.testing.assert_allclose(found[:, 2:, others], expected, atol=1e-6)


def test_an_intervention_that_does_not_fit_is_refused(case):
    for gone, why in (
        ({"off": {(case.kind, 3, 0)}}, r"a head should be one of .*_attention.*received"),
        ({"without_source": {99}}, "what is left out should lie in"),
    ):
        with pytest.raises(ValueError, match=why):
            case.logits(**gone)
    if case.first:
        with pytest.raises(ValueError, match="prompt should have at least one token"):
            case.lab.written_under("", [Intervention()])


def test_a_model_that_cannot_write_is_refused():
    without_end = trained("pieces")
    without_end.eos_token = None
    for make, tokenizer, why in (
        (small.gpt2, without_end, r"should have an end mark: tokenizer.eos_token = …"),
        (small.gpt2, None, "the tokenizer should be the model's own one, received NoneType"),
        (small.bert, PIECES, "should write, as encoder-decoders and decoders alone do, received Bert"),
    ):
        with pytest.raises(ValueError, match=why):
            laboratory_of(make(len(PIECES)), tokenizer)
    with pytest.raises(ValueError, match="tokenizer should be the model's own one, received NoneType"):
        from_transformers(small.gpt2(len(BYTES)), None, "the cat")
