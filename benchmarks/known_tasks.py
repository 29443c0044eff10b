"""Programs whose parts are nodes of a small network, for ``known_networks.py``.

A task is a program of parts, each of which a head or a feed-forward network should compute: its circuit. Two
parts may do the same, so that either suffices (redundant), or one speaks against the other's answer
(inhibiting).

Shapes: B rows, N letters that are read, M letters before the answer in an encoder-decoder's target, S and Q
positions that the encoder and the decoder read.

Reference: Gupta et al., "InterpBench: Semi-Synthetic Transformers for Evaluating Mechanistic Interpretability
Techniques" (2024).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from model.trace.interventions import Node, nodes_of

LETTERS = 8
NONE = LETTERS  # the value of a part that finds nothing
ASK, START = LETTERS, LETTERS + 1  # the end of a decoder's prompt, and the first token of a target
TOKENS = LETTERS + 2
STRENGTH = 5.0  # nats by which a part speaks for its answer

Values = Mapping[str, np.ndarray]


class Texts(NamedTuple):
    """The letters of B texts: read (B, N), and before the answer (B, M), which a decoder alone has not."""

    read: np.ndarray
    before: np.ndarray


class Part(NamedTuple):
    """One part of a program: the node that should compute it, and its value from texts and earlier parts."""

    node: Node
    value: Callable[[Texts, Values], np.ndarray]  # (B,) or (B, N)
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """A program and the size of the network that should hold it."""

    name: str
    parts: Mapping[str, Part]
    answer: Callable[[Values], np.ndarray]  # (B, LETTERS) logits
    answered_by: tuple[str, ...]  # the parts that ``answer`` reads
    layers: int = 2
    heads: int = 4
    before: int | None = None  # M of an encoder-decoder; None for a decoder alone
    asks: bool = True  # whether a decoder's prompt ends with ASK
    draw: Callable[[np.random.Generator, int], np.ndarray] | None = None  # (B, N) letters; else any six

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the network."""
        heads = {
            f"{side}_attention": self.heads if side == "decoder" or self.before is not None else 0
            for side in ("encoder", "decoder", "cross")
        }
        layers = {"encoder": 0 if self.before is None else self.layers, "decoder": self.layers}
        return nodes_of(layers.__getitem__, heads.__getitem__)

    @property
    def circuit(self) -> frozenset[Node]:
        return frozenset(part.node for part in self.parts.values())

    @property
    def edges(self) -> frozenset[tuple[Node, Node | None]]:
        """(sender, receiver) between parts, and from parts to the answer, whose receiver is None."""
        between = {
            (self.parts[name].node, part.node) for part in self.parts.values() for name in part.parents
        }
        return frozenset(between | {(self.parts[name].node, None) for name in self.answered_by})

    def texts(self, rng: np.random.Generator, count: int) -> Texts:
        """Random texts of B = ``count`` rows."""
        read = self.draw(rng, count) if self.draw else rng.integers(LETTERS, size=(count, 6))
        return Texts(read, rng.integers(LETTERS, size=(count, self.before or 0)))

    def ids(self, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
        """Ids that the encoder and the decoder read, (B, S) and (B, Q)."""
        if self.before is None:
            return texts.read[:, :0], np.pad(texts.read, ((0, 0), (0, int(self.asks))), constant_values=ASK)
        return texts.read, np.pad(texts.before, ((0, 0), (1, 0)), constant_values=START)

    def values(self, texts: Texts, given: Values | None = None, swapped: Values | None = None) -> Values:
        """The value of each part; in rows where ``swapped`` (B,) is True the one of ``given``."""
        found: dict[str, np.ndarray] = {}
        for name, part in self.parts.items():
            found[name] = value = part.value(texts, found)
            if given is not None and swapped is not None:
                where = swapped[name].reshape(-1, *[1] * (value.ndim - 1))
                found[name] = np.where(where, given[name], value)
        return found


def spoken(value: np.ndarray, strength: float = STRENGTH) -> np.ndarray:
    """(B,) letters -> (B, LETTERS) logits; zeros for NONE."""
    return strength * (value[:, None] == np.arange(LETTERS))


def found_at(keys: np.ndarray, query: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(B,): of ``values`` (B, N) the first at which ``keys`` (B, N) equals ``query`` (B,); else NONE."""
    equal = keys == query[:, None]
    return np.where(equal.any(1), values[np.arange(len(keys)), equal.argmax(1)], NONE)


def shifted(letters: np.ndarray, by: int) -> np.ndarray:
    """(B, N): the letter ``by`` places before each; NONE beyond the ends."""
    found = np.roll(letters, by, axis=1)
    found[:, slice(None, by) if by > 0 else slice(by, None)] = NONE
    return found


def occurs(texts: Texts, _: Values) -> np.ndarray:
    """(B,): 1 in rows with the letter 0, else 0."""
    return (texts.read == 0).any(1).astype(int)


def decided(either: np.ndarray) -> np.ndarray:
    """(B,) bool -> logits: letter 1 for yes, letter 0 for no."""
    return spoken(either.astype(int))


def turned(value: np.ndarray) -> np.ndarray:
    """A fixed exchange of letters, which a feed-forward network can learn; NONE stays.

    >>> turned(np.array([0, 1, NONE]))
    array([2, 5, 8])
    """
    return np.append((3 * np.arange(LETTERS) + 2) % LETTERS, NONE)[value]


def repeated(rng: np.random.Generator, count: int) -> np.ndarray:
    """(B, 6): different letters, the last of which is one of those before it."""
    read = rng.permuted(np.tile(np.arange(LETTERS), (count, 1)), axis=1)[:, :6]
    read[:, -1] = read[np.arange(count), rng.integers(4, size=count)]
    return read


def with_some_zeros(rng: np.random.Generator, count: int) -> np.ndarray:
    """(B, 6): letters without 0, which half of the rows then have in one place."""
    read = rng.integers(1, LETTERS, size=(count, 6))
    rows = np.flatnonzero(rng.random(count) < 0.5)
    read[rows, rng.integers(6, size=len(rows))] = 0
    return read


def two_names(rng: np.random.Generator, count: int) -> np.ndarray:
    """(B, 3): two different letters, and one of them again."""
    read = rng.permuted(np.tile(np.arange(LETTERS), (count, 1)), axis=1)[:, :3]
    read[:, 2] = read[np.arange(count), rng.integers(2, size=count)]
    return read


def keys_and_values(rng: np.random.Generator, count: int) -> np.ndarray:
    """(B, 7): three pairs of key and value, all different, and a letter that ``turned`` maps to a key."""
    read = rng.permuted(np.tile(np.arange(LETTERS), (count, 1)), axis=1)[:, :7]
    back = np.argsort(turned(np.arange(LETTERS)))
    read[:, 6] = back[read[np.arange(count), 2 * rng.integers(3, size=count)]]
    return read


def letter(place: int, of: str = "read") -> Callable[[Texts, Values], np.ndarray]:
    return lambda texts, _: getattr(texts, of)[:, place]


def previous(texts: Texts, _: Values) -> np.ndarray:
    """(B, N): the letter before each."""
    return shifted(texts.read, 1)


def induced(texts: Texts, values: Values) -> np.ndarray:
    """(B,): the letter after the first occurrence of the last one."""
    return found_at(values["previous"], texts.read[:, -1], texts.read)


def other_name(texts: Texts, values: Values) -> np.ndarray:
    """(B,): the one of the first two letters that is not the subject."""
    first, second = texts.read[:, 0], texts.read[:, 1]
    return np.where(first == values["subject"], second, first)


def added(texts: Texts, values: Values) -> np.ndarray:
    """(B,): the sum of two letters modulo LETTERS."""
    one, other = (values[name] for name in ("one", "other"))
    return (one + other) % LETTERS


def _head(kind: str) -> Callable[[int, int], Node]:
    return lambda layer, head: Node(f"{kind}_attention", layer, head)


_encoder, _decoder, _cross = (_head(kind) for kind in ("encoder", "decoder", "cross"))


def _fed(side: str, layer: int) -> Node:
    return Node(f"{side}_feed_forward", layer)


def _turned(name: str) -> Callable[[Texts, Values], np.ndarray]:
    return lambda _, values: turned(values[name])


def _pair(
    value: Callable[[Texts, Values], np.ndarray], one: Node, other: Node, *parents: str
) -> dict[str, Part]:
    return {"one": Part(one, value, parents), "other": Part(other, value, parents)}


def _either(values: Values) -> np.ndarray:
    return decided((values["one"] == 1) | (values["other"] == 1))


def _against(values: Values) -> np.ndarray:
    """The first speaks for its letter, the other against it."""
    return spoken(values["one"], 4.0) - spoken(values["other"], 2.5)


def _says(name: str) -> dict[str, Any]:
    return {"answer": lambda values: spoken(values[name]), "answered_by": (name,)}


BOTH = ("one", "other")
IN_SOURCE: dict[str, Any] = {"before": 2, "heads": 2}
TASKS = (
    Task("a letter", {"one": Part(_decoder(0, 1), letter(0))}, **_says("one")),
    Task(
        "induction",
        {"previous": Part(_decoder(0, 2), previous), "found": Part(_decoder(1, 0), induced, ("previous",))},
        **_says("found"),
        asks=False,
        draw=repeated,
    ),
    Task(
        "a letter turned",
        {
            "one": Part(_decoder(0, 3), letter(2)),
            "turned": Part(_fed("decoder", 1), _turned("one"), ("one",)),
        },
        **_says("turned"),
    ),
    Task(
        "sum",
        {
            **_pair(letter(1), _decoder(0, 0), _decoder(0, 2)),
            "other": Part(_decoder(0, 2), letter(3)),
            "sum": Part(_fed("decoder", 1), added, BOTH),
        },
        **_says("sum"),
    ),
    Task("redundant", _pair(occurs, _decoder(0, 1), _decoder(1, 2)), _either, BOTH, draw=with_some_zeros),
    Task("inhibiting", _pair(letter(0), _decoder(0, 0), _decoder(1, 3)), _against, BOTH),
    Task(
        "other name, inhibiting",
        {
            "subject": Part(_decoder(0, 1), letter(2)),
            **_pair(other_name, _decoder(1, 0), _decoder(2, 2), "subject"),
        },
        _against,
        BOTH,
        layers=3,
        draw=two_names,
    ),
    Task(
        "key and value",
        {
            "previous": Part(_decoder(0, 3), previous),
            "turned": Part(_fed("decoder", 0), lambda texts, _: turned(texts.read[:, -1])),
            "found": Part(
                _decoder(1, 1),
                lambda texts, values: found_at(values["previous"], values["turned"], texts.read),
                ("previous", "turned"),
            ),
        },
        **_says("found"),
        layers=3,
        asks=False,
        draw=keys_and_values,
    ),
    Task(
        "redundant, four layers",
        _pair(occurs, _decoder(1, 0), _decoder(3, 1)),
        _either,
        BOTH,
        layers=4,
        draw=with_some_zeros,
    ),
    Task("a letter in the source", {"one": Part(_cross(1, 0), letter(2))}, **_says("one"), **IN_SOURCE),
    Task(
        "the next letter turned",
        {
            "next": Part(_encoder(1, 0), lambda texts, _: shifted(texts.read, -1)),
            "one": Part(_cross(1, 1), lambda _, values: values["next"][:, 1], ("next",)),
            "turned": Part(_fed("decoder", 1), _turned("one"), ("one",)),
        },
        **_says("turned"),
        **IN_SOURCE,
    ),
    Task(
        "turned in the encoder",
        {
            "turned": Part(_fed("encoder", 0), lambda texts, _: turned(texts.read)),
            "one": Part(_cross(0, 1), lambda _, values: values["turned"][:, 0], ("turned",)),
        },
        **_says("one"),
        **IN_SOURCE,
    ),
    Task(
        "pointer",
        {
            "pointer": Part(_decoder(0, 1), lambda texts, _: texts.before[:, 0] % 6),
            "one": Part(
                _cross(1, 0),
                lambda texts, values: texts.read[np.arange(len(texts.read)), values["pointer"]],
                ("pointer",),
            ),
        },
        **_says("one"),
        **IN_SOURCE,
    ),
    Task(
        "redundant in the source",
        _pair(occurs, _cross(0, 1), _cross(1, 0)),
        _either,
        BOTH,
        draw=with_some_zeros,
        **IN_SOURCE,
    ),
    Task(
        "induction in the encoder",
        {
            "previous": Part(_encoder(0, 1), previous),
            "found": Part(_encoder(1, 0), induced, ("previous",)),
            "one": Part(_cross(1, 1), lambda _, values: values["found"], ("found",)),
        },
        **_says("one"),
        draw=repeated,
        **IN_SOURCE,
    ),
    Task(
        "inhibiting, three layers",
        {
            "next": Part(_encoder(0, 1), lambda texts, _: shifted(texts.read, -1)),
            **_pair(lambda _, values: values["next"][:, 2], _cross(1, 0), _cross(2, 1), "next"),
        },
        _against,
        BOTH,
        layers=3,
        **IN_SOURCE,
    ),
)
