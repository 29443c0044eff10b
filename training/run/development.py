"""The sentences whose loss is watched while a network learns."""

import random
from collections.abc import Sequence

from model.text.tokenizer import Tokenizer
from training.noise.pairs import make_pair
from training.run.stream import Batch, make_batch


class DevelopmentSet:
    """A fixed set of generated pairs, whose loss and token accuracy are watched during training."""

    def __init__(self, items: list, tokenizer: Tokenizer, max_length: int, count: int = 512):
        rng = random.Random(1)
        rows = []
        for item in items[:count]:
            wrong, right = item if not isinstance(item, str) else _wrong_right(item, rng)
            if max(len(wrong), len(right)) <= max_length:
                rows.append((tokenizer.encode_source(wrong), tokenizer.encode_target(right)))
        if not rows:
            raise ValueError(f"no development sentence has at most {max_length} characters")
        self.rows = sorted(rows, key=lambda pair: max(map(len, pair)))
        self.batches = [make_batch(self.rows[i : i + 64]) for i in range(0, len(self.rows), 64)]

    def batches_of(self, widths: Sequence[int], tokens: int) -> list[Batch]:
        """The same pairs in batches of these widths alone, each of ``tokens // width`` rows; empty rows fill up the last."""
        batches, narrower = [], 0
        for width in widths:
            fit = [pair for pair in self.rows if narrower < max(map(len, pair)) <= width]
            count = max(1, tokens // width)
            for i in range(0, len(fit), count):
                rows = fit[i : i + count]
                batches.append(make_batch([*rows, *[([], [])] * (count - len(rows))], width))
            narrower = width
        return batches


def _wrong_right(text: str, rng: random.Random) -> tuple[str, str]:
    pair = make_pair(text, rng)
    return pair.wrong, pair.right
