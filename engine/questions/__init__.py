"""The questions that a worker can be asked about one model. Each is a function, declared with ``@question``.

The declaration says the question's name, the ability that it needs, whether it takes long, and how many answers are kept. The
function takes a corrector and arguments that can be pickled and hashed: texts, numbers, tuples, an ``Intervention``. The arguments are
part of the key under which the answer is kept, so everything that the answer depends on has to be an argument. An array travels as a
tuple of its rows. Visitors share an answer, so it consists of tuples, frozen dataclasses and arrays, which a page cannot change.

To add one: a function in one of the files here, and a function in ``ui/asking/questions.py`` that calls ``corrector.ask("name", …)``. The
tests' ``FakeCorrector`` answers it without further work.
"""

from engine.questions import changed, contributing, following, many, passes  # noqa: F401  each declares its questions
from engine.questions.contributing import ROUNDS
from engine.questions.declared import CORRECT, MB, QUESTIONS, EngineQuestion, answered

__all__ = ["CORRECT", "MB", "QUESTIONS", "ROUNDS", "EngineQuestion", "answered"]
