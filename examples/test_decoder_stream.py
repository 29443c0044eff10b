"""Residual-stream methods on decoder-only models, against TransformerLens.

Both have the same random weights.

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

from examples.test_families import TOKENIZER as BYTES
from examples.test_families import made
from examples.test_laboratory_of import grown
from model import analysis, laboratory_of
from model.analysis import AblationValues, Edit
from model.analysis.ablation import node_effects
from model.analysis.contrasts import CleanRun
from model.analysis.path_patching import circuit_edges
from model.trace.interventions import Head, Node, Patch

PROMPT, CORRUPTED, WRITTEN, ROW = "the cat sat on", "the mat sat on", " a cat", 1
CLOSE = {"atol": 1e-4, "rtol": 0}  # the models are float64, the walk is float32
MODELS = "gpt2", "llama", "gemma", "qwen2", "qwen3"
PLACES = ("hook_resid_pre", "hook_resid_mid", "hook_resid_mid", "hook_resid_post")


class Both(NamedTuple):
    """One network in both libraries, and the question about it."""

    lab: Any
    lens: Any
    edit: Edit
    tokens: torch.Tensor  # (1, N) read up to the row of the question
    cache: Any
    score: float

    def of(self, layer: int, name: str) -> np.ndarray:
        return self.cache[f"blocks.{layer}.{name}"][0].detach().numpy()

    def scored(self, logits: torch.Tensor) -> float:
        contrast = self.edit.about
        return float((logits[0, -1, contrast.written] - logits[0, -1, contrast.instead]).detach())

    def patched(self, tokens: torch.Tensor, changes: dict[str, Any]) -> torch.Tensor:
        """The logits where (index, value) are written into activations, by their names in TransformerLens."""

        def hook(tensor: torch.Tensor, hook: Any, index: Any, value: Any) -> torch.Tensor:
            tensor = tensor.clone()
            tensor[index] = torch.as_tensor(value).to(tensor)
            return tensor

        hooks = [
            (f"blocks.{name}", partial(hook, index=index, value=value))
            for name, (index, value) in changes.items()
        ]
        return self.lens.run_with_hooks(tokens, fwd_hooks=hooks)

    def values(self) -> AblationValues:
        run = analysis.corrupted_by_text(self.lab, self.edit, CORRUPTED)
        return analysis.corrupted_values(self.lab.patched, self.lab.tokenizer, run)


def read(lab: Any, edit: Edit, prompt: str) -> torch.Tensor:
    source, target = lab.tokenizer.encode_source(prompt), lab.tokenizer.encode_target(edit.target)
    return torch.tensor([[*source, *target[: edit.about.row]]])


@pytest.fixture(scope="module", params=MODELS)
def both(request, tmp_path_factory):
    model = grown(made(request.param), 8)
    model.config.architectures = [type(model).__name__]
    folder = tmp_path_factory.mktemp("tokenizer")
    BYTES.save_pretrained(folder)
    lens = TransformerBridge.boot_transformers(
        request.param,
        hf_model=deepcopy(model),
        tokenizer=hf.PreTrainedTokenizerFast.from_pretrained(folder),
        device="cpu",
    )
    lab = laboratory_of(model, BYTES)
    edit = Edit(PROMPT, WRITTEN, analysis.contrast_of_row(lab, PROMPT, WRITTEN, ROW))
    tokens = read(lab, edit, PROMPT)
    logits, cache = lens.run_with_cache(tokens)
    found = Both(lab, lens, edit, tokens, cache, 0.0)
    return found._replace(score=found.scored(logits))


def test_activations(both):
    tokenizer = both.lab.tokenizer
    ids = tokenizer.encode_source(PROMPT), tokenizer.encode_target(WRITTEN)[: ROW + 1]
    names = ["decoder_residual", "decoder_heads", "decoder_attention", "decoder_value"]
    found = both.lab.patched.taps(*ids, names)
    for layer in range(len(found["decoder_heads"])):
        for place, name in enumerate(PLACES):
            expected = both.of(layer, name)
            np.testing.assert_allclose(found["decoder_residual"][3 * layer + place], expected, **CLOSE)
        expected = both.of(layer, "attn.hook_pattern")
        np.testing.assert_allclose(found["decoder_attention"][layer], expected, **CLOSE)
        heads = both.of(layer, "attn.hook_z").swapaxes(0, 1)
        np.testing.assert_allclose(found["decoder_heads"][layer], heads, **CLOSE)


def test_direct_logit_attribution_and_logit_lens(both):
    """Gradient times part, with the scale of the last normalisation held; the lens after each layer."""
    found, lens = (
        ask(both.lab, PROMPT, WRITTEN, [both.edit.about])
        for ask in (analysis.direct_logit_attribution, analysis.logit_lens)
    )
    number, contrast, kernel = found.changes[0], both.edit.about, both.lens.unembed.W_U.detach()
    assert found.score[number] == pytest.approx(both.score, abs=1e-4) and abs(found.remainder(number)) < 1e-4
    towards = kernel[:, contrast.written] - kernel[:, contrast.instead]
    towards = towards * torch.tensor(both.lab.patched.output_weights.norms["decoder"][-1, 0])
    if both.lab.patched.normalisation.is_centred:
        towards = towards - towards.mean()
    direction = (towards / both.cache["ln_final.hook_scale"][0, -1].detach()).numpy()
    for part in found.parts(number):
        if part.head is not None:
            kernel = both.lens.blocks[part.layer].attn.W_O[part.head].detach().numpy()
            output = both.of(part.layer, "attn.hook_z")[-1, part.head] @ kernel
        elif part.name == "feed_forward":
            output = both.of(part.layer, "hook_mlp_out")[-1]
        else:
            continue
        assert part.nats == pytest.approx(output @ direction, abs=1e-4), part
    for layer in range((len(lens.scores) - 1) // 3):
        stream = both.cache[f"blocks.{layer}.hook_resid_post"]
        expected = both.scored(both.lens.unembed(both.lens.ln_final(stream)))
        assert lens.scores[3 * layer + 3, lens.changes[0]] == pytest.approx(expected, abs=1e-4)


def test_activation_patching_between_prompts(both):
    run, corrupted = (
        analysis.corrupted_by_text(both.lab, both.edit, CORRUPTED),
        read(both.lab, both.edit, CORRUPTED),
    )
    residual = analysis.activation_patching(both.lab, run, "residual", "decoder")
    heads = analysis.activation_patching(both.lab, run, "heads", "decoder_attention")
    assert residual.score == pytest.approx(both.score, abs=1e-4)
    assert residual.corrupted_score == pytest.approx(both.scored(both.lens(corrupted)), abs=1e-4)
    for layer, position in np.ndindex(heads.patched.shape[0] // 4, both.tokens.shape[1]):
        for name, row, index in (
            ("hook_resid_pre", residual.patched[3 * layer], (0, position)),
            ("hook_resid_post", residual.patched[3 * layer + 3], (0, position)),
            ("attn.hook_z", heads.patched[4 * layer], (0, position, 0)),
            ("attn.hook_z", heads.patched[4 * layer + 3], (0, position, 3)),
        ):
            value = both.cache[f"blocks.{layer}.{name}"][index]
            expected = both.scored(both.patched(corrupted, {f"{layer}.{name}": (index, value)}))
            assert row[position] == pytest.approx(expected, abs=1e-4)


def log_probability(logits: np.ndarray, token: int) -> np.ndarray:
    logits = logits.astype(np.float64)
    return logits[:, token] - np.log(np.exp(logits).sum(-1))


def test_a_metric_of_the_logits_in_place_of_a_contrast(both):
    """The log probability of the written token, also where all nodes put out their corrupted values."""
    token, values = both.edit.about.written, both.values()
    edit = replace(both.edit, metric=partial(log_probability, token=token))
    run = analysis.corrupted_by_text(both.lab, edit, CORRUPTED)
    found = analysis.activation_patching(both.lab, run, "output", "decoder")
    circuit = analysis.find_circuit(both.lab, edit, ablation=values)
    silenced: dict[str, Any] = {}
    for layer in range(both.lab.patched.layers("decoder")):
        heads = [values.nodes[Node("decoder_attention", layer, head)] for head in range(4)]
        silenced[f"{layer}.attn.hook_z"] = 0, np.stack(heads, axis=1)
        silenced[f"{layer}.hook_mlp_out"] = 0, values.nodes[Node("decoder_feed_forward", layer)]
    corrupted = both.lens(read(both.lab, both.edit, CORRUPTED))
    for logits, score in (
        (both.lens(both.tokens), found.score),
        (both.lens(both.tokens), circuit.score),
        (corrupted, found.corrupted_score),
        (both.patched(both.tokens, silenced), circuit.empty),
    ):
        assert score == pytest.approx(float(logits[0, -1].log_softmax(-1)[token].detach()), abs=1e-4)


def test_ablations(both):
    """Total effects by hooks; a node whose output only the answer reads has the direct effect of it.

    A node's estimate by its gradient is the derivative of the score by the size of its output.
    """
    zero = both.values()
    zero = AblationValues({node: 0 * each for node, each in zero.nodes.items()}, zero.embeddings, "zero")
    effects = node_effects(both.lab, both.edit, zero)
    for node, total in zip(effects.nodes, effects.total, strict=True):
        name = "hook_mlp_out" if node.head is None else "attn.hook_z"
        index = 0 if node.head is None else (0, slice(None), node.head)
        without = both.patched(both.tokens, {f"{node.layer}.{name}": (index, 0.0)})
        assert total == pytest.approx(both.score - both.scored(without), abs=2e-4), node
    last = effects.nodes[-1]
    assert last.head is None and effects.direct[-1] == pytest.approx(effects.total[-1], abs=1e-4)
    if both.lab.patched._head_norm("decoder_1/self_attention/query"):
        with pytest.raises(ValueError, match="normalised by head is not known"):
            analysis.attribution_patching(both.lab, both.edit, zero)
        return
    found, run = analysis.attribution_patching(both.lab, both.edit, zero), CleanRun(both.lab, both.edit)
    for node, estimate in zip(found.nodes, found.total, strict=True):
        output = run.taps([node.tap])[node.tap][node.place]
        more, less = run.scores([(Patch.of(node, scale * output),) for scale in (1.01, 0.99)])
        assert estimate == pytest.approx((more - less) / 0.02, abs=2e-3), node


def test_a_circuit_and_its_edges(both):
    """The edge from a head to the next feed-forward network: path patching by hand."""
    values = both.values()
    circuit = analysis.find_circuit(both.lab, both.edit, ablation=values)
    assert circuit.score == pytest.approx(both.score, abs=1e-4) and set(circuit.members) <= set(circuit.nodes)
    whole = replace(circuit, members=circuit.nodes)
    sender, receiver = Node("decoder_attention", 0, 1), Node("decoder_feed_forward", 0)
    edges = {edge[:2]: edge.nats for edge in circuit_edges(both.lab, both.edit, whole, values).edges}
    block, mid = both.lens.blocks[0], both.cache["blocks.0.hook_resid_mid"]
    lost = torch.tensor(values.nodes[sender]) - both.cache["blocks.0.attn.hook_z"][0, :, 1]
    without = block.mlp(block.ln2(mid + lost.to(mid) @ block.attn.W_O[1])).detach()
    patched = both.patched(both.tokens, {"0.hook_mlp_out": (slice(None), without)})
    assert edges[sender, receiver] == pytest.approx(both.score - both.scored(patched), abs=1e-4)


def test_decomposition_of_an_attention_score(both):
    query, key, head = both.tokens.shape[1] - 1, 2, Head("decoder_attention", 1, 1)
    found = analysis.decompose_attention_score(
        both.lab, PROMPT, WRITTEN, analysis.AttentionCell(head, query, key)
    )
    pattern = both.of(1, "attn.hook_pattern")[1, query]
    logs = np.log(pattern[: query + 1])
    assert found.score == pytest.approx(logs[key] - logs.mean(), abs=1e-4) and abs(found.remainder()) < 1e-4
    assert found.weight == pytest.approx(pattern[key], abs=1e-4) and len(found.ablations) == 6
