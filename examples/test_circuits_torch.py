"""Direct logit attribution and decomposition of attention scores against PyTorch's gradients.

The port on random weights is taken apart by hooks.

Where a normalisation's scale is held, the score is linear in each part's output, so gradient times part is
the part's share.

Run by `pytest examples`; see requirements-examples.txt.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from examples.pytorch_port import Port, parts_of
from model.analysis import AttentionCell, decompose_attention_score, direct_logit_attribution
from model.correction.corrector import Corrector
from model.stored.config import TransformerConfig
from model.text.changes import find_changes
from model.text.tokenizer import START_ID, Tokenizer
from model.trace.interventions import Head, Node
from tests.plain_transformer import PlainNetwork
from tests.random_weights import equal_networks

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
TOLERANCE = 1e-4  # nats
LAYERS, HEADS, WIDTH = 2, 2, 16


class HeldNorm(nn.LayerNorm):
    """A normalisation whose scale has no gradient."""

    def forward(self, x):
        scale = (x.var(-1, correction=0, keepdim=True) + self.eps).sqrt().detach()
        return (x - x.mean(-1, keepdim=True)) / scale * self.weight + self.bias


class Taken:
    """The port to PyTorch for one sentence, taken apart by hooks.

    ``parts``: by node, or side and name, its addition to the stream as a leaf: gradients reach it through the
    sums of the stream, and through no later part.
    """

    def __init__(self, port):
        self.port, self.parts, self.scores = port.double(), {}, {}
        for module in self.port.modules():
            if isinstance(module, nn.LayerNorm):
                module.__class__ = HeldNorm
        self.port.embedding.register_forward_hook(self.begun)
        for side in ("encoder", "decoder"):
            for layer, block in enumerate(getattr(self.port, side)):
                fed = Node(f"{side}_feed_forward", layer)
                block.feed_forward.register_forward_hook(partial(self.fed, fed))
                for name, attention in block.attentions.items():
                    kind = f"{side if name == 'self_attention' else 'cross'}_attention"
                    attention.weights.register_forward_pre_hook(partial(self.scored, kind, layer))
                    attention.output.register_forward_hook(partial(self.joined, kind, layer))

    def keep(self, key, tensor):
        self.parts[key] = tensor.detach().clone().requires_grad_()
        return self.parts[key]

    def begun(self, embedding, given, output):
        side = "decoder" if ("encoder", "embedding") in self.parts else "encoder"
        tokens = embedding.vectors()[given[0][0]] * WIDTH**0.5
        kept = self.keep((side, "embedding"), tokens) + self.keep((side, "position"), output[0] - tokens)
        return kept[None]

    def fed(self, node, _, given, output):
        return self.keep(node, output[0])[None]

    def scored(self, kind, layer, _, given):
        self.scores[kind, layer] = given[0][0]

    def joined(self, kind, layer, projection, given, _):
        heads, found = given[0][0].unflatten(-1, (HEADS, -1)), projection.bias
        for head, kernel in enumerate(projection.weight.T.unflatten(0, (HEADS, -1))):
            found = found + self.keep(Node(kind, layer, head), heads[:, head] @ kernel)
        return found[None]

    def score(self, source, target, contrast):
        """log p(written) - log p(instead) at the row of a contrast."""
        logits = self.port(torch.tensor([source]), torch.tensor([[START_ID, *target[:-1]]]))[0, contrast.row]
        return logits[contrast.written] - logits[contrast.instead]


@pytest.fixture(scope="module", params=[True, False], ids=["norm first", "norm last"])
def networks(request):
    """(a corrector over a network in NumPy, the maker of the one in PyTorch) with the same random weights."""
    tokenizer = Tokenizer("전오래쓸수있는게요씂깄겍 ")
    config = TransformerConfig(tokenizer.vocab_size, WIDTH, LAYERS, HEADS, 32, 0.0, True, 40)
    config = replace(config, norm_first=request.param)
    _, plain = equal_networks(config, tokenizer)
    corrector = Corrector("tiny", PlainNetwork(plain, tokenizer.encode_target(" ")[0]), tokenizer, "0")

    def taken():
        about, tensors = parts_of(config, tokenizer, plain._weights)
        port = Port(about)
        port.load_state_dict(tensors)
        return Taken(port)

    return corrector, taken


def ids_of(corrector):
    return corrector.tokenizer.encode_source(SOURCE), corrector.tokenizer.encode_target(TARGET)


def test_direct_logit_attribution_is_gradient_times_part(networks):
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
                continue  # biases, which are no separate part here
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
def test_a_decomposed_attention_score_is_gradient_times_part(networks, layer, head):
    corrector, make = networks
    row, column = 4, 3
    cell = AttentionCell(Head("cross_attention", layer, head), row, column)
    look = decompose_attention_score(corrector, SOURCE, TARGET, cell)
    network = make()
    network.score(*ids_of(corrector), direct_logit_attribution(corrector, SOURCE, TARGET).questions[row])
    scores = network.scores["cross_attention", layer][head, row]
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
