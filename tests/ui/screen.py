"""Helpers that read a page without a browser, and send a component's events."""

import base64
import json
import re

import numpy as np
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest


def component(app: AppTest, key: str) -> dict:
    """The data of the component with this key, sent as a list of one (``ui/components/component.py``)."""
    (found,) = [each.proto for each in app.get("bidi_component") if each.key == key]
    (data,) = json.loads(found.json)
    return data


def components(app: AppTest) -> list[str]:
    """The keys of all components, in the order of the page."""
    return [each.key for each in app.get("bidi_component")]


def figures(app: AppTest) -> list[str]:
    """The keys of all figures."""
    return [each.key for each in app.get("bidi_component") if each.proto.component_name == "plot"]


def figure(app: AppTest, key: str = "heatmap") -> dict:
    """A Plotly figure as the browser reads it."""
    return json.loads(component(app, key)["spec"])


def decode(values: dict) -> np.ndarray:
    """An array as Plotly packs it."""
    flat = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return flat.reshape([int(size) for size in values["shape"].split(",")]) if "shape" in values else flat


def numbers(app: AppTest, key: str = "heatmap", trace: int = 0) -> np.ndarray:
    """The cells of a heatmap."""
    return decode(figure(app, key)["data"][trace]["z"])


def bars(app: AppTest, key: str) -> np.ndarray:
    """(R, S): the heights of the bars of a figure, a row for each panel."""
    traces = figure(app, key)["data"]
    return np.array([decode(trace["y"]) for trace in traces if trace["type"] == "bar"])


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.html)


def title(app: AppTest) -> str:
    """The heading of the page, in the line at its top."""
    (found,) = re.findall(r"<h1 [^>]*>(.*?)</h1>", html(app))
    return found


def told(app: AppTest) -> str:
    """The sentence above the picture."""
    (found,) = [element.proto.body for element in app.html if 'class="told' in element.proto.body]
    return found


def messages(app: AppTest) -> list[str]:
    return [
        element.value for name in ("info", "warning", "error", "success") for element in getattr(app, name)
    ]


def send(app: AppTest, key: str, event: str, value: object) -> AppTest:
    """``app`` after the component ``key`` has sent ``value`` as ``event``, as its script does with
    setTriggerValue."""
    (found,) = [each.proto.id for each in app.get("bidi_component") if each.key == key]
    states = app._tree.get_widget_states()
    sent = json.dumps([{"event": event, "value": value}])
    states.widgets.append(WidgetState(id=_trigger(found), json_trigger_value=sent))
    return app._run(states)


def _trigger(component_id: str) -> str:
    from streamlit.components.v2.bidi_component.main import _make_trigger_id

    return _make_trigger_id(component_id, "events")


def setting(app: AppTest, name: str) -> str:
    return app.session_state["view"][name]


def chosen(app: AppTest, *names: str) -> tuple[str, ...]:
    return tuple(setting(app, name) for name in names)


def keys(app: AppTest) -> set[str]:
    """The keys of all buttons and controls."""
    kinds = ("button", "segmented_control", "selectbox", "toggle")
    return {each.key for kind in kinds for each in getattr(app, kind)}


def menu(app: AppTest, key: str):
    (found,) = [each for each in app.get("menu_button") if each.key == key]
    return found


def words(app: AppTest) -> list[tuple[str, str]]:
    """(typed, now) of each changed word of the corrected text."""
    return [
        tuple("".join(text for text, _ in piece[side]) for side in ("typed", "now"))
        for piece in component(app, "correction")["pieces"]
        if piece.get("made")
    ]


def text_of(app: AppTest) -> str:
    """The corrected text at this moment."""
    pieces = component(app, "correction")["pieces"]
    return "".join(
        piece["text"] if "text" in piece else "".join(text for text, _ in piece["now"])
        for piece in pieces
        if "sentence" not in piece
    )


def ask(app: AppTest, what: object, number: object) -> AppTest:
    """``app`` after a press in the corrected text: ``choose``, ``accept``, ``reject`` … a change."""
    return send(app, "correction", "asked", {"what": what, "number": number})


def open_popover(app: AppTest, key: str) -> AppTest:
    """``app`` with a popover or an expander opened; its contents are drawn only then."""
    app.session_state[key] = True
    return app.run()
