"""What a trace says about a correction, and what the network says when it is asked again with something changed.

Exported here are the questions of the laboratory: ``head_effects``, ``written_without`` and ``pair_effects`` (without
each head), ``pruning_curve`` (without more and more of them), ``contributions`` (from which characters?),
``replaced_for_change`` (with other weights), ``road_not_taken`` (with another token at one step), ``aligned_difference``
(two passes side by side), ``growth`` (the roles of heads over the course of training), ``who_wrote`` (what each part of the decoder added to the score), ``when_decided`` (what it would say after each sub-layer). ``question_of_change`` makes of a change the question
that most of them answer: why the fix, and not what was typed? They take a ``Corrector``, or traces.

The submodules hold more, all in NumPy. On a trace: ``edits`` (which rows and columns belong to a change, which heads look there),
``heads`` (a head as one number), ``words`` (syllables joined to words), ``kinds`` (of mistakes), ``roles`` (of heads). Arithmetic:
``mixing``, ``integrated``, ``tally``, ``ranks``. Importing any of them loads no network library.
"""

from model.analysis.contributions import Contribution, contribution, contributions
from model.analysis.forks import Fork, road_not_taken
from model.analysis.growth import Growth, growth
from model.analysis.head_effects import HeadEffects, Without, head_effects, written_without
from model.analysis.lenses import Decided, JamoRead, when_decided
from model.analysis.pair_effects import PairEffects, pair_effects
from model.analysis.pruning import Pruned, pruning_curve
from model.analysis.questions import Question, question_of_change, question_of_row
from model.analysis.replacing import Replaced, replaced_attention, replaced_for_change
from model.analysis.twins import aligned_difference
from model.analysis.writing import Part, Written, who_wrote

__all__ = [
    "Contribution",
    "Decided",
    "Fork",
    "Growth",
    "HeadEffects",
    "JamoRead",
    "PairEffects",
    "Part",
    "Pruned",
    "Question",
    "Replaced",
    "Without",
    "Written",
    "aligned_difference",
    "contribution",
    "contributions",
    "growth",
    "head_effects",
    "pair_effects",
    "pruning_curve",
    "question_of_change",
    "question_of_row",
    "replaced_attention",
    "replaced_for_change",
    "road_not_taken",
    "when_decided",
    "who_wrote",
    "written_without",
]
