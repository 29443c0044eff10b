"""Error generation (synthetic noise): right Korean sentences made wrong as people do.

A ``Draft`` (``draft``) keeps a cell for each character of the right sentence. Its cells never move, so rules
can follow one another, and each edit is recorded with its rule, its family and its place. The families:

* ``pronunciation``: written as it is heard (표준 발음법)
* ``typing_slips``: slips of the fingers on a two-set keyboard
* ``native``: frequent spelling mistakes, a table and rules
* ``spacing``: 한글 맞춤법 제2항, 제41항 to 제50항

``pairs`` combines families in a sentence. Other makers give pairs that running text lacks:

* ``drill``: rare mistakes practised as often as common ones, and single misplaced spaces
* ``strokes``: slips of timing, of syllables and of particles
* ``norm``: the norm article by article, with a fifth of its words held out to measure on
* ``registers``: lists, chat, mark-up and code (``register_kinds``, of ``pieces`` of sentences), and
  repetitions
* ``everyday``: sentences composed of everyday words; ``lexicon``: sentences with other nouns
* ``lookalikes``: laughing, hearsay and the like, which is right and stays
"""
