"""What a worker can be asked about one model.

A question is a name of QUESTIONS and arguments that can be pickled and hashed. Something new to ask, such as
a pass with an intervention, is one more entry: the intervention is an argument, so it becomes part of the key
under which the answer is kept.
"""

from collections.abc import Callable, Sequence
from typing import Any

from engine.answers import PackedCorrection, pack

CORRECT = "correct"  # the one question that is answered for several visitors together


def correct_together(corrector, texts: Sequence[str]) -> list[PackedCorrection]:
    return [pack(correction) for correction in corrector.correct_batch(texts)]


QUESTIONS: dict[str, Callable[..., Any]] = {
    CORRECT: lambda corrector, text: correct_together(corrector, [text])[0],
    "trace": lambda corrector, source, target: corrector.trace(source, target),
    "projections": lambda corrector, source, target, padding: corrector.projections(source, target, padding),
    "embeddings": lambda corrector, text: corrector.embeddings(text),
    "weight_sizes": lambda corrector: corrector.weight_sizes(),
    "num_parameters": lambda corrector: corrector.num_parameters,
}
