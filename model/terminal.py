"""Terminal input and output: lines of standard input, corrections as text or JSON."""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from queue import Queue
from threading import Thread

from model.correction.correction import Correction
from model.correction.corrector import KEPT_CHARACTERS
from model.correction.mending import BATCH_SENTENCES
from model.norm import Article, explanation_of
from model.text.changes import Change, apply_changes, in_order
from model.trace.trace import AttentionTrace


def input_lines() -> Iterator[str]:
    """Each line of standard input: UTF-8, or the Korean code page if its first Hangul is written in that."""
    # Only "\n" ends a line: form feeds, U+2028 and the like are part of it.
    is_cp949 = None  # decided by the first line with a letter beyond ASCII
    for line in sys.stdin:
        if is_cp949 is None and not line.isascii():
            is_cp949 = _in_cp949(line) is not None
        yield ((_in_cp949(line) if is_cp949 else None) or line).removesuffix("\n")


def _in_cp949(line: str) -> str | None:
    """The line whose bytes are no UTF-8, read in the Korean code page; None where that fails, too."""
    if not any("\udc80" <= character <= "\udcff" for character in line):
        return None
    try:
        return line.encode("utf-8", "surrogateescape").decode("cp949")
    except UnicodeDecodeError:
        return None


def waiting(lines: Iterator[str]) -> Iterator[list[str]]:
    """Batches of the lines that arrived while those before them were corrected.

    A program that waits for each answer gets it at once, and the lines of a file are corrected many together:
    at most ``BATCH_SENTENCES``, and no more than ``KEPT_CHARACTERS`` but for the last of them, since the
    passes beyond that, which hold the attention, are not cached.

    >>> [line for batch in waiting(iter(["머거요", "네"])) for line in batch]
    ['머거요', '네']
    """
    come: Queue[str | None] = Queue(2 * BATCH_SENTENCES)

    def _read() -> None:
        try:
            for line in lines:
                come.put(line)
        finally:
            come.put(None)

    Thread(target=_read, daemon=True).start()
    batch: list[str] = []
    while (line := come.get()) is not None:
        batch.append(line)
        if come.empty() or len(batch) == BATCH_SENTENCES or sum(map(len, batch)) >= KEPT_CHARACTERS:
            yield batch
            batch = []
    yield batch


def undone(correction: Correction) -> list[Change]:
    """The proposed changes that were not made; offsets in the whole source.

    Example:
        >>> undone(corrector.correct("머거요."))  # the only change is certain
        []
    """
    made = {(change.source_start, change.source_end) for change in correction.changes}
    return [each for each in correction.proposed if (each.source_start, each.source_end) not in made]


def suggestion(change: Change, correction: Correction) -> str:
    """One proposed change as a line; a space is ␣.

    Behind it the network's own first choice where it is another, ``, first choice 니마``, and the article of
    the norm where one is certain, ``, 한글 맞춤법 제27항``.

    Example:
        >>> correction = corrector.correct("손니미 왔다.")
        >>> suggestion(correction.changes[0], correction).split("  confidence")[0]
        '  1-3 니미 → 님이  in 손니미'
    """
    source = correction.source
    wrong, right = map(_visible, (change.wrong, change.right))
    start = source.rfind(" ", 0, change.source_start) + 1
    end = source.find(" ", change.source_end)
    word = source[start : end if end >= 0 else None]
    line = f"  {change.source_start}-{change.source_end} {wrong} → {right}  in {word}  {_how_sure(change)}"
    if change.instead_of is not None:
        line += f", first choice {_visible(change.instead_of)}"
    article = _article(*_if_made(change, correction))
    return line + (f", {article.article}" if article else "")


def _how_sure(change: Change) -> str:
    if change.is_english_layout:
        return "typed in the English layout"
    shares = f"fix {change.fix_probability:.2f}, keep {change.keep_probability:.2f}"
    return f"confidence {change.confidence:.2f} ({shares})"


def _if_made(change: Change, correction: Correction) -> tuple[Change, str]:
    """A change that was not made as it would be beside those that were, and the text with all of them."""
    changes = in_order([*correction.changes, change])
    span = change.source_start, change.source_end
    placed = next(each for each in changes if (each.source_start, each.source_end) == span)
    return placed, apply_changes(correction.source, changes)


def _visible(text: str) -> str:
    return text.replace(" ", "␣") or "∅"


def as_json_line(correction: Correction, suggest: bool = False, attention: bool = False) -> str:
    """A correction as one line of JSON.

    Args:
        suggest: whether the changes that were not made are included.
        attention: whether the tokens and, by its kind, the attention (L, H, Q, K) of each sentence are.

    Example:
        >>> json.loads(as_json_line(corrector.correct("머거요.")))["text"]
        '먹어요.'
    """
    sentences = [
        {
            "start": sentence.start,
            "source": sentence.source,
            "text": sentence.text,
            "too_long": sentence.too_long,
            "changes": [_as_json(change, change, sentence.text) for change in sentence.changes],
            **(_attention(sentence.trace) if attention and not sentence.too_long else {}),
        }
        for sentence in correction.sentences
    ]
    document = {"source": correction.source, "text": correction.text, "sentences": sentences}
    if suggest:
        document["suggestions"] = [
            _as_json(change, *_if_made(change, correction)) for change in undone(correction)
        ]
    return json.dumps(document, ensure_ascii=False)


def _as_json(change: Change, made: Change, text: str) -> dict:
    """The fields of a change, its confidence, and the article of the norm that it follows; null where none is
    known for sure.

    Args:
        made: the change with its place in ``text``, which is corrected.
    """
    confidence, article = change.confidence if change.is_weighed else None, _article(made, text)
    return asdict(change) | {"confidence": confidence, "article": article and asdict(article)}


def _article(made: Change, text: str) -> Article | None:
    return explanation_of(made.wrong, made.right, text[: made.target_start], text[made.target_end :])


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


# Information lines begin with I, month and day. Before the first of them a library writes one line of
# warning. oneDNN writes an error where a processor lacks AVX-512; TensorFlow then computes the same in
# another way.
_FILTER = r"""
import re, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that writes decides when to end
chatter = re.compile(
    rb"I\d{4} \d\d:\d\d:|WARNING: All log messages before absl::InitializeLog|"
    rb"E\d{4} .*oneDNN supports DT_BOOL only"
)
for line in sys.stdin.buffer:
    if not chatter.match(line):
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
"""


def hide_log_lines() -> None:
    """Keep TensorFlow's log lines off standard error from now on; everything else passes.

    TF_CPP_MIN_LOG_LEVEL does not stop the lines that TensorFlow writes while it is imported. Another process
    filters them, so that the last words of a crash still arrive.
    """
    sys.stderr.flush()
    outside = os.dup(2)
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", _FILTER], stdin=subprocess.PIPE)
    assert child.stdin, "it is a pipe"
    os.dup2(child.stdin.fileno(), 2)
    child.stdin.close()

    def _stop() -> None:
        sys.stderr.flush()
        os.dup2(outside, 2)  # now the filter sees the end of its input
        os.close(outside)  # which may be the input of another filter
        child.wait()

    atexit.register(_stop)
