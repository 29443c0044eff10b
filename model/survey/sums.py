"""Sums over sentences from which a survey is computed: roles, effects, contributions.

The sums of several chunks can be added.

``sums_of_roles`` reads plain passes, ``sums_of_effects`` ablates each head, ``sums_of_answers`` measures
edits. An edit is a change whose fix the network prefers, given the right sentence up to there. Of each edit:

* looked: the share of its attention that each head gives to the edit (``edits.attention_to_edit``). Observed.
* wrote: the direct logit attribution of log p(fix) - log p(keep) to each part of the decoder. Observed, and
  exact.
* mattered: the total effect of each head and feed-forward network (``patching.node_effects``). Intervened.
* direct: the direct effect of each. Intervened.

They are compared twice: over the heads of the decoder, the only ones with a direct contribution; and over the
characters of the source, by occlusion.

Tallies are named "kind/role/class" and the like; of edits "answer/group/quantity". A group is "all", a kind
of mistake, "rule:" with a pronunciation rule, "coda:" with the final consonant that the fix restores, or
"copied": the characters that were not changed.

Shapes: L layers, H heads, P parts of the decoder, N heads and feed-forward networks, S source tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from model.analysis.ablation import NodeEffects, node_effects
from model.analysis.circuits import find_circuit
from model.analysis.contrasts import Edit
from model.analysis.edits import attention_to_edit, changed_rows
from model.analysis.head_effects import PairEffects, TextPair, mean_outputs, pair_effects, rank_of_largest
from model.analysis.kinds import KINDS, kind_of, sound_rules
from model.analysis.residual_stream import KINDS as WRITING
from model.analysis.residual_stream import direct_logit_attribution
from model.analysis.roles import BREADTH, COPIED, EDITED, LIAISON, chance, measure, rows_of
from model.analysis.statistics import Tally, rank_correlation
from model.correction.answers import AnswersMany, Network
from model.text import hangul
from model.text.changes import Change, find_changes
from model.text.tokenizer import normalise
from model.trace.interventions import Contrast, Intervention, Node
from model.trace.trace import AttentionTrace

EFFECT, LOSS, MEANS, CHANCE = "effect", "loss", "means", "chance"
CORRELATION = "correlation"  # over all heads, of the attention to an edit with the effect on it
# The rank, by its effect on an edit, of the head with most attention to it; 1 is the largest.
LOOKER = "looker"
ANY_KIND = "all"
ERROR_KINDS = (ANY_KIND, *KINDS)  # the keys of CORRELATION and LOOKER
_LEAST_ROWS = 8  # of a sentence that may be an example


@dataclass(frozen=True)
class Sums:
    """The sums over some sentences.

    ``best``, by "kind/role", is an array (3, L, H): the value, the number of the sentence and the row where
    each head plays the role most. A role without any row is missing.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    best: dict[str, np.ndarray] = field(default_factory=dict)

    def __add__(self, other: Sums) -> Sums:
        sums = Sums({**self.tallies}, {**self.best})
        for name, tally in other.tallies.items():
            sums.tallies[name] = sums.tallies[name] + tally if name in sums.tallies else tally
        for name, found in other.best.items():
            sums.propose(name, found)
        return sums

    def tally(self, name: str, rows: np.ndarray) -> None:
        """Add the rows (R, …) of one sentence."""
        if name not in self.tallies:
            self.tallies[name] = Tally.empty(rows.shape[1:])
        self.tallies[name].add(rows)

    def propose(self, name: str, found: np.ndarray) -> None:
        """Propose an example (3, L, H), which is kept where it is better than the known one."""
        known = self.best.get(name, found)
        self.best[name] = np.where(found[0] > known[0], found, known)


def sums_of_roles(corrector: Network, pairs: Sequence[TextPair], first: int) -> Sums:
    """The roles of all heads in (source, target) pairs, which are numbered from ``first``. Observed.

    Example:
        >>> sums = sums_of_roles(corrector, [("머거요", "먹어요")], first=0)
        >>> sums.tallies[f"cross_attention/{BREADTH}/{EDITED}"].estimate().mean.shape  # (L, H)
        (4, 4)
    """
    sums, tokenizer = Sums(), corrector.tokenizer
    sources = [tokenizer.encode_source(source) for source, _ in pairs]
    targets = [tokenizer.encode_target(target) for _, target in pairs]
    looked = corrector.laboratory.pass_over(sources, targets, [Intervention()] * len(pairs))
    for place, pair in enumerate(pairs):
        weights = looked.row(place, sources[place], targets[place]).attention
        for kind in corrector.config.attention_kinds:
            _add_sentence(sums, kind, weights[kind], pair, first + place)
    return sums


def _add_sentence(sums: Sums, kind: str, weights: np.ndarray, pair: TextPair, number: int) -> None:
    rows = rows_of(kind, *pair)
    by_chance = chance(kind, rows)
    for role, (concerned, values) in measure(kind, weights, rows).items():
        edited = rows.edited[concerned]
        for name, chosen in ((COPIED, ~edited), (EDITED, edited)):
            if chosen.any():
                sums.tally(f"{kind}/{role}/{name}", values[chosen])
                sums.tally(f"{kind}/{role}/{name}/{CHANCE}", by_chance[role][chosen])
        if role != BREADTH and (role == LIAISON or len(concerned) >= _LEAST_ROWS) and len(concerned):
            mean = values.mean(axis=0)  # (L, H)
            standing = concerned[values.argmax(axis=0)]
            sums.propose(f"{kind}/{role}", np.stack([mean, np.full_like(mean, number), standing]))


def sums_of_effects(corrector: Network, pairs: Sequence[TextPair]) -> Sums:
    """The effects in nats of ablating each head on pairs with changes, and the mean outputs of heads."""
    sums = Sums()
    for source, target in pairs:
        found = pair_effects(corrector, source, target)
        sums.tally(f"{ANY_KIND}/{EFFECT}/{EDITED}", found.edits)
        sums.tally(f"{ANY_KIND}/{EFFECT}/{EDITED}/size", np.abs(found.edits))
        sums.tally(f"{ANY_KIND}/{EFFECT}/{COPIED}", found.copied)
        sums.tally(f"{ANY_KIND}/{LOSS}", found.whole[None])
        _compare(sums, found, source, target)
        for kind, means in mean_outputs(corrector, source, target).items():
            sums.tally(f"{kind}/{MEANS}", means[None])
    return sums


def _compare(sums: Sums, found: PairEffects, source: str, target: str) -> None:
    """Add CORRELATION and LOOKER of each change."""
    for change, looked, effect in zip(found.changes, found.attention, found.edits, strict=True):
        sizes = np.abs(effect)
        correlation = rank_correlation(looked, sizes)
        rank = rank_of_largest(looked, sizes)
        for name in (ANY_KIND, kind_of(change, source, target)):
            if np.isfinite(correlation):
                sums.tally(f"{CORRELATION}/{name}", np.array([correlation]))
            sums.tally(f"{LOOKER}/{name}", np.array([rank]))


ANSWER = "answer"
LOOKED, WROTE, MATTERED, DIRECT = "looked", "wrote", "mattered", "direct"
RULE, CODA = "rule:", "coda:"
EditRows = dict[str, list[np.ndarray]]  # by name, a row for each edit of one sentence


@dataclass(frozen=True)
class AskedEdit:
    """One change of a pair, and its measurements."""

    source: str
    target: str
    change: Change
    contrast: Contrast
    nats: np.ndarray  # (P,) the direct contribution of each part
    # (S,) nats: the direct contribution of cross-attention by source token.
    written_from: np.ndarray
    trace: AttentionTrace
    effects: NodeEffects


def sums_of_answers(corrector: Network, pairs: Sequence[TextPair], circuits: int = 0) -> Sums:
    """The sums over the edits of (source, target) pairs.

    Of the first ``circuits`` pairs the circuits are measured, too, which takes longest.

    Raises:
        ValueError: for a network without a residual stream.

    Example:
        >>> sums = sums_of_answers(corrector, [("머거요", "먹어요")])
        >>> sums.tallies["answer/liaison/wrote"].estimate().rows
        1
    """
    sums = Sums()
    for number, pair in enumerate(pairs):
        rows: EditRows = defaultdict(list)
        for edit in _edits(corrector, pair, rows):
            found = dict(_asked(corrector, edit))
            if number < circuits:
                found |= _circuit(corrector, edit)
            for group in groups_of(edit):
                for name, value in found.items():
                    if np.isfinite(value).all():  # a rank correlation of equal values is nan
                        rows[f"{group}/{name}"].append(np.asarray(value, np.float64))
        for name, values in rows.items():
            sums.tally(f"{ANSWER}/{name}", np.stack(values))
    return sums


def groups_of(edit: AskedEdit) -> tuple[str, ...]:
    """The groups of an edit: "all", its kind, its pronunciation rules, and the restored final consonant."""
    pair = edit.source, edit.target
    kind = kind_of(edit.change, *pair)
    rules = [f"{RULE}{rule}" for rule in sound_rules(edit.change, *pair)]
    coda = _coda(edit.contrast)
    return (ANY_KIND, kind, *rules, *([f"{CODA}{coda}"] if coda else []))


def _coda(contrast: Contrast) -> str:
    """The final consonant that the fix has and the typed text has not; "" for none."""
    tokens = contrast.written_token, contrast.instead_token
    if not all(map(hangul.is_syllable, tokens)):
        return ""
    (*start, final), (*other, typed) = map(hangul.decompose, tokens)
    return final if start == other and final != typed else ""


def _edits(corrector: Network, pair: TextPair, rows: EditRows) -> Iterator[AskedEdit]:
    """The edits of a pair; the direct contributions to its copied characters go into ``rows`` at once."""
    source, target = pair
    changes = find_changes(source, target)
    written = direct_logit_attribution(corrector, source, target, changes)
    nats = written.matrix()
    copied = ~changed_rows(changes, len(corrector.tokenizer.encode_target(target)))
    copied[-1] = False  # the end mark is no character
    rows[f"{COPIED}/{WROTE}"] += list(nats[: len(copied)][copied])
    trace = corrector.trace(source, target)
    for change, number in zip(changes, written.changes, strict=True):
        if number is None or written.score[number] <= 0 or len(source) < 2:
            continue
        contrast = written.questions[number]
        looks = written.by_key["cross_attention"][number].sum(axis=(0, 1))
        effects = node_effects(corrector, Edit(source, target, contrast))
        yield AskedEdit(source, target, change, contrast, nats[number], looks, trace, effects)


def _asked(corrector: Network, edit: AskedEdit) -> Iterator[tuple[str, np.ndarray | float]]:
    """All measurements of one edit but its circuit."""
    changes = find_changes(edit.source, edit.target)
    shares = {
        kind: attention_to_edit(edit.trace, kind, edit.change, changes).share for kind in edit.trace.kinds
    }
    yield LOOKED, np.concatenate([share.ravel() for share in shares.values()])
    yield WROTE, edit.nats
    yield MATTERED, edit.effects.total
    yield DIRECT, edit.effects.direct
    yield from _over_heads(edit, shares)
    yield from _over_characters(corrector, edit)


def _over_heads(edit: AskedEdit, shares: dict[str, np.ndarray]) -> Iterator[tuple[str, float]]:
    """Rank correlations of attention, and of direct contribution, with the total effect over decoder heads.

    Also the rank by total effect of the head with most attention, and of the one with the largest
    contribution.
    """
    layers, heads = shares[WRITING[0]].shape
    numbers = {node: number for number, node in enumerate(edit.effects.nodes)}
    places = [Node(kind, *place) for kind in WRITING for place in np.ndindex(layers, heads)]
    mattered = np.abs(edit.effects.total[[numbers[place] for place in places]])
    by_layer = edit.nats[2:-2].reshape(layers, -1)[:, :-1]  # without each layer's feed-forward network
    wrote = by_layer.reshape(layers, len(WRITING), heads).swapaxes(0, 1).ravel()
    looked = np.concatenate([shares[kind].ravel() for kind in WRITING])
    for name, values in ((LOOKED, looked), (WROTE, np.abs(wrote))):
        yield f"heads_{name}", rank_correlation(values, mattered)
        yield f"rank_{name}", rank_of_largest(values, mattered)


def _over_characters(corrector: Network, edit: AskedEdit) -> Iterator[tuple[str, float]]:
    """Compare source characters by attention, direct contribution, and effect by occlusion.

    ``own_``, ``next_``: whether the largest one is the changed character, or the one after it.
    """
    gone = [Intervention(without_source=frozenset([place])) for place in range(len(edit.source))]
    scores = corrector.logit_differences(
        edit.source, edit.target, edit.contrast, [Intervention(), *gone]
    ).differences
    sizes = {
        LOOKED: edit.trace.attention("cross_attention")[:, :, edit.contrast.row, :-1].mean(axis=(0, 1)),
        WROTE: np.abs(edit.written_from[:-1]),
        MATTERED: np.abs(scores[0] - scores[1:]),
    }
    first = {name: int(size.argmax()) for name, size in sizes.items()}
    for name, size in sizes.items():
        at = first[name] - edit.change.source_start
        yield f"own_{name}", float(at == 0)
        yield f"next_{name}", float(at == 1)
        if name != MATTERED:
            yield f"first_{name}", float(first[name] == first[MATTERED])
            yield f"order_{name}", rank_correlation(size, sizes[MATTERED])


def _circuit(corrector: Network, edit: AskedEdit) -> dict[str, np.ndarray | float]:
    """The size and the members of an edit's circuit.

    Without a circuit, because the score stays with all nodes at their means, only that is counted.
    """
    circuit = find_circuit(corrector, Edit(edit.source, edit.target, edit.change))
    if not circuit.is_telling or circuit.faithfulness < circuit.goal:
        return {"circuit_found": 0.0}
    members = np.array([node in circuit.members for node in edit.effects.nodes], float)
    return {
        "circuit_found": 1.0,
        "circuit_size": float(len(circuit.members)),
        "circuit_kept": circuit.faithfulness,
        "circuit_left": circuit.completeness,
        "circuit_members": members,
    }


GivenText = tuple[str, str | None]  # a text, and its right form where the file has it


def pairs_of(given: Sequence[GivenText], corrector: AnswersMany) -> tuple[tuple[TextPair, ...], int]:
    """((source, target), …) of texts with or without a target, and the number that are too long or empty.

    Without a target, the text's sentences have their corrections.

    Example:
        >>> pairs_of([("머거요", "먹어요"), ("", "")], corrector)
        ((('머거요', '먹어요'),), 1)
    """
    corrected = iter(corrector.correct_batch([text.strip() for text, target in given if target is None]))
    pairs: list[TextPair] = []
    for text, target in given:
        if target is None:
            pairs += [(each.source, each.text) for each in next(corrected).sentences]
        else:
            pairs.append((normalise(text), normalise(target)))
    kept = readable(pairs, corrector)
    return kept, len(pairs) - len(kept)


def readable(pairs: Iterable[TextPair], corrector: AnswersMany) -> tuple[TextPair, ...]:
    """The pairs that are neither empty nor too long for the network.

    Example:
        >>> readable([("네", "네"), ("", ""), ("가" * 999, "가")], corrector)
        (('네', '네'),)
    """
    longest = corrector.config.max_length
    return tuple(pair for pair in pairs if all(0 < len(text) <= longest for text in pair))
