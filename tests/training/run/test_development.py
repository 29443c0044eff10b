import numpy as np

from model.text.tokenizer import Tokenizer
from training.corpus.selection import choose_characters
from training.run.steps import DevelopmentSet
from training.run.stream import StreamSettings, batch_shapes

SENTENCES = [f"{'아주 ' * (number % 20)}긴 문장을 {number}번 읽었다." for number in range(100)]


def rows(batches) -> list[tuple]:
    """The real tokens of each row that is not empty."""
    pairs = (pair for batch in batches for pair in zip(batch.source, batch.target, strict=True))
    return sorted(tuple(tuple(side[side > 0].tolist()) for side in pair) for pair in pairs if pair[1].any())


def test_batches_of_a_few_widths_hold_the_same_pairs_in_the_shapes_of_training():
    dev = DevelopmentSet(SENTENCES, Tokenizer(choose_characters([])), max_length=128)
    settings = StreamSettings(widths=(24, 48, 164), batch_tokens=400)
    batches = dev.batches_of(settings.widths, settings.batch_tokens)
    assert {batch.source.shape for batch in batches} <= {*batch_shapes(settings)}
    assert rows(batches) == rows(dev.batches)
    assert len(rows(batches)) == len(SENTENCES)
    assert all(np.count_nonzero(batch.target) for batch in batches)
