"""What a trace says about a correction, and what the network says when it is asked again with something changed.

This package exports the questions of the laboratory. They take what answers (``model.correction.answers``) or traces:

* ``head_effects``, ``written_without``, ``pair_effects``: what changes when a head is switched off?
* ``pruning_curve``: how well does the network correct with fewer and fewer heads?
* ``contributions``, ``contribution_rows``: which characters does a produced character come from? Several methods answer.
* ``replaced_for_change``: what changes when a head is given other weights?
* ``road_not_taken``: how would the network go on after another token?
* ``aligned_difference``: how does the attention of two passes differ?
* ``growth``: when in training did each head take up its role?

Most of them ask why the network wrote the fix and not what was typed. ``contrast_of_change`` makes that question of a change.

The submodules hold more, all in NumPy. Read from a trace: ``edits`` (the rows and columns of a change, and the heads that look
there), ``heads`` (a head as one number), ``words`` (syllables joined to words), ``kinds`` (of mistakes), ``roles`` (of heads).
Arithmetic: ``mixing``, ``integrated``, ``tally``, ``ranks``. Importing any of them loads no network library.
"""

from model.analysis.contrasts import contrast_of_change, contrast_of_row
from model.analysis.contributions import contribution, contribution_rows, contributions
from model.analysis.forks import Fork, road_not_taken
from model.analysis.growth import Growth, growth
from model.analysis.head_effects import HeadEffects, Without, head_effects, written_without
from model.analysis.lenses import Decided, JamoRead, when_decided
from model.analysis.method import Contribution
from model.analysis.pair_effects import PairEffects, pair_effects
from model.analysis.pruning import Pruned, pruning_curve
from model.analysis.replacing import Replaced, replaced_attention, replaced_for_change
from model.analysis.twins import aligned_difference
from model.analysis.writing import Part, Written, who_wrote
from model.trace.odds import Contrast

__all__ = [
    "Contrast",
    "Contribution",
    "Decided",
    "Fork",
    "Growth",
    "HeadEffects",
    "JamoRead",
    "PairEffects",
    "Part",
    "Pruned",
    "Replaced",
    "Without",
    "Written",
    "aligned_difference",
    "contrast_of_change",
    "contrast_of_row",
    "contribution",
    "contribution_rows",
    "contributions",
    "growth",
    "head_effects",
    "pair_effects",
    "pruning_curve",
    "replaced_attention",
    "replaced_for_change",
    "road_not_taken",
    "when_decided",
    "who_wrote",
    "written_without",
]
