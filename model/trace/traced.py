"""What your own model needs so that the app can show it live: the methods of ``TracedModel``.

``ATTENTION_MODEL=package.module:factory streamlit run app.py`` calls ``factory()`` once, in a worker's process, and then
asks the object that it returned, one question at a time.
"""

from typing import Protocol, runtime_checkable

from model.trace.interventions import Intervention
from model.trace.trace import AttentionTrace


@runtime_checkable
class TracedModel(Protocol):
    """A network that rewrites a sentence and shows its attention.

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
        """``trace`` with something changed. It has ``log_probabilities``."""
        ...
