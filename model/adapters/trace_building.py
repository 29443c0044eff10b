"""Builder of an ``AttentionTrace`` from the softmaxes of one captured pass.

It finds kinds, layers, masks, padding and probabilities.

L layers, H heads, Q query and K key positions; S source tokens, T tokens that the decoder reads, V
vocabulary.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from model.activations.drafting import log_softmax
from model.adapters.capture import Capture, Function, Maps
from model.trace.checks import later, plain_array
from model.trace.strict_npz import TraceError
from model.trace.trace import ATTENTION_KINDS, AttentionTrace

Lengths = tuple[int, int | None]  # S and T; no T where the network reads one sequence
Output = Function  # the returned value of a model -> its logits or probabilities, None for a body
Token = Callable[[int], object] | Mapping[int, str] | Sequence[str]  # names an id

_ALTERNATIVES = 5
_ROW_TOLERANCE = 1e-2  # of the sum of a row of probabilities in half precision


class Side(NamedTuple):
    """The tokens of one input; vectors have no ids and are named by their positions, from 1."""

    ids: np.ndarray  # (S,)
    name: Callable[[int], str]
    pad: int | None
    named: bool = True  # whether there are ids

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.labels(self.ids)

    def labels(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The names of N ids."""
        return tuple(map(self.name, ids))


@dataclass(frozen=True)
class CapturedPass:
    """One pass and its output."""

    capture: Capture
    lengths: Lengths
    output: np.ndarray | None  # (T, V), of one sequence (S, V)
    answer: np.ndarray | None = None  # (1, classes), of a classifier

    @property
    def maps(self) -> list[Maps]:
        """The weights (H, Q, K) without the softmax that makes the probabilities of the output."""
        output = self.answer if self.output is None else self.output
        return [each for each in self.capture.maps if output is None or not makes(each.weights, output)]


Run = Callable[[Lengths], CapturedPass]


def trace_of(
    source: Side, read: Side | None, run: Run, heads: int | None, produced: np.ndarray | None = None
) -> AttentionTrace:
    """The trace of a captured pass.

    Args:
        source: the side that the encoder reads, or the one sequence of a network.
        read: the side that the decoder reads; None of one sequence.
        run: the pass over sides of these lengths; other lengths than their own resolve ambiguous shapes.
        heads: how many softmaxes of one head are a layer; None where only heads side by side are joined.
        produced: (T,) the ids after each read one; by default the next ones, behind the last the likeliest.

    Raises:
        TraceError: without attention, for layers of several numbers of heads, or for one token alone.
    """
    first = run((len(source.ids), None if read is None else len(read.ids)))
    attention, masked = _by_kind(first, run, heads)
    if not attention:
        raise TraceError("attention", "be captured", first.capture.shapes(), first.capture.reason())
    first.capture.check()
    output = first.output if source.named and (read is None or read.named) else None
    if read is None:
        return _of_one_sequence(source, attention, masked, output)
    ids = read.ids
    if produced is None:
        produced = _following(ids, output) if read.named else ids
        # The first id is a start mark, which some networks spell as padding.
        padding = np.append(False, padding_of("the target", ids[1:], read.pad)) & (produced == read.pad)
    else:
        padding = padding_of("the target", produced, read.pad)
    trace = AttentionTrace(
        source_tokens=source.tokens,
        target_tokens=read.labels(produced),
        decoder_input_tokens=read.tokens,
        source_padding=tuple(padding_of("the source", source.ids, source.pad)),
        target_padding=tuple(padding),
        **attention,
        **probabilities(output, produced, read.labels),
    )
    return with_masks(trace, masked)


def _by_kind(
    first: CapturedPass, run: Run, heads: int | None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Weights and masks (L, H, Q, K) by kind; layers in the order of their computation."""
    maps, lengths = first.maps, first.lengths
    steps, whole = _steps_and_whole(maps, lengths)
    kinds = _told_apart(first, whole, run) if _is_ambiguous(whole, lengths) else None
    if kinds is None and whole and lengths[0] == lengths[1]:
        received = f"{lengths[0]} source and {lengths[1]} target tokens"
        advice = "Trace a target of another length"
        raise TraceError("cross_attention", "differ from encoder_attention in its shape", received, advice)
    kinds = kinds or [_kind_of(each, lengths) for each in whole]
    found = {
        kind: [one for one, of in zip(whole, kinds, strict=True) if of == kind] for kind in ATTENTION_KINDS
    }
    layers = {kind: _joined_heads(kind, some, heads) for kind, some in found.items() if some}
    attention = {kind: _layers(kind, [each.weights for each in some]) for kind, some in layers.items()}
    masked = {kind: _layers(kind, [each.masked for each in some]) for kind, some in layers.items()}
    if steps and "cross_attention" not in layers:
        attention["cross_attention"] = _joined_rows([each.weights for each in steps], lengths[1] or 1)
        masked["cross_attention"] = _joined_rows([each.masked for each in steps], lengths[1] or 1)
    return attention, masked


def _told_apart(first: CapturedPass, whole: list[Maps], run: Run) -> list[str | None] | None:
    """The kind of each softmax by the shapes that it has in both passes; None without a second pass."""
    source, target = first.lengths
    if target is None:
        others: list[Lengths] = [(source + 1, None)]
        others += [(source - 1, None)] if source > 2 else []
    else:
        shorter = [(source, length) for length in (target + 1, target - 1) if length not in (0, source)]
        others = [(source + 1, target + 1 + (source == target)), *shorter]
    for other in others:
        try:
            maps = run(other).maps
        except Exception:  # noqa: BLE001, S112  lengths that the network was not built for: each library has its own kind
            continue
        _, second = _steps_and_whole(maps, other)
        if len(second) != len(whole):
            return None
        pairs = zip(whole, second, strict=True)
        return [_kind_of(two, other) if _kind_of(one, first.lengths) else None for one, two in pairs]
    return None


def makes(maps: np.ndarray, output: np.ndarray) -> bool:
    """Whether a softmax (1, Q, V) is ``output`` (T, V), or one row of it."""
    if len(maps) != 1 or maps.shape[-1] != output.shape[-1]:
        return False
    if maps.shape[1:] == output.shape:
        return np.allclose(maps[0], output, atol=1e-5)
    return maps.shape[1] == 1 and bool(np.isclose(output, maps[0, 0], atol=1e-5).all(-1).any())


def _steps_and_whole(maps: Sequence[Maps], lengths: Lengths) -> tuple[list[Maps], list[Maps]]:
    """The rows of a decoder that runs step by step, none beside a whole map (T, S); and all other maps."""
    source, target = lengths
    if target in (None, 1) or any(each.weights.shape[1:] == (target, source) for each in maps):
        return [], list(maps)
    is_step = [each.weights.shape[1:] == (1, source) for each in maps]
    steps = [each for each, is_one in zip(maps, is_step, strict=True) if is_one]
    return steps, [each for each, is_one in zip(maps, is_step, strict=True) if not is_one]


def _is_ambiguous(whole: Sequence[Maps], lengths: Lengths) -> bool:
    """Whether a router's softmax, or heads in place of rows, may have a shape of attention."""
    if not whole or lengths[0] == lengths[1]:
        return bool(whole)
    found = [each.weights.shape for each in whole if _kind_of(each, lengths)]
    return any(heads == 1 or heads in shape for heads, *shape in found)


def _kind_of(maps: Maps, lengths: Lengths) -> str | None:
    (source, target), shape = lengths, maps.weights.shape[1:]
    if target is None:
        return {(source, source): ATTENTION_KINDS[0], (1, source): ATTENTION_KINDS[2]}.get(shape)
    shapes = ((source, source), (target, target), (target, source))
    return dict(zip(shapes, ATTENTION_KINDS, strict=True)).get(shape)


def _layers(kind: str, maps: Sequence[np.ndarray]) -> np.ndarray:
    """L maps (H, Q, K) -> (L, H, Q, K)."""
    heads = sorted({len(each) for each in maps})
    if len(heads) != 1:
        raise TraceError(kind, "have as many heads in each layer", f"{heads} heads")
    return np.stack(maps)


def _joined_rows(steps: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """Maps (H, 1, K), step after step -> (L, H, T, K)."""
    # A Keras RNN first calls its cell to see its output.
    if len(steps) % rows and len(steps) % (rows + 1) == 0:
        steps = steps[len(steps) // (rows + 1) :]
    if len(steps) % rows:
        found = f"{len(steps)} softmaxes for {rows} target tokens"
        raise TraceError("cross_attention", "have as many rows as there are target tokens", found)
    together = np.stack(steps)[:, :, 0]  # (T * L, H, K)
    return together.reshape(rows, -1, *together.shape[1:]).transpose(1, 2, 0, 3)


def _joined_heads(kind: str, maps: Sequence[Maps], heads: int | None) -> list[Maps]:
    """``maps`` of one kind, those of single heads joined into layers of ``heads``.

    Without ``heads`` those belong together whose layers are siblings: of one class, called by one layer with
    the same arguments. A warning names a layer that took several softmaxes of one head.
    """
    if heads is not None:
        if any(len(each.weights) != 1 for each in maps) or len(maps) % heads:
            found = f"{len(maps)} softmaxes of {sorted({len(each.weights) for each in maps})} heads"
            raise TraceError(kind, f"have layers of {heads} softmaxes of one head", found)
        layers = [list(maps[first : first + heads]) for first in range(0, len(maps), heads)]
    else:
        layers = []
        for each in maps:
            if layers and _relation(layers[-1][-1], each) == "side by side":
                layers[-1].append(each)
            else:
                layers.append([each])
        if any(_relation(*pair) == "in one layer" for pair in pairwise(maps)):
            drawn = f"{kind}: {len(maps)} softmaxes of one head each are drawn as {len(layers)} layers"
            advice = "If several of them are the heads of one layer, say how many: heads=…; "
            advice += "heads=1 says that each is a layer"
            warnings.warn(f"{drawn}. {advice}", UserWarning, stacklevel=5)
    warn_of_several(kind, maps)
    return [
        Maps(np.concatenate([each.weights for each in some]), np.concatenate([each.masked for each in some]))
        for some in layers
    ]


def warn_of_several(kind: str, maps: Sequence[Maps]) -> None:
    """Warn of a layer that computes several attentions (H, Q, K) in one call, such as a difference of two."""
    calls = [[call for call in each.path if "Softmax" not in type(call.layer).__name__] for each in maps]
    for one, other in pairwise(
        [path for path, each in zip(calls, maps, strict=True) if len(each.weights) > 1]
    ):
        if len(one) > 1 and len(other) > 1 and one[-1].number == other[-1].number:
            name = type(one[-1].layer).__name__
            message = (
                f"{kind}: {name} computes several softmaxes in one call, each of which counts as a layer"
            )
            warnings.warn(message, UserWarning, stacklevel=6)
            return


def _relation(one: Maps, other: Maps) -> str | None:
    """How two softmaxes of one head were called: by layers side by side, or in one and the same layer."""
    if len(one.weights) != 1 or len(other.weights) != 1:
        return None
    for a, b in zip(one.path, other.path, strict=False):
        if a.number != b.number:
            if a.layer is b.layer:
                return "in one layer"
            of_a, of_b = ([id(each) for each in (*call.given, *call.named.values())] for call in (a, b))
            return "side by side" if of_a == of_b and type(a.layer) is type(b.layer) else None
    return "in one layer"


def with_masks(trace: AttentionTrace, masked: Mapping[str, np.ndarray]) -> AttentionTrace:
    """``trace`` with ``masked`` by kind (L, H, Q, K), without padding and later keys of a decoder.

    A trace holds one mask for all heads of a layer. A mask of some heads alone is named in a warning.
    """
    fields = {}
    for kind, cells in masked.items():
        rows, columns = trace.padding(kind)
        found = cells & ~rows[:, None] & ~columns
        if kind == "decoder_attention":
            found &= ~later(len(rows), trace.prefix)
        common = found.all(axis=1)
        alone = (found & ~common[:, None]).any(axis=(2, 3))  # (L, H)
        layers = [
            f"layer {layer}, heads {', '.join(map(str, np.flatnonzero(heads)))}"
            for layer, heads in enumerate(alone)
            if heads.any()
        ]
        if layers:
            message = (
                f"{kind}: a mask hides tokens from some heads alone ({'; '.join(layers)}, counted from 0). "
            )
            message += (
                "Pictures hatch what is hidden from all heads of a layer, and show the weight 0 for the rest"
            )
            warnings.warn(message, UserWarning, stacklevel=4)
        if common.any():
            fields[kind.replace("_attention", "_masked")] = common
    return replace(trace, **fields) if fields else trace


def _of_one_sequence(
    side: Side, attention: dict[str, Any], masked: dict[str, np.ndarray], output: np.ndarray | None
) -> AttentionTrace:
    """An encoder, a decoder-only network (only tokens of a prefix look ahead), or one row over all tokens."""
    padding, own = padding_of("the source", side.ids, side.pad), attention.get("encoder_attention")
    if len(side.ids) == 1:
        advice = "One token alone does not show whether a network is an encoder or a decoder"
        raise TraceError("source", "have two tokens or more", 1, advice)
    seen = None if own is None else own * ~padding[:, None]  # rows of padding may look anywhere
    if seen is None or prefix_of(seen) == _seen_columns(seen):
        row: dict[str, Any] = {"target_tokens": ("output",)} if "cross_attention" in attention else {}
        trace = AttentionTrace(source_tokens=side.tokens, source_padding=tuple(padding), **row, **attention)
        return with_masks(trace, masked)
    written = _following(side.ids, output)
    trace = AttentionTrace(
        target_tokens=side.labels(written),
        decoder_input_tokens=side.tokens,
        decoder_attention=own,
        prefix=prefix_of(seen),
        target_padding=(*padding[1:], padding[-1]),
        **probabilities(output, written, side.labels),
    )
    return with_masks(trace, {"decoder_attention": masked["encoder_attention"]})


def _following(ids: np.ndarray, output: np.ndarray | None) -> np.ndarray:
    """The id after each of ``ids`` (T,); behind the last the likeliest of ``output`` (T, V)."""
    return np.concatenate([ids[1:], ids[-1:] if output is None else output[-1:].argmax(-1)])


def prefix_of(maps: np.ndarray) -> int:
    """How many of the first tokens see each other in (…, K, K): 0 of a decoder, K of an encoder.

    >>> prefix_of(np.eye(3)), prefix_of(np.float32([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]))
    (0, 2)
    """
    ahead = np.triu((maps != 0).any(axis=tuple(range(maps.ndim - 2))), 1)
    return int(np.flatnonzero(ahead.any(0))[-1]) + 1 if ahead.any() else 0


def _seen_columns(maps: np.ndarray) -> int:
    """The number of columns of (…, K) up to the last one that has weight.

    Later ones are hidden as padding.
    """
    columns = np.flatnonzero((maps != 0).any(axis=tuple(range(maps.ndim - 1))))
    return int(columns[-1]) + 1 if len(columns) else 0


def names(token: Token, pad: int | None) -> Callable[[int], str]:
    """A function that names ids; an id without a name is called by its number, padding <pad>.

    >>> names({5: "five"}, 0)(5), names({5: "five"}, 0)(0), names(["a"], None)(7)
    ('five', '<pad>', '7')
    """

    def name(number: int) -> str:
        number = int(number)
        try:
            found = token(number) if callable(token) else token[number]
        except (KeyError, IndexError):
            found = None
        if found is None or found == "":
            return "<pad>" if number == pad else str(number)
        found = found.numpy() if hasattr(found, "numpy") else found
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)

    return name


def padding_of(side: str, ids: np.ndarray, pad: int | None) -> np.ndarray:
    """(S,) bool: padding after the last token. A warning names padding before it, which is taken for a token.

    >>> padding_of("source", np.array([5, 3, 0, 0]), 0).tolist()
    [False, False, True, True]
    """
    if pad is None:
        return np.zeros(len(ids), bool)
    tokens = np.flatnonzero(ids != pad)
    length = int(tokens[-1]) + 1 if len(tokens) else 0
    if length > len(tokens):
        message = (
            f"{side}: the id of padding, {pad}, stands before other tokens and is taken for a token there. "
        )
        message += "If no id is padding, say pad=None; a text that is padded in front has to be given "
        message += "without its padding"
        warnings.warn(message, UserWarning, stacklevel=4)
    return np.arange(len(ids)) >= length


def probabilities(
    output: np.ndarray | None, produced: np.ndarray, labels: Callable[[Any], tuple[str, ...]]
) -> dict[str, Any]:
    """The fields about the produced ids (T,), from logits or probabilities (T, V).

    None without finite numbers.
    """
    if (
        output is None
        or output.shape[-1] <= max(_ALTERNATIVES, produced.max())
        or not np.isfinite(output).all()
    ):
        return {}
    sums = output.sum(-1, keepdims=True)
    if (output >= 0).all() and np.allclose(sums, 1, atol=_ROW_TOLERANCE):
        logs = np.log(np.maximum(output / sums, np.finfo(np.float32).tiny))
    else:
        logs = log_softmax(output)
    best = np.argsort(-logs, axis=-1, kind="stable")[:, :_ALTERNATIVES]  # (T, 5)
    return {
        "log_probabilities": logs[np.arange(len(produced)), produced],
        "alternatives": tuple(map(labels, best)),
        "alternative_probabilities": np.exp(np.take_along_axis(logs, best, axis=-1)),
    }


def captured_pass(
    capture: Capture, lengths: Lengths, returned: object, output: Output | None = None
) -> CapturedPass:
    """A pass with its output: the first returned tensor (B, T, V), of named ones the logits.

    With ``output`` it is the result of that function instead.
    """
    shown = getattr(returned, "logits", returned) if output is None else output(returned)
    if isinstance(shown, Mapping):
        shown = shown.get("logits")
    for each in shown if isinstance(shown, list | tuple) else [shown]:
        shape = tuple(getattr(each, "shape", ()))
        if len(shape) == 3 and shape[:2] == (1, lengths[1] or lengths[0]):
            return CapturedPass(capture, lengths, plain_array("output", each)[0].astype(np.float32))
    first = returned[0] if isinstance(returned, list | tuple) and returned else returned
    shape = tuple(getattr(first, "shape", ()))
    answer = plain_array("output", first) if len(shape) == 2 and shape[0] == 1 else None
    return CapturedPass(capture, lengths, None, answer)
