"""What a trace says about a correction: small tables in NumPy, for figures and for researchers.

``edits`` asks which rows and columns belong to a change and which heads look there, ``heads`` sums a head
up in a number, ``words`` joins syllables to words, ``edges`` picks the weights worth a line, and ``kinds``
names the kind of a mistake. Nothing here knows a network: a trace, changes and texts are all it reads.
"""
