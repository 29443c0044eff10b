"""Page of an uploaded ``AttentionTrace``: any network's attention in the main page's views.

Only the network itself is missing.
"""

import hashlib
import io
from dataclasses import dataclass, field
from typing import NoReturn

import streamlit as st

from engine.question import P, Question, R
from model.analysis.edits import text_of
from model.stored.config import TracedConfig
from model.text.changes import Change, find_rewriting
from model.trace.strict_npz import FILE, THINNED, THINNER, TraceError
from model.trace.trace import AttentionTrace
from ui.asking.files import upload
from ui.asking.loaders import Correction, NotLoadedError, SentenceCorrection
from ui.sentence import page
from ui.sentence.decisions import Doing, show_correction
from ui.sentence.stage import Stage, chosen_view, of_one_head, show_controls, show_more
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup
from ui.shell.settings import names_of
from ui.views import TABS
from ui.wording import say

MEGABYTES = 20  # as ``model.trace.strict_npz`` and .streamlit/config.toml have it
MOST_WEIGHTS = 6_000_000  # more would keep the server and the browser busy for long
MOST_TOKENS = 512  # on a side, likewise


@dataclass(frozen=True)
class FromFile:
    """A trace file in place of a network. It holds one pass, so questions that need another one are not
    answered."""

    name: str
    fingerprint: str
    seen: AttentionTrace
    config: TracedConfig = field(default_factory=TracedConfig)
    minimum_confidence: float = 0.0

    def correct(self, text: str) -> NoReturn:
        """Raises NotLoadedError: a record holds no network."""
        raise NotLoadedError("a file cannot correct")

    def trace(self, source: str, target: str) -> AttentionTrace:
        return self.seen

    def ask(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """Raises NotLoadedError: a record holds no network."""
        raise NotLoadedError(f"a file cannot answer {question.name!r}")

    def known(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> None:
        """No answer is known."""


def main() -> None:
    header.begin("trace")
    header.tools()
    with st.container(key="stage"):
        left, right = st.container(key="left"), st.container(key="right")
    with left:
        writing, heads = st.container(key="writing"), st.container(key="heads")
    with writing:
        given = upload(say("trace_label"), ["npz"], MEGABYTES, "trace_file")
    if given is None:
        with right:
            markup.paragraph(say("trace_lead"), "lead")
            markup.paragraph(say("trace_how"), "note")
            markup.paragraph('trace.save("trace.npz")', "typed")
            _tell_limits()
        return
    content = given.content
    try:
        trace = _read(content)
    except TraceError as error:
        with right:
            st.error(
                say("trace_wrong_file") if error.field == FILE else say("trace_wrong", field=error.field)
            )
            markup.paragraph(str(error), "typed")
            _tell_limits()
        return
    corrector = FromFile(given.name, hashlib.sha256(content).hexdigest()[:12], trace)
    address.bind(names_of("text"), "file", corrector.fingerprint)
    sentence = _sentence_of(trace)
    with writing:
        change = _show_texts(sentence)
    with right:
        view, selection = chosen_view(trace, TABS["attention"])
        state = SentenceState(corrector, sentence, trace, selection, change, controls.theme(), from_file=True)
        stage, opened = Stage(), view(of_one_head(view, state))
        popovers = show_controls(stage, trace, opened.state.selection, view, TABS["attention"])
        page.show_pictures(heads, stage, opened)
        show_more(stage, opened, popovers)


def _tell_limits() -> None:
    limits = {"megabytes": MEGABYTES, "weights": f"{MOST_WEIGHTS:,}", "tokens": MOST_TOKENS}
    markup.paragraph(say("trace_limits", **limits), "note")
    markup.paragraph(f'{THINNED}.save("trace.npz")', "typed")


def _read(content: bytes) -> AttentionTrace:
    """The trace in a file that came from anywhere; nothing of it is kept. Raises TraceError for a wrong
    field."""
    trace = AttentionTrace.load(io.BytesIO(content), limited=True)
    weights = sum(trace.attention(kind).size for kind in trace.kinds)
    if weights > MOST_WEIGHTS:
        raise TraceError(
            "attention", f"have at most {MOST_WEIGHTS:,} weights in all", f"{weights:,}", THINNER
        )
    for side in ("source_tokens", "target_tokens"):
        if (count := len(getattr(trace, side))) > MOST_TOKENS:
            raise TraceError(side, f"be at most {MOST_TOKENS}", count)
    return trace


def _sentence_of(trace: AttentionTrace) -> SentenceCorrection:
    texts = [_text(trace, side) for side in ("source", "target")]
    source, target = texts[0] or texts[1], texts[1] or texts[0]
    return SentenceCorrection(0, source, find_rewriting(source, target), 0.0, False, lambda *_: trace)


def _text(trace: AttentionTrace, side: str) -> str:
    known = text_of(trace, side)
    return " ".join(getattr(trace, f"{side}_tokens")) if known is None else known


def _show_texts(sentence: SentenceCorrection) -> Change | None:
    """Draw the text with its changes, each of which can be chosen. Returns the chosen one."""
    return show_correction(Correction(sentence.source, (sentence,)), Doing(decides=False))[1]


main()
