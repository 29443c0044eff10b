"""A user's own model in a worker: it answers as ours do, and its errors are named."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from engine import questions
from engine.client import Engine, own_model
from engine.own_model import TracedCorrector, load
from engine.question import Edit
from engine.questions import ROUNDS
from engine.records import EngineError, OwnModelError
from model import analysis
from model.analysis.attribution_methods import METHODS
from model.analysis.edits import changes_in_tokens
from model.analysis.head_effects import head_effects
from model.stored.config import INTERVENTIONS
from model.text.changes import find_changes
from model.trace.interventions import Head
from tests.own_model import RIGHT, SHAPES, WRONG, Bare, Failing, Speller
from tests.serving import printed

NAME = "tests.own_model:Speller"


@pytest.fixture(scope="module")
def engine():
    with Engine.start([NAME]) as engine:
        yield engine


@pytest.fixture
def speller(engine):
    return engine.open(NAME)


def test_it_corrects_sentence_by_sentence_and_brings_the_traces(speller):
    found = speller.correct(f"{WRONG}. A cat.\n{WRONG}")
    assert found.text == f"{RIGHT}. A cat.\n{RIGHT}"
    assert [each.source for each in found.sentences] == [f"{WRONG}.", "A cat.", WRONG]
    trace, expected = found.sentences[2].trace, Speller().trace(WRONG, RIGHT)
    for kind, shape in SHAPES.items():
        assert trace.shape(kind) == shape
        np.testing.assert_array_equal(trace.attention(kind), expected.attention(kind))


def test_a_change_can_be_taken_back_though_nobody_knows_how_sure_it_is(speller):
    found = speller.correct(WRONG)
    assert len(found.changes) > 1
    assert not any(change.is_weighed for change in found.proposed)
    undone = found.with_decisions(rejected=range(len(found.proposed)))
    assert undone.text == WRONG
    assert undone.trace.target_text == WRONG
    assert found.with_minimum_confidence(1.0).text == RIGHT


def test_what_it_can_do_besides_is_known(engine, speller):
    assert speller.config.abilities == {INTERVENTIONS}
    assert questions.head_effects.suits(speller.config)
    assert not questions.step_contributions.suits(speller.config)
    with pytest.raises(EngineError, match="cannot be asked 'step_contributions'"):
        speller.ask(questions.step_contributions, WRONG, RIGHT, 0)
    assert engine.open("tests.own_model:Bare").config.abilities == frozenset()


def test_an_error_of_the_model_keeps_the_text_to_itself(engine, speller):
    failing = engine.open("tests.own_model:Failing")
    with pytest.raises(OwnModelError, match="correct raised ValueError") as raised:
        failing.correct("a secret")
    assert "secret" not in str(raised.value)
    assert speller.correct(WRONG).text == RIGHT


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nonsense", '"package.module:factory"'),
        ("tests.own_model:", '"package.module:factory"'),
        ("../tests.own_model:Speller", '"package.module:factory"'),
        ("no_such_module:factory", "No module named"),
        ("tests.own_model:Nobody", "has no attribute"),
        ("tests.own_model:unusable", "no weights here"),
        ("tests.own_model:Mute", "lacks correct or trace"),
        ("tests.own_model:RIGHT", "not callable"),
    ],
)
def test_a_wrong_name_is_named_to_the_page_and_in_the_terminal(name, said, engine, capsys):
    with pytest.raises(OwnModelError, match="ATTENTION_MODEL") as raised:
        engine.open(name).correct("a")
    assert name in str(raised.value)
    assert said in str(raised.value)
    with pytest.raises(OwnModelError):
        load(name)  # as the worker does, whose standard error is the terminal's
    assert str(raised.value) in capsys.readouterr().err


def test_a_model_of_another_copy_of_the_library_is_named(monkeypatch):
    """Its classes would be strangers: a checkout runs ``model``, a module of the user may import
    ``see_attention``.
    """
    monkeypatch.setitem(sys.modules, "see_attention.model.trace.trace", None)
    with pytest.raises(
        OwnModelError, match="it imports see_attention.model.trace.trace, but the app runs model"
    ):
        load(NAME)


class PanicError(BaseException):
    """As extensions in Rust raise it."""


@pytest.mark.parametrize("is_screen", [True, False])
def test_the_developer_reads_the_message_on_a_screen_and_no_log_keeps_it(is_screen, capsys, monkeypatch):
    failing = TracedCorrector("failing", Failing())
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: is_screen)
    with pytest.raises(OwnModelError) as raised:
        failing.correct_batch(["a secret"])
    told = capsys.readouterr().err
    assert "secret" not in str(raised.value)
    assert "own_model.py" in told and "correct raised ValueError" in told
    assert ("ValueError: cannot read a secret" in told) is is_screen


@pytest.mark.parametrize("end", [SystemExit("a secret"), PanicError("a secret"), None])
def test_a_correct_that_would_end_its_thread_or_returns_nothing_is_named(end, capsys):
    class Odd(Bare):
        def correct(self, text):
            if end:
                raise end

    message = f"raised {type(end).__name__}" if end else "returned NoneType"
    with pytest.raises(OwnModelError, match=f"odd: correct {message}"):
        TracedCorrector("odd", Odd()).correct_batch(["a"])
    assert "secret" not in capsys.readouterr().err


class Odd(Speller):
    """A speller whose traces pass through one function."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def trace(self, source, target):
        return self.change(super().trace(source, target))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda trace: "a", "trace returned str, not AttentionTrace"),
        (
            lambda trace: replace(trace, encoder_attention=trace.encoder_attention * np.nan),
            r"encoder_attention should be finite .*, received nan",
        ),
        (
            lambda trace: replace(trace, cross_attention=np.ones((1, 1, 2, 3))),
            r"cross_attention should have .* received \(1, 1, 2, 3\)",
        ),
        # The reason would quote the text.
        (lambda trace: replace(trace, source_words=("ab", "cd")), "^odd: trace raised TraceError$"),
    ],
)
def test_a_wrong_trace_is_refused_with_its_reason(change, message, capsys):
    with pytest.raises(OwnModelError, match=message) as raised:
        TracedCorrector("odd", Odd(change)).trace(WRONG, RIGHT)
    if "cross_attention" in message:
        assert str(raised.value) in capsys.readouterr().err


def test_a_change_that_the_tokens_do_not_show_is_named():
    blind = Odd(lambda trace: replace(trace, target_tokens=("<unk>",) * len(trace.target_tokens)))
    with pytest.raises(OwnModelError, match="target_tokens are the same with and without the change"):
        head_effects(
            TracedCorrector("odd", blind), analysis.Edit(WRONG, RIGHT, find_changes(WRONG, RIGHT)[0])
        )


def test_the_variable_names_the_model(monkeypatch):
    monkeypatch.setenv("ATTENTION_MODEL", f" {NAME} ")
    assert own_model() == NAME
    monkeypatch.setenv("ATTENTION_MODEL", "")
    assert own_model() is None


def test_the_asking_process_imports_neither_the_model_nor_its_library():
    code = f"""
import sys
from engine.client import Engine
with Engine.start([{NAME!r}]) as engine:
    assert engine.open({NAME!r}).correct({WRONG!r}).text == {RIGHT!r}
print("tests.own_model" in sys.modules)
"""
    assert printed(code) == "False"


def test_the_laboratory_answers_from_traces(speller):
    (first, *_) = changes_in_tokens(Speller().trace(WRONG, RIGHT), find_changes(WRONG, RIGHT))
    span = first.source_start, first.source_end
    effects = speller.ask(questions.head_effects, Edit(WRONG, RIGHT, span))
    assert [len(effects.grid(kind).ravel()) for kind in SHAPES] == [a * b for a, b in SHAPES.values()]
    # Speller loses 1 + layer + head / 10 nats of its token for each head that is off.
    np.testing.assert_allclose(
        effects.effect, [-1 - head.layer - head.head / 10 for head in effects.heads], atol=1e-5
    )
    without = speller.ask(questions.ablate_heads, WRONG, ((Head("cross_attention", 0, 1),),))
    assert [each.text for each in without] == [WRONG]
    before, after = speller.ask(
        questions.ablated_fix_probability, Edit(WRONG, RIGHT, span), ((), (Head("cross_attention", 0, 1),))
    )
    assert after == pytest.approx(before * np.exp(-1.1), rel=1e-4)
    row, methods, _ = speller.ask(questions.contributions, Edit(WRONG, RIGHT, span))
    parts = (
        speller.ask(questions.contributions, Edit(WRONG, RIGHT, span), number)[-1]
        for number in range(len(ROUNDS))
    )
    found = {each.method: each for part in parts for each in part}
    assert found.keys() == set(methods) < METHODS.keys()  # all that need texts and traces alone
    raw, occlusion = found["attention"], found["occlusion"]
    np.testing.assert_allclose(occlusion.source, 1, atol=1e-5)
    np.testing.assert_allclose(raw.source.sum() + raw.before.sum(), 1, atol=1e-5)
    question, versions = speller.ask(
        questions.replaced, Edit(WRONG, RIGHT, span), Head("cross_attention", 2, 1), (0, 1)
    )
    assert [each.how for each in versions] == ["observed", "uniform", "copy", "permuted", "painted"]
    assert question.row == row
    np.testing.assert_allclose(
        versions[1].written_probability, versions[0].written_probability * np.exp(-3.1), atol=1e-5
    )
    with pytest.raises(ValueError, match="nothing changes"):
        speller.ask(questions.head_effects, Edit(RIGHT, RIGHT, (40, 41)))
