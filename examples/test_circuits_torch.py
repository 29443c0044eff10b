"""The decompositions once more in PyTorch: a Transformer written with its functions alone, on copied weights,
taken apart by its gradients. Where a normalisation's scale is held, the score is linear in what each part
adds, so gradient times part is the part's share.

Run by `pytest examples`; see requirements-examples.txt.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from model.analysis.ablation import corpus_means
from model.analysis.attention_scores import AttentionCell, decompose_attention_score
from model.analysis.circuits import find_circuit
from model.analysis.contrasts import Edit
from model.analysis.residual_stream import direct_logit_attribution
from model.correction.corrector import Corrector
from model.stored.config import TransformerConfig
from model.text.changes import find_changes
from model.text.tokenizer import START_ID, Tokenizer
from model.trace.interventions import Head, Node, every_node
from tests.plain_transformer import PlainNetwork, PlainTransformer

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
TOLERANCE = 1e-4  # nats
LAYERS, HEADS, WIDTH = 2, 2, 16
ATTENTIONS = {"encoder": ["self_attention"], "decoder": ["self_attention", "cross_attention"]}


class TorchTransformer:
    """One sentence through the network.

    ``parts`` keeps, by (side, layer, sub-layer, head), what each wrote to its stream, as tensors that can be
    asked for gradients. ``instead``: what some parts put out in place of what they compute.
    """

    def __init__(self, config, features, arrays, instead=None):
        self.config, self.instead = config, instead or {}
        self.weights = {name: torch.tensor(array, dtype=torch.float64) for name, array in arrays.items()}
        rows = [
            self.weights[f"embedding/{name}_embedding"][features[:, i]]
            for i, name in enumerate(("token", "initial", "medial", "final"))
        ]
        syllable = torch.tensor(features[:, 1:2] > 0, dtype=torch.float64)
        self.vectors = rows[0] + syllable * (rows[1] + rows[2] + rows[3])
        self.parts, self.scores_of = {}, {}

    def score(self, source, target, contrast):
        """log p(written) - log p(instead) at the row of a contrast, the last normalisation's scale held."""
        memory = self.walk("encoder", source, None)
        end = self.walk("decoder", [START_ID, *target[:-1]], memory)
        logits = (
            end[contrast.row] @ self.vectors[: self.config.vocab_size].T
            + self.weights["embedding/output_bias"]
        )
        return logits[contrast.written] - logits[contrast.instead]

    def keep(self, key, tensor):
        """A leaf: gradients reach it through the sums of the stream, and through no later part."""
        self.parts[key] = tensor.detach().clone().requires_grad_()
        return self.parts[key]

    def walk(self, side, ids, memory):
        place = torch.arange(len(ids), dtype=torch.float64)[:, None]
        pair = torch.arange(WIDTH) // 2 * 2
        angle = place / 10000.0 ** (pair / WIDTH)
        positions = torch.where(torch.arange(WIDTH) % 2 == 0, angle.sin(), angle.cos())
        x = self.keep((side, "embedding"), self.vectors[ids] * WIDTH**0.5) + self.keep(
            (side, "position"), positions
        )
        for layer in range(LAYERS):
            block = f"{side}_{layer + 1}"
            for name in ATTENTIONS[side]:
                around = "around_attention" if side == "encoder" else f"around_{name}"
                x = self.add(x, f"{block}/{around}", partial(self.attend, side, layer, name, memory))
            x = self.add(x, f"{block}/around_feed_forward", partial(self.feed, side, layer))
        return self.norm(x, f"{side}_norm") if self.config.norm_first else x

    def add(self, x, around, sublayer):
        if self.config.norm_first:
            return x + sublayer(self.norm(x, f"{around}/norm"))
        return self.norm(x + sublayer(x), f"{around}/norm")

    def norm(self, x, name):
        scale = (x.var(-1, correction=0, keepdim=True) + 1e-6).sqrt().detach()
        return (x - x.mean(-1, keepdim=True)) / scale * self.weights[f"{name}/gamma"] + self.weights[
            f"{name}/beta"
        ]

    def dense(self, x, name):
        return x @ self.weights[f"{name}/kernel"] + self.weights[f"{name}/bias"]

    def attend(self, side, layer, name, memory, entered):
        path = f"{side}_{layer + 1}/{name}"
        read = memory if name == "cross_attention" else entered
        query, key, value = (
            self.dense(x, f"{path}/{part}").unflatten(-1, (HEADS, -1)).transpose(0, 1)
            for x, part in ((entered, "query"), (read, "key"), (read, "value"))
        )
        scores = query @ key.transpose(1, 2) / (WIDTH // HEADS) ** 0.5
        self.scores_of[side, layer, name] = scores
        if side == "decoder" and name == "self_attention":
            scores = scores.masked_fill(torch.ones(scores.shape[1:]).triu(1).bool(), -torch.inf)
        heads = scores.softmax(-1) @ value
        kernel = self.weights[f"{path}/output/kernel"].unflatten(0, (HEADS, -1))
        kind = f"{side if name == 'self_attention' else 'cross'}_attention"
        found = self.weights[f"{path}/output/bias"]
        for head in range(HEADS):
            node = Node(kind, layer, head)
            out = heads[head]
            if node in self.instead:
                out = torch.tensor(self.instead[node], dtype=torch.float64).expand_as(out)
            found = found + self.keep(node, out @ kernel[head])
        return found

    def feed(self, side, layer, entered):
        node = Node(f"{side}_feed_forward", layer)
        if node in self.instead:
            out = torch.tensor(self.instead[node], dtype=torch.float64).expand_as(entered).clone()
        else:
            path = f"{side}_{layer + 1}/feed_forward"
            out = self.dense(self.dense(entered, f"{path}/hidden").relu(), f"{path}/output")
        return self.keep(node, out)


@pytest.fixture(scope="module", params=[True, False], ids=["norm first", "norm last"])
def networks(request):
    """(a corrector over the network in NumPy, what makes the one in PyTorch) with the same random weights."""
    tokenizer = Tokenizer("전오래쓸수있는게요씂깄겍 ")
    config = TransformerConfig(tokenizer.vocab_size, WIDTH, LAYERS, HEADS, 32, 0.0, True, 40)
    config = replace(config, norm_first=request.param)
    arrays = random_arrays(config, tokenizer.features())
    plain = PlainTransformer(
        config, tokenizer.features(), {f"transformer/{name}": each for name, each in arrays.items()}
    )
    corrector = Corrector("tiny", PlainNetwork(plain, tokenizer.encode_target(" ")[0]), tokenizer, "0")
    return corrector, lambda instead=None: TorchTransformer(config, tokenizer.features(), arrays, instead)


def random_arrays(config, features):
    rng = np.random.default_rng(0)
    shapes = {
        "embedding/output_bias": (config.vocab_size,),
        "embedding/token_embedding": (config.vocab_size, WIDTH),
    }
    shapes |= {
        f"embedding/{name}_embedding": (int(features[:, i].max()) + 1, WIDTH)
        for i, name in ((1, "initial"), (2, "medial"), (3, "final"))
    }
    norms = []
    for side, attentions in ATTENTIONS.items():
        norms.append(f"{side}_norm")
        for layer in range(1, LAYERS + 1):
            for name in attentions:
                norms.append(
                    f"{side}_{layer}/{'around_attention' if side == 'encoder' else f'around_{name}'}/norm"
                )
                for part in ("query", "key", "value", "output"):
                    shapes |= {
                        f"{side}_{layer}/{name}/{part}/kernel": (WIDTH, WIDTH),
                        f"{side}_{layer}/{name}/{part}/bias": (WIDTH,),
                    }
            norms.append(f"{side}_{layer}/around_feed_forward/norm")
            for part, sizes in (("hidden", (WIDTH, 32)), ("output", (32, WIDTH))):
                shapes |= {
                    f"{side}_{layer}/feed_forward/{part}/kernel": sizes,
                    f"{side}_{layer}/feed_forward/{part}/bias": sizes[1:],
                }
    arrays = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in norms:
        arrays |= {
            f"{name}/gamma": rng.normal(1, 0.3, WIDTH).astype(np.float32),
            f"{name}/beta": rng.normal(0, 0.3, WIDTH).astype(np.float32),
        }
    return arrays


def ids_of(corrector):
    return corrector.tokenizer.encode_source(SOURCE), corrector.tokenizer.encode_target(TARGET)


def test_who_wrote_is_gradient_times_part(networks):
    corrector, make = networks
    written = direct_logit_attribution(corrector, SOURCE, TARGET, find_changes(SOURCE, TARGET))
    for number, contrast in enumerate(written.questions):
        torch_network = make()
        score = torch_network.score(*ids_of(corrector), contrast)
        assert written.score[number] == pytest.approx(score.item(), abs=TOLERANCE)
        score.backward()
        for part in written.parts(number):
            if part.name in ("embedding", "position"):
                key = "decoder", part.name
            elif part.layer is None:
                continue  # biases, which are no part of their own here
            else:
                kind = "decoder_feed_forward" if part.name == "feed_forward" else part.name
                key = Node(kind, part.layer, part.head)
            assert part.nats == pytest.approx(shares(torch_network, key)[contrast.row], abs=TOLERANCE), key


def shares(network, key) -> np.ndarray:
    """Gradient times part at each position; 0 where the score does not depend on it."""
    part = network.parts[key]
    grad = torch.zeros_like(part) if part.grad is None else part.grad
    return (part.detach() * grad).sum(-1).numpy()


@pytest.mark.parametrize(("layer", "head"), [*np.ndindex(LAYERS, HEADS)])
def test_why_it_looked_is_gradient_times_part(networks, layer, head):
    corrector, make = networks
    row, column = 4, 3
    look = decompose_attention_score(
        corrector, SOURCE, TARGET, AttentionCell(Head("cross_attention", layer, head), row, column)
    )
    network = make()
    network.score(*ids_of(corrector), direct_logit_attribution(corrector, SOURCE, TARGET).questions[row])
    scores = network.scores_of["decoder", layer, "cross_attention"][head, row]
    asked = scores[column] - scores.mean()
    assert look.score == pytest.approx(asked.item(), abs=TOLERANCE)
    asked.backward()
    for parts, side in ((look.of_query, "decoder"), (look.of_key, "encoder")):
        for part, nats in parts:
            if part == "bias":
                continue
            found = shares(network, part if isinstance(part, Node) else (side, part))
            expected = found[row] if side == "decoder" else found.sum()
            assert nats == pytest.approx(expected, abs=TOLERANCE), part


def test_a_circuit_scores_what_pytorch_says(networks):
    corrector, make = networks
    (change, *_) = find_changes(SOURCE, TARGET)
    means = corpus_means(corrector.patched, corrector.tokenizer, ((SOURCE, TARGET),))
    found = find_circuit(corrector, Edit(SOURCE, TARGET, change), ablation=means)
    nodes = every_node(LAYERS, HEADS)

    def score(kept) -> float:
        network = make({node: means.nodes[node] for node in nodes if node not in kept})
        return network.score(*ids_of(corrector), found.contrast).item()

    assert found.score == pytest.approx(score(nodes), abs=TOLERANCE)
    assert found.empty == pytest.approx(score(()), abs=TOLERANCE)
    for node, effect in zip(found.nodes, found.effects, strict=True):
        lost = found.score - score([other for other in nodes if other != node])
        assert effect == pytest.approx(lost, abs=TOLERANCE)
