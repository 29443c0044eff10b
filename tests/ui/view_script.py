"""A page that shows one view of one sentence, for tests of views alone."""

from streamlit.testing.v1 import AppTest

from model.trace.trace import Selection
from tests.ui.fake_corrector import FakeCorrector, random_trace
from ui.sentence.state import SentenceState
from ui.shell import controls, markup
from ui.views.view import View

SENTENCE = "고갱이 또 왔다"


def state(
    kind="cross_attention",
    layer=1,
    head=2,
    change=None,
    source=SENTENCE,
    trace=random_trace,
    theme="light",
) -> SentenceState:
    """The sentence state of ``source`` as FakeCorrector corrects it; ``change``: the number of the change in
    focus."""
    corrector = FakeCorrector(trace=trace)
    sentence = corrector.correct(source).sentences[0]
    chosen = None if change is None else sentence.changes[change]
    return SentenceState(corrector, sentence, sentence.trace, Selection(kind, layer, head), chosen, theme)


def run_at(app: AppTest, **settings: str) -> AppTest:
    """``app`` after its first run at an address with these ``settings``."""
    for name, value in settings.items():
        app.query_params[name] = value
    app.run()
    return app


def show(view: type[View], state: SentenceState) -> None:
    """Its choices, its reading, its picture and its notes, in the order of the page."""
    opened = view(state)
    opened.choose()
    markup.told(opened.describe())
    opened.draw()
    for note in opened.notes():
        markup.paragraph(note, "note")


def script(name: str, source: str, target: str, confidence: float, model: str) -> None:
    """A view with its controls and everything it says. Runs on its own, so it brings its imports along."""
    from dataclasses import replace

    from model import SentenceCorrection
    from model.text.changes import find_changes
    from model.trace.trace import Selection
    from tests.ui.fake_corrector import FakeCorrector, one_map_trace, random_trace
    from tests.ui.view_script import show
    from ui.sentence import stage
    from ui.sentence.state import SentenceState
    from ui.shell import address
    from ui.views import EXPERIMENTS, VIEWS

    changes = tuple(
        replace(change, fix_probability=confidence - 0.01 * number, keep_probability=0.0)
        for number, change in enumerate(find_changes(source, target))
    )
    look = one_map_trace if model == "seq2seq" else random_trace
    sentence = SentenceCorrection(0, source, changes, 0.0, False, look)
    view = next(view for view in (*VIEWS, *EXPERIMENTS) if view.name == name)
    selection = stage.choose_map(sentence.trace) if view.has_map else Selection(sentence.trace.kinds[-1])
    edit = address.get("edit")
    change = sentence.changes[int(edit) - 1] if edit else None
    state = SentenceState(FakeCorrector(model, look), sentence, sentence.trace, selection, change, "light")
    for setting in view.options:
        controls.show(setting)
    show(view, state)


def open_view(
    view: str, source: str, target: str, *, confidence=0.9, model="transformer", **settings
) -> AppTest:
    """The view of the correction from ``source`` to ``target``, opened at an address."""
    asked = {"name": view, "source": source, "target": target, "confidence": confidence, "model": model}
    return run_at(AppTest.from_function(script, default_timeout=60, kwargs=asked), **settings)


def state_script(name: str, asked: dict, recurrent: bool, framed: list | None) -> None:
    """A view, or the overview, of ``state(**asked)``. Runs on its own, so it brings its imports along."""
    from tests.ui.fake_corrector import one_map_trace, random_trace
    from tests.ui.view_script import show, state
    from ui.views import VIEWS, overview

    shown = state(**asked, trace=one_map_trace if recurrent else random_trace)
    if name == "overview":
        overview.choose_order(shown)
        overview.draw(shown, framed)
        overview.explain(shown)
        return
    view = next(view for view in VIEWS if view.name == name)
    show(view, shown)


def open_state(name: str, kind="cross_attention", recurrent=False, framed=None, **given) -> AppTest:
    """The view ``name`` of a ``state``, opened at an address with the ``given`` that are no part of it."""
    of_state = {each: given.pop(each) for each in ("layer", "head", "change", "source") if each in given}
    asked = (name, {"kind": kind} | of_state, recurrent, framed)
    return run_at(AppTest.from_function(state_script, args=asked, default_timeout=60), **given)
