"""Generated Korean sentences for the benchmarks: right ones, and pairs with natural errors."""

import random
import tomllib
from pathlib import Path

from training.noise.pairs import NoisyPair, make_pair

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
_PARTS = WORDS["sentences"]
SHORTEST = 16  # tokens; too few sentences have fewer


def right_sentence(rng: random.Random, characters: int) -> str:
    """One sentence, its only full stop at the end, of at least about ``characters`` characters."""
    clauses: list[str] = []
    length = 0
    parts_of = [_PARTS[name] for name in ("when", "who", "where", "how")]
    while True:
        parts = [rng.choice(words) for words in parts_of if rng.random() < 0.6]
        going_on, end = rng.choice(_PARTS["what"])
        length += sum(len(part) + 1 for part in parts) + len(end) + 1
        if length >= characters:
            return " ".join([*clauses, *parts, end])
        clauses += [*parts, going_on]


def pair_of(rng: random.Random, tokens: int) -> NoisyPair:
    """A wrong sentence of exactly ``tokens`` - 1 characters, the end mark being a token, and the right one.

    Raises ValueError for fewer than SHORTEST tokens.
    """
    if tokens < SHORTEST:
        raise ValueError(f"a sentence should have {SHORTEST} tokens or more, received {tokens}")
    while True:
        right = right_sentence(rng, tokens - 12)
        if abs(len(right) + 1 - tokens) <= 1 + tokens // 20:
            made = make_pair(right, rng)
            if made.wrong != right and len(made.wrong) + 1 == tokens:
                return made


def pairs_of_a_file(rng: random.Random, count: int) -> list[NoisyPair]:
    """Sentences of 10 to about 90 characters; one in ten is right as it is, as ``training.noise`` has it."""
    rights = [right_sentence(rng, rng.randint(8, 80)) for _ in range(count)]
    return [make_pair(right, rng) for right in rights]
