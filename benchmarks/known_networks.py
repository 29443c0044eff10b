"""Small networks that hold a known circuit, trained by strict interchange interventions.

In every step the outputs of random nodes come from a pass over other letters. Where they are nodes of the
circuit, the network should answer as the program of its task does with the same parts exchanged; where they
are others, as without the exchange. So the circuit computes the answer, and nothing else does.

Shapes: B rows, V tokens, L layers, H heads, Q positions, D d_model.

References:
    Geiger et al., "Inducing Causal Structure for Interpretable Neural Networks" (2022).
    Gupta et al., "InterpBench" (2024).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from benchmarks.known_tasks import LETTERS, START, TOKENS, Task
from model.activations.walk import ActivationWalk
from model.adapters.own_stream import Built, OwnStream
from model.stored.config import ATTENTION_PATHS
from model.trace.interventions import Node, Normalisation

WIDTH, HIDDEN, LONGEST = 32, 64, 8
STEPS, BATCH, RATE = 3000, 128, 4e-3
ENOUGH = 0.01  # nats of the loss, mean of 100 steps, at which the training ends
SWAPPED = 0.0, 0.3, 1.0  # shares of the nodes outside of the circuit that are exchanged in a row
EXCHANGED = 0.0, 0.3, 0.6  # of the nodes of the circuit

Ids = Mapping[str, Any]  # (B, Q) by side


def first_arrays(task: Task, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random float32 arrays in the paths of ``model.activations.sublayers``."""
    arrays: dict[str, np.ndarray] = {}

    def dense(path: str, entering: int, leaving: int) -> None:
        arrays[f"{path}/kernel"] = rng.normal(0, entering**-0.5, (entering, leaving))
        arrays[f"{path}/bias"] = np.zeros(leaving)

    def norm(path: str) -> None:
        arrays[f"{path}/gamma"], arrays[f"{path}/beta"] = np.ones(WIDTH), np.zeros(WIDTH)

    for side in task.sides:
        arrays[f"{side}/tokens"] = rng.normal(0, 1, (TOKENS, WIDTH))
        arrays[f"{side}/positions"] = rng.normal(0, 1, (LONGEST, WIDTH))
        norm(f"{side}_norm")
        for layer in range(1, task.layers + 1):
            for kind in task.kinds(side):
                path, around = ATTENTION_PATHS[kind]
                norm(f"{side}_{layer}/{around}/norm")
                for part in ("query", "key", "value", "output"):
                    dense(f"{side}_{layer}/{path}/{part}", WIDTH, WIDTH)
            norm(f"{side}_{layer}/around_feed_forward/norm")
            dense(f"{side}_{layer}/feed_forward/hidden", WIDTH, HIDDEN)
            dense(f"{side}_{layer}/feed_forward/output", HIDDEN, WIDTH)
    dense("output", WIDTH, TOKENS)
    return {name: each.astype(np.float32) for name, each in arrays.items()}


class Swap(NamedTuple):
    """Outputs of nodes in another pass, and in which rows (B, nodes) they replace those of this one."""

    outputs: Mapping[str, Any]  # by sub-layer, of heads (B, H, Q, D/H)
    rows: Any


class Forward:
    """A pass in TensorFlow, with outputs of nodes from another pass.

    ``outputs``: of all nodes, as in ``Swap``; ``logits``: (B, V) of the last row.
    """

    def __init__(self, task: Task, arrays: Mapping[str, Any], ids: Ids, swap: Swap | None = None):
        self.task, self.arrays, self.swap = task, arrays, swap
        self.outputs: dict[str, Any] = {}
        x: Any = None
        for side in task.sides:
            x = self._side(side, ids[side], x)
        self.logits = self._dense("output", x[:, -1])

    def _side(self, side: str, ids: Any, memory: Any) -> Any:
        """The normalised end of the stream (B, Q, D)."""
        x = tf.gather(self.arrays[f"{side}/tokens"], ids) + self.arrays[f"{side}/positions"][: ids.shape[1]]
        for layer in range(self.task.layers):
            name = f"{side}_{layer + 1}"
            for kind in self.task.kinds(side):
                path, around = ATTENTION_PATHS[kind]
                entered = self._norm(f"{name}/{around}/norm", x)
                read = memory if kind == "cross_attention" else entered
                heads = self._swapped(Node(kind, layer, 0), self._heads(f"{name}/{path}", entered, read))
                x += self._dense(
                    f"{name}/{path}/output", tf.reshape(tf.transpose(heads, (0, 2, 1, 3)), tf.shape(x))
                )
            entered = self._norm(f"{name}/around_feed_forward/norm", x)
            hidden = tf.nn.relu(self._dense(f"{name}/feed_forward/hidden", entered))
            fed = self._dense(f"{name}/feed_forward/output", hidden)[:, None]
            x += self._swapped(Node(f"{side}_feed_forward", layer), fed)[:, 0]
        return self._norm(f"{side}_norm", x)

    def _swapped(self, node: Node, output: Any) -> Any:
        """``output`` (B, count, Q, ...) of some nodes from ``node`` on, exchanged in some rows."""
        name = f"{node.kind} {node.layer}"
        if self.swap is not None:
            first = self.task.nodes.index(node)
            rows = self.swap.rows[:, first : first + output.shape[1], None, None]
            output = tf.where(rows, self.swap.outputs[name], output)
        self.outputs[name] = output
        return output

    def _dense(self, path: str, x: Any) -> Any:
        return tf.tensordot(x, self.arrays[f"{path}/kernel"], 1) + self.arrays[f"{path}/bias"]

    def _norm(self, path: str, x: Any) -> Any:
        x -= tf.reduce_mean(x, -1, keepdims=True)
        deviation = tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + Normalisation().epsilon)
        return x * deviation * self.arrays[f"{path}/gamma"] + self.arrays[f"{path}/beta"]

    def _heads(self, path: str, asking: Any, read: Any) -> Any:
        """The outputs (B, H, Q, D/H) of all heads."""
        size = self.task.heads, WIDTH // self.task.heads
        query, key, value = (
            tf.transpose(tf.reshape(self._dense(f"{path}/{part}", x), (-1, x.shape[1], *size)), (0, 2, 1, 3))
            for part, x in (("query", asking), ("key", read), ("value", read))
        )
        scores = tf.matmul(query, key, transpose_b=True) / np.float32(np.sqrt(size[1]))
        if path.startswith("decoder") and path.endswith("self_attention"):
            scores += np.triu(np.full(scores.shape[-2:], -1e9, np.float32), 1)
        return tf.nn.softmax(scores) @ value


class Example(NamedTuple):
    """A batch of training: ids by side of two texts, exchanged nodes (B, nodes), probabilities (B, V)."""

    ids: dict[str, np.ndarray]
    other: dict[str, np.ndarray]
    rows: np.ndarray
    answers: np.ndarray


def example(task: Task, rng: np.random.Generator, count: int = BATCH) -> Example:
    """Random texts, exchanges, and the program's answers under them."""
    texts, others = task.texts(rng, count), task.texts(rng, count)
    share = rng.choice(SWAPPED, (count, 1))
    circuit = np.array([node in task.circuit for node in task.nodes])
    rows = rng.random((count, len(task.nodes))) < np.where(circuit, rng.choice(EXCHANGED, (count, 1)), share)
    swapped = {name: rows[:, task.nodes.index(part.node)] for name, part in task.parts.items()}
    logits = np.full((count, TOKENS), -9.0)
    logits[:, :LETTERS] = task.logits(task.values(texts, task.values(others), swapped))
    answers = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return Example(task.ids(texts), task.ids(others), rows, answers.astype(np.float32))


def train(task: Task, seed: int = 0, steps: int = STEPS) -> tuple[dict[str, np.ndarray], float]:
    """The arrays of a network that holds the circuit of ``task``, and its last loss in nats."""
    rng = np.random.default_rng(seed)
    begin = first_arrays(task, rng)
    weights = tf.Variable(np.concatenate([each.ravel() for each in begin.values()]))
    mean, square = tf.Variable(tf.zeros_like(weights)), tf.Variable(tf.zeros_like(weights))  # of Adam

    def split() -> dict[str, Any]:
        parts = tf.split(weights, [each.size for each in begin.values()])
        return {
            name: tf.reshape(part, each.shape)
            for (name, each), part in zip(begin.items(), parts, strict=True)
        }

    @tf.function
    def step(batch: Example, rate: Any, number: Any) -> Any:
        with tf.GradientTape() as tape:
            arrays = split()
            swap = Swap(Forward(task, arrays, batch.other).outputs, batch.rows)
            logits = Forward(task, arrays, batch.ids, swap).logits
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(batch.answers, logits))
        gradient = tf.clip_by_norm(tape.gradient(loss, weights), 1.0)
        mean.assign(0.9 * mean + 0.1 * gradient)
        square.assign(0.999 * square + 0.001 * gradient**2)
        moved = mean / (1 - 0.9**number) / (tf.sqrt(square / (1 - 0.999**number)) + 1e-8)
        weights.assign_sub(rate * moved)
        return loss

    losses = []
    for number in range(1, steps + 1):
        rate = RATE * min(number / 100, 1.0) * (1 + np.cos(np.pi * number / steps)) / 2
        batch = example(task, rng)
        entropy = -(batch.answers * np.log(batch.answers + 1e-9)).sum(1).mean()
        losses.append(float(step(batch, np.float32(rate), np.float32(number))) - entropy)
        if number % 100 == 0:
            print(f"{task.name}: step {number}, {np.mean(losses[-100:]):.4f} nats", flush=True)
            if np.mean(losses[-100:]) < ENOUGH:
                break
    return {name: each.numpy() for name, each in split().items()}, float(np.mean(losses[-100:]))


class _Walk(OwnStream):
    """A walk whose feed-forward networks are those of our networks."""

    feed_forward = ActivationWalk.feed_forward
    feed_forward_keys = ActivationWalk.feed_forward_keys
    feed_forward_gradient = ActivationWalk.feed_forward_gradient


def stream_of(task: Task, arrays: Mapping[str, np.ndarray]) -> OwnStream:
    """The network in the NumPy walk."""
    built = Built(
        layers=dict.fromkeys(task.sides, task.layers),
        heads={kind: task.heads for side in task.sides for kind in task.kinds(side)},
        norm_first=True,
        normalisation=Normalisation(),
        start=START,
        embeddings={side: arrays[f"{side}/tokens"] for side in task.sides},
        positions=lambda side, length: arrays[f"{side}/positions"][:length],
        begins={},
        output=np.ascontiguousarray(arrays["output/kernel"].T),
        output_bias=arrays["output/bias"],
        feed_forward=lambda side, layer, entered: entered,
        feed_forward_gradient=lambda side, layer, entered, towards: towards,
    )
    return _Walk(built if task.has_encoder else built.alone(), arrays)
