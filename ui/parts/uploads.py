"""Where a file is dropped. Streamlit's control speaks English alone; its words are replaced by the page's own."""

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from ui.shell import markup
from ui.wording.texts import say


class DroppedFile(NamedTuple):
    """A file that was dropped."""

    name: str
    content: bytes


def kept_upload(label: str, types: Sequence[str], megabytes: int, key: str) -> DroppedFile | None:
    """The control of ``upload``; its file stays with the session while the visitor is on other pages, until it is taken away."""
    kept = f"{key}_kept"

    def forget() -> None:
        st.session_state.pop(kept, None)

    file = upload(label, types, megabytes, key, forget)
    if file is not None:
        st.session_state[kept] = file
    given: DroppedFile | None = st.session_state.get(kept)
    if file is None and given is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            markup.paragraph(say("upload_kept", name=given.name), "note")
            st.button(say("upload_forget"), key=f"{key}_forget", on_click=forget)
    return given


def upload(
    label: str,
    types: Sequence[str],
    megabytes: int,
    key: str,
    on_change: Callable[[], None] | None = None,
) -> DroppedFile | None:
    """The control; returns the file, or None until there is one."""
    words = {
        "choose": say("upload_choose"),
        "limits": say("upload_limits", megabytes=megabytes, types=", ".join(map(str.upper, types))),
        "refused": say("upload_refused", megabytes=megabytes),
    }
    # A JSON string of plain letters is a string of CSS, too.
    markup.variables(
        f".st-key-{key}", {name: json.dumps(word, ensure_ascii=False) for name, word in words.items()}
    )
    file = st.file_uploader(label, type=list(types), max_upload_size=megabytes, key=key, on_change=on_change)
    return None if file is None else DroppedFile(file.name, file.getvalue())
