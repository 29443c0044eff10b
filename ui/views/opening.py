"""The two buttons of every head that is shown: one opens its map, the other asks what becomes of the correction without it."""

import streamlit as st

from model.trace.interventions import Head
from ui.look.lens import Lens
from ui.shell import address, header
from ui.views import needs
from ui.wording import say


def open_head(lens: Lens, head: Head) -> None:
    """From a callback: show the map of this head, on the page that has maps."""
    address.put_head(head.layer, head.head, head.kind)
    address.put("view", "heatmap")
    if not lens.from_file:  # the page of a file has the same views, and no other page has the file
        header.turn_to("attention")


def may_switch_off(lens: Lens) -> bool:
    """Whether the network can be asked what becomes of a change without a head."""
    return bool(lens.changes) and not lens.from_file and needs.experiment("head_effects")(lens) is None


def switch_off(head: Head) -> None:
    """From a callback: turn to the laboratory, where this head alone is off."""
    address.put("switched_off", f"{head.kind}.{head.layer + 1}.{head.head + 1}")
    address.put("experiment", "without")
    header.turn_to("laboratory")


def ask_without(lens: Lens, head: Head, key: str, text: str = "head_off") -> None:
    """The button that switches ``head`` off. By default its ``text`` is short: it stands beside the one that opens the head."""
    if may_switch_off(lens):
        st.button(
            say(text),
            key=key,
            help=say("head_off_help"),
            on_click=switch_off,
            args=(head,),
        )
