"""``SentenceState``: a view's input: sentence, trace, selected map, change in focus.

The selected map is a ``Selection``: a kind of attention, a layer or the mean, a head or the mean. Changes
count characters in a ``Correction`` and tokens here (``model/analysis/edits.py``); if each token is one
character, that is the same.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.question import Edit, P, Question, R
from model.analysis.edits import asked_places, asked_row, changes_in_tokens
from model.text.changes import Change
from model.text.tokenizer import START
from model.trace.interventions import Head
from model.trace.trace import AttentionTrace, LayerHeads, Selection
from ui import wording
from ui.asking import loaders
from ui.wording import say
from viz.labels import visible_token

SHOWN_BEFORE = 6  # characters of the text before the one in question that a sentence repeats


@dataclass(frozen=True)
class SentenceState:
    """The choices that all views of one sentence share. ``change`` is one of the sentence's changes, the one
    in focus; None means the whole sentence.

    ``change`` and ``sentence.changes`` count characters. ``changes``, ``all_changes`` and ``focus``, which
    are drawn, count tokens. If each token is one character, that is the same.
    """

    corrector: loaders.Asked
    sentence: loaders.SentenceCorrection
    trace: AttentionTrace
    selection: Selection
    change: Change | None
    theme: str
    from_file: bool = False  # it was opened from a visitor's file, so no link can open it again

    @property
    def kind(self) -> str:
        return self.selection.kind

    @property
    def layer(self) -> int | None:
        return self.selection.layer

    @property
    def head(self) -> int | None:
        return self.selection.head

    @property
    def single_head(self) -> Head | None:
        """The selected head; None for a mean."""
        return None if self.layer is None or self.head is None else Head(self.kind, self.layer, self.head)

    @cached_property
    def weights(self) -> np.ndarray:
        """(Q, K) float32: the attention of the selected layer and head."""
        return self.selection.weights(self.trace)

    @property
    def queries(self) -> tuple[str, ...]:
        """(Q,) the tokens of the rows."""
        return self.trace.axes(self.kind)[0]

    @property
    def keys(self) -> tuple[str, ...]:
        """(K,) the tokens of the columns."""
        return self.trace.axes(self.kind)[1]

    @property
    def extent(self) -> int:
        """Tokens of the longest side of all maps of this sentence. The larger of the axes of (T, S)."""
        return max(len(self.trace.source_tokens), len(self.trace.target_tokens))

    @property
    def masked(self) -> np.ndarray | None:
        """(Q, K) bool, True where attention of the chosen layer is masked; None if nothing is."""
        return self.trace.masked(self.kind, self.layer)

    @cached_property
    def padded(self) -> np.ndarray | None:
        """(Q, K) bool, True for padding; None without padding, as in the app's own traces."""
        found = self.trace.padded(self.kind)
        return found if found.any() else None

    @property
    def hidden(self) -> np.ndarray | None:
        """(Q, K) bool, True where a cell is masked in all layers or holds only padding; None where no cell
        does."""
        masked = self.trace.masked(self.kind)
        if self.padded is None:
            return masked
        return self.padded if masked is None else self.padded | masked

    @property
    def read_rows(self) -> np.ndarray:
        """(Q,) bool: the rows that are not padding. Their results are not read, so numbers leave them out."""
        return ~self.trace.padding(self.kind)[0]

    def can(self, question: Question) -> bool:
        """Whether the network can answer this one of ``engine.questions``."""
        return question.suits(self.corrector.config)

    @cached_property
    def all_changes(self) -> tuple[Change, ...]:
        """All changes of the sentence, their offsets counting tokens; none where ``places_known`` is False,
        or where the model does not correct, since a translation shares characters with its source by chance.
        """
        return (self._placed or ()) if self.corrects else ()

    @property
    def corrects(self) -> bool:
        return loaders.corrects(self.corrector)

    @property
    def places_known(self) -> bool:
        """Whether the trace gives the places of its tokens in the texts of the sentence."""
        return self._placed is not None

    @cached_property
    def _placed(self) -> tuple[Change, ...] | None:
        texts = (self.trace.source_text, self.sentence.source), (self.trace.target_text, self.sentence.text)
        if any(given not in (None, shown) for given, shown in texts):
            return None
        asked = [self.change or each if each == self.change else each for each in self.sentence.changes]
        return changes_in_tokens(self.trace, asked)

    @property
    def focus(self) -> Change | None:
        """``change`` in tokens."""
        if self.change is None or not self.all_changes:
            return None
        return self.all_changes[self.sentence.changes.index(self.change)]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The change in focus alone, else all changes of the sentence; in tokens."""
        return self.all_changes if self.focus is None else (self.focus,)

    @property
    def asked_change(self) -> Change | None:
        """The change in focus, else the first one, in tokens; None without changes."""
        return next(iter(self.changes), None)

    @property
    def explained(self) -> Change:
        """``asked_change`` where there is one. Raises ValueError without changes."""
        if self.asked_change is None:
            raise ValueError("nothing was changed")
        return self.asked_change

    @property
    def asked_row(self) -> int:
        """The step that writes the character in question, from 0: the one that carries the mistake of
        ``asked_change``; the first step without changes."""
        return 0 if self.asked_change is None else asked_places(self.asked_change)[1]

    @property
    def kept_by_network(self) -> str | None:
        """The typed character in question, where the network prefers it to the fix; else None."""
        if self.asked_change is None or not self.trace.alternatives:
            return None
        (typed, row), source = asked_places(self.asked_change), self.trace.source_tokens
        if typed >= min(self.asked_change.source_end, len(source)) or row >= len(self.trace.target_tokens):
            return None
        likeliest, written = self.trace.alternatives[row][0], self.trace.target_tokens[row]
        return likeliest if source[typed] == likeliest != written else None

    @property
    def written_after(self) -> dict[str, str]:
        """The character in question, and the end of the text before it, which a pass holds as written."""
        tokens, row = self.trace.target_tokens, self.asked_row
        before = "".join(tokens[max(row - SHOWN_BEFORE, 0) : row])
        prefix = ("…" if row > SHOWN_BEFORE else "") + visible_token(before or START)
        return {"token": visible_token(tokens[row]), "prefix": prefix}

    @property
    def asked_query(self) -> int:
        """The query of the selected map at the character in question: a row of (Q, K), from 0."""
        return 0 if self.asked_change is None else asked_row(self.trace, self.kind, self.asked_change)

    @property
    def edit(self) -> Edit:
        """``explained`` as the argument of a question to the engine. Raises ValueError without changes."""
        return self.edit_of(self.explained)

    def edit_of(self, change: Change) -> Edit:
        """``change``, in tokens, as the argument of a question to the engine."""
        return Edit(*self.texts, (change.source_start, change.source_end), change.asked)

    @property
    def texts(self) -> tuple[str, str]:
        """(source, corrected text) of the pass."""
        return self.sentence.source, self.sentence.text

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All changes of the sentence as arguments of a question to the engine."""
        return tuple(map(self.edit_of, self.all_changes))

    def ask(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """The network's answer. Raises NotLoadedError without a network, EngineError without an answer."""
        return self.corrector.ask(question, *arguments, **named)

    def known(self, question: Question[P, R], *arguments: P.args, **named: P.kwargs) -> R | None:
        """The answer of ``ask`` if it is kept; None where it would have to ask."""
        return self.corrector.known(question, *arguments, **named)

    @property
    def has_several_heads(self) -> bool:
        """Whether this kind of attention has several heads: (L, H) is not (1, 1)."""
        return self.trace.attention(self.kind).shape[:2] != (1, 1)

    @property
    def rows(self) -> list[int]:
        """The rows that ``changes`` concern. Numbers of rows (Q,)."""
        return wording.changed_rows(self.changes, self.kind, len(self.queries))

    @property
    def changed_columns(self) -> list[int]:
        """The keys that the changes concern: source tokens, or target tokens that were read again. Numbers of
        columns (K,)."""
        if self.kind == "decoder_attention":  # column j holds the token of row j - 1
            return [row + 1 for row in self.rows if row + 1 < len(self.keys)]
        return wording.changed_rows(self.changes, "encoder_attention", len(self.keys))

    @property
    def place(self) -> str:
        """The words for the layer and the head."""
        return self.place_of((self.layer, self.head))

    def place_of(self, head: LayerHeads, kind: str | None = None) -> str:
        """The words for another layer and head, by default of the kind of attention shown."""
        return Selection(kind or self.kind, *head).label(say, self.trace)
