"""A page that shows one view of one sentence, for tests of views alone."""

from streamlit.testing.v1 import AppTest

from tests.ui.fake_corrector import FakeCorrector, random_trace
from ui.lens import Lens

SENTENCE = "고갱이 또 왔다"


def lens(
    kind="cross_attention",
    layer=1,
    head=2,
    change=None,
    source=SENTENCE,
    trace=random_trace,
    theme="light",
) -> Lens:
    """What a view looks through at ``source`` as FakeCorrector corrects it; ``change`` is the number of one of its changes."""
    corrector = FakeCorrector(trace=trace)
    sentence = corrector.correct(source).sentences[0]
    chosen = None if change is None else sentence.changes[change]
    return Lens(corrector, sentence, trace(sentence.source, sentence.text), kind, layer, head, chosen, theme)


def run_at(app: AppTest, **settings: str) -> AppTest:
    """``app`` after its first run at an address with these ``settings``."""
    for name, value in settings.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def script(view: str, source: str, target: str, confidence: float, model: str) -> None:
    """Runs on its own, so it brings its imports along."""
    import importlib
    from dataclasses import replace
    from types import SimpleNamespace

    from model import SentenceCorrection
    from model.changes import find_changes
    from tests.ui.fake_corrector import one_map_trace, random_trace
    from ui.lens import Lens
    from ui.views import edits

    changes = find_changes(source, target)
    changes = tuple(
        replace(change, fix_probability=confidence - 0.01 * number, keep_probability=0.0)
        for number, change in enumerate(changes)
    )
    trace = one_map_trace(source, target) if model == "seq2seq" else random_trace(source, target)
    sentence = SentenceCorrection(0, source, changes, 0.0, False, random_trace)
    lens = Lens(
        corrector=SimpleNamespace(fingerprint=model),
        sentence=sentence,
        trace=trace,
        kind=trace.kinds[-1],
        layer=0,
        head=None,
        change=edits.choose(sentence),
        theme="light",
    )
    importlib.import_module(f"ui.views.{view}").show(lens)


def open_view(
    view: str, source: str, target: str, *, confidence=0.9, model="transformer", **settings
) -> AppTest:
    """The view ``ui.views.<view>`` of the correction from ``source`` to ``target``, opened at an address."""
    asked = {"view": view, "source": source, "target": target, "confidence": confidence, "model": model}
    return run_at(AppTest.from_function(script, default_timeout=20, kwargs=asked), **settings)
