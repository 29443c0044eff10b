"""The residual stream of decoder-only models against TransformerLens on the same random weights.

Run by `pytest examples`; see requirements-examples.txt.
"""

from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import transformers as hf
from transformer_lens.model_bridge import TransformerBridge

from examples.hugging_face_networks import GROUPED, NARROW, gpt2, llama, trained
from examples.test_laboratory_of import grown
from model import laboratory_of
from model.analysis import (
    AblationValues,
    AttentionCell,
    Edit,
    activation_patching,
    attribution_patching,
    contrast_of_row,
    corrupted_by_text,
    corrupted_values,
    decompose_attention_score,
    direct_logit_attribution,
    find_circuit,
    logit_lens,
)
from model.analysis.ablation import node_effects
from model.analysis.contrasts import CleanRun
from model.analysis.path_patching import circuit_edges
from model.trace.interventions import Head, Node, Patch

BYTES = trained("bytes")
PROMPT, CORRUPTED, WRITTEN, ROW = "the cat sat on", "the mat sat on", " a cat", 1
CLOSE = {"atol": 1e-4, "rtol": 0}  # the models are float64, the walk is float32
WIDE = NARROW | {"head_dim": 8, "num_key_value_heads": 2}
MODELS = {
    "gpt2": gpt2,
    "llama": llama,
    "gemma": lambda size: hf.GemmaForCausalLM(hf.GemmaConfig(vocab_size=size, **WIDE)),
    "qwen2": lambda size: hf.Qwen2ForCausalLM(hf.Qwen2Config(vocab_size=size, **GROUPED)),
    "qwen3": lambda size: hf.Qwen3ForCausalLM(hf.Qwen3Config(vocab_size=size, **WIDE)),
}


class Both(NamedTuple):
    """One network in both libraries, and the question about it."""

    lab: Any
    lens: Any
    edit: Edit
    tokens: torch.Tensor  # (1, N) read up to the row of the question
    cache: Any
    score: float

    def scored(self, logits: torch.Tensor) -> float:
        contrast = self.edit.about
        return float(logits[0, -1, contrast.written] - logits[0, -1, contrast.instead])

    def patched(self, tokens: torch.Tensor, name: str, change: Any) -> float:
        """The score where ``change`` writes into the activation ``name``, as TransformerLens calls it."""

        def hook(tensor: torch.Tensor, hook: Any) -> torch.Tensor:
            tensor = tensor.clone()
            change(tensor)
            return tensor

        return self.scored(self.lens.run_with_hooks(tokens, fwd_hooks=[(name, hook)]))


def test_a_text_longer_than_the_window_is_refused():
    config = hf.MistralConfig(vocab_size=len(BYTES), **GROUPED, sliding_window=24)
    lab = laboratory_of(grown(hf.MistralForCausalLM(config), 8), BYTES)
    assert max(abs(logit_lens(lab, PROMPT, WRITTEN).written[-1] - np.exp(logs(lab)))) < 1e-4
    with pytest.raises(ValueError, match="at most 24 tokens, received"):
        logit_lens(lab, PROMPT * 9, WRITTEN)


def logs(lab) -> np.ndarray:
    return lab.trace(PROMPT, WRITTEN).log_probabilities[-len(lab.tokenizer.encode_target(WRITTEN)) :]


def read(lab, edit: Edit, prompt: str) -> torch.Tensor:
    source, target = lab.tokenizer.encode_source(prompt), lab.tokenizer.encode_target(edit.target)
    return torch.tensor([[*source, *target[: edit.about.row]]])


@pytest.fixture(scope="module", params=MODELS)
def both(request, tmp_path_factory):
    torch.manual_seed(0)
    model = grown(MODELS[request.param](len(BYTES)), 8)
    model.config.architectures = [type(model).__name__]
    folder = tmp_path_factory.mktemp("tokenizer")
    BYTES.save_pretrained(folder)
    tokenizer = hf.PreTrainedTokenizerFast.from_pretrained(folder)
    lens = TransformerBridge.boot_transformers(
        request.param, hf_model=deepcopy(model), tokenizer=tokenizer, device="cpu"
    )
    lab = laboratory_of(model, BYTES)
    edit = Edit(PROMPT, WRITTEN, contrast_of_row(lab, PROMPT, WRITTEN, ROW))
    tokens = read(lab, edit, PROMPT)
    logits, cache = lens.run_with_cache(tokens)
    contrast = edit.about
    score = float(logits[0, -1, contrast.written] - logits[0, -1, contrast.instead])
    return Both(lab, lens, edit, tokens, cache, score)


def of(both: Both, layer: int, name: str) -> np.ndarray:
    return both.cache[f"blocks.{layer}.{name}"][0].detach().numpy()


def test_activations(both):
    tokenizer = both.lab.tokenizer
    ids = tokenizer.encode_source(PROMPT), tokenizer.encode_target(WRITTEN)[: ROW + 1]
    names = ["decoder_residual", "decoder_heads", "decoder_attention", "decoder_value"]
    found = both.lab.patched.taps(*ids, names)
    for layer in range(len(found["decoder_heads"])):
        for place, name in enumerate(
            ("hook_resid_pre", "hook_resid_mid", "hook_resid_mid", "hook_resid_post")
        ):
            np.testing.assert_allclose(
                found["decoder_residual"][3 * layer + place], of(both, layer, name), **CLOSE
            )
        np.testing.assert_allclose(
            found["decoder_attention"][layer], of(both, layer, "attn.hook_pattern"), **CLOSE
        )
        heads = of(both, layer, "attn.hook_z").swapaxes(0, 1)
        np.testing.assert_allclose(found["decoder_heads"][layer], heads, **CLOSE)


def test_direct_logit_attribution(both):
    """Gradient times part, with the scale of the last normalisation held."""
    found = direct_logit_attribution(both.lab, PROMPT, WRITTEN, [both.edit.about])
    number = found.changes[0]
    assert found.score[number] == pytest.approx(both.score, abs=1e-4) and abs(found.remainder(number)) < 1e-4
    contrast, kernel = both.edit.about, both.lens.unembed.W_U.detach()
    end = both.cache[f"blocks.{found.feed_forward.shape[1] - 1}.hook_resid_post"][0, -1].detach()
    direction = linear_direction(both, end, kernel[:, contrast.written] - kernel[:, contrast.instead])
    for part in found.parts(number):
        if part.head is not None:
            z = both.cache[f"blocks.{part.layer}.attn.hook_z"][0, -1, part.head]
            output = z @ both.lens.blocks[part.layer].attn.W_O[part.head]
        elif part.name == "feed_forward":
            output = both.cache[f"blocks.{part.layer}.hook_mlp_out"][0, -1]
        else:
            continue
        assert part.nats == pytest.approx(float(output @ direction), abs=1e-4), part


def linear_direction(both: Both, end: torch.Tensor, towards: torch.Tensor) -> torch.Tensor:
    """(D,): the gradient of ``towards`` behind the last normalisation, its scale held."""
    scale = both.cache["ln_final.hook_scale"][0, -1].detach()
    ones = both.lab.patched.output_weights.norms["decoder"][-1, 0]
    towards = towards * torch.tensor(ones)
    if both.lab.patched.normalisation.is_centred:
        towards = towards - towards.mean()
    return towards / scale


def test_logit_lens(both):
    found = logit_lens(both.lab, PROMPT, WRITTEN, [both.edit.about])
    contrast = both.edit.about
    for layer in range((len(found.scores) - 1) // 3):
        stream = both.cache[f"blocks.{layer}.hook_resid_post"]
        logits = both.lens.unembed(both.lens.ln_final(stream))[0, -1]
        expected = float(logits[contrast.written] - logits[contrast.instead])
        assert found.scores[3 * layer + 3, found.changes[0]] == pytest.approx(expected, abs=1e-4)


def test_activation_patching_between_prompts(both):
    run = corrupted_by_text(both.lab, both.edit, CORRUPTED)
    corrupted = read(both.lab, both.edit, CORRUPTED)
    residual = activation_patching(both.lab, run, "residual", "decoder")
    heads = activation_patching(both.lab, run, "heads", "decoder_attention")
    assert residual.score == pytest.approx(both.score, abs=1e-4)
    assert residual.corrupted_score == pytest.approx(both.scored(both.lens(corrupted)), abs=1e-4)
    positions, count = both.tokens.shape[1], heads.patched.shape[0] // 4

    def put(tensor, cached, position, head=slice(None)):
        tensor[0, position, head] = cached[0, position, head]

    for layer in range(count):
        for position in range(positions):
            for name, place in (("hook_resid_pre", 3 * layer), ("hook_resid_post", 3 * layer + 3)):
                change = partial(put, cached=both.cache[f"blocks.{layer}.{name}"], position=position)
                expected = both.patched(corrupted, f"blocks.{layer}.{name}", change)
                assert residual.patched[place, position] == pytest.approx(expected, abs=1e-4)
            cached = both.cache[f"blocks.{layer}.attn.hook_z"]
            for head in (0, 3):
                change = partial(put, cached=cached, position=position, head=head)
                expected = both.patched(corrupted, f"blocks.{layer}.attn.hook_z", change)
                assert heads.patched[4 * layer + head, position] == pytest.approx(expected, abs=1e-4)


def log_probability(logits: np.ndarray, token: int) -> np.ndarray:
    logits = logits.astype(np.float64)
    return logits[:, token] - np.log(np.exp(logits).sum(-1))


def test_a_metric_of_the_logits_in_place_of_a_contrast(both):
    """The log probability of the written token."""
    token = both.edit.about.written
    edit = replace(both.edit, metric=partial(log_probability, token=token))
    run = corrupted_by_text(both.lab, edit, CORRUPTED)
    corrupted = read(both.lab, both.edit, CORRUPTED)
    found = activation_patching(both.lab, run, "output", "decoder")
    for tokens, score in ((both.tokens, found.score), (corrupted, found.corrupted_score)):
        logs = both.lens(tokens)[0, -1].log_softmax(-1)
        assert score == pytest.approx(float(logs[token]), abs=1e-4)
    values = corrupted_values(both.lab.patched, both.lab.tokenizer, run)
    circuit = find_circuit(both.lab, edit, ablation=values)
    assert circuit.score == pytest.approx(found.score, abs=1e-4)
    assert circuit.empty == pytest.approx(silenced(both, values, token), abs=1e-4)


def silenced(both: Both, values: AblationValues, token: int) -> float:
    """The log probability where all nodes put out their values of the corrupted run."""
    hooks = []
    for layer in range(both.lab.patched.layers("decoder")):
        heads = [values.nodes[Node("decoder_attention", layer, head)] for head in range(4)]
        fed = values.nodes[Node("decoder_feed_forward", layer)]
        for name, value in (("attn.hook_z", np.stack(heads, axis=1)), ("hook_mlp_out", fed)):
            hooks.append((f"blocks.{layer}.{name}", partial(instead, value=torch.tensor(value)[None])))
    return float(both.lens.run_with_hooks(both.tokens, fwd_hooks=hooks)[0, -1].log_softmax(-1)[token])


def instead(tensor: torch.Tensor, hook: Any, value: torch.Tensor) -> torch.Tensor:
    return value.to(tensor)


def zero(both: Both) -> AblationValues:
    run = corrupted_by_text(both.lab, both.edit, CORRUPTED)
    found = corrupted_values(both.lab.patched, both.lab.tokenizer, run)
    return AblationValues({node: 0 * each for node, each in found.nodes.items()}, found.embeddings, "zero")


def test_ablations(both):
    """Total effects by hooks; a node whose output only the answer reads has the direct effect of it."""
    effects = node_effects(both.lab, both.edit, zero(both))

    def silence(tensor, head=slice(None), is_mlp=False):
        tensor[(0,) if is_mlp else (0, slice(None), head)] = 0

    for node, total in zip(effects.nodes, effects.total, strict=True):
        name = "hook_mlp_out" if node.head is None else "attn.hook_z"
        change = partial(silence, is_mlp=True) if node.head is None else partial(silence, head=node.head)
        lost = both.score - both.patched(both.tokens, f"blocks.{node.layer}.{name}", change)
        assert total == pytest.approx(lost, abs=2e-4), node
    last = effects.nodes[-1]
    assert last.head is None and effects.direct[-1] == pytest.approx(effects.total[-1], abs=1e-4)


def test_attribution_patching(both):
    """A node's estimate against zeros is the derivative of the score by the size of its output."""
    if both.lab.patched._head_norm("decoder_1/self_attention/query"):
        with pytest.raises(ValueError, match="normalised by head is not known"):
            attribution_patching(both.lab, both.edit, zero(both))
        return
    found, run = attribution_patching(both.lab, both.edit, zero(both)), CleanRun(both.lab, both.edit)
    for node, estimate in zip(found.nodes, found.total, strict=True):
        output = run.taps([node.tap])[node.tap][node.place]
        more, less = run.scores([(Patch.of(node, scale * output),) for scale in (1.01, 0.99)])
        assert estimate == pytest.approx((more - less) / 0.02, abs=2e-3), node


def test_a_circuit_and_its_edges(both):
    """The edge from a head to the next feed-forward network: path patching by hand."""
    run = corrupted_by_text(both.lab, both.edit, CORRUPTED)
    values = corrupted_values(both.lab.patched, both.lab.tokenizer, run)
    circuit = find_circuit(both.lab, both.edit, ablation=values)
    assert circuit.score == pytest.approx(both.score, abs=1e-4) and set(circuit.members) <= set(circuit.nodes)
    whole = replace(circuit, members=circuit.nodes)
    sender, receiver = Node("decoder_attention", 0, 1), Node("decoder_feed_forward", 0)
    edges = {edge[:2]: edge.nats for edge in circuit_edges(both.lab, both.edit, whole, values).edges}
    block, mid = both.lens.blocks[0], both.cache["blocks.0.hook_resid_mid"]
    lost = torch.tensor(values.nodes[sender]) - both.cache["blocks.0.attn.hook_z"][0, :, 1]
    without = block.mlp(block.ln2(mid + lost.to(mid) @ block.attn.W_O[1]))

    def put(tensor):
        tensor[:] = without

    expected = both.score - both.patched(both.tokens, "blocks.0.hook_mlp_out", put)
    assert edges[sender, receiver] == pytest.approx(expected, abs=1e-4)


def test_decomposition_of_an_attention_score(both):
    query, key, head = both.tokens.shape[1] - 1, 2, Head("decoder_attention", 1, 1)
    found = decompose_attention_score(both.lab, PROMPT, WRITTEN, AttentionCell(head, query, key))
    pattern = of(both, 1, "attn.hook_pattern")[1, query]
    logs = np.log(pattern[: query + 1])
    assert found.score == pytest.approx(logs[key] - logs.mean(), abs=1e-4) and abs(found.remainder()) < 1e-4
    assert found.weight == pytest.approx(pattern[key], abs=1e-4) and len(found.ablations) == 6
