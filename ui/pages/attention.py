"""Type a sentence, see it corrected, and see where the network looked while correcting it."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

import viz
from model.trace import AttentionTrace
from ui import address, confidence, controls, examples, loaders, markup, models, notices, reading
from ui.live_text import live_text, replace
from ui.texts import say

MAX_CHARACTERS = 2_000  # of one input
LONGEST_PASTE = 20_000  # more is cut by the browser; up to here the page says that it is too much
MOST_COLUMNS_ON_A_PHONE = 20
MEAN = "mean"


def main() -> None:
    st.title(say("attention_title"))
    markup.paragraph(say("attention_lead"), "lead")
    text_of = {example.id: example.text for example in examples.load()}
    pick_example(text_of)
    typed, corrected = st.columns(2, gap="medium")
    for_model, for_confidence = st.columns(2, gap="medium")
    with typed:
        text = address.get("sentence")
        live_text(text, say("input_label"), say("input_placeholder"), LONGEST_PASTE, keep_typed)
    with for_model:
        entry = models.choose()
    with corrected:
        corrector = notices.load_corrector(entry)
    if corrector is None:
        return
    with for_confidence:
        minimum = choose_confidence(corrector)
    with corrected:
        correction = show_correction(text, corrector, minimum)
    if correction and correction.sentences:
        show_attention(choose_sentence(correction.sentences), corrector)


def choose_confidence(corrector: loaders.Corrector) -> float:
    """Changes that the network is less sure of are left undone."""
    chosen = controls.slide_share("confidence", corrector.minimum_confidence)
    markup.paragraph(say("confidence_meaning"), "note")
    return corrector.minimum_confidence if chosen is None else chosen


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


def show_correction(text: str, corrector: loaders.Corrector, minimum: float) -> loaders.Correction | None:
    """The corrected text with its changes marked, or what the visitor should know instead."""
    if not text.strip():
        st.info(say("empty"))
        return None
    if len(text) > MAX_CHARACTERS:
        st.warning(say("too_many_characters", length=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"))
        return None
    with st.spinner(say("working")):  # a length of text that is met for the first time takes a while
        correction = loaders.correct(text, corrector).with_minimum_confidence(minimum)
    labels = (say("typed_label"), say("corrected_label"))
    note_of = partial(confidence.probabilities, say)
    markup.correction(correction.source, correction.text, correction.changes, labels, note_of)
    if undone := confidence.left_undone(correction.proposed, correction.changes):
        markup.paragraph(confidence.describe(say, undone), "note")
    notices.about(text, correction, corrector.config.max_length)
    return correction


def choose_sentence(sentences: Sequence[loaders.SentenceCorrection]) -> loaders.SentenceCorrection:
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


def show_attention(sentence: loaders.SentenceCorrection, corrector: loaders.Corrector) -> None:
    """One head of one layer as a heatmap, and a sentence that says what to look for in it."""
    st.header(say("attention_heading"))
    if sentence.too_long:
        st.info(say("too_long_to_show", limit=corrector.config.max_length))
        return
    with st.spinner(say("working")):
        trace = loaders.trace(sentence.source, sentence.text, corrector)
    kind, layer, head = choose_map(trace)
    weights = reading.attention_of(trace, kind, layer, head)
    place = reading.place(say, trace, layer, head)
    markup.paragraph(reading.describe(say, trace, weights, kind, sentence.changes, place), "reading")
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
    # On a phone, many columns scroll inside their box instead of melting into one another.
    with st.container(key="wide_figure" if len(keys) > MOST_COLUMNS_ON_A_PHONE else "figure"):
        st.plotly_chart(figure, key="attention", theme=None, config=viz.config(file_name="attention"))
    markup.paragraph(say(f"caption_{kind}"), "note")


def choose_map(trace: AttentionTrace) -> tuple[str, int, int | None]:
    """(kind, layer, head) counted from 0, head None for the mean; asks only where there is a choice."""
    layers = [str(layer + 1) for layer in range(trace.num_layers)]
    heads = [MEAN, *(str(head + 1) for head in range(trace.num_heads))]
    kind, layer, head = trace.kinds[0], layers[0], MEAN
    with st.container(horizontal=True, gap="medium"):
        if len(trace.kinds) > 1:
            kind = controls.choose("kind", list(trace.kinds), lambda kind: say(f"kind_{kind}"))
        if len(layers) > 1:
            layer = controls.choose("layer", layers, str)
        if trace.num_heads > 1:
            head = controls.choose("head", heads, lambda head: say("head_mean") if head == MEAN else head)
    if len(trace.kinds) == 1:
        markup.paragraph(say("one_kind"), "lead")
    return kind, int(layer) - 1, None if head == MEAN else int(head) - 1


main()
