"""What your own model needs so that the app can show it live: the methods of ``TracedModel``.

``ATTENTION_MODEL=package.module:factory streamlit run app.py`` calls ``factory()`` once, in a worker's process, and then
asks the object that it returned, one question at a time.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from model.trace.interventions import Intervention
from model.trace.trace import AttentionTrace

TASKS = ("correct", "rewrite", "translate", "continue")


@dataclass(frozen=True)
class Described:
    """What a ``TracedModel`` says of itself. A page of a model that does not correct shows no corrections in its text."""

    task: str = "correct"
    examples: tuple[str, ...] = ()  # what the page offers to try; the first one is there when the page opens
    language: str = "ko"  # of what it writes, as HTML names it: "de", "en"


def described(model: object) -> Described:
    """What a model says of itself, with the defaults for what it does not say.

    >>> class Translator:
    ...     task, examples, language = "translate", ["손님이 왔다."], "en"
    >>> described(Translator())
    Described(task='translate', examples=('손님이 왔다.',), language='en')

    Raises ValueError for a task that is not among TASKS, and for examples that are no texts.
    """
    found = Described(
        getattr(model, "task", "correct"),
        tuple(getattr(model, "examples", ())),
        getattr(model, "language", "ko"),
    )
    if found.task not in TASKS:
        raise ValueError(f"task should be one of {TASKS}, received {found.task!r}")
    if not all(isinstance(each, str) for each in (*found.examples, found.language)):
        raise ValueError("examples should be texts, and language one text")
    return found


@runtime_checkable
class TracedModel(Protocol):
    """A network that rewrites a sentence and shows its attention. It may also have the attributes ``task`` (one of TASKS),
    ``examples`` and ``language``; see ``Described``.

    >>> from model.trace.trace import AttentionTrace
    >>> class Copies:
    ...     def correct(self, text):
    ...         return text
    ...     def trace(self, source, target):
    ...         tokens, weights = tuple(source), np.eye(len(source))[None, None]  # each character looks at itself
    ...         return AttentionTrace(source_tokens=tokens, target_tokens=tokens, cross_attention=weights)
    >>> isinstance(Copies(), TracedModel)
    True
    """

    def correct(self, text: str) -> str:
        """What the model makes of one sentence: its correction, its translation, its continuation."""
        ...

    def trace(self, source: str, target: str) -> AttentionTrace:
        """The pass in which the model turns ``source`` into ``target``.

        ``target`` is what ``correct`` returned, or that text without some of its changes, which a person took back.
        With ``source_text``, ``source_spans`` and the same of the target, the views find the changes in the maps.
        """
        ...


@runtime_checkable
class InterveningModel(TracedModel, Protocol):
    """The optional part, with which the laboratory works, too.

    The interventions are heads that are off (``Intervention.off``), weights that are replaced (``weights``, of one
    head), and tokens that nobody may look at (``without_source``, ``without_target``); never two of these at once.

    >>> class CopiesAnyway:
    ...     def correct(self, text): ...
    ...     def trace(self, source, target): ...
    ...     def correct_under(self, text, intervention): ...
    ...     def trace_under(self, source, target, intervention): ...
    >>> isinstance(CopiesAnyway(), InterveningModel)
    True
    """

    def correct_under(self, text: str, intervention: Intervention) -> str | None:
        """What the model writes with something changed; None where it finds no end."""
        ...

    def trace_under(self, source: str, target: str, intervention: Intervention) -> AttentionTrace:
        """``trace`` with something changed. It has ``log_probabilities``.

        It shows the weights that the pass used: replaced weights in place of a head's own. A head that is off still shows the weights
        that it computed. A row that has nothing left to look at is 0.
        """
        ...
