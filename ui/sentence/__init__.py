"""Main page and laboratory: a typed sentence, its correction, all heads, one open view.

The way of the data, from a text to a picture::

    text -> questions.correct -> Correction -> proposals (a person's decisions)
         -> a sentence and the change in focus
    its trace + Selection + change = SentenceState -> View.describe, View.draw -> figures.draw -> plot
"""
