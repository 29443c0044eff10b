"""Leaves out each token, one at a time (``Intervention.without_source``, ``without_target``): how does log p(written) - log
p(instead) change? The other methods are compared with this one.
"""

from model.analysis.method import EACH_TOKEN, AttributedRow, AttributionMethod, TokenScores
from model.stored.config import INTERVENTIONS
from model.trace.interventions import Intervention


def say(row: AttributedRow) -> TokenScores:
    length = len(row.trace.source_tokens) or row.trace.prompt  # of a decoder alone the prompt
    gone = [Intervention(without_source=frozenset([place])) for place in range(length)]
    gone += [Intervention(without_target=frozenset([place])) for place in range(row.contrast.row + 1)]
    scores = row.corrector.logit_differences(
        row.source, row.target, row.contrast, [Intervention(), *gone]
    ).differences
    lost = scores[0] - scores[1:]
    return TokenScores(lost[:length], lost[length:])


METHOD = AttributionMethod("occlusion", 8, say, EACH_TOKEN, signed=True, intervenes=True, needs=INTERVENTIONS)
