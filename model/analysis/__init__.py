"""Interpretability methods for one correction or one trace, in NumPy.

They take a corrector (``model.correction.answers``) and a pair of texts, or traces:

* ``direct_logit_attribution``, ``logit_lens``: the residual stream, read by the unembedding.
* ``contributions``, ``contribution_rows``: input attribution by methods such as rollout, ALTI,
  integrated gradients.
* ``head_effects``, ``ablate_heads``, ``pair_effects``, ``pruning_curve``: ablation of attention heads.
* ``activation_patching``: an activation of the clean run in a corrupted run, with the share of the score it
  restores.
* ``node_effects``: total and direct effect of each head and feed-forward network.
* ``attribution_patching``: fast estimates of these effects and of all edges, by gradients (EAP-IG, too).
* ``find_circuit``, ``find_common_circuit``, ``circuit_edges``, ``attribution_graph``: the nodes that suffice
  for one edit or a kind of mistake, and their edges by path patching.
* ``decompose_attention_score``: one attention score over the parts of its query and key.
* ``replaced_attention``, ``alternative_continuation``: other weights in one head, another token in one row.
* ``edit_network``, ``edit_outcome``: a few corrections taught by a low-rank change of a feed-forward network.
* ``verified_explanation``: claims about a correction, each tested by an intervention.
* ``aligned_difference``: the difference between the attention of two passes.
* ``Result.save``, ``load``: a result as a folder, with settings, fingerprint, versions and ids of the data.
* ``growth``: the development of each head's role over the training.

Most explain a contrast, the logit difference of two tokens in one row; an ``Edit`` holds the texts and the
change or the contrast, or a metric of the logits in its place.

Of the submodules, ``edits``, ``attention_maps``, ``kinds`` and ``roles`` read traces and texts alone.
Importing any of them loads no network library.
"""

from model.analysis.ablation import (
    AblationValues,
    Character,
    Edge,
    NodeEffects,
    corpus_means,
    corrupted_values,
    node_effects,
    reference_values,
)
from model.analysis.attention_maps import aligned_difference
from model.analysis.attention_scores import (
    AttentionCell,
    ScoreAblation,
    ScoreDecomposition,
    ScoreTerm,
    decompose_attention_score,
)
from model.analysis.circuits import Circuit, faithfulness, find_circuit, find_common_circuit
from model.analysis.claims import Claim, Explanation, verified_explanation
from model.analysis.contrasts import Edit, contrast_of_edit, contrast_of_row, edits_of
from model.analysis.contributions import Contribution, contribution, contribution_rows, contributions
from model.analysis.counterfactuals import (
    AlternativeContinuation,
    ReplacedAttention,
    alternative_continuation,
    can_write,
    replaced_attention,
    replaced_for_change,
)
from model.analysis.edit_effects import EditedText, EditOutcome, edit_outcome
from model.analysis.effect_estimates import EffectEstimates, attribution_patching
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
from model.analysis.model_editing import ModelEdit, edit_network
from model.analysis.patching import (
    ActivationPatching,
    CorruptedRun,
    Exchanges,
    activation_patching,
    corrupted_by_correction,
    corrupted_by_exchange,
    corrupted_by_sentence,
    corrupted_by_text,
    exchanges,
)
from model.analysis.path_patching import CircuitEdges, attribution_graph, circuit_edges
from model.analysis.residual_stream import (
    JamoLens,
    LogitAttribution,
    LogitLens,
    ResidualComponent,
    direct_logit_attribution,
    logit_lens,
)
from model.analysis.roles import Growth, growth
from model.analysis.saving import Result, data_id, load
from model.trace.interventions import Contrast

__all__ = [
    "AblatedText",
    "AblationValues",
    "ActivationPatching",
    "AlternativeContinuation",
    "AttentionCell",
    "Character",
    "Circuit",
    "CircuitEdges",
    "Claim",
    "Contrast",
    "Contribution",
    "CorruptedRun",
    "Edge",
    "Edit",
    "EditOutcome",
    "EditedText",
    "EffectEstimates",
    "Exchanges",
    "Explanation",
    "Growth",
    "HeadEffects",
    "JamoLens",
    "LogitAttribution",
    "LogitLens",
    "ModelEdit",
    "NodeEffects",
    "PairEffects",
    "PruningPoint",
    "ReplacedAttention",
    "ResidualComponent",
    "Result",
    "ScoreAblation",
    "ScoreDecomposition",
    "ScoreTerm",
    "ablate_heads",
    "activation_patching",
    "aligned_difference",
    "alternative_continuation",
    "attribution_graph",
    "attribution_patching",
    "can_write",
    "circuit_edges",
    "contrast_of_edit",
    "contrast_of_row",
    "contribution",
    "contribution_rows",
    "contributions",
    "corpus_means",
    "corrupted_by_correction",
    "corrupted_by_exchange",
    "corrupted_by_sentence",
    "corrupted_by_text",
    "corrupted_values",
    "data_id",
    "decompose_attention_score",
    "direct_logit_attribution",
    "edit_network",
    "edit_outcome",
    "edits_of",
    "exchanges",
    "faithfulness",
    "find_circuit",
    "find_common_circuit",
    "growth",
    "head_effects",
    "load",
    "logit_lens",
    "node_effects",
    "pair_effects",
    "pruning_curve",
    "reference_values",
    "replaced_attention",
    "replaced_for_change",
    "verified_explanation",
]
