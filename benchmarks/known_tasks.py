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
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from model.trace.interventions import ATTENTIONS, Node, nodes_of

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
    value: Callable[..., np.ndarray]  # (B,) or (B, N)
    of: tuple[str, ...] = ("read",)  # names of the arguments of ``value``


@dataclass(frozen=True)
class Task:
    """A program and the size of the network that should hold it."""

    name: str
    parts: Mapping[str, Part]
    layers: int = 2
    has_encoder: bool = False
    draw: Callable[[np.random.Generator, int], np.ndarray] | None = None  # (B, N) letters; else any six
    asks: bool = True  # whether a decoder's prompt ends with ASK
    answer: Callable[..., np.ndarray] | None = None  # (B, LETTERS) logits from both parts; else of the last

    @property
    def heads(self) -> int:
        return 2 if self.has_encoder else 4

    @property
    def sides(self) -> tuple[str, ...]:
        return ("encoder", "decoder") if self.has_encoder else ("decoder",)

    def kinds(self, side: str) -> tuple[str, ...]:
        """The kinds of attention of a side."""
        return ATTENTIONS[side] if self.has_encoder else ATTENTIONS[side][:1]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the network."""
        kinds = {kind for side in self.sides for kind in self.kinds(side)}
        return nodes_of(
            lambda side: self.layers * (side in self.sides), lambda kind: self.heads * (kind in kinds)
        )

    @property
    def circuit(self) -> frozenset[Node]:
        return frozenset(part.node for part in self.parts.values())

    @property
    def answered_by(self) -> tuple[str, ...]:
        """The parts that the answer reads: "one" and "other", or the last."""
        return BOTH if self.answer else tuple(self.parts)[-1:]

    @property
    def edges(self) -> frozenset[tuple[Node, Node | None]]:
        """(sender, receiver) between parts, and from parts to the answer, whose receiver is None."""
        receivers = [(part.of, part.node) for part in self.parts.values()] + [(self.answered_by, None)]
        return frozenset(
            (self.parts[name].node, node) for names, node in receivers for name in names if name in self.parts
        )

    def texts(self, rng: np.random.Generator, count: int) -> Texts:
        """Random texts of B = ``count`` rows."""
        read = self.draw(rng, count) if self.draw else rng.integers(LETTERS, size=(count, 6))
        return Texts(read, rng.integers(LETTERS, size=(count, 2 * self.has_encoder)))

    def ids(self, texts: Texts) -> dict[str, np.ndarray]:
        """Ids by side that the encoder (B, S) and the decoder (B, Q) read."""
        if self.has_encoder:
            read = texts.read, np.pad(texts.before, ((0, 0), (1, 0)), constant_values=START)
        else:
            end = ((0, 0), (0, int(self.asks)))
            read = texts.read[:, :0], np.pad(texts.read, end, constant_values=ASK)
        return {side: ids.astype(np.int32) for side, ids in zip(ATTENTIONS, read, strict=True)}

    def values(self, texts: Texts, given: Values | None = None, swapped: Values | None = None) -> Values:
        """The texts, and each part's value; in rows where ``swapped`` (B,) is True the one of ``given``."""
        found: dict[str, np.ndarray] = texts._asdict()
        for name, part in self.parts.items():
            found[name] = value = part.value(*(found[each] for each in part.of))
            if given is not None and swapped is not None:
                where = swapped[name].reshape(-1, *[1] * (value.ndim - 1))
                found[name] = np.where(where, given[name], value)
        return found

    def logits(self, values: Values) -> np.ndarray:
        """(B, LETTERS) of the answer."""
        answer: Callable[..., np.ndarray] = self.answer or spoken
        return answer(*(values[name] for name in self.answered_by))


def spoken(value: np.ndarray, strength: float = STRENGTH) -> np.ndarray:
    """(B,) letters -> (B, LETTERS) logits; zeros for NONE."""
    return strength * (value[:, None] == np.arange(LETTERS))


def yes_of_either(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Logits of letter 1 in rows where one of both is 1, else of letter 0."""
    return spoken(((one == 1) | (other == 1)).astype(int))


def one_against_other(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The first speaks for its letter, the other against it."""
    return spoken(one, 4.0) - spoken(other, 2.5)


def at(place: int) -> Callable[[np.ndarray], np.ndarray]:
    """(B, N) -> (B,): the letter there."""
    return lambda letters: letters[:, place]


def found_at(keys: np.ndarray, query: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(B,): of ``values`` (B, N) the first at which ``keys`` (B, N) equals ``query`` (B,); else NONE."""
    equal = keys == query[:, None]
    return np.where(equal.any(1), values[np.arange(len(keys)), equal.argmax(1)], NONE)


def induced(before: np.ndarray, read: np.ndarray) -> np.ndarray:
    """(B,): the letter after the first occurrence of the last one, from the letter before each."""
    return found_at(before, read[:, -1], read)


def shifted(letters: np.ndarray, by: int) -> np.ndarray:
    """(B, N): the letter ``by`` places before each; NONE beyond the ends."""
    found = np.roll(letters, by, axis=1)
    found[:, slice(None, by) if by > 0 else slice(by, None)] = NONE
    return found


previous, following = partial(shifted, by=1), partial(shifted, by=-1)


def occurs(read: np.ndarray) -> np.ndarray:
    """(B,): 1 in rows with the letter 0, else 0."""
    return (read == 0).any(1).astype(int)


def turned(value: np.ndarray) -> np.ndarray:
    """A fixed exchange of letters, which a feed-forward network can learn; NONE stays.

    >>> turned(np.array([0, 1, NONE]))
    array([2, 5, 8])
    """
    return np.append((3 * np.arange(LETTERS) + 2) % LETTERS, NONE)[value]


def other_name(read: np.ndarray, subject: np.ndarray) -> np.ndarray:
    """(B,): the one of the first two letters that is not the subject."""
    return np.where(read[:, 0] == subject, read[:, 1], read[:, 0])


def different(rng: np.random.Generator, count: int, length: int) -> np.ndarray:
    """(B, N): different letters."""
    return rng.permuted(np.tile(np.arange(LETTERS), (count, 1)), axis=1)[:, :length]


def repeated(rng: np.random.Generator, count: int) -> np.ndarray:
    """(B, 6): different letters, the last of which is one of those before it."""
    read = different(rng, count, 6)
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
    read = different(rng, count, 3)
    read[:, 2] = read[np.arange(count), rng.integers(2, size=count)]
    return read


def keys_and_values(rng: np.random.Generator, count: int) -> np.ndarray:
    """(B, 7): three pairs of key and value, all different, and a letter that ``turned`` maps to a key."""
    read = different(rng, count, 7)
    back = np.argsort(turned(np.arange(LETTERS)))
    read[:, 6] = back[read[np.arange(count), 2 * rng.integers(3, size=count)]]
    return read


_encoder, _decoder, _cross = (partial(Node, f"{kind}_attention") for kind in ("encoder", "decoder", "cross"))
FED = Node("decoder_feed_forward", 1)
BOTH = ("one", "other")


def _pair(one: Node, other: Node, *value: Any) -> dict[str, Part]:
    """Two nodes that compute the same."""
    return {"one": Part(one, *value), "other": Part(other, *value)}


TASKS = (
    Task("a letter", {"one": Part(_decoder(0, 1), at(0))}),
    Task(
        "induction",
        {
            "previous": Part(_decoder(0, 2), previous),
            "found": Part(_decoder(1, 0), induced, ("previous", "read")),
        },
        draw=repeated,
        asks=False,
    ),
    Task("a letter turned", {"one": Part(_decoder(0, 3), at(2)), "turned": Part(FED, turned, ("one",))}),
    Task(
        "sum",
        {
            "one": Part(_decoder(0, 0), at(1)),
            "other": Part(_decoder(0, 2), at(3)),
            "sum": Part(FED, lambda one, other: (one + other) % LETTERS, BOTH),
        },
    ),
    Task(
        "redundant", _pair(_decoder(0, 1), _decoder(1, 2), occurs), draw=with_some_zeros, answer=yes_of_either
    ),
    Task("inhibiting", _pair(_decoder(0, 0), _decoder(1, 3), at(0)), answer=one_against_other),
    Task(
        "other name, inhibiting",
        {
            "subject": Part(_decoder(0, 1), at(2)),
            **_pair(_decoder(1, 0), _decoder(2, 2), other_name, ("read", "subject")),
        },
        layers=3,
        draw=two_names,
        answer=one_against_other,
    ),
    Task(
        "key and value",
        {
            "previous": Part(_decoder(0, 3), previous),
            "turned": Part(Node("decoder_feed_forward", 0), lambda read: turned(read[:, -1])),
            "found": Part(_decoder(1, 1), found_at, ("previous", "turned", "read")),
        },
        layers=3,
        draw=keys_and_values,
        asks=False,
    ),
    Task(
        "redundant, four layers",
        _pair(_decoder(1, 0), _decoder(3, 1), occurs),
        layers=4,
        draw=with_some_zeros,
        answer=yes_of_either,
    ),
    Task("a letter in the source", {"one": Part(_cross(1, 0), at(2))}, has_encoder=True),
    Task(
        "the next letter turned",
        {
            "next": Part(_encoder(1, 0), following),
            "one": Part(_cross(1, 1), at(1), ("next",)),
            "turned": Part(FED, turned, ("one",)),
        },
        has_encoder=True,
    ),
    Task(
        "turned in the encoder",
        {
            "turned": Part(Node("encoder_feed_forward", 0), turned),
            "one": Part(_cross(0, 1), at(0), ("turned",)),
        },
        has_encoder=True,
    ),
    Task(
        "pointer",
        {
            "pointer": Part(_decoder(0, 1), lambda before: before[:, 0] % 6, ("before",)),
            "one": Part(
                _cross(1, 0), lambda read, place: read[np.arange(len(read)), place], ("read", "pointer")
            ),
        },
        has_encoder=True,
    ),
    Task(
        "redundant in the source",
        _pair(_cross(0, 1), _cross(1, 0), occurs),
        has_encoder=True,
        draw=with_some_zeros,
        answer=yes_of_either,
    ),
    Task(
        "induction in the encoder",
        {
            "previous": Part(_encoder(0, 1), previous),
            "found": Part(_encoder(1, 0), induced, ("previous", "read")),
            "one": Part(_cross(1, 1), np.copy, ("found",)),
        },
        has_encoder=True,
        draw=repeated,
    ),
    Task(
        "inhibiting, three layers",
        {
            "next": Part(_encoder(0, 1), following),
            **_pair(_cross(1, 0), _cross(2, 1), at(2), ("next",)),
        },
        layers=3,
        has_encoder=True,
        answer=one_against_other,
    ),
)
