"""From a text to its correction: candidates, words, confidence, proposals, and the ``Corrector`` that callers see."""
