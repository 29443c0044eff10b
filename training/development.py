"""The sentences whose loss is watched while a network learns."""

import random

import numpy as np

from model.tokenizer import Tokenizer
from training.noise.pairs import make_pair
from training.stream import make_batch


class DevelopmentSet:
    """A fixed set of generated pairs; its loss and token accuracy are watched during training."""

    def __init__(self, items: list, tokenizer: Tokenizer, max_length: int, count: int = 512):
        rng = random.Random(1)
        rows = []
        for item in items[:count]:
            wrong, right = item if not isinstance(item, str) else _wrong_right(item, rng)
            if max(len(wrong), len(right)) <= max_length:
                rows.append((tokenizer.encode_source(wrong), tokenizer.encode_target(right)))
        if not rows:
            raise ValueError(f"no development sentence has at most {max_length} characters")
        rows.sort(key=lambda pair: max(map(len, pair)))
        self.batches = [make_batch(rows[i : i + 64]) for i in range(0, len(rows), 64)]

    def measure(self, network) -> tuple[float, float]:
        """(mean loss in nats, share of right tokens given the right prefix)."""
        loss = right = total = 0.0
        for batch in self.batches:
            logits = np.asarray(network.predict_on_batch((batch.source, batch.decoder_input)), np.float64)
            real = batch.target > 0
            normaliser = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
            chosen = np.take_along_axis(logits, batch.target[..., None].astype(int), -1)[..., 0]
            loss += ((normaliser - chosen) * real).sum()
            right += ((logits.argmax(-1) == batch.target) & real).sum()
            total += real.sum()
        return loss / total, right / total


def _wrong_right(text: str, rng: random.Random) -> tuple[str, str]:
    pair = make_pair(text, rng)
    return pair.wrong, pair.right
