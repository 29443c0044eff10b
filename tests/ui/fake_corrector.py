"""``FakeCorrector``: a corrector without a network, for tests of the pages."""

import unicodedata
from dataclasses import dataclass, replace

import numpy as np

from engine.question import P, Question, R
from model import Correction, SentenceCorrection
from model.stored.config import PROJECTIONS
from model.text.changes import Change, find_changes, in_order
from model.text.keyboard import find_in_english_layout
from model.text.tokenizer import Tokenizer
from model.trace.interventions import Projections
from model.trace.trace import AttentionTrace

LAYERS, HEADS, MAX_LENGTH = 2, 3, 40
OWN_CONFIDENCE = 0.75
# A mistake, its correction, the probability of the correction and that of leaving the text alone.
KNOWN = {"가고"}  # typed as rkrh in the English layout
SURE, DOUBTFUL = ("갱", "객", 0.97, 0.01), ("왓", "왔", 0.6, 0.3)


def attention(rng, layers: int, heads: int, queries: int, keys: int, causal: bool = False) -> np.ndarray:
    """(L, H, Q, K) float32 whose rows sum to 1; exactly 0 right of the diagonal where ``causal``."""
    weights = rng.random((layers, heads, queries, keys)) ** 4
    weights = np.tril(weights) if causal else weights
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def random_trace(source: str, target: str, seed: int = 0) -> AttentionTrace:
    """The trace of a Transformer, the same one for the same texts."""
    rng = np.random.default_rng(seed)
    source_tokens, target_tokens = tokens(source), tokens(target)
    s, t = len(source_tokens), len(target_tokens)
    return AttentionTrace(
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        decoder_input_tokens=("<s>", *target_tokens[:-1]),
        encoder_attention=attention(rng, LAYERS, HEADS, s, s),
        decoder_attention=attention(rng, LAYERS, HEADS, t, t, causal=True),
        cross_attention=attention(rng, LAYERS, HEADS, t, s),
        source_positional_encoding=np.zeros((s, 4), np.float32),
        target_positional_encoding=np.zeros((t, 4), np.float32),
        log_probabilities=np.zeros(t, np.float32),
        alternatives=tuple((token, "갈") for token in target_tokens),
        alternative_probabilities=np.tile(np.array([0.75, 0.25], np.float32), (t, 1)),
    )


def tokens(text: str) -> tuple[str, ...]:
    return (*text.replace(" ", "␣"), "</s>")


def one_map_trace(source: str, target: str) -> AttentionTrace:
    """The trace of a recurrent network: one map, of one layer and one head."""
    whole = random_trace(source, target)
    s, t = len(whole.source_tokens), len(whole.target_tokens)
    lacking = "encoder_attention decoder_attention source_positional_encoding target_positional_encoding"
    one_map = attention(np.random.default_rng(1), 1, 1, t, s)
    return replace(whole, cross_attention=one_map, **dict.fromkeys(lacking.split()))


def random_projections(trace: AttentionTrace, depth: int = 4) -> dict[str, Projections]:
    """Queries, keys and values of the shapes that belong to a trace; its weights do not follow from them."""
    rng = np.random.default_rng(2)
    found = {}
    for kind in trace.kinds:
        *heads, queries, keys = trace.attention(kind).shape
        shapes = ((*heads, queries, depth), (*heads, keys, depth), (*heads, keys, depth))
        found[kind] = Projections(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))
    return found


def padded(found: Projections, padding: int) -> Projections:
    """With ``padding`` more positions, as a network gives them to a sentence of a batch."""
    rng = np.random.default_rng(9)
    arrays = []
    for array in (found.query, found.key, found.value):
        more = rng.normal(size=(*array.shape[:2], padding, array.shape[3])).astype(np.float32)
        arrays.append(np.concatenate([array, more], axis=2))
    return Projections(*arrays)


@dataclass(frozen=True)
class FakeConfig:
    architecture: str = "fake"
    abilities: frozenset[str] = frozenset([PROJECTIONS])
    has_positions: bool = False
    num_layers: int = LAYERS
    num_heads: int = HEADS
    max_length: int = MAX_LENGTH
    minimum_confidence: float = OWN_CONFIDENCE


class FakeCorrector:
    """Proposes SURE and DOUBTFUL and nothing else; sentences end at ". "."""

    config = FakeConfig()
    tokenizer = Tokenizer("손니미왔는데 방이업써요.갠찬아!제집에갈께")
    name = "fake"
    minimum_confidence = OWN_CONFIDENCE

    def __init__(self, fingerprint: str = "fake", trace=random_trace):
        self.fingerprint, self.trace = fingerprint, trace
        self.asked = set()  # the texts that were to be corrected; the engine keeps its answers
        self.asked_ahead = []

    def correct(self, text: str, words: tuple[str, ...] = ()) -> Correction:
        self.asked.add(text)
        self.words = words  # that are left alone
        text = unicodedata.normalize("NFC", text)
        pieces = [piece for piece in text.strip().replace(". ", ".\n").split("\n") if piece.strip()]
        return Correction(text, tuple(self._sentence(text.index(piece), piece) for piece in pieces))

    def correct_ahead(self, text: str, words: tuple[str, ...] = ()) -> None:
        self.asked_ahead.append(text)

    def ask(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        return question(self, *arguments, **named)

    def known(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> None:
        """No answer is known in advance."""

    def projections(self, source: str, target: str, padding: int = 0) -> dict[str, Projections]:
        found = random_projections(self.trace(source, target))
        return {kind: padded(one, padding) for kind, one in found.items()}

    def embeddings(self, text: str) -> np.ndarray:
        return np.random.default_rng(3).normal(size=(len(text) + 1, 4)).astype(np.float32) / 4

    def _sentence(self, start: int, source: str) -> SentenceCorrection:
        too_long = len(source) > MAX_LENGTH
        proposed = () if too_long else propose(source)
        return SentenceCorrection(start, source, proposed, self.minimum_confidence, too_long, self.trace)


def propose(source: str) -> tuple[Change, ...]:
    """The changes of SURE and DOUBTFUL with their probabilities, and text typed in the English layout."""
    target, probabilities = source, {}
    for wrong, right, fix, keep in (SURE, DOUBTFUL):
        target = target.replace(wrong, right)
        probabilities[wrong] = {"fix_probability": fix, "keep_probability": keep}
    weighed = [replace(change, **probabilities[change.wrong]) for change in find_changes(source, target)]
    return in_order([*weighed, *find_in_english_layout(source, (), KNOWN.__contains__)])
