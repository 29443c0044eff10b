"""The changes of a sentence to choose from, and the heads that looked at the chosen one."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

import viz
from model.analysis.agreement import attention_of_change
from model.analysis.edits import LeadingHead, focus, leading_heads
from model.analysis.kinds import kind_of
from model.changes import Change
from ui import address, figures, loaders, markdown, markup, reading
from ui.figures import MOST_COLUMNS_ON_A_PHONE
from ui.lens import Lens
from ui.texts import say
from viz.labels import visible_token

KIND = "cross_attention"
AROUND = 8  # tokens that bars show on each side of a change: as many as a phone has room for
LONGEST_SIDE = 12  # characters of what was wrong, and of what is right, in a chip
SHARE = r"\mathrm{share}_h = \frac{1}{|R|} \sum_{t \in R} \sum_{s \in C} \alpha^h_{ts}"
USUAL = (
    r"\mathrm{usual}_h = \frac{1}{|R|\,|U|} \sum_{t \in R} \sum_{u \in U} \sum_{s \in C}"
    r" \alpha^h_{u,\, s + p(u) - p(t)}"
)


def choose(sentence: loaders.SentenceCorrection) -> Change | None:
    """The change of ``sentence`` that the visitor looks at, one chip for each; None is the whole sentence."""
    numbers = [str(number + 1) for number in range(len(sentence.changes))]
    if not numbers:
        return None
    key, here = "control_edit", address.get("edit")
    st.session_state[key] = here if here in numbers else None
    st.pills(
        say("edits_label"),
        numbers,
        format_func=lambda number: chip(sentence, int(number)),
        key=key,
        on_change=lambda: address.put("edit", st.session_state[key] or ""),
    )
    return sentence.changes[int(here) - 1] if here in numbers else None


def chip(sentence: loaders.SentenceCorrection, number: int) -> str:
    """The label, in Markdown, of a change counted from 1: what became of what, how sure, which kind."""
    change = sentence.changes[number - 1]
    wrong, right = (
        markdown.plain(visible_token(side, LONGEST_SIDE)) for side in (change.wrong, change.right)
    )
    return say(
        "edits_chip",
        number=number,
        what=say(f"edits_{reading.what_happened(change)}", wrong=wrong, right=right),
        confidence=f"{change.confidence:.2f}",
        kind=say(f"edits_kind_{kind_of(change, sentence.source, sentence.text)}"),
    )


def show(lens: Lens) -> None:
    """The heads that looked at the chosen change more than they usually look at such a place."""
    if lens.change is None:
        markup.paragraph(invitation(lens.sentence.changes), "reading")
        return
    heads = leading_heads(lens.trace, lens.change, lens.sentence.changes)
    markup.paragraph(describe(lens, heads[0]), "reading")
    if len(heads) > 1:
        markup.paragraph(say("edits_open"), "note")
        with st.container(horizontal=True, gap="small"):
            for place in heads:
                st.button(
                    named(lens, place),
                    key=f"edits_open_{place.layer}_{place.head}",
                    on_click=open_head,
                    args=(place.layer, place.head),
                )
    attention = attention_of_change(lens.trace, lens.change)
    outlined = (focus(lens.trace, KIND, lens.change).columns, say("edits_outlined"))
    rows = [attention[found.layer, found.head] for found in heads]
    show_bars(lens, lens.change, rows, [named(lens, found) for found in heads], outlined, "edits")
    markup.paragraph(say("edits_caption"), "note")
    with st.expander(say("edits_idea_heading")):
        st.markdown(say("edits_idea"))
        st.latex(SHARE)
        st.latex(USUAL)
        st.markdown(say("edits_formula"))


def invitation(changes: Sequence[Change]) -> str:
    """What there is to choose from."""
    if not changes:
        return say("edits_none")
    change = min(changes, key=lambda change: change.confidence)
    return say(
        "edits_invite_one" if len(changes) == 1 else "edits_invite",
        count=len(changes),
        change=in_words(change),
        confidence=f"{change.confidence:.2f}",
    )


def in_words(change: Change) -> str:
    """One change as plain text, blanks visible."""
    wrong, right = (visible_token(side, LONGEST_SIDE) for side in (change.wrong, change.right))
    return say(f"edits_{reading.what_happened(change)}", wrong=wrong, right=right)


def describe(lens: Lens, found: LeadingHead) -> str:
    """What the leading head did with the chosen change."""
    only = lens.trace.num_layers == lens.trace.num_heads == 1
    more = "edits_reading" if found.share > found.usual else "edits_reading_less"
    columns = focus(lens.trace, KIND, lens.change).columns
    return say(
        "edits_reading_only" if only else more,
        change=in_words(lens.change),
        columns=visible_token("".join(lens.trace.source_tokens[column] for column in columns), LONGEST_SIDE),
        place=reading.place(say, lens.trace, found.layer, found.head),
        share=f"{found.share:.0%}",
        usual=f"{found.usual:.0%}",
    )


def named(lens: Lens, found: LeadingHead) -> str:
    """A head, how much it looked at the chosen change, and how much it looks at such a place usually."""
    place = reading.place(say, lens.trace, found.layer, found.head)
    return say("edits_head", place=place, share=f"{found.share:.0%}", usual=f"{found.usual:.0%}")


def open_head(layer: int, head: int) -> None:
    """Let everything below show this head of the attention from decoder to encoder."""
    address.put("kind", KIND)
    address.put("layer", str(layer + 1))
    address.put("head", str(head + 1))


def show_bars(
    lens: Lens,
    change: Change,
    rows: Sequence[np.ndarray],
    names: Sequence[str],
    outlined: tuple[Sequence[int], str],
    key: str,
) -> None:
    """Bars of attention over the source around ``change``, a panel for each of ``rows`` (S,) with its name.

    ``outlined``: the positions to be enclosed, in order, all of which are shown; and what they are.
    """
    positions, title = outlined
    tokens, columns = lens.trace.source_tokens, focus(lens.trace, KIND, change).columns
    start = min(max(columns[0] - AROUND, 0), *positions)
    end = max(columns[-1] + AROUND + 1, positions[-1] + 1)
    shown = np.array(rows)[:, start:end]
    figure = viz.attention_bars(
        shown,
        tokens[start:end],
        names,
        outlined=[position - start for position in positions],
        outlined_title=title,
        first=start,
        token_title=say(f"key_{KIND}"),
        hover=(say("hover_key"), say("hover_weight")),
        theme=lens.theme,
    )
    with st.container(key=f"wide_{key}" if shown.shape[1] > MOST_COLUMNS_ON_A_PHONE else f"bars_{key}"):
        figures.draw(figure, f"{key}_bars", key)
    if shown.shape[1] < len(tokens):
        rest = max(1 - shown.sum(axis=1).min(), 0)
        markup.paragraph(say("edits_rest", rest=f"{rest:.1%}"), "note")
