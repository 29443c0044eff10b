"""Makes right sentences wrong, as people do.

A ``Draft`` (``draft``) keeps for each character of the right sentence what has become of it. Its cells never move, so rules can follow
one another, and each edit is recorded with its rule, its family and its place. The families:

* pronunciation: written as it is heard (``pronunciation`` and its rules, 표준 발음법)
* typing: slips of the fingers on a two-set keyboard (``typing_slips``, ``keyboard``)
* native: frequent spelling mistakes (``native`` and its table)
* spacing: 한글 맞춤법 제2항, 제41항 to 제50항 (``spacing``, ``common_spacing``; ``compounds`` finds the spaces that may be left out)

``pairs`` decides which families a sentence gets. Other makers give pairs that running text lacks:

* ``drill``: short phrases in which rare mistakes are practised as often as common ones
* ``strokes``: slips of timing and of syllables (``input_method``, ``key_slips``, ``syllable_slips``, ``particle_slips``)
* ``norm``: the norm article by article, with a fifth of its words held out to measure on
* ``registers``: lists, chat, mark-up and code, of ``pieces`` of sentences; ``repetition``: something said again and again
* ``lone_space``: exactly one misplaced space, at the kinds of places of ``space_places``
* ``everyday``: sentences composed of everyday words; ``lexicon``: sentences with other nouns; ``names``: names that are copied
* ``lookalikes``, ``laughter``, ``hearsay``: what looks like a slip and is right
"""
