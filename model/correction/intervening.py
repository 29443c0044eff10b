"""The part of ``Corrector`` that answers with something changed: texts become ids, and passes on ids become answers.

B interventions, Q query and K key positions, V vocabulary.
"""

from collections.abc import Sequence

import numpy as np

from model.activations.drafting import Pass, log_softmax
from model.activations.laboratory import Passes
from model.text.changes import Change, find_changes
from model.text.tokenizer import Tokenizer
from model.trace.interventions import Head, Intervention
from model.trace.odds import Contrast, LogitDifferences


class Intervening:
    """The part of ``Corrector`` that ``answers.Intervenes`` describes.

    Its methods raise ValueError for a network that takes no interventions, for an intervention that it does not have,
    and for a source that is longer than it can read.
    """

    tokenizer: Tokenizer

    @property
    def laboratory(self) -> Passes:
        raise NotImplementedError

    def changes(self, source: str, target: str) -> tuple[Change, ...]:
        return find_changes(source, target)

    def contrast(self, source: str, target: str, other: str) -> Contrast | None:
        both = self.tokenizer.encode_target(target), self.tokenizer.encode_target(other)
        for row, (written, instead) in enumerate(zip(*both, strict=False)):
            if written != instead:
                labels = self.tokenizer.labels([written, instead])
                return Contrast(row, written, instead, labels[0], labels[1], other)
        return None

    def logit_differences(
        self, source: str, target: str, contrast: Contrast, interventions: Sequence[Intervention]
    ) -> LogitDifferences:
        """The logit difference under each intervention, from one batch of teacher-forced passes."""
        # Rows behind the one that is asked about have no influence on it.
        ids = self.tokenizer.encode_target(target)[: contrast.row + 1]
        looked = self._pass(source, ids, interventions)
        logs = log_softmax(looked.logits[:, contrast.row].astype(np.float64))  # (B, V)
        written, instead = logs[:, contrast.written], logs[:, contrast.instead]
        return LogitDifferences(written.astype(np.float32), instead.astype(np.float32))

    def written_under(self, source: str, interventions: Sequence[Intervention]) -> list[str | None]:
        """The network's own text: changes that ``correct`` would leave undone because they are unsure or touch a
        protected character are in it."""
        if not interventions:
            return []
        ids = self.tokenizer.encode_source(source)
        produced = self.laboratory.write([ids] * len(interventions), interventions)
        return [one and self.tokenizer.decode(one.ids, source) for one in produced]

    def attention_under(
        self, source: str, target: str, head: Head, interventions: Sequence[Intervention]
    ) -> np.ndarray:
        looked = self._pass(source, self.tokenizer.encode_target(target), interventions)
        return looked.attention[head.kind][:, head.layer, head.head]

    def _pass(self, source: str, ids: list[int], interventions: Sequence[Intervention]) -> Pass:
        count = len(interventions)
        return self.laboratory.pass_over(
            [self.tokenizer.encode_source(source)] * count, [ids] * count, interventions
        )
