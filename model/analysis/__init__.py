"""What a trace says about a correction, and what the network says when it is asked again with something changed.

This package exports the questions of the laboratory. They take what answers (``model.correction.answers``) or traces:

* ``head_effects``, ``written_without``, ``pair_effects``: what changes when a head is switched off?
* ``pruning_curve``: how well does the network correct with fewer and fewer heads?
* ``contributions``, ``contribution_rows``: which characters does a produced character come from? Several methods answer.
* ``replaced_for_change``: what changes when a head is given other weights?
* ``road_not_taken``: how would the network go on after another token?
* ``aligned_difference``: how does the attention of two passes differ?
* ``growth``: when in training did each head take up its role?
* ``who_wrote``, ``when_decided``: which parts wrote the answer, and after which layer did it stand?
* ``patch_map``: where is what the correction needs, in a twin that is not corrected?
* ``find_circuit``, ``circuit_edges``: which few parts are enough, and what do they read of each other?
* ``node_effects``: what is each part worth, in all and by what the answer itself reads of it?
* ``why_looked``: what were the query and the key of one attention weight made of?
* ``explained``: a few claims about a correction, each tested by an intervention.

Most of them ask why the network wrote the fix and not what was typed. ``contrast_of_change`` makes that question of a change.

The submodules hold more, all in NumPy. Read from a trace: ``edits`` (the rows and columns of a change, and the heads that look
there), ``heads`` (a head as one number), ``words`` (syllables joined to words), ``kinds`` (of mistakes), ``roles`` (of heads).
Arithmetic: ``mixing``, ``integrated``, ``tally``, ``ranks``. Importing any of them loads no network library.
"""

from model.analysis.aligning import aligned_difference
from model.analysis.circuit_edges import Character, CircuitEdges, Edge, circuit_edges
from model.analysis.circuit_file import graph_of
from model.analysis.circuits import Circuit, find_circuit
from model.analysis.contrasts import contrast_of_change, contrast_of_row
from model.analysis.contributions import contribution, contribution_rows, contributions
from model.analysis.forks import Fork, road_not_taken
from model.analysis.growth import Growth, growth
from model.analysis.head_effects import HeadEffects, Without, head_effects, written_without
from model.analysis.lenses import Decided, JamoRead, when_decided
from model.analysis.looks import Look, LookPart, TakenAway, why_looked
from model.analysis.method import Contribution
from model.analysis.node_effects import NodeEffects, node_effects
from model.analysis.pair_effects import PairEffects, pair_effects
from model.analysis.patching import PatchMap, patch_map
from model.analysis.pruning import Pruned, pruning_curve
from model.analysis.receipts import Explanation, Receipt, explained
from model.analysis.replacing import Replaced, replaced_attention, replaced_for_change
from model.analysis.stand_ins import StandIns, corpus_means, twin_values
from model.analysis.twin_runs import TwinRun, changed_twin, corrected_twin, sentence_twin
from model.analysis.writing import Part, Written, who_wrote
from model.trace.odds import Contrast

__all__ = [
    "Character",
    "Circuit",
    "CircuitEdges",
    "Contrast",
    "Contribution",
    "Decided",
    "Edge",
    "Explanation",
    "Fork",
    "Growth",
    "HeadEffects",
    "JamoRead",
    "Look",
    "LookPart",
    "NodeEffects",
    "PairEffects",
    "Part",
    "PatchMap",
    "Pruned",
    "Receipt",
    "Replaced",
    "StandIns",
    "TakenAway",
    "TwinRun",
    "Without",
    "Written",
    "aligned_difference",
    "changed_twin",
    "circuit_edges",
    "contrast_of_change",
    "contrast_of_row",
    "contribution",
    "contribution_rows",
    "contributions",
    "corpus_means",
    "corrected_twin",
    "explained",
    "find_circuit",
    "graph_of",
    "growth",
    "head_effects",
    "node_effects",
    "pair_effects",
    "patch_map",
    "pruning_curve",
    "replaced_attention",
    "replaced_for_change",
    "road_not_taken",
    "sentence_twin",
    "twin_values",
    "when_decided",
    "who_wrote",
    "why_looked",
    "written_without",
]
