"""Where a file is dropped. Streamlit's control speaks English alone; its words are replaced by the page's own."""

import json
from collections.abc import Sequence

import streamlit as st

from ui.shell import markup
from ui.wording.texts import say


def upload(label: str, types: Sequence[str], megabytes: int, key: str):
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
    return st.file_uploader(label, type=list(types), max_upload_size=megabytes, key=key)
