"""Type a sentence, see it corrected, and see where the network looked while correcting it."""

from functools import partial

import streamlit as st

from ui import address, confidence, controls, examples, lecture, loaders, markup, models, notices
from ui.lens import Lens, choose_map, choose_sentence, trace_of
from ui.live_text import live_text, replace
from ui.sentence import MAX_CHARACTERS
from ui.texts import say
from ui.views import edits, heatmap, lines, numbers, overview, predict, steps, take_away

LONGEST_PASTE = 20_000  # more is cut by the browser; up to here the page says that it is too much
BESIDE_OVERVIEW = {"heatmap": heatmap.show, "lines": lines.show}
ALONE = {"steps": steps.show, "numbers": numbers.show, "predict": predict.show}


def main() -> None:
    st.title(say("attention_title"))
    markup.paragraph(say("attention_lead"), "lead")
    pick_example()
    typed, corrected = st.columns(2, gap="medium")
    with st.container(key="settings"):
        for_model, for_confidence = st.columns(2, gap="medium")
    with typed:
        text = address.get("sentence")
        live_text(text, say("input_label"), say("input_placeholder"), LONGEST_PASTE, keep_typed)
    with for_model:
        entry = models.choose()
    with corrected:
        corrector = notices.load_corrector(entry, text)
    if corrector is None:
        return
    with for_confidence:
        minimum = choose_confidence(corrector)
    with corrected:
        correction = show_correction(text, corrector, minimum)
    if correction and correction.sentences:
        st.header(say("attention_heading"))
        sentence = choose_sentence(correction.sentences)
        with notices.waiting(entry):
            trace = trace_of(sentence, corrector)
            if trace is not None:
                change = edits.choose(sentence)
                show_views(partial(Lens, corrector, sentence, trace, change=change, theme=controls.theme()))


def choose_confidence(corrector: loaders.Corrector | loaders.Remembered) -> float:
    """Changes that the network is less sure of are left undone."""
    chosen = controls.slide_share("confidence", corrector.minimum_confidence)
    markup.paragraph(say("confidence_meaning"), "note")
    return corrector.minimum_confidence if chosen is None else chosen


def pick_example() -> None:
    """One button for each kind of error; that whose sentence is in the text area is marked.

    A choice among pills would have to be taken back while the visitor types, and a browser that has not heard of it
    yet says with its next message that the example was chosen once more, which costs what was typed since.
    """
    here = address.get("sentence")
    with st.container(key="examples", horizontal=True, gap="xsmall"):
        markup.paragraph(say("example_label"), "note")
        for example in examples.load():
            st.button(
                say(f"example_{example.id}"),
                key=f"example_{example.id}",
                type="primary" if example.text == here else "secondary",
                on_click=keep_example,
                args=(example.text,),
            )


def keep_example(text: str) -> None:
    keep_typed(text)
    address.put("part", "")
    replace()


def keep_typed(text: str) -> None:
    address.put("sentence", text)


def show_correction(
    text: str, corrector: loaders.Corrector | loaders.Remembered, minimum: float
) -> loaders.Correction | None:
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


def show_views(lens_of: partial) -> None:
    """The chosen change, then one view of the whole sentence; ``lens_of`` lacks kind, layer and head."""
    view = address.get_option("view", [*BESIDE_OVERVIEW, *ALONE])
    trace = lens_of.args[2]
    if view != "predict":  # the prediction asks for what this would tell
        edits.show(lens_of(trace.kinds[-1], None, None))
    view = controls.choose("view", [*BESIDE_OVERVIEW, *ALONE], lambda view: say(f"view_{view}"))
    # What is predicted is the mean over all heads, so there is no map to choose.
    lens = lens_of(trace.kinds[-1], None, None) if view == "predict" else lens_of(*choose_map(trace))
    if view in ALONE:
        ALONE[view](lens)
    elif trace.num_layers * trace.num_heads == 1:
        BESIDE_OVERVIEW[view](lens)
    else:
        with st.container(key="beside"):
            # In a lecture hall each picture gets the whole width.
            left, right = (
                (st.container(), st.container()) if lecture.is_on() else st.columns([2, 3], gap="medium")
            )
        with left:
            overview.show(lens)
        with right:
            BESIDE_OVERVIEW[view](lens)
    take_away.show(lens)


main()
