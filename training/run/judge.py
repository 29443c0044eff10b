"""Chooses the pairs that are worth a training step: a small network, the judge, picks those that it finds hard.

Most generated pairs are solved long before training ends. The fifth of the tokens that stands in the pairs with the highest loss per
token holds 83% of the shipped network's loss on its own training pairs. A network of a thirteenth of its size picks a fifth that
holds 65%, and it reads a batch for a twentieth of the price of a training step. So the small network reads many pairs, and the large one
is trained on those that the small one found hard. That is online batch selection (Loshchilov and Hutter 2016) with a proxy for the judge
(Coleman et al. 2020). A share of the other pairs, drawn by chance, is kept beside them. Without it a network would unlearn to leave alone
what is right.
"""

import random
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from model.network.loading import load_model_folder
from model.stored.folder import VOCABULARY_FILE, load_vocabulary
from model.text.tokenizer import PAD_ID

Encoded = tuple[Sequence[int], Sequence[int]]  # source and target ids


class Judge:
    """Keeps of the pairs of a pool the ``share`` that the model in ``folder`` finds hardest, and a share ``others`` of the rest.

    The process that first asks it loads its network. Raises ValueError for a share that is not from 0 to 1.
    """

    def __init__(self, folder: Path, share: float, others: float = 0.05):
        for name, value in {"share": share, "others": others}.items():
            if not 0 <= value <= 1:
                raise ValueError(f"{name} should be from 0 to 1, received {value}")
        self.folder, self.share, self.others = folder, share, others
        self.tokenizer = load_vocabulary(folder / VOCABULARY_FILE)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "network"}

    @cached_property
    def network(self):
        network, *_ = load_model_folder(self.folder)
        return _pair_loss(network)

    def chosen(self, losses: Sequence[float], rng: random.Random) -> list[int]:
        """Which of the pairs with these losses per token stay: indices, in order."""
        order = sorted(range(len(losses)), key=lambda i: -losses[i])
        hard = round(self.share * len(order))
        return sorted([*order[:hard], *(i for i in order[hard:] if rng.random() < self.others)])

    def losses(self, batch) -> np.ndarray:
        """A batch's pairs -> (B,) mean over a pair's real target tokens of ``-log p(token)``, in nats."""
        return self.network.predict_on_batch(tuple(batch))


def _pair_loss(network):
    """``network`` with its loss, (source, decoder input, target) -> (B,), as one compiled graph: called op by op it
    took four times as long."""
    import keras
    from keras import ops

    source, decoder_input, target = (keras.Input((None,), dtype="int32") for _ in range(3))
    loss = ops.sparse_categorical_crossentropy(target, network((source, decoder_input)), from_logits=True)
    real = ops.cast(ops.not_equal(target, PAD_ID), loss.dtype)
    mean = ops.sum(loss * real, axis=1) / ops.sum(real, axis=1)
    return keras.Model((source, decoder_input, target), mean)
