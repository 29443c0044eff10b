"""A pass over a draft takes over what the last pass computed for the same beginning, and finds what a pass from the start finds."""

import numpy as np
import pytest

from model.graph.network import load_graph
from model.graph.reading import Reading
from model.stored.folder import ASSETS
from model.text.tokenizer import pad

CLOSE = 1e-5
SOURCES = ("머거요 그래", "할수 있어", "갓다.")


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

    def begin(decode, sources):
        return Reading(decode, graph._encode({"source": pad(sources)}))

    return request.param, begin, graph._decode, tokenizer


def assert_same_pass(looked, fresh, sources, drafts):
    for row, pair in enumerate(zip(sources, drafts, strict=True)):
        one, two = looked.row(row, *pair), fresh.row(row, *pair)
        np.testing.assert_allclose(one.logits, two.logits, atol=1e-4)
        assert one.attention.keys() == two.attention.keys()
        for kind in one.attention:
            np.testing.assert_allclose(one.attention[kind], two.attention[kind], atol=CLOSE, err_msg=kind)
            np.testing.assert_allclose(one.attention[kind].sum(axis=-1), 1, atol=CLOSE)


def test_what_is_taken_over_changes_nothing(network):
    name, begin, decode, tokenizer = network
    sources = [tokenizer.encode_source(text) for text in SOURCES]
    counting = Counting(decode)
    reading = begin(counting, sources)
    for texts in (SOURCES, ("머거요 그랬지", "할수도 있다", "갓다가."), ("머거요", "할수", "갓다"), SOURCES):
        drafts = [tokenizer.encode_target(text) for text in texts]
        fresh = begin(decode, sources)
        assert_same_pass(reading.pass_over(drafts), fresh.pass_over(drafts), sources, drafts)
    reading.keep([0, 2])
    sources, drafts = sources[::2], [tokenizer.encode_target(text) for text in ("머거요 안", "갓다!")]
    fresh = begin(decode, sources)
    assert_same_pass(reading.pass_over(drafts), fresh.pass_over(drafts), sources, drafts)
    # The start mark and two syllables are alike in all passes; a recurrent network reads them again.
    assert counting.tokens == ([7, 5, 1, 4, 3] if name == "growing-up" else [7, 8, 4, 7, 6])


def test_writing_on_is_writing_from_the_start(network):
    _, begin, decode, tokenizer = network
    sources = [tokenizer.encode_source(text) for text in SOURCES]
    for row, source in enumerate(sources):
        written = begin(decode, [source]).write_on(0, [], 30)
        reading = begin(decode, sources)
        for known in (0, 1, 3):
            reading.pass_over([written[:known] + [5, 6]] * len(sources))
            assert reading.write_on(row, written[:known], 30) == written
        assert reading.write_on(row, written[:1], len(written) - 1) is None  # no end mark among so many


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
    assert (again.logits == first.logits).all()  # whatever was asked in between
    for other in others[:4]:
        graph.produce([other])
    assert len(encoded) == 5
    graph.read([source], [first.ids])  # as many others have been asked about since
    assert len(encoded) == 6
