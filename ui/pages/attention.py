"""Type a sentence, see it corrected, and see where the network looked while correcting it."""

import streamlit as st

import viz
from model.trace import ATTENTION_KINDS
from ui import address, controls, examples, loaders, markup, notices, reading
from ui.live_text import live_text, replace
from ui.texts import say

MAX_CHARACTERS = 2_000  # of one input
LONGEST_PASTE = 20_000  # more is cut by the browser; up to here the page says that it is too much
MEAN = "mean"


def main() -> None:
    st.title(say("attention_title"))
    markup.paragraph(say("attention_lead"), "lead")
    text_of = {example.id: example.text for example in examples.load()}
    pick_example(text_of)
    typed, corrected = st.columns(2, gap="medium")
    with typed:
        text = address.get("sentence")
        live_text(text, say("input_label"), say("input_placeholder"), LONGEST_PASTE, keep_typed)
    with corrected:
        corrector = notices.load_corrector()
        correction = corrector and show_correction(text, corrector)
    if correction and correction.sentences:
        show_attention(choose_sentence(correction.sentences), corrector)


def pick_example(text_of: dict[str, str]) -> None:
    """One chip for each kind of error; the chip whose sentence is in the text area is marked."""
    key = "control_example"
    here = address.get("sentence")
    st.session_state[key] = next((name for name, text in text_of.items() if text == here), None)
    st.pills(
        say("example_label"),
        list(text_of),
        format_func=lambda name: say(f"example_{name}"),
        key=key,
        on_change=lambda: keep_example(text_of.get(st.session_state[key])),
    )


def keep_example(text: str | None) -> None:
    if text is not None:
        keep_typed(text)
        address.put("part", "")
        replace()


def keep_typed(text: str) -> None:
    address.put("sentence", text)


def show_correction(text: str, corrector) -> loaders.CorrectionView | None:
    """The corrected text with its changes marked, or what the visitor should know instead."""
    if not text.strip():
        st.info(say("empty"))
        return None
    if len(text) > MAX_CHARACTERS:
        st.warning(say("too_many_characters", length=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"))
        return None
    with st.spinner(say("working")):  # a length of text that is met for the first time takes a while
        correction = loaders.correct(text, corrector.fingerprint)
    markup.correction(
        correction.source, correction.text, correction.changes, say("typed_label"), say("corrected_label")
    )
    notices.about(text, correction, corrector.config.max_length)
    return correction


def choose_sentence(sentences: tuple[loaders.SentenceView, ...]) -> loaders.SentenceView:
    """The sentence to look into; asked only where there are several."""
    if len(sentences) == 1:
        return sentences[0]
    numbers = [str(number + 1) for number in range(len(sentences))]
    changed = (number for number, sentence in zip(numbers, sentences, strict=True) if sentence.changes)
    number = controls.pick(
        "part",
        numbers,
        lambda number: f"{number}. {sentences[int(number) - 1].text}",
        otherwise=next(changed, numbers[0]),
    )
    return sentences[int(number) - 1]


def show_attention(sentence: loaders.SentenceView, corrector) -> None:
    """One head of one layer as a heatmap, and a sentence that says what to look for in it."""
    st.header(say("attention_heading"))
    layers = [str(layer + 1) for layer in range(corrector.config.num_layers)]
    heads = [MEAN, *(str(head + 1) for head in range(corrector.config.num_heads))]
    with st.container(horizontal=True, gap="medium"):
        kind = controls.choose("kind", list(ATTENTION_KINDS), lambda kind: say(f"kind_{kind}"))
        layer = controls.choose("layer", layers, str)
        head = controls.choose("head", heads, lambda head: say("head_mean") if head == MEAN else head)
    if sentence.too_long:
        st.info(say("too_long_to_show", limit=corrector.config.max_length))
        return
    with st.spinner(say("working")):
        trace = loaders.trace(sentence.source, sentence.text, corrector.fingerprint)
    weights = reading.attention_of(trace, kind, int(layer) - 1, None if head == MEAN else int(head) - 1)
    head_name = say("place_mean", layer=layer) if head == MEAN else say("place_head", layer=layer, head=head)
    markup.paragraph(reading.describe(say, trace, weights, kind, sentence.changes, head_name), "reading")
    queries, keys = trace.axes(kind)
    figure = viz.attention_heatmap(
        weights,
        queries,
        keys,
        query_title=say(f"query_{kind}"),
        key_title=say(f"key_{kind}"),
        hover=(say("hover_query"), say("hover_key"), say("hover_weight")),
        masked=reading.look_ahead_mask(trace, kind),
        masked_title=say("masked"),
        emphasis_rows=reading.changed_rows(sentence.changes, kind, len(queries)),
        theme=controls.theme(),
    )
    st.plotly_chart(figure, key="attention", theme=None, config=viz.config(file_name="attention"))
    markup.paragraph(say(f"caption_{kind}"), "note")


main()
