"""Correction of a text: ``Corrector`` for callers, and the steps from text to result.

1. ``candidates``: the network reads each sentence; the pass over its answer gives the alternatives.
2. ``features``, ``confidence``: decision trees rate them, by ``counts`` and ``morphemes``.
3. ``proposing``, ``mending``: the chosen ones become changes, the mended sentence is read again, and one
   change has one confidence in a whole text.
4. ``correction``: the result, from which any minimum confidence or decision gives another text.

``answers`` declares the interfaces of a network.
"""
