"""What a page without a browser shows, and what a browser would send back from a component."""

import base64
import json

import numpy as np
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest


def component(app: AppTest, key: str) -> dict:
    """The data of the component with this key, sent as a list of one (``ui/components/component.py``)."""
    (found,) = [each.proto for each in app.get("bidi_component") if each.key == key]
    (data,) = json.loads(found.json)
    return data


def components(app: AppTest) -> list[str]:
    """The keys of all components, in the order in which they stand on the page."""
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


def open_popover(app: AppTest, key: str) -> AppTest:
    """``app`` with a popover or an expander opened; what is in it is drawn only then."""
    app.session_state[key] = True
    return app.run()
