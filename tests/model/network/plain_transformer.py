"""Attention, gradients and attributions against a second implementation that shares no code with the first.

    python tests/model/network/plain_transformer.py [--model transformer]

The second one is plain NumPy in float64, written from the papers: it reads ``weights.npz`` alone, and its
derivatives are complex steps (Squire & Trapp, SIAM Review 1998), which have no rounding error of differences.
"""

import math

import numpy as np

from model import Corrector
from model.analysis.attribution_methods import integrate, norms, rollout
from model.analysis.contrasts import Edit, contrast_of_edit
from model.text.changes import find_changes
from model.text.tokenizer import START_ID

STEP = 1e-20


class PlainTransformer:
    """A pre-normalised Transformer over one sentence, from a dictionary of arrays by path."""

    def __init__(self, weights: dict[str, np.ndarray], features: np.ndarray, config):
        self.weights = {name.partition("/")[2]: array.astype(np.float64) for name, array in weights.items()}
        self.features, self.config = features, config

    def vectors(self, ids) -> np.ndarray:
        """(N, D): the token's own row and, for a syllable, those of its three jamo."""
        rows = self.features[np.asarray(ids)]
        own, *jamo = (
            self.weights[f"embedding/{name}_embedding"] for name in ("token", "initial", "medial", "final")
        )
        parts = sum(table[rows[:, column]] for column, table in enumerate(jamo, 1))
        return own[rows[:, 0]] + np.where(rows[:, 1:2] > 0, parts, 0)

    def embedded(self, ids, kept) -> np.ndarray:
        width = self.config.d_model
        place = np.arange(len(ids))[:, None] / 10000 ** (2 * (np.arange(width) // 2) / width)
        sinusoid = np.where(np.arange(width) % 2, np.cos(place), np.sin(place))
        return self.vectors(ids) * math.sqrt(width) * np.asarray(kept)[:, None] + sinusoid

    def normalised(self, x, name):
        middle = x.mean(axis=-1, keepdims=True)
        spread = ((x - middle) ** 2).mean(axis=-1, keepdims=True)
        return (x - middle) / np.sqrt(spread + 1e-6) * self.weights[f"{name}/gamma"] + self.weights[
            f"{name}/beta"
        ]

    def linear(self, x, name):
        return x @ self.weights[f"{name}/kernel"] + self.weights[f"{name}/bias"]

    def attention(self, asking, answering, name, causal=False):
        """What is added to the stream, the weights (H, Q, K), and what each key adds (Q, K, D)."""
        heads = self.config.num_heads
        added, weights = 0, []
        parts = [
            self.linear(x, f"{name}/{p}")
            for x, p in ((asking, "query"), (answering, "key"), (answering, "value"))
        ]
        depth = self.config.d_model // heads
        for head in range(heads):
            own = slice(head * depth, (head + 1) * depth)
            query, key, value = (part[:, own] for part in parts)
            logits = query @ key.T / math.sqrt(depth)
            if causal:
                logits = np.where(np.tri(len(logits), dtype=bool), logits, -np.inf)
            shares = np.exp(logits - logits.real.max(axis=1, keepdims=True))
            shares = shares / shares.sum(axis=1, keepdims=True)
            projected = value @ self.weights[f"{name}/output/kernel"][own]
            added = added + shares[:, :, None] * projected[None]
            weights.append(shares)
        return added.sum(axis=1) + self.weights[f"{name}/output/bias"], np.stack(weights), added

    def fed(self, x, name):
        hidden = self.linear(
            self.normalised(x, f"{name}/around_feed_forward/norm"), f"{name}/feed_forward/hidden"
        )
        return x + self.linear(np.where(hidden.real > 0, hidden, 0), f"{name}/feed_forward/output")

    def run(self, source, inputs, kept):
        """Logits (T, V); lists over layers by kind: weights and keys' contributions; ``kept``: (S + T,)."""
        seen = {kind: ([], []) for kind in ("encoder_attention", "decoder_attention", "cross_attention")}

        def attend(kind, x, name, around, asked=None, **more):
            entered = self.normalised(x, f"{name}/{around}/norm")
            part = "cross_attention" if kind == "cross_attention" else "self_attention"
            out, weights, added = self.attention(
                entered, entered if asked is None else asked, f"{name}/{part}", **more
            )
            seen[kind][0].append(weights)
            seen[kind][1].append(added)
            return x + out

        x = self.embedded(source, kept[: len(source)])
        for number in range(1, self.config.num_layers + 1):
            x = attend("encoder_attention", x, f"encoder_{number}", "around_attention")
            x = self.fed(x, f"encoder_{number}")
        memory = self.normalised(x, "encoder_norm")
        x = self.embedded(inputs, kept[len(source) :])
        for number in range(1, self.config.num_layers + 1):
            name = f"decoder_{number}"
            x = attend("decoder_attention", x, name, "around_self_attention", causal=True)
            x = attend("cross_attention", x, name, "around_cross_attention", asked=memory)
            x = self.fed(x, name)
        vocabulary = self.vectors(np.arange(self.config.vocab_size))
        return self.normalised(x, "decoder_norm") @ vocabulary.T + self.weights["embedding/output_bias"], seen

    def slopes(self, source, inputs, asked, share):
        """The score at one point of the path and its derivatives (S + T,)."""
        row, written, instead = asked
        kept = np.full(len(source) + len(inputs), share, complex)
        found = []
        for place in range(len(kept)):
            moved = kept.copy()
            moved[place] += 1j * STEP
            logits = self.run(source, inputs, moved)[0][row]
            found.append((logits[written] - logits[instead]).imag / STEP)
        logits = self.run(source, inputs, kept.real)[0][row]
        return logits[written] - logits[instead], np.array(found)


def plain_norms(seen) -> np.ndarray:
    """(T, S + T) norm-weighted attention, rows divided by their sums."""
    lengths = [
        np.mean([np.sqrt((added**2).sum(-1)) for added in seen[kind][1]], axis=0)
        for kind in ("cross_attention", "decoder_attention")
    ]
    joined = np.hstack(lengths)
    return joined / joined.sum(axis=1, keepdims=True)


def plain_rollout(seen) -> np.ndarray:
    """(T, S + T): one augmented matrix for each layer of the whole network, as in one long encoder."""
    source, target = (seen[kind][0][0].shape[1] for kind in ("encoder_attention", "decoder_attention"))
    flow = np.eye(source + target)
    for weights in seen["encoder_attention"][0]:
        step = np.eye(source + target)
        step[:source, :source] = 0.5 * weights.mean(axis=0) + 0.5 * np.eye(source)
        flow = step @ flow
    for own, cross in zip(seen["decoder_attention"][0], seen["cross_attention"][0], strict=True):
        first, second = np.eye(source + target), np.eye(source + target)
        first[source:, source:] = 0.5 * own.mean(axis=0) + 0.5 * np.eye(target)
        second[source:, source:] = 0.5 * np.eye(target)
        second[source:, :source] = 0.5 * cross.mean(axis=0)
        flow = second @ first @ flow
    return flow[source:]


def differences(corrector: Corrector, plain: PlainTransformer, source: str, target: str) -> dict[str, float]:
    """The largest difference of each quantity between the implementations, relative to its largest value."""
    contrast = contrast_of_edit(corrector, Edit(source, target, find_changes(source, target)[0]))
    asked = contrast.row, contrast.written, contrast.instead
    ids = (
        corrector.tokenizer.encode_source(source),
        corrector.tokenizer.encode_target(target)[: contrast.row + 1],
    )
    inputs = [START_ID, *ids[1][:-1]]
    insides = corrector.laboratory.insides(*ids)
    _, seen = plain.run(ids[0], inputs, np.ones(len(ids[0]) + len(inputs)))
    found = {kind: _apart(insides.attention[kind], np.stack(seen[kind][0])) for kind in seen}
    found["norms"] = _apart(np.hstack(norms(insides)), plain_norms(seen))
    found["rollout"] = _apart(np.hstack(rollout(insides.attention)), plain_rollout(seen))

    def first(points):
        slopes = corrector.laboratory.slopes(*ids, asked, points)
        return slopes.score, np.hstack([slopes.source, slopes.target])

    def second(points):
        score, slopes = zip(*(plain.slopes(ids[0], inputs, asked, point) for point in points), strict=True)
        return np.array(score), np.array(slopes)

    found["gradient x input"] = _apart(first([1.0])[1], second([1.0])[1])
    # The same points of the path for both: which are halved depends on rounding where two errors are alike.
    asked_for: list[list[float]] = []
    one, _ = integrate(lambda points: (asked_for.append(list(points)), first(points))[1])
    known = {
        point: row for points in asked_for for point, row in zip(points, zip(*second(points)), strict=True)
    }
    other, _ = integrate(lambda points: tuple(map(np.array, zip(*(known[p] for p in points), strict=True))))
    found["integrated gradients"] = _apart(one, other)
    return found


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max() / np.abs(other).max())
