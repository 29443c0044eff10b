"""A trace of any network, from a file: the lens that notebooks show, in a page."""

import io

import streamlit as st

from model.trace import AttentionTrace, TraceError
from ui import controls, header, markup
from ui.texts import language, say
from viz import explore

MEGABYTES = 20  # as ``model.strict_npz`` and .streamlit/config.toml have it
MOST_WEIGHTS = 6_000_000  # more would keep the server and the browser busy for long
HEIGHT = 760  # pixels


def main() -> None:
    header.begin("trace", heading=say("trace_title"))
    header.tools()
    markup.paragraph(say("trace_lead"), "lead")
    given = st.file_uploader(say("trace_label"), type="npz", max_upload_size=MEGABYTES)
    if given is None:
        markup.paragraph(say("trace_how"), "note")
        markup.paragraph('trace.save("trace.npz")', "typed")
        return
    try:
        trace = read(given.getvalue())
        # A frame within a frame: the outer one is Streamlit's and could reach the app, the inner one can reach nothing.
        shown = explore(trace, language=language(), theme=controls.theme(), height=HEIGHT)
    except TraceError as error:
        st.error(say("trace_wrong", field=error.field))
        markup.paragraph(str(error), "typed")
        return
    st.iframe(shown._repr_html_(), height=HEIGHT + 20)
    missing = lacks(trace)
    if missing:
        markup.paragraph(
            say("trace_lacks", what=", ".join(say(f"trace_lacks_{name}") for name in missing)), "note"
        )


def read(content: bytes) -> AttentionTrace:
    """The trace in a file that came from anywhere; nothing of it is kept. Raises TraceError with what is wrong."""
    trace = AttentionTrace.load(io.BytesIO(content))
    weights = sum(trace.attention(kind).size for kind in trace.kinds)
    if weights > MOST_WEIGHTS:
        raise TraceError("attention", f"have at most {MOST_WEIGHTS:,} weights in all", f"{weights:,}")
    return trace


def lacks(trace: AttentionTrace) -> list[str]:
    """What the lens could have shown."""
    found = ["steps"] if trace.log_probabilities is None or trace.alternatives is None else []
    return found + [
        kind
        for kind in ("encoder_attention", "decoder_attention", "cross_attention")
        if kind not in trace.kinds
    ]


main()
