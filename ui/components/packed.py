"""``component``: declares a component of a page whose data travels as it is.

Streamlit asks of each value in a mapping whether it is a table, and imports pandas to find out: half a second before the first picture,
and 70 MB. It does not look into a list. So the data travels as a list of one, which the script opens again.
"""

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

_EXPORT = re.compile(r"^export default ", re.MULTILINE)
_OPEN = "\nexport default given => exportedByDefault({ ...given, data: given.data[0] });\n"


def component(name: str, js: str, **parts: Any) -> Callable[..., Any]:
    """A function that shows the component: ``key``, ``data`` and, for what the browser reports, ``on_…_change``.

    ``js``: a module that exports one function by default, which takes ``data``. ``parts``: ``html``, ``css`` and what else
    ``st.components.v2.component`` takes.
    """
    script = _EXPORT.sub("const exportedByDefault = ", js, count=1)
    mount = st.components.v2.component(name, js=script + _OPEN, **parts)

    def show(key: str, data: dict, **handlers: Any) -> Any:
        return mount(key=key, data=[data], **handlers)

    return show
