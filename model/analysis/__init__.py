"""What a trace says about a correction, and what the network says when it is asked again with something changed.

This package exports the questions of the laboratory. They take what answers (``model.correction.answers``) or traces:

* ``head_effects``, ``ablate_heads``, ``pair_effects``: what changes when a head is switched off?
* ``pruning_curve``: how well does the network correct with fewer and fewer heads?
* ``contributions``, ``contribution_rows``: which characters does a produced character come from? Several methods answer.
* ``replaced_for_change``: what changes when a head is given other weights?
* ``alternative_continuation``: how would the network go on after another token?
* ``aligned_difference``: how does the attention of two passes differ?
* ``growth``: when in training did each head take up its role?
* ``direct_logit_attribution``, ``logit_lens``: which parts wrote the answer, and after which layer did it stand?
* ``activation_patching``: where is what the correction needs, in a twin that is not corrected?
* ``find_circuit``, ``circuit_edges``: which few parts are enough, and what do they read of each other?
* ``node_effects``: what is each part worth, in all and by what the answer itself reads of it?
* ``decompose_attention_score``: what were the query and the key of one attention weight made of?
* ``verified_explanation``: a few claims about a correction, each tested by an intervention.

Most of them ask why the network wrote the fix and not what was typed. ``contrast_of_change`` makes that question of a change.

The submodules hold more, all in NumPy. Read from a trace: ``edits`` (the rows and columns of a change, and the heads that look
there), ``heads`` (a head as one number), ``words`` (syllables joined to words), ``kinds`` (of mistakes), ``roles`` (of heads).
Arithmetic: ``mixing``, ``integrated``, ``tally``, ``ranks``. Importing any of them loads no network library.
"""

from model.analysis.attention_maps import aligned_difference
from model.analysis.attention_scores import (
    ScoreAblation,
    ScoreDecomposition,
    ScoreTerm,
    decompose_attention_score,
)
from model.analysis.circuits import (
    Character,
    Circuit,
    CircuitEdges,
    Edge,
    attribution_graph,
    circuit_edges,
    find_circuit,
)
from model.analysis.claims import Claim, Explanation, verified_explanation
from model.analysis.contributions import Contribution, contribution, contribution_rows, contributions
from model.analysis.counterfactuals import (
    AlternativeContinuation,
    ReplacedAttention,
    alternative_continuation,
    contrast_of_change,
    contrast_of_row,
    replaced_attention,
    replaced_for_change,
)
from model.analysis.head_effects import (
    AblatedText,
    HeadEffects,
    PairEffects,
    PruningPoint,
    ablate_heads,
    head_effects,
    pair_effects,
    pruning_curve,
)
from model.analysis.patching import (
    AblationValues,
    ActivationPatching,
    CorruptedRun,
    NodeEffects,
    activation_patching,
    corpus_means,
    corrupted_by_correction,
    corrupted_by_exchange,
    corrupted_by_sentence,
    corrupted_values,
    node_effects,
)
from model.analysis.residual_stream import (
    JamoLens,
    LogitAttribution,
    LogitLens,
    ResidualComponent,
    direct_logit_attribution,
    logit_lens,
)
from model.analysis.roles import Growth, growth
from model.trace.interventions import Contrast

__all__ = [
    "AblatedText",
    "AblationValues",
    "ActivationPatching",
    "AlternativeContinuation",
    "Character",
    "Circuit",
    "CircuitEdges",
    "Claim",
    "Contrast",
    "Contribution",
    "CorruptedRun",
    "Edge",
    "Explanation",
    "Growth",
    "HeadEffects",
    "JamoLens",
    "LogitAttribution",
    "LogitLens",
    "NodeEffects",
    "PairEffects",
    "PruningPoint",
    "ReplacedAttention",
    "ResidualComponent",
    "ScoreAblation",
    "ScoreDecomposition",
    "ScoreTerm",
    "ablate_heads",
    "activation_patching",
    "aligned_difference",
    "alternative_continuation",
    "attribution_graph",
    "circuit_edges",
    "contrast_of_change",
    "contrast_of_row",
    "contribution",
    "contribution_rows",
    "contributions",
    "corpus_means",
    "corrupted_by_correction",
    "corrupted_by_exchange",
    "corrupted_by_sentence",
    "corrupted_values",
    "decompose_attention_score",
    "direct_logit_attribution",
    "find_circuit",
    "growth",
    "head_effects",
    "logit_lens",
    "node_effects",
    "pair_effects",
    "pruning_curve",
    "replaced_attention",
    "replaced_for_change",
    "verified_explanation",
]
