"""``GraphReading``: a draft reuses the last pass; a correction leaves no telemetry file."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model.graph.network import GraphReading, load_graph
from model.stored.folder import ASSETS
from model.text.tokenizer import pad

CLOSE = 1e-5
SOURCE = "할수 있어"


class Counting:
    """A decoder that notes how many tokens it was given in each pass."""

    def __init__(self, decode):
        self.decode, self.tokens = decode, []

    def __call__(self, inputs):
        self.tokens.append(inputs["ids"].shape[1])
        return self.decode(inputs)


@pytest.fixture(scope="module", params=["growing-up", "seq2seq"])
def network(request):
    graph, tokenizer, _ = load_graph(ASSETS / request.param, None, lambda: None)
    source = tokenizer.encode_source(SOURCE)
    return request.param, source, graph._encode({"source": pad([source])}), graph._decode, tokenizer


def test_what_is_taken_over_changes_nothing(network):
    name, source, encoded, decode, tokenizer = network
    counting = Counting(decode)
    reading = GraphReading(counting, encoded)
    for text in (SOURCE, "할 수 있어요", "할 수", "할 수도 있다", "아니", SOURCE, SOURCE):
        draft = tokenizer.encode_target(text)
        one = reading.pass_over([draft]).row(0, source, draft)
        two = GraphReading(decode, encoded).pass_over([draft]).row(0, source, draft)
        np.testing.assert_allclose(one.logits, two.logits, atol=1e-4)
        assert one.attention.keys() == two.attention.keys()
        for kind in one.attention:
            np.testing.assert_allclose(one.attention[kind], two.attention[kind], atol=CLOSE, err_msg=kind)
            np.testing.assert_allclose(one.attention[kind].sum(axis=-1), 1, atol=CLOSE)
    # The decoder reads the start mark and the text: of 할 수 있어요 behind <s>할수 있어 six tokens
    # are new. A recurrent network reads all of it again.
    everything = [6, 8, 4, 8, 3, 6, 6]
    assert counting.tokens == ([6, 6, 1, 4, 2, 5, 1] if name == "growing-up" else everything)


def test_a_sentence_of_a_moment_ago_is_not_encoded_again():
    graph, tokenizer, _ = load_graph(ASSETS / "growing-up", None, lambda: None)
    encode, encoded = graph._encode, []
    graph._encode = lambda inputs: encoded.append(inputs["source"].shape) or encode(inputs)
    source, others = (
        tokenizer.encode_source("머거요"),
        [tokenizer.encode_source(text) for text in "가나다라마"],
    )
    (first,) = graph.read([source], [tokenizer.encode_target("먹어요")])
    graph.read([source], [tokenizer.encode_target("먹었다")])
    (again,) = graph.read([source], [tokenizer.encode_target("먹어요")])
    assert encoded == [(1, 4)]
    assert (again.logits == first.logits).all()  # the pass in between changes nothing
    graph.produce(others)
    assert len(encoded) == 6
    graph.read([source], [first.ids])  # the others took its place in the cache
    assert len(encoded) == 7


ROOT = Path(__file__).parents[3]
ASKED = "from model import Corrector; assert Corrector.load().correct('고갱이 왔다').trace"


def test_an_answer_leaves_no_record_of_the_device(tmp_path):
    """The runtime's reports begin with files: an identifier of the device, and the data to send."""
    places = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    environment = {
        name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"
    } | places
    subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT, env=environment, check=True, timeout=120)
    assert list(tmp_path.rglob("*")) == []
