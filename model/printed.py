"""A correction as ``python -m model correct`` prints it: as JSON, and the changes that were not sure enough."""

import json
from dataclasses import asdict

from model.correction.correction import Correction
from model.norm import article_of
from model.text.changes import Change, apply_changes, in_order
from model.trace.trace import AttentionTrace


def undone(correction: Correction) -> list[Change]:
    """The proposed changes that were not made; offsets in the whole source."""
    made = {(change.source_start, change.source_end) for change in correction.changes}
    return [each for each in correction.proposed if (each.source_start, each.source_end) not in made]


def suggestion(change: Change, correction: Correction) -> str:
    """``  1-3 니미 → 님이  in 손니미  confidence 0.61 (fix 0.70, keep 0.13)``; a space is ␣.

    Where the network's own first choice was another, it follows: ``, first choice 니마``; then the article of the norm, where
    one is known for sure: ``, 한글 맞춤법 제27항``.
    """
    source = correction.source
    wrong, right = map(_visible, (change.wrong, change.right))
    start = source.rfind(" ", 0, change.source_start) + 1
    end = source.find(" ", change.source_end)
    word = source[start : end if end >= 0 else None]
    line = f"  {change.source_start}-{change.source_end} {wrong} → {right}  in {word}  {_how_sure(change)}"
    if change.instead_of is not None:
        line += f", first choice {_visible(change.instead_of)}"
    article = _article(*_if_made(change, correction))["article"]
    return line + (f", {article['article']}" if article else "")


def _how_sure(change: Change) -> str:
    if change.is_english_layout:
        return "typed in the English layout"
    return f"confidence {change.confidence:.2f} (fix {change.fix_probability:.2f}, keep {change.keep_probability:.2f})"


def _if_made(change: Change, correction: Correction) -> tuple[Change, str]:
    """A change that was not made as it would be beside those that were, and the text with all of them."""
    changes = in_order([*correction.changes, change])
    span = change.source_start, change.source_end
    placed = next(each for each in changes if (each.source_start, each.source_end) == span)
    return placed, apply_changes(correction.source, changes)


def _visible(text: str) -> str:
    return text.replace(" ", "␣") or "∅"


def as_json_line(correction: Correction, suggest: bool = False) -> str:
    """All that is known of a correction, with its attention; with ``suggest`` also the changes that were not made."""
    sentences = [
        {
            "start": sentence.start,
            "source": sentence.source,
            "text": sentence.text,
            "too_long": sentence.too_long,
            "changes": [asdict(change) | _article(change, sentence.text) for change in sentence.changes],
            **({} if sentence.too_long else _attention(sentence.trace)),
        }
        for sentence in correction.sentences
    ]
    document = {"source": correction.source, "text": correction.text, "sentences": sentences}
    if suggest:
        document["suggestions"] = [
            asdict(change)
            | {"confidence": change.confidence if change.is_weighed else None}
            | _article(*_if_made(change, correction))
            for change in undone(correction)
        ]
    return json.dumps(document, ensure_ascii=False)


def _article(change: Change, text: str) -> dict:
    """The article of the norm that a change follows; null where none is known for sure. ``text`` is corrected."""
    before, after = text[: change.target_start], text[change.target_end :]
    article = article_of(change.wrong, change.right, before, after)
    return {"article": article and asdict(article)}


def _attention(trace: AttentionTrace) -> dict:
    # Five decimals: the weights are float32 sums of float16 parameters, more digits would be noise.
    return {
        "source_tokens": trace.source_tokens,
        "target_tokens": trace.target_tokens,
        "decoder_input_tokens": trace.decoder_input_tokens,
        "log_probabilities": None
        if trace.log_probabilities is None
        else trace.log_probabilities.round(5).tolist(),
        **{kind: trace.attention(kind).astype(float).round(5).tolist() for kind in trace.kinds},
    }
