"""``Port``: the correcting network in PyTorch, with equal logits and with gradients."""

import numpy as np
import pytest
import torch

from examples.pytorch_port import START, Port, write
from model import Corrector, Intervention


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    corrector, folder = Corrector.load(), tmp_path_factory.mktemp("port")
    write(corrector, folder)
    return corrector, Port.load(folder)


@pytest.mark.parametrize("texts", [("밥을 머거요.", "밥을 먹어요."), ("안되요", "안 돼요")])
def test_its_logits_are_those_of_the_network(both, texts):
    corrector, port = both
    source, target = corrector.tokenizer.encode_source(texts[0]), corrector.tokenizer.encode_target(texts[1])
    own = corrector.laboratory.pass_over([source], [target], [Intervention()])
    kept, read = [], torch.tensor([[START, *target[:-1]]])
    look = port.decoder[3].attentions["cross_attention"].weights
    hook = look.register_forward_hook(lambda module, given, weights: kept.append(weights[0].numpy()))
    with torch.no_grad():
        logits, padded = (port(torch.tensor([ids]), read)[0].numpy() for ids in (source, [*source, 0, 0]))
    hook.remove()
    close = {"atol": 1e-5 * np.abs(own.logits).max(), "rtol": 0}
    np.testing.assert_allclose(logits, own.logits[0], **close)
    np.testing.assert_allclose(padded, logits, **close)
    np.testing.assert_allclose(kept[0], own.attention["cross_attention"][0, 3], atol=1e-5)


def test_it_has_gradients(both):
    corrector, port = both
    ids = torch.tensor([corrector.tokenizer.encode_source("머거요")])
    port(ids, torch.tensor([[START]]))[0, 0].max().backward()
    assert port.encoder[0].attentions["self_attention"].query.weight.grad.abs().max() > 0
